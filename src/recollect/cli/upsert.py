from __future__ import annotations

import sys
from typing import Any

import click

from recollect.cli.shared import (
    entry_options,
    entry_text,
    global_store_option,
    json_option,
    print_json,
    project_root_option,
    settings_of,
    warn,
)
from recollect.domain.secrets import redact
from recollect.domain.text import visible
from recollect.errors import InvalidEntry, RecollectError, StoreError
from recollect.services.app import Engine
from recollect.services.given import GivenEntry, entries_from_json
from recollect.services.remember import Remembered, remember, remember_without_store
from recollect.services.settings import Settings

_STORE_FAILED = 2


class _Command(click.Command):
    """What is wrong with the call is a validation error here: exit code 2 belongs to the database."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            error.show()
            sys.exit(1)


@click.command("upsert", cls=_Command)
@click.option("--action", type=click.Choice(["upsert"]), expose_value=False, help="What to do: nothing else is known.")
@entry_options
@project_root_option
@global_store_option
@json_option
def command(
    entry_json: str | None, entry_file: str | None, project_root: str, global_store: str, as_json: bool
) -> None:
    """Remember an entry, or count one more observation of it.

    An entry is a JSON object with name, description and category (anti-patterns, heuristics or patterns), and
    optionally reasoning, keywords, references, confidence, source, source_project and feature; an array holds several.
    It goes to session-captures.jsonl in the global store and to the database. Exit code 1 means that the entry cannot
    be stored as it is, 2 that the database could not be used.
    """
    settings = settings_of(project_root)
    if (entry_json is None) == (entry_file is None):
        raise InvalidEntry("give the entry with --entry-json or with --entry-file")
    text = entry_text(entry_json, entry_file) or ""
    given = entries_from_json(text)
    stored: list[Remembered] = []
    try:
        with _engine(project_root, global_store, settings, given) as engine:
            for entry in given:
                stored.append(remember(engine, project_root, entry))
                if not as_json:
                    _tell(stored[-1])
    except RecollectError as error:
        click.echo(visible(redact(f"Error: {error}")), err=True)
        sys.exit(_STORE_FAILED)
    for result in stored:
        warn(result.warnings)
    if as_json:
        documents = [_document(result) for result in stored]
        print_json(documents if text.lstrip("\ufeff \t\r\n").startswith("[") else documents[0])


def _engine(project_root: str, global_store: str, settings: Settings, given: list[GivenEntry]) -> Engine:
    """The engine; without one the entries go to the journal at least, which the error then says."""
    try:
        return Engine(global_store, settings, project_root=project_root)
    except StoreError as error:
        reasons = [remember_without_store(global_store, entry, error) for entry in given]
        raise reasons[-1] from error


def _tell(result: Remembered) -> None:
    entry = result.entry
    click.echo(f"Stored: {entry.name} (id: {entry.id})")
    if not result.added:
        click.echo(f"It was known; it has now been seen {entry.observation_count} times.")


def _document(result: Remembered) -> dict[str, object]:
    entry = result.entry
    return {
        "id": entry.id,
        "name": entry.name,
        "category": entry.category,
        "added": result.added,
        "observation_count": entry.observation_count,
        "keywords": entry.keywords,
        "keywords_from": result.keyword_tier,
        "pending_embedding": result.pending,
        "warnings": result.warnings,
    }
