from __future__ import annotations

import click

from recollect.cli.shared import entry_options, entry_text, fields_of, json_option, print_json, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.errors import StoreError
from recollect.learn.remember import (
    JOURNALLED,
    REINFORCED,
    STORED,
    Noted,
    Remembered,
    journalled,
    note_down,
    stored,
)
from recollect.sync.entry_input import entries_from_json


@click.command("upsert")
@click.option("--action", type=click.Choice(["upsert"]), expose_value=False, help="What to do: nothing else is known.")
@entry_options
@workspace_options
@json_option
def command(entry_json: str | None, entry_file: str | None, workspace: Workspace, as_json: bool) -> None:
    """Remember an entry, or count one more observation of it.

    An entry is a JSON object with name, description and category (anti-patterns, heuristics or patterns), and
    optionally reasoning, keywords, triggers, references, confidence, source, source_project and feature; an array holds
    several.
    It goes to session-captures.jsonl in the global store, and from there to the database. If the database cannot be
    used, the entry is kept all the same, and a warning says that searches will find it later.
    """
    if (entry_json is None) == (entry_file is None):
        raise click.UsageError("give the entry with --entry-json or with --entry-file")
    text = entry_text(entry_json, entry_file) or ""
    given = entries_from_json(text)
    noted = note_down(workspace, given)  # before the store is opened: opening it may fail
    documents: list[dict[str, object]] = []
    warnings: list[str] = []
    try:
        with Engine(workspace) as engine:
            for each in noted:
                result = stored(engine, each)
                warnings += result.warnings
                documents.append(_document(result))
                if not as_json:
                    _tell(result)
    except StoreError as failure:
        error = journalled(workspace, failure)
        warnings.append(str(error))
        for each in noted[len(documents) :]:
            documents.append(_journalled(each, str(error)))
            if not as_json:
                click.echo(f"Journalled: {each.given.name} (id: {each.given.content_hash})")
    warn(warnings)
    if as_json:
        print_json(documents if text.lstrip("\ufeff \t\r\n").startswith("[") else documents[0])


def _tell(result: Remembered) -> None:
    entry = result.entry
    click.echo(f"Stored: {entry.name} (id: {entry.id})")
    if not result.added:
        click.echo(f"It was known; it has now been seen {entry.observation_count} times.")


def _document(result: Remembered) -> dict[str, object]:
    entry = result.entry
    return {
        "id": entry.id,
        "title": entry.name,
        **fields_of(entry, "name", "category", "status"),
        "outcome": STORED if result.added else REINFORCED,
        "added": result.added,
        **fields_of(entry, "observation_count", "keywords"),
        "keywords_from": result.keyword_tier,
        "pending_embedding": result.pending,
        "warnings": result.warnings,
    }


def _journalled(noted: Noted, warning: str) -> dict[str, object]:
    return {
        "id": noted.given.content_hash,
        "title": noted.given.name,
        **fields_of(noted.given, "name", "category"),
        "outcome": JOURNALLED,
        "added": None,  # only the database could tell
        "observation_count": None,
        "keywords": list(noted.keywords),
        "keywords_from": noted.keyword_tier,
        "pending_embedding": None,
        "warnings": [*noted.warnings, warning],
    }
