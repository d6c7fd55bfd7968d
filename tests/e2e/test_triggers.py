"""`recollect triggers`: what it shows, which file it changes and what in it, and what it refuses."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World

from recollect.domain.hashing import content_hash
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import Scope
from recollect.sync.memories import entry_id

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
TEXT = "Read the file before you write its parser."
ID = content_hash(TEXT)
BANK = (
    f"# Patterns\n\nAn introduction.\n\n### Pattern: Other\nAnother lesson.\n\n### Pattern: Read First\n{TEXT}\n"
    "- **Cost:** a day\n- Keywords: parsing\n\n## Notes\n\n### Pattern: Last\nThe last one.\n- Cost: two\n"
)
SECRET = "ghp_" + "a1B2" * 9


def triggers(world: World, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return world.run("triggers", *arguments, **{**BY_WORDS, **variables})


def done(world: World, *arguments: str) -> Any:
    ran = triggers(world, *arguments, "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    return json.loads(ran.stdout)


def refused(world: World, *arguments: str, code: int = 1) -> str:
    """Have the command refuse; return its message. Every file stays as it was."""
    before = files(world)
    ran = triggers(world, *arguments)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert "Traceback" not in ran.stderr
    assert files(world) == before
    return ran.stderr


def files(world: World) -> dict[Path, bytes]:
    """All files but the database, which follows them."""
    folders = (world.project, world.store)
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in paths if path.suffix in (".md", ".json", ".jsonl")}


def found(world: World, query: str) -> list[str]:
    ran = world.run("search", query, "--json", **BY_WORDS)
    return [hit["id"] for hit in json.loads(ran.stdout)["hits"]]


def memory_id(world: World, slug: str = "use-sqlite") -> str:
    return entry_id(str(world.project.resolve()), "decision", slug)


# ---- memories


def test_memory_without_triggers_says_so(semantic_world: World) -> None:
    semantic_world.write_decision("use-sqlite", title="Use SQLite")
    ran = triggers(semantic_world, "use-sqlite")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "Use SQLite\nIt has no triggers.\n", "")


@pytest.mark.parametrize("named", ["use-sqlite", "use-s", "decision/use-sqlite", "id", "short id"])
def test_triggers_of_a_memory_are_set_in_its_file_shown_and_found(semantic_world: World, named: str) -> None:
    world = semantic_world
    path = world.write_decision("use-sqlite", title="Use SQLite")
    assert found(world, "persist") == []
    id = memory_id(world)
    name = {"id": id, "short id": id[:7]}.get(named, named)
    ran = triggers(world, name, "where to persist  orders", "adding a table; a view")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "Use SQLite\n- where to persist orders\n- adding a table, a view\n"
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["triggers"] == ["where to persist orders", "adding a table, a view"]
    assert ([line["summary"] for line in record["changes"]], record["times_updated"]) == (["Triggers set"], 1)
    assert triggers(world, name).stdout == ran.stdout
    assert found(world, "persist") == [id]
    answer = done(world, name, "where to store them")
    shown = ".claude/memory/decisions/use-sqlite.json"
    facts = {"id": id, "category": "decision", "title": "Use SQLite"}
    assert answer == {**facts, "triggers": ["where to store them"], "path": shown}
    assert done(world, name) == {**facts, "triggers": ["where to store them"], "path": ""}
    assert (found(world, "persist"), found(world, "store")) == ([], [id])


def test_looking_at_triggers_changes_no_file(semantic_world: World) -> None:
    semantic_world.write_decision("use-sqlite", triggers=["adding a table"])
    semantic_world.write_bank("patterns", BANK)
    before = files(semantic_world)
    assert done(semantic_world, "use-sqlite")["triggers"] == ["adding a table"]
    assert done(semantic_world, ID)["triggers"] == []
    assert files(semantic_world) == before


# ---- lessons


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("shared", [False, True], ids=["project", "global"])
def test_triggers_of_a_lesson_are_one_line_of_its_bank_and_nothing_else_changes(
    semantic_world: World, shared: bool, ending: str
) -> None:
    world = semantic_world
    before = BANK.replace("\n", ending)
    path = world.write_bank("patterns", before, shared=shared)
    answer = done(world, ID[:8], "a new file format", "bytes arrive mangled")
    assert answer == {
        "id": ID,
        "category": "patterns",
        "title": "Read First",
        "triggers": ["a new file format", "bytes arrive mangled"],
        "path": str(path),
    }
    line = f"- Keywords: parsing{ending}"
    added = f"{line}- When: a new file format; bytes arrive mangled{ending}"
    assert path.read_bytes().decode() == before.replace(line, added)
    assert found(world, "mangled") == [ID]
    done(world, ID, "something else")
    assert path.read_bytes().decode() == before.replace(line, f"{line}- When: something else{ending}")
    assert (found(world, "mangled"), done(world, ID)["triggers"]) == ([], ["something else"])
    shown = json.loads(world.run("show", ID, "--json", **BY_WORDS).stdout)
    assert (shown["triggers"], shown["details"]) == (["something else"], "- **Cost:** a day")
    block = world.run("inject", **BY_WORDS).stdout
    assert TEXT in block
    assert "something else" not in block


@pytest.mark.parametrize("category", ["patterns", "heuristics"])
def test_lesson_of_both_banks_is_changed_in_the_global_one_which_describes_it(
    semantic_world: World, category: str
) -> None:
    world = semantic_world
    local, shared = world.write_bank(category, BANK), world.write_bank("patterns", BANK, shared=True)
    answer = done(world, ID, "a new file format")
    assert (answer["path"], answer["triggers"]) == (str(shared), ["a new file format"])
    assert "- When: a new file format\n" in shared.read_text(encoding="utf-8")
    assert local.read_text(encoding="utf-8") == BANK
    assert done(world, ID)["triggers"] == ["a new file format"]
    assert ID not in [row["id"] for row in done(world, "--missing")["missing"]]


def test_triggers_that_another_project_does_not_have_are_set_with_a_warning(semantic_world: World) -> None:
    world = semantic_world
    path = world.write_bank("patterns", BANK)
    desk = world.home / "desk"
    (desk / "docs" / "knowledge-bank").mkdir(parents=True)
    (desk / "docs" / "knowledge-bank" / "patterns.md").write_text(BANK, encoding="utf-8")
    assert world.run("search", "parser", cwd=desk, **BY_WORDS).returncode == 0
    ran = triggers(world, ID, "a new file format")
    assert (ran.returncode, ran.stdout) == (0, "Read First\nIt has no triggers.\n")
    assert ran.stderr.endswith(
        "other projects have this lesson too, and only triggers that all of them have are used, after"
        " `recollect rebuild`\n"
    )
    assert "- When: a new file format\n" in path.read_text(encoding="utf-8")
    assert world.run("triggers", ID, "a new file format", "another", cwd=desk, **BY_WORDS).returncode == 0
    assert world.run("rebuild", **BY_WORDS).returncode == 0
    assert world.run("search", "parser", cwd=desk, **BY_WORDS).returncode == 0
    assert done(world, ID)["triggers"] == ["a new file format"]


def test_lesson_that_only_the_journal_holds_is_refused_with_what_to_do(semantic_world: World) -> None:
    lesson = {"name": "Read First", "description": TEXT, "category": "patterns", "triggers": ["known already"]}
    assert semantic_world.run("upsert", "--entry-json", json.dumps(lesson), **BY_WORDS).returncode == 0
    assert refused(semantic_world, ID, "a new file format") == (
        "Error: of what holds everywhere, only the journal has 'Read First'; store it again with its triggers, or"
        f" promote it first: `recollect promote {ID}`\n"
    )
    assert done(semantic_world, ID)["triggers"] == ["known already"]
    semantic_world.write_bank("patterns", BANK)
    assert "only the journal has 'Read First'" in refused(semantic_world, ID, "a new file format")
    assert semantic_world.run("promote", "--as", "universal", ID, **BY_WORDS).returncode == 0
    assert done(semantic_world, ID, "a new file format")["triggers"] == ["a new file format"]


def test_sentence_on_when_a_lesson_holds_is_not_replaced(semantic_world: World) -> None:
    sentence = "whenever " + "the checkout is changed and " * 5 + "nobody tells"
    path = semantic_world.write_bank("patterns", f"### Pattern: Read First\n{TEXT}\n- When: {sentence}\n")
    said = refused(semantic_world, ID, "a new file format")
    assert said == (
        f"Error: the line `When` of this lesson in {path} is a sentence and no list of triggers; rename or shorten it"
        " there first\n"
    )


def test_bank_that_is_a_link_out_of_the_project_is_not_written(semantic_world: World) -> None:
    path = semantic_world.write_bank("patterns", BANK)
    done(semantic_world, ID)
    outside = semantic_world.home / "outside.md"
    path.rename(outside)
    path.symlink_to(outside)
    refused(semantic_world, ID, "a new file format")
    assert outside.read_text(encoding="utf-8") == BANK


# ---- what has none


def test_missing_lists_what_has_none_here_and_everywhere(semantic_world: World) -> None:
    world = semantic_world
    world.write_decision("use-sqlite", title="Use SQLite")
    world.write_decision("has-some", triggers=["adding a table"])
    world.write_decision("retired", record_status="retired")
    world.write_bank("patterns", f"### Pattern: Read First\n{TEXT}\n")
    world.write_bank("heuristics", "### Heuristic: Some\nHas some.\n- When: it is slow\n", shared=True)
    world.write_bank("patterns", "### Pattern: Shared\nHolds everywhere.\n", shared=True)
    other = world.home / "desk" / "docs" / "knowledge-bank"
    other.mkdir(parents=True)
    (other / "patterns.md").write_text("### Pattern: Elsewhere\nNot of this project.\n", encoding="utf-8")
    assert world.run("search", "project", cwd=world.home / "desk", **BY_WORDS).returncode == 0
    before = files(world)
    rows = {row["title"]: row for row in done(world, "--missing")["missing"]}
    assert set(rows) == {"Use SQLite", "Read First", "Shared"}
    assert rows["Read First"] == {"id": ID, "category": "patterns", "title": "Read First", "text": TEXT, "path": ""}
    assert (rows["Use SQLite"]["id"], rows["Use SQLite"]["category"]) == (memory_id(world), "decision")
    assert rows["Use SQLite"]["path"] == ".claude/memory/decisions/use-sqlite.json"
    assert files(world) == before
    lines = triggers(world, "--missing").stdout.splitlines()
    assert f"{ID}  patterns         Read First" in lines
    assert lines[-2:] == ["", "3 entries have none: `recollect triggers ID PHRASE...`"]
    for row in rows.values():
        done(world, row["id"], "it matters")
    assert done(world, "--missing") == {"missing": []}
    assert triggers(world, "--missing").stdout == "Everything here has triggers.\n"


def test_missing_says_one_of_one(semantic_world: World) -> None:
    semantic_world.write_bank("patterns", f"### Pattern: Read First\n{TEXT}\n")
    assert triggers(semantic_world, "--missing").stdout == (
        f"{ID}  patterns         Read First\n\n1 entry has none: `recollect triggers ID PHRASE...`\n"
    )


def test_missing_lists_more_than_a_page_once_each(semantic_world: World) -> None:
    entries = [f"### Pattern: Lesson {number}\nWhat {number} taught.\n" for number in range(450)]
    semantic_world.write_bank("patterns", "\n".join(entries))
    titles = [row["title"] for row in done(semantic_world, "--missing")["missing"]]
    assert (len(titles), len(set(titles))) == (450, 450)


# ---- refusals


@pytest.mark.parametrize("arguments", [(), ("--missing", "use-sqlite"), ("--missing", "use-sqlite", "a phrase")])
def test_name_or_missing_must_be_given_and_not_both(semantic_world: World, arguments: tuple[str, ...]) -> None:
    said = refused(semantic_world, *arguments, code=2)
    assert "give a NAME to see or set its triggers, or --missing to list what has none" in said


def test_unknown_names_and_ids_are_errors(semantic_world: World) -> None:
    semantic_world.write_bank("patterns", BANK)
    assert refused(semantic_world, "no-such").startswith("Error: no memory is called 'no-such'")
    assert refused(semantic_world, "fedcba", "a phrase") == (
        "Error: no entry has the id 'fedcba'; `recollect search` shows the ids of what it finds\n"
    )
    done(semantic_world, ID)
    other = semantic_world.home / "desk"
    other.mkdir()
    ran = semantic_world.run("triggers", ID, "a phrase", cwd=other, **BY_WORDS)
    assert (ran.returncode, "is an entry of another project" in ran.stderr) == (1, True)


@pytest.mark.parametrize(
    ("phrases", "reason"),
    [
        ([f"case {number}" for number in range(7)], "there are 7 triggers; at most 6 are allowed"),
        (["x" * 121], "a trigger has at most 120 characters: a phrase, not a sentence"),
        (["", " ; "], "a trigger needs words"),
        ([f"push with {SECRET}"], "triggers seems to hold a GitHub token"),
    ],
    ids=["many", "long", "empty", "secret"],
)
def test_phrases_that_cannot_be_kept_are_refused_and_change_nothing(
    semantic_world: World, phrases: list[str], reason: str
) -> None:
    semantic_world.write_decision("use-sqlite", triggers=["adding a table"])
    semantic_world.write_bank("patterns", BANK)
    for name in ("use-sqlite", ID):
        said = refused(semantic_world, name, *phrases)
        assert said.startswith(f"Error: {reason}")
        assert SECRET not in said


def test_no_credential_is_shown(semantic_world: World) -> None:
    world = semantic_world
    title = f"Push with {SECRET}"
    world.write_decision("by-hand", title=title, triggers=[f"pushing with {SECRET}"])
    world.write_decision("bare", title=title)
    world.write_bank("patterns", f"### Pattern: Read First\n{TEXT}\n- When: pushing with {SECRET}\n")
    world.write_bank("heuristics", f"### Heuristic: Push\nPush with {SECRET}.\n")
    for arguments in (["by-hand"], [ID], ["--missing"]):
        for form in ([], ["--json"]):
            ran = triggers(world, *arguments, *form)
            assert ran.returncode == 0, ran.stderr
            assert SECRET not in ran.stdout + ran.stderr


def test_triggers_are_embedded_at_once(semantic_world: World) -> None:
    semantic_world.write_bank("patterns", f"### Pattern: Read First\n{TEXT}\n")
    ran = semantic_world.run("triggers", ID, "an unknown layout of bytes")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(semantic_world.run("status", "--json").stdout)["knowledge"]["awaiting_vector"] == 0
    with SqliteStore(str(semantic_world.store / "memory.db")) as store:
        assert store.pending(5, Scope(None)) == []
