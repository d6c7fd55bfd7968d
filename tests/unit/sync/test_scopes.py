"""The store follows the lines pulled for shared scopes, bit by bit, and gives the same when it is made again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import World

from recollect.config import locations
from recollect.domain.hashing import content_hash
from recollect.domain.shared.line_ids import line_id
from recollect.domain.shared.lines import TeamLine
from recollect.engine.engine import Engine
from recollect.files.team.lines import append_pulled
from recollect.files.team.state import JoinedScope, TeamState, change_state
from recollect.recall.find import find_memories
from recollect.store.values import Scope
from recollect.sync.rebuild import rebuild
from recollect.sync.scopes import sync_scopes
from recollect.sync.sync import sync

JITTER = "Retries without jitter overload the payment gateway after an outage."
NOW = 1_795_000_000_000


@pytest.fixture
def engine(world: World) -> Iterator[Engine]:
    with Engine(world.workspace(variables={})) as engine:
        yield engine


def join(world: World, *, links: dict[str, str] | None = None, **scopes: bool) -> None:
    """Join scopes, by their names with an underscore, each curated or not."""
    joined = {name.replace("_", ":"): JoinedScope("writer", curated) for name, curated in scopes.items()}
    state = TeamState("postgresql://db", "ann", "abcdef01", "here", scopes=joined, links=links or {})
    store = str(world.store)
    change_state(locations.team_state(store), locations.team_folder(store), lambda _: (state, None))


def lesson(text: str, **more: Any) -> dict[str, Any]:
    entry = {"name": text.split(".", maxsplit=1)[0][:40], "description": text, "category": "anti-patterns"}
    return {"shared": content_hash(text), "entry": entry, **more}


def pull(world: World, *bodies: dict[str, Any], scope: str = "team:backend", start: int = 1, **known: str) -> None:
    """Let lines come from the server, each on a day of its own: a person counts once a day."""
    said = {"author": "bob", "role": "writer", **known}
    lines = [
        TeamLine(line_id(NOW + seq, 0, "abcdef01"), body, seq=seq, received=f"2026-01-{seq % 28 + 1:02}", **said)
        for seq, body in enumerate(bodies, start)
    ]
    append_pulled(locations.team_lines(str(world.store), scope), lines)


def texts(engine: Engine) -> dict[str, int]:
    found, _ = engine.store.page(Scope(engine.project), 100)
    return {entry.description: entry.observation_count for entry in found}


def test_lessons_of_a_scope_are_found_with_who_said_them(world: World, engine: Engine) -> None:
    join(world, team_backend=False)
    pull(world, lesson(JITTER), {"observed": content_hash(JITTER)})

    (hit,) = find_memories(engine, "gateway overload after retries").hits
    assert (hit.entry.said_by, hit.origin, hit.entry.observation_count) == ("bob in team:backend", "team", 2)


def test_additions_are_read_alone_and_removals_are_followed(world: World, engine: Engine) -> None:
    join(world, team_backend=False)
    pull(world, lesson(JITTER), lesson("Second lesson. It stays."))
    sync(engine.store, engine.workspace)
    pull(world, {"observed": content_hash(JITTER)}, lesson("Third lesson. It comes."), start=3)
    sync(engine.store, engine.workspace)
    assert texts(engine) == {JITTER: 2, "Second lesson. It stays.": 1, "Third lesson. It comes.": 1}

    edited = "Retries without jitter overload the gateway, so back off by chance."
    pull(
        world,
        lesson(edited, edits=content_hash(JITTER)),
        {"retired": content_hash("Second lesson. It stays.")},
        start=5,
    )
    sync(engine.store, engine.workspace)
    assert texts(engine) == {edited: 2, "Third lesson. It comes.": 1}
    (found,) = engine.store.entries([content_hash(edited)])
    assert JITTER[:40] in found.details


def test_a_scope_that_has_not_changed_is_not_read_again(world: World, engine: Engine) -> None:
    join(world, team_backend=False)
    pull(world, lesson(JITTER))
    sync(engine.store, engine.workspace)
    path = locations.team_lines(str(world.store), "team:backend")
    status = os.stat(path)
    with open(path, "r+b") as file:
        file.write(b"x")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert sync(engine.store, engine.workspace) == []
    assert texts(engine) == {JITTER: 1}


def test_a_rebuild_keeps_shared_lessons(world: World, engine: Engine) -> None:
    join(world, team_backend=False)
    pull(world, lesson(JITTER))
    sync(engine.store, engine.workspace)
    engine.close()

    assert rebuild(world.workspace(variables={})).active == 1
    with Engine(world.workspace(variables={})) as again:
        assert texts(again) == {JITTER: 1}


def test_a_scope_that_was_left_takes_its_lessons_along_and_leaves_mine(world: World, engine: Engine) -> None:
    join(world, team_backend=False, team_data=False)
    mine = "A lesson of mine. The team has it too."
    world.write_bank("patterns", f"### Pattern: Mine\n{mine}\n", shared=True)
    pull(world, lesson(JITTER), lesson(mine))
    pull(world, lesson("Data is kept for ten years."), scope="team:data")
    sync(engine.store, engine.workspace)
    assert len(texts(engine)) == 3

    join(world, team_data=False)
    sync_scopes(engine.store, str(world.store))
    assert set(texts(engine)) == {mine, "Data is kept for ten years."}
    assert engine.store.entries([content_hash(JITTER)]) == []


def test_a_projects_scope_counts_only_where_it_is_linked(world: World, engine: Engine) -> None:
    join(world, project_shop=False)
    pull(world, lesson(JITTER), scope="project:shop")
    sync(engine.store, engine.workspace)
    assert texts(engine) == {}

    join(world, project_shop=False, links={"project:shop": engine.project})
    sync_scopes(engine.store, str(world.store))
    assert texts(engine) == {JITTER: 1}
    assert engine.store.count(Scope("/elsewhere")) == 0


def test_what_awaits_a_curator_is_not_found(world: World, engine: Engine) -> None:
    join(world, team_backend=True)
    pull(world, lesson(JITTER))
    sync(engine.store, engine.workspace)
    assert texts(engine) == {}

    pull(world, {"approved": content_hash(JITTER), "line": line_id(NOW + 1, 0, "abcdef01")}, start=2, role="curator")
    sync(engine.store, engine.workspace)
    assert texts(engine) == {JITTER: 1}

    join(world, team_backend=False)  # it is curated no more
    pull(world, lesson("Another lesson."), start=3)
    sync(engine.store, engine.workspace)
    assert len(texts(engine)) == 2


def test_hostile_lines_are_left_out_and_counted(world: World, engine: Engine) -> None:
    join(world, team_backend=False)
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    pull(
        world,
        lesson(f"The token is {key}."),
        {"shared": "x"},
        lesson(JITTER),
        {"shared": "a" * 16, "entry": {"name": 7}},
    )

    (warning,) = [each for each in sync(engine.store, engine.workspace) if "left out" in each]
    assert "3 lines were left out of team:backend" in warning
    assert key not in warning
    assert texts(engine) == {JITTER: 1}
    assert sync(engine.store, engine.workspace) == []  # said once


def test_a_broken_state_is_reported_and_changes_nothing(world: World, engine: Engine) -> None:
    join(world, team_backend=False)
    pull(world, lesson(JITTER))
    sync(engine.store, engine.workspace)
    (world.store / "team.json").write_text("{", encoding="utf-8")

    assert "team join" in sync_scopes(engine.store, str(world.store))[0]
    assert texts(engine) == {JITTER: 1}


def test_of_one_text_in_two_scopes_the_nearest_describes_it_whichever_came_first(world: World, engine: Engine) -> None:
    join(world, team_backend=False, organisation_acme=False)
    for scopes in (("organisation:acme", "team:backend"), ("team:backend", "organisation:acme")):
        for scope in scopes:
            pull(world, lesson(JITTER), scope=scope)
            sync_scopes(engine.store, str(world.store))
        (found,) = engine.store.entries([content_hash(JITTER)])
        assert found.said_by == "bob in team:backend"
        for scope in scopes:
            os.unlink(locations.team_lines(str(world.store), scope))
        sync_scopes(engine.store, str(world.store))


steps = st.lists(
    st.one_of(
        st.builds(lambda n: lesson(f"Lesson number {n}."), st.integers(0, 3)),
        st.builds(
            lambda n, m: lesson(f"Lesson number {n}.", edits=content_hash(f"Lesson number {m}.")),
            st.integers(0, 3),
            st.integers(0, 3),
        ),
        st.builds(
            lambda kind, n: {kind: content_hash(f"Lesson number {n}.")},
            st.sampled_from(["retired", "observed", "confirmed"]),
            st.integers(0, 3),
        ),
    ),
    min_size=1,
    max_size=8,
)


@given(steps, st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_lines_that_come_bit_by_bit_give_the_same_as_all_at_once(
    world: World, engine: Engine, bodies: list[dict[str, Any]], data: st.DataObject
) -> None:
    path = locations.team_lines(str(world.store), "team:backend")
    if os.path.exists(path):
        os.unlink(path)
    join(world)
    sync_scopes(engine.store, str(world.store))
    join(world, team_backend=False)
    rest, start = list(bodies), 1
    while rest:
        some = rest[: data.draw(st.integers(1, len(rest)))]
        pull(world, *some, start=start)
        rest, start = rest[len(some) :], start + len(some)
        sync_scopes(engine.store, str(world.store))
    found = _described(engine)
    engine.store.forget_sources(["scope:team:backend"])
    sync_scopes(engine.store, str(world.store))

    assert found == _described(engine)


def _described(engine: Engine) -> str:
    found, _ = engine.store.page(Scope(engine.project), 100)
    return json.dumps(
        sorted((each.id, each.name, each.details, each.observation_count, each.updated_at) for each in found), indent=1
    )


def test_nothing_is_loaded_when_no_line_was_pulled(world: World, engine: Engine) -> None:
    """A hook that waits for a sync pays for a team only if there is something new of it."""
    join(world, team_backend=False, project_shop=False, personal_ann=False)
    for scope in ("team:backend", "project:shop", "personal:ann"):
        pull(world, lesson(JITTER), scope=scope)
    sync(engine.store, engine.workspace)
    (world.store / "team.json").write_text("it would be reported if somebody read it", encoding="utf-8")

    assert sync(engine.store, engine.workspace) == []
    assert texts(engine) == {JITTER: 1}


def test_many_new_lines_are_left_to_whoever_has_pulled_them(world: World, engine: Engine) -> None:
    join(world, team_backend=False)
    pull(world, lesson(JITTER), *[{"observed": "a" * 16}] * 3_000)
    sync(engine.store, engine.workspace, end=time.monotonic() + 60)
    assert texts(engine) == {}

    sync(engine.store, engine.workspace)
    assert texts(engine) == {JITTER: 1}
