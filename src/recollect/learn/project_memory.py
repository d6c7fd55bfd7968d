"""Keep a note in a memory file of its project: a new one, or the one that is about the same thing."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recollect.config.memory_root import target_file
from recollect.domain.categories import CATEGORIES, SESSION_SUMMARY
from recollect.domain.hashing import sha256
from recollect.domain.lifecycle import change
from recollect.domain.memory import (
    LONGEST_SLUG,
    MOST_CHANGES,
    MOST_SUPERSEDED,
    clean_tags,
    clean_title,
    session_slug,
    slugify,
    texts,
)
from recollect.domain.ranking.triggers import MOST_TRIGGERS
from recollect.domain.stored import ACTIVE
from recollect.domain.text import utc_text
from recollect.engine.embed import embed_pending
from recollect.errors import StoreError, WriteRefused
from recollect.files.memory.index_md import indexed_memories
from recollect.files.memory.memories import MemoryFile, read_memory
from recollect.learn.content import CHOICES, REFERENCES, Draft, check_main, drafted
from recollect.learn.input import MemoryInput, parted
from recollect.learn.merge import history, merged_content, said_anew
from recollect.learn.remember import REINFORCED, STORED
from recollect.learn.supersede import Superseded, retire_old
from recollect.memories import write
from recollect.memories.finish import finish
from recollect.memories.likeness import Like, plain, similar, title_words
from recollect.sync.memories import entry_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.memory import Record
    from recollect.engine.engine import Engine
    from recollect.files.memory.memories import MemoryRoot
    from recollect.memories.lookup import Named

UPDATED = "updated"
ITSELF = "supersedes names this memory itself, so nothing was retired"

# Attempts at a change while others change the same memory.
_ATTEMPTS = 10
_MOST_TAGS = 8
_AGAIN = "Stored again, with nothing new"
_HASH_LENGTH = 8

# Names reserved on Windows, where projects may be checked out too.
_RESERVED = re.compile(r"con|prn|aux|nul|(?:com|lpt)\d")
_DAY = 10  # length of the date at the beginning of a time

# In a longer history, lines about repetitions would push out lines about changes.
_MOST_NOTED = MOST_CHANGES // 2


@dataclass
class Memorized:
    """The result for a memory or lesson. `path` is its file, relative to the project's folder; empty for knowledge.

    `changed` names the fields of an update, `similar` are other entries about the same thing, or nearly.
    """

    id: str
    name: str
    category: str
    outcome: str
    path: str = ""
    changed: list[str] = field(default_factory=list[str])
    similar: list[Like] = field(default_factory=list[Like])
    superseded: Superseded | None = None
    warnings: list[str] = field(default_factory=list[str])

    def retire(self, engine: Engine, old: Named, pointer: str) -> None:
        """Retire the entry that this one supersedes, with a pointer to this one."""
        self.superseded, warnings = retire_old(engine, old, self.id, self.name, pointer)
        self.warnings += warnings


class ProjectMemory:
    """A note on its way into a memory file."""

    def __init__(self, engine: Engine, note: MemoryInput, replaced: Named | None) -> None:
        self._engine = engine
        self._settings = engine.settings
        self._project_root = engine.workspace.project_root
        self._note = note
        self._title = clean_title(note.name)
        self._root: MemoryRoot = engine.workspace.memory_root()
        self._files, others = parted(note.references, (self._project_root, self._root.project))
        self._draft: Draft = drafted(note, others)
        self._replaced = replaced
        is_summary = note.category == SESSION_SUMMARY and note.session
        self._session = session_slug(note.session) if is_summary else ""
        self._notes: list[str] = []

    def store(self) -> Memorized:
        """Store the note; begin anew if somebody else has changed or just stored the same memory."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._once()
            except WriteRefused as refusal:
                is_taken = refusal.kind == "CREATE_ERROR" and self._known()[0] is not None
                if refusal.kind != "OCC_CONFLICT" and not is_taken:
                    raise
        return self._once()

    def _once(self) -> Memorized:
        old, retitled = self._known()
        if old is None:
            return self._created()
        if self._replaced and self._replaced.memory and self._replaced.memory.path == old.path:
            self._replaced = None  # an update replaces the text already
            self._notes = [ITSELF]
        fields = self._changes(old, self._title if retitled else old.title)
        return self._updated(old, fields) if fields else self._reinforced(old)

    def _changes(self, old: MemoryFile, title: str) -> Record:
        """Return the fields of an existing memory that the note changes. Tags that nobody gave do not count."""
        fields: Record = {"title": title} if title != old.title else {}
        if self._told_anew(old):
            fields["content"] = merged_content(old.category, old.content, self._draft)
        more = [path for path in self._files if path not in old.related_files]
        if more:
            fields["related_files"] = [*old.related_files, *more]
        triggers = list(dict.fromkeys([*self._note.triggers, *old.triggers]))[:MOST_TRIGGERS]
        if set(triggers) != set(old.triggers):
            fields["triggers"] = triggers
        if self._note.tags and not set(clean_tags(self._note.tags)) <= set(old.tags):
            fields["tags"] = clean_tags([*old.tags, *self._note.tags], old.tags)
        if self._replaced and self._replaced.pointer not in old.supersedes:
            fields["supersedes"] = [*old.supersedes, self._replaced.pointer][-MOST_SUPERSEDED:]
        return fields

    # Existing memories

    def _known(self) -> tuple[MemoryFile | None, bool]:
        """Return the active memory about the same thing, and True if the note has another title for it."""
        for slug in self._slugs():
            old = self._read(self._path(slug))
            if old and old.status == ACTIVE and self._is_same(old, slug):
                return old, bool(self._session) and plain(old.title) != plain(self._title)
        if self._note.category == SESSION_SUMMARY or not os.path.isdir(self._root.path):
            return None, False
        words = title_words(self._title)
        for entry in indexed_memories(self._root, []):
            if entry.category == self._note.category and words and title_words(entry.title) == words:
                old = self._listed(entry.path)
                if old and old.status == ACTIVE:
                    return old, plain(old.title) != plain(self._title)
        return None, False

    def _listed(self, target: str) -> MemoryFile | None:
        """Return the memory at a path from the index; None if the path is not one of the note's category."""
        try:
            path, category = target_file(self._root, target, self._project_root)
        except WriteRefused:
            return None
        return self._read(path) if category == self._note.category else None

    def _is_same(self, old: MemoryFile, slug: str) -> bool:
        """Return True if the memory at the note's path is about the same thing: different titles may share a slug."""
        if self._session:
            return True
        if self._note.category == SESSION_SUMMARY:
            today = old.created_at[:_DAY] == _now()[:_DAY]
            return today or not said_anew(old.category, old.content, self._draft.said)
        return plain(old.title) == plain(self._title) or slug.replace("-", "") == plain(self._title).replace(" ", "")

    def _slugs(self) -> list[str]:
        """Return possible slugs for the file, in the order of trying them."""
        if self._session:
            return [self._session, *(f"{self._session}-{number}" for number in range(2, 10))]
        own = slugify(self._title)
        mark = sha256(plain(self._title).encode()).hexdigest()[:_HASH_LENGTH]
        if not own or _RESERVED.fullmatch(own):
            return [f"{self._note.category.replace('_', '-')}-{mark}"]
        if self._note.category == SESSION_SUMMARY:
            dated = f"{own[: LONGEST_SLUG - _DAY - 4].rstrip('-')}-{_now()[:_DAY]}"
            return [own, dated, *(f"{dated}-{number}" for number in range(2, 10))]
        return [own, f"{own[: LONGEST_SLUG - _HASH_LENGTH - 1].rstrip('-')}-{mark}"]

    def _free(self) -> str:
        """Return the path of a new memory: the first free one, or its own from before it was retired."""
        paths = [self._path(slug) for slug in self._slugs()]
        for path in paths:
            old = self._read(path)
            if old is None or (self._note.category != SESSION_SUMMARY and plain(old.title) == plain(self._title)):
                return path
        return paths[0]

    def _path(self, slug: str) -> str:
        return target_file(self._root, f"{self._root.folders[self._note.category]}/{slug}.json", self._project_root)[0]

    def _read(self, path: str) -> MemoryFile | None:
        try:
            return read_memory(path, self._note.category)
        except FileNotFoundError:
            return None

    # Writing

    def _created(self) -> Memorized:
        check_main(self._draft, self._note.category)
        record: Record = {"title": self._title, "tags": self._tags(), "content": self._draft.content}
        if self._files:
            record["related_files"] = self._files
        if self._note.triggers:
            record["triggers"] = list(self._note.triggers)
        gone = ""
        if self._replaced:
            record["supersedes"] = [self._replaced.pointer]
            gone = self._replaced.memory.path if self._replaced.memory else ""
        path = self._free()
        try:
            written = write.create(
                self._root,
                self._settings,
                path,
                self._note.category,
                record,
                captured=True,
                instead_of=gone,
                checkout=self._project_root,
            )
        except WriteRefused as refusal:
            raise self._explained(refusal, path) from refusal
        return self._finished(STORED, written)

    def _updated(self, old: MemoryFile, fields: Record) -> Memorized:
        at = _now()
        named = [part for name in fields for part in (self._told_anew(old) if name == "content" else [name])]
        lines = [change(f"Told anew: {', '.join(named)}", at)]
        if "title" in fields:
            lines.append(change("title changed", at, "title", old.title, fields["title"]))
        lines += history(old.content, fields.get("content", old.content), at)
        tags = clean_tags([*old.tags, *self._tags()], old.tags)
        return self._changed(old, UPDATED, lines, {**fields, "tags": tags}, named)

    def _told_anew(self, old: MemoryFile) -> list[str]:
        return said_anew(old.category, old.content, self._draft.said)

    def _reinforced(self, old: MemoryFile) -> Memorized:
        """Add a line of history about the repetition, at most once a day, to leave room for changes.

        A call that finishes an interrupted one is no repetition.
        """
        last = old.changes[-1] if old.changes else {}
        today = last.get("summary") == _AGAIN and str(last.get("date"))[:_DAY] == _now()[:_DAY]
        is_finishing = self._replaced is not None and self._replaced.entry.status == ACTIVE
        if today or is_finishing or len(old.changes) >= _MOST_NOTED:
            id = entry_id(self._engine.memories, old.category, old.slug)
            path = self._root.shown(old.path)
            result = Memorized(id, old.title, old.category, REINFORCED, path, warnings=self._notes)
            return self._replacing(result, old.slug)
        return self._changed(old, REINFORCED, [change(_AGAIN, _now())], {})

    def _changed(
        self, old: MemoryFile, outcome: str, lines: list[Record], fields: Record, named: Sequence[str] = ()
    ) -> Memorized:
        record = {**old.record, **fields, "changes": [*old.changes, *lines]}
        written = write.update(
            self._root,
            self._settings,
            old.path,
            old.category,
            record,
            expected=old.hash,
            captured=True,
            confirmed=True,
            checkout=self._project_root,
        )
        return self._finished(outcome, written, named)

    def _finished(self, outcome: str, written: write.Written, named: Sequence[str] = ()) -> Memorized:
        engine = self._engine
        warnings = [*self._notes, *written.warnings]
        warnings += finish(self._root, engine.workspace, written.paths, message=written.message, engine=engine)
        embedded = 0
        if self._settings.flag("memory_semantic_enabled"):
            try:
                done = embed_pending(engine)
                embedded, warnings = done.done, [*warnings, *done.warnings]
            except StoreError as error:
                warnings.append(f"the search index is not updated yet; the next command tries again: {error}")
        slug, title = str(written.facts["id"]), str(written.facts["title"])
        id = entry_id(engine.memories, self._note.category, slug)
        result = Memorized(id, title, self._note.category, outcome, written.target, list(named), warnings=warnings)
        self._replacing(result, slug)
        if outcome != REINFORCED:
            text = self._note.description
            result.similar = similar(engine, id, self._note.category, title, text, by_meaning=embedded > 0)
        return result

    def _replacing(self, result: Memorized, slug: str) -> Memorized:
        """Retire the entry that the stored memory replaces, if there is one."""
        if self._replaced:
            result.retire(self._engine, self._replaced, f"{result.category}/{slug}")
        return result

    def _tags(self) -> list[str]:
        """Return tags from the text of the memory, without labels, references and fields with fixed choices."""
        category = self._note.category
        said = {name: value for name, value in self._draft.said.items() if (category, name) not in CHOICES}
        main = texts(said.pop(CATEGORIES[category].note_fields[0], ""))
        rest = [text.partition(f"\n{REFERENCES}")[0] for text in texts(said) if not text.startswith(REFERENCES)]
        labels = self._engine.labels()
        # Blank lines, because the last word of a text is no neighbour of the first word of the next.
        found = labels(self._title, "\n\n".join(main), "\n\n".join(rest), category) if labels else ()
        return clean_tags([*self._note.tags, *found][: max(_MOST_TAGS, len(self._note.tags))])

    def _explained(self, refusal: WriteRefused, path: str) -> WriteRefused:
        """Return the refusal with a fix for use within a session."""
        slug = os.path.basename(path).removesuffix(".json")
        old = self._read(path)
        if old is None or old.status == ACTIVE or refusal.kind not in ("CREATE_ERROR", "ANTI_RESURRECTION_ERROR"):
            return refusal
        facts: list[tuple[str, Any]] = [fact for fact in refusal.facts if fact[0] != "fix"]
        fix = f"it is {old.status}: `recollect restore {slug}` brings it back, or give the memory another name"
        return WriteRefused(refusal.kind, *facts, ("fix", fix))


def _now() -> str:
    return utc_text(time.gmtime())
