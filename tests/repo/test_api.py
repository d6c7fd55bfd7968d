"""The public surface: what other programs may rely on."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import recollect.api
from recollect.errors import RecollectError

SURFACE = {
    "KNOWLEDGE",
    "PROJECT_SPECIFIC",
    "UNIVERSAL",
    "BankFile",
    "Candidate",
    "Entry",
    "Injection",
    "InvalidEntry",
    "InvalidSetting",
    "LockTimeout",
    "Outcome",
    "Promotion",
    "RecollectError",
    "Settings",
    "StorageError",
    "UnsafeEdit",
    "Verdict",
    "candidates_of",
    "content_hash",
    "from_json",
    "global_store",
    "inject",
    "load_settings",
    "promote",
    "read_bank",
}


def test_public_surface_is_what_is_promised() -> None:
    assert set(recollect.api.__all__) == SURFACE
    assert {name for name in vars(recollect.api) if not name.startswith("_")} == SURFACE


def test_everything_public_says_what_it_is() -> None:
    undocumented = {
        name
        for name in SURFACE - {"KNOWLEDGE", "PROJECT_SPECIFIC", "UNIVERSAL"}
        if not (getattr(recollect.api, name).__doc__ or "").strip()
    }
    assert undocumented - {error.__name__ for error in RecollectError.__subclasses__()} == set()


def test_every_error_is_drawn_in_the_tree() -> None:
    tree = recollect.errors.__doc__ or ""
    assert all(f"── {error.__name__} " in tree for error in RecollectError.__subclasses__())


def test_the_example_of_the_library_runs(tmp_path: Path) -> None:
    example = (recollect.api.__doc__ or "").partition("\n\n")[2]
    code = textwrap.dedent(example)
    home = {"HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=home, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
