from __future__ import annotations

import os
import sys
from typing import Any

import click

from recollect.cli.shared import (
    CategoryChoice,
    fields_of,
    is_terminal,
    json_option,
    print_json,
    styled,
    untrusted,
    warn,
    workspace_options,
)
from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE, LABEL, PROJECT
from recollect.domain.stored import ACTIVE, STATUSES
from recollect.domain.text import cut, one_line
from recollect.engine.engine import Engine
from recollect.recall.find import find_memories
from recollect.recall.search import Hit, SearchResult

_SHOWN = 200

# The fields of an entry in JSON, after its id and category.
_FIELDS = (
    *(
        "status",
        "name",
        "description",
        "reasoning",
        "keywords",
        "triggers",
        "references",
        "observation_count",
        "confidence",
    ),
    *("recall_count", "source", "source_project", "project", "created_at", "updated_at"),
)


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--category", "categories", multiple=True, type=CategoryChoice([*KNOWLEDGE, *PROJECT]), help="Only these."
)
@click.option("--project", "project_name", metavar="P", help="Search as if in another project: its name or folder.")
@click.option("--all-projects", is_flag=True, help="Search what belongs to any project.")
@click.option("--include-retired", is_flag=True, help="Also find retired and archived entries, marked as such.")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="At most N hits.")
@click.option("--explain", is_flag=True, help="Show what each hit's score is made of.")
@workspace_options
@json_option
def command(
    query: tuple[str, ...],
    categories: tuple[str, ...],
    project_name: str | None,
    all_projects: bool,
    include_retired: bool,
    limit: int,
    explain: bool,
    workspace: Workspace,
    as_json: bool,
) -> None:
    """Find entries by meaning and by words.

    Searches what holds everywhere and what belongs to this project, the most relevant first. Entries of other
    projects are found with --project or --all-projects.
    """
    if project_name and all_projects:
        raise click.UsageError("give either --project or --all-projects")
    asked = " ".join(query)
    with Engine(workspace) as engine:
        result = find_memories(
            engine,
            asked,
            project_name=None if all_projects else project_name or "",
            categories=categories,
            statuses=STATUSES if include_retired else (ACTIVE,),
            limit=limit,
        )
    retrieval = result.retrieval
    degraded = [f"the search is degraded: {reason}" for reason in retrieval.degraded]
    warnings = [*result.warnings, *degraded, *map(str, retrieval.incomplete), *result.withheld]
    warn(warnings)
    if as_json:
        print_json(_document(asked, result, warnings))
        return
    for place, hit in enumerate(result.hits, 1):
        click.echo(_shown(place, hit, explain))
    if not result.hits:
        click.echo(f"Nothing found: {result.reason}.", err=not is_terminal(sys.stdout))


def _shown(place: int, hit: Hit, explain: bool) -> str:
    entry = hit.entry
    label = LABEL.get(entry.category, entry.category)
    states = [entry.status] * (entry.status != ACTIVE) + ["muted"] * hit.is_muted
    states += ["at rest"] * hit.is_resting + ["expired"] * hit.is_expired
    state = "".join(f"  {styled(each, 'yellow')}" for each in states)
    lines = [
        f"{place}. {styled(f'{label}: {untrusted(entry.name)}', 'green')}  {hit.score:.2f}{state}",
        f"   {styled(' · '.join(_facts(hit)), 'bright_black')}",
    ]
    text = untrusted(entry.description)
    if text:
        lines.append(f"   {cut(text, _SHOWN)}")
    for line in (hit.was, hit.note):
        if line:
            lines.append(f"   {styled(untrusted(line), 'yellow')}")
    if explain:
        vector = "none" if hit.vector is None else f"{hit.vector:.3f}"
        keyword = "none" if hit.keyword is None else f"{hit.keyword:.3f}"
        parts = f"vector {vector} · keyword {keyword} · prominence {hit.prominence:.3f} · score {hit.score:.3f}"
        parts += f" · origin {hit.origin}"
        lines.append(f"   {styled(parts, 'cyan')}")
    return "\n".join(lines)


def _facts(hit: Hit) -> list[str]:
    entry = hit.entry
    where = one_line(os.path.basename(entry.project)) if entry.project else "everywhere"
    if entry.category in PROJECT:
        return [one_line(hit.path) or entry.id, where, f"updated {entry.updated_at[:10]}", entry.confidence]
    seen = "seen once" if entry.observation_count == 1 else f"seen {entry.observation_count} times"
    said = [f"said by {untrusted(entry.said_by)}"] if entry.said_by else []
    return [entry.id, where, seen, entry.confidence, *said]


def _document(query: str, result: SearchResult, warnings: list[str]) -> dict[str, Any]:
    retrieval = result.retrieval
    return {
        "query": query,
        "hits": [_hit(hit) for hit in result.hits],
        "reason": str(result.reason or ""),
        "entries": retrieval.total,
        "vector_candidates": len(retrieval.vector),
        "fts5_candidates": len(retrieval.fts5),
        "pending_embedding": retrieval.pending,
        **fields_of(retrieval, "model", "terms"),
        "warnings": warnings,
    }


def _hit(hit: Hit) -> dict[str, Any]:
    entry = hit.entry
    return {
        "id": entry.id,
        "title": entry.name,
        "category": entry.category,
        "path": hit.path,
        **fields_of(entry, *_FIELDS),
        "origin": hit.origin,
        "said_by": entry.said_by,
        "muted": hit.is_muted,
        "at_rest": hit.is_resting,
        "expired": hit.is_expired,
        "supersedes": hit.supersedes,
        "was": hit.was,
        "check": hit.note,
        "score": round(hit.score, 6),
        "vector": hit.vector,
        "keyword": hit.keyword,
        "prominence": round(hit.prominence, 6),
    }
