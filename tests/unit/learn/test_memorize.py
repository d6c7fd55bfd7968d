"""Storing in any category, end to end: real files, a real store, found again, twice, changed, refused."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import days_ago, link_worktree

from recollect.config import project
from recollect.config.locations import journal
from recollect.config.memory_root import memory_root
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.categories import KNOWLEDGE, PROJECT
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, StorageError, WriteRefused
from recollect.files.memory.index_md import read_index
from recollect.files.memory.schemas import problems_of
from recollect.learn.memorize import Memorized, has_project, memorize
from recollect.learn.supersede import Superseded, find_old, retire_old
from recollect.memories import write
from recollect.memories.forget import bring_back, forget
from recollect.recall.browse import Looked, full_entries, list_entries
from recollect.recall.search import search

NOTES: dict[str, dict[str, Any]] = {
    "anti-patterns": {"name": "Blind retries", "description": "Retrying a refused payment charges twice."},
    "heuristics": {"name": "Measure first", "description": "Measure before a cache is added."},
    "patterns": {"name": "Read first", "description": "Read a file before it is changed."},
    "decision": {"name": "Keep carts in SQLite", "description": "Carts are kept in SQLite, one file per shop."},
    "runbook": {"name": "Drain the queue", "description": "1. Stop the worker\n2. Drain the queue"},
    "constraint": {"name": "Payment rate", "description": "The payment API allows at most 100 calls a minute."},
    "tech_debt": {"name": "Totals twice", "description": "Totals are computed in two places."},
    "preference": {"name": "Imports", "description": "Imports are absolute."},
    "session_summary": {"name": "Cart totals", "description": "Added totals. Fixed the rounding."},
}


class Shop:
    """A project with a store, and what is memorized there."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder = folder / "home" / "shop-front"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.store = str(folder / "store")
        self.variables = variables
        self.engine = self.open()

    def open(self, root: str | None = None, **more: str) -> Engine:
        settings = {"RECOLLECT_" + key.upper(): value for key, value in {**self.variables, **more}.items()}
        where = str(self.folder) if root is None else root
        return Engine(Workspace(where, self.store, load_settings(where, settings)))

    def memorize(self, category: str, /, **fields: Any) -> Memorized:
        note = {"reasoning": "It went wrong twice.", "category": category, **NOTES[category], **fields}
        return memorize(self.engine, **note)

    def refused(self, category: str, /, **fields: Any) -> str:
        """What is said against a note, after which every file is as it was."""
        before = self.files()
        with pytest.raises((InvalidEntry, WriteRefused)) as caught:
            self.memorize(category, **fields)
        assert self.files() == before
        return str(caught.value)

    def record(self, done: Memorized) -> dict[str, Any]:
        return json.loads((self.folder / done.path).read_text(encoding="utf-8"))

    def files(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}

    def memories(self) -> list[str]:
        return sorted(path.stem for path in (self.folder / ".claude" / "memory").rglob("*.json"))

    def edit(self, done: Memorized, **fields: Any) -> None:
        (self.folder / done.path).write_text(json.dumps({**self.record(done), **fields}), encoding="utf-8")

    @property
    def identity(self) -> str:
        return project.identity(str(self.folder))


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    made = Shop(tmp_path, memory_embedding_enabled="false", memory_keyword_provider="rules")
    with made.engine:  # tests may put others in its place
        yield made


# ---- every category


@pytest.mark.parametrize("category", [*KNOWLEDGE, *PROJECT])
def test_memory_of_every_category_is_stored_found_listed_and_read(shop: Shop, category: str) -> None:
    done = shop.memorize(category)
    assert (done.outcome, done.name, done.category) == ("stored", NOTES[category]["name"], category)
    assert done.warnings == []
    query = NOTES[category]["description"]
    [hit] = search(shop.engine, query, project=shop.identity).hits
    assert (hit.entry.id, hit.path) == (done.id, done.path)
    page = list_entries(shop.engine, project=shop.identity)
    assert [(looked.entry.id, looked.path) for looked in page.entries] == [(done.id, done.path)]
    assert page.entries[0].entry.recall_count == 0
    [looked], unknown = full_entries(shop.engine, [done.id], project=shop.identity)
    assert unknown == []
    assert all(word in looked.text for word in query.replace("1. ", "").replace("2. ", "").split())
    assert "It went wrong twice." in looked.text


@pytest.mark.parametrize("category", PROJECT)
def test_project_memory_is_a_valid_file_in_the_index(shop: Shop, category: str) -> None:
    done = shop.memorize(category)
    record = shop.record(done)
    assert problems_of(record, category) == []
    assert (record["title"], record["record_status"], record["times_updated"]) == (done.name, "active", 0)
    assert record["tags"] != ["untagged"]
    root = memory_root(str(shop.folder), shop.engine.settings)
    assert [entry.path for entry in read_index(root) or []] == [done.path]


@pytest.mark.parametrize("category", KNOWLEDGE)
def test_knowledge_is_in_the_journal_with_where_it_comes_from_and_found_elsewhere_once_seen_again(
    shop: Shop, category: str
) -> None:
    done = shop.memorize(category, references=["src/cart.py"])
    [line] = [json.loads(text) for text in Path(journal(shop.store)).read_text(encoding="utf-8").splitlines()]
    assert (line["source"], line["source_project"], line["id"]) == ("session-capture", "shop-front", done.id)
    assert line["references"] == ["src/cart.py"]
    assert bool(line.get("keywords")) == (category != "patterns"), "its note has everyday words only"
    assert list_entries(shop.engine, project="/home/dev/desk").entries == []
    shop.memorize(category)
    assert [looked.entry.id for looked in list_entries(shop.engine, project="/home/dev/desk").entries] == [done.id]
    assert shop.memories() == []


def test_project_memory_is_not_listed_elsewhere(shop: Shop) -> None:
    done = shop.memorize("decision")
    assert list_entries(shop.engine, project="/home/dev/desk").total == 0
    assert full_entries(shop.engine, [done.id], project="/home/dev/desk") == ([], [done.id])
    assert full_entries(shop.engine, [done.id[:6]], project=None)[0][0].entry.id == done.id


def test_memory_is_embedded_at_once(shop: Shop) -> None:
    shop.variables["memory_embedding_enabled"] = "true"
    with shop.open() as shop.engine:
        done = shop.memorize("decision")
        assert shop.engine.store.coverage().pending == 0
        [hit] = search(shop.engine, "where are shopping baskets persisted?", project=shop.identity).hits
        assert hit.entry.id == done.id
        assert hit.vector is not None


def test_references_become_related_files_or_stay_in_the_text(shop: Shop) -> None:
    (shop.folder / "cart.py").touch()
    record = shop.record(shop.memorize("decision", references=["cart.py", "PR #12"]))
    assert record["related_files"] == ["cart.py"]
    assert record["content"]["rationale"][-1] == "References: PR #12"
    assert "references" not in record["tags"]


# ---- again


@pytest.mark.parametrize("category", [*KNOWLEDGE, *PROJECT])
def test_same_memory_twice_is_one_that_was_seen_twice(shop: Shop, category: str) -> None:
    first, again = shop.memorize(category), shop.memorize(category)
    assert (again.outcome, again.id, again.path) == ("reinforced", first.id, first.path)
    page = list_entries(shop.engine, project=shop.identity)
    assert [looked.entry.observation_count for looked in page.entries] == [2]


@pytest.mark.parametrize("category", PROJECT)
def test_reinforced_memory_keeps_its_text_and_notes_it_once_a_day(shop: Shop, category: str) -> None:
    before = shop.record(shop.memorize(category))
    for _ in range(3):
        after = shop.record(shop.memorize(category))
    [line] = after.pop("changes")
    assert line["summary"] == "Stored again, with nothing new"
    assert {**after, "updated_at": ""} == {**before, "updated_at": "", "times_updated": 1}


def test_history_of_a_memory_is_not_filled_with_repetitions(shop: Shop) -> None:
    done = shop.memorize("decision")
    changes = [{"date": "2026-01-01", "summary": f"Change {number}"} for number in range(30)]
    shop.edit(done, changes=changes)
    assert shop.memorize("decision").outcome == "reinforced"
    assert shop.record(done)["changes"] == changes


@pytest.mark.parametrize("category", PROJECT)
def test_changed_text_updates_the_memory_and_nothing_is_lost(shop: Shop, category: str) -> None:
    first = shop.memorize(category)
    done = shop.memorize(category, description="Everything is different now.", reasoning="Another reason.")
    assert (done.outcome, done.id, done.path) == ("updated", first.id, first.path)
    record = shop.record(done)
    assert problems_of(record, category) == []
    assert record["times_updated"] == 1
    assert "Everything is different now." in json.dumps(record["content"])
    whole = json.dumps(record)
    for word in f"{NOTES[category]['description']} It went wrong twice. Another reason.".split():
        assert word in whole or word in ("1.", "2.")
    [looked], _ = full_entries(shop.engine, [done.id], project=shop.identity)
    assert "Everything is different now." in looked.text


def test_title_with_the_same_words_means_the_same_memory(shop: Shop) -> None:
    first = shop.memorize("decision")
    done = shop.memorize("decision", name="Keep the carts in SQLite")
    assert (done.outcome, done.path, done.name) == ("updated", first.path, "Keep the carts in SQLite")
    assert shop.memorize("decision", name="keep the carts, in SQLite!").outcome == "reinforced"
    assert len(shop.memories()) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Python 3.11 or newer", "Python 3.12 or newer"),
        ("C style", "C++ style"),
        ("Move from Redis to SQLite", "Move from SQLite to Redis"),
        ("東京 API", "大阪 API"),
        ("x" * 90 + " one", "x" * 90 + " two"),
        ("日本", "中国"),
        ("Render product pages on the server", "Render product lists on the server"),
    ],
)
def test_other_title_is_another_memory(shop: Shop, one: str, other: str) -> None:
    first = shop.memorize("decision", name=one)
    second = shop.memorize("decision", name=other, description="Something else.")
    assert (first.outcome, second.outcome) == ("stored", "stored")
    assert first.path != second.path
    assert shop.memorize("decision", name=one).outcome == "reinforced"
    assert shop.memorize("decision", name=other, description="Something else.").outcome == "reinforced"


def test_similar_memory_is_named_and_left_alone(shop: Shop) -> None:
    first = shop.memorize("decision")
    before = shop.record(first)
    done = shop.memorize("decision", name="Keep carts in Redis", description="Carts are kept in Redis.")
    assert done.outcome == "stored"
    [like] = done.similar
    assert (like.id, like.category, like.name, like.path) == (first.id, "decision", first.name, first.path)
    assert like.text.startswith("Carts are kept in SQLite")
    assert shop.record(first) == before
    again = shop.memorize("decision", name="Keep carts in Redis", description="Carts are kept in Redis.")
    assert (again.outcome, again.similar) == ("reinforced", [])


def test_similar_lesson_is_named_too_and_at_most_three_are(shop: Shop) -> None:
    known = [shop.memorize("patterns", name=f"Read first {n}", description=f"Read file {n} first.") for n in range(4)]
    done = shop.memorize("heuristics", name="Read first", description="Read what is there before you change it.")
    assert len(done.similar) == 3
    assert {like.id for like in done.similar} < {each.id for each in known}
    assert {like.path for like in done.similar} == {""}


def test_common_verbs_make_titles_neither_the_same_nor_similar(shop: Shop) -> None:
    first = shop.memorize("decision", name="Use PostgreSQL", description="PostgreSQL holds the orders.")
    done = shop.memorize("decision", name="We use Kafka", description="Kafka carries the events.")
    assert (done.outcome, done.similar) == ("stored", [])
    assert done.path != first.path
    assert shop.memorize("decision", name="Get users", description="Users come from LDAP.").outcome == "stored"
    other = shop.memorize("decision", name="Make users", description="A form makes the users.")
    assert other.outcome == "stored", "verbs tell two memories apart, although they do not make them alike"


def test_summary_has_no_similar_ones(shop: Shop) -> None:
    shop.memorize("session_summary")
    assert shop.memorize("session_summary", name="Cart totals again").similar == []


def test_similar_memory_with_a_credential_is_not_shown(shop: Shop) -> None:
    shop.memorize("patterns", name="Read first now", description="Read a file first.")
    assert len(shop.memorize("heuristics", name="Read first here", description="Read before.").similar) == 1
    database = sqlite3.connect(os.path.join(shop.store, "memory.db"))
    with closing(database), database:
        database.execute("UPDATE entries SET reasoning = ?", ("ghp_" + "a1B2" * 9,))
    assert shop.memorize("patterns").similar == []


def test_memory_of_the_same_meaning_in_other_words_is_named(shop: Shop) -> None:
    shop.variables["memory_embedding_enabled"] = "true"
    with shop.open() as shop.engine:
        first = shop.memorize(
            "decision",
            name="Queue e-mails in Redis with BullMQ",
            description="E-mails are queued in Redis and sent by a BullMQ worker.",
        )
        done = shop.memorize(
            "decision",
            name="Mail worker",
            description="E-mails are put in a queue in Redis, and a BullMQ worker sends them.",
        )
        assert (done.outcome, done.warnings) == ("stored", [])
        assert [like.path for like in done.similar] == [first.path]
        other = shop.memorize("decision", name="Python version", description="Python 3.11 is the oldest that runs.")
        assert (other.outcome, other.similar, other.warnings) == ("stored", [], [])


def test_memory_with_another_meaning_in_a_like_category_is_no_twin(shop: Shop) -> None:
    shop.memorize("decision")
    assert shop.memorize("constraint", name="Keep carts in SQLite").outcome == "stored"


def test_new_file_reference_alone_updates(shop: Shop) -> None:
    (shop.folder / "cart.py").touch()
    shop.memorize("decision")
    done = shop.memorize("decision", references=["cart.py"])
    assert (done.outcome, shop.record(done)["related_files"]) == ("updated", ["cart.py"])


@pytest.mark.parametrize("category", ["patterns", "decision"])
def test_triggers_are_stored_and_more_are_put_before_them_up_to_six(shop: Shop, category: str) -> None:
    def triggers() -> list[str]:
        [looked], _ = full_entries(shop.engine, [done.id], project=shop.identity)
        return looked.entry.triggers

    done = shop.memorize(category, triggers=["adding a column", " a  new\ntable "])
    assert (done.outcome, triggers()) == ("stored", ["adding a column", "a new table"])
    [hit] = search(shop.engine, "column", project=shop.identity).hits
    assert hit.entry.id == done.id
    again = shop.memorize(category, triggers=["a new table"])
    assert (again.outcome, triggers()) == ("reinforced", again_triggers(category))
    shop.memorize(category, triggers=["c", "d", "e", "f"])
    assert triggers()[:4] == ["c", "d", "e", "f"]
    assert sorted(triggers()[4:]) == ["a new table", "adding a column"]
    shop.memorize(category, triggers=["g"])
    assert (triggers()[:5], len(triggers())) == (["g", "c", "d", "e", "f"], 6)
    assert shop.memorize(category).outcome == "reinforced"
    assert len(triggers()) == 6


def again_triggers(category: str) -> list[str]:
    """Triggers told again come first in a lesson; a memory file is left as it is."""
    return ["a new table", "adding a column"] if category == "patterns" else ["adding a column", "a new table"]


def test_new_triggers_alone_update_a_memory_and_its_history_names_them(shop: Shop) -> None:
    assert "triggers" not in shop.record(shop.memorize("decision"))
    done = shop.memorize("decision", triggers=["adding a column"])
    record = shop.record(done)
    assert (done.outcome, record["triggers"]) == ("updated", ["adding a column"])
    assert record["changes"][-1]["summary"] == "Told anew: triggers"
    assert problems_of(record, "decision") == []
    again = shop.memorize("decision", triggers=["adding a column"])
    assert (again.outcome, shop.record(again)["triggers"]) == ("reinforced", ["adding a column"])


@pytest.mark.parametrize("category", ["patterns", "decision"])
@pytest.mark.parametrize(
    ("triggers", "reason"),
    [
        ([f"case {number}" for number in range(7)], "at most 6 are allowed"),
        (["x" * 121], "at most 120 characters"),
        ([7], "triggers must be a list of texts"),
        (["push with ghp_" + "a1B2" * 9], "triggers seems to hold a GitHub token"),
    ],
)
def test_triggers_that_cannot_be_kept_write_nothing(
    shop: Shop, category: str, triggers: list[Any], reason: str
) -> None:
    said = shop.refused(category, triggers=triggers)
    assert reason in said
    assert "ghp_" not in said
    assert not Path(journal(shop.store)).exists()


def test_session_of_another_day_is_another_summary(shop: Shop) -> None:
    first = shop.memorize("session_summary")
    shop.edit(first, created_at=days_ago(3))
    assert shop.memorize("session_summary").outcome == "reinforced"
    second = shop.memorize("session_summary", description="Deployed it.")
    assert (second.outcome, second.path == first.path) == ("stored", False)
    third = shop.memorize("session_summary", description="Watched the logs.")
    assert (third.outcome, third.path) == ("updated", second.path)
    assert shop.record(third)["content"]["completed"] == ["Deployed it.", "Watched the logs."]


def test_knowledge_with_another_name_or_reason_says_what_stays(shop: Shop) -> None:
    shop.memorize("patterns")
    done = shop.memorize("patterns", name="Look first", reasoning="Another.")
    assert (done.outcome, done.name) == ("reinforced", "Read first")
    assert done.warnings == [
        "it is stored as 'Read first' already, and keeps that name",
        "the earlier reasoning is kept; the new one is in the journal only",
    ]


def test_memory_that_was_retired_lately_is_not_stored_again(shop: Shop) -> None:
    done = shop.memorize("decision")
    root = memory_root(str(shop.folder), shop.engine.settings)
    write.retire(root, str(shop.folder / done.path), "decision", "wrong")
    message = shop.refused("decision")
    assert message.startswith("ANTI_RESURRECTION_ERROR")
    assert "`recollect restore keep-carts-in-sqlite`" in message


def test_memory_that_was_retired_long_ago_is_made_again_with_its_history(shop: Shop) -> None:
    done = shop.memorize("decision")
    shop.edit(done, record_status="retired", retired_at=days_ago(3), retired_reason="wrong")
    again = shop.memorize("decision")
    assert (again.outcome, again.path) == ("stored", done.path)
    assert shop.record(again)["changes"][-1]["summary"] == "Created again after it was retired"


def test_archived_memory_stands_in_the_way_and_says_how_it_comes_back(shop: Shop) -> None:
    done = shop.memorize("decision")
    root = memory_root(str(shop.folder), shop.engine.settings)
    write.archive(root, str(shop.folder / done.path), "decision", "old")
    assert "`recollect restore keep-carts-in-sqlite`" in shop.refused("decision")


# ---- refused


@pytest.mark.parametrize("category", ["patterns", "decision"])
@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"description": " \n "},
        {"reasoning": "\0"},
        {"description": "x" * 10_000_000},
        {"description": "The token is ghp_" + "a1B2" * 9},
        {"references": ["-----BEGIN RSA PRIVATE KEY-----"]},
        {"references": ["x"] * 1_000},
    ],
)
def test_bad_field_is_named_and_nothing_is_written(shop: Shop, category: str, fields: dict[str, Any]) -> None:
    message = shop.refused(category, **fields)
    assert next(iter(fields)) in message
    assert not os.path.exists(journal(shop.store))


def test_unknown_category_writes_nothing(shop: Shop) -> None:
    with pytest.raises(InvalidEntry, match="category must not be 'idea' but one of"):
        memorize(shop.engine, name="n", description="d", reasoning="r", category="idea")
    assert shop.files() == {}


@pytest.mark.parametrize("name", ["../../../etc/passwd", "/etc/passwd", "a\0b/..\\c", "..", "-> #tags: x", "CON.json"])
@pytest.mark.parametrize("category", ["decision", "session_summary"])
def test_name_with_a_path_in_it_stays_in_its_folder(shop: Shop, category: str, name: str) -> None:
    try:
        done = shop.memorize(category, name=name)
    except InvalidEntry:
        assert name == ".."
        return
    [file] = [Path(path) for path in shop.files() if path.endswith(".json")]
    assert file.parent == shop.folder / os.path.dirname(done.path)
    assert file.parent.parent == shop.folder / ".claude" / "memory"
    assert shop.memorize(category, name=name).outcome == "reinforced"


def test_what_an_older_version_made_up_gives_way_to_what_is_said(shop: Shop) -> None:
    done = shop.memorize("runbook")
    content = shop.record(done)["content"]
    assert not {"trigger", "verification"} & set(content)
    made_up = "No check was noted; make sure that what called for it is gone."
    shop.edit(done, content={**content, "trigger": "Drain the queue", "verification": made_up})
    runbook = shop.memorize("runbook", description="When: mail is late\nSteps:\n1. Stop the worker\n2. Drain the queue")
    assert shop.record(runbook)["content"]["trigger"] == "mail is late"
    checked = shop.memorize("runbook", reasoning="It went wrong twice. Verification: the queue is empty")
    assert shop.record(checked)["content"]["verification"] == "the queue is empty"


@pytest.mark.parametrize("name", ["CON", "nul", "Com1"])
def test_no_file_is_called_what_no_file_can_be_called_on_windows(shop: Shop, name: str) -> None:
    assert os.path.basename(shop.memorize("decision", name=name).path).startswith("decision-")
    assert shop.memorize("decision", name=name.lower()).outcome == "reinforced"


def test_memory_holds_nothing_unseen(shop: Shop) -> None:
    done = shop.memorize("decision", name="Keep\x1b[31m carts", description="Carts\u202e are\x00 kept.\x9b")
    assert done.name == "Keep[31m carts"
    assert shop.record(done)["content"]["decision"] == "Carts are kept."


@pytest.mark.parametrize("category", PROJECT)
def test_without_a_project_only_knowledge_is_stored(shop: Shop, tmp_path: Path, category: str) -> None:
    for root in ("/", str(tmp_path / "home"), str(tmp_path), "", str(tmp_path / "missing")):
        with shop.open(root) as engine, pytest.raises(InvalidEntry, match="mcp --project-root") as caught:
            memorize(engine, reasoning="r", category=category, **NOTES[category])
        assert "anti-patterns, heuristics, patterns can be stored anywhere" in str(caught.value)
    assert shop.memories() == []
    with shop.open(str(tmp_path / "home")) as engine:
        done = memorize(engine, reasoning="r", category="patterns", **NOTES["patterns"])
        assert done.outcome == "stored"
        assert engine.store.entries([done.id])[0].source_project == ""


def test_repository_around_the_home_folder_is_a_project_and_home_is_none(tmp_path: Path, shop: Shop) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "home" / ".git").mkdir()
    assert has_project(str(tmp_path))
    assert has_project(str(shop.folder))
    assert not has_project(str(tmp_path / "home"))


def test_setting_switches_storing_off_for_all(shop: Shop) -> None:
    shop.engine = shop.open(memory_session_capture="false")
    for category in ("patterns", "decision"):
        assert "memory_session_capture is false" in shop.refused(category)
    shop.engine.store.close()


def test_category_that_is_switched_off_is_not_stored(shop: Shop) -> None:
    with shop.open(categories_runbook_enabled="false") as shop.engine:
        assert "categories.runbook.enabled" in shop.refused("runbook")
        assert shop.memorize("decision").outcome == "stored"


def test_full_category_takes_updates_and_nothing_new(shop: Shop) -> None:
    with shop.open(max_memories_per_category="1") as shop.engine:
        shop.memorize("decision")
        assert shop.refused("decision", name="Another", description="Something else.").startswith("LIMIT_ERROR")
        assert shop.memorize("decision", description="It has changed.").outcome == "updated"


def test_broken_file_in_its_place_is_told(shop: Shop) -> None:
    done = shop.memorize("decision")
    (shop.folder / done.path).write_text("{", encoding="utf-8")
    with pytest.raises(StorageError, match="not valid JSON"):
        shop.memorize("decision")


def test_link_out_of_the_project_is_not_followed(shop: Shop, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (shop.folder / ".claude" / "memory").mkdir(parents=True)
    (shop.folder / ".claude" / "memory" / "decisions").symlink_to(outside)
    assert "PATH_ERROR" in shop.refused("decision")
    assert list(outside.iterdir()) == []


def test_index_that_names_a_place_outside_is_not_followed(shop: Shop, tmp_path: Path) -> None:
    done = shop.memorize("decision")
    outside = tmp_path / "outside.json"
    outside.write_bytes((shop.folder / done.path).read_bytes())
    index = shop.folder / ".claude" / "memory" / "index.md"
    text = index.read_text(encoding="utf-8")
    index.write_text(text.replace(done.path, "../../outside.json"), encoding="utf-8")
    before = outside.read_bytes()
    shop.memorize("decision", name="Keep those carts in SQLite", description="It has changed.")
    assert outside.read_bytes() == before


def test_change_is_committed_if_the_setting_says_so(shop: Shop) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(shop.folder.parent)}
    for command in (["init", "-q"], ["config", "user.email", "dev@example.org"], ["config", "user.name", "dev"]):
        subprocess.run(["git", *command], cwd=shop.folder, env=environment, check=True)
    with shop.open(auto_commit="true") as shop.engine:
        done = shop.memorize("decision")
    log = subprocess.run(
        ["git", "log", "--name-only", "--format=%s"],
        cwd=shop.folder,
        env=environment,
        check=True,
        capture_output=True,
        encoding="utf-8",
    ).stdout
    assert log.startswith("memory: created")
    assert done.path in log


def test_store_that_is_switched_off_leaves_a_file(shop: Shop) -> None:
    with shop.open(memory_semantic_enabled="false") as shop.engine:
        done = shop.memorize("decision")
        assert done.outcome == "stored"
        assert shop.record(done)["title"] == done.name
        assert shop.engine.store.entries([done.id]) == []


def test_worktree_stores_in_the_main_checkout(shop: Shop, tmp_path: Path) -> None:
    tree = link_worktree(shop.folder, tmp_path / "home" / "tree")
    with shop.open(str(tree)) as engine:
        done = memorize(engine, reasoning="r", category="decision", **NOTES["decision"])
    assert shop.record(done)["title"] == done.name
    [looked], _ = full_entries(shop.engine, [done.id], project=shop.identity)
    assert looked.path == done.path


# ---- superseding

NEW = {"name": "Carts in PostgreSQL", "description": "Carts are kept in PostgreSQL, shared by all shops."}


def read(shop: Shop, id: str) -> Looked:
    [looked], _ = full_entries(shop.engine, [id], project=shop.identity)
    return looked


@pytest.mark.parametrize("named", ["id", "beginning", "slug", "category/slug", "path"])
def test_superseded_memory_is_retired_with_a_pointer_and_only_the_new_one_is_found(shop: Shop, named: str) -> None:
    old = shop.memorize("decision")
    slug = os.path.basename(old.path).removesuffix(".json")
    names = {"id": old.id, "beginning": old.id[:8], "slug": slug, "category/slug": f"decision/{slug}", "path": old.path}
    done = shop.memorize("decision", **NEW, supersedes=names[named])
    assert (done.outcome, done.warnings) == ("stored", [])
    assert done.superseded == Superseded(old.id, "decision", old.name, f"recollect restore {slug}")
    assert shop.record(done)["supersedes"] == [f"decision/{slug}"]
    gone = shop.record(old)
    assert (gone["record_status"], gone["superseded_by"]) == ("retired", "decision/carts-in-postgresql")
    assert gone["retired_reason"] == "superseded by decision/carts-in-postgresql: Carts in PostgreSQL"
    assert gone["content"]["status"] == "accepted"
    assert [problems_of(shop.record(each), "decision") for each in (old, done)] == [[], []]
    assert [hit.entry.id for hit in search(shop.engine, "carts kept", project=shop.identity).hits] == [done.id]
    assert read(shop, old.id).reason == f"superseded by {done.id} Carts in PostgreSQL"
    assert read(shop, done.id).text.endswith(f"Supersedes: {old.id} Keep carts in SQLite")


def test_superseded_lesson_is_retired_with_a_pointer_and_only_the_new_one_is_found(shop: Shop) -> None:
    old = shop.memorize("patterns")
    done = shop.memorize("heuristics", name="Look", description="Read a whole file first.", supersedes=old.id)
    assert done.superseded == Superseded(old.id, "patterns", old.name, f"recollect restore {old.id}")
    assert [hit.entry.id for hit in search(shop.engine, "read file", project=shop.identity).hits] == [done.id]
    assert read(shop, old.id).entry.status == "retired"
    assert read(shop, old.id).reason == f"superseded by {done.id}: Look"
    assert read(shop, done.id).text.endswith(f"- Supersedes: {old.id} Read first")
    assert search(shop.engine, "supersedes", project=shop.identity).hits == []


def test_lesson_supersedes_a_memory(shop: Shop) -> None:
    old = shop.memorize("decision")
    done = shop.memorize("patterns", supersedes=old.id)
    assert done.superseded
    assert f"{old.id} {old.name}" in read(shop, done.id).text
    assert f"superseded by {done.id}" in read(shop, old.id).reason


def test_memory_of_a_project_does_not_supersede_a_lesson_of_all(shop: Shop) -> None:
    old = shop.memorize("patterns")
    with pytest.raises(InvalidEntry, match="a decision of this project cannot replace it"):
        shop.memorize("decision", supersedes=old.id)
    assert read(shop, old.id).reason == ""
    assert not list(Path(shop.engine.workspace.project_root).rglob("decisions/*.json"))


@pytest.mark.parametrize("category", ["patterns", "decision"])
def test_superseding_can_be_said_afterwards_and_again(shop: Shop, category: str) -> None:
    """A call that was killed after the new one was stored is finished by the same call."""
    new = {**NEW, "name": "Elsewhere"}
    old = shop.memorize(category)
    assert shop.memorize(category, **new).outcome == "stored"
    done = shop.memorize(category, **new, supersedes=old.id)
    assert done.outcome == ("reinforced" if category == "patterns" else "updated")
    assert done.changed == ([] if category == "patterns" else ["supersedes"])
    assert done.superseded
    assert old.id in read(shop, done.id).text
    again = shop.memorize(category, **new, supersedes=old.id)
    assert (again.outcome, again.superseded) == ("reinforced", None)
    assert again.warnings == [f"{old.name!r} ({old.id}) was retired already"]


@pytest.mark.parametrize("category", ["patterns", "decision"])
@pytest.mark.parametrize(
    ("supersedes", "reason"),
    [
        ("0000000000000000", "no entry has the id '0000000000000000'"),
        ("no-such-memory", "no memory is called 'no-such-memory'"),
        ("keep-carts", "only a part of a name: 'keep-carts'; give the whole id of 'Keep carts in SQLite', which is"),
        ("../../../etc/passwd", "no memory is called"),
        ("x" * 5_000, "no memory is called"),
    ],
)
def test_unknown_memory_to_supersede_stores_nothing(shop: Shop, category: str, supersedes: str, reason: str) -> None:
    shop.memorize("decision")
    lines = Path(journal(shop.store)).read_bytes() if Path(journal(shop.store)).exists() else b""
    message = shop.refused(category, **{**NEW, "name": "Elsewhere"}, supersedes=supersedes)
    assert message.startswith("nothing was stored, because supersedes ")
    assert reason in message
    assert len(message) < 500
    assert (Path(journal(shop.store)).read_bytes() if Path(journal(shop.store)).exists() else b"") == lines


def test_beginning_of_an_id_that_is_too_short_stores_nothing(shop: Shop) -> None:
    old = shop.memorize("patterns")
    assert f"which is {old.id}" in shop.refused("decision", supersedes=old.id[:7])


def test_memory_of_another_project_is_not_superseded(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "home" / "desk").mkdir()
    with shop.open(str(tmp_path / "home" / "desk")) as engine:
        theirs = memorize(engine, reasoning="r", category="decision", **NOTES["decision"])
    assert "is an entry of another project" in shop.refused("decision", supersedes=theirs.id)


@pytest.mark.parametrize("category", ["patterns", "decision"])
def test_memory_that_supersedes_itself_is_only_stored(shop: Shop, category: str) -> None:
    old = shop.memorize(category)
    done = shop.memorize(category, supersedes=old.id)
    assert (done.outcome, done.superseded) == ("reinforced", None)
    assert done.warnings == ["supersedes names this memory itself, so nothing was retired"]
    assert read(shop, old.id).entry.status == "active"
    if category == "decision":
        changed = shop.memorize(category, description="Carts are kept in PostgreSQL.", supersedes=old.id)
        assert (changed.outcome, changed.superseded) == ("updated", None)
        assert "supersedes" not in shop.record(changed)


def test_retired_memory_that_is_superseded_stays_as_it_is(shop: Shop) -> None:
    old = shop.memorize("decision")
    forget(shop.engine, old.id, "wrong")
    done = shop.memorize("decision", **NEW, supersedes=old.id)
    assert (done.outcome, done.superseded) == ("stored", None)
    assert done.warnings == [f"'Keep carts in SQLite' ({old.id}) was retired already"]
    assert shop.record(old)["retired_reason"] == "wrong"


@pytest.mark.parametrize("category", ["patterns", "decision"])
def test_superseded_memory_is_restored_without_its_pointer(shop: Shop, category: str) -> None:
    old = shop.memorize(category)
    shop.memorize(category, **NEW, supersedes=old.id)
    assert bring_back(shop.engine, old.id).outcome == "restored"
    looked = read(shop, old.id)
    assert (looked.entry.status, looked.reason) == ("active", "")
    if category == "decision":
        assert "superseded_by" not in shop.record(old)
        assert problems_of(shop.record(old), category) == []


def test_full_category_takes_a_memory_in_place_of_another(shop: Shop) -> None:
    with shop.open(max_memories_per_category="1") as shop.engine:
        old = shop.memorize("decision")
        assert shop.memorize("decision", **NEW, supersedes=old.id).superseded


def test_old_memory_that_cannot_be_retired_is_told(shop: Shop) -> None:
    old = shop.memorize("decision")
    found = find_old(shop.engine, old.id)
    root = memory_root(str(shop.folder), shop.engine.settings)
    write.archive(root, str(shop.folder / old.path), "decision", "meanwhile")
    with pytest.raises(StorageError, match="unarchived before it is retired") as caught:
        retire_old(shop.engine, found, "0" * 16, "New", "decision/new")
    assert str(caught.value).startswith(f"it is stored as {'0' * 16}, but 'Keep carts in SQLite' ({old.id}) could not")
    assert "store the same again to finish" in str(caught.value)


def test_update_names_the_fields_that_it_changed(shop: Shop) -> None:
    (shop.folder / "cart.py").touch()
    shop.memorize("decision")
    done = shop.memorize(
        "decision",
        name="Keep the carts in SQLite",
        description="Carts are kept in SQLite, one file per shop.\nContext: two shops",
        references=["cart.py"],
        triggers=["adding a shop"],
    )
    assert (done.outcome, done.changed) == ("updated", ["title", "context", "related_files", "triggers"])


def test_memory_without_what_nobody_said_can_be_edited_and_an_authored_one_keeps_what_it_has(shop: Shop) -> None:
    done = shop.memorize("decision")
    root = memory_root(str(shop.folder), shop.engine.settings)
    path, record = str(shop.folder / done.path), shop.record(done)
    assert "context" not in record["content"]
    line = {"date": "2026-01-02", "summary": "Looked at again"}
    record = {**record, "changes": [line]}
    write.update(root, shop.engine.settings, path, "decision", record)
    record = {**record, "content": {**record["content"], "context": "Two shops."}, "changes": [line, line]}
    write.update(root, shop.engine.settings, path, "decision", record)
    changes = [*shop.record(done)["changes"], line]
    without = {key: value for key, value in record["content"].items() if key != "context"}
    with pytest.raises(WriteRefused, match=r"add content\.context"):
        write.update(root, shop.engine.settings, path, "decision", {**record, "content": without, "changes": changes})
    with pytest.raises(WriteRefused, match=r"add content\.context"):
        write.create(root, shop.engine.settings, root.file("decision", "b"), "decision", {**record, "content": without})
