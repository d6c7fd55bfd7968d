"""Looking through a store: pages by the last change, filters, ids by their beginnings, nothing of other projects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.api import Engine
from recollect.config.settings import load_settings
from recollect.domain.stored import ARCHIVED, RETIRED, StoredEntry
from recollect.errors import InvalidEntry
from recollect.recall.browse import MOST_LISTED, MOST_READ, full_entries, list_entries
from recollect.store.values import BANK, MEMORY, Receipt, ReceiptLine, Source

SHOP, DESK = "/home/dev/shop-front", "/home/dev/desk"


def entry(number: int, **known: object) -> StoredEntry:
    fields: dict[str, object] = {
        "id": f"{number:06x}aaaaaaaaaa",
        "name": f"Lesson {number}",
        "category": "patterns",
        "description": f"What lesson {number} taught.",
        "created_at": f"2026-01-01T00:00:{number:02}Z",
        **known,
    }
    return StoredEntry(**fields)  # type: ignore[arg-type]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(str(tmp_path / "store"), load_settings(str(tmp_path), {})) as opened:
        yield opened


def put(engine: Engine, *entries: StoredEntry, project: str = "", path: str = "/bank.md") -> None:
    engine.store.put(Source(path, BANK, project=project), entries)


def put_memory(engine: Engine, path: str, project: str, **known: object) -> StoredEntry:
    made = entry(9, **known)
    engine.store.put(Source(path, MEMORY, project=project), [made])
    return made


def names(engine: Engine, project: str | None = SHOP, **asked: object) -> list[str]:
    return [looked.entry.name for looked in list_entries(engine, project=project, **asked).entries]  # type: ignore[arg-type]


def test_pages_begin_with_what_changed_last_and_count_everything(engine: Engine) -> None:
    put(engine, *(entry(number) for number in range(1, 8)))
    assert names(engine, limit=3) == ["Lesson 7", "Lesson 6", "Lesson 5"]
    assert names(engine, limit=3, offset=6) == ["Lesson 1"]
    assert list_entries(engine, project=SHOP, limit=3, offset=100).total == 7


def test_page_has_bounds_whatever_is_asked_for(engine: Engine) -> None:
    put(engine, *(entry(number, created_at="2026-01-01") for number in range(MOST_LISTED + 5)))
    assert len(names(engine, limit=10**30)) == MOST_LISTED
    assert len(names(engine, limit=-5, offset=-5)) == 1
    assert names(engine, offset=10**30) == []


def test_entries_of_other_projects_are_not_shown_unless_all_are_asked_for(engine: Engine) -> None:
    put(engine, entry(1))
    put(engine, entry(2), project=SHOP, path="/shop.md")
    put(engine, entry(3), project=DESK, path="/desk.md")
    assert names(engine, SHOP) == ["Lesson 2", "Lesson 1"]
    assert names(engine, "") == ["Lesson 1"]
    assert names(engine, None) == ["Lesson 3", "Lesson 2", "Lesson 1"]
    ids = [entry(number).id for number in (1, 2, 3)]
    found, unknown = full_entries(engine, ids, project=SHOP)
    assert ([looked.entry.id for looked in found], unknown) == (ids[:2], ids[2:])
    assert full_entries(engine, ids, project=None)[1] == []


def test_category_may_be_written_in_any_obvious_way(engine: Engine) -> None:
    put(engine, entry(1), entry(2, category="anti-patterns"), entry(3, category="heuristics"))
    assert names(engine, categories=["Anti-Pattern", "patterns"]) == ["Lesson 2", "Lesson 1"]
    with pytest.raises(InvalidEntry, match="category must not be 'idea'"):
        names(engine, categories=["idea"])


def test_status_is_one_or_all(engine: Engine) -> None:
    put(engine, entry(1))
    put_memory(engine, "/m.json", SHOP, category="decision", status=RETIRED)
    assert names(engine) == ["Lesson 1"]
    assert names(engine, status=RETIRED) == ["Lesson 9"]
    assert names(engine, status=ARCHIVED) == []
    assert names(engine, status="all") == ["Lesson 9", "Lesson 1"]
    with pytest.raises(InvalidEntry, match="status must not be 'gone' but one of active, retired, archived, all"):
        names(engine, status="gone")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cart", ["Lesson 2", "Lesson 1"]),
        ("CART rounding", ["Lesson 2"]),
        ("rounding nowhere", []),
        ('"cart" OR x*', []),
        ("#!", []),
        ("  ", ["Lesson 3", "Lesson 2", "Lesson 1"]),
    ],
)
def test_every_word_of_a_text_must_be_in_an_entry(engine: Engine, text: str, found: list[str]) -> None:
    put(
        engine,
        entry(1, description="The cart is empty."),
        entry(2, description="The cart is wrong.", reasoning="Rounding."),
        entry(3, description="Mail is slow."),
    )
    assert names(engine, text=text) == found


def test_recalls_are_those_that_were_counted(engine: Engine) -> None:
    put(engine, entry(1), entry(2))
    line = ReceiptLine(entry(2).id, 1.0, vector=0.0, keyword=0.0, prominence=0.0)
    receipt = Receipt(at="2026-02-01T00:00:00Z", event="search", project="", session="", query="q", lines=[line])
    for _ in range(3):
        engine.store.recalled(receipt)
    assert [looked.entry.recall_count for looked in list_entries(engine, project="").entries] == [3, 0]
    assert [looked.entry.recall_count for looked in full_entries(engine, [entry(2).id], project="")[0]] == [3]


def test_id_may_be_given_by_its_only_beginning_of_six_characters(engine: Engine) -> None:
    put(engine, entry(1, id="abcdef1234567890"), entry(2, id="abcdef9934567890"), entry(3, id="123456aaaaaaaaaa"))
    asked = ["123456", "ABCDEF12", "abcdef", "12345", "ffffff", "", "%_%_%_", "123456aaaaaaaaaab", "12345\0"]
    found, unknown = full_entries(engine, asked, project="")
    assert [looked.entry.name for looked in found] == ["Lesson 3", "Lesson 1"]
    assert unknown == asked[2:]


def test_entry_of_another_project_makes_no_beginning_ambiguous(engine: Engine) -> None:
    put(engine, entry(1, id="abcdef1234567890"))
    put(engine, entry(2, id="abcdef9934567890"), project=DESK, path="/desk.md")
    assert [looked.entry.name for looked in full_entries(engine, ["abcdef"], project=SHOP)[0]] == ["Lesson 1"]


def test_same_entry_asked_for_twice_is_told_once(engine: Engine) -> None:
    put(engine, entry(1))
    found, unknown = full_entries(engine, [entry(1).id, entry(1).id[:8]], project="")
    assert (len(found), unknown) == (1, [])


def test_too_many_ids_are_refused(engine: Engine) -> None:
    with pytest.raises(InvalidEntry, match=f"ask for {MOST_READ} at most"):
        full_entries(engine, ["abcdef"] * (MOST_READ + 1), project="")


def test_full_text_of_knowledge_has_its_reasoning_and_its_details(engine: Engine) -> None:
    put(engine, entry(1, reasoning="It broke.", details="- Cost: a day"))
    [looked], _ = full_entries(engine, [entry(1).id], project="")
    assert looked.text == "What lesson 1 taught.\nReasoning: It broke.\n- Cost: a day"


def test_full_text_of_a_memory_is_that_of_its_file(engine: Engine, tmp_path: Path) -> None:
    project = str(tmp_path / "shop-front")
    path = tmp_path / "shop-front" / ".claude" / "memory" / "decisions" / "carts.json"
    path.parent.mkdir(parents=True)
    long = "A very long text. " * 400
    content = {
        "status": "accepted",
        "decision": f"{long}\nend\x1b of it",
        "alternatives": [{"option": "Redis", "rejected_reason": "server"}],
        "rationale": ["one", "two"],
    }
    path.write_text(json.dumps({"title": "Carts", "content": content}), encoding="utf-8")
    made = put_memory(engine, str(path), project, category="decision", description="short")
    [looked], _ = full_entries(engine, [made.id], project=project)
    assert looked.path == ".claude/memory/decisions/carts.json"
    assert looked.text == (
        f"Status: accepted\nDecision: {long}\nend of it\n"
        "Alternatives:\n- option: Redis; rejected reason: server\nRationale:\n- one\n- two"
    )


def test_memory_whose_file_cannot_be_read_is_told_as_the_store_has_it(engine: Engine, tmp_path: Path) -> None:
    made = put_memory(engine, str(tmp_path / "gone.json"), SHOP, category="decision", reasoning="why")
    [looked], _ = full_entries(engine, [made.id], project=SHOP)
    assert looked.text == "What lesson 9 taught.\nReasoning: why"
