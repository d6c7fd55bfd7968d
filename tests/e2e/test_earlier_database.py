"""A database of the memory system before recollect at the store's path: it is taken over once, and nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from tests.chance import again
from tests.conftest import PATIENCE, World, run_without_rights, until
from tests.earlier import GEMINI, ODD, row, vector, write_earlier

from recollect.config.workspace import Workspace
from recollect.domain.hashing import content_hash
from recollect.embedding.registry import identity_of
from recollect.engine.engine import Engine
from recollect.errors import StillReading
from recollect.store.values import Model
from recollect.sync.sync import sync

INDEX = "Triggers keep a full-text index in step with its table."
DELETE = "Never delete a file that somebody else has written."
RETRY = "Retries without jitter arrive together."
COPY = "memory.db.before-recollect"


def entries(world: World) -> dict[str, dict[str, Any]]:
    """Return what the store has, by name."""
    with closing(sqlite3.connect(world.store / "memory.db")) as connection:
        connection.row_factory = sqlite3.Row
        rows = connection.execute(
            "SELECT e.*, u.recall_count, u.last_recalled_at FROM entries e LEFT JOIN usage u ON u.id = e.id"
        )
        return {found["name"]: dict(found) for found in rows}


def count(world: World, question: str) -> int:
    with closing(sqlite3.connect(world.store / "memory.db")) as connection:
        return connection.execute(question).fetchone()[0]


def carried(world: World) -> list[dict[str, Any]]:
    path = world.store / "session-captures.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [line for line in map(json.loads, lines) if "carried" in line]


def rebuilt(world: World, **variables: str) -> dict[str, Any]:
    done = world.run("rebuild", "--json", **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def usual(world: World, *more: dict[str, Any], **about: str) -> bytes:
    """Write a database with two usual rows and some others; return its bytes."""
    rows = [row("Index by triggers", INDEX), row("Keep theirs", DELETE, observation_count=1, source="session-capture")]
    return write_earlier(world.store / "memory.db", [*rows, *more], **about).read_bytes()


def test_everything_in_an_earlier_database_is_taken_over_by_the_first_search(semantic_world: World) -> None:
    world = semantic_world
    before = usual(world)
    done = world.run("search", "full-text index")
    assert done.returncode == 0, done.stderr
    assert "Index by triggers" in done.stdout
    found = entries(world)["Index by triggers"]
    assert found["id"] == content_hash(INDEX)
    assert found["category"] == "patterns"
    assert json.loads(found["keywords"]) == ["fts5", "sqlite"]
    assert json.loads(found["references"]) == ["src/index.py"]
    assert (found["reasoning"], found["confidence"]) == ("It cost us a day.", "high")
    assert (found["source"], found["source_project"], found["observation_count"]) == ("retro", "shop-front", 3)
    assert (found["created_at"], found["updated_at"]) == ("2026-01-02T03:04:05Z", "2026-02-03T04:05:06Z")
    assert found["recall_count"] >= 7
    assert entries(world)["Keep theirs"]["source"] == "session-capture"
    with closing(sqlite3.connect(world.store / COPY)) as copy:
        assert copy.execute("SELECT count(*) FROM entries").fetchone() == (2,)
        assert copy.execute("SELECT value FROM _metadata WHERE key = 'schema_version'").fetchone() == ("1",)
    assert (world.store / COPY).stat().st_mode & 0o077 == 0
    assert len(before) <= (world.store / COPY).stat().st_size


def test_a_rebuild_takes_it_over_and_says_so_and_a_second_one_gives_the_same(semantic_world: World) -> None:
    world = semantic_world
    usual(world)
    first = rebuilt(world)
    assert (first["entries"], first["sources"]) == (2, 1)
    assert "2 entries with their counts" in first["taken_over"]
    assert COPY in first["taken_over"]
    before = entries(world)
    second = rebuilt(world)
    assert (second["entries"], second["taken_over"]) == (2, "")
    assert entries(world) == before
    assert len(carried(world)) == 2


def test_a_store_made_again_from_nothing_has_the_entries_that_were_taken_over(semantic_world: World) -> None:
    world = semantic_world
    usual(world)
    rebuilt(world)
    before = entries(world)["Index by triggers"]
    for path in world.store.glob("memory.db*"):
        path.unlink()
    assert rebuilt(world)["entries"] == 2
    after = entries(world)["Index by triggers"]
    same = ("id", "keywords", "references", "observation_count", "source", "created_at", "updated_at", "confidence")
    assert [after[name] for name in same] == [before[name] for name in same]


@pytest.mark.parametrize("shared", [False, True])
def test_an_entry_that_a_bank_has_too_is_one_entry_and_counts_once(semantic_world: World, shared: bool) -> None:
    world = semantic_world
    usual(world)
    text = f"### Pattern: Index by triggers\n{INDEX}\n- Observation count: 2\n- Confidence: low\n"
    bank = world.write_bank("patterns", text, shared=shared)
    rebuilt(world)
    assert len(entries(world)) == 2
    assert entries(world)["Index by triggers"]["observation_count"] == 3
    assert "fts5" in entries(world)["Index by triggers"]["keywords"]
    bank.write_text(text.replace("count: 2", "count: 5"), encoding="utf-8")
    os.utime(bank, (1, 1))
    rebuilt(world)
    assert entries(world)["Index by triggers"]["observation_count"] == 5
    assert "fts5" in entries(world)["Index by triggers"]["keywords"]
    if shared:
        assert entries(world)["Index by triggers"]["confidence"] == "low"  # the global bank describes it


def test_entries_taken_over_are_given_with_count_and_confidence_whoever_wrote_them(semantic_world: World) -> None:
    usual(semantic_world, row("Retry apart", RETRY, source="import", observation_count=4, confidence="low"))
    given = semantic_world.run("inject").stdout
    for text, count, confidence in ((INDEX, 3, "high"), (RETRY, 4, "low")):
        assert f"{text}\n> - Observation count: {count}\n> - Confidence: {confidence}\n" in given


def test_the_bank_of_another_project_met_later_adds_nothing(semantic_world: World, tmp_path: Path) -> None:
    world = semantic_world
    usual(world)
    rebuilt(world)
    other = tmp_path / "home" / "other"
    (other / "docs" / "knowledge-bank").mkdir(parents=True)
    text = f"### Pattern: Index by triggers\n{INDEX}\n- Observation count: 3\n"
    (other / "docs" / "knowledge-bank" / "patterns.md").write_text(text, encoding="utf-8")
    done = world.run("search", "full-text index", cwd=other)
    assert done.returncode == 0, done.stderr
    assert entries(world)["Index by triggers"]["observation_count"] == 3


def test_what_is_observed_after_the_takeover_adds_up(semantic_world: World) -> None:
    world = semantic_world
    usual(world)
    lesson = {"name": "Index by triggers", "description": INDEX, "category": "patterns"}
    for _ in range(2):
        assert world.run("upsert", "--entry-json", json.dumps(lesson)).returncode == 0
    assert entries(world)["Index by triggers"]["observation_count"] == 5
    assert len(carried(world)) == 2


def test_a_lesson_that_was_retired_before_stays_retired(semantic_world: World) -> None:
    world = semantic_world
    usual(world)
    line = {"retired": content_hash(INDEX), "at": "2026-03-01T00:00:00Z", "project": "", "reason": "wrong"}
    (world.store / "session-captures.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert rebuilt(world)["entries"] == 1
    assert entries(world)["Index by triggers"]["status"] == "retired"
    assert world.run("restore", content_hash(INDEX)).returncode == 0
    assert entries(world)["Index by triggers"]["status"] == "active"


def test_a_taken_over_lesson_is_retired_and_stays_so(semantic_world: World) -> None:
    world = semantic_world
    usual(world)
    assert world.run("retire", content_hash(INDEX)[:8]).returncode == 0
    rebuilt(world)
    assert entries(world)["Index by triggers"]["status"] == "retired"


def test_odd_rows_are_read_as_far_as_they_make_sense_and_the_rest_is_named(semantic_world: World) -> None:
    world = semantic_world
    rows = [
        row("Bad lists", "Lists that are no JSON.", keywords="fts5, sqlite", references='["a.py"', source="elsewhere"),
        row(
            "Nothing else",
            "Only what must be there.",
            **dict.fromkeys(
                [
                    "reasoning",
                    "keywords",
                    "references",
                    "observation_count",
                    "confidence",
                    "recall_count",
                    "last_recalled_at",
                    "created_at",
                    "updated_at",
                    "source",
                    "source_project",
                    "embedding",
                ]
            ),
        ),
        row("Odd numbers", "Counts of any kind.", observation_count=-4, recall_count="many", created_at="yesterday"),
        row("A variant", "A category by another name.", category="Anti-Pattern"),
        row("No such kind", "A category that nobody knows.", category="poem"),
        row("Blank", "   "),
        row("", "An entry without a name still has its words."),
        row("Too long", "word " * 2000),
        row("A key", "Deploy with ghp_abcdefghijklmnopqrstuvwxyz0123456789AB"),
        row("Odd id", "The id of this one is no hash.", id="17"),
    ]
    write_earlier(world.store / "memory.db", rows, schema=ODD)
    made = rebuilt(world)
    found = entries(world)
    assert made["entries"] == len(found) == 6
    assert json.loads(found["Bad lists"]["keywords"]) == ["fts5", "sqlite"]
    assert found["Bad lists"]["source"] == "import"
    assert found["Nothing else"]["observation_count"] == 1
    assert found["Odd numbers"]["created_at"].startswith("20")
    assert (found["Odd numbers"]["observation_count"], found["Odd numbers"]["recall_count"]) == (1, 0)
    assert found["A variant"]["category"] == "anti-patterns"
    assert "An entry without a name still has its" in found
    assert found["Odd id"]["id"] == content_hash("The id of this one is no hash.")
    [left] = made["warnings"]
    assert left.startswith("4 entries were not taken over")
    assert "No such kind" in left
    assert "ghp_" not in left + (world.store / "session-captures.jsonl").read_text(encoding="utf-8")
    assert rebuilt(world)["warnings"] == []


@pytest.mark.parametrize(
    ("about", "settings", "kept"),
    [
        (GEMINI, {"RECOLLECT_MEMORY_EMBEDDING_PROVIDER": "gemini"}, 1),
        (GEMINI, {}, 0),
        ({**GEMINI, "embedding_model": "another"}, {"RECOLLECT_MEMORY_EMBEDDING_PROVIDER": "gemini"}, 0),
        ({**GEMINI, "embedding_dimensions": "512"}, {"RECOLLECT_MEMORY_EMBEDDING_PROVIDER": "gemini"}, 0),
        ({}, {"RECOLLECT_MEMORY_EMBEDDING_PROVIDER": "gemini"}, 0),
    ],
    ids=["same", "local", "other model", "other size", "no model"],
)
def test_vectors_are_taken_over_if_model_and_size_are_the_same(
    semantic_world: World, about: dict[str, str], settings: dict[str, str], kept: int
) -> None:
    world = semantic_world
    sound = row("With a vector", RETRY, embedding=vector(3.0, 4.0))
    short = row("With half of one", "Half a vector points nowhere.", embedding=vector(1.0)[:100])
    usual(world, sound, short, **about)
    made = rebuilt(world, **settings)
    assert ("and vectors" in made["taken_over"]) == bool(kept)
    assert count(world, "SELECT count(*) FROM vectors WHERE length(code) = 772") == kept
    assert len(entries(world)) == 4


@pytest.mark.parametrize(
    ("identity", "dimensions", "kept"), [("another/model", 3, 1), ("", 512, 0)], ids=["another model", "another size"]
)
def test_vectors_are_taken_over_beside_those_of_other_models(
    semantic_world: World, identity: str, dimensions: int, kept: int
) -> None:
    world = semantic_world
    usual(world, row("With a vector", RETRY, embedding=vector(3.0, 4.0)), **GEMINI)
    identity = identity or identity_of("gemini", "")
    with Engine(Workspace(str(world.project), str(world.store))) as engine:
        engine.store.use_model(Model(identity, "some", "model", dimensions))
    made = rebuilt(world, RECOLLECT_MEMORY_EMBEDDING_PROVIDER="gemini")
    assert ("and vectors" in made["taken_over"]) == bool(kept)
    assert count(world, "SELECT count(*) FROM vectors WHERE length(code) = 772") == kept
    assert count(world, f"SELECT dimensions FROM models WHERE identity = '{identity}'") == dimensions


def test_vectors_that_cannot_be_used_are_not_said_to_be_taken_over(semantic_world: World) -> None:
    usual(semantic_world, row("With half of one", RETRY, embedding=vector(1.0)[:100]), **GEMINI)
    made = rebuilt(semantic_world, RECOLLECT_MEMORY_EMBEDDING_PROVIDER="gemini")
    assert "3 entries with their counts;" in made["taken_over"]


def test_a_session_that_meets_it_first_is_served_and_told_once(semantic_world: World) -> None:
    world = semantic_world
    usual(world)
    event = {"cwd": str(world.project), "session_id": "first", "source": "startup"}
    first = world.run_hook("session-start", event)
    assert first.returncode == 0, first.stderr
    answer = json.loads(first.stdout)
    assert "Index by triggers" in answer["hookSpecificOutput"]["additionalContext"]
    assert "taken over from the memory system before recollect" in answer["systemMessage"]
    second = world.run_hook("session-start", {**event, "session_id": "second"})
    assert second.returncode == 0
    assert "taken over" not in second.stdout
    assert len(carried(world)) == 2


def test_prompts_that_meet_it_first_get_their_answer(semantic_world: World) -> None:
    world = semantic_world
    usual(world)
    prompt = "how do triggers keep the full-text index in step with its table?"

    def asked() -> str:
        event = {"cwd": str(world.project), "session_id": f"s{again()}", "prompt": prompt}
        done = world.run_hook("prompt", event)
        assert done.returncode == 0, done.stderr
        return done.stdout

    said = until(asked)  # a prompt waits only a moment; the next one goes on
    assert "Index by triggers" in said
    assert len(carried(world)) == 2


def test_a_large_one_is_taken_over_by_several_hooks_within_their_time(semantic_world: World) -> None:
    world = semantic_world
    rows = [row(f"Lesson {n}", f"What lesson number {n} has taught us. {'More words. ' * 40}") for n in range(1000)]
    write_earlier(world.store / "memory.db", rows)
    for number in range(12):
        event = {"cwd": str(world.project), "session_id": f"s{number}", "source": "startup"}
        done = world.run_hook("session-start", event)
        assert done.returncode == 0, done.stderr
        if count(world, "SELECT count(*) FROM _metadata WHERE key = 'taken_over'"):
            break
    assert count(world, "SELECT count(*) FROM entries") == 1000
    assert len({line["carried"] for line in carried(world)}) == len(carried(world)) == 1000


def test_status_and_doctor_say_what_will_happen_and_change_nothing_and_then_what_did(semantic_world: World) -> None:
    world = semantic_world
    before = usual(world)
    assert "2 entries of the memory system before recollect are still to be taken over" in world.run("status").stdout
    found = json.loads(world.run("doctor", "--only", "database", "--json").stdout)
    assert found["healthy"]
    assert "of the memory system before recollect, with 2 entries" in found["findings"][0]["sentence"]
    assert (world.store / "memory.db").read_bytes() == before
    assert not [path.name for path in world.store.glob("memory.db?*")]
    fixed = json.loads(world.run("doctor", "--only", "database", "--fix", "--json").stdout)
    assert "taken over from the memory system" in fixed["findings"][0]["sentence"]
    assert COPY in json.loads(world.run("status", "--json").stdout)["taken_over"]
    assert len(entries(world)) == 2


def test_looking_for_secrets_finds_those_in_an_earlier_database_and_in_its_copy(semantic_world: World) -> None:
    world = semantic_world
    before = usual(world, row("A key", "Deploy with ghp_abcdefghijklmnopqrstuvwxyz0123456789AB"))
    for name in ("memory.db", COPY):
        done = world.run("doctor", "--secrets", "--json")
        assert done.returncode == 1, done.stderr
        found = json.loads(done.stdout)
        [leak] = [leak for leak in found["secrets"] if leak["where"] == "earlier database"]
        assert leak["place"].startswith(f"{world.store / name}: entry ")
        assert "ghp_" not in done.stdout
        assert found["looked_at"]["entries"] == (3 if name == "memory.db" else 5)
        if name == "memory.db":
            assert [path.name for path in world.store.iterdir()] == ["memory.db"]
            assert (world.store / "memory.db").read_bytes() == before
            rebuilt(world)
    assert "remove the copy" in world.run("doctor", "--secrets").stdout


def test_status_counts_taken_over_lessons_that_no_bank_has(semantic_world: World) -> None:
    world = semantic_world
    usual(world, row("Retry apart", RETRY))
    rebuilt(world)
    assert json.loads(world.run("status", "--json").stdout)["knowledge"]["journal"] == 3
    world.write_bank("patterns", f"### Pattern: Index by triggers\n{INDEX}\n")
    assert world.run("retire", content_hash(RETRY)[:8]).returncode == 0
    assert json.loads(world.run("status", "--json").stdout)["knowledge"]["journal"] == 1


def test_a_taken_over_lesson_is_shown_to_come_from_the_journal_once(semantic_world: World) -> None:
    world = semantic_world
    usual(world)
    lesson = {"name": "Index by triggers", "description": INDEX, "category": "patterns"}
    assert world.run("upsert", "--entry-json", json.dumps(lesson)).returncode == 0
    for description in (INDEX, DELETE):
        shown = json.loads(world.run("show", content_hash(description), "--json").stdout)
        assert shown["comes_from"] == [str(world.store / "session-captures.jsonl")]


def test_triggers_of_a_taken_over_lesson_are_set_by_storing_it_again(semantic_world: World) -> None:
    world = semantic_world
    usual(world)
    refused = world.run("triggers", content_hash(INDEX), "search finds nothing")
    assert refused.returncode == 1
    assert "store it again with its triggers" in refused.stderr
    assert "promote" not in refused.stderr
    lesson = {"name": "Index by triggers", "description": INDEX, "category": "patterns"}
    again = json.dumps({**lesson, "triggers": ["search finds nothing"]})
    assert world.run("upsert", "--entry-json", again).returncode == 0
    assert "search finds nothing" in world.run("triggers", content_hash(INDEX)).stdout
    assert "promote it first" in world.run("triggers", content_hash(INDEX), "an index lags").stderr


def test_two_processes_take_it_over_together_and_every_entry_once(semantic_world: World) -> None:
    world = semantic_world
    rows = [row(f"Lesson {n}", f"What lesson number {n} has taught us.") for n in range(300)]
    write_earlier(world.store / "memory.db", rows, journal_mode="DELETE")
    processes = [world.start("rebuild", encoding="utf-8") for _ in range(3)]
    for process in processes:
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said
    assert len(carried(world)) == 300
    assert count(world, "SELECT count(*) FROM entries WHERE status = 'active'") == 300
    assert [path.name for path in sorted(world.store.glob("memory.db.*"))] == [COPY]


@pytest.mark.slow
def test_a_killed_takeover_is_finished_by_the_next_command(semantic_world: World) -> None:
    world = semantic_world
    rows = [row(f"Lesson {n}", f"What lesson number {n} has taught us. {'Words. ' * 60}") for n in range(3000)]
    write_earlier(world.store / "memory.db", rows)
    process = world.start("rebuild")
    journal = world.store / "session-captures.jsonl"
    until(lambda: journal.exists() and journal.stat().st_size)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert 0 < len(carried(world)) < 3000
    assert rebuilt(world)["entries"] == 3000
    assert len(carried(world)) == 3000
    assert [path.name for path in sorted(world.store.glob("memory.db.*"))] == [COPY]


@pytest.fixture
def open_world() -> Iterator[World]:
    """A world that a user without rights can enter, unlike those of other tests."""
    base = Path(tempfile.mkdtemp(prefix="recollect-"))
    base.chmod(0o755)
    world = World(base / "home", base / "home" / "shop-front", base / "home" / "store", semantic=True)
    world.project.mkdir(parents=True)
    yield world
    world.store.chmod(0o755)
    shutil.rmtree(base)


def run_as_nobody(world: World, *arguments: str, stdin: str = "", largest: int = 0) -> CompletedProcess[str]:
    return run_without_rights(
        arguments,
        [world.home],
        cwd=world.project,
        environment=world.environment({}),
        stdin=stdin,
        largest=largest,
    )


def test_an_entry_that_a_session_was_given_before_is_taken_over_all_the_same(semantic_world: World) -> None:
    """A bank has it too, so it may be recalled while the takeover is not finished."""
    world = semantic_world
    usual(world)
    world.write_bank("patterns", f"### Pattern: Index by triggers\n{INDEX}\n")
    (world.store / "session-captures.jsonl").mkdir()  # so nothing can be taken over yet
    event = {"cwd": str(world.project), "session_id": "one", "source": "startup"}
    assert "Index by triggers" in world.run_hook("session-start", event).stdout
    assert "are not taken over yet" in (world.store / "recollect.log").read_text(encoding="utf-8")
    (world.store / "session-captures.jsonl").rmdir()
    rebuilt(world)
    assert len(carried(world)) == 2
    assert entries(world)["Index by triggers"]["observation_count"] == 3
    assert entries(world)["Index by triggers"]["recall_count"] >= 7


def test_one_that_cannot_be_written_is_left_and_the_session_is_served_from_markdown(open_world: World) -> None:
    world = open_world
    before = usual(world)
    world.write_bank("patterns", "### Pattern: Close what you open\nAlways.\n")
    (world.store / "memory.db").chmod(0o444)
    world.store.chmod(0o555)
    event = {"cwd": str(world.project), "session_id": "one", "source": "startup"}
    served = run_as_nobody(world, "hook", "session-start", stdin=json.dumps(event))
    assert served.returncode == 0, served.stderr
    assert "Close what you open" in served.stdout
    typed = run_as_nobody(world, "search", "index")
    assert typed.returncode == 1
    assert "was not made by recollect, and cannot be written" in typed.stderr
    assert (world.store / "memory.db").read_bytes() == before


def test_one_without_room_for_a_copy_is_not_changed(open_world: World) -> None:
    world = open_world
    rows = [row(f"Lesson {n}", f"What lesson number {n} has taught us. {'Words. ' * 60}") for n in range(300)]
    before = write_earlier(world.store / "memory.db", rows).read_bytes()
    done = run_as_nobody(world, "rebuild", largest=100_000)
    assert done.returncode == 1
    assert "taken over once a copy can be kept beside it" in done.stderr
    assert (world.store / "memory.db").read_bytes() == before
    assert [path.name for path in world.store.iterdir()] == ["memory.db"]
    assert rebuilt(world)["entries"] == 300


def test_a_damaged_one_is_set_aside_and_what_can_be_read_is_taken_over(semantic_world: World) -> None:
    world = semantic_world
    rows = [row(f"Lesson {n}", f"What lesson number {n} has taught us. {'Words. ' * 60}") for n in range(400)]
    path = write_earlier(world.store / "memory.db", rows, journal_mode="DELETE")
    data = bytearray(path.read_bytes())
    page = len(data) // 4096 // 2
    data[page * 4096 : (page + 1) * 4096] = b"\xff" * 4096
    path.write_bytes(data)
    made = rebuilt(world)
    assert made["set_aside"]
    assert 200 < made["entries"] < 400
    assert "damaged" in made["taken_over"]


def damaged(world: World, table: str) -> None:
    """Overwrite the first page of a table or an index of the store."""
    path = world.store / "memory.db"
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


@pytest.mark.parametrize("tables", [["entries_standing"], ["entries_standing", "_metadata"]])
def test_a_store_damaged_in_the_middle_of_a_takeover_loses_nothing(semantic_world: World, tables: list[str]) -> None:
    world = semantic_world
    rows = [row(f"Lesson {n}", f"What lesson number {n} has taught us.") for n in range(200)]
    write_earlier(world.store / "memory.db", rows)
    workspace = Workspace(str(world.project), str(world.store))
    with Engine(workspace) as engine, pytest.raises(StillReading):
        sync(engine.store, workspace, end=time.monotonic())
    assert len(carried(world)) == 50
    for table in tables:
        damaged(world, table)
    made = rebuilt(world)
    assert made["set_aside"]
    assert made["entries"] == len(carried(world)) == 200
    assert "200 entries with their counts" in made["taken_over"]


def test_a_store_damaged_after_a_takeover_still_says_what_was_taken_over(semantic_world: World) -> None:
    world = semantic_world
    usual(world)
    rebuilt(world)
    told = json.loads(world.run("status", "--json").stdout)["taken_over"]
    damaged(world, "entries_standing")
    made = rebuilt(world)
    assert (made["entries"], made["taken_over"]) == (2, "")
    assert json.loads(world.run("status", "--json").stdout)["taken_over"] == told


@pytest.mark.parametrize("table", ["notes (text TEXT)", "_migrations (id INTEGER, batch INTEGER)"])
def test_a_database_of_another_program_is_refused_with_advice_and_not_touched(
    semantic_world: World, table: str
) -> None:
    world = semantic_world
    world.store.mkdir(parents=True)
    path = world.store / "memory.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE {table}")
        connection.commit()
    before = path.read_bytes()
    for command in (["search", "notes"], ["rebuild"]):
        done = world.run(*command)
        assert done.returncode == 1
        assert "a database of another program; move it away, or set RECOLLECT_HOME" in done.stderr
    assert "another program" in world.run("doctor", "--only", "database").stdout
    event = {"cwd": str(world.project), "session_id": "one", "source": "startup"}
    assert world.run_hook("session-start", event).returncode == 0
    assert path.read_bytes() == before


def test_an_export_that_meets_it_first_has_its_entries(semantic_world: World) -> None:
    usual(semantic_world)
    done = semantic_world.run("export")
    assert done.returncode == 0, done.stderr
    assert {json.loads(line)["name"] for line in done.stdout.splitlines()} == {"Index by triggers", "Keep theirs"}


def test_a_backup_that_meets_it_first_has_its_entries(semantic_world: World, tmp_path: Path) -> None:
    world = semantic_world
    usual(world)
    archive = str(tmp_path / "all.tar.gz")
    assert world.run("backup", "create", archive).returncode == 0
    for path in world.store.iterdir():
        path.unlink()
    assert world.run("backup", "restore", archive).returncode == 0
    assert entries(world)["Index by triggers"]["observation_count"] == 3
    assert entries(world)["Index by triggers"]["recall_count"] == 7


def test_an_export_says_if_an_earlier_database_cannot_be_taken_over(open_world: World) -> None:
    world = open_world
    usual(world)
    world.write_bank("patterns", "### Pattern: Close what you open\nAlways.\n")
    (world.store / "memory.db").chmod(0o444)
    world.store.chmod(0o555)
    done = run_as_nobody(world, "export")
    assert done.returncode == 0, done.stderr
    assert "Close what you open" in done.stdout
    assert "entries of the memory system before recollect may be missing: " in done.stderr


def test_export_and_backup_have_what_was_taken_over(semantic_world: World, tmp_path: Path) -> None:
    world = semantic_world
    usual(world)
    rebuilt(world)
    exported = [json.loads(line) for line in world.run("export").stdout.splitlines()]
    assert {item["name"]: item["observation_count"] for item in exported} == {"Index by triggers": 3, "Keep theirs": 1}
    archive = str(tmp_path / "all.tar.gz")
    assert world.run("backup", "create", archive).returncode == 0
    for path in world.store.iterdir():
        if path.is_file():
            path.unlink()
    assert world.run("backup", "restore", archive).returncode == 0
    assert entries(world)["Index by triggers"]["observation_count"] == 3
    assert entries(world)["Index by triggers"]["recall_count"] == 7
