"""Whose word an entry is: kept, shown, and used, so that a cloned repository never speaks louder than the user."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import World

from recollect.domain.ranking.trust import AS_GOOD, ORIGINS, in_turns, never_outranked, trusted_first
from recollect.recall.deferred import DeferredWrites
from recollect.sessions.attention import newcomer

WORDS = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true", "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
MEANING = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true"}


def upsert(world: World, source: str, name: str) -> None:
    entry = {"name": name, "description": f"Importers need advisory locks, says {name}.", "category": "patterns"}
    done = world.run("upsert", "--action", "upsert", "--entry-json", json.dumps({**entry, "source": source}), **WORDS)
    assert done.returncode == 0, done.stderr


def found(world: World, *query: str, **variables: str) -> list[dict[str, Any]]:
    done = world.run("search", *query, "--json", **{**WORDS, **variables})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["hits"]


def started(world: World, session: str = "s1", **variables: str) -> dict[str, Any]:
    event = {"session_id": session, "cwd": str(world.project), "source": "startup"}
    return json.loads(world.run_hook("session-start", event, **{**WORDS, **variables}).stdout or "{}")


def test_every_entry_says_whose_word_it_is(world: World) -> None:
    world.write_bank("patterns", "### Pattern: Bank\nImporters need advisory locks, says the bank.\n")
    world.write_bank("heuristics", "### Heuristic: Mine\nImporters need advisory locks, say I.\n", shared=True)
    world.write_decision("advisory-locks", title="Advisory locks for importers")
    for source in ("manual", "session-capture", "retro", "import"):
        upsert(world, source, source)
    hits = found(world, "importers advisory locks")
    assert {hit["name"]: hit["origin"] for hit in hits} == {
        "Bank": "repository",
        "Mine": "you",
        "Advisory locks for importers": "repository",
        "manual": "you",
        "session-capture": "agent",
        "retro": "agent",
        "import": "import",
    }
    ids = {hit["name"]: hit["id"] for hit in hits}
    assert json.loads(world.run("show", ids["retro"], "--json", **WORDS).stdout)["origin"] == "agent"
    assert "repository" in world.run("show", ids["Bank"], **WORDS).stdout
    assert json.loads(world.run("show", "advisory-locks", "--json", **WORDS).stdout)["origin"] == "repository"
    listed = json.loads(world.run("list", "--json").stdout)["memories"]
    assert {each["title"]: each["origin"] for each in listed} == {hit["name"]: hit["origin"] for hit in hits}
    assert "origin you" in world.run("search", "importers locks", "--explain", **WORDS).stdout


def test_of_several_origins_the_most_trusted_counts(world: World) -> None:
    text = "Importers need advisory locks."
    world.write_bank("patterns", f"### Pattern: Locks\n{text}\n")
    assert [hit["origin"] for hit in found(world, "advisory locks")] == ["repository"]
    for source, origin in (("import", "import"), ("session-capture", "agent"), ("manual", "you"), ("retro", "you")):
        entry = {"name": "Locks", "description": text, "category": "patterns", "source": source}
        world.run("upsert", "--action", "upsert", "--entry-json", json.dumps(entry), **WORDS)
        assert [hit["origin"] for hit in found(world, "advisory locks")] == [origin]
    world.run("rebuild", **WORDS)
    assert [hit["origin"] for hit in found(world, "advisory locks")] == ["you"]


@pytest.mark.parametrize("variables", [WORDS, MEANING], ids=["words", "meaning"])
@pytest.mark.parametrize("ending", ["!", " Always.", " and so on"])
def test_a_near_copy_in_the_repository_never_comes_before_your_own(
    world: World, variables: dict[str, str], ending: str
) -> None:
    text = "Advisory locks keep importers apart when the queue hands out an order twice"
    others = "".join(
        f"### Heuristic: Topic {n}\nTopic {n} is about colour number {n} of a button.\n\n" for n in range(30)
    )
    world.write_bank("heuristics", others, shared=True)
    world.write_bank("patterns", f"### Pattern: Mine\n{text}.\n", shared=True)
    world.write_bank("patterns", f"### Pattern: Copy\n{text}{ending}\n")
    names = [hit["name"] for hit in found(world, "why do importers need advisory locks", **variables)]
    assert [name for name in names if name in ("Mine", "Copy")] == ["Mine", "Copy"]
    asked = {"prompt": "do advisory locks keep the importers of the queue apart", "source": "startup"}
    for hook in ("session-start", "prompt"):
        done = world.run_hook(hook, {"session_id": hook, "cwd": str(world.project), **asked}, **variables)
        given_text = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
        assert 0 < given_text.index("Mine") < given_text.index("Copy")


def test_markdown_alone_also_puts_your_own_first(world: World) -> None:
    world.write_bank("patterns", "### Pattern: Copy\nImporters need locks!\n")
    world.write_bank("patterns", "### Pattern: Mine\nImporters need locks.\n", shared=True)
    text = started(world, RECOLLECT_MEMORY_SEMANTIC_ENABLED="false")["hookSpecificOutput"]["additionalContext"]
    assert text.index("Pattern: Mine") < text.index("Pattern: Copy [repository]")


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from(ORIGINS)), max_size=30))
def test_nothing_stands_before_the_best_that_is_more_trusted_and_as_good(items: list[tuple[float, str]]) -> None:
    ranked = sorted(items, key=lambda item: -item[0])
    placed = trusted_first(ranked, lambda item: item[0], lambda item: item[1])
    assert sorted(placed) == sorted(items)
    for place, (score, origin) in enumerate(placed):
        left = placed[place:]
        best = max(other for other, _ in left)
        assert score >= best - AS_GOOD
        assert not any(ORIGINS.index(o) < ORIGINS.index(origin) and s >= best - AS_GOOD for s, o in left)
        assert not any(s == score and ORIGINS.index(o) < ORIGINS.index(origin) for s, o in left)


def test_what_comes_from_the_repository_is_marked_as_its_notes(world: World) -> None:
    world.write_bank("patterns", "### Pattern: Theirs\nImporters need locks, they say.\n")
    world.write_bank("heuristics", "### Heuristic: Mine\nImporters need locks, say I.\n", shared=True)
    text = started(world)["hookSpecificOutput"]["additionalContext"]
    assert "### Pattern: Theirs [repository]\n" in text
    assert "### Heuristic: Mine\n" in text


def test_the_first_session_in_a_repository_says_once_what_it_brings(world: World) -> None:
    world.write_bank("patterns", "### Pattern: A\nImporters need locks.\n\n### Pattern: B\nAnd queues.\n")
    world.write_decision("advisory-locks")
    said = started(world, "s1")["systemMessage"]
    assert "this repository brings 1 memory and 2 bank entries" in said
    assert "never obeyed" in said
    assert "`recollect list`" in said
    assert "brings" not in started(world, "s2").get("systemMessage", "")
    world.write_decision("more")
    assert "brings" not in started(world, "s3").get("systemMessage", "")


def test_a_project_that_began_here_brings_nothing(world: World) -> None:
    assert "brings" not in started(world, "s1").get("systemMessage", "")
    world.write_bank("patterns", "### Pattern: A\nImporters need locks.\n")
    assert "brings" not in started(world, "s2").get("systemMessage", "")


def test_memories_that_were_written_by_recollect_were_not_brought(world: World) -> None:
    record = json.loads(world.write_decision("x").read_text(encoding="utf-8"))
    (world.project / ".claude" / "memory" / "decisions" / "x.json").unlink()
    draft = json.dumps({"title": "Use advisory locks", "tags": ["locks"], "content": record["content"]})
    done = world.run("write", "--action", "create", "--category", "decision", "--input", "-", stdin=draft, **WORDS)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "brings" not in started(world).get("systemMessage", "")


def test_a_repository_cannot_count_itself_to_the_front(world: World) -> None:
    text = "### Pattern: {}\nImporters need advisory locks, {}.\n- Observation count: {}\n- Confidence: high\n"
    world.write_bank("patterns", text.format("Theirs", "say they", 999_999_999))
    world.write_bank("patterns", text.format("Mine", "say I", 3), shared=True)
    counts = {hit["name"]: hit["observation_count"] for hit in found(world, "importers advisory locks")}
    assert counts["Mine"] == 3
    assert counts["Theirs"] <= 20


MARKDOWN = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"}
BOASTING = "### Pattern: {}\n{}\n- Observation count: 9999\n- Confidence: high\n- Last observed: 2099-01-01\n\n"


@pytest.mark.parametrize("variables", [WORDS, MARKDOWN], ids=["words", "markdown"])
def test_a_repository_that_boasts_does_not_shut_out_your_own(world: World, variables: dict[str, str]) -> None:
    world.write_bank("patterns", "".join(BOASTING.format(f"Theirs {n}", f"Do as number {n} says.") for n in range(40)))
    mine = "### Pattern: Mine\nKeep importers apart.\n\n### Pattern: Mine too\nKeep queues short.\n"
    world.write_bank("patterns", mine, shared=True)
    text = started(world, **variables)["hookSpecificOutput"]["additionalContext"]
    assert "### Pattern: Mine\n" in text
    assert "### Pattern: Mine too\n" in text
    assert text.count("[repository]\n") == 18
    if variables is WORDS:
        assert text.index("Pattern: Mine too") < text.index("Pattern: Theirs")


@pytest.mark.parametrize("variables", [WORDS, MARKDOWN], ids=["words", "markdown"])
def test_a_large_global_bank_does_not_shut_out_the_project_s_own(world: World, variables: dict[str, str]) -> None:
    own = "### Pattern: Own {0}\nThe project does {0}.\n- Observation count: {0}\n\n"
    shared = "### Pattern: Global {0}\nEverybody does {0}.\n- Observation count: 30\n- Confidence: high\n\n"
    world.write_bank("patterns", "".join(own.format(n) for n in range(1, 11)))
    world.write_bank("patterns", "".join(shared.format(n) for n in range(500)), shared=True)
    text = started(world, **variables)["hookSpecificOutput"]["additionalContext"]
    given = [n for n in range(1, 11) if f"### Pattern: Own {n} [repository]\n" in text]
    # In markdown, the best one stays and others have their day.
    assert given == [5, 6, 7, 8, 9, 10] if variables is WORDS else len(given) == 6 and given[-1] == 10


@pytest.mark.parametrize("variables", [WORDS, MARKDOWN], ids=["words", "markdown"])
def test_what_you_have_too_is_yours_however_often_a_repository_claims_it(
    world: World, variables: dict[str, str]
) -> None:
    world.write_bank("patterns", BOASTING.format("Theirs", "Keep importers apart."))
    world.write_bank("patterns", "### Pattern: Mine\nKeep importers apart.\n", shared=True)
    text = started(world, **variables)["hookSpecificOutput"]["additionalContext"]
    assert "[repository]\n" not in text
    assert text.count("Keep importers apart.") == 1


rows = st.lists(st.tuples(st.floats(0, 0.7), st.floats(0, 0.3), st.sampled_from(ORIGINS)), max_size=30)


@given(rows)
def test_nothing_stands_before_what_is_more_trusted_and_as_relevant(items: list[tuple[float, float, str]]) -> None:
    ranked = sorted(items, key=lambda item: -item[0] - item[1])
    placed = never_outranked(ranked, lambda item: item[0] + item[1], lambda item: item[0], lambda item: item[2])
    assert sorted(placed) == sorted(items)
    for place, (relevance, _, origin) in enumerate(placed):
        for other, _, whose in placed[place:]:
            assert ORIGINS.index(whose) >= ORIGINS.index(origin) or other < relevance - AS_GOOD
    if len({origin for *_, origin in items}) == 1:
        assert placed == ranked


@given(st.lists(st.booleans(), max_size=40))
def test_wherever_a_list_in_turns_is_cut_neither_side_is_shut_out(sides: list[bool]) -> None:
    placed = in_turns(enumerate(sides), lambda item: item[1], len(sides))
    assert sorted(placed) == list(enumerate(sides))
    for end in range(len(placed) + 1):
        for side in (True, False):
            assert sum(is_theirs is side for _, is_theirs in placed[:end]) >= min(end // 3, sides.count(side))
    for side in (True, False):
        own = [place for place, is_theirs in placed if is_theirs is side]
        assert own == sorted(own)


def test_a_bank_of_any_size_is_told_of_without_being_read(world: World) -> None:
    world.write_bank("patterns", "### Pattern: A\n" + "Importers need locks.\n" * 100_000)
    said = started(world, "s1", RECOLLECT_MEMORY_SEMANTIC_ENABLED="false")["systemMessage"]
    assert "this repository brings many bank entries" in said


def test_what_a_repository_brings_is_told_again_if_nobody_could_be_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write_decision("advisory-locks")
    place = world.workspace()
    notes = DeferredWrites(wait=True)
    assert "brings 1 memory" in newcomer(place, notes)
    monkeypatch.setattr("recollect.sessions.attention._memories", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        newcomer(place, DeferredWrites())
    monkeypatch.undo()
    assert "brings 1 memory" in newcomer(place, DeferredWrites(wait=True)), "what waits was never told"
    notes.write()
    assert newcomer(place, DeferredWrites()) == ""
