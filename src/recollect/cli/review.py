from __future__ import annotations

import click

from recollect.cli.shared import fields_of, json_option, print_json, styled, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.memory import seen
from recollect.domain.text import counted, cut, one_line, visible
from recollect.files.journal.kinds import Staged
from recollect.sessions.review import capture_named, captures_to_review, mark_reviewed

_LONGEST = 100
_FIELDS = ("id", "at", "category", "score", "session", "snippets", "context")


@click.command("review")
@click.argument("capture_id", metavar="[ID]", required=False)
@click.option("--saved", multiple=True, metavar="ID", help="It was saved as a memory. Can be given several times.")
@click.option("--dismiss", multiple=True, metavar="ID", help="It is not worth keeping. Can be given several times.")
@click.option("--dismiss-all", is_flag=True, help="Nothing that awaits review is worth keeping.")
@json_option
@workspace_options
def command(
    capture_id: str | None,
    saved: tuple[str, ...],
    dismiss: tuple[str, ...],
    dismiss_all: bool,
    as_json: bool,
    workspace: Workspace,
) -> None:
    """Review what sessions have staged.

    With triage.mode set to stage, the end of a session never asks for memories: what it finds is kept until somebody
    has looked at it. Without an ID all of it is listed, with one (or the beginning of one) it is shown in full. Save
    what is worth it with `recollect write` or `recollect upsert`, then say so with --saved.
    """
    if capture_id and (saved or dismiss or dismiss_all):
        raise click.UsageError("give an ID to see it, or --saved, --dismiss and --dismiss-all to settle captures")
    captures = captures_to_review(workspace)
    if capture_id:
        _show(capture_named(captures, capture_id), as_json)
    elif saved or dismiss or dismiss_all:
        _mark(captures, workspace, saved, dismiss, dismiss_all, as_json)
    elif as_json:
        print_json(seen({"captures": [fields_of(each, *_FIELDS) for each in captures]}))
    else:
        click.echo("\n".join(_lines(captures)) if captures else "Nothing awaits review in this project.")


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
        about = cut(one_line(each.snippets[0] if each.snippets else each.context), _LONGEST)
        day, category = one_line(each.at)[:10], one_line(each.category).ljust(widest)
        lines.append(f"{styled(one_line(each.id), 'green')}  {day}  {category}  {each.score:.2f}  {about}".rstrip())
    return [*lines, "", "`recollect review ID` shows one in full; --saved ID and --dismiss ID settle it."]


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
