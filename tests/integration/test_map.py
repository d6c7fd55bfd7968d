"""The map of entries: where they are by their vectors, and what is known of their use."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Sequence

import pytest
from tests.conftest import World

from recollect.domain.stored import StoredEntry
from recollect.embedding.identity import local_identity
from recollect.engine.engine import Engine
from recollect.overview.map import SIZE, EntryMap, Maps, selected
from recollect.store.values import BANK, PROMPT, Model, Receipt, ReceiptLine, Source

DIMENSIONS = 32


def entry(id: str, **known: str) -> StoredEntry:
    return StoredEntry(id=id, category="patterns", name=f"Lesson {id}", description=f"What {id} taught.", **known)  # type: ignore[arg-type]


def around(chance: random.Random, centre: int) -> bytes:
    """A vector near one of the axes."""
    values = [chance.gauss(4.0 if place == centre else 0.0, 0.3) for place in range(DIMENSIONS)]
    length = sum(value * value for value in values) ** 0.5
    return array("f", [value / length for value in values]).tobytes()


def put(engine: Engine, groups: Sequence[int], each: int = 20) -> None:
    """Entries in groups, each about a subject of its own."""
    chance = random.Random(5)
    names = {f"g{group}-{number:02}": group for group in groups for number in range(each)}
    engine.store.put(Source("/bank.md", BANK), [entry(id) for id in names])
    engine.store.put_vectors([(id, around(chance, group)) for id, group in names.items()])


@pytest.fixture
def engine(semantic_world: World) -> Iterator[Engine]:
    with Engine(semantic_world.workspace()) as opened:
        opened.store.use_model(Model(local_identity("auto"), "local", "name", DIMENSIONS))
        yield opened


def middles(found: EntryMap) -> dict[str, tuple[float, float]]:
    groups: dict[str, list[tuple[int, int]]] = {}
    for id, x, y in zip(found.ids, found.x, found.y, strict=True):
        groups.setdefault(id.partition("-")[0], []).append((x, y))
    return {name: (sum(x for x, _ in at) / len(at), sum(y for _, y in at) / len(at)) for name, at in groups.items()}


def test_entries_about_the_same_are_together_and_apart_from_others(engine: Engine) -> None:
    put(engine, [0, 1, 2])
    found = Maps().of(engine, None)
    assert found.total == len(found.ids) == 60
    assert (min(found.x), max(found.x), min(found.y), max(found.y)) == (0, SIZE, 0, SIZE)
    centres = middles(found)
    for id, x, y in zip(found.ids, found.x, found.y, strict=True):
        nearest = min(centres, key=lambda name: (centres[name][0] - x) ** 2 + (centres[name][1] - y) ** 2)
        assert id.startswith(nearest)


def test_a_new_entry_does_not_turn_the_map_around(engine: Engine) -> None:
    put(engine, [0, 1, 2])
    maps = Maps()
    before = middles(maps.of(engine, None))
    engine.store.put(Source("/other.md", BANK), [entry("g0-new")])
    engine.store.put_vectors([("g0-new", around(random.Random(9), 0))])
    after = middles(maps.of(engine, None))
    assert all(abs(before[name][axis] - after[name][axis]) < SIZE / 5 for name in before for axis in (0, 1))


def test_map_follows_the_store_and_is_not_computed_again_without_a_change(engine: Engine) -> None:
    put(engine, [0, 1])
    maps = Maps()
    first = maps.of(engine, None)
    asked: list[int] = []
    vectors = engine.store.vectors
    engine.store.vectors = lambda scope, limit: asked.append(1) or vectors(scope, limit)  # type: ignore[method-assign]
    assert maps.of(engine, None) == first
    assert asked == []
    engine.store.put(Source("/bank.md", BANK), [entry(id) for id in first.ids[:-1]])
    assert maps.of(engine, None).ids == first.ids[:-1]
    assert asked == [1]


def test_entry_without_a_vector_is_counted_and_not_drawn(engine: Engine) -> None:
    put(engine, [0], each=1)
    engine.store.put(Source("/other.md", BANK), [entry("waiting")])
    found = Maps().of(engine, None)
    assert (found.ids, found.x, found.y, found.total) == (["g0-00"], [SIZE // 2], [SIZE // 2], 2)


def test_without_a_model_there_is_no_point(semantic_world: World) -> None:
    with Engine(semantic_world.workspace()) as engine:
        engine.store.put(Source("/bank.md", BANK), [entry("a")])
        assert Maps().of(engine, None) == EntryMap(total=1)


def test_how_often_an_entry_was_given_is_told(engine: Engine) -> None:
    put(engine, [0], each=2)
    line = ReceiptLine("g0-01", 1.0, vector=0.0, keyword=1.0, prominence=0.0)
    engine.store.recalled(
        Receipt(at="2026-01-01T00:00:00Z", event=PROMPT, project="", session="s", query="q", lines=[line])
    )
    found = Maps().of(engine, None)
    assert dict(zip(found.ids, found.given, strict=True)) == {"g0-00": 0, "g0-01": 1}
    assert found.used == [0, 0]
    assert found.stale == [False, False]


def test_selected_entry_with_a_credential_is_withheld(engine: Engine) -> None:
    secret = "AKIA" + "Q" * 4 + "7XJ2P9WM4KTZ"
    engine.store.put(
        Source("/bank.md", BANK),
        [entry("a"), StoredEntry(id="b", category="patterns", name="Key", description=f"The key is {secret}.")],
    )
    entries, withheld = selected(engine, ["a", "b", "gone", "a"])
    assert [each.id for each in entries] == ["a"]
    assert len(withheld) == 1
    assert secret not in withheld[0]
