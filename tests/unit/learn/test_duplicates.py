"""Entries that say the same: merged word for word, undone, proposed, and never merged on likeness."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.unit.learn.test_relate import Shop, shop  # noqa: F401

from recollect.config.locations import journal
from recollect.errors import InvalidEntry
from recollect.learn import relate as relating
from recollect.learn.duplicates import find_duplicates, likeliest, merge_same, undo_merge
from recollect.learn.relate import relate
from recollect.memories.forget import bring_back
from recollect.store.values import PROMPT, Receipt, ReceiptLine
from recollect.sync.memories import sync_memories
from recollect.sync.sync import sync

_RETRY = "Retries without jitter arrive together, and overload the gateway again."
_OTHER_DRESS = "Retries without *jitter* arrive together; and **overload** gateway again"


def bank(shop: Shop, *texts: str, name: str = "Retry with jitter") -> None:  # noqa: F811
    folder = shop.folder / "docs" / "knowledge-bank"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        f"### Heuristic: {name}\n{text}\n- Observation count: {2 + place}\n- When: trigger {place} of it\n"
        for place, text in enumerate(texts)
    ]
    (folder / "heuristics.md").write_text("# Heuristics\n\n" + "\n".join(lines), encoding="utf-8")
    sync(shop.engine.store, shop.workspace, shop.engine.labels())


def test_same_lesson_in_another_dress_is_counted_once_more(shop: Shop) -> None:  # noqa: F811
    first = shop.keep("heuristics", "Retry with jitter", _RETRY, triggers=["gateway is down"])
    again = shop.keep("heuristics", "Retry with jitter.", _OTHER_DRESS, triggers=["burst of requests"])
    assert (again.id, again.outcome, again.similar) == (first.id, "reinforced", [])
    assert any("counted once more there" in note for note in again.warnings)
    [entry] = shop.engine.store.entries([first.id])
    assert (entry.observation_count, entry.description) == (2, _RETRY)
    assert set(entry.triggers) == {"gateway is down", "burst of requests"}
    other = shop.keep("heuristics", "Retry with jitter", _RETRY.replace("without", "with"))
    assert other.id != first.id, "one word more or less is another lesson"
    named = shop.keep("heuristics", "Something else", _OTHER_DRESS + " ")
    assert named.id not in (first.id, other.id), "under another name it is only proposed"


def test_lessons_of_a_bank_are_merged_by_a_line_of_the_journal_and_the_bank_stays(shop: Shop) -> None:  # noqa: F811
    bank(shop, _RETRY, _OTHER_DRESS)
    before = (shop.folder / "docs" / "knowledge-bank" / "heuristics.md").read_bytes()
    planned = merge_same(shop.engine, dry_run=True)
    assert len(planned.merged) == 1
    assert not os.path.exists(journal(shop.store))
    done = merge_same(shop.engine)
    [(kept, gone)] = done.merged
    assert (kept.observation_count, gone.observation_count) == (3, 2)
    assert [line.get("as") or "retired" for line in shop.lines()] == ["merged", "retired"]
    [entry] = shop.engine.store.entries([kept.id])
    assert (entry.observation_count, len(entry.triggers)) == (5, 2)
    assert [hit for hit, _ in shop.hits("jitter gateway")] == [kept.id]
    assert (shop.folder / "docs" / "knowledge-bank" / "heuristics.md").read_bytes() == before
    assert merge_same(shop.engine).merged == []
    # Undone, both are there, and nothing merges them again.
    undo_merge(shop.engine, gone.id)
    assert {id for id, _ in shop.hits("jitter gateway")} == {kept.id, gone.id}
    assert shop.engine.store.entries([kept.id])[0].observation_count == 3
    assert find_duplicates(shop.engine).merged == []
    assert find_duplicates(shop.engine).pairs == []
    with pytest.raises(InvalidEntry, match="is not merged"):
        undo_merge(shop.engine, kept.id)


def test_lesson_of_a_repository_is_never_merged_with_the_users(shop: Shop) -> None:  # noqa: F811
    Path(shop.store).mkdir(exist_ok=True)
    text = f"# Heuristics\n\n### Heuristic: Retry with jitter\n{_RETRY}\n"
    (Path(shop.store) / "heuristics.md").write_text(text, encoding="utf-8")
    bank(shop, _OTHER_DRESS)
    assert merge_same(shop.engine).merged == []


def test_memories_are_merged_with_history_and_undone(shop: Shop) -> None:  # noqa: F811
    first = shop.keep("decision", "Carts live in SQLite", _RETRY, references=["a.py"], triggers=["where are carts"])
    path = next(shop.folder.rglob("carts-live-in-sqlite.json"))
    record = json.loads(path.read_text(encoding="utf-8"))
    twin = {**record, "id": "carts-live-in-sqlite-2", "title": "Carts live in SQLite.", "triggers": ["a new column"]}
    twin["content"] = {**record["content"], "decision": _OTHER_DRESS}
    twin["created_at"] = "2030-01-01T00:00:00Z"
    path.with_name("carts-live-in-sqlite-2.json").write_text(json.dumps(twin), encoding="utf-8")
    sync_memories(shop.engine.store, shop.workspace)
    [(kept, gone)] = merge_same(shop.engine).merged
    assert kept.id == first.id
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["triggers"] == ["where are carts", "a new column"]
    assert record["changes"][-1]["summary"] == "Merged with decision/carts-live-in-sqlite-2"
    retired = json.loads(path.with_name("carts-live-in-sqlite-2.json").read_text(encoding="utf-8"))
    assert (retired["record_status"], retired["superseded_by"]) == ("retired", "decision/carts-live-in-sqlite")
    assert merge_same(shop.engine).merged == []
    undo_merge(shop.engine, gone.id)
    assert merge_same(shop.engine).merged == []
    assert {id for id, _ in shop.hits("jitter gateway")} == {kept.id, gone.id}


@pytest.mark.parametrize("both", [False, True])
def test_lesson_at_rest_is_given_again_if_the_one_that_it_takes_in_was_not_at_rest(shop: Shop, both: bool) -> None:  # noqa: F811
    bank(shop, _OTHER_DRESS, _RETRY)
    store = shop.engine.store
    [(kept, gone)] = merge_same(shop.engine, dry_run=True).merged
    lines = [ReceiptLine(each.id, 0.0, vector=0.0, keyword=0.0, prominence=0.0) for each in (kept, gone)]
    store.recalled(Receipt(at="2026-01-01T00:00:00Z", event=PROMPT, project="", session="s", query="", lines=lines))
    resting = [kept.id, gone.id] if both else [kept.id]
    assert store.rest(resting, at="2026-01-02T00:00:00Z", since="", times=1) == resting
    merge_same(shop.engine)
    assert bool(store.feedback([kept.id])[kept.id].resting) is both


def test_memory_that_somebody_restored_is_not_merged_again(shop: Shop) -> None:  # noqa: F811
    shop.keep("decision", "Carts live in SQLite", _RETRY)
    path = next(shop.folder.rglob("carts-live-in-sqlite.json"))
    twin = {**json.loads(path.read_text(encoding="utf-8")), "id": "twin", "created_at": "2030-01-01T00:00:00Z"}
    path.with_name("twin.json").write_text(json.dumps(twin), encoding="utf-8")
    sync_memories(shop.engine.store, shop.workspace)
    [(_, gone)] = merge_same(shop.engine).merged
    bring_back(shop.engine, gone.id)
    assert merge_same(shop.engine).merged == []


def test_merge_that_was_killed_half_way_is_finished_by_the_next(
    shop: Shop,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bank(shop, _RETRY, _OTHER_DRESS)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(relating, "retire_old", killed)
        with pytest.raises(KeyboardInterrupt):
            merge_same(shop.engine)
    [line] = shop.lines()
    assert line["as"] == "merged"
    assert [id for id, _ in shop.hits("jitter gateway")] == [line["related"]], "the other one is not given"
    [(kept, gone)] = merge_same(shop.engine).merged
    assert (kept.id, gone.id) == (line["related"], line["to"])
    assert shop.engine.store.entries([gone.id])[0].status == "retired"
    assert [line.get("as") for line in shop.lines()] == ["merged", None]


def test_folder_that_cannot_be_written_is_a_warning(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    bank(shop, _RETRY, _OTHER_DRESS)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(relating, "append_lines", refused)
    done = merge_same(shop.engine)
    assert (done.merged, len(done.failed)) == ([], 1)
    assert "was not merged into" in done.failed[0]


def test_pairs_are_proposed_by_words_and_settled_ones_are_not(shop: Shop) -> None:  # noqa: F811
    one = shop.keep("heuristics", "Retry with jitter", _RETRY).id
    two = shop.keep("heuristics", "Jitter for retries", "Without jitter, retries overload the gateway together.").id
    shop.keep("heuristics", "Absolute imports", "Imports of our packages name the whole module.")
    found = find_duplicates(shop.engine)
    assert [{pair.one.id, pair.other.id} for pair in found.pairs] == [{one, two}]
    assert found.merged == []
    assert likeliest(shop.engine, shop.engine.store.entries([one, two])).keys() == {one, two}
    relate(shop.engine, one, "keep_both", two)
    assert find_duplicates(shop.engine).pairs == []
