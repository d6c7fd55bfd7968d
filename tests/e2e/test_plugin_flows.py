"""The shell lines that the plugin's skills tell a model to run, run as they stand there."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PATIENCE, RECOLLECT, World

from recollect.engine.engine import Engine
from recollect.learn.memorize import memorize

SKILLS = Path(__file__).parents[2] / "plugin" / "skills"

DECISION = {
    "title": "Events live in PostgreSQL",
    "tags": ["storage", "events"],
    "confidence": 0.85,
    "content": {
        "status": "accepted",
        "context": "SQLite could not be shared by two hosts",
        "decision": "The event store is PostgreSQL 17",
        "rationale": ["two writers on two hosts"],
    },
}
HOSTILE = 'it\'s "so"; $(touch ran) `touch ran` \\ | & <x> END'


def blocks(skill: str) -> list[str]:
    """The shell blocks of a skill, those in the task for subagents included."""
    text = (SKILLS / skill / "SKILL.md").read_text(encoding="utf-8")
    unquoted = re.sub(r"^> ?", "", text, flags=re.MULTILINE)
    found = re.findall(r"^( *)```sh\n(.*?)```", unquoted, re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in found]


def line(skill: str, beginning: str, **values: str) -> str:
    """The one shell line of a skill that begins so, with its heredoc, and with these values for its capitals."""
    found: list[str] = []
    for block in blocks(skill):
        for match in re.finditer(rf"^{re.escape(beginning)}[^<\n]*(?:<<'(\w+)'\n(?:.*\n)*?\1)?", block, re.MULTILINE):
            found.append(match[0])
    assert len(found) == 1, (beginning, found)
    for name, value in values.items():
        assert name in found[0], (name, found[0])
        found[0] = found[0].replace(name, value)
    assert not re.search(r"\b(CATEGORY|NUMBER|TARGET|HASH|WHY|NEW_INFO|FEATURE|NAME|ID)\b", found[0]), found[0]
    return found[0]


def run(world: World, command: str) -> str:
    """What a shell prints that runs a line in the project, with the installed command on its path; it must succeed."""
    environment = {
        "PATH": f"{Path(RECOLLECT).parent}:{os.environ['PATH']}",
        "HOME": str(world.home),
        "LANG": "C.UTF-8",
        "RECOLLECT_HOME": str(world.store),
        "RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true" if world.semantic else "false",
    }
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=world.project,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


@pytest.fixture
def number() -> Iterator[str]:
    """A number for drafts that no other test uses; no draft is left behind."""
    chosen = str(os.getpid())
    yield chosen
    for path in Path("/tmp").glob(f".memory-draft-*-{chosen}.json"):
        path.unlink()


def draft(category: str, number: str, record: object) -> Path:
    path = Path(f"/tmp/.memory-draft-{category}-{number}.json")
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def transcript(world: World) -> Path:
    path = world.home / "session.jsonl"
    rows = [
        {"type": "user", "message": {"role": "user", "content": "Where do the events go? Two hosts write them."}},
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "content": [
                    {
                        "type": "text",
                        "text": "We decided to use PostgreSQL for events because two hosts write.\n"
                        "We chose version 17 over SQLite due to its locking.\n"
                        "I went with a plain table instead of a queue, the reason being simplicity.",
                    }
                ],
            },
        },
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def stop(world: World, **variables: str) -> subprocess.CompletedProcess[str]:
    event = {"transcript_path": str(transcript(world)), "session_id": f"flow-{os.getpid()}", "cwd": str(world.project)}
    return world.run("hook", "stop", stdin=json.dumps(event), **variables)


def candidate(world: World, category: str, said: str) -> dict[str, Any]:
    begins = "recollect candidate --auto"
    return json.loads(run(world, line("memory-management", begins, CATEGORY=category, NEW_INFO=said)))


def test_held_stop_is_saved_found_and_updated_by_the_lines_of_the_skill(semantic_world: World, number: str) -> None:
    world = semantic_world
    held = stop(world, RECOLLECT_TRIAGE_FLOW="phases", RECOLLECT_TRIAGE_AFTER_PROMPTS="0")
    named = re.search(r"/tmp/\.memory-triage-context-findings[-\w]*\.txt", held.stdout)
    assert named is not None
    data = re.search(r"<triage_data>\n(.*)\n</triage_data>", Path(named[0]).read_text(encoding="utf-8"), re.DOTALL)
    Path(named[0]).unlink()
    assert data is not None
    found = json.loads(data[1])
    entry = next(each for each in found["categories"] if each["category"] == "decision")
    context = Path(entry["context_file"])
    assert re.fullmatch(r"\.memory-triage-context-decision(-[\w-]+)?\.txt", context.name)
    assert "PostgreSQL" in context.read_text(encoding="utf-8")
    assert set(found["parallel_config"]) == {"enabled", "category_models", "verification_model", "default_model"}
    for each in found["categories"]:
        Path(each["context_file"]).unlink()

    assert candidate(world, "decision", "Events are stored in PostgreSQL")["structural_cud"] == "CREATE"
    first = draft("decision", number, DECISION)
    check = "recollect write --check --action create"
    checked = json.loads(run(world, line("memory-management", check, CATEGORY="decision", NUMBER=number)))
    assert checked["status"] == "valid"
    create = "recollect write --action create"
    run(world, line("memory-management", create, CATEGORY="decision", NUMBER=number))
    assert not first.exists()
    assert "Events live in PostgreSQL" in run(world, "recollect search --category decision -- 'where do events go'")

    again = candidate(world, "decision", "The events in PostgreSQL are partitioned by month")
    assert again["structural_cud"] == "UPDATE"
    target, digest = again["candidate"]["path"], again["candidate"]["hash"]
    shown = json.loads(run(world, f"recollect show '{target}' --json"))
    assert shown["hash"] == digest
    record = shown["record"]
    record["content"]["consequences"] = ["partitioned by month"]
    record["changes"] = [{"date": "2026-11-16T00:00:00Z", "summary": "Partitioned"}]
    draft("decision", number, record)
    update = "recollect write --action update"
    written = run(
        world,
        line("memory-management", update, TARGET=target, HASH=digest, CATEGORY="decision", NUMBER=number),
    )
    assert json.loads(written)["status"] == "updated"


def test_thing_that_is_gone_is_deleted_by_the_line_of_the_skill(world: World, number: str) -> None:
    debt = {
        "title": "Sessions are kept in memory",
        "tags": ["sessions"],
        "content": {"status": "open", "priority": "low", "description": "lost at a restart", "reason_deferred": "time"},
    }
    draft("tech_debt", number, debt)
    created = run(
        world, line("memory-management", "recollect write --action create", CATEGORY="tech_debt", NUMBER=number)
    )
    target = json.loads(created)["target"]
    delete = "recollect write --action delete"
    run(world, line("memory-management", delete, TARGET=target, WHY="sessions are in the database now"))
    assert "\tSessions are kept in memory\tretired\n" in run(world, "recollect list --state retired")


def test_staged_capture_is_reviewed_by_the_lines_of_the_skill(world: World, number: str) -> None:
    assert stop(world, RECOLLECT_TRIAGE_MODE="stage").returncode == 0
    waiting = json.loads(run(world, "recollect review --json"))["captures"]
    capture = next(each for each in waiting if each["category"] == "decision")
    assert "PostgreSQL" in run(world, f"recollect review {capture['id']}")
    draft("decision", number, DECISION)
    save = line("memory-management", "recollect write --action create", CATEGORY="decision", NUMBER=number)
    run(world, save.replace(" --auto", ""))
    run(world, line("memory-management", "recollect review --saved", ID=capture["id"]))
    for other in waiting:
        if other is not capture:
            run(world, line("memory-management", "recollect review --dismiss", ID=other["id"]))
    assert json.loads(run(world, "recollect review --json"))["captures"] == []


def test_what_was_said_cannot_run_anything_on_its_way_to_a_command(world: World) -> None:
    assert candidate(world, "decision", HOSTILE)["structural_cud"] == "CREATE"
    quoted = HOSTILE.replace("'", "'\\''")
    run(world, f"recollect search --limit 10 -- '{quoted}'")
    assert not (world.project / "ran").exists()


def lessons() -> list[dict[str, Any]]:
    """What the agent of a retrospective returns, in the form that step 4 puts it into."""
    common = {"source": "retro", "feature": "012"}
    return [
        {
            **common,
            "name": "Pin the Base Image",
            "category": "patterns",
            "description": "A tag moves. A digest makes a build repeatable.",
            "confidence": "high",
            "keywords": ["docker", "image-digest", "repeatable-builds"],
            "reasoning": "Two builds of one commit differed.",
            "references": ["Dockerfile"],
        },
        {
            **common,
            "name": "Lock the Cart First",
            "category": "anti-patterns",
            "description": "checkout.py read the total before it took the lock, and an order was charged twice.",
            "confidence": "medium",
            "keywords": ["cart-lock", "checkout", "race-condition"],
            "reasoning": "Two tabs paid for one cart.",
            "references": ["checkout.py"],
        },
    ]


def retrospective(world: World, number: str) -> list[dict[str, Any]]:
    draft("retro", number, lessons())
    step = line("retrospecting", "recollect promote --as project-specific", FEATURE="012", NUMBER=number)
    return json.loads(run(world, step))["entries"]


def hit(world: World, query: str) -> dict[str, Any]:
    (found,) = json.loads(run(world, f"recollect search --json --limit 1 -- '{query}'"))["hits"]
    return found


def test_retrospective_writes_bank_and_store_and_counts_each_lesson_once(semantic_world: World, number: str) -> None:
    world = semantic_world
    assert {entry["action"] for entry in retrospective(world, number)} == {"saved to the project's bank"}
    bank = world.project / "docs" / "knowledge-bank"
    pattern = (bank / "patterns.md").read_text(encoding="utf-8")
    for expected in (
        "### Pattern: Pin the Base Image\nA tag moves. A digest makes a build repeatable.\n- Used in: Feature #012\n",
        "- Observation count: 1\n- Keywords: docker, image-digest, repeatable-builds\n- References: Dockerfile\n"
        "- Reasoning: Two builds of one commit differed.\n",
    ):
        assert expected in pattern

    names = "recollect promote --as universal"
    promote = line("retrospecting", names, FEATURE="012", **{"'NAME' 'NAME'": "'Pin the Base Image'"})
    assert "Memory promotion: 1 universal entries promoted to global store, 0" in run(world, promote)
    shared = (world.store / "patterns.md").read_text(encoding="utf-8")
    assert "- Source: shop-front, Feature #012\n- Observation count: 1\n" in shared
    assert not (world.store / "anti-patterns.md").exists()

    universal = hit(world, "builds that can be repeated")
    assert (universal["name"], universal["observation_count"], universal["project"]) == ("Pin the Base Image", 1, "")
    assert universal["keywords"] == ["docker", "image-digest", "repeatable-builds"]
    assert (universal["reasoning"], universal["references"]) == ("Two builds of one commit differed.", ["Dockerfile"])
    local = hit(world, "cart lock checkout")
    assert (local["name"], local["observation_count"]) == ("Lock the Cart First", 1)
    assert local["project"] == str(world.project)


def test_lesson_observed_again_counts_two_and_retired_one_is_found_no_more(semantic_world: World, number: str) -> None:
    world = semantic_world
    retrospective(world, number)
    path = world.project / "docs" / "knowledge-bank" / "patterns.md"
    text = path.read_text(encoding="utf-8")
    again = text.replace("- Observation count: 1\n", "- Observation count: 2\n")
    assert {entry["action"] for entry in retrospective(world, number)} == {"seen again in the project's bank"}
    assert path.read_text(encoding="utf-8") == f"{again}- Last observed: Feature #012\n"
    assert hit(world, "builds that can be repeated")["observation_count"] == 2
    path.write_text(text.partition("### ")[0], encoding="utf-8")
    assert json.loads(run(world, "recollect search --json -- 'builds that can be repeated'"))["hits"] == []


def test_judgement_by_evidence_agrees_with_the_examples_of_the_skill(world: World, number: str) -> None:
    (world.project / "checkout.py").write_text("def total() -> int: ...\n", encoding="utf-8")
    retrospective(world, number)
    judged = line(
        "retrospecting",
        "recollect promote --dry-run",
        **{"'NAME' 'NAME'": "'Pin the Base Image' 'Lock the Cart First'"},
    )
    printed = run(world, judged)
    assert "+ universal Pattern: Pin the Base Image" in printed
    assert "· project-specific Anti-Pattern: Lock the Cart First" in printed


def test_retrospective_settles_what_sessions_have_stored(semantic_world: World) -> None:
    world = semantic_world
    (world.project / "checkout.py").write_text("def total() -> int: ...\n", encoding="utf-8")
    with Engine(world.workspace(variables={"RECOLLECT_MEMORY_KEYWORD_PROVIDER": "rules"})) as engine:
        for name, text in (
            ("Pin the Base Image", "A tag moves. A digest makes a build repeatable."),
            ("Pin Base Images", "Tags of base images move; pin them by digest."),
            ("Lock the Cart First", "checkout.py must lock the cart before it reads the total."),
        ):
            memorize(engine, name=name, description=text, reasoning="Seen.", category="patterns")
    looked = json.loads(run(world, line("retrospecting", "recollect promote --json --dry-run")))["entries"]
    captured = {entry["name"]: entry for entry in looked if entry["captured"]}
    assert set(captured) == {"Pin the Base Image", "Pin Base Images", "Lock the Cart First"}
    (twin,) = captured["Pin the Base Image"]["like"]
    assert twin["title"] == "Pattern: Pin Base Images"

    run(world, line("retrospecting", "recollect retire", ID=twin["id"], WHY="it is the same as another"))
    universal = {"'NAME' 'NAME'": "'Pin the Base Image'"}
    run(world, line("retrospecting", "recollect promote --as universal", FEATURE="012", **universal))
    own = {"'NAME' 'NAME'": captured["Lock the Cart First"]["id"]}
    printed = run(world, line("retrospecting", "recollect promote --feature", FEATURE="012", **own))
    assert "saved to the project's bank" in printed
    assert json.loads(run(world, line("retrospecting", "recollect promote --json --dry-run")))["entries"] == []
    found = hit(world, "builds that can be repeated")
    assert (found["name"], found["observation_count"], found["project"]) == ("Pin the Base Image", 1, "")
    local = hit(world, "cart total lock checkout")
    assert (local["observation_count"], local["project"]) == (1, str(world.project))
