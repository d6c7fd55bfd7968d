import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import PATIENCE

from recollect.errors import StorageError
from recollect.files.textfile import (
    is_temporary,
    read_regular,
    read_text,
    sweep_folder,
    temporary_name,
    write_bytes,
    write_text,
    write_texts,
)

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX file system")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, encoding="utf-8", check=False, timeout=PATIENCE
    )


# Reading


def test_read_text_keeps_every_byte(tmp_path: Path) -> None:
    data = bytes(range(256)) + "é😀\ufeff\r\n".encode()
    (tmp_path / "f").write_bytes(data)
    assert read_text(str(tmp_path / "f")).encode("utf-8", "surrogateescape") == data


def test_read_text_of_a_missing_file_is_empty(tmp_path: Path) -> None:
    assert read_text(str(tmp_path / "nowhere" / "f")) == ""


def test_read_text_refuses_a_folder(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is not a regular file"):
        read_text(str(tmp_path))


@posix
def test_read_text_refuses_a_device() -> None:
    with pytest.raises(StorageError, match="/dev/zero is not a regular file"):
        read_text("/dev/zero")


def test_read_text_reads_a_file_of_exactly_the_largest_size_and_refuses_a_larger_one(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * 2048)
    assert len(read_text(str(path), 2048)) == 2048
    path.write_bytes(b"x" * 2049)
    with pytest.raises(StorageError, match="is larger than 2 KiB"):
        read_text(str(path), 2048)


@posix
def test_read_text_names_the_file_and_the_reason_when_it_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    path = str(tmp_path / "f" / "below")
    with pytest.raises(StorageError, match="Not a directory") as caught:
        read_text(path)
    assert path in str(caught.value)


def test_read_regular_reads_so_many_bytes_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    assert read_regular(str(tmp_path / "f"), 2) == b"ab"
    with pytest.raises(FileNotFoundError):
        read_regular(str(tmp_path / "none"), 2)


@posix
def test_read_regular_follows_a_link_only_if_it_may(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    (tmp_path / "link").symlink_to(tmp_path / "f")
    assert read_regular(str(tmp_path / "link"), 9) == b"abc"
    with pytest.raises(OSError, match="symbolic links"):
        read_regular(str(tmp_path / "link"), 9, follow=False)


@posix
def test_what_is_no_regular_file_is_neither_waited_for_nor_left_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    code = (
        "import os, sys\n"
        "from recollect.errors import StorageError\n"
        "from recollect.files.textfile import read_regular, read_text\n"
        "before = os.listdir('/dev/fd')\n"
        "for read in (lambda path: read_regular(path, 1), read_text):\n"
        "    for path in sys.argv[1:]:\n"
        "        try:\n            read(path)\n"
        "        except StorageError as error:\n            print(error)\n"
        "assert os.listdir('/dev/fd') == before\n"
    )
    # In a process of its own: opening a pipe that nobody else opens may wait forever.
    done = run(code, str(tmp_path / "pipe"), str(tmp_path))
    said = f"{tmp_path}/pipe is not a regular file\n{tmp_path} is not a regular file\n"
    assert (done.stdout, done.stderr) == (said * 2, "")


# Writing


@pytest.mark.parametrize("durable", [True, False])
def test_write_text_makes_the_file_and_its_folders(tmp_path: Path, durable: bool) -> None:
    write_text(str(tmp_path / "a" / "b" / "f.md"), "text\r\n", durable=durable)
    assert contents(tmp_path) == {"a/b/f.md": b"text\r\n"}


def test_write_text_writes_back_what_was_read_from_invalid_utf8(tmp_path: Path) -> None:
    write_text(str(tmp_path / "f"), "caf\udce9 é")
    assert contents(tmp_path) == {"f": b"caf\xe9 \xc3\xa9"}


@posix
def test_write_text_replaces_the_file_so_that_a_reader_keeps_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old", encoding="utf-8")
    with path.open(encoding="utf-8") as reader:
        write_text(str(path), "new")
        assert reader.read() == "old"
    assert contents(tmp_path) == {"f": b"new"}


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_write_text_keeps_the_permissions_of_the_file(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "f"
    path.touch()
    path.chmod(mode)
    write_text(str(path), "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_write_text_follows_a_symbolic_link_to_the_real_file(tmp_path: Path) -> None:
    real, link = tmp_path / "real" / "f.md", tmp_path / "link.md"
    real.parent.mkdir()
    real.write_text("old", encoding="utf-8")
    link.symlink_to(real)
    write_text(str(link), "new")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new"
    assert sorted(os.listdir(real.parent)) == ["f.md"]
    assert sorted(os.listdir(tmp_path)) == ["link.md", "real"]


@posix
def test_write_text_through_a_link_to_nothing_makes_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "later")
    write_text(str(tmp_path / "link"), "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "later").read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("durable", [True, False])
def test_write_text_leaves_nothing_but_the_file(tmp_path: Path, durable: bool) -> None:
    for n in range(3):
        write_text(str(tmp_path / "f"), str(n), durable=durable)
    assert contents(tmp_path) == {"f": b"2"}


def test_write_text_in_place_of_a_folder_fails_and_leaves_it(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "inside").write_text("x", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot write"):
        write_text(str(tmp_path / "f"), "new")
    assert contents(tmp_path) == {"f/inside": b"x"}


@posix
def test_write_text_in_place_of_a_pipe_fails_at_once_and_leaves_it(tmp_path: Path) -> None:
    pipe = tmp_path / "f"
    os.mkfifo(pipe)
    code = (
        "import sys\n"
        "from recollect.errors import StorageError\n"
        "from recollect.files.textfile import write_text\n"
        "try:\n    write_text(sys.argv[1], 'new', durable=False)\n"
        "except StorageError as error:\n    print(error)\n"
    )
    # In a process of its own: opening a pipe that nobody else opens waits forever.
    done = subprocess.run(
        [sys.executable, "-c", code, str(pipe)], capture_output=True, encoding="utf-8", check=False, timeout=PATIENCE
    )
    assert str(pipe) in done.stdout
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert os.listdir(tmp_path) == ["f"]


# For the owner alone


@posix
def test_write_bytes_gives_new_and_replaced_files_the_same_permissions(tmp_path: Path) -> None:
    path = tmp_path / "f"
    for data in (b"one", b"two"):
        write_bytes(str(path), data)
        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (data, 0o600)
        path.chmod(0o666)
    write_bytes(str(path), b"three", mode=0o640)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert contents(tmp_path) == {"f": b"three"}


@pytest.mark.parametrize("kind", ["file", "folder", "link", pytest.param("dangling link", marks=posix)])
def test_write_bytes_never_replaces_anything_unasked(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "f"
    (tmp_path / "real").write_bytes(b"old")
    if kind == "file":
        path.write_bytes(b"old")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / ("real" if kind == "link" else "gone"))
    before = contents(tmp_path)
    with pytest.raises(StorageError, match="is not a regular file" if kind == "folder" else "exists already"):
        write_bytes(str(path), b"new", replace=False)
    assert contents(tmp_path) == before
    assert sorted(os.listdir(tmp_path)) == ["f", "real"]


def test_write_bytes_makes_a_new_file_and_no_folder(tmp_path: Path) -> None:
    write_bytes(str(tmp_path / "f"), b"new", replace=False)
    assert contents(tmp_path) == {"f": b"new"}
    with pytest.raises(StorageError, match="cannot write"):
        write_bytes(str(tmp_path / "none" / "f"), b"new")
    assert contents(tmp_path) == {"f": b"new"}


def test_write_bytes_does_without_links_where_the_file_system_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: str) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", link)
    write_bytes(str(tmp_path / "f"), b"new", replace=False)
    assert contents(tmp_path) == {"f": b"new"}


@posix
def test_writing_does_not_follow_what_was_put_in_the_temporary_files_place(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"old")
    open_already = tmp_path / temporary_name("f")
    open_already.symlink_to(tmp_path / "victim")
    write_bytes(str(tmp_path / "f"), b"new")
    assert contents(tmp_path) == {"f": b"new", "victim": b"old"}
    open_already.touch()
    with open_already.open("rb") as spy:
        write_bytes(str(tmp_path / "f"), b"newer")
        assert spy.read() == b""


# Several files


def test_write_texts_writes_all(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("old", encoding="utf-8")
    write_texts({str(tmp_path / "a"): "1", str(tmp_path / "b"): "2", str(tmp_path / "c" / "d"): "3"})
    assert contents(tmp_path) == {"a": b"1", "b": b"2", "c/d": b"3"}


def test_write_texts_of_nothing_does_nothing(tmp_path: Path) -> None:
    write_texts({})
    assert contents(tmp_path) == {}


@posix
@pytest.mark.parametrize("broken_first", [True, False])
def test_write_texts_changes_nothing_when_one_file_cannot_be_prepared(tmp_path: Path, broken_first: bool) -> None:
    good, wall = tmp_path / "good", tmp_path / "wall"
    good.write_text("old", encoding="utf-8")
    wall.write_text("a file, no folder", encoding="utf-8")
    before = contents(tmp_path)
    paths = [str(good), str(wall / "below"), str(tmp_path / "other")]
    if broken_first:
        paths.reverse()
    with pytest.raises(StorageError, match="cannot write") as caught:
        write_texts(dict.fromkeys(paths, "new"))
    assert contents(tmp_path) == before
    assert str(wall / "below") in str(caught.value)


@posix
def test_write_texts_changes_nothing_when_one_file_is_a_folder(tmp_path: Path) -> None:
    known, folder = tmp_path / "known", tmp_path / "folder"
    known.write_text("old", encoding="utf-8")
    (folder / "inside").mkdir(parents=True)
    with pytest.raises(StorageError, match="cannot write") as caught:
        write_texts({str(known): "new", str(tmp_path / "fresh"): "new", str(folder): "new"})
    assert contents(tmp_path) == {"known": b"old"}
    assert (folder / "inside").is_dir()
    assert str(folder) in str(caught.value)


@pytest.fixture
def own_folder() -> Iterator[Path]:
    """A folder of an ordinary user, as whom the test runs, because permissions do not bind root."""
    root = os.name == "posix" and os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        if root:
            os.chown(folder, 65534, -1)
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            if root:
                os.seteuid(0)


@posix
def test_write_texts_puts_back_what_it_had_replaced_when_a_later_file_fails(own_folder: Path) -> None:
    known, fresh, secret = own_folder / "known", own_folder / "fresh", own_folder / "secret"
    known.write_text("old", encoding="utf-8")
    known.chmod(0o640)
    secret.write_text("nobody may read this, so nobody could put it back", encoding="utf-8")
    secret.chmod(0)
    with pytest.raises(StorageError, match="Permission denied") as caught:
        write_texts({str(known): "new", str(fresh): "new", str(secret): "new"})
    assert str(secret) in str(caught.value)
    assert sorted(os.listdir(own_folder)) == ["known", "secret"]
    assert known.read_text(encoding="utf-8") == "old"
    assert stat.S_IMODE(known.stat().st_mode) == 0o640
    secret.chmod(0o600)
    assert secret.read_text(encoding="utf-8").startswith("nobody")


@posix
@pytest.mark.parametrize("durable", [True, False])
def test_write_texts_changes_nothing_when_the_disk_is_full(tmp_path: Path, durable: bool) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(f"old {name}", encoding="utf-8")
    before = contents(tmp_path)
    code = (
        "import resource, sys\n"
        "from recollect.errors import StorageError\n"
        "from recollect.files.textfile import write_texts\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"
        "folder = sys.argv[1]\n"
        "texts = {folder + '/a': 'new', folder + '/b': 'x' * 200_000, folder + '/c': 'new'}\n"
        "try:\n    write_texts(texts, durable=sys.argv[2] == 'True')\n"
        "except StorageError as error:\n    print(error)\n"
    )
    done = run(code, str(tmp_path), str(durable))
    assert done.stdout == f"cannot write {tmp_path}/b: File too large\n"
    assert (done.returncode, done.stderr) == (0, "")
    assert contents(tmp_path) == before


def test_file_that_is_moved_and_cannot_be_written_is_where_and_what_it_was(tmp_path):
    old, new, blocked = tmp_path / "old", tmp_path / "new", tmp_path / "blocked"
    old.write_text("text", encoding="utf-8")
    blocked.mkdir()
    with pytest.raises(StorageError):
        write_texts({str(new): "other", str(blocked): "x"}, moved=(str(old), str(new)))
    assert old.read_text(encoding="utf-8") == "text"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blocked", "old"]


def test_file_is_moved_with_its_new_text(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("text", encoding="utf-8")
    write_texts({str(new): "other", str(tmp_path / "index"): "i"}, moved=(str(old), str(new)))
    assert new.read_text(encoding="utf-8") == "other"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "new"]


# What killed writers leave


@pytest.mark.parametrize("name", ["f", "a.b.json", ".hidden", "x.recollect-1.tmp"])
def test_name_of_a_temporary_file_is_known_again(name: str) -> None:
    assert is_temporary(temporary_name(name))
    assert is_temporary(temporary_name(name), name)
    assert not is_temporary(temporary_name(name), f"{name}x")


@pytest.mark.parametrize(
    "name", [".f.4711.tmp", ".f.tmp", "f.recollect-1.tmp", ".f.recollect-x.tmp", ".f.recollect-1", ".recollect-1.tmp"]
)
def test_name_of_somebody_elses_file_is_not_taken_for_ours(name: str) -> None:
    assert not is_temporary(name)


def test_sweeping_goes_on_after_what_it_cannot_remove(tmp_path: Path) -> None:
    (tmp_path / ".a.recollect-1.tmp").mkdir()
    for name in (".b.recollect-2.tmp", ".c.recollect-3.tmp", ".d.4.tmp"):
        (tmp_path / name).touch()
    sweep_folder(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == [".a.recollect-1.tmp", ".d.4.tmp"]


def test_a_writer_removes_what_was_left_long_ago_of_its_own_file_only(tmp_path: Path) -> None:
    others = [".notes.md.123.tmp", ".notes.md.mine.tmp", ".other.md.recollect-123.tmp", ".notes.md.recollect-124.tmp"]
    for name in (".notes.md.recollect-123.tmp", *others):
        (tmp_path / name).write_text("left", encoding="utf-8")
        if name != others[-1]:
            os.utime(tmp_path / name, (0, 0))
    write_text(str(tmp_path / "notes.md"), "new")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "notes.md"])
