from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from recollect.cli import team_token
from recollect.cli.help import Group
from recollect.cli.shared import (
    fields_of,
    is_terminal,
    json_option,
    print_json,
    styled,
    untrusted,
    warn,
    workspace_options,
)
from recollect.cli.team_audit import print_audit
from recollect.config.needed_extras import needed_extras
from recollect.config.workspace import Workspace
from recollect.domain.clock import parse_time, relative
from recollect.domain.shared.lines import ROLES, can
from recollect.domain.text import counted, few, one_line
from recollect.files.team.state import RefusedLine
from recollect.plugin.environment import prepare as prepare_packages
from recollect.team.exchange import Exchanged, Progress, exchange, invitation_told
from recollect.team.join import (
    RefusedLesson,
    ScopeStatus,
    TeamStatus,
    administer,
    answer,
    audit,
    join,
    leave,
    link,
    look,
    members_of,
    prepare,
    status,
    unlink,
)
from recollect.team.joined import find_team
from recollect.team.names import lesson_names

_PATIENCE = 2.0
_MOST_REFUSED = 10
_MOST_AUDITED = 1_000

EVERYDAY, OPERATE = "Everyday", "For those who run it"
_HEADINGS = {
    **dict.fromkeys(("accept", "decline", "join", "leave", "link", "status", "sync"), EVERYDAY),
    **dict.fromkeys(("audit", "init", "member", "scope", "token"), OPERATE),
}


class _Commands(Group):
    def grouped(self, ctx: click.Context) -> dict[str, list[str]]:
        names = self.list_commands(ctx)
        return {
            heading: [name for name in names if _HEADINGS.get(name, OPERATE) == heading]
            for heading in (EVERYDAY, OPERATE)
        }


@click.group("team", cls=_Commands)
def command() -> None:
    """Share lessons with other people, through a PostgreSQL server.

    Only lessons are shared (patterns, anti-patterns, heuristics); decisions and all that belongs to one project go with
    its git repository. Lessons are yours until you share one: `recollect promote --to team:backend NAME`. Everything
    works without the server, too: what you say is sent, and what others say is pulled, when it can be reached.
    """


command.add_command(team_token.token)


@command.command("init")
@click.argument("url")
@click.option("--organisation", metavar="NAME", default="", help="Create this organisation, too.")
@json_option
def init_(url: str, organisation: str, as_json: bool) -> None:
    """Make the database at URL ready for a team.

    URL is the address of the database for its owner, postgresql://owner@host/database, without a password. It may be
    run again.
    """
    groups = prepare(url, f"organisation:{organisation}" if organisation else "")
    if as_json:
        print_json({"members": groups.member, "servers": groups.server, "organisation": organisation})
        return
    click.echo("The database is ready. Give each person a login:")
    click.echo(f"  CREATE ROLE ann LOGIN PASSWORD '...' IN ROLE {groups.member};")
    click.echo("Then each of them joins, with the password in PGPASSWORD or ~/.pgpass:")
    click.echo(f"  recollect team join {shlex.quote(one_line(_for_ann(url)))}")


@command.command("join")
@click.argument("url")
@click.option("--personal", is_flag=True, help="Let what you store travel between your own machines, too.")
@workspace_options
@json_option
def join_(url: str, personal: bool, workspace: Workspace, as_json: bool) -> None:
    """Join the server at URL, and the scopes there that you have accepted.

    URL is like postgresql://ann@host/database. The password comes from PGPASSWORD or ~/.pgpass. Scopes to which
    others have invited you are named; `recollect team accept SCOPE` takes the lessons of one in, and what its members
    share is found from then on, by searches, prompts and starts. Of yours, nothing is sent but what you share,
    and that you have observed a lesson that the team has. With --personal, also the lessons that you store, what you
    retire, mute and pin everywhere: for yourself alone.
    """
    news = prepare_packages(os.environ, [*needed_extras(workspace.settings), "postgres"], asked=True)
    if news:
        click.echo(news, err=True)
    with _progress(as_json) as told:
        user, done = join(workspace, url, personal=personal, progress=told)
    warn(done.warnings)
    if as_json:
        print_json({"address": url, "user": user, "personal": personal, **_exchanged(done)})
        return
    click.echo(f"{styled('Joined', 'green')} as {untrusted(user)}. {done.sentence}")
    for scope, lines in done.scopes.items():
        click.echo(f"  {scope}  {counted(lines, 'line', 'lines')}")
    if not done.scopes:
        invited = status(workspace).invited
        if invited:
            click.echo("You have accepted no scope yet; `recollect team accept SCOPE` takes one in.")
        else:
            made = "`recollect team scope NAME --create` makes one"
            click.echo(f"You are a member of no scope yet; ask an admin, or {made}.")


@command.command("accept")
@click.argument("scope")
@workspace_options
@json_option
def accept_(scope: str, workspace: Workspace, as_json: bool) -> None:
    """Accept a scope to which you were invited.

    Its lessons are found on your machines from then on. `recollect team status` lists what waits for your yes, with who
    invites you. It holds for you, on each machine that has joined; `recollect team decline SCOPE` takes it back.
    """
    answer(workspace, scope, accept=True)
    if find_team(workspace.global_store):
        warn(exchange(workspace).warnings)
    if as_json:
        print_json({"scope": scope, "outcome": "accepted"})
    else:
        click.echo(f"{styled('Accepted', 'green')} {scope}. What its members share is found here from now on.")


@command.command("decline")
@click.argument("scope")
@workspace_options
@json_option
def decline_(scope: str, workspace: Workspace, as_json: bool) -> None:
    """Decline a scope to which you were invited, or take back that you have accepted it.

    Its lessons are found nowhere on your machines, and you are not asked again; `recollect team accept SCOPE` changes
    that.
    """
    answer(workspace, scope, accept=False)
    if find_team(workspace.global_store):
        exchange(workspace)
    if as_json:
        print_json({"scope": scope, "outcome": "declined"})
    else:
        click.echo(f"Declined {scope}. `recollect team accept {scope}` takes it in after all.")


@command.command("status")
@click.option("--offline", is_flag=True, help="Do not ask the server how far it is.")
@workspace_options
@json_option
def status_(offline: bool, workspace: Workspace, as_json: bool) -> None:
    """Show how things stand with the team.

    How many lines are to be sent and to be pulled, when the server answered last, which lines it has refused, and which
    scopes wait for your yes.
    The exit code is 1 if it does not answer.
    """
    failure = "" if offline else look(workspace, patience=_PATIENCE)
    found = status(workspace)
    if as_json:
        print_json({**asdict(found), "answers": None if offline else not failure, "failure": failure})
    else:
        for name, value in _facts(found, failure):
            click.echo(f"{styled(f'{name:<12}', 'cyan')} {one_line(value)}")
        for each in found.scopes:
            click.echo(f"  {_scope_line(each)}")
        for scope, invited in found.invited.items():
            click.echo(styled(untrusted(invitation_told(scope, invited)), "yellow"))
        for lesson in found.refused_lessons:
            click.echo(_refused_lesson(lesson))
        _print_refused(found.refused)
    sys.exit(1 if failure else 0)


@command.command("sync")
@click.option("--again", is_flag=True, help="Send everything once more, also what was refused.")
@workspace_options
@json_option
def sync_(again: bool, workspace: Workspace, as_json: bool) -> None:
    """Send and pull lines now.

    While a client with recollect's MCP server is open, this happens by itself, about once a minute. It may be
    interrupted at any time, and goes on where it stopped. A line that is sent twice counts once. The exit code is 1 if
    lines were refused.
    """
    with _progress(as_json) as told:
        done = exchange(workspace, again=again, progress=told)
    warn(done.warnings)
    if as_json:
        print_json(_exchanged(done))
    else:
        click.echo(done.sentence)
        _print_refused(done.refused)
    sys.exit(1 if done.refused else 0)


@command.command("leave")
@click.option("--force", is_flag=True, help="Leave although some lines were not sent.")
@workspace_options
@json_option
def leave_(force: bool, workspace: Workspace, as_json: bool) -> None:
    """Leave the team: keep what is yours, remove what is not.

    Lessons that only the team has are removed from this machine; those in your own words are kept in your journal.
    What you have shared stays with the team.
    """
    done = leave(workspace, force=force)
    warn(done.warnings)
    if as_json:
        print_json(asdict(done))
        return
    removed, kept = counted(done.removed, "lesson", "lessons"), counted(done.kept, "lesson", "lessons")
    click.echo(f"Left {one_line(done.address)}. Removed {removed} of others, kept {kept} of yours that only it had.")


@command.command("link")
@click.argument("scope")
@click.option("--remove", is_flag=True, help="End the link.")
@workspace_options
@json_option
def link_(scope: str, remove: bool, workspace: Workspace, as_json: bool) -> None:
    """Have the lessons of a scope like project:shop belong to this project.

    Without a link they are found nowhere on this machine, because only you know which folder is that project.
    """
    warn(unlink(workspace, scope) if remove else link(workspace, scope))
    if as_json:
        print_json({"scope": scope, "project": "" if remove else workspace.identity})
    elif remove:
        click.echo(f"The lessons of {scope} are found here no more.")
    else:
        click.echo(f"The lessons of {scope} belong to {one_line(workspace.identity)} now.")


@command.command("scope")
@click.argument("name", required=False, metavar="[SCOPE]")
@click.option("--create", is_flag=True, help="Create it; you become its admin.")
@click.option(
    "--curated/--open",
    "curated",
    default=None,
    help="Whether lessons of writers wait for a curator (`recollect review --team`).",
)
@workspace_options
@json_option
def scope_(name: str | None, create: bool, curated: bool | None, workspace: Workspace, as_json: bool) -> None:
    """List your scopes, create one, or change one.

    A SCOPE is project:NAME, team:NAME or organisation:NAME, in small letters.
    """
    if (create or curated is not None) and not name:
        raise click.UsageError("name the SCOPE, for example team:backend")
    if name and create:
        administer(workspace, lambda log: log.create_scope(name, curated=bool(curated)))
    elif name and curated is not None:
        administer(workspace, lambda log: log.set_curated(name, curated=curated))
    found = administer(workspace, lambda log: log.scopes())
    if (create or curated is not None) and find_team(workspace.global_store):
        warn(exchange(workspace).warnings)
    shown = [each for each in found if name in (None, each.name)]
    if as_json:
        print_json({"scopes": [asdict(each) for each in shown]})
        return
    for each in shown:
        kind = "curated" if each.curated else "open"
        click.echo(f"{styled(each.name, 'green')}  {each.role}  {kind}  {counted(each.lines, 'line', 'lines')}")
    if not shown:
        click.echo(f"You are no member of {name}." if name else "You are a member of no scope.")


@command.command("member")
@click.argument("scope")
@click.argument("login", required=False, metavar="[LOGIN]")
@click.option("--role", type=click.Choice(ROLES), help="Add LOGIN in this role, or change the role.")
@click.option("--remove", is_flag=True, help="Remove LOGIN.")
@workspace_options
@json_option
def member_(scope: str, login: str | None, role: str | None, remove: bool, workspace: Workspace, as_json: bool) -> None:
    """List the members of a scope, invite one, or remove one.

    Whoever is added is invited: the scope reaches nobody before his yes (`recollect team accept SCOPE`). A reader
    reads. A writer also shares, and changes what is his own. A curator also approves, changes and retires
    what others share. An admin also changes members. LOGIN is a name on the server; * stands for everybody, and
    only the owner of the database may add it.
    """
    if bool(login) != bool(role or remove) or (role and remove):
        raise click.UsageError("give a LOGIN with --role or with --remove, or only the SCOPE to list its members")
    if login and role:
        administer(workspace, lambda log: log.add_member(scope, login, role))
    elif login:
        administer(workspace, lambda log: log.remove_member(scope, login))
    members = members_of(workspace, scope)
    if as_json:
        print_json({"scope": scope, "members": [asdict(each) for each in members]})
        return
    widest = max((len(untrusted(each.login)) for each in members), default=0)
    for each in members:
        added = f"added by {untrusted(each.added_by)} on {each.at[:10]}" + (
            "" if each.accepted else ", invited: has not accepted yet"
        )
        click.echo(f"{styled(untrusted(each.login).ljust(widest), 'green')}  {each.role:<8}  {added}")


@command.command("audit")
@click.argument("scope")
@click.option("--limit", type=click.IntRange(1, _MOST_AUDITED), default=50, show_default=True, help="How many.")
@workspace_options
@json_option
def audit_(scope: str, limit: int, workspace: Workspace, as_json: bool) -> None:
    """Show who did what in a scope, the newest first. Only its curators can see it.

    A lesson has its name beside its id if this machine has pulled it.
    """
    lines = audit(workspace, scope, limit)
    if as_json:
        print_json({"scope": scope, "audit": [{**asdict(each), "detail": dict(each.detail)} for each in lines]})
        return
    print_audit(lines, lesson_names(workspace, scope))


@contextmanager
def _progress(as_json: bool) -> Generator[Progress]:
    """Show how far an exchange is, on a terminal; elsewhere show nothing."""
    if as_json or not is_terminal(sys.stderr):
        yield lambda _stage, _done, _total: None
        return
    with ExitStack() as bars:
        shown: dict[str, Any] = {}

        def told(stage: str, done: int, total: int) -> None:
            if stage not in shown:
                bars.close()  # of the stage before
                bar = click.progressbar(length=total, label=stage, file=sys.stderr, show_pos=True)
                shown[stage] = bars.enter_context(bar)
            shown[stage].length = total
            shown[stage].update(done - shown[stage].pos)

        yield told


def _for_ann(url: str) -> str:
    head, at, rest = url.partition("@")
    scheme = head.partition("://")[0]
    return f"{scheme}://ann@{rest if at else head.partition('://')[2]}"


def _exchanged(done: Exchanged) -> dict[str, Any]:
    return {
        **fields_of(done, "sent", "pulled", "scopes", "warnings"),
        "refused": [asdict(line) for line in done.refused],
    }


def _facts(found: TeamStatus, failure: str) -> list[tuple[str, str]]:
    facts = [
        ("Server", found.address),
        ("You", f"{found.user}, on the machine {found.machine}" + (", personal lines too" if found.personal else "")),
        ("To send", counted(found.unsent, "line", "lines")),
        ("To pull", counted(found.behind, "line", "lines")),
        ("Last contact", _contact(found.contacted_at)),
    ]
    reason = failure or found.error
    return [*facts, ("Not reached", reason)] if reason else facts


def _contact(at: str) -> str:
    moment = parse_time(at)
    return f"{at} ({relative(moment, datetime.now(UTC))})" if moment else "never"


def _scope_line(each: ScopeStatus) -> str:
    parts = [each.role, counted(each.lessons, "lesson", "lessons"), counted(each.lines, "line", "lines")]
    if each.behind:
        parts.append(f"{each.behind:,} to pull")
    if each.awaiting and can(each.role, "curator"):
        parts.append(f"{counted(each.awaiting, 'text awaits', 'texts await')} you (`recollect review --team`)")
    if each.linked_to:
        parts.append(f"linked to {one_line(each.linked_to)}")
    elif each.name.startswith("project:"):
        parts.append(f"not linked: `recollect team link {each.name}` in its folder")
    return f"{styled(each.name, 'green')}  {', '.join(parts)}"


def _print_refused(lines: list[RefusedLine]) -> None:
    if lines:
        click.echo(styled(f"{counted(len(lines), 'line was', 'lines were')} refused:", "yellow"))
    for sentence in few([_refused_line(line) for line in reversed(lines)], _MOST_REFUSED):
        click.echo(f"  {sentence}")
    if lines:
        them = "it" if len(lines) == 1 else "them"
        click.echo(f"When the reason is mended, `recollect team sync --again` sends {them} once more.")


def _refused_lesson(lesson: RefusedLesson) -> str:
    why = f": {untrusted(lesson.reason)}" if lesson.reason else ""
    return f"{untrusted(lesson.by)} has refused your lesson '{untrusted(lesson.name)}' in {lesson.scope}{why}"


def _refused_line(line: RefusedLine) -> str:
    about = f", '{untrusted(line.about)}'" if line.about else ""
    return f"{line.to}{about}: {untrusted(line.reason)}"
