from __future__ import annotations

import click

from recollect.cli.shared import (
    entry_options,
    entry_text,
    fields_of,
    json_option,
    print_json,
    styled,
    warn,
    workspace_options,
)
from recollect.cli.to_scope import share_named
from recollect.config.workspace import Workspace
from recollect.errors import InvalidEntry
from recollect.promote.candidates import Candidate, from_json
from recollect.promote.classify import PROJECT_SPECIFIC, UNIVERSAL
from recollect.promote.likeness import Alike, alike
from recollect.promote.promote import (
    ADDED,
    JUDGED,
    NOT_WRITTEN,
    REINFORCED,
    Outcome,
    Promotion,
    candidates_of,
    nothing_new,
    promote,
)
from recollect.recall.context import active_feature
from recollect.sync.entry_input import feature_id
from recollect.sync.rebuild import sync_and_embed


@click.command("promote")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@workspace_options
@click.option(
    "--as",
    "judgement",
    type=click.Choice([UNIVERSAL, PROJECT_SPECIFIC]),
    help="Take this judgement instead of looking for evidence.",
)
@click.option("--to", "scope", metavar="SCOPE", help="Share the named lessons with a team instead: team:backend.")
@entry_options
@click.option(
    "--feature",
    metavar="ID",
    help="The feature that the entries came from, where they do not say it.  [default for JSON: the active one]",
)
@click.option("--dry-run", is_flag=True, help="Judge and report, but write nothing.")
@json_option
def command(
    names: tuple[str, ...],
    workspace: Workspace,
    judgement: str | None,
    scope: str | None,
    entry_json: str | None,
    entry_file: str | None,
    feature: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Put lessons that hold everywhere into the global store.

    Takes the entries of the project's knowledge bank and the lessons that its sessions have stored: those with such
    a NAME or id, or without a NAME all that are new since the last promotion; or entries given as JSON. An entry
    that names a file, an identifier, a service or the name of this project stays here; everything else is universal.
    A text that its bank has already gains an observation instead of a copy. A lesson from a session goes to the
    global store or to the project's bank, and what is like it is shown: `recollect retire ID` takes one of two away.

    With --to, lessons of any kind are shared with the members of a SCOPE of your team (`recollect team status`), after
    a check for credentials. They are sent when the server can be reached. --dry-run shows what would be sent. Decisions
    and other memories of a project are shared with its git repository instead.
    """
    if scope is not None:
        if not names or judgement or feature or entry_json is not None or entry_file is not None:
            raise click.UsageError("--to takes the NAMEs of lessons, and of the other options --dry-run and --json")
        share_named(workspace, scope, names, dry_run, as_json)
        return
    if sum(map(bool, (names, entry_json is not None, entry_file is not None))) > 1:
        raise click.UsageError("give either names, or --entry-json, or --entry-file")
    given = entry_text(entry_json, entry_file)
    if given is None:
        candidates, warnings = candidates_of(workspace, names)
    else:
        candidates, warnings = from_json(given), []
        active = "" if feature else _active_feature(workspace.project_root)
        ours = ("", workspace.name)
        candidates = [each.from_feature(active) if each.project in ours else each for each in candidates]
    similar = alike(workspace, candidates)
    result = promote(
        workspace,
        [candidate.from_feature(feature) for candidate in candidates],
        judgement=judgement or "",
        only_new=given is None and not names,
        dry_run=dry_run,
    )
    warnings = list(dict.fromkeys(warnings + result.warnings))
    if result.promoted or result.kept:
        warnings += sync_and_embed(workspace)
    warn(warnings)
    if as_json:
        print_json(
            {
                "promoted": result.promoted,
                "kept": result.kept,
                "dry_run": dry_run,
                "entries": [_as_object(outcome, similar) for outcome in result.outcomes],
                "warnings": warnings,
                "summary": result.summary,
            }
        )
        return
    if not result.outcomes:
        click.echo(f"Nothing to promote: {nothing_new(workspace.bank)}.")
    _print(result, similar)


def _active_feature(project_root: str) -> str:
    """Return the id of the project's active feature; empty if there is none, or if it cannot be one."""
    try:
        return feature_id(active_feature(project_root))
    except InvalidEntry:
        return ""


def _print(result: Promotion, similar: dict[str, list[Alike]]) -> None:
    for outcome in result.outcomes:
        click.echo(f"{_action(outcome)} {styled(outcome.candidate.title, 'cyan')}{_known_as(outcome)}")
        click.echo(f"  {outcome.verdict}")
        if outcome.candidate.captured:
            click.echo(f"  {_captured(outcome.candidate)}")
        for each in similar.get(outcome.candidate.content_hash, ()):
            click.echo(f"  like {each.id} {styled(each.title, 'cyan')}")
    click.echo(result.summary)


def _action(outcome: Outcome) -> str:
    if outcome.action == ADDED:
        return styled("+ promoted", "green")
    if outcome.action == REINFORCED:
        return styled(f"+ seen {outcome.observation_count} times", "green")
    if outcome.action == JUDGED:
        return "+ universal" if outcome.verdict.universal else "· project-specific"
    return styled("! not written", "yellow") if outcome.action == NOT_WRITTEN else f"· {outcome.action}"


def _known_as(outcome: Outcome) -> str:
    known = outcome.stored_as and outcome.stored_as != outcome.candidate.title
    return f" (known as {outcome.stored_as})" if known else ""


def _captured(candidate: Candidate) -> str:
    times = f", {candidate.observations} times" if candidate.observations > 1 else ""
    others = ", not only here" if candidate.shared else ""
    return f"captured in a session{times}{others}: {candidate.content_hash}"


def _as_object(outcome: Outcome, similar: dict[str, list[Alike]]) -> dict[str, object]:
    candidate = outcome.candidate
    return {
        "id": candidate.content_hash,
        "title": candidate.name,
        **fields_of(candidate, "category", "name", "description", "captured"),
        "like": [fields_of(each, "id", "title") for each in similar.get(candidate.content_hash, ())],
        **fields_of(outcome.verdict, "universal", "reason"),
        **fields_of(outcome, "action", "stored_as", "observation_count"),
    }
