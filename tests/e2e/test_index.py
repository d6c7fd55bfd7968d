"""`recollect index` as people and agents call it: what it prints, its exit codes, and what it leaves behind."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.conftest import World, days_ago

FOLDER = ".claude/memory/decisions"


def retire(world: World, slug: str, days: float) -> Path:
    return world.write_decision(slug, record_status="retired", retired_at=days_ago(days), retired_reason="superseded")


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# Calls


@pytest.mark.parametrize(
    "arguments",
    [(), ("--rebuild", "--validate"), ("--query", "x", "--gc"), ("--health", "--dry-run"), ("--gc", "--health")],
)
def test_calls_that_do_not_say_what_to_do_are_usage_errors(world: World, arguments: tuple[str, ...]) -> None:
    world.write_decision("one")
    done = world.run("index", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--" in done.stderr


@pytest.mark.parametrize("action", ["--rebuild", "--validate", "--query=x", "--health", "--gc"])
def test_root_that_is_no_folder_is_an_error_and_is_not_made(world: World, action: str) -> None:
    done = world.run("index", action)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: there is no folder")
    assert list(world.project.iterdir()) == []


def test_root_can_be_named_and_its_own_settings_count(world: World) -> None:
    retire(world, "old", 2)
    (world.project / ".claude" / "memory" / "memory-config.json").write_text(
        '{"delete": {"grace_period_days": 1, "archive_retired": false}}', encoding="utf-8"
    )
    done = world.run("index", "--gc", "--root", str(world.project / ".claude" / "memory"), cwd=world.home)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"DELETED {FOLDER}/old.json")


# --rebuild


def test_rebuild_prints_the_count_and_writes_the_lines_in_order(world: World) -> None:
    world.write_decision("one", title="beta")
    world.write_decision("two", title="Alpha", tags=["b", "a"])
    retire(world, "three", 1)
    done = world.run("index", "--rebuild")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Rebuilt index.md with 2 entries\n", "")
    text = (world.project / ".claude" / "memory" / "index.md").read_text(encoding="utf-8")
    assert text.startswith("# Memory Index\n")
    assert [line for line in text.splitlines() if line.startswith("- ")] == [
        f"- [DECISION] Alpha -> {FOLDER}/two.json #tags:a,b",
        f"- [DECISION] beta -> {FOLDER}/one.json #tags:storage",
    ]


def test_rebuild_skips_what_cannot_be_read_with_a_warning(world: World) -> None:
    world.write_decision("one")
    world.write_decision("two").write_text("{", encoding="utf-8")
    done = world.run("index", "--rebuild", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["entries"] == 1
    assert "Warning: " in done.stderr
    assert "two.json is not valid JSON" in done.stderr


# --validate


def test_validate_says_that_a_rebuilt_index_is_valid(world: World) -> None:
    world.write_decision("one")
    world.run("index", "--rebuild")
    done = world.run("index", "--validate")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Index is valid\n", "")


def test_validate_names_every_difference_and_writes_nothing(world: World) -> None:
    for slug in ("one", "gone", "edited"):
        world.write_decision(slug)
    world.run("index", "--rebuild")
    (world.project / FOLDER / "gone.json").unlink()
    world.write_decision("new")
    world.write_decision("edited", title="Edited by hand")
    before = everything(world.project)
    text = world.run("index", "--validate")
    document = world.run("index", "--validate", "--json")
    assert (text.returncode, document.returncode) == (1, 1)
    assert f"Files NOT in index.md (1):\n  {FOLDER}/new.json\n" in text.stdout
    assert f"Index entries with NO active file (1):\n  {FOLDER}/gone.json\n" in text.stdout
    assert f"Index entries that differ from the file (1):\n  {FOLDER}/edited.json\n" in text.stdout
    told = json.loads(document.stdout)
    assert (told["valid"], told["state"]) == (False, "out_of_sync")
    assert told["missing_from_index"] == [f"{FOLDER}/new.json"]
    assert told["stale_in_index"] == [f"{FOLDER}/gone.json"]
    assert told["differing_in_index"] == [f"{FOLDER}/edited.json"]
    assert everything(world.project) == before


@pytest.mark.parametrize(("text", "word"), [(None, "missing"), ("# Memory Index\n- nonsense\n", "broken")])
def test_validate_of_no_usable_index_fails_and_does_not_make_one(world: World, text: str | None, word: str) -> None:
    world.write_decision("one")
    index = world.project / ".claude" / "memory" / "index.md"
    if text is not None:
        index.write_text(text, encoding="utf-8")
    done = world.run("index", "--validate")
    assert done.returncode == 1
    assert word in done.stdout
    assert "recollect index --rebuild" in done.stdout
    assert (index.read_text(encoding="utf-8") if index.exists() else None) == text


# --query


def test_query_prints_count_and_lines_also_without_an_index(world: World) -> None:
    world.write_decision("one", title="Use SQLite")
    world.write_decision("two")
    done = world.run("index", "--query", "sqlite")
    assert done.returncode == 0
    assert done.stdout == f"1 match for 'sqlite'\n- [DECISION] Use SQLite -> {FOLDER}/one.json #tags:storage\n"
    assert not (world.project / ".claude" / "memory" / "index.md").exists(), "a question writes nothing"
    none = world.run("index", "--query", "absent")
    assert (none.returncode, none.stdout) == (0, "0 matches for 'absent'\n")


def test_query_as_json_has_each_entry_in_parts(world: World) -> None:
    world.write_decision("one")
    told = json.loads(world.run("index", "--query", "ONE", "--json").stdout)
    assert told["count"] == 1
    assert told["entries"] == [
        {"category": "decision", "title": "Title of one", "path": f"{FOLDER}/one.json", "tags": ["storage"]}
    ]


def test_line_of_a_foreign_index_reaches_the_terminal_without_its_escapes(world: World) -> None:
    world.run("index", "--rebuild", "--root", str(world.write_decision("one").parents[1]))
    index = world.project / ".claude" / "memory" / "index.md"
    index.write_text(f"# Memory Index\n- [DECISION] \x1b[31mred\u202e -> {FOLDER}/one.json\n", encoding="utf-8")
    done = world.run("index", "--query", "red")
    document = world.run("index", "--query", "red", "--json")
    assert "1 match" in done.stdout
    for text in (done.stdout, document.stdout):
        assert "\x1b" not in text
        assert "\u202e" not in text


# --health


def test_health_of_sound_memories_is_good_and_has_every_section(world: World) -> None:
    world.write_decision("one", times_updated=6)
    world.write_decision("two", times_updated=5)
    retire(world, "three", 1)
    world.write_decision("four", record_status="archived", archived_at=days_ago(1), archived_reason="done")
    world.run("index", "--rebuild")
    before = everything(world.project)
    done = world.run("index", "--health")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    headings = ["Entries by Category", "Heavily Updated", "Recent Retirements", "Index Sync Status", "Summary"]
    assert [line for line in lines if line in headings] == headings
    assert "  decision: 2 active, 1 retired, 1 archived" in lines
    assert lines[lines.index("Heavily Updated") + 1 :][:2] == [f"  {FOLDER}/one.json: 6 times", ""]
    assert lines[lines.index("Recent Retirements") + 1].startswith(f"  {FOLDER}/three.json: ")
    assert lines[lines.index("Index Sync Status") + 1] == "  Index is valid"
    assert lines[lines.index("Summary") + 1 :][:3] == ["  active: 2", "  retired: 1", "  archived: 1"]
    assert lines[-1] == "Overall: GOOD"
    assert everything(world.project) == before


def test_health_lists_what_needs_attention_with_what_mends_it(world: World) -> None:
    world.write_decision("one", id="another")
    world.write_decision("unfit", content={})
    retire(world, "old", 31)
    done = world.run("index", "--health")
    assert done.returncode == 0
    assert "Overall: NEEDS ATTENTION" in done.stdout
    told = json.loads(world.run("index", "--health", "--json").stdout)
    assert told["overall"] == "NEEDS ATTENTION"
    assert {issue["kind"]: issue["fix"] for issue in told["issues"]} == {
        "index": "`recollect index --rebuild`",
        "schema": "correct each file; `recollect schema CATEGORY` shows what it may hold",
        "id": "set each id to the name of the file without .json, or rename the file",
        "past_grace": "`recollect index --gc`",
    }
    for issue in told["issues"]:
        assert f"- {issue['text']}: {issue['fix']}" in done.stdout


def test_health_names_files_put_aside_and_strangers_in_the_root(world: World) -> None:
    root = world.write_decision("one").parents[1]
    (root / "decisions" / "two.json.invalid.1790000000").write_text("{", encoding="utf-8")
    (root / "notes.txt").write_text("mine", encoding="utf-8")
    (root / "drafts").mkdir()
    (root / "memory-config.json").write_text("{}", encoding="utf-8")
    (root / ".gitignore").write_text("", encoding="utf-8")
    world.run("index", "--rebuild")
    told = json.loads(world.run("index", "--health", "--json").stdout)
    assert (told["overall"], told["issues"]) == ("GOOD", [])
    aside, strangers = told["notes"]
    assert (aside["kind"], aside["places"]) == ("quarantined", [f"{FOLDER}/two.json.invalid.1790000000"])
    top = FOLDER.rpartition("/")[0]
    assert (strangers["kind"], strangers["places"]) == ("stranger", [f"{top}/drafts", f"{top}/notes.txt"])
    shown = world.run("index", "--health").stdout
    assert "two.json.invalid.1790000000" in shown
    assert "notes.txt" in shown


# --gc


def test_gc_archives_what_is_past_its_grace_and_says_so(world: World) -> None:
    old = retire(world, "old", 31)
    young = retire(world, "young", 29)
    world.write_decision("active")
    before = young.read_bytes()
    done = world.run("index", "--gc")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"ARCHIVED {FOLDER}/old.json: retired on ")
    assert done.stdout.endswith("1 memory put away.\n")
    assert json.loads(old.read_text(encoding="utf-8"))["record_status"] == "archived"
    assert young.read_bytes() == before
    assert world.run("index", "--validate").returncode == 0
    again = world.run("index", "--gc")
    assert (again.returncode, again.stdout) == (0, "Nothing to put away in .claude/memory.\n")


def test_gc_removes_files_where_that_is_set(world: World) -> None:
    old = retire(world, "old", 31)
    told = json.loads(world.run("index", "--gc", "--json", RECOLLECT_DELETE_ARCHIVE_RETIRED="false").stdout)
    assert [(one["action"], one["path"]) for one in told["outcomes"]] == [("DELETED", f"{FOLDER}/old.json")]
    assert not old.exists()


def test_gc_retires_what_is_past_its_retention(world: World) -> None:
    path = world.write_decision("one", updated_at=days_ago(11))
    done = world.run("index", "--gc", RECOLLECT_CATEGORIES_DECISION_RETENTION_DAYS="10")
    assert done.stdout.startswith(f"RETIRED {FOLDER}/one.json: ")
    assert json.loads(path.read_text(encoding="utf-8"))["record_status"] == "retired"


def test_gc_skips_what_has_no_date_and_fails_for_what_cannot_be_written(world: World) -> None:
    world.write_decision("undated", record_status="retired", retired_at="once")
    assert world.run("index", "--gc").returncode == 0
    world.write_decision("unfit", record_status="retired", retired_at=days_ago(31), content={})
    done = world.run("index", "--gc")
    assert done.returncode == 1
    assert f"SKIP {FOLDER}/undated.json: " in done.stdout
    assert f"ERROR {FOLDER}/unfit.json: it does not fit its schema: " in done.stdout


def test_gc_dry_run_changes_nothing(world: World) -> None:
    retire(world, "old", 31)
    before = everything(world.project)
    done = world.run("index", "--gc", "--dry-run")
    assert done.returncode == 0
    assert done.stdout.startswith(f"ARCHIVE {FOLDER}/old.json: ")
    assert done.stdout.endswith("1 memory would be put away; nothing was changed.\n")
    assert everything(world.project) == before


def test_gc_is_committed_where_auto_commit_is_on(world: World) -> None:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=world.project, capture_output=True, encoding="utf-8", check=True
        ).stdout

    git("init", "--quiet")
    git("config", "user.name", "dev")
    git("config", "user.email", "dev@example.org")
    retire(world, "old", 31)
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    (world.project / "staged.txt").write_text("mine", encoding="utf-8")
    git("add", "staged.txt")
    done = world.run("index", "--gc", RECOLLECT_AUTO_COMMIT="true")
    assert done.returncode == 0, done.stderr
    assert git("log", "-1", "--format=%s") == "memory: 1 memory put away\n"
    assert git("show", "--name-only", "--format=").split() == [f"{FOLDER}/old.json", ".claude/memory/index.md"]
