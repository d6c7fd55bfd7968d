from __future__ import annotations

import sys

import click

from recollect.cli.help import Group
from recollect.cli.screen import ours
from recollect.cli.shared import fields_of, is_terminal, json_option, print_json, project_root_option, settings_of
from recollect.doctor.bench import METRICS, SYSTEMS, Retrieval, measure_retrieval


@click.group("bench", cls=Group)
def command() -> None:
    """Measure recollect on this machine."""


@command.command("retrieval")
@click.argument("folders", nargs=-1, required=True, metavar="DIR...")
@project_root_option
@json_option
def retrieval(folders: tuple[str, ...], project_root: str, as_json: bool) -> None:
    """Measure how well search finds what it should, on BEIR folders.

    Each DIR holds corpus.jsonl, queries.jsonl and qrels.tsv. Its documents are held by a store of their own and
    searched with the code that `recollect search` runs; full text alone and vectors alone are measured beside it. The
    figures are means over all questions of all folders.
    """
    result = measure_retrieval(folders, settings_of(project_root), _progress)
    if is_terminal(sys.stderr):
        click.echo(err=True)
    if as_json:
        print_json(
            {
                **{s: {m: round(v, 4) for m, v in scores.items()} for s, scores in result.scores.items()},
                **fields_of(result, "folders", "documents", "queries", "model"),
            }
        )
        return
    click.echo(_table(result))


def _progress(what: str, done: int, total: int) -> None:
    if is_terminal(sys.stderr):
        click.echo(ours("\r") + f"Embedding {what}: {done:,} of {total:,} ", nl=False, err=True)


def _table(result: Retrieval) -> str:
    lines = [
        f"{result.documents:,} documents, {result.queries:,} questions, {result.folders} folders, {result.model}",
        "",
        f"| | {' | '.join(METRICS)} |",
        f"| --- |{' --- |' * len(METRICS)}",
    ]
    for system in SYSTEMS:
        lines.append(f"| {system} | {' | '.join(f'{result.scores[system][m]:.3f}' for m in METRICS)} |")
    return "\n".join(lines)
