"""Collect what awaits a person: captures, and entries that are contradicted, stale, alike or given in vain."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from recollect.domain.feedback.weight import REST_TIMES
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import ACTIVE, MUTED, PINNED, StoredEntry
from recollect.domain.text import counted, cut, one_line
from recollect.domain.word_diff import word_diff
from recollect.engine.engine import Engine
from recollect.engine.withhold import harmless_entries
from recollect.files.journal.kinds import Staged
from recollect.files.met import has_met
from recollect.learn.duplicates import Pair, find_duplicates
from recollect.learn.review import captures_to_review, note_of
from recollect.memories.likeness import plain
from recollect.store.values import Feedback
from recollect.truth.stale import StaleEntry, stale_here

CAPTURE, CONTRADICTED, STALE, ALIKE, IN_VAIN = "capture", "contradicted", "stale", "alike", "in_vain"

# The ways to settle an item, with what each does to an item of a kind.
ACCEPT, EDIT, DISMISS, MUTE = "accept", "edit", "dismiss", "mute"
WAYS: dict[str, dict[str, str]] = {
    CAPTURE: {ACCEPT: "Keep", EDIT: "Edit", DISMISS: "Dismiss"},
    CONTRADICTED: {ACCEPT: "Still true", EDIT: "Edit", DISMISS: "Retire", MUTE: "Mute"},
    STALE: {ACCEPT: "Still true", EDIT: "Edit", DISMISS: "Retire", MUTE: "Mute"},
    ALIKE: {ACCEPT: "Merge", DISMISS: "Different", EDIT: "Edit", MUTE: "Mute"},
    IN_VAIN: {ACCEPT: "Keep", EDIT: "Edit", DISMISS: "Retire", MUTE: "Mute"},
}

# Nobody has asked about pairs here, so only those are offered that do look like the same thing told twice: from this
# likeness on, and where more than this share of the shorter one's words is in the other. `recollect dedupe` has all.
_MOST_PAIRS = 3
_LEAST_LIKENESS = 0.85
_MOST_WORDS = 0.5

_LONGEST = 300
_MOST_OF_A_KIND = 100

# In seconds: how long slow items are kept.
_FRESH = 300.0


@dataclass(frozen=True)
class Item:
    """Something that awaits a person. `id` is that of the capture or the entry, `other` that of a second entry.

    `why` are sentences on why it is here. `difference` has the words of two texts, as `word_diff` does.
    """

    kind: str
    id: str
    title: str
    text: str
    category: str
    at: str
    why: list[str] = field(default_factory=list[str])
    other: str = ""
    other_title: str = ""
    difference: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    @property
    def key(self) -> str:
        """Return a name of the item, the same as long as it awaits."""
        return f"{self.kind}-{self.id}-{self.other}".rstrip("-")

    @property
    def ways(self) -> dict[str, str]:
        return WAYS[self.kind]


def quick_items(engine: Engine) -> list[Item]:
    """Return the captures of the project, and the entries that sessions have contradicted or were given in vain.

    Raises:
        StoreError: the store cannot be read.
        StorageError: the journal cannot be read.
    """
    captures = [_of_capture(capture) for capture in captures_to_review(engine.workspace)]
    known = engine.feedback()
    ids = [id for id, each in known.items() if each.contradicted or _is_in_vain(each)]
    muted = set(engine.store.marked(MUTED, engine.scope(engine.project)))
    pinned = set(engine.store.marked(PINNED, engine.scope(engine.project)))
    there = set(_in_scope(engine, ids)) - muted
    entries = [entry for entry in _shown(engine, ids) if entry.id in there and entry.status == ACTIVE]
    wrong = [_of_contradicted(entry, known[entry.id]) for entry in entries if known[entry.id].contradicted]
    vain = [
        _of_vain(entry, known[entry.id]) for entry in entries if entry.id not in pinned and _is_in_vain(known[entry.id])
    ]
    store = engine.workspace.global_store
    kept = [item for item in [*wrong, *vain] if not has_met(store, kept_mark(item.key, known[item.id]))]
    return [*captures[:_MOST_OF_A_KIND], *kept[:_MOST_OF_A_KIND]]


def slow_items(engine: Engine) -> tuple[list[Item], list[str]]:
    """Return the entries whose files have changed, and the pairs that may say the same; and warnings.

    git is asked, and texts are compared by their meaning, so this may take seconds.

    Raises:
        StoreError: the store cannot be read.
    """
    stale, warnings = stale_here(engine)
    muted = set(engine.store.marked(MUTED, engine.scope(engine.project)))
    items = [_of_stale(each) for each in stale if each.entry.id not in muted][:_MOST_OF_A_KIND]
    if engine.store.read_only:
        return items, warnings
    found = find_duplicates(engine, dry_run=True)
    pairs = [(one, other, 1.0) for one, other in found.merged]
    pairs += [(pair.one, pair.other, pair.likeness) for pair in found.pairs if _is_offered(pair)]
    return [*items, *(_of_pair(*pair) for pair in pairs[:_MOST_PAIRS])], list(dict.fromkeys(warnings))


class SlowItems:
    """The items of `slow_items`, kept for a while, because they take seconds to find."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: list[Item] = []
        self.warnings: list[str] = []
        self._at = 0.0

    @property
    def is_fresh(self) -> bool:
        """Return True if they need not be looked for again yet."""
        return bool(self._at) and time.monotonic() - self._at < _FRESH

    def look(self, engine: Engine) -> None:
        """Look for them, unless they are fresh. Raises as `slow_items` does."""
        with self._lock:
            if not self.is_fresh:
                self._items, self.warnings = slow_items(engine)
                self._at = time.monotonic()

    def items(self, engine: Engine) -> list[Item]:
        """Return those found last that still await somebody.

        Raises:
            StoreError: the store cannot be read.
        """
        ids = {id for item in self._items for id in (item.id, item.other) if id}
        muted = set(engine.store.marked(MUTED, engine.scope(engine.project)))
        gone = ids - {entry.id for entry in engine.store.entries(ids) if entry.status == ACTIVE} | muted
        return [item for item in self._items if not {item.id, item.other} & gone]

    def drop(self, key: str) -> None:
        """Leave out an item that was just settled."""
        self._items = [item for item in self._items if item.key != key]

    def forget(self) -> None:
        """Look for them anew the next time, because something was undone."""
        self._at = 0.0


def kept_mark(key: str, known: Feedback) -> str:
    """Return the name under which is noted that an item is kept; it counts until the entry is given as often again."""
    return f"kept {key} {known.contradicted} {known.given // REST_TIMES}"


def _is_in_vain(known: Feedback) -> bool:
    return bool(known.resting) or (known.given >= REST_TIMES and not known.used)


def _in_scope(engine: Engine, ids: Iterable[str]) -> list[str]:
    scope = engine.scope(engine.project)
    return [id for id in ids if id in engine.store.ids_beginning(id, scope, 1)]


def _shown(engine: Engine, ids: Iterable[str]) -> list[StoredEntry]:
    return harmless_entries(engine.workspace.global_store, engine.store.entries(ids))[0]


def _of_capture(capture: Staged) -> Item:
    note = note_of(capture)
    said = [f"staged by session {one_line(capture.session)[:8]}"] if capture.session else ["staged by a session"]
    return Item(CAPTURE, capture.id, cut(redact(one_line(note.text)), _LONGEST), "", capture.category, capture.at, said)


def _of_entry(kind: str, entry: StoredEntry, why: list[str]) -> Item:
    at = entry.updated_at or entry.created_at
    return Item(kind, entry.id, one_line(entry.name), entry.description, entry.category, at, why)


def _of_contradicted(entry: StoredEntry, known: Feedback) -> Item:
    said = f"contradicted {counted(known.contradicted, 'time', 'times')} in a session"
    return _of_entry(CONTRADICTED, entry, [f"{said}; used {known.used} of {counted(known.given, 'time', 'times')}"])


def _of_vain(entry: StoredEntry, known: Feedback) -> Item:
    said = f"given for {counted(known.given, 'prompt', 'prompts')} and never used"
    rest = [f"at rest since {known.resting[:10]}"] if known.resting else []
    return _of_entry(IN_VAIN, entry, [said, *rest])


def _of_stale(stale: StaleEntry) -> Item:
    why: list[str] = []
    for file in stale.files:
        commits = [f"{commit.hash[:8]} {commit.subject.strip()}" for commit in file.commits[:1]]
        why.append("; ".join([file.changed.text, *commits]))
    return _of_entry(STALE, stale.entry, why)


def _is_offered(pair: Pair) -> bool:
    one, other = (set(plain(each.embedded_text).split()) for each in (pair.one, pair.other))
    shared = len(one & other) / max(1, min(len(one), len(other)))
    return pair.likeness >= _LEAST_LIKENESS and shared > _MOST_WORDS


def _of_pair(one: StoredEntry, other: StoredEntry, likeness: float) -> Item:
    why = ["both say the same" if likeness >= 1 else f"{likeness:.0%} alike"]
    words = word_diff(one.description, other.description)
    return replace(_of_entry(ALIKE, one, why), other=other.id, other_title=one_line(other.name), difference=words)
