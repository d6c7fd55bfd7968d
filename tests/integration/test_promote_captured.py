"""Lessons that sessions have stored, when promotion judges them: where they go, and what is counted."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RECOLLECT, World, link_worktree

from recollect.config.locations import journal
from recollect.domain.hashing import content_hash
from recollect.domain.stored import StoredEntry
from recollect.engine.engine import Engine
from recollect.files.journal.kinds import CAPTURE
from recollect.files.journal.log import append_lines, read_lines
from recollect.learn.memorize import memorize
from recollect.memories.forget import forget
from recollect.sync.journal import captured
from recollect.sync.sync import sync

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false", "RECOLLECT_MEMORY_KEYWORD_PROVIDER": "rules"}
UNIVERSAL = {
    "name": "Read Before Write",
    "description": "Read a file as it is now before you write it, or you lose what others changed.",
    "reasoning": "A morning's work was lost.",
    "category": "patterns",
}
SPECIFIC = {
    "name": "Lock the Cart",
    "description": "checkout.py must take the cart's lock before it reads the total.",
    "reasoning": "An order was charged twice.",
    "category": "anti-patterns",
}
READ, LOCK = content_hash(UNIVERSAL["description"]), content_hash(SPECIFIC["description"])


@pytest.fixture
def shop(semantic_world: World) -> World:
    (semantic_world.project / "checkout.py").write_text("def total() -> int: ...\n", encoding="utf-8")
    return semantic_world


def engine(world: World, root: Path | None = None, **variables: str) -> Engine:
    return Engine(world.workspace(root, {**BY_WORDS, **variables}))


def store(world: World, *notes: dict[str, str], root: Path | None = None, **variables: str) -> None:
    """Store as the MCP server does in the middle of a session."""
    with engine(world, root, **variables) as opened:
        for note in notes:
            memorize(opened, **note, references=["src/shop.py"])


def promoted(world: World, *arguments: str, **variables: str) -> dict[str, dict[str, Any]]:
    done = world.run("promote", "--json", *arguments, **BY_WORDS, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return {entry["name"]: entry for entry in json.loads(done.stdout)["entries"]}


def known(world: World, id: str, root: Path | None = None) -> StoredEntry:
    """An entry as the store has it once it has followed the files."""
    with engine(world, root) as opened:
        assert sync(opened.store, opened.workspace, opened.labels()) == []
        [entry] = opened.store.entries([id])
    return entry


def standing(world: World, id: str) -> tuple[str, int, str]:
    entry = known(world, id)
    return entry.status, entry.observation_count, entry.project


def local(world: World, category: str) -> str:
    return (world.project / "docs" / "knowledge-bank" / f"{category}.md").read_text(encoding="utf-8")


def elsewhere(world: World, name: str = "desk") -> Path:
    folder = world.home / name
    folder.mkdir()
    return folder


def snapshot(world: World) -> dict[str, bytes]:
    files = [*world.project.rglob("*.md"), world.store / ".promoted.json", Path(journal(str(world.store)))]
    return {str(path): path.read_bytes() for path in (*files, *world.store.glob("*.md")) if path.exists()}


def test_universal_lesson_of_a_session_goes_to_the_global_bank_and_counts_as_before(shop: World) -> None:
    store(shop, UNIVERSAL)
    assert standing(shop, READ) == ("active", 1, str(shop.project))
    entry = promoted(shop)["Read Before Write"]
    assert (entry["action"], entry["universal"], entry["captured"], entry["id"]) == ("added", True, True, READ)
    text = (shop.store / "patterns.md").read_text(encoding="utf-8")
    assert f"### Pattern: Read Before Write\n{UNIVERSAL['description']}\n- Content-Hash: sha256:{READ}\n" in text
    assert "- Source: shop-front\n- Observation count: 1\n" in text
    assert "- References: src/shop.py\n- Reasoning: A morning's work was lost.\n" in text
    assert standing(shop, READ) == ("active", 1, "")


def test_project_specific_lesson_of_a_session_goes_to_the_project_and_is_shown_nowhere_else(shop: World) -> None:
    store(shop, SPECIFIC)
    desk = elsewhere(shop)
    found = ("search", "--json", "cart lock total")
    assert len(json.loads(shop.run(*found, **BY_WORDS).stdout)["hits"]) == 1
    entry = promoted(shop)["Lock the Cart"]
    assert (entry["action"], entry["universal"], entry["captured"]) == ("saved to the project's bank", False, True)
    assert "checkout.py" in entry["reason"]
    assert f"### Anti-Pattern: Lock the Cart\n{SPECIFIC['description']}\n- Observed in: shop-front\n" in local(
        shop, "anti-patterns"
    )
    assert standing(shop, LOCK) == ("active", 1, str(shop.project))
    assert json.loads(shop.run(*found, cwd=desk, **BY_WORDS).stdout)["hits"] == []
    [hit] = json.loads(shop.run(*found, **BY_WORDS).stdout)["hits"]
    assert (hit["name"], hit["observation_count"]) == ("Lock the Cart", 1)


@pytest.mark.parametrize("note", [UNIVERSAL, SPECIFIC], ids=["universal", "project-specific"])
def test_lesson_that_sessions_stored_three_times_was_seen_three_times_before_and_after(
    shop: World, note: dict[str, str]
) -> None:
    id = content_hash(note["description"])
    store(shop, note, note, note)
    assert standing(shop, id)[:2] == ("active", 3)
    promoted(shop)
    bank = shop.store / "patterns.md" if note is UNIVERSAL else shop.project / "docs/knowledge-bank/anti-patterns.md"
    assert "- Observation count: 3\n" in bank.read_text(encoding="utf-8")
    assert standing(shop, id)[:2] == ("active", 3)
    store(shop, note)
    assert standing(shop, id)[:2] == ("active", 4)


@pytest.mark.parametrize("note", [UNIVERSAL, SPECIFIC], ids=["universal", "project-specific"])
def test_triggers_of_all_sessions_go_to_the_bank_newest_first(shop: World, note: dict[str, str]) -> None:
    id = content_hash(note["description"])
    with engine(shop) as opened:
        for triggers in (["first", "second"], [], ["third", "first"]):
            memorize(opened, **note, triggers=triggers)
    before = known(shop, id).triggers
    promoted(shop)
    bank = shop.store / "patterns.md" if note is UNIVERSAL else shop.project / "docs/knowledge-bank/anti-patterns.md"
    assert "- When: third; first; second\n" in bank.read_text(encoding="utf-8")
    assert known(shop, id).triggers == before == ["third", "first", "second"]


@pytest.mark.parametrize("judgement", ["universal", "project-specific"])
def test_lesson_that_replaces_another_still_says_so_in_its_bank(shop: World, judgement: str) -> None:
    store(shop, UNIVERSAL)
    better = {**UNIVERSAL, "name": "Read It Whole", "description": "Read a file whole before you write it."}
    with engine(shop) as opened:
        memorize(opened, **better, supersedes=READ)
    promoted(shop, "--as", judgement, "Read It Whole")
    bank = shop.store / "patterns.md" if judgement == "universal" else shop.project / "docs/knowledge-bank/patterns.md"
    assert f"\n- Supersedes: {READ} Read Before Write\n" in bank.read_text(encoding="utf-8")
    assert f"Supersedes: {READ}" in known(shop, content_hash(better["description"])).details


def test_second_promotion_judges_nothing_again_and_writes_nothing(shop: World) -> None:
    store(shop, UNIVERSAL, SPECIFIC)
    assert len(promoted(shop)) == 2
    before = snapshot(shop)
    assert promoted(shop) == {}
    assert snapshot(shop) == before


def test_rebuild_after_a_promotion_gives_the_same(shop: World) -> None:
    store(shop, UNIVERSAL, UNIVERSAL, SPECIFIC)
    promoted(shop)
    before = [standing(shop, id) for id in (READ, LOCK)]
    assert shop.run("rebuild", **BY_WORDS).returncode == 0
    assert [standing(shop, id) for id in (READ, LOCK)] == before
    (shop.store / "memory.db").unlink()
    assert [standing(shop, id) for id in (READ, LOCK)] == before
    assert before == [("active", 2, ""), ("active", 1, str(shop.project))]


def test_retired_lesson_is_left_out_until_somebody_names_it(shop: World) -> None:
    store(shop, UNIVERSAL, SPECIFIC)
    with engine(shop) as opened:
        forget(opened, READ, "It is obvious.")
    assert set(promoted(shop)) == {"Lock the Cart"}
    assert not (shop.store / "patterns.md").exists()
    assert known(shop, READ).status == "retired"
    assert promoted(shop, "Read Before Write")["Read Before Write"]["action"] == "added"
    assert standing(shop, READ) == ("active", 1, "")


def test_dry_run_shows_captured_lessons_and_writes_nothing(shop: World) -> None:
    store(shop, UNIVERSAL, SPECIFIC, SPECIFIC)
    before = snapshot(shop)
    done = shop.run("promote", "--dry-run", **BY_WORDS)
    assert done.stdout.split("\n")[:6] == [
        "+ universal Pattern: Read Before Write",
        "  Universal because: it names no file, identifier, service or name of this project",
        f"  captured in a session: {READ}",
        "· project-specific Anti-Pattern: Lock the Cart",
        "  Project-specific because: it names checkout.py, which is part of this project",
        f"  captured in a session, 2 times: {LOCK}",
    ]
    assert snapshot(shop) == before
    assert len(promoted(shop)) == 2


def test_judgement_of_the_caller_and_a_name_or_an_id_work_as_for_entries_of_a_bank(shop: World) -> None:
    store(shop, UNIVERSAL, SPECIFIC)
    assert list(promoted(shop, "--as", "project-specific", "pattern: read before write")) == ["Read Before Write"]
    assert "### Pattern: Read Before Write" in local(shop, "patterns")
    entry = promoted(shop, "--as", "universal", "--feature", "012", LOCK)["Lock the Cart"]
    assert (entry["action"], entry["observation_count"]) == ("added", 1)
    assert "- Source: shop-front, Feature #012\n" in (shop.store / "anti-patterns.md").read_text(encoding="utf-8")


def test_name_that_the_bank_and_a_session_have_for_different_texts_is_told_apart_by_id(shop: World) -> None:
    shop.write_bank("patterns", "### Pattern: Read Before Write\nAnother text.\n")
    store(shop, UNIVERSAL)
    done = shop.run("promote", "Read Before Write", **BY_WORDS)
    assert done.returncode == 1
    other = content_hash("Another text.")
    assert f"names several entries; give the id of one: {other}, {READ}" in done.stderr
    assert promoted(shop, other)["Read Before Write"]["captured"] is False
    assert promoted(shop, READ)["Read Before Write"]["captured"] is True


@pytest.mark.parametrize("shared", [True, False], ids=["global", "local"])
def test_lesson_that_a_bank_has_is_no_candidate(shop: World, shared: bool) -> None:
    store(shop, UNIVERSAL)
    shop.write_bank("patterns", f"### Pattern: Known\n{UNIVERSAL['description']}\n", shared=shared)
    captures = [entry for entry in promoted(shop).values() if entry["captured"]]
    assert captures == []


def test_lessons_of_other_projects_of_no_project_and_by_hand_are_not_looked_at(shop: World) -> None:
    store(shop, UNIVERSAL, root=elsewhere(shop))
    store(shop, {**UNIVERSAL, "description": "Told at home."}, root=shop.home)
    by_hand = {**SPECIFIC, "source_project": "shop-front"}
    assert shop.run("upsert", "--entry-json", json.dumps(by_hand), **BY_WORDS).returncode == 0
    assert promoted(shop) == {}


def test_project_specific_lesson_that_others_observed_too_stays_in_the_journal(shop: World) -> None:
    store(shop, SPECIFIC)
    store(shop, SPECIFIC, root=elsewhere(shop))
    assert "captured in a session, 2 times, not only here" in shop.run("promote", "--dry-run", **BY_WORDS).stdout
    assert promoted(shop)["Lock the Cart"]["action"] == "left in the journal"
    assert not (shop.project / "docs").exists()
    assert standing(shop, LOCK) == ("active", 2, "")
    assert promoted(shop) == {}


def test_universal_lesson_that_others_observed_too_takes_all_observations_along(shop: World) -> None:
    store(shop, UNIVERSAL)
    store(shop, UNIVERSAL, root=elsewhere(shop))
    assert promoted(shop)["Read Before Write"]["observation_count"] == 2
    assert standing(shop, READ) == ("active", 2, "")


def test_worktree_sees_what_sessions_of_its_repository_stored(shop: World) -> None:
    store(shop, UNIVERSAL)
    tree = link_worktree(shop.project, elsewhere(shop, "fix-7"))
    assert "+ promoted Pattern: Read Before Write" in shop.run("promote", cwd=tree, **BY_WORDS).stdout
    assert promoted(shop) == {}


def test_observation_that_comes_while_a_promotion_runs_is_not_lost(shop: World) -> None:
    store(shop, UNIVERSAL, UNIVERSAL)
    append_lines(journal(str(shop.store)), CAPTURE, [{"moved": READ, "at": "2026-11-16T08:00:00Z", "observations": 1}])
    shop.write_bank("patterns", f"### Pattern: Read Before Write\n{UNIVERSAL['description']}\n", shared=True)
    assert standing(shop, READ) == ("active", 2, "")


def test_export_counts_a_moved_lesson_once(shop: World) -> None:
    store(shop, UNIVERSAL, UNIVERSAL)
    promoted(shop)
    exported = shop.run("export", "--format", "jsonl", **BY_WORDS)
    [item] = [json.loads(text) for text in exported.stdout.splitlines()]
    assert (item["observation_count"], item["found_in"]) == (2, ["global"])


def test_captured_lesson_with_a_credential_does_not_travel_whatever_the_judgement(shop: World) -> None:
    secret = f"Use ghp_{'a1B2' * 9} to push."
    line = {**UNIVERSAL, "description": secret, "source": "session-capture", "source_project": "shop-front"}
    shop.store.mkdir()
    append_lines(journal(str(shop.store)), CAPTURE, [line])
    done = shop.run("promote", "--as", "universal", **BY_WORDS)
    assert done.returncode == 0
    assert not (shop.store / "patterns.md").exists()
    assert "ghp_" not in done.stdout


def test_promotion_without_the_store_moves_lessons_too(shop: World) -> None:
    store(shop, UNIVERSAL, SPECIFIC)
    off = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"}
    actions = {name: entry["action"] for name, entry in promoted(shop, **off).items()}
    assert actions == {"Read Before Write": "added", "Lock the Cart": "saved to the project's bank"}
    assert standing(shop, READ) == ("active", 1, "")
    assert standing(shop, LOCK) == ("active", 1, str(shop.project))


def test_like_titles_are_shown_so_that_one_can_be_retired(shop: World) -> None:
    shop.write_bank("heuristics", "### Before You Write, Read\nLook first.\n", shared=True)
    twin = {**UNIVERSAL, "name": "Read Before You Write", "description": "Have a look at the file first."}
    store(shop, UNIVERSAL, twin, SPECIFIC)
    printed = shop.run("promote", "--dry-run", **BY_WORDS).stdout
    assert f"  like {content_hash(twin['description'])} Pattern: Read Before You Write\n" in printed
    assert f"  like {content_hash('Look first.')} Heuristic: Before You Write, Read\n" in printed
    entries = promoted(shop, "--dry-run")
    assert {each["id"] for each in entries["Read Before You Write"]["like"]} == {READ, content_hash("Look first.")}
    assert entries["Lock the Cart"]["like"] == []
    assert shop.run("retire", READ, **BY_WORDS).returncode == 0
    assert set(promoted(shop, "--dry-run")) == {"Read Before You Write", "Lock the Cart"}
    assert [each["id"] for each in promoted(shop, "--dry-run")["Read Before You Write"]["like"]] == [
        content_hash("Look first.")
    ]


def test_like_meanings_are_shown_under_different_titles(shop: World) -> None:
    twin = {
        **UNIVERSAL,
        "name": "Stale Copies Overwrite",
        "description": "Before you write a file, read what it holds now; otherwise changes of others are lost.",
    }
    store(shop, UNIVERSAL, twin, SPECIFIC, RECOLLECT_MEMORY_EMBEDDING_ENABLED="true")
    done = shop.run("promote", "--dry-run", "--json")
    entries = {entry["name"]: entry for entry in json.loads(done.stdout)["entries"]}
    assert [each["id"] for each in entries["Stale Copies Overwrite"]["like"]] == [READ]
    assert entries["Lock the Cart"]["like"] == []


@pytest.mark.parametrize(
    "line",
    [
        {"moved": "no id", "observations": 1},
        {"moved": READ},
        {"moved": READ, "observations": 0},
        {"moved": READ, "observations": True},
        {"moved": None, "observations": 1},
    ],
    ids=str,
)
def test_line_that_moves_nothing_is_reported_and_changes_nothing(shop: World, line: dict[str, Any]) -> None:
    store(shop, UNIVERSAL)
    append_lines(journal(str(shop.store)), CAPTURE, [line])
    entries, _, problems = captured(read_lines(journal(str(shop.store)), 0).lines)
    assert [entry.id for entry in entries] == [READ]
    assert len(problems) == 1
    assert list(promoted(shop, "--dry-run")) == ["Read Before Write"]


def test_status_does_not_take_a_moved_lesson_for_a_capture(shop: World) -> None:
    line = {**UNIVERSAL, "source": "session-capture", "source_project": "shop-front", "at": "2026-01-02T00:00:00Z"}
    shop.store.mkdir()
    append_lines(journal(str(shop.store)), CAPTURE, [line])
    promoted(shop)
    status = json.loads(shop.run("status", "--json", **BY_WORDS).stdout)
    assert status["last_capture"].startswith("2026-01-02")


def test_promotions_at_once_move_each_observation_once(shop: World) -> None:
    store(shop, UNIVERSAL, UNIVERSAL, SPECIFIC)
    started = [
        subprocess.Popen(
            [RECOLLECT, "promote"],
            cwd=shop.project,
            env=shop.environment(BY_WORDS),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for _ in range(4)
    ]
    assert [(process.communicate()[1], process.returncode) for process in started] == [("", 0)] * 4
    lines = read_lines(journal(str(shop.store)), 0).lines
    assert sorted((line["moved"], line["observations"]) for line in lines if "moved" in line) == sorted(
        [(READ, 2), (LOCK, 1)]
    )
    assert standing(shop, READ) == ("active", 2, "")
    assert standing(shop, LOCK) == ("active", 1, str(shop.project))


def test_journal_that_cannot_be_read_keeps_nobody_from_promoting_the_bank(world: World) -> None:
    Path(journal(str(world.store))).mkdir(parents=True)
    world.write_bank("patterns", "### Pattern: Read Before Write\nRead first.\n")
    done = world.run("promote")
    assert (done.returncode, done.stdout.split("\n")[0]) == (0, "+ promoted Pattern: Read Before Write")
    assert "what sessions have stored was not looked at" in done.stderr
