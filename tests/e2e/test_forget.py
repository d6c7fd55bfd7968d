"""`recollect retire`, `restore` and `show` with the id of a lesson, and what the other commands make of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conftest import World

from recollect.domain.hashing import content_hash
from recollect.sync.memories import entry_id

TEXT = "Read the file before you write its parser."
ID = content_hash(TEXT)
BANK = f"### Pattern: Read First\n{TEXT}\n- Cost: a day\n- Reasoning: It holds more.\n- Keywords: parsing\n"


def found(world: World, *options: str) -> list[str]:
    done = world.run("search", "parser", "--json", *options)
    return [hit["id"] for hit in json.loads(done.stdout)["hits"]]


def exported(world: World, *options: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in world.run("export", *options).stdout.splitlines()]


@pytest.fixture(params=[False, True], ids=["project", "shared"])
def world(semantic_world: World, request: pytest.FixtureRequest) -> World:
    """A world with one lesson, in the project's bank or in the global one."""
    semantic_world.write_bank("patterns", BANK, shared=request.param)
    return semantic_world


def test_retire_and_restore_a_lesson_by_its_id(world: World) -> None:
    assert found(world) == [ID]
    done = world.run("retire", ID[:7], "--reason", "It was wrong.")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"Retired: Read First. It is found no more; `recollect restore {ID}` brings it back.\n"
    assert (found(world), found(world, "--include-retired")) == ([], [ID])
    assert world.run("inject").stdout == ""
    again = world.run("retire", ID)
    assert again.stdout == (
        f"Nothing changed: Read First is retired already. `recollect restore {ID}` brings it back.\n"
    )
    done = world.run("restore", ID)
    assert done.stdout == f"Restored: Read First. It is found again; `recollect retire {ID}` undoes it.\n"
    assert world.run("restore", ID).stdout == "Nothing changed: Read First is active already.\n"
    assert found(world) == [ID]
    assert TEXT in world.run("inject").stdout


def test_retire_and_restore_answer_in_json(world: World) -> None:
    for command, status in (
        ("retire", "retired"),
        ("retire", "already_retired"),
        ("restore", "restored"),
        ("restore", "already_active"),
    ):
        done = world.run(command, ID, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout) == {
            "status": status,
            "outcome": status,
            "target": ID,
            "path": "",
            "id": ID,
            "category": "patterns",
            "title": "Read First",
        }


def test_show_tells_all_that_is_known_of_a_lesson(world: World) -> None:
    world.run("retire", ID, "--reason", "It was wrong.")
    done = world.run("show", ID[:6])
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "Read First"
    shown = {line[:14].strip(): line[16:] for line in lines[1:]}
    assert (shown["Id"], shown["Category"], shown["Description"]) == (ID, "patterns", TEXT)
    assert shown["Status"].startswith("retired since 20")
    assert shown["Status"].endswith(": It was wrong.")
    assert (shown["Reasoning"], shown["Keywords"], shown["Observed"]) == ("It holds more.", "parsing", "1")
    assert shown["Comes from"].endswith("/patterns.md")
    document = json.loads(world.run("show", ID, "--json").stdout)
    assert (document["name"], document["status"], document["details"]) == ("Read First", "retired", "- Cost: a day")
    assert [line["reason"] for line in document["retired"]] == ["It was wrong."]
    assert world.run("show", ID, "--raw").returncode == 2


def test_show_and_retire_find_a_memory_by_its_id(semantic_world: World) -> None:
    world = semantic_world
    world.write_decision("use-sqlite", title="Use SQLite for the parser")
    id = entry_id(str(world.project.resolve()), "decision", "use-sqlite")
    assert world.run("show", id).stdout == world.run("show", "use-sqlite").stdout
    assert found(world) == [id]
    done = world.run("retire", id)
    assert done.stdout == (
        "Retired: Use SQLite for the parser. It is found no more; `recollect restore use-sqlite` brings it back.\n"
    )
    assert found(world) == []


def test_id_of_nothing_and_of_another_project_are_errors(world: World) -> None:
    for command in ("retire", "restore", "show"):
        done = world.run(command, "fedcba")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            "Error: no entry has the id 'fedcba'; `recollect search` shows the ids of what it finds\n"
        )
    local = world.project / "docs" / "knowledge-bank" / "patterns.md"
    if local.exists():
        assert found(world) == [ID]
        other = world.home / "desk"
        other.mkdir()
        for command in ("retire", "restore", "show"):
            done = world.run(command, ID, cwd=other)
            assert (done.returncode, done.stdout) == (1, "")
            assert f"'{ID}' is an entry of another project" in done.stderr


def test_name_that_is_no_id_is_refused_as_before(world: World) -> None:
    for command in ("retire", "restore", "show", "archive"):
        done = world.run(command, "no-such")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("Error: no memory is called 'no-such'")
    assert world.run("archive", ID).stderr == (
        f"Error: 'Read First' is a lesson, and only memories are archived; `recollect retire {ID}` hides it\n"
    )


@pytest.mark.parametrize("name", ["read-first", "READ-f", "patterns/read-first", "{bank}", "{bank}#read", ID])
def test_every_name_of_a_lesson_is_taken_by_every_command(world: World, name: str) -> None:
    local = world.project / "docs" / "knowledge-bank" / "patterns.md"
    name = name.format(bank=local if local.exists() else world.store / "patterns.md")
    assert json.loads(world.run("show", name, "--json").stdout)["id"] == ID
    assert world.run("retire", name).stdout.startswith("Retired: Read First.")
    assert world.run("restore", name).stdout.startswith("Restored: Read First.")
    done = world.run("triggers", name)
    assert (done.returncode, done.stdout) == (0, "Read First\nIt has no triggers.\n")


def test_beginning_of_a_lesson_and_a_memory_lists_both_and_fails(world: World) -> None:
    world.write_decision("read-replicas", title="Reads go to replicas")
    for command in ("show", "retire", "restore", "archive"):
        done = world.run(command, "read")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            "Error: 'read' may mean any of 2 memories; give more of the name:\n"
            "  read-replicas     decision  active  Reads go to replicas\n"
            f"  {ID}  patterns  active  Read First\n"
        )
    assert world.run("show", "read-f").stdout.startswith("Read First\n")
    assert world.run("show", "decision/read").stdout.startswith("Reads go to replicas\n")


def test_memory_is_found_by_the_beginning_of_its_name_without_a_store(world: World) -> None:
    world.write_decision("use-sqlite", title="Use SQLite")
    (world.store / "memory.db").mkdir(parents=True)
    done = world.run("show", "use-sq")
    assert done.stdout.startswith("Use SQLite\n")
    assert done.stderr.startswith("Warning: lessons were not looked at: ")
    assert world.run("show", "use-sqlite").stderr == ""


def test_unknown_name_is_told_the_nearest_lesson(world: World) -> None:
    done = world.run("show", "read-frist")
    assert done.stderr == (
        "Error: no memory is called 'read-frist'. Did you mean read-first? `recollect list --all` shows all there are\n"
    )


def test_reason_with_a_credential_is_refused(world: World) -> None:
    done = world.run("retire", ID, "--reason", "ghp_" + "a1" * 20)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: the reason seems to hold a GitHub token; take that out and try again\n"
    assert found(world) == [ID]


def test_export_leaves_out_a_retired_lesson_unless_it_is_asked_for(world: World) -> None:
    assert [line["status"] for line in exported(world)] == ["active"]
    world.run("retire", ID)
    assert exported(world) == []
    assert "1 retired or archived, which --include-retired exports too" in world.run("export").stderr
    assert [(line["id"], line["status"]) for line in exported(world, "--include-retired")] == [(ID, "retired")]
    assert "- **Status:** retired" in world.run("export", "--include-retired", "--format", "markdown").stdout
    world.run("restore", ID)
    assert [line["status"] for line in exported(world)] == ["active"]


def test_rebuild_and_a_backup_keep_what_is_retired(world: World) -> None:
    world.run("retire", ID)
    assert world.run("rebuild").returncode == 0
    assert found(world) == []
    backup = world.home / "all.tar.gz"
    assert world.run("backup", "create", str(backup)).returncode == 0
    for path in world.store.iterdir():
        path.unlink()
    done = world.run("backup", "restore", str(backup))
    assert (done.returncode, done.stderr) == (0, "")
    assert (found(world), found(world, "--include-retired")) == ([], [ID])


def test_lesson_that_is_stored_again_is_found_again(world: World) -> None:
    world.run("retire", ID)
    entry = {"name": "Read First", "description": TEXT, "category": "patterns"}
    assert world.run("upsert", "--entry-json", json.dumps(entry)).returncode == 0
    assert found(world) == [ID]


def test_markdown_alone_leaves_out_what_is_retired(world: World) -> None:
    off = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"}
    assert TEXT in world.run_bare(**off).stdout
    world.run("retire", ID)
    assert world.run_bare(**off).stdout == ""
    world.run("restore", ID)
    assert TEXT in world.run_bare(**off).stdout


def test_retired_lesson_does_not_travel_unless_it_is_named(semantic_world: World) -> None:
    world = semantic_world
    world.write_bank("patterns", BANK)
    world.run("retire", ID)
    assert "0 universal entries promoted" in world.run("promote").stdout
    assert found(world) == []
    done = world.run("promote", "Read First")
    assert "1 universal entries promoted" in done.stdout
    assert found(world) == [ID]
