# hot
"""Withhold entries with a possible credential: leave them out of an answer, and report them."""

from __future__ import annotations

from recollect.domain.data_text import data_line
from recollect.domain.start_block import entry_text, fresh_block
from recollect.files.looked import secrets_in
from recollect.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.domain.entry import Entry
    from recollect.domain.start_block import Block, TitleList
    from recollect.domain.stored import StoredEntry

_LONGEST_NAME = 60


def harmless_block(
    global_store: str,
    selected: Sequence[Entry],
    status: Callable[[Sequence[Entry]], str],
    is_fresh: Callable[[Entry], bool],
    titles: TitleList | None = None,
) -> tuple[Block, list[str]]:
    """Return the block of `fresh_block` without withheld entries, and a sentence for each withheld one."""
    said: list[str] = []
    left = list(selected)
    while True:
        block = fresh_block(left, status, is_fresh, titles)
        kinds = secrets_in(global_store, [[entry_text(entry)] for entry in block.entries], VERSION)
        bad = {id(entry): kind for entry, kind in zip(block.entries, kinds, strict=True) if kind}
        if not bad:
            return block, said
        said += [withheld_text(entry.title, bad[id(entry)]) for entry in block.entries if id(entry) in bad]
        left = [entry for entry in left if id(entry) not in bad]


def harmless_entries(global_store: str, entries: Sequence[StoredEntry]) -> tuple[list[StoredEntry], list[str]]:
    """Return the entries safe to show, and a sentence for each withheld one."""
    kinds = secrets_in(global_store, [entry_texts(entry) for entry in entries], VERSION)
    found = list(zip(entries, kinds, strict=True))
    return (
        [entry for entry, kind in found if not kind],
        [withheld_text(entry.name, kind) for entry, kind in found if kind],
    )


def entry_texts(entry: StoredEntry) -> list[str]:
    """Return all texts of an entry."""
    lists = (entry.keywords, entry.triggers, entry.references)
    return [entry.name, entry.description, entry.reasoning, entry.details, *(text for texts in lists for text in texts)]


def redacted_entry(entry: StoredEntry) -> StoredEntry:
    """Replace each credential in an entry by its kind, for showing withheld entries to people."""
    from recollect.domain.secrets.detect import redacted

    for field in ("name", "description", "reasoning", "details", "keywords", "triggers", "references"):
        setattr(entry, field, redacted(getattr(entry, field)))
    return entry


def withheld_text(name: str, kind: str) -> str:
    """Return the sentence about a withheld entry, without the credential itself."""
    from recollect.domain.secrets.detect import redact  # slow to import; most hooks withhold nothing

    named = redact(data_line(name))[:_LONGEST_NAME]
    return f"the entry {named!r} is withheld until it is mended: it seems to hold {kind}"
