# hot
"""A prompt in search of memories: its project and session, and the choice among the memories found."""

from __future__ import annotations

import os
import time

from recollect.domain.memory import texts
from recollect.domain.memory_text import described, is_expired
from recollect.domain.prompt_block import main_text, prompt_block
from recollect.domain.quick_json import parse
from recollect.domain.ranking.trust import REPOSITORY
from recollect.domain.stored import ACTIVE
from recollect.domain.text import memories_and_titles
from recollect.errors import StorageError
from recollect.files.memory.memories import MAX_BYTES, MemoryFile
from recollect.files.session.record import add_given, add_words
from recollect.files.textfile import read_regular
from recollect.recall.deferred import DeferredWrites
from recollect.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Set
    from typing import Any

    from recollect.config.workspace import Workspace
    from recollect.domain.prompt_block import PromptHit
    from recollect.domain.ranking.aboutness import Judgement
    from recollect.domain.stored import StoredEntry
    from recollect.engine.warm import Warm
    from recollect.files.memory.memories import MemoryRoot
    from recollect.recall.in_context import InContext
    from recollect.truth.check import Changed


# Before the key of an entry in a session's record: the session had its title alone.
MAYBE = "maybe "

# Of a longer prompt only the beginning and the end are read, because pasted text is usually in the middle.
_MAX_CHARS = 100_000


class Hit:
    """An entry found for a prompt: the evidence by words and by meaning, the bar, and its score above it, in nats.

    `rank` is the score with its evidence weighed by its `use`, and with the bonus for the package at hand.
    """

    def __init__(self, entry: StoredEntry, judgement: Judgement, *, bonus: float = 0.0, use: float = 1.0) -> None:
        self.entry = entry
        self.words = judgement.words
        self.meaning = judgement.meaning
        self.bar = judgement.bar
        self.nats = judgement.nats
        self.missing = judgement.missing  # for its title
        self.bonus = bonus - (1.0 - use) * (self.words + self.meaning)
        self.rank = self.nats + self.bonus
        self.is_muted = False
        self.is_resting = False
        self.origin = REPOSITORY


class PromptRequest:
    """A prompt of a session, and the memories found for it. `root` is None if memory files must not be read."""

    def __init__(
        self, prompt: str, workspace: Workspace, session: str, warm: Warm | None, *, is_preview: bool = False
    ) -> None:
        self._real: dict[str, bool] = {}  # the cache of `_is_real`
        half = _MAX_CHARS // 2
        self.prompt = prompt if len(prompt) <= _MAX_CHARS else f"{prompt[:half]}\n{prompt[-half:]}"
        self.workspace = workspace
        self.session = session
        self.warm = warm
        self.given: Set[str] = frozenset()  # keys of the memories the session has already
        self.root: MemoryRoot | None = None
        self._context: InContext | None = None
        self.is_preview = is_preview  # nobody gets the block, so its records are never written
        self.notes = DeferredWrites(wait=is_preview or warm is not None)
        self.warnings: list[str] = []
        self.text = ""  # the block
        self.reason = ""  # why there is no block
        self.told: list[PromptHit] = []
        self.maybes: list[PromptHit] = []  # shown by their titles alone
        self.by_meaning = False  # whether it is compared by meaning, too
        self.found: list[Hit] = []  # everything compared in the store, the best first
        self.untold: list[Changed] = []  # changed files of the memories, whose history git is still to tell
        self.is_behind = False  # whether the store has more files to read than a prompt can wait for
        self.afterwards: Callable[[], Sequence[str]] | None = None  # work for after the block is printed
        self.is_long = False  # whether that work is too long to wait for

    def is_new(self, told: PromptHit) -> bool:
        """Return True if the session has a memory neither from us nor from its client's own files."""
        if told.key in self.given:
            return False
        from recollect.recall.in_context import InContext  # imported late: most prompts find nothing

        self._context = self._context or InContext(self.workspace)
        return not self._context.has(main_text(told))

    def leave(self) -> None:
        """Leave the reading of files to the background."""
        self.is_behind = True

    def take(self, told: Sequence[PromptHit], maybes: Sequence[PromptHit] = ()) -> None:
        """Build the block of these memories, and of the titles of `maybes`, and note them as given.

        Memories given to another prompt of the session in the meantime are left out.
        """
        source = self.workspace.settings.text("memory_root") + "/"
        self.text, self.told, self.maybes = prompt_block(self._harmless(told), source, self._harmless(maybes))
        keys = [*(each.key for each in self.told), *(MAYBE + each.key for each in self.maybes)]
        had: set[str] = set()
        if keys:
            self.notes.do(lambda: had.update(add_given(self.workspace.global_store, self.session, keys)))
        if had:
            new = [each for each in self.told if each.key not in had]
            named = [each for each in self.maybes if MAYBE + each.key not in had]
            self.text, self.told, self.maybes = prompt_block(new, source, named)

    def _harmless(self, told: Sequence[PromptHit]) -> list[PromptHit]:
        """Return the memories without a credential; memory files were checked when they were read."""
        if not told:
            return []
        from recollect.files.looked import secrets_in  # most prompts find nothing and need it not

        entries = [each for each in told if not each.path]
        groups = [
            [each.title, each.description, each.reasoning, each.details, *each.tags, *each.triggers] for each in entries
        ]
        bad = {
            each.key
            for each, kind in zip(entries, secrets_in(self.workspace.global_store, groups, VERSION), strict=True)
            if kind
        }
        return [each for each in told if each.key not in bad]

    def note_words(self) -> None:
        """Record the words of the block, so that triage does not take a quotation for something new."""
        if self.text:
            from recollect.domain.triage.quoted import marks

            self.notes.do(lambda: add_words(self.workspace.global_store, self.session, marks(self.text)))

    @property
    def said(self) -> str:
        """Return the line for the user about the memories given; empty unless the settings ask for it."""
        if not self.text or self.workspace.settings.text("retrieval.show") != "always":
            return ""
        if not self.told:
            return f"no memory recalled, {memories_and_titles(0, len(self.maybes))} given"
        return f"{memories_and_titles(len(self.told), len(self.maybes))} recalled"

    def as_it_is(self, path: str, category: str) -> MemoryFile | None:
        """Return the current memory file at a path, or None if it must not be shown.

        A file is not shown if it cannot be read, is behind a link, is not active or has expired, is not a valid memory,
        or seems to hold a credential.
        """
        from recollect.domain.withheld import basic_problems
        from recollect.files.looked import secrets_in

        folder = os.path.dirname(path)
        if self.root is None or folder != self.root.folder(category) or not self._is_real(folder):
            return None
        try:
            record: Any = parse(read_regular(path, MAX_BYTES, follow=False).decode("utf-8").removeprefix("\ufeff"))
        except (OSError, StorageError, ValueError):
            return None
        if not isinstance(record, dict) or basic_problems(record, category):  # pyright: ignore[reportUnknownArgumentType]
            return None
        memory = MemoryFile(path, category, record, "")  # pyright: ignore[reportUnknownArgumentType]
        if memory.status != ACTIVE or self._is_expired(memory):
            return None
        return None if any(secrets_in(self.workspace.global_store, [texts(record, names=True)], VERSION)) else memory

    def _is_expired(self, memory: MemoryFile) -> bool:
        details = described(memory.category, memory.title, memory.content)[2]
        since = self.workspace.settings.kept_since(memory.category, time.time())
        return is_expired(
            memory.category, details, memory.updated_at, since=since, today=time.strftime("%Y-%m-%d", time.gmtime())
        )

    def _is_real(self, folder: str) -> bool:
        """Return True if a folder's path contains no link. For the file itself, reading it checks this."""
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder) == folder
        return self._real[folder]


def retell(told: PromptHit, memory: MemoryFile) -> PromptHit:
    """Replace the texts shown to a prompt by those of the memory file; only these were checked for credentials."""
    told.title, told.tags = memory.title, memory.tags
    told.description, told.reasoning, told.details = described(told.category, told.title, memory.content)
    return told
