"""What awaits a person, how it is settled and undone, and several entries changed at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.stored import StoredEntry
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry
from recollect.files.journal.kinds import STAGED, Staged
from recollect.files.journal.log import append_lines
from recollect.learn.by_hand import Note, add
from recollect.learn.duplicates import find_duplicates
from recollect.learn.review import captures_to_review
from recollect.memories.lookup import find_named
from recollect.overview import bulk
from recollect.overview.dossier import dossier_of
from recollect.overview.inbox import ALIKE, CAPTURE, CONTRADICTED, IN_VAIN, Item, SlowItems, quick_items, slow_items
from recollect.overview.settle import settle
from recollect.store.values import PROMPT, Evidence, Receipt, ReceiptLine

AT = "2026-11-01T10:00:00Z"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    project = str(tmp_path / "shop")
    settings = load_settings(project, {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"})
    with Engine(Workspace(project, str(tmp_path / "store"), settings)) as opened:
        yield opened


def lesson(engine: Engine, text: str, title: str = "") -> str:
    return add(engine, Note(text, "heuristics", title))[0].id


def decision(engine: Engine, text: str, title: str) -> str:
    return add(engine, Note(text, "decision", title, "because"))[0].id


def status(engine: Engine, id: str) -> str:
    return find_named(engine, id, []).entry.status


def give(engine: Engine, id: str, times: int) -> None:
    for number in range(times):
        line = ReceiptLine(id, 1.0, vector=0.0, keyword=5.0, prominence=0.5)
        told = {"at": AT, "event": PROMPT, "project": engine.project, "session": f"session-{number}", "query": "a"}
        engine.store.recalled(Receipt(**told, lines=[line]))


def contradict(engine: Engine, id: str, session: str) -> None:
    told = {"project": engine.project, "session": session, "turn": 1, "place": "7"}
    engine.store.note_evidence([Evidence(at=AT, kind="contradicted", id=id, **told)])


def stage(engine: Engine, text: str) -> str:
    staged = Staged("0a0b0c0d", AT, engine.project, "s", "heuristics", 0.7, [text], text)
    append_lines(engine.workspace.journal, STAGED, [staged])
    return staged.id


def kinds(items: list[Item]) -> list[str]:
    return [item.kind for item in items]


def test_nothing_awaits_in_a_new_store(engine: Engine) -> None:
    assert quick_items(engine) == []
    assert slow_items(engine) == ([], [])


def test_entry_given_in_vain_awaits_until_it_is_kept_and_given_as_often_again(engine: Engine) -> None:
    id = lesson(engine, "Name the owner of every alarm.")
    give(engine, id, 4)
    assert quick_items(engine) == []
    give(engine, id, 6)
    assert kinds(quick_items(engine)) == [IN_VAIN]
    settle(engine, IN_VAIN, id, "accept")
    assert quick_items(engine) == []
    give(engine, id, 14)
    assert kinds(quick_items(engine)) == [IN_VAIN]


def test_contradicted_entry_awaits_again_after_another_contradiction(engine: Engine) -> None:
    id = lesson(engine, "Name the owner of every alarm.")
    contradict(engine, id, "one")
    assert kinds(quick_items(engine)) == [CONTRADICTED]
    settle(engine, CONTRADICTED, id, "accept")
    assert quick_items(engine) == []
    contradict(engine, id, "two")
    assert kinds(quick_items(engine)) == [CONTRADICTED]


@pytest.mark.parametrize("way", ["dismiss", "mute"])
def test_settled_entry_comes_back_when_it_is_undone(engine: Engine, way: str) -> None:
    id = lesson(engine, "Name the owner of every alarm.")
    contradict(engine, id, "one")
    done = settle(engine, CONTRADICTED, id, way)
    assert quick_items(engine) == []
    assert done.undo is not None
    done.undo(engine)
    assert kinds(quick_items(engine)) == [CONTRADICTED]


def test_accepted_capture_is_a_lesson_and_undone_awaits_under_a_new_id(engine: Engine) -> None:
    staged = stage(engine, "Never deploy on a Friday afternoon.")
    [item] = quick_items(engine)
    assert (item.kind, item.id, item.text) == (CAPTURE, staged, "")
    done = settle(engine, CAPTURE, staged, "accept")
    assert status(engine, done.id) == "active"
    assert quick_items(engine) == []
    assert done.undo is not None
    done.undo(engine)
    assert status(engine, done.id) == "retired"
    [again] = captures_to_review(engine.workspace)
    assert again.id != staged
    assert again.snippets == ["Never deploy on a Friday afternoon."]


@pytest.mark.parametrize(("kind", "way"), [(CAPTURE, "mute"), ("nothing", "accept"), (IN_VAIN, "burn")])
def test_way_that_a_kind_does_not_have_is_refused(engine: Engine, kind: str, way: str) -> None:
    with pytest.raises(InvalidEntry, match="cannot be settled"):
        settle(engine, kind, "0" * 16, way)


def test_pair_awaits_until_both_are_kept(engine: Engine) -> None:
    one = lesson(engine, "Retry with jitter when the payment gateway times out under load", "Jitter")
    other = lesson(engine, "Retry with jitter when the payment gateway times out under heavy load", "Jitter again")
    slow = SlowItems()
    slow.look(engine)
    [item] = slow.items(engine)
    assert (item.kind, {item.id, item.other}) == (ALIKE, {one, other})
    assert "heavy" in [text for op, text in item.difference if op != "same"]
    settle(engine, ALIKE, item.id, "dismiss", item.other)
    slow.forget()
    slow.look(engine)
    assert slow.items(engine) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # .91 alike by the stems of their words, of which an eighth are the same
        (
            ("Retried payments", "Retries of payments wait longer when gateways failed"),
            ("Retrying payment", "Retry payment waiting long when gateway fails"),
        ),
        # .79 alike, with four words of five the same
        (
            ("Jitter", "Retry with jitter when the payment gateway times out under load"),
            (
                "Gateway",
                "Retry with jitter when the payment gateway times out, but never when it refuses a card number",
            ),
        ),
    ],
    ids=["other words", "not alike enough"],
)
def test_pair_that_is_alike_in_one_way_alone_is_left_to_dedupe(
    engine: Engine, one: tuple[str, str], other: tuple[str, str]
) -> None:
    for title, text in (one, other):
        lesson(engine, text, title)
    assert len(find_duplicates(engine, dry_run=True).pairs) == 1
    assert slow_items(engine) == ([], [])


def test_three_pairs_await_at_most_and_none_with_other_words(engine: Engine) -> None:
    for thing in ("gateway", "mailer", "printer", "scanner", "router"):
        for amount in ("load", "heavy load"):
            text = f"Retry the {thing} with jitter when its {thing} times out under {amount}"
            lesson(engine, text, f"{thing} {amount}".title())
    slow = SlowItems()
    slow.look(engine)
    items = slow.items(engine)
    assert kinds(items) == [ALIKE] * 3
    assert all(item.title.split()[0] == item.other_title.split()[0] for item in items)


def test_slow_item_is_left_out_once_its_entry_is_retired(engine: Engine) -> None:
    lesson(engine, "Retry with jitter when the payment gateway times out under load", "Jitter")
    other = lesson(engine, "Retry with jitter when the payment gateway times out under heavy load", "Jitter again")
    slow = SlowItems()
    slow.look(engine)
    assert slow.is_fresh
    bulk.apply(engine, bulk.plan(engine, bulk.RETIRE, [other]))
    assert slow.items(engine) == []


def test_plan_changes_nothing_and_says_what_is_left_out(engine: Engine) -> None:
    one = lesson(engine, "Name the owner of every alarm.")
    two = decision(engine, "Orders are kept in PostgreSQL.", "Orders in PostgreSQL")
    made = bulk.plan(engine, bulk.ARCHIVE, [one, two, two])
    assert [step.entry.id for step in made.steps] == [one, two]
    assert [entry.id for entry in made.chosen] == [two]
    assert "a lesson has no file" in made.steps[0].reason
    assert status(engine, two) == "active"


@pytest.mark.parametrize("action", [bulk.RETIRE, bulk.ARCHIVE])
def test_several_are_changed_and_undone(engine: Engine, action: str) -> None:
    ids = [decision(engine, f"Choose number {number}.", f"Number {number}") for number in range(3)]
    done = bulk.apply(engine, bulk.plan(engine, action, ids))
    assert (done.ids, done.failed) == (ids, [])
    assert {status(engine, id) for id in ids} == {"retired" if action == bulk.RETIRE else "archived"}
    assert done.undo is not None
    assert done.undo(engine) == "Undone for 3 memories."
    assert {status(engine, id) for id in ids} == {"active"}


def tags(engine: Engine, id: str) -> list[str]:
    memory = find_named(engine, id, []).memory
    assert memory is not None
    return memory.tags


def test_tag_is_added_to_all_and_taken_back_from_all(engine: Engine) -> None:
    ids = [decision(engine, f"Choose number {number}.", f"Number {number}") for number in range(2)]
    before = [tags(engine, id) for id in ids]
    done = bulk.apply(engine, bulk.plan(engine, bulk.TAG, ids, ["Quarterly", " "]))
    assert all("quarterly" in tags(engine, id) for id in ids)
    assert done.undo is not None
    done.undo(engine)
    assert [tags(engine, id) for id in ids] == before


def test_tag_beyond_the_limit_is_refused_for_that_memory_alone(engine: Engine) -> None:
    full, other = (decision(engine, f"Choose number {number}.", f"Number {number}") for number in range(2))
    room = 12 - len(tags(engine, full))
    bulk.apply(engine, bulk.plan(engine, bulk.TAG, [full], [f"tag{number}" for number in range(room)]))
    done = bulk.apply(engine, bulk.plan(engine, bulk.TAG, [full, other], ["a", "b", "c"]))
    assert done.ids == [other]
    assert "at most 12 tags" in done.failed[0]


def test_merge_keeps_the_first_and_is_undone(engine: Engine) -> None:
    ids = [lesson(engine, f"Retry with jitter, take {number}.") for number in range(3)]
    done = bulk.apply(engine, bulk.plan(engine, bulk.MERGE, ids))
    assert [status(engine, id) for id in ids] == ["active", "retired", "retired"]
    assert done.undo is not None
    done.undo(engine)
    assert [status(engine, id) for id in ids] == ["active"] * 3


@pytest.mark.parametrize(
    ("action", "count", "words"),
    [
        ("burn", 1, "the action is one of"),
        (bulk.MERGE, 1, "two active"),
        (bulk.RETIRE, 0, "select some"),
        (bulk.TAG, 1, "tag is missing"),
    ],
)
def test_action_that_makes_no_sense_is_refused(engine: Engine, action: str, count: int, words: str) -> None:
    ids = [lesson(engine, f"Lesson number {number}.") for number in range(count)]
    with pytest.raises(InvalidEntry, match=words):
        bulk.plan(engine, action, ids)


def test_merge_of_two_kinds_is_refused(engine: Engine) -> None:
    ids = [lesson(engine, "Name the owner of every alarm."), decision(engine, "Orders are in PostgreSQL.", "Orders")]
    with pytest.raises(InvalidEntry, match="cannot become one"):
        bulk.plan(engine, bulk.MERGE, ids)


def test_too_many_at_once_are_refused(engine: Engine) -> None:
    with pytest.raises(InvalidEntry, match="too many at once"):
        bulk.plan(engine, bulk.RETIRE, [f"{number:016x}" for number in range(bulk.MOST + 1)])


def test_entry_of_another_project_is_left_out(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "other" / ".git").mkdir(parents=True)
    with Engine(Workspace(str(tmp_path / "other"), engine.workspace.global_store, engine.settings)) as there:
        id = decision(there, "Deploys happen on Tuesdays.", "Tuesdays")
    [step] = bulk.plan(engine, bulk.RETIRE, [id]).steps
    assert "another project" in step.reason


def test_dossier_has_history_relations_and_marks(engine: Engine) -> None:
    old = lesson(engine, "Retry with jitter.")
    done, _ = add(engine, Note("Retry with jitter, five times at most.", "heuristics"), supersedes=old)
    found = dossier_of(engine, done.id)
    assert [entry.id for entry in found.older] == [old]
    assert found.newer == []
    before = dossier_of(engine, old)
    assert [entry.id for entry in before.newer] == [done.id]
    assert any(change.summary.startswith("Retired") for change in before.history)


def test_dossier_replaces_credentials(engine: Engine, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    bank = tmp_path / "shop" / "docs" / "knowledge-bank"
    bank.mkdir(parents=True)
    (bank / "heuristics.md").write_text(f"### Heuristic: Token\nUse {secret} there.\n", encoding="utf-8")
    found = find_named(engine, "token", [])
    assert secret not in str(vars(dossier_of(engine, found.entry.id).entry))
    assert isinstance(found.entry, StoredEntry)
