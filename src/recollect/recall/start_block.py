# hot
"""Build the block for the start of a session, by relevance with the store or from markdown alone.

The way by markdown needs only the standard library, no database and no network. It is also the fallback.
"""

from __future__ import annotations

import os
import time

from recollect.domain.hashing import content_hash
from recollect.domain.ranking.selection import deduplicate, select
from recollect.domain.start_block import MOST_PINNED, markdown_status
from recollect.domain.stored import MUTED, PINNED
from recollect.domain.text import left_out, one_line
from recollect.engine.withhold import harmless_block
from recollect.errors import StoreError
from recollect.files.bank.bank import read_bank
from recollect.files.session.last_injection import write_last_injection
from recollect.recall.degradation import MARKDOWN_ONLY, Degradation
from recollect.recall.start_request import Injection
from recollect.recall.start_titles import list_titles, title_key
from recollect.sync.bounds import read_own_bank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from recollect.domain.entry import Entry
    from recollect.domain.start_block import Block
    from recollect.recall.start_request import StartRequest

# A fork has the conversation of its session, like a resumed one, so the settings treat both alike.
_COUNTS_AS = {"fork": "resume"}

# In seconds: how long a person waits for the bank of a repository to be parsed.
_PARSING = 0.4


def inject(asked: StartRequest, *, markdown: str = "") -> Injection:
    """Build the block for a session's start, and record it as the last injection.

    `markdown` is a reason not to use the store; if it is empty, the store is used.
    """
    workspace = asked.workspace
    injection = Injection(_suppressed(asked))
    if injection.reason:
        return injection
    if markdown or not workspace.settings.flag("memory_semantic_enabled"):
        chosen = _from_markdown(asked, injection, markdown)
    else:
        chosen = _from_store(asked, injection)
    injection.text, injection.entries, injection.dropped = chosen.text, chosen.entries, chosen.dropped
    if not os.path.isdir(workspace.project_root):
        injection.warnings.append(f"there is no folder {workspace.project_root}")
    if not chosen.text:
        injection.reason = _nothing(asked, injection)
        return injection
    asked.notes.do(lambda: write_last_injection(workspace.global_store, workspace.name, chosen.entries))
    return injection


def _nothing(asked: StartRequest, injection: Injection) -> str:
    """Return the reason for an empty block; warn as well if all entries are too long."""
    if injection.dropped:
        reason = f"each of the {injection.dropped} selected entries is too long to inject"
        injection.warnings.append(reason)
        return reason
    if asked.context.left_out:
        return "the session has it all in its context already, from CLAUDE.md or its client's memory"
    if asked.without:
        return "there is nothing that the session has not had"
    return f"no entries in {asked.workspace.bank} or {asked.workspace.global_store}"


def _from_store(asked: StartRequest, injection: Injection) -> Block:
    """Build the block by relevance, or from markdown with the reason if the store cannot be used."""
    try:
        from recollect.recall.start_choice import session_block

        return session_block(asked, injection)
    except (StoreError, ImportError) as error:  # this Python may lack the store's driver
        injection.warnings.append(str(error))
        injection.withheld.clear()  # they are found again
        return _from_markdown(asked, injection, str(error))


def _from_markdown(asked: StartRequest, injection: Injection, degraded: str = "") -> Block:
    shared, warnings = read_bank(asked.workspace.global_store, "global")
    shared += _from_journal(asked)
    # The repository's come last: there may be so many of them that there is no time for all.
    local, more_warnings, left = read_own_bank(asked.workspace, end=time.monotonic() + _PARSING)
    for entry in local:
        entry.is_vouched = asked.workspace.is_vouched
    injection.warnings += warnings + more_warnings
    everything = deduplicate(_not_retired(asked, local, shared))
    pinned = _marked(asked, everything)
    why = one_line(degraded).replace("*", " ").replace("|", " ")[:200]

    def degraded_status(entries: Sequence[Entry]) -> str:
        of_all = f"{len(entries)} entries from {len(everything)}"
        return f'{of_all} | semantic: degraded (markdown only: {why}) | context: "none" | model: none'

    injection.degraded += [Degradation(MARKDOWN_ONLY, error=degraded)] if degraded else []
    status = degraded_status if degraded else markdown_status
    titles = list_titles(asked, injection)
    unread = left_out(*injection.left, *left)

    def chosen_without(keys: Collection[str]) -> list[Entry]:
        first = [entry for entry in pinned if _key(entry) not in keys][: asked.limit if asked.limit > 0 else None]
        left = [entry for entry in everything if not entry.is_pinned and _key(entry) not in keys]
        return first + select(left, max(asked.limit - len(first), min(asked.limit, 0)))

    chosen, withheld = harmless_block(
        asked.workspace.global_store,
        asked.context.choose(chosen_without, _key),
        lambda entries: status(entries) + asked.context.status + (unread and f" | {unread}"),
        lambda entry: _key(entry) not in asked.without,
        titles,
    )
    injection.withheld += withheld
    injection.titles = [*titles.fresh]
    injection.keys = [*map(_key, chosen.entries), *map(title_key, titles.fresh)]
    return chosen


def _from_journal(asked: StartRequest) -> list[Entry]:
    """Return the lessons that only the journal has: those added by hand, and those of sessions."""
    workspace = asked.workspace
    if not os.path.exists(workspace.journal):
        return []
    from recollect.files.journal.lessons import lessons

    elsewhere = workspace.settings.flag("retrieval.unproven_elsewhere")
    return lessons(workspace.journal, workspace.identity, elsewhere=elsewhere)


def _not_retired(asked: StartRequest, local: list[Entry], shared: list[Entry]) -> list[Entry]:
    """Return the entries of both banks without those retired in the journal."""
    journal = asked.workspace.journal
    if not os.path.exists(journal):
        return [*local, *shared]
    from recollect.files.journal.tail import retired_ids

    everywhere, here = retired_ids(journal, asked.workspace.identity)
    if not everywhere and not here:
        return [*local, *shared]
    kept = [entry for entry in local if _key(entry) not in everywhere | here]
    return kept + [entry for entry in shared if _key(entry) not in everywhere]


def _marked(asked: StartRequest, entries: list[Entry]) -> list[Entry]:
    """Remove the muted ones of the entries, and return the pinned ones, as the journal says."""
    journal, identity = asked.workspace.journal, asked.workspace.identity
    if not os.path.exists(journal):
        return []
    from recollect.files.journal.tail import marked_ids

    asked.muted = frozenset(marked_ids(journal, MUTED, identity))
    pins = marked_ids(journal, PINNED, identity)
    entries[:] = [entry for entry in entries if _key(entry) not in asked.muted] if asked.muted else entries
    pinned = sorted((entry for entry in entries if _key(entry) in pins), key=lambda entry: pins.index(_key(entry)))
    for entry in pinned[:MOST_PINNED]:
        entry.is_pinned = True
    return pinned[:MOST_PINNED]


def _key(entry: Entry) -> str:
    """Return the id of a bank's entry in the store."""
    return entry.content_hash if entry.description else content_hash(entry.title)


def _suppressed(asked: StartRequest) -> str:
    settings, event = asked.workspace.settings, asked.event
    if not settings.flag("memory_injection_enabled"):
        return f"memory_injection_enabled is false ({settings.source('memory_injection_enabled')})"
    if event and _COUNTS_AS.get(event, event) not in settings.words("memory_injection_events"):
        return f"memory_injection_events leaves out {event} ({settings.source('memory_injection_events')})"
    return "the limit is 0" if asked.limit == 0 else ""
