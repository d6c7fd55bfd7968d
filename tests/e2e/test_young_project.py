"""Short prompts in a project that has just begun, through the real hook: what it knows reaches them, by words alone."""

from __future__ import annotations

import json

import pytest
from bench.retrieval.prompts import DATA, WRITTEN, YOUNG, YOUNG_HELD_OUT
from tests.conftest import World

from recollect.domain.categories import FOLDER

UNRELATED = ("run the tests", "explain this function to me", "fix the lint errors please", "what changed since monday?")


def lines(name: str) -> list[str]:
    with open(f"{DATA}/{YOUNG}/{name}", encoding="utf-8") as file:
        return file.read().splitlines()


def remember(world: World, project: str, count: int) -> list[str]:
    """Write the first memories of a project as files, with their triggers; return their slugs."""
    when = {line["of"]: line["triggers"] for line in map(json.loads, lines("triggers.jsonl"))}
    slugs: list[str] = []
    for record in map(json.loads, lines("memories.jsonl")):
        if record.pop("project") != project or len(slugs) == count:
            continue
        slugs.append(record["id"])
        path = world.project / ".claude" / "memory" / FOLDER[record["category"]] / f"{record['id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        times = {"created_at": WRITTEN, "updated_at": WRITTEN, "triggers": when[record["id"]]}
        path.write_text(json.dumps({"schema_version": "1.0", **times, **record}), encoding="utf-8")
    assert world.run("rebuild", RECOLLECT_MEMORY_EMBEDDING_ENABLED="false").returncode == 0
    return slugs


def given(world: World, prompt: str, session: str) -> str:
    event = {"session_id": session, "cwd": str(world.project), "prompt": prompt}
    done = world.run_hook("prompt", event, RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


@pytest.mark.parametrize("count", [1, 5, 12])
def test_question_about_the_database_gets_the_decision_on_it(semantic_world: World, count: int) -> None:
    remember(semantic_world, YOUNG_HELD_OUT[0], count - 1)
    content = {
        "status": "accepted",
        "context": "Reports need joins.",
        "decision": "Use PostgreSQL.",
        "rationale": ["SQL"],
    }
    semantic_world.write_decision("use-postgresql", title="PostgreSQL for all data", tags=["database"], content=content)
    assert "PostgreSQL for all data" in given(semantic_world, "which database do we use?", "s1")
    assert "PostgreSQL for all data" in given(semantic_world, "add a table to the postgresql schema", "s2")


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 5, 12])
def test_most_prompts_get_their_memory_and_general_ones_no_text(semantic_world: World, count: int) -> None:
    found: list[bool] = []
    for project in YOUNG_HELD_OUT:
        for folder in FOLDER.values():
            for path in (semantic_world.project / ".claude" / "memory" / folder).glob("*.json"):
                path.unlink()
        slugs = remember(semantic_world, project, count)
        titles = {record["id"]: record["title"] for record in map(json.loads, lines("memories.jsonl"))}
        for number, line in enumerate(lines("about.tsv")):
            owner, slug, prompt = line.split("\t")
            if owner == project and slug in slugs:
                found.append(titles[slug] in given(semantic_world, prompt, f"{project}-{number}"))
        for number, prompt in enumerate(UNRELATED):
            assert "- [" not in given(semantic_world, prompt, f"{project}-unrelated-{number}"), "titles alone"
    assert sum(found) >= 0.75 * len(found), f"{sum(found)} of {len(found)}"
