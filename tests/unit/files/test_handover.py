"""Records handed over: from the temporary directory or standard input, whole JSON objects only."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from pathlib import Path

import pytest

from recollect.domain.categories import FOLDER
from recollect.errors import WriteRefused
from recollect.files.memory.memories import MemoryRoot
from recollect.files.session import handover
from recollect.files.session.handover import MAX_BYTES

ROOT = MemoryRoot("/home/dev/shop", "/home/dev/shop/.claude/memory", FOLDER)


def read_handover(path: str) -> dict[str, object]:
    return handover.read_handover(path, ROOT)


def remove_handover(path: str) -> None:
    handover.remove_handover(path, ROOT)


def test_memory_is_no_input_and_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project may be below the temporary directory."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    root = MemoryRoot(str(tmp_path), str(tmp_path / ".claude" / "memory"), FOLDER)
    path = Path(root.file("decision", "a"))
    path.parent.mkdir(parents=True)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(WriteRefused, match="SECURITY_ERROR"):
        handover.read_handover(str(path), root)
    handover.remove_handover(str(path), root)
    assert path.exists()


SYSTEM = "/tmp"
OUTSIDE = os.path.realpath(os.__file__)  # a file that no temporary directory holds


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A temporary directory of our own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def refused(path):
    with pytest.raises(WriteRefused) as caught:
        read_handover(str(path))
    text = str(caught.value)
    assert text.count("\n") == len(caught.value.facts)
    assert "\x1b" not in text
    return caught.value.kind


def handed(folder, data, name="input.json"):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return path


def test_object_in_the_temporary_directory_is_read(temporary):
    assert read_handover(str(handed(temporary, {"title": "Größe"}))) == {"title": "Größe"}


def test_object_further_down_and_with_a_byte_order_mark_is_read(temporary):
    (temporary / "a b" / "ü").mkdir(parents=True)
    assert read_handover(str(handed(temporary / "a b" / "ü", b'\xef\xbb\xbf{"a": 1}'))) == {"a": 1}


@pytest.mark.usefixtures("temporary")
def test_system_wide_temporary_directory_counts_beside_the_users_own():
    with tempfile.NamedTemporaryFile("w", dir=SYSTEM, suffix=".json", encoding="utf-8") as file:
        file.write('{"a": 1}')
        file.flush()
        assert read_handover(file.name) == {"a": 1}


@pytest.mark.parametrize(
    "path",
    [
        OUTSIDE,
        "/etc/passwd",
        "etc/passwd",
        "",
        "/",
        "~/x.json",
        f"{SYSTEM}foo/x.json",
        SYSTEM,
        f"{SYSTEM}/",
        f"{SYSTEM}/../etc/passwd",
        f"{SYSTEM}/a/../b.json",
        f"{SYSTEM}\\..\\x.json",
        f"{SYSTEM}/a\0.json",
        "\0",
        "/proc/self/environ",
        "x\nfix: run this",
        "\x1b[31m",
        "-x",
        "--",
    ],
)
@pytest.mark.usefixtures("temporary")
def test_path_outside_the_temporary_directory_is_refused(monkeypatch, path):
    monkeypatch.chdir("/")
    assert refused(path) == "SECURITY_ERROR"


def test_step_up_is_refused_even_where_it_stays_inside(temporary):
    handed(temporary, {"a": 1})
    (temporary / "sub").mkdir()
    assert refused(temporary / "sub" / ".." / "input.json") == "SECURITY_ERROR"


def test_link_out_of_the_temporary_directory_is_refused(temporary):
    link = temporary / "input.json"
    link.symlink_to(OUTSIDE)
    assert refused(link) == "SECURITY_ERROR"
    remove_handover(str(link))
    assert link.is_symlink()
    assert os.path.exists(OUTSIDE)


def test_folder_that_links_out_of_the_temporary_directory_is_refused(temporary):
    (temporary / "sub").symlink_to(os.path.dirname(OUTSIDE))
    assert refused(temporary / "sub" / os.path.basename(OUTSIDE)) == "SECURITY_ERROR"


def test_link_inside_the_temporary_directory_is_followed(temporary):
    real = handed(temporary, {"a": 1}, "real.json")
    (temporary / "link.json").symlink_to(real)
    assert read_handover(str(temporary / "link.json")) == {"a": 1}


def test_loop_of_links_is_refused(temporary):
    (temporary / "a.json").symlink_to(temporary / "b.json")
    (temporary / "b.json").symlink_to(temporary / "a.json")
    assert refused(temporary / "a.json") == "INPUT_ERROR"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"   \n",
        b"{",
        b"[]",
        b'[{"title": "x"}]',
        b"5",
        b"null",
        b'"text"',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": -1e999}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": "\xff"}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": 1} {"b": 2}',
        b"{'a': 1}",
        b'{"a": "line\nbreak"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"a": ' + b"[" * 20 + b"1" + b"]" * 20 + b"}",
        b'{"a": "' + b"x" * MAX_BYTES + b'"}',
        b" " * (MAX_BYTES + 1) + b"{}",
    ],
    ids=lambda data: repr(data[:24]),
)
def test_anything_but_one_plain_object_is_refused(temporary, data):
    assert refused(handed(temporary, data)) == "INPUT_ERROR"


def test_object_of_the_largest_size_is_read(temporary):
    data = b'{"a": "' + b"x" * (MAX_BYTES - 9) + b'"}'
    assert len(data) == MAX_BYTES
    assert len(read_handover(str(handed(temporary, data)))["a"]) == MAX_BYTES - 9


def test_two_mebibytes_are_refused(temporary):
    assert refused(handed(temporary, b'{"a": "' + b"x" * 2 * 1024 * 1024 + b'"}')) == "INPUT_ERROR"


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo", "unreadable folder"])
def test_what_is_no_regular_file_is_refused_at_once(temporary, kind):
    path = temporary / "input.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "unreadable folder":
        handed(temporary, {}, "file")
        path = temporary / "file" / "input.json"
    assert refused(path) == "INPUT_ERROR"


def test_refusal_shows_no_text_of_the_file(temporary):
    path = handed(temporary, b'{"password": "hunter2-is-secret" oops')
    with pytest.raises(WriteRefused) as caught:
        read_handover(str(path))
    assert "hunter2" not in str(caught.value)


def test_file_that_has_served_is_removed_and_a_missing_one_is_no_matter(temporary):
    path = handed(temporary, {})
    remove_handover(str(path))
    assert not path.exists()
    remove_handover(str(path))


@pytest.mark.parametrize("path", [OUTSIDE, "/etc/passwd", "-", "", "\0"])
@pytest.mark.usefixtures("temporary")
def test_only_files_of_the_temporary_directory_are_removed(path):
    remove_handover(path)
    assert os.path.exists(OUTSIDE)
    assert Path("/etc/passwd").exists()


def test_folder_is_not_removed(temporary):
    (temporary / "folder").mkdir()
    remove_handover(str(temporary / "folder"))
    assert (temporary / "folder").is_dir()


class _Standard:
    def __init__(self, data):
        self.buffer = io.BytesIO(data)


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", _Standard(b'{"a": 1}'))
    assert read_handover("-") == {"a": 1}


@pytest.mark.parametrize("data", [b"", b"[]", b"{" * 100_000, b" " * (MAX_BYTES + 1)])
def test_standard_input_without_an_object_is_refused(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", _Standard(data))
    assert refused("-") == "INPUT_ERROR"


def test_closed_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert refused("-") == "INPUT_ERROR"
