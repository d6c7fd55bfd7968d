from __future__ import annotations

import sys

import click

from recollect.cli.add import add_in_editor, add_note, added_document, print_added
from recollect.cli.shared import (
    fields_of,
    is_terminal,
    json_option,
    pressed,
    print_json,
    screen_width,
    styled,
    workspace_options,
)
from recollect.cli.team_review import review_team
from recollect.config.workspace import Workspace
from recollect.domain.memory import seen
from recollect.domain.secrets.detect import redact
from recollect.domain.text import counted, cut, one_line, visible
from recollect.errors import RecollectError
from recollect.files.journal.kinds import Staged
from recollect.learn.project_memory import Memorized
from recollect.learn.review import capture_named, captures_to_review, mark_reviewed, note_of

_SHORTEST = 20
_INSTEAD = "without --edit it is kept as it is"
_MAX_CHARS = 100
_FIELDS = ("id", "at", "category", "score", "session", "snippets", "context")
_KEYS = "a accept, e edit, d dismiss, s skip, m more, q quit: "
_ACCEPT, _EDIT, _DISMISS, _SKIP, _MORE, _QUIT = "aedsmq"


@click.command("review")
@click.argument("capture_id", metavar="[ID]", required=False)
@click.option("--accept", multiple=True, metavar="ID", help="Keep it as a memory. Can be given several times.")
@click.option("--edit", is_flag=True, help="With --accept: edit it in your editor first.")
@click.option("--saved", multiple=True, metavar="ID", help="It was saved as a memory. Can be given several times.")
@click.option("--dismiss", multiple=True, metavar="ID", help="It is not worth keeping. Can be given several times.")
@click.option("--dismiss-all", is_flag=True, help="Nothing that awaits review is worth keeping.")
@click.option("--team", is_flag=True, help="Review what members of your team have shared, as a curator.")
@json_option
@workspace_options
def command(
    capture_id: str | None,
    accept: tuple[str, ...],
    edit: bool,
    saved: tuple[str, ...],
    dismiss: tuple[str, ...],
    dismiss_all: bool,
    team: bool,
    as_json: bool,
    workspace: Workspace,
) -> None:
    """Review what sessions have staged.

    With triage.mode set to stage, the end of a session never asks for memories: what it finds is kept until somebody
    has looked at it. On a terminal, each is shown, and a key accepts, edits, dismisses or skips it. Elsewhere all are
    listed. With an ID (or the beginning of one), that one is shown in full. What was saved in another way is marked
    with --saved.

    With --team: what writers have shared in curated scopes, with who said it. --accept approves it, --dismiss retires
    it, for all members.
    """
    if team:
        if edit or saved:
            raise click.UsageError("--team takes an ID, --accept, --dismiss or --dismiss-all")
        review_team(workspace, capture_id, accept, dismiss, dismiss_all, as_json)
        return
    _review_captures(workspace, capture_id, accept, edit, saved, dismiss, dismiss_all, as_json)


def _review_captures(
    workspace: Workspace,
    capture_id: str | None,
    accept: tuple[str, ...],
    edit: bool,
    saved: tuple[str, ...],
    dismiss: tuple[str, ...],
    dismiss_all: bool,
    as_json: bool,
) -> None:
    settles = bool(saved or dismiss or dismiss_all)
    if (bool(capture_id) + bool(accept) + settles) > 1:
        raise click.UsageError("give an ID to see it, --accept to keep it, or --saved and --dismiss to settle captures")
    if edit and not accept:
        raise click.UsageError("--edit needs --accept")
    captures = captures_to_review(workspace)
    if capture_id:
        _show(capture_named(captures, capture_id), as_json)
    elif accept:
        _accept_all([capture_named(captures, name) for name in accept], workspace, edit, as_json)
    elif settles:
        _mark(captures, workspace, saved, dismiss, dismiss_all, as_json)
    elif as_json:
        print_json(seen({"captures": [fields_of(each, *_FIELDS) for each in captures]}))
    elif not captures:
        click.echo("Nothing awaits review in this project.")
    elif is_terminal(sys.stdin) and is_terminal(sys.stdout):
        _by_keys(captures, workspace)
    else:
        click.echo("\n".join(_lines(captures)))


def _accept_all(captures: list[Staged], workspace: Workspace, edit: bool, as_json: bool) -> None:
    kept = [done for capture in captures if (done := _accepted(capture, workspace, edit))]
    left = len(captures_to_review(workspace))
    if as_json:
        print_json({"accepted": [added_document(*done) for done in kept], "awaiting_review": left})
        return
    for done in kept:
        print_added(*done, as_json=False)
    if len(kept) < len(captures):
        click.echo("Captures with an empty text were not kept.")
    click.echo(f"{counted(left, 'capture awaits', 'captures await')} review.")


def _accepted(capture: Staged, workspace: Workspace, edit: bool) -> tuple[Memorized, bool] | None:
    """Keep a capture as a memory, and mark it as saved; return None if its text was emptied in the editor."""
    note = note_of(capture)
    done = (
        add_in_editor(workspace, note, about=capture.context, instead=_INSTEAD) if edit else add_note(workspace, note)
    )
    if done:
        mark_reviewed([capture], workspace, saved=[capture.id])
    return done


def _by_keys(captures: list[Staged], workspace: Workspace) -> None:
    """Show captures one by one, and do with each what a key says."""
    counts = {_ACCEPT: 0, _DISMISS: 0}
    for number, capture in enumerate(captures, 1):
        click.echo(f"{styled(f'{number} of {len(captures)}', 'cyan')}  {one_line(capture.category)}  {capture.at[:10]}")
        click.echo("\n".join(f"- {one_line(each)}" for each in capture.snippets) or visible(capture.context))
        key = _settled(capture, workspace)
        if key == _QUIT:
            break
        if key in counts:
            counts[key] += 1
        click.echo()
    left = len(captures) - sum(counts.values())
    click.echo(
        f"{counts[_ACCEPT]:,} saved, {counts[_DISMISS]:,} dismissed;"
        f" {counted(left, 'capture awaits', 'captures await')} review."
    )


def _settled(capture: Staged, workspace: Workspace) -> str:
    """Ask for keys until one settles the capture or leaves it; return `a`, `d`, `s` or `q`."""
    while True:
        key = pressed(_KEYS, "aedsmq")
        if key in (_SKIP, _QUIT):
            return key
        if key == _DISMISS:
            mark_reviewed([capture], workspace, dismissed=[capture.id])
            return key
        if key == _MORE:
            click.echo(visible(capture.context))
        elif key in (_ACCEPT, _EDIT):
            try:
                done = _accepted(capture, workspace, key == _EDIT)
            except RecollectError as error:
                click.echo(visible(redact(str(error))), err=True)
                continue
            if done:
                print_added(*done, as_json=False)
                return _ACCEPT
            click.echo("Nothing was kept: the text is empty.")


def _mark(
    captures: list[Staged],
    workspace: Workspace,
    saved: tuple[str, ...],
    dismiss: tuple[str, ...],
    dismiss_all: bool,
    as_json: bool,
) -> None:
    if dismiss_all:
        kept_ids = {capture_named(captures, name).id for name in saved}
        dismiss = (*dismiss, *(each.id for each in captures if each.id not in kept_ids))
    kept, dropped = mark_reviewed(captures, workspace, saved=saved, dismissed=dismiss)
    left = len(captures) - len(kept) - len(dropped)
    if as_json:
        print_json(
            {"saved": [each.id for each in kept], "dismissed": [each.id for each in dropped], "awaiting_review": left}
        )
        return
    done = [f"{len(some):,} {what}" for some, what in ((kept, "saved"), (dropped, "dismissed")) if some]
    click.echo(
        f"{', '.join(done)}; {counted(left, 'capture awaits', 'captures await')} review."
        if done
        else "Nothing awaits review in this project."
    )


def _lines(captures: list[Staged]) -> list[str]:
    widest = max(len(one_line(each.category)) for each in captures)
    lines: list[str] = []
    for each in captures:
        about = one_line(each.snippets[0] if each.snippets else each.context)
        facts = f"  {one_line(each.at)[:10]}  {one_line(each.category).ljust(widest)}  {each.score:.2f}  "
        room = screen_width() - len(one_line(each.id)) - len(facts)
        text = cut(about, max(_SHORTEST, min(_MAX_CHARS, room)))
        lines.append(f"{styled(one_line(each.id), 'green')}{facts}{text}".rstrip())
    return [*lines, "", "`recollect review ID` shows one in full; --accept ID [--edit] and --dismiss ID settle it."]


def _show(staged: Staged, as_json: bool) -> None:
    if as_json:
        print_json(seen(fields_of(staged, *_FIELDS)))
        return
    facts = (
        ("Capture", staged.id),
        ("Category", staged.category),
        ("Score", f"{staged.score:.2f}"),
        ("Staged", staged.at),
        ("Session", staged.session),
    )
    for name, value in facts:
        click.echo(f"{styled(f'{name:<9}', 'cyan')} {one_line(value)}".rstrip())
    if staged.snippets:
        click.echo("\n" + "\n".join(f"- {one_line(snippet)}" for snippet in staged.snippets))
    click.echo(f"\n{visible(staged.context)}")
