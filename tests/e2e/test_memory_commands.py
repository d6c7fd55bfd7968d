"""`recollect list`, `show`, `retire`, `archive` and `restore` as people call them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World, days_ago

from recollect.sync.memories import entry_id

LONG_AGO = "2026-01-02T03:04:05Z"
LESSON = {
    "name": "Retry with jitter",
    "description": "Retries without jitter arrive together and overload the gateway again.",
    "category": "anti-patterns",
    "keywords": ["retries"],
}


def put(world: World, slug: str, *, folder: str = "decisions", **fields: Any) -> Path:
    """Write a memory file as another tool, or a hand, might have."""
    category = {"decisions": "decision", "runbooks": "runbook", "sessions": "session_summary"}[folder]
    content = {
        "decision": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]},
        "runbook": {"trigger": "t", "steps": ["s"], "verification": "v"},
        "session_summary": {"goal": "g", "outcome": "success", "completed": [], "next_actions": []},
    }[category]
    record = {
        "schema_version": "1.0",
        "category": category,
        "id": slug,
        "title": slug.replace("-", " ").capitalize(),
        "record_status": "active",
        "created_at": LONG_AGO,
        "updated_at": LONG_AGO,
        "tags": ["shop"],
        "content": content,
        **fields,
    }
    path = world.project / ".claude" / "memory" / folder / f"{slug}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, ensure_ascii=True), encoding="utf-8")
    return path


def state_of(path: Path) -> str:
    return json.loads(path.read_text(encoding="utf-8"))["record_status"]


# list


def test_list_shows_active_memories_by_category_and_title(world: World) -> None:
    put(world, "b", title="zebra", tags=["x", "y"])
    put(world, "c", title="Apple", updated_at="2026-02-03T00:00:00Z")
    put(world, "a", folder="runbooks", title="Restart")
    put(world, "old", record_status="retired")
    done = world.run("list")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        f"{memory_id(world, 'c')}\tdecision\t2026-02-03\tApple\n"
        f"{memory_id(world, 'b')}\tdecision\t2026-01-02\tzebra\n"
        f"{memory_id(world, 'a', 'runbook')}\trunbook\t2026-01-02\tRestart\n"
    )
    shown = world.on_a_terminal("list", columns=120, NO_COLOR="1").decode().replace("\r", "")
    assert shown == (
        "decision  c  Apple    2026-02-03  shop\n"
        "decision  b  zebra    2026-01-02  x, y\n"
        "runbook   a  Restart  2026-01-02  shop\n"
    )


def test_list_names_an_entry_by_its_id_where_the_slug_repeats_the_title(world: World) -> None:
    put(world, "use-postgres-for", title="Use Postgres for orders")
    put(world, "orders", title="Use Postgres")
    shown = world.on_a_terminal("list", columns=120, NO_COLOR="1").decode()
    assert [line.split()[1] for line in shown.splitlines()] == ["orders", memory_id(world, "use-postgres-for")]


@pytest.mark.parametrize("category", ["decision", "session_summary"])
def test_list_begins_with_what_was_changed_last(world: World, category: str) -> None:
    folder = {"decision": "decisions", "session_summary": "sessions"}[category]
    times = {
        "a": "2026-02-03T10:00:00Z",
        "b": "2026-02-03T12:30:00+02:00",  # 10:30 in UTC
        "c": "2026-03-01T00:00:00Z",
        "d": "no time",
        "e": "2026-02-03T10:00:00Z",
    }
    for slug, at in times.items():
        put(world, slug, folder=folder, updated_at=at)
    put(world, "other", folder="runbooks", updated_at="2026-02-20T00:00:00Z")
    listed = json.loads(world.run("list", "--category", category, "--json").stdout)["memories"]
    assert [memory["slug"] for memory in listed] == ["c", "b", "a", "e", "d"]
    everything = [line.split("\t")[3] for line in world.run("list").stdout.splitlines()]
    assert everything == ["C", "Other", "B", "A", "E", "D"]


def test_a_category_with_a_typo_is_a_usage_error_that_names_the_one_meant(world: World) -> None:
    done = world.run("list", "--category", "desicion")
    assert done.returncode == 2
    assert "'desicion' is no category. Did you mean decision?" in done.stderr


def test_list_by_state_and_category(world: World) -> None:
    put(world, "a", record_status="retired")
    put(world, "b", record_status="archived")
    put(world, "c", folder="runbooks")
    retired = f"{memory_id(world, 'a')}\tdecision\t2026-01-02\tA\tretired\n"
    archived = f"{memory_id(world, 'b')}\tdecision\t2026-01-02\tB\tarchived\n"
    active = f"{memory_id(world, 'c', 'runbook')}\trunbook\t2026-01-02\tC\n"
    assert world.run("list", "--state", "all").stdout == retired + archived + active
    assert world.run("list", "--state", "archived").stdout == archived
    assert world.run("list", "--category", "runbook").stdout == active
    shown = world.on_a_terminal("list", "--state", "all", columns=120, NO_COLOR="1").decode().replace("\r", "")
    assert shown == (
        f"retired   decision  {memory_id(world, 'a')}  A  2026-01-02  shop\n"
        f"archived  decision  {memory_id(world, 'b')}  B  2026-01-02  shop\n"
        f"          runbook   {memory_id(world, 'c', 'runbook')}  C  2026-01-02  shop\n"
    )


def memory_id(world: World, slug: str, category: str = "decision") -> str:
    return entry_id(world.workspace().identity, category, slug)


def test_list_as_json(world: World) -> None:
    put(world, "use-postgres", tags=["db"])
    assert json.loads(world.run("list", "--json").stdout) == {
        "memories": [
            {
                "id": entry_id(str(world.project.resolve()), "decision", "use-postgres"),
                "slug": "use-postgres",
                "category": "decision",
                "status": "active",
                "title": "Use postgres",
                "updated_at": LONG_AGO,
                "tags": ["db"],
                "path": ".claude/memory/decisions/use-postgres.json",
                "origin": "repository",
                "supersedes": [],
                "muted": False,
                "at_rest": "",
            }
        ],
        "warnings": [],
    }


def test_list_has_lessons_of_all_sources_newest_first(semantic_world: World) -> None:
    world = semantic_world
    put(world, "use-postgres", tags=["db"], updated_at="2026-03-01T00:00:00Z")
    world.write_bank("patterns", "### Pattern: Read First\nRead the file before its parser.\n")
    world.write_bank(
        "heuristics", "### Heuristic: Measure\nMeasure it twice.\n- Last observed: 2026-02-01\n", shared=True
    )
    world.run("upsert", "--entry-json", json.dumps(LESSON))
    listed = json.loads(world.run("list", "--json").stdout)["memories"]
    assert {each["title"]: (each["category"], each["slug"], each["path"]) for each in listed} == {
        "Retry with jitter": ("anti-patterns", "retry-with-jitter", ""),
        "Use postgres": ("decision", "use-postgres", ".claude/memory/decisions/use-postgres.json"),
        "Measure": ("heuristics", "measure", ""),
        "Read First": ("patterns", "read-first", ""),
    }
    times = [each["updated_at"][:10] for each in listed]
    assert times == sorted(times, reverse=True)
    by_category = {
        category: [line.split()[0] for line in world.run("list", "--category", category).stdout.splitlines()]
        for category in ("anti-patterns", "heuristics", "patterns", "decision")
    }
    assert by_category == {each["category"]: [each["id"]] for each in listed}


def test_list_by_tag_time_and_all_states(semantic_world: World) -> None:
    world = semantic_world
    put(world, "old", tags=["db"], updated_at="2020-03-01T00:00:00Z")
    put(world, "new", tags=["db", "web"], updated_at=days_ago(3))
    put(world, "gone", tags=["db"], updated_at=days_ago(2), record_status="retired")
    world.run("upsert", "--entry-json", json.dumps({**LESSON, "keywords": ["Web"]}))

    def slugs(*options: str) -> list[str]:
        return [each["slug"] for each in json.loads(world.run("list", "--json", *options).stdout)["memories"]]

    assert slugs() == ["retry-with-jitter", "new", "old"]
    assert slugs("--all") == ["retry-with-jitter", "gone", "new", "old"]
    assert slugs("--tag", "web") == ["retry-with-jitter", "new"]
    assert slugs("--tag", "web", "--tag", "DB") == ["new"]
    assert slugs("--since", "1w") == ["retry-with-jitter", "new"]
    assert slugs("--since", "2019-12-31", "--tag", "db", "--all") == ["gone", "new", "old"]
    assert slugs("--since", days_ago(1)[:10]) == ["retry-with-jitter"]
    done = world.run("list", "--since", "soon")
    assert (done.returncode, done.stdout) == (2, "")
    assert "give a date, such as 2026-01-31, or how long ago" in done.stderr


def test_long_list_is_cut_and_says_how_to_see_the_rest(world: World) -> None:
    for number in range(53):
        put(world, f"memory-{number:02}")
    done = world.run("list")
    assert len(done.stdout.splitlines()) == 50
    assert done.stderr.strip().startswith("3 more; --all shows all")
    assert len(world.run("list", "--all").stdout.splitlines()) == 53
    assert len(json.loads(world.run("list", "--json").stdout)["memories"]) == 53


def test_table_of_a_terminal_can_be_had_in_a_pipe(world: World) -> None:
    put(world, "use-sqlite")
    (line,) = world.run("list", "--table").stdout.splitlines()
    assert "\t" not in line
    assert line.startswith("decision  ")
    assert "There are no memories" not in world.run("list", "--table", "--tag", "none").stderr


def test_list_of_nothing_says_why_and_how_to_begin(world: World) -> None:
    done = world.run("list")
    assert (done.returncode, done.stdout) == (0, ""), "in a pipe, each line is an entry"
    assert done.stderr.startswith("There are no memories in .claude/memory yet.")
    assert "`recollect write --help`" in done.stderr
    assert b"There are no memories in .claude/memory yet." in world.on_a_terminal("list")
    assert json.loads(world.run("list", "--json").stdout) == {"memories": [], "warnings": []}
    put(world, "a")
    assert world.run("list", "--state", "retired", "--category", "runbook").stderr == (
        "There are no retired runbook memories, but 1 other: `recollect list --all` shows all.\n"
    )


def test_list_of_nothing_in_a_category_counts_what_list_all_shows(world: World) -> None:
    put(world, "a")
    put(world, "b")
    for category in ("runbook", "patterns"):
        assert world.run("list", "--category", category).stderr == (
            f"There are no active {category} memories, but 2 others: `recollect list --all` shows all.\n"
        )
    world.write_bank("patterns", "### Pattern: One\nThe lesson.\n")
    assert "but 3 others" in world.run("list", "--category", "runbook").stderr
    assert len(world.run("list", "--all").stdout.splitlines()) == 3
    for narrowed in (("--tag", "nobody"), ("--since", "2999-01-01")):
        assert world.run("list", *narrowed).stderr.startswith("There are no active memories like that, but 3 others")


def test_list_with_a_broken_file_names_it_and_lists_the_others(world: World) -> None:
    put(world, "good")
    put(world, "bad").write_text('{"title": ', encoding="utf-8")
    put(world, "worse").write_text("[" * 100_000, encoding="utf-8")
    put(world, "odd").write_text('{"title": 3, "tags": "x", "record_status": null, "updated_at": []}', encoding="utf-8")
    done = world.run("list")
    assert done.returncode == 0
    assert [line.split("\t")[3] for line in done.stdout.splitlines()] == ["Good", "odd"]
    assert "bad.json is not valid JSON" in done.stderr
    assert "worse.json is nested too deeply" in done.stderr
    assert len(json.loads(world.run("list", "--json").stdout)["warnings"]) == 2


def test_list_shows_hostile_titles_and_tags_on_one_line_each(world: World) -> None:
    put(
        world, "a", title="Red\x1b[31m\n\nrunbook  fake  \u202egnitset", tags=["a\nb", "\u200b"], updated_at="\x1b[2J\n"
    )
    put(world, "b", title="x" * 100_000, tags=["y" * 100_000])
    put(world, "c", title="half \ud800")
    done = world.run("list")
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all(line.replace("\t", "").isprintable() and len(line) < 250 for line in lines)


@pytest.mark.parametrize("name", ["decision", "decisions", "Decisions", "adr", "architecture-decision"])
def test_category_is_taken_by_any_of_its_names(world: World, name: str) -> None:
    put(world, "use-postgres")
    put(world, "restart", folder="runbooks")
    for command in (["list", "--category", name], ["export", "--category", name, "--format", "markdown"]):
        done = world.run(*command)
        assert (done.returncode, "postgres" in done.stdout, "restart" in done.stdout.lower()) == (0, True, False)
    wrong = world.run("list", "--category", "thing")
    assert (wrong.returncode, "'thing' is not one of 'anti-patterns'" in wrong.stderr) == (2, True)


def test_list_names_memories_with_one_slug_by_their_ids(world: World) -> None:
    put(world, "restart", title="After a restart")
    put(world, "restart", folder="runbooks", title="How to restart")
    put(world, "other", title="Something else")
    shown = world.on_a_terminal("list", columns=120, NO_COLOR="1").decode()
    names = {line.split()[1] for line in shown.splitlines()}
    assert names == {memory_id(world, "restart"), memory_id(world, "restart", "runbook"), "other"}
    only = world.on_a_terminal("list", "--category", "runbook", columns=120, NO_COLOR="1").decode()
    assert only.split()[1] == memory_id(world, "restart", "runbook")


# show


def test_show_labels_every_field(world: World) -> None:
    (world.project / "orders.py").write_text("", encoding="utf-8")
    content = {
        "status": "accepted",
        "context": "First line.\nPath            a line that looks like a label",
        "decision": "Postgres.",
        "alternatives": [{"option": "MySQL", "rejected_reason": "Known\ntoo little."}],
        "rationale": ["Transactions.", "We know it."],
        "consequences": [],
    }
    path = put(
        world,
        "use-postgres",
        record_status="retired",
        retired_at="2026-03-04T00:00:00Z",
        retired_reason="We moved.",
        confidence=0.9,
        related_files=["orders.py", "gone.py"],
        content=content,
        changes=[{"date": "2026-03-04T00:00:00Z", "summary": "Retired: We moved."}],
        times_updated=2,
    )
    done = world.run("show", "use")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "Use postgres\n"
        f"Id              {memory_id(world, 'use-postgres')}\n"
        "Slug            use-postgres\n"
        "Path            .claude/memory/decisions/use-postgres.json\n"
        f"Hash            {hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}\n"
        "Origin          repository\n"
        "Category        decision\n"
        "State           retired since 2026-03-04T00:00:00Z: We moved.\n"
        "Tags            shop\n"
        "Related files   - orders.py\n"
        "                - gone.py (gone)\n"
        "Schema version  1.0\n"
        f"Created at      {LONG_AGO}\n"
        f"Updated at      {LONG_AGO}\n"
        "Confidence      0.9\n"
        "Times updated   2\n"
        "\n"
        "Status          accepted\n"
        "Context         First line.\n"
        "                Path            a line that looks like a label\n"
        "Decision        Postgres.\n"
        "Alternatives    - Option: MySQL\n"
        "                  Rejected reason:\n"
        "                    Known\n"
        "                    too little.\n"
        "Rationale       - Transactions.\n"
        "                - We know it.\n"
        "Consequences    none\n"
        "\n"
        "History (newest first)\n"
        "  2026-03-04T00:00:00Z  Retired: We moved.\n"
    )


def test_show_has_the_last_ten_changes_and_all_on_demand(world: World) -> None:
    changes: list[dict[str, Any]] = [{"date": f"2026-01-{day:02}", "summary": f"Change {day}"} for day in range(1, 15)]
    changes[0] |= {"field": "content.status", "old_value": "proposed", "new_value": "accepted"}
    put(world, "use-postgres", changes=changes)
    shown = world.run("show", "use-postgres").stdout.split("History")[1].splitlines()
    assert shown[0] == " (newest first, the last 10 of 14; --history shows all)"
    assert [line.split()[-1] for line in shown[1:]] == [str(day) for day in range(14, 4, -1)]
    everything = world.run("show", "use-postgres", "--history").stdout.split("History")[1].splitlines()
    assert everything[0] == " (newest first)"
    assert everything[-2:] == ["  2026-01-01  Change 1", "    content.status: proposed -> accepted"]
    assert len(everything) == 1 + 14 + 1


def test_show_as_json_and_raw(world: World) -> None:
    path = put(world, "use-postgres")
    document = json.loads(world.run("show", "use-postgres", "--json").stdout)
    assert document == {
        "id": memory_id(world, "use-postgres"),
        "slug": "use-postgres",
        "title": "Use postgres",
        "category": "decision",
        "status": "active",
        "path": ".claude/memory/decisions/use-postgres.json",
        "hash": hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest(),
        "origin": "repository",
        "check": [],
        "record": json.loads(path.read_text(encoding="utf-8")),
    }
    path.write_text("{broken: \x07\u202e", encoding="utf-8")
    assert world.run("show", "use-postgres", "--raw").stdout == "{broken: \x07\u202e"
    assert world.on_a_terminal("show", "use-postgres", "--raw") == b"{broken: "
    refused = world.run("show", "use-postgres")
    assert refused.returncode == 1
    assert "use-postgres.json is not valid JSON" in refused.stderr
    assert world.run("show", "use-postgres", "--raw", "--json").returncode == 2


def test_show_is_safe_with_hostile_and_huge_records(world: World) -> None:
    put(
        world,
        "odd",
        title="A\x1b[2J\nB",
        record_status="weird\n",
        tags=[1, "\x9b2J"],
        content={"a\x1b": "\x07bell\u202e", "n": None, "b": True, "l": [[], {}, [1, [2]]], "o": {"k\n": {"x": []}}},
        changes=[3, {"summary": {"x": 1}, "field": "f", "old_value": ["\x1b"]}, {}],
        related_files=["\0", "../../etc", 3],
        surprise={"x": "y" * 1_000_000},
    )
    done = world.run("show", "odd", "--history")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.replace("\n", "").isprintable()
    assert "y" * 1_000_000 in done.stdout


def test_show_of_an_ambiguous_or_unknown_name_lists_candidates(world: World) -> None:
    put(world, "use-postgres", title="Use Postgres")
    put(world, "use-python", title="Use Python", record_status="archived")
    done = world.run("show", "use")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "Error: 'use' may mean any of 2 memories; give more of the name:\n"
        "  use-postgres  decision  active    Use Postgres\n"
        "  use-python    decision  archived  Use Python\n"
    )
    assert "Did you mean use-python?" in world.run("show", "use-pyhton").stderr
    assert world.run("show").returncode == 2


# retire, archive, restore


def test_retire_and_restore_undo_each_other(world: World) -> None:
    path = put(world, "use-postgres", title="Use Postgres")
    done = world.run("retire", "use", "--reason", "We moved.")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "Retired: Use Postgres. It is found no more; `recollect restore use-postgres` brings it back.\n"
    )
    assert state_of(path) == "retired"
    assert json.loads(path.read_text(encoding="utf-8"))["retired_reason"] == "We moved."
    again = world.run("retire", "use-postgres")
    assert (again.returncode, again.stdout.startswith("Nothing changed: ")) == (0, True)
    done = world.run("restore", "use-postgres")
    assert done.stdout == "Restored: Use Postgres. It is found again; `recollect retire use-postgres` undoes it.\n"
    assert state_of(path) == "active"
    assert "Use Postgres" in (world.project / ".claude" / "memory" / "index.md").read_text(encoding="utf-8")


def test_lesson_is_shown_and_retired_where_memory_files_are_refused(world: World) -> None:
    settings = world.project / ".claude" / "memory" / "memory-config.json"
    settings.parent.mkdir(parents=True)
    shared = {"decision": {"folder": "notes"}, "runbook": {"folder": "notes"}}
    settings.write_text(json.dumps({"categories": shared}), encoding="utf-8")
    world.write_bank("patterns", "### Pattern: Queue mail\nMail is queued, never sent in a request.\n")
    [hit] = json.loads(world.run("search", "queue mail", "--json").stdout)["hits"]
    assert world.run("show", hit["id"]).stdout.startswith("Queue mail\n")
    assert world.run("retire", hit["id"]).stdout.startswith("Retired: Queue mail.")
    assert "SETTINGS_ERROR" in world.run("retire", "use-postgres").stderr


def test_archive_and_restore_undo_each_other(world: World) -> None:
    path = put(world, "use-postgres", title="Use Postgres")
    put(world, "use-postgres", folder="runbooks")
    done = world.run("archive", "decision/use-postgres")
    assert done.stdout == (
        "Archived: Use Postgres. It is found no more, and kept;"
        " `recollect restore decision/use-postgres` brings it back.\n"
    )
    assert state_of(path) == "archived"
    assert world.run("archive", "decision/use").stdout.startswith("Nothing changed: ")
    assert world.run("restore", "decision/use").stdout == (
        "Restored from the archive: Use Postgres. It is found again; `recollect archive decision/use-postgres` undoes"
        " it.\n"
    )
    assert state_of(path) == "active"


@pytest.mark.parametrize(
    ("command", "before", "status"),
    [
        ("retire", "active", "retired"),
        ("retire", "retired", "already_retired"),
        ("archive", "active", "archived"),
        ("archive", "archived", "already_archived"),
        ("restore", "archived", "unarchived"),
        ("restore", "active", "already_active"),
    ],
)
def test_change_of_state_as_json(world: World, command: str, before: str, status: str) -> None:
    put(world, "use-postgres", record_status=before)
    document = json.loads(world.run(command, "use", "--json").stdout)
    assert document["status"] == status
    assert document["target"] == ".claude/memory/decisions/use-postgres.json"


def test_restore_of_an_active_memory_says_so_and_changes_nothing(world: World) -> None:
    path = put(world, "use-postgres")
    text = path.read_text(encoding="utf-8")
    done = world.run("restore", "use-postgres")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Nothing changed: Use postgres is active already.\n"
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("command", "before", "kind"),
    [
        ("retire", "archived", "DELETE_ERROR"),
        ("archive", "retired", "ARCHIVE_ERROR"),
    ],
)
def test_change_of_state_that_makes_no_sense_is_refused(world: World, command: str, before: str, kind: str) -> None:
    path = put(world, "use-postgres", record_status=before)
    text = path.read_text(encoding="utf-8")
    done = world.run(command, "use-postgres")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"{kind}\ntarget: .claude/memory/decisions/use-postgres.json\n")
    assert "\nfix: " in done.stderr
    assert path.read_text(encoding="utf-8") == text


def test_changes_by_an_ambiguous_name_change_nothing(world: World) -> None:
    paths = [put(world, "use-postgres"), put(world, "use-python")]
    for command in ("retire", "archive", "restore"):
        done = world.run(command, "use")
        assert done.returncode == 1
        assert "may mean any of 2 memories" in done.stderr
    assert [state_of(path) for path in paths] == ["active", "active"]


def test_hostile_title_is_reported_on_one_line(world: World) -> None:
    put(world, "odd", title="{name}\x1b[2J\nRetired: another {0}")
    done = world.run("retire", "odd")
    assert done.returncode == 0
    assert done.stdout.startswith("Retired: {name}[2J Retired: another {0}. It is found no more;")
    assert done.stdout.count("\n") == 1


def test_retired_memory_is_found_no_more_and_found_again_when_restored(semantic_world: World) -> None:
    world = semantic_world
    variables = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
    put(world, "use-postgres", title="Postgres holds the ledger")

    def found() -> list[str]:
        return [hit["name"] for hit in json.loads(world.run("search", "ledger", "--json", **variables).stdout)["hits"]]

    assert world.run("retire", "use", **variables).returncode == 0
    assert found() == []
    assert world.run("restore", "use", **variables).returncode == 0
    assert found() == ["Postgres holds the ledger"]


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_list_on_a_terminal_breaks_no_word_and_no_date(world: World, columns: int) -> None:
    put(
        world,
        "use-postgres-for-orders-and-for-everything-else",
        title="Orders are kept in PostgreSQL " * 3,
        tags=["db"],
    )
    put(world, "short")
    shown = world.on_a_terminal("list", COLUMNS=str(columns), NO_COLOR="1").decode()
    lines = shown.replace("\r", "").splitlines()
    assert max(map(len, lines)) <= columns
    assert "use-postgres-for-orders-and-for-everything-else" in shown
    assert shown.count("2026-01-02") == 2


def test_list_since_before_all_years_is_a_wrong_use(world: World) -> None:
    done = world.run("list", "--since", "9999y")
    assert done.returncode == 2
    assert "give a date, such as 2026-01-31" in done.stderr


@pytest.mark.parametrize(("typed", "name"), [("tech-debt", "tech_debt"), ("anti-pattern", "anti-patterns")])
def test_category_by_another_of_its_names_is_understood_and_printed_by_one(
    semantic_world: World, typed: str, name: str
) -> None:
    def run(*arguments: str) -> str:
        done = semantic_world.run(*arguments, RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    run("add", typed, "The parser has no tests yet.")
    if typed == "anti-pattern":
        lesson = {"name": "Parse twice", "description": "Parsing twice is slow.", "category": typed}
        assert name in run("upsert", "--entry-json", json.dumps(lesson), "--json")
    else:
        run("config", "set", f"categories.{typed}.retention_days", "30")
        assert run("config", "get", f"categories.{name}.retention_days") == "30\n"
        path = semantic_world.project / ".claude" / "memory" / "memory-config.json"
        path.write_text(json.dumps({"categories": {typed: {"retention_days": 40}}}), encoding="utf-8")
        assert run("config", "get", f"categories.{typed}.retention_days") == "40\n"
        run("config", "set", f"categories.{typed}.retention_days", "50")
        assert json.loads(path.read_text(encoding="utf-8"))["categories"][name] == {"retention_days": 50}
        assert run("config", "get", f"categories.{name}.retention_days") == "50\n"
    for command in (
        ["list", "--category", typed],
        ["search", "--category", typed, "parser"],
        ["export", "--category", typed],
    ):
        assert "parser" in run(*command).lower()
    first = run("search", "parser").splitlines()[0]
    assert first.startswith(("1. tech_debt: ", "1. Anti-Pattern: ")), "a lesson has the heading that its bank has"
    for given in (typed, name):
        shown = run("show", f"{given}/the-parser-has-no-tests-yet")
        assert next(line.split()[1] for line in shown.splitlines() if line.startswith("Category")) == name
