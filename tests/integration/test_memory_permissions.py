"""Memories on disks that refuse, seen by a user without rights: nothing is lost, and everything is said."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest
from tests.conftest import run_without_rights

CONTENT = {"status": "accepted", "context": "prices change daily", "decision": "cache them", "rationale": ["speed"]}


class Place:
    def __init__(self, base):
        self.project = base / "shop-front"
        self.store = base / "store"
        self.root = self.project / ".claude" / "memory"
        self.root.mkdir(parents=True)
        (self.project / ".git").mkdir()
        self.store.mkdir()

    def run(self, *arguments, stdin="", largest=0):
        return run_without_rights(
            arguments,
            [self.project, self.store],
            cwd=self.project,
            environment={
                "HOME": str(self.project),
                "RECOLLECT_HOME": str(self.store),
                "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false",
            },
            stdin=stdin,
            largest=largest,
        )

    def create(self, title="Cache prices", **options):
        record = {"title": title, "tags": ["cache"], "content": CONTENT}
        arguments = ("write", "--action", "create", "--category", "decision", "--input", "-")
        return self.run(*arguments, stdin=json.dumps(record), **options)

    def files(self):
        return {str(path): path.read_bytes() for path in self.project.rglob("*") if path.is_file()}

    def found(self):
        done = self.run("search", "prices", "--json")
        assert done.returncode == 0, done.stderr
        return [hit["name"] for hit in json.loads(done.stdout)["hits"]], done.stderr


@pytest.fixture
def place():
    base = Path(tempfile.mkdtemp(prefix="recollect-"))
    base.chmod(0o755)
    yield Place(base)
    for path in base.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(base)


def assert_refused(done, kind, before, place):
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith(f"{kind}\n"), done.stderr
    assert "Traceback" not in done.stderr
    assert "fix: " in done.stderr
    assert done.stdout == ""
    assert place.files() == before


def test_process_of_these_tests_writes_where_it_may(place):
    done = place.create()
    assert (done.returncode, done.stderr) == (0, "")
    assert place.found() == (["Cache prices"], "")


def test_write_to_a_root_that_cannot_be_written_is_refused(place):
    place.create()
    before = place.files()
    place.root.chmod(0o555)
    assert_refused(place.create("Another"), "WRITE_ERROR", before, place)


def test_write_to_a_category_folder_that_cannot_be_written_is_refused(place):
    place.create()
    before = place.files()
    (place.root / "decisions").chmod(0o555)
    assert_refused(place.create("Another"), "WRITE_ERROR", before, place)
    assert not (place.root / ".index.lockdir").exists()


def test_write_that_the_disk_has_no_room_for_is_refused_and_leaves_nothing(place):
    place.create()
    before = place.files()
    done = place.create("Another " + "x" * 90, largest=300)
    assert_refused(done, "WRITE_ERROR", before, place)


def test_rename_that_the_disk_has_no_room_for_leaves_the_memory_as_it_was(place):
    place.create()
    before = place.files()
    record = {"title": "Something else entirely now", "tags": ["cache"], "content": {**CONTENT, "context": "x" * 4000}}
    arguments = ("write", "--action", "update", "--target", "decisions/cache-prices.json", "--input", "-")
    done = place.run(*arguments, stdin=json.dumps(record), largest=2000)
    assert_refused(done, "WRITE_ERROR", before, place)


@pytest.mark.parametrize("mode", [0o000, 0o300])
def test_memories_in_a_folder_that_cannot_be_read_are_still_found_as_they_were(place, mode):
    place.create()
    assert place.found()[0] == ["Cache prices"]
    (place.root / "decisions").chmod(mode)
    names, errors = place.found()
    assert names == ["Cache prices"]
    assert "cannot read .claude/memory/decisions" in errors


def test_memory_that_cannot_be_read_is_still_found_as_it_was(place):
    place.create()
    assert place.found()[0] == ["Cache prices"]
    path = place.root / "decisions" / "cache-prices.json"
    path.write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")
    path.chmod(0)
    names, errors = place.found()
    assert names == ["Cache prices"]
    assert "it is found as it was before" in errors
    assert "cannot read" in place.run("status").stdout


def test_candidate_reads_the_files_when_there_is_no_index(place):
    place.create()
    (place.root / "index.md").unlink()
    place.root.chmod(0o555)
    done = place.run("candidate", "--category", "decision", "--new-info", "cache prices longer")
    assert json.loads(done.stdout)["candidate"]["path"] == ".claude/memory/decisions/cache-prices.json"
    assert done.stderr == ""


def test_garbage_that_cannot_be_removed_is_an_error_in_the_report(place):
    place.create()
    place.run("config", "set", "delete.archive_retired", "false")
    place.run("config", "set", "delete.grace_period_days", "0")
    assert place.run("retire", "cache").returncode == 0
    (place.root / "decisions").chmod(0o555)
    done = place.run("index", "--gc")
    assert done.returncode == 1
    assert "ERROR .claude/memory/decisions/cache-prices.json" in done.stdout
    assert (place.root / "decisions" / "cache-prices.json").exists()


def test_store_that_cannot_be_written_costs_a_warning_and_not_the_memory(place):
    place.store.chmod(0o555)
    done = place.create()
    assert done.returncode == 0
    assert "the search index is not updated yet" in done.stderr
    assert (place.root / "decisions" / "cache-prices.json").exists()
