"""Disks that refuse: no permission, no room, the wrong kind of file. The block is given, the store stays whole."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from tests.conftest import run_without_rights

LESSON = json.dumps({"name": "Read First", "description": "Read the file before you write.", "category": "patterns"})
STORED = """# Global Patterns

### Pattern: Read First
Read the file before you write.
- Content-Hash: sha256:x
- Source: old
- Observation count: 3
- Last observed: 2020-01-01
- Tags: universal
- Confidence: high
"""


class Place:
    """A project and a store that a process without rights can reach."""

    def __init__(self, base):
        self.project = base / "shop-front"
        self.bank = self.project / "docs" / "knowledge-bank"
        self.store = base / "store"
        self.bank.mkdir(parents=True)
        (self.bank / "patterns.md").write_text("### Pattern: Local\nA local lesson.\n", encoding="utf-8")
        self.store.mkdir()
        (self.store / "patterns.md").write_text(STORED, encoding="utf-8")

    def run(self, command, *arguments, largest=0):
        options = ["--project-root", str(self.project)]
        if command != "config":
            options += ["--global-store", str(self.store)]
        return run_without_rights(
            [command, *options, *arguments],
            [self.project, self.store],
            cwd="/",
            environment={"HOME": str(self.project), "RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"},
            largest=largest,
        )

    def inject(self, **options):
        return self.run("inject", **options)

    def promote(self, *arguments, **options):
        return self.run("promote", *arguments, **options)

    def files(self):
        """All that is stored, without the empty file that the lock is taken on."""
        found = {}
        for path in [*self.store.rglob("*"), *self.project.rglob("*")]:
            if path.is_file() and path.name != ".lock":
                found[str(path)] = path.read_bytes()
        return found


@pytest.fixture
def place():
    base = Path(tempfile.mkdtemp(prefix="recollect-"))
    base.chmod(0o755)
    yield Place(base)
    for path in base.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(base)


def warnings(done):
    return [line for line in done.stderr.splitlines() if line.startswith("Warning: ")]


def assert_warned_and_unchanged(done, before, place):
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert len(warnings(done)) == 1, done.stderr
    assert "0 universal entries promoted" in done.stdout
    assert place.files() == before


# ---- the ground that the others stand on


def test_process_of_these_tests_promotes_and_injects_where_it_may_write(place):
    assert "1 universal entries promoted" in place.promote().stdout
    done = place.inject()
    assert "A local lesson." in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    assert (place.store / ".last-injection.json").exists()


# ---- injection


def test_store_that_cannot_be_written_costs_one_warning_and_not_the_block(place):
    place.store.chmod(0o555)
    done = place.inject()
    assert done.returncode == 0
    assert "A local lesson." in done.stdout
    assert "Read the file before you write." in done.stdout
    [warning] = warnings(done)
    assert ".last-injection.json" in warning
    assert "Permission denied" in warning
    assert not (place.store / ".last-injection.json").exists()


def test_store_that_cannot_be_made_costs_one_warning_and_not_the_block(place):
    shutil.rmtree(place.store)
    place.store = place.bank / "deeper" / "store"
    place.bank.chmod(0o555)
    done = place.inject()
    assert done.returncode == 0
    assert "A local lesson." in done.stdout
    assert len(warnings(done)) == 1
    assert not place.store.exists()


def test_full_disk_costs_one_warning_and_not_the_block(place):
    done = place.inject(largest=20)
    assert done.returncode == 0
    assert "A local lesson." in done.stdout
    [warning] = warnings(done)
    assert ".last-injection.json" in warning
    assert sorted(os.listdir(place.store)) == ["patterns.md"]


def test_earlier_record_survives_a_full_disk(place):
    record = place.store / ".last-injection.json"
    record.write_text('{"project": "before"}', encoding="utf-8")
    place.inject(largest=20)
    assert record.read_text(encoding="utf-8") == '{"project": "before"}'


def test_store_that_is_a_file_costs_warnings_and_not_the_block(place):
    shutil.rmtree(place.store)
    place.store.write_text("precious", encoding="utf-8")
    done = place.inject()
    assert done.returncode == 0
    assert "A local lesson." in done.stdout
    assert warnings(done)
    assert place.store.read_text(encoding="utf-8") == "precious"


def test_store_that_cannot_be_read_costs_a_warning_and_not_the_local_entries(place):
    (place.store / "patterns.md").chmod(0o000)
    done = place.inject()
    assert done.returncode == 0
    assert "A local lesson." in done.stdout
    [warning] = warnings(done)
    assert "patterns.md" in warning


def test_settings_that_cannot_be_read_cost_a_warning_and_not_the_block(place):
    (place.project / ".claude").mkdir()
    (place.project / ".claude" / "iflow-dev.local.md").write_text("memory_injection_limit: 0\n", encoding="utf-8")
    (place.project / ".claude" / "iflow-dev.local.md").chmod(0o000)
    done = place.inject()
    assert done.returncode == 0
    assert "A local lesson." in done.stdout
    [warning] = warnings(done)
    assert "iflow-dev.local.md" in warning


# ---- promotion


NEW_AND_KNOWN = pytest.mark.parametrize(
    "arguments", [(), ("Local",), ("--entry-json", LESSON)], ids=["all new", "by name", "json"]
)


@NEW_AND_KNOWN
def test_promotion_to_a_store_that_cannot_be_written_warns_and_leaves_it(place, arguments):
    place.store.chmod(0o555)
    before = place.files()
    assert_warned_and_unchanged(place.promote(*arguments), before, place)


@NEW_AND_KNOWN
def test_promotion_to_a_store_that_cannot_be_entered_warns_and_leaves_it(place, arguments):
    before = place.files()
    place.store.chmod(0o000)
    done = place.promote(*arguments)
    place.store.chmod(0o755)
    assert_warned_and_unchanged(done, before, place)


@NEW_AND_KNOWN
def test_promotion_to_a_store_that_cannot_be_made_warns_and_makes_nothing(place, arguments):
    shutil.rmtree(place.store)
    place.store = place.bank / "deeper" / "store"
    before = place.files()
    place.bank.chmod(0o555)
    assert_warned_and_unchanged(place.promote(*arguments), before, place)
    assert not place.store.exists()


@NEW_AND_KNOWN
def test_promotion_to_a_file_in_place_of_the_store_warns_and_leaves_it(place, arguments):
    shutil.rmtree(place.store)
    place.store.write_text("precious", encoding="utf-8")
    done = place.promote(*arguments)
    assert done.returncode == 0, done.stderr
    assert len(warnings(done)) == 1
    assert "0 universal entries promoted" in done.stdout
    assert place.store.read_text(encoding="utf-8") == "precious"


@NEW_AND_KNOWN
def test_promotion_with_a_ledger_that_cannot_be_read_warns_and_leaves_the_store(place, arguments):
    ledger = place.store / ".promoted.json"
    ledger.write_text("{}", encoding="utf-8")
    before = place.files()
    ledger.chmod(0o000)
    done = place.promote(*arguments)
    ledger.chmod(0o644)
    assert_warned_and_unchanged(done, before, place)


@NEW_AND_KNOWN
def test_promotion_with_a_global_file_that_cannot_be_read_warns_and_leaves_the_store(place, arguments):
    before = place.files()
    (place.store / "patterns.md").chmod(0o000)
    done = place.promote(*arguments)
    (place.store / "patterns.md").chmod(0o644)
    assert_warned_and_unchanged(done, before, place)


# 40 bytes hold neither file; 180 hold the ledger but not the bank; with a long ledger, 600 hold the bank only.
@pytest.mark.parametrize(("largest", "ledger"), [(40, "{}"), (180, "{}"), (600, json.dumps({"/x": {"a" * 700: "b"}}))])
@NEW_AND_KNOWN
def test_promotion_to_a_full_disk_warns_and_leaves_the_store(place, arguments, largest, ledger):
    (place.store / ".promoted.json").write_text(ledger, encoding="utf-8")
    before = place.files()
    assert_warned_and_unchanged(place.promote(*arguments, largest=largest), before, place)


def test_promotion_works_again_when_the_disk_has_room_again(place):
    place.promote(largest=40)
    done = place.promote()
    assert "1 universal entries promoted" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


def test_promotion_that_was_not_written_says_so_for_each_entry(place):
    place.store.chmod(0o555)
    shown = json.loads(place.promote("--json").stdout)
    assert (shown["promoted"], shown["kept"]) == (0, 0)
    assert [entry["action"] for entry in shown["entries"]] == ["not written"]
    assert len(shown["warnings"]) == 1


def test_project_specific_entry_that_cannot_be_saved_warns_and_leaves_both_banks(place):
    place.bank.chmod(0o555)
    before = place.files()
    done = place.promote("--as", "project-specific", "--entry-json", LESSON)
    assert done.returncode == 0, done.stderr
    assert len(warnings(done)) == 1
    assert place.files() == before


def test_promotion_keeps_the_permissions_of_the_files_it_changes(place):
    (place.store / "patterns.md").chmod(0o600)
    place.promote("--entry-json", LESSON)
    assert "- Observation count: 4\n" in (place.store / "patterns.md").read_text(encoding="utf-8")
    assert (place.store / "patterns.md").stat().st_mode & 0o777 == 0o600


def test_promotion_follows_a_link_to_the_real_file(place):
    real = place.project / "real.md"
    shutil.move(place.store / "patterns.md", real)
    (place.store / "patterns.md").symlink_to(real)
    assert place.promote("--entry-json", LESSON).returncode == 0
    assert (place.store / "patterns.md").is_symlink()
    assert "- Observation count: 4\n" in real.read_text(encoding="utf-8")


# ---- settings


@pytest.mark.parametrize("key", ["memory_injection_limit", "retrieval.max_inject"])
def test_setting_that_cannot_be_written_is_an_error_that_leaves_the_files(place, key):
    folder = place.project / ".claude"
    (folder / "memory").mkdir(parents=True)
    (folder / "iflow-dev.local.md").write_text("memory_injection_limit: 5\n", encoding="utf-8")
    (folder / "memory" / "memory-config.json").write_text("{}", encoding="utf-8")
    before = place.files()
    (folder / "memory").chmod(0o555)
    folder.chmod(0o555)
    done = place.run("config", "set", key, "7")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: cannot write ")
    assert done.stderr.count("\n") == 1
    assert place.files() == before


def test_setting_on_a_full_disk_is_an_error_that_leaves_the_file(place):
    folder = place.project / ".claude"
    folder.mkdir()
    (folder / "iflow-dev.local.md").write_text("memory_injection_limit: 5\n", encoding="utf-8")
    before = place.files()
    done = place.run("config", "set", "memory_injection_limit", "70000", largest=10)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: cannot write ")
    assert place.files() == before


def test_journal_that_cannot_be_written_leaves_a_captured_lesson_promoted_and_costs_one_warning(place):
    path = place.store / "session-captures.jsonl"
    lesson = {"name": "Stored", "description": "A lesson of a session.", "category": "patterns"}
    text = json.dumps({**lesson, "source": "session-capture", "source_project": "shop-front"}) + "\n"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o444)
    done = place.promote("Stored")
    assert done.returncode == 0, done.stderr
    assert "1 universal entries promoted" in done.stdout
    assert "A lesson of a session." in (place.store / "patterns.md").read_text(encoding="utf-8")
    [warning] = warnings(done)
    assert warning.endswith("observations by sessions are counted twice, in the journal and in the bank")
    assert path.read_text(encoding="utf-8") == text
