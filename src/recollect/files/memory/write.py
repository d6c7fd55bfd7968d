"""Validate and write memory files atomically, together with the index. The caller holds the root's lock."""

from __future__ import annotations

import os
from typing import Any

from recollect.errors import WriteRefused
from recollect.files.memory.index_md import index_with, unlink_link
from recollect.files.memory.memories import MAX_BYTES, MemoryFile, MemoryRoot, memory_of, record_text
from recollect.files.memory.schemas import validated
from recollect.files.textfile import write_text, write_texts


def save_memory(root: MemoryRoot, path: str, category: str, record: dict[str, Any], before: str = "") -> MemoryFile:
    """Write a record to its file and update the index, both or neither. `before` is its old path.

    Raises:
        WriteRefused: the record does not fit its schema, or is too large; nothing was written.
        StorageError: a file cannot be written; the files are unchanged.
    """
    text = _checked(record, category)
    memory = memory_of(text.encode(), path, category)
    index = index_with(root, memory, before)
    unlink_link(root.index)
    # The rename comes just before the write: after a kill between them there is one file, not two.
    moved = (before, path) if before and before != path else None
    write_texts({path: text, root.index: index}, moved=moved)
    os.utime(root.index)  # it was staged before the memory's folder changed, so it would seem out of date
    if root.written is not None:
        root.written.add(path)
    return memory


def write_memory(path: str, category: str, record: dict[str, Any]) -> None:
    """Write a record to its file. The caller updates the index once for many. Raises as `save_memory` does."""
    write_text(path, _checked(record, category))


def _checked(record: dict[str, Any], category: str) -> str:
    text = record_text(validated(record, category))
    size = len(text.encode())
    if size > MAX_BYTES:
        raise WriteRefused(
            "VALIDATION_ERROR",
            ("field", "content"),
            ("expected", f"at most {MAX_BYTES // 1024:,} KiB"),
            ("got", f"{size // 1024:,} KiB"),
            ("fix", "keep what matters; name large texts in related_files"),
        )
    return text
