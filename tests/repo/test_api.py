"""The public surface: what other programs may rely on."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import recollect.api
from recollect.errors import RecollectError

SURFACE = {
    "BankFile",
    "Candidate",
    "Embedded",
    "EmbeddingError",
    "Engine",
    "Entry",
    "GivenEntry",
    "Hit",
    "Injection",
    "InvalidEntry",
    "InvalidSetting",
    "KNOWLEDGE",
    "KeywordError",
    "LockTimeout",
    "MemoryFile",
    "MemoryRoot",
    "Outcome",
    "PROJECT",
    "PROJECT_SPECIFIC",
    "Promotion",
    "RateLimited",
    "Rebuilt",
    "RecollectError",
    "Remembered",
    "Resolution",
    "RetrievalResult",
    "SearchResult",
    "Settings",
    "StorageError",
    "StoreError",
    "StoredEntry",
    "UNIVERSAL",
    "UnknownMemory",
    "UnsafeEdit",
    "Verdict",
    "WriteRefused",
    "Written",
    "archive_memory",
    "candidates_of",
    "content_hash",
    "create_memory",
    "embed_pending",
    "entries_from_json",
    "finish",
    "from_json",
    "global_store",
    "inject",
    "load_settings",
    "memory_root",
    "promote",
    "read_bank",
    "read_named",
    "rebuild",
    "remember",
    "resolve",
    "restore_memory",
    "retire_memory",
    "search",
    "sync",
    "sync_memories_of",
    "unarchive_memory",
    "update_memory",
}


def errors() -> list[type[Exception]]:
    direct = RecollectError.__subclasses__()
    return [*direct, *(inner for error in direct for inner in error.__subclasses__())]


def test_public_surface_is_what_is_promised() -> None:
    assert set(recollect.api.__all__) == SURFACE
    assert {name for name in vars(recollect.api) if not name.startswith("_")} == SURFACE


def test_everything_public_says_what_it_is() -> None:
    undocumented = {
        name
        for name in SURFACE - {"KNOWLEDGE", "PROJECT", "PROJECT_SPECIFIC", "UNIVERSAL"}
        if not (getattr(recollect.api, name).__doc__ or "").strip()
    }
    assert undocumented - {error.__name__ for error in errors()} == set()


def test_every_error_is_drawn_in_the_tree() -> None:
    tree = recollect.errors.__doc__ or ""
    assert all(f"── {error.__name__} " in tree for error in errors())


def test_the_example_of_the_library_runs(tmp_path: Path) -> None:
    example = (recollect.api.__doc__ or "").partition("\n\n")[2]
    code = textwrap.dedent(example)
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=home, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
