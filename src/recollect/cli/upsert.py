from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import click

from recollect.cli.failure import ForPrograms
from recollect.cli.shared import (
    entry_options,
    entry_text,
    fields_of,
    is_terminal,
    json_option,
    print_json,
    warn,
    workspace_options,
)
from recollect.config.workspace import Workspace
from recollect.domain.text import counted
from recollect.engine.engine import Engine
from recollect.errors import LockTimeout, RecollectError, StorageError, StoreError
from recollect.learn.batch import UNCHANGED, Batch, Item, share_batch
from recollect.learn.remember import (
    JOURNALLED,
    REINFORCED,
    STORED,
    Noted,
    Remembered,
    journalled,
    note_down,
    share,
    stored,
)
from recollect.sync.direct import is_direct
from recollect.sync.entry_input import EntryInput, entries_from_json

# The most entries of a batch that are named; others are counted.
_MOST_NAMED = 20
_SAID = {STORED: "Stored", REINFORCED: "Seen again", UNCHANGED: "There already", JOURNALLED: "Journalled"}

# The exit code if neither the journal nor the database can keep an entry.
_NOT_KEPT = 2


@contextmanager
def _keeping() -> Generator[None]:
    """Mark an error as one after which nothing is kept."""
    try:
        yield
    except (LockTimeout, StorageError, StoreError) as error:
        error.exit_code = _NOT_KEPT
        raise


@click.command("upsert", cls=ForPrograms)
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
    used, the entry is kept all the same, and a warning says that searches will find it later. An array in a file is
    taken once: the same file again changes nothing, and after an interruption it goes on where it stopped.

    Exits with 0 when it is kept, with 1 if it is refused, also for wrong usage, and with 2 if neither the journal nor
    the database can keep it.
    """
    if (entry_json is None) == (entry_file is None):
        raise click.UsageError("give the entry with --entry-json or with --entry-file")
    text = entry_text(entry_json, entry_file) or ""
    given = entries_from_json(text)
    is_array = text.lstrip("\ufeff \t\r\n").startswith("[")
    is_batch = entry_file is not None and is_array
    if workspace.is_on_server and _shared(workspace, given, is_batch=is_batch, is_array=is_array, as_json=as_json):
        return
    if is_batch:
        _take(Batch(workspace, given), as_json)
        return
    with _keeping():
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
        print_json(documents if is_array else documents[0])


def _shared(
    workspace: Workspace, given: Sequence[EntryInput], *, is_batch: bool, is_array: bool, as_json: bool
) -> bool:
    """Store entries directly on a server, and print the results; return False if files of this machine come first."""
    try:
        with _keeping():
            engine = Engine(workspace)
    except StoreError:
        if workspace.acting:
            raise
        return False  # the journal keeps them
    with engine, _keeping():
        if not is_direct(engine):
            return False
        if is_batch:
            with _progress("Storing", len(given)) as advance:
                items = share_batch(engine, given, advance)
            _print_items(items, 0, as_json)
            return True
        results = share(engine, given)
    warn(dict.fromkeys(warning for result in results for warning in result.warnings))
    documents = [_document(result) for result in results]
    if as_json:
        print_json(documents if is_array else documents[0])
    else:
        for result in results:
            _tell(result)
    return True


def _take(batch: Batch, as_json: bool) -> None:
    """Store a batch, with progress on a terminal, and print the result."""
    try:
        with _progress("Storing", len(batch.entries)) as advance:
            batch.write(advance)
        with _progress("Embedding", len(batch.entries)) as advance, Engine(batch.workspace) as engine:
            batch.store(engine, advance)
    except StoreError as failure:
        batch.leave_to_journal(failure)
    except (RecollectError, KeyboardInterrupt) as error:
        is_interrupted = isinstance(error, KeyboardInterrupt)
        why = "interrupted" if is_interrupted else error
        safe = f"{len(batch.items):,} of {counted(len(batch.entries), 'entry is', 'entries are')} in the journal"
        failure = StorageError(f"{why}; {safe}, and the same command goes on from there")
        if not batch.items and not is_interrupted:  # the first portion may be in the journal already
            failure.exit_code = _NOT_KEPT
        raise failure from None
    warn(dict.fromkeys([*(warning for item in batch.items for warning in item.noted.warnings), *batch.warnings]))
    _print_items(batch.items, batch.pending, as_json)


def _print_items(items: Sequence[Item], pending: int, as_json: bool) -> None:
    if as_json:
        print_json([_item(item, pending) for item in items])
        return
    if len(items) <= _MOST_NAMED:
        for item in items:
            click.echo(f"{_SAID[item.outcome]}: {item.noted.given.name} (id: {item.noted.given.content_hash})")
        return
    outcomes = Counter(item.outcome for item in items)
    told = ", ".join(f"{outcomes[outcome]:,} {said.lower()}" for outcome, said in _SAID.items() if outcomes[outcome])
    click.echo(f"{len(items):,} entries: {told}.")


@contextmanager
def _progress(label: str, length: int) -> Generator[Callable[[int], object]]:
    if not is_terminal(sys.stderr):
        yield lambda _count: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr, show_pos=True) as bar:
        yield bar.update


def _item(item: Item, pending: int) -> dict[str, object]:
    if item.entry is None:
        return _journalled(item.noted, "") | {"outcome": item.outcome, "warnings": list(item.noted.warnings)}
    return {
        **fields_of(item.entry, "id", "name", "category"),
        "outcome": item.outcome,
        "added": item.outcome == STORED,
        **fields_of(item.entry, "observation_count", "keywords"),
        "keywords_from": item.noted.keyword_tier,
        "pending_embedding": pending,
        "warnings": list(item.noted.warnings),
    }


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
