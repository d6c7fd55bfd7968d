from __future__ import annotations

import click

from recollect.cli.given import evidence_text
from recollect.cli.shared import fields_of, json_option, print_block, print_json, styled, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.prompt_block import PromptHit
from recollect.domain.secrets.detect import redact
from recollect.domain.text import cut, one_line
from recollect.recall.prompt_request import Hit
from recollect.sessions.preview import PromptPreview, named_workspace, preview_prompt, reason_left

_LONGEST_TITLE = 80


@click.command("try")
@click.argument("prompt", nargs=-1, required=True)
@click.option(
    "--project", "project_name", default="", metavar="P", help="As if in another project: its name or folder."
)
@click.option(
    "--limit",
    type=click.IntRange(0, 100),
    default=5,
    show_default=True,
    help="At most N entries of those that would not be given.",
)
@workspace_options
@json_option
def command(prompt: tuple[str, ...], project_name: str, limit: int, workspace: Workspace, as_json: bool) -> None:
    """Show what a prompt would be given, and what just missed it.

    The prompt is compared as by the prompt hook of a new session: by words, and by meaning as the resident does. The
    rarer the words that it shares with an entry, and the nearer in meaning, the more points the entry has. Each is
    shown with its points and those that it lacks, unless it has nothing in common. Nothing is counted or recorded.
    """
    preview = preview_prompt(named_workspace(workspace, project_name), " ".join(prompt), limit=limit)
    warn(preview.warnings)
    if as_json:
        print_json(_document(preview))
        return
    asked = preview.asked
    if asked.text:
        print_block(f"{asked.text}\n")
    else:
        click.echo(f"Nothing would be given: {preview.reason}.")
    scores = {hit.entry.id: hit for hit in asked.found}
    if not scores:
        return
    click.echo(f"\nCompared by {_compared(preview)}.")
    for heading, told in (("Given as text", asked.told), ("Given by title", asked.maybes)):
        if told:
            click.echo(styled(heading, "cyan"))
        for each in told:
            click.echo(_shown(scores[each.id], ""))
    if preview.left:
        click.echo(styled("Not given", "cyan"))
    for hit in preview.left:
        click.echo(_shown(hit, _reason(hit)))


def _compared(preview: PromptPreview) -> str:
    return "words and meaning" if preview.asked.by_meaning else "words alone"


def _shown(hit: Hit, reason: str) -> str:
    entry = hit.entry
    lines = [f"  {entry.id}  {cut(redact(one_line(entry.name)), _LONGEST_TITLE)}"]
    lines.append(f"    {styled(evidence_text(hit.words, hit.meaning, hit.bar), 'bright_black')}")
    lines += [f"    {reason}"] if reason else []
    return "\n".join(lines)


def _reason(hit: Hit) -> str:
    """Return why an entry would not be given, with the way to change it."""
    is_silent = hit.is_muted or hit.is_resting
    return reason_left(hit) + (f": `recollect unmute {hit.entry.id}` gives it again" if is_silent else "")


def _document(preview: PromptPreview) -> dict[str, object]:
    asked = preview.asked
    scores = {hit.entry.id: hit for hit in asked.found}
    return {
        "block": asked.text,
        "reason": asked.reason,
        "compared": _compared(preview),
        "texts": [_told(each, scores.get(each.id)) for each in asked.told],
        "titles": [_told(each, scores.get(each.id)) for each in asked.maybes],
        "left": [
            {
                **fields_of(hit.entry, "id", "category", "status"),
                "title": redact(one_line(hit.entry.name)),
                **_parts(hit),
                "muted": hit.is_muted,
                "at_rest": hit.is_resting,
                "missing": round(max(0.0, -hit.nats), 3),
                "missing_for_title": round(max(0.0, hit.missing), 3),
            }
            for hit in preview.left
        ],
        "warnings": preview.warnings,
    }


def _told(told: PromptHit, hit: Hit | None) -> dict[str, object]:
    title = redact(one_line(told.title))
    return {
        **fields_of(told, "id", "category", "path"),
        "title": title,
        **(_parts(hit) if hit else {"score": told.nats}),
    }


def _parts(hit: Hit) -> dict[str, float]:
    parts = {"score": hit.nats, "words": hit.words, "meaning": hit.meaning, "bar": hit.bar}
    return {name: round(value, 3) for name, value in parts.items()}
