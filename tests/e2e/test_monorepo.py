"""A package of a monorepo: a session that works in it is given the memories about it first, and the others, too."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import World, days_ago

PACKAGES = ("billing", "search", "web")
QUESTION = "how long may the request timeout of the gateway be?"


@pytest.fixture(params=[True, False], ids=["store", "files"])
def monorepo(request: pytest.FixtureRequest, world: World) -> World:
    """A repository of three packages, each with its own memory about the same thing."""
    found = replace(world, semantic=request.param)
    found.make_repository()
    for age, name in enumerate(PACKAGES):
        folder = found.project / "packages" / name
        (folder / "src").mkdir(parents=True)
        (folder / "package.json").touch()
        found.write_decision(
            f"gateway-timeout-{name}",
            title=f"Request timeout of the gateway in {name}",
            tags=["gateway", "timeout"],
            related_files=[f"packages/{name}/src/gateway.py"],
            updated_at=days_ago(age + 40),
            content={
                "status": "accepted",
                "context": "c",
                "decision": f"The gateway request timeout is {age + 2} seconds.",
                "rationale": ["measured"],
            },
        )
    return found


def asked(world: World, folder: Path, session: str) -> str:
    event = {"prompt": QUESTION, "session_id": session, "cwd": str(folder), "hook_event_name": "UserPromptSubmit"}
    done = world.run_hook("prompt", event, RECOLLECT_RETRIEVAL_MAX_INJECT="3")
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


def started(world: World, folder: Path, session: str) -> str:
    event = {"source": "startup", "session_id": session, "cwd": str(folder), "hook_event_name": "SessionStart"}
    done = world.run_hook("session-start", event)
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def order(text: str) -> list[str]:
    found = {name: text.find(f"gateway in {name}") for name in PACKAGES}
    assert -1 not in found.values(), "no memory is left out"
    return sorted(PACKAGES, key=lambda name: found[name])


@pytest.mark.parametrize("name", PACKAGES)
def test_prompt_is_given_the_memories_of_the_package_at_hand_first(monorepo: World, name: str) -> None:
    asked(monorepo, monorepo.project, "warm")
    usual = order(asked(monorepo, monorepo.project, "root"))
    below = monorepo.project / "packages" / name / "src"
    assert order(asked(monorepo, below, "below")) == [name, *(each for each in usual if each != name)]


@pytest.mark.parametrize("name", PACKAGES)
def test_start_lists_the_memories_of_the_package_at_hand_first(monorepo: World, name: str) -> None:
    usual = order(started(monorepo, monorepo.project, "root"))
    assert usual == list(PACKAGES), "the newest first"
    below = monorepo.project / "packages" / name
    assert order(started(monorepo, below, "below")) == [name, *(each for each in usual if each != name)]


def test_command_lists_them_as_the_hook_does(monorepo: World) -> None:
    done = monorepo.run("inject", cwd=monorepo.project / "packages" / "web")
    assert order(done.stdout) == ["web", "billing", "search"]


@pytest.mark.parametrize("name", PACKAGES)
def test_package_at_hand_comes_first_by_meaning_too(semantic_world: World, name: str) -> None:
    world = semantic_world
    world.make_repository()
    for each in PACKAGES:
        (world.project / "packages" / each / "src").mkdir(parents=True)
        (world.project / "packages" / each / "package.json").touch()
        world.write_decision(
            f"gateway-of-{each}",
            title=f"Request timeout of the gateway in {each}",
            related_files=[f"packages/{each}/src/gateway.py"],
            content={"status": "accepted", "context": "c", "decision": "Two seconds.", "rationale": ["measured"]},
        )
    done = world.run("try", QUESTION, "--json", cwd=world.project / "packages" / name)
    tried = json.loads(done.stdout)
    assert tried["compared"] == "words and meaning"
    assert tried["texts"][0]["title"] == f"Request timeout of the gateway in {name}"
    assert len(tried["texts"]) == len(PACKAGES)


def test_better_match_elsewhere_stays_first(semantic_world: World) -> None:
    world = semantic_world
    world.make_repository()
    (world.project / "web").mkdir()
    world.write_decision(
        "zebra-migration",
        title="Zebra migration of ledger partitions",
        tags=["zebra", "ledger"],
        related_files=["ledger/a.py"],
    )
    world.write_decision(
        "ledger-colours", title="Ledger colours and partitions", tags=["colours"], related_files=["web/a.css"]
    )
    for number in range(6):
        world.write_decision(f"other-{number}", title=f"Something else number {number}", tags=[f"t{number}"])
    event = {"prompt": "why did the zebra migration change the ledger partitions?", "cwd": str(world.project / "web")}
    texts = [
        json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
        for session in ("warm", "one")
        if (done := world.run_hook("prompt", {**event, "session_id": session, "hook_event_name": "UserPromptSubmit"}))
        and done.stdout
    ]
    assert 0 < texts[-1].find("Zebra migration") < texts[-1].find("Ledger colours")
