"""Whatever SQLite or the disk says against a store becomes a StoreError that names the file and what to do next."""

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import recollect
from recollect.domain.stored import StoredEntry
from recollect.errors import StoreError
from recollect.store.sqlite.rescue import is_damaged, set_aside
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import BANK, Model, Scope, Source

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(recollect.__file__)))
NOBODY = 65534
ALL = Scope(None)

# Runs the lines it is given, in a process to which permissions and limits apply: root gives its rights away once
# everything is imported, because the interpreter itself may stand in a folder that only root can read.
COMMAND = """
import sys
sys.path.insert(0, sys.argv[1])
import array, encodings.idna, json, os, resource, signal, sqlite3, time
from recollect.domain.stored import StoredEntry
from recollect.errors import StoreError
from recollect.store.sqlite import rescue
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import BANK, Model, Receipt, Scope, Source

path, largest, answer = sys.argv[2], int(sys.argv[3]), {}
if os.geteuid() == 0:
    os.setgroups([])
    os.setegid(65534)
    os.seteuid(65534)
def entry(number, size=0):
    text = f"About caching, {number}. " + "x" * size
    return StoredEntry(id=f"e{number}", name="n", description=text, category="patterns", created_at="x")
def limit(largest):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
if largest:
    limit(largest)
exec(sys.argv[4])
print(json.dumps(answer))
"""

OPEN_AND_SEARCH = """
with SqliteStore(path) as store:
    answer["read_only"] = store.read_only
    answer["full_text"] = store.full_text
    answer["found"] = len(store.text_matches(["caching"], Scope(None), 50))
    answer["frequency"] = store.document_frequencies(["caching"])[0]
    answer["near"] = len(store.vector_matches(bytes.fromhex("0000803f" + "00" * 12), Scope(None), 50))
    answer["standings"] = len(store.standings(Scope(None)))
    answer["findings"] = store.findings + store.check()
    for name, write in {
        "put": lambda: store.put(Source("/c", BANK), [entry(9)]),
        "note": lambda: store.set_meta("a", "b"),
        "recalled": lambda: store.recalled(Receipt(at="", event="", project="", session="", query="", lines=[])),
        "forget": lambda: store.forget_sources([]),
        "model": lambda: store.use_model(Model("other", "p", "n", 4)),
    }.items():
        try:
            write()
        except StoreError as error:
            answer[name] = str(error)
"""
OPEN = """
try:
    SqliteStore(path).close()
except StoreError as error:
    answer["error"] = str(error)
"""


def entry(id: str, **known: str) -> StoredEntry:
    fields = {"name": id, "description": f"About caching, {id}.", "category": "patterns", "created_at": "x", **known}
    return StoredEntry(id=id, **fields)


def fill(path: Path) -> None:
    with SqliteStore(str(path)) as store:
        store.put(Source("/b", BANK), [entry("a"), entry("b")])
        store.use_model(Model("m", "p", "n", 4))
        store.put_vectors([("a", b"\0\0\x80\x3f" + b"\0" * 12)])


@pytest.fixture
def folder():
    """A folder that a process without rights can reach, and owns."""
    base = Path(tempfile.mkdtemp(prefix="recollect-"))
    base.chmod(0o755)
    place = base / "store"
    place.mkdir()
    yield place
    for path in (base, *base.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    shutil.rmtree(base)


def run(path: Path, lines: str, *, largest: int = 0) -> dict[str, object]:
    if os.geteuid() == 0:
        for each in (path.parent, *path.parent.iterdir()):
            os.chown(each, NOBODY, NOBODY)
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, SOURCE, str(path), str(largest), lines],
        cwd="/",
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


# Reading where nothing can be written


@pytest.mark.parametrize("file_mode", [0o644, 0o444])
def test_store_in_a_folder_that_cannot_be_written_opens_and_is_searched(folder: Path, file_mode: int) -> None:
    path = folder / "memory.db"
    fill(path)
    path.chmod(file_mode)
    folder.chmod(0o555)
    before = path.read_bytes()
    answer = run(path, OPEN_AND_SEARCH)
    refused = {name: answer.pop(name) for name in ("put", "note", "recalled", "forget", "model")}
    assert answer == {
        "read_only": True,
        "full_text": True,
        "found": 2,
        "frequency": {"caching": 2},
        "near": 1,
        "standings": 2,
        "findings": [],
    }
    assert all(str(path) in str(said) and "cannot be written" in str(said) for said in refused.values())
    assert path.read_bytes() == before


def test_file_that_cannot_be_written_in_a_folder_that_can_is_searched(folder: Path) -> None:
    path = folder / "memory.db"
    fill(path)
    path.chmod(0o444)
    answer = run(path, OPEN_AND_SEARCH.replace(" + store.check()", ""))
    assert (answer["found"], answer["near"], answer["findings"]) == (2, 1, [])
    assert "cannot be written" in str(answer["put"])


@pytest.mark.parametrize("statement", ["SELECT 1", "DROP TRIGGER entries_ai"], ids=["healthy", "index damaged"])
def test_file_that_cannot_be_written_is_known_to_be_read_only(folder: Path, statement: str) -> None:
    path = folder / "memory.db"
    fill(path)
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    path.chmod(0o444)
    answer = run(path, OPEN_AND_SEARCH)
    assert (answer["read_only"], answer["near"], answer["standings"]) == (True, 1, 2)


def test_damaged_index_where_nothing_can_be_written_is_passed_over(folder: Path) -> None:
    path = folder / "memory.db"
    fill(path)
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER entries_ai")
    connection.commit()
    connection.close()
    folder.chmod(0o555)
    answer = run(path, OPEN_AND_SEARCH)
    assert (answer["full_text"], answer["found"], answer["near"], answer["standings"]) == (False, 0, 1, 2)


def test_path_with_characters_of_an_address_is_opened_for_reading(folder: Path) -> None:
    path = folder / "50% #1? a&b=c.db"
    fill(path)
    folder.chmod(0o555)
    assert run(path, OPEN_AND_SEARCH)["found"] == 2


def test_empty_database_where_nothing_can_be_written_is_refused(folder: Path) -> None:
    path = folder / "memory.db"
    path.write_bytes(b"")
    folder.chmod(0o555)
    path.chmod(0o444)
    assert str(path) in str(run(path, OPEN)["error"])


def test_newer_database_where_nothing_can_be_written_is_called_newer(folder: Path) -> None:
    path = folder / "memory.db"
    fill(path)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO _migrations VALUES (999, 'm999', 'x')")
    connection.commit()
    connection.close()
    folder.chmod(0o555)
    assert "newer" in str(run(path, OPEN)["error"])


# Errors


def test_file_that_cannot_be_read_is_an_error_of_the_store(folder: Path) -> None:
    path = folder / "memory.db"
    fill(path)
    path.chmod(0o000)
    assert str(path) in str(run(path, OPEN)["error"])


def test_folder_in_which_no_store_can_be_made_is_an_error_of_the_store(folder: Path) -> None:
    folder.chmod(0o555)
    path = folder / "memory.db"
    said = str(run(path, OPEN)["error"])
    assert str(path) in said
    assert "folder" in said


def test_folder_in_place_of_the_file_is_an_error_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "memory.db").mkdir()
    with pytest.raises(StoreError, match=r"memory\.db"):
        SqliteStore(str(tmp_path / "memory.db"))


def test_file_in_place_of_the_folder_is_an_error_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("precious", encoding="utf-8")
    with pytest.raises(StoreError, match=r"memory\.db"):
        SqliteStore(str(tmp_path / "store" / "memory.db"))
    assert (tmp_path / "store").read_text(encoding="utf-8") == "precious"


def test_locked_store_says_who_to_wait_for_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    fill(path)
    other = sqlite3.connect(path, isolation_level=None)
    with SqliteStore(str(path), patience=0.0) as store:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process has been writing"):
            store.put(Source("/c", BANK), [entry("c")])
        assert len(store.text_matches(["caching"], ALL, 5)) == 2
        other.execute("ROLLBACK")
        store.put(Source("/c", BANK), [entry("c")])
        assert len(store.standings(ALL)) == 3
    other.close()


def test_locked_store_opens_for_reading(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    fill(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with SqliteStore(str(path), patience=0.0) as store:
        assert len(store.text_matches(["caching"], ALL, 5)) == 2
        assert store.read_only is False
    other.execute("ROLLBACK")
    other.close()


def test_new_store_behind_a_lock_is_an_error_of_the_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="another process"):
        SqliteStore(str(path), patience=0.0)
    other.execute("ROLLBACK")
    other.close()


def test_full_disk_is_an_error_of_the_store_and_leaves_what_was_there(folder: Path) -> None:
    path = folder / "memory.db"
    fill(path)
    answer = run(
        path,
        """
with SqliteStore(path) as store:
    limit(200_000)
    try:
        store.write(lambda: [store.put(Source(f"/{n}", BANK), [entry(n, 2_000)]) for n in range(2_000)])
    except StoreError as error:
        answer["error"] = str(error)
    limit(resource.RLIM_INFINITY)
    answer["standings"] = len(store.standings(Scope(None)))
    store.put(Source("/more", BANK), [entry(1)])
    answer["after"] = len(store.text_matches(["caching"], Scope(None), 50))
    answer["check"] = store.check()
""",
    )
    said = str(answer.pop("error"))
    assert str(path) in said
    assert answer == {"standings": 2, "after": 3, "check": []}
    assert not is_damaged(str(path))


def test_disk_too_full_for_a_new_store_is_an_error_of_the_store(folder: Path) -> None:
    path = folder / "memory.db"
    assert str(path) in str(run(path, OPEN, largest=1000)["error"])
    assert run(path, OPEN) == {}


def test_text_that_is_no_text_is_an_error_of_the_store(tmp_path: Path) -> None:
    with SqliteStore(str(tmp_path / "memory.db")) as store:
        with pytest.raises(StoreError):
            store.get_meta("\ud800")
        with pytest.raises(StoreError):
            store.put(Source("/b", BANK, size=2**64), [])
        with pytest.raises(StoreError):
            store.put(Source("/b", "no such kind"), [])
        with pytest.raises(StoreError):
            store.put(Source("/b", BANK), [entry("a", confidence="certain")])
        assert store.sources() == {}


def test_closed_store_is_an_error_of_the_store(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "memory.db"))
    store.close()
    for action in (
        store.sources,
        store.coverage,
        lambda: store.set_meta("a", "b"),
        lambda: store.text_matches(["a"], ALL, 1),
    ):
        with pytest.raises(StoreError):
            action()


def test_every_error_of_sqlite_becomes_one_of_the_store_with_its_words(tmp_path: Path) -> None:
    """Whatever a connection raises, on whatever statement."""
    kinds = [
        kind
        for kind in vars(sqlite3).values()
        if isinstance(kind, type) and issubclass(kind, sqlite3.Error) and kind is not sqlite3.Warning
    ]
    assert len(kinds) >= 9
    for kind in kinds:
        failing: list[type[Exception]] = []

        class Failing(sqlite3.Connection):
            def execute(self, *arguments, failing=failing, **options):
                if failing:
                    raise failing[0]("of its own")
                return super().execute(*arguments, **options)

        store = SqliteStore(
            str(tmp_path / f"{kind.__name__}.db"),
            connect=lambda *a, f=Failing, **o: sqlite3.connect(*a, factory=f, **o),
        )
        failing.append(kind)
        for action in (
            *(
                store.sources,
                store.coverage,
                store.model,
                store.drop_vectors,
                lambda store=store: store.forget_sources([]),
                store.check,
            ),
            lambda store=store: store.put(Source("/b", BANK), []),
            lambda store=store: store.entries(["a"]),
            lambda store=store: store.standings(ALL),
            lambda store=store: store.receipts(1),
            lambda store=store: store.pending(1, Scope(None)),
            lambda store=store: store.set_meta("a", "b"),
            lambda store=store: store.query_vector("q"),
        ):
            with pytest.raises(StoreError, match="of its own"):
                action()
        failing.clear()
        store.set_meta("a", "b")
        store.close()


@pytest.mark.parametrize("content", [b"only text\n" * 1000, b"SQLite format 3\0" + b"\xff" * 9000])
def test_file_that_is_no_database_is_damaged(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="recollect rebuild"):
        SqliteStore(str(path))
    assert path.read_bytes() == content
    assert is_damaged(str(path))


# What becomes of a damaged file


def test_healthy_missing_and_locked_databases_are_not_damaged(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    assert not is_damaged(str(path))
    fill(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert not is_damaged(str(path))
    other.execute("ROLLBACK")
    other.close()


def test_database_is_put_aside_with_what_belongs_to_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").write_text(f"of {ending}", encoding="utf-8")
    aside = set_aside(str(path))
    assert sorted(os.listdir(tmp_path)) == sorted(os.path.basename(aside) + ending for ending in ("", "-wal", "-shm"))
    assert Path(f"{aside}-wal").read_text(encoding="utf-8") == "of -wal"
    assert aside.startswith(f"{path}.damaged-")


def test_nothing_is_rescued_from_what_is_no_database(tmp_path: Path) -> None:
    fill(tmp_path / "memory.db")
    (tmp_path / "damaged").write_bytes(b"text " * 1000)
    with SqliteStore(str(tmp_path / "memory.db")) as store:
        assert store.rescue(str(tmp_path / "damaged")) == 0


def test_new_store_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    fill(tmp_path / "memory.db")
    assert stat.S_IMODE((tmp_path / "memory.db").stat().st_mode) == 0o600
