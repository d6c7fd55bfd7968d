"""`recollect dedupe`, what `recollect add` asks, and what expired: through the command line and the hooks."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.conftest import PATIENCE, RECOLLECT, World, days_ago, read_terminal

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
_RETRY = "Retries without jitter arrive together, and overload the gateway again."
_DRESSED = "Retries without *jitter* arrive together; and **overload** gateway again"
_LIKE = "Without jitter, retries overload the gateway together."


def bank(world: World, *lessons: tuple[str, str]) -> None:
    text = "".join(f"### Heuristic: {name}\n{text}\n- Observation count: 2\n\n" for name, text in lessons)
    world.write_bank("heuristics", f"# Heuristics\n\n{text}")


def run(world: World, *arguments: str) -> dict[str, Any]:
    done = world.run(*arguments, "--json", **BY_WORDS)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def hook(world: World, name: str, session: str, **event: str) -> str:
    done = world.run_hook(name, {"session_id": session, "cwd": str(world.project), **event}, **BY_WORDS)
    assert done.returncode == 0
    return json.loads(done.stdout or "{}").get("hookSpecificOutput", {}).get("additionalContext", "")


def ask(world: World, prompt: str, session: str = "s1") -> str:
    return hook(world, "prompt", session, prompt=prompt)


def test_same_text_is_merged_undone_and_never_merged_again(semantic_world: World) -> None:
    world = semantic_world
    bank(world, ("Retry with jitter", _RETRY), ("Retry with jitter", _DRESSED))
    assert "Would be merged" in world.run("dedupe", "--dry-run", **BY_WORDS).stdout
    done = run(world, "dedupe")
    [merged] = done["merged"]
    shown = run(world, "show", merged["kept"]["id"])
    assert shown["observed"] == 4
    assert shown["supersedes"] == [f"{merged['gone']['id']} Retry with jitter"]
    gone = run(world, "show", merged["gone"]["id"])
    assert gone["status"] == "retired"
    assert gone["superseded_by"] == [f"{merged['kept']['id']} Retry with jitter"]
    assert gone["retired"][0]["reason"].startswith(f"merged into {merged['kept']['id']}")
    listed = {each["id"]: each["supersedes"] for each in run(world, "list", "--all")["memories"]}
    assert listed[merged["kept"]["id"]] == [merged["gone"]["id"]]
    undone = world.run("dedupe", "--undo", merged["gone"]["id"], **BY_WORDS)
    assert undone.stdout.startswith("Restored: Retry with jitter.")
    assert run(world, "dedupe") == {"dry_run": False, "merged": [], "pairs": [], "failed": [], "warnings": []}


def test_two_processes_that_merge_at_once_merge_once(semantic_world: World) -> None:
    world = semantic_world
    bank(
        world,
        *(
            (f"Retry with jitter {n}", text)
            for n in range(4)
            for text in (f"Case {n}: {_RETRY}", f"Case {n}: {_DRESSED}")
        ),
    )
    world.run("list", **BY_WORDS)
    processes = [world.start("dedupe", "--json", encoding="utf-8", **BY_WORDS) for _ in range(3)]
    for process in processes:
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    entries = run(world, "list", "--all")["memories"]
    assert sorted(entry["status"] for entry in entries) == ["active"] * 4 + ["retired"] * 4
    for entry in entries:
        assert len(entry["supersedes"]) == (entry["status"] == "active")
        assert run(world, "show", entry["id"])["observed"] == (4 if entry["status"] == "active" else 2)


def test_collection_merges_too(semantic_world: World) -> None:
    world = semantic_world
    (world.project / ".claude" / "memory").mkdir(parents=True)
    bank(world, ("Retry with jitter", _RETRY), ("Retry with jitter", _DRESSED))
    world.run("list", **BY_WORDS)
    assert "MERGE " in world.run("index", "--gc", "--dry-run", **BY_WORDS).stdout
    assert "MERGED " in world.run("index", "--gc", **BY_WORDS).stdout
    assert run(world, "dedupe")["merged"] == []


def test_likely_pair_is_listed_with_what_differs_and_settled_by_an_option(semantic_world: World) -> None:
    world = semantic_world
    bank(world, ("Retry with jitter", _RETRY), ("Jitter for retries", _LIKE), ("Imports", "Name the whole module."))
    done = run(world, "dedupe")
    [pair] = done["pairs"]
    assert {pair["one"]["title"], pair["other"]["title"]} == {"Retry with jitter", "Jitter for retries"}
    assert {part["op"] for part in pair["diff"]} == {"same", "removed", "added"}
    listed = world.run("dedupe", **BY_WORDS).stdout
    assert "[-" in listed
    assert "{+" in listed
    one, other = pair["one"]["id"], pair["other"]["id"]
    kept = run(world, "dedupe", "--keep-both", one, other)
    assert kept["outcome"] == "keep_both"
    assert run(world, "dedupe")["pairs"] == []
    merged = run(world, "dedupe", "--merge", one, other)
    assert (merged["outcome"], merged["kept"]["id"], merged["restore"]) == ("merged", one, f"recollect restore {other}")
    world.run("dedupe", "--undo", other, **BY_WORDS)
    assert run(world, "dedupe", "--supersede", other, one)["outcome"] == "supersedes"
    [hit] = run(world, "search", "overload the gateway")["hits"]
    assert (hit["id"], hit["supersedes"]) == (other, one)
    assert hit["was"].startswith(f"was: {pair['one']['title']} (until 20")
    assert hit["was"] in world.run("search", "overload the gateway", **BY_WORDS).stdout


@pytest.mark.parametrize(
    "arguments", [("--merge", "a", "b", "--undo", "c"), ("--undo", "c", "--dry-run"), ("--merge", "a")]
)
def test_wrong_use_is_told(semantic_world: World, arguments: tuple[str, ...]) -> None:
    world = semantic_world
    assert world.run("dedupe", *arguments, **BY_WORDS).returncode == 2


def test_unknown_names_change_nothing(semantic_world: World) -> None:
    world = semantic_world
    done = world.run("dedupe", "--merge", "0123456789abcdef", "fedcba9876543210", **BY_WORDS)
    assert done.returncode == 1
    assert "no entry has the id" in done.stderr


def test_keys_settle_pairs_on_a_terminal(semantic_world: World) -> None:
    world = semantic_world
    bank(world, ("Retry with jitter", _RETRY), ("Jitter for retries", _LIKE))
    shown = keyed(world, "n", "dedupe")
    assert "1 of 1" in shown
    assert all(len(line) <= 80 for line in re.sub(r"\x1b\[[0-9;]*m", "", shown).split("\n"))
    assert shown.endswith("0 pairs settled; 1 pair is left.\n")
    shown = keyed(world, "k", "dedupe")
    assert "Both are kept: " in shown
    assert run(world, "dedupe")["pairs"] == []


def test_terminal_asks_what_a_new_memory_is_to_a_similar_one(semantic_world: World) -> None:
    world = semantic_world
    old = run(world, "add", "decision", "Carts are kept in MySQL.")["id"]
    shown = keyed(world, "s", "add", "decision", "Carts are kept in PostgreSQL now.")
    assert f"{old} is retired; `recollect restore" in " ".join(shown.split())
    assert run(world, "show", old)["status"] == "retired"


def keyed(world: World, pressed: str, *arguments: str) -> str:
    """Run a command on a terminal with these keys, each after the question; return all that was shown."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = world.environment({"TERM": "xterm", **BY_WORDS})
    process = subprocess.Popen(
        [RECOLLECT, *arguments], cwd=world.project, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    for key in pressed:
        asked = shown.count(b"q quit: ")
        while shown.count(b"q quit: ") == asked:
            shown += os.read(ours, 65536)
        while termios.tcgetattr(ours)[3] & termios.ICANON:  # a key that comes before the terminal waits for it is lost
            select.select([], [], [], 0.01)
        os.write(ours, key.encode())
    shown += read_terminal(ours)
    assert process.wait() == 0
    return shown.decode().replace("\r\n", "\n")


def test_new_memory_can_supersede_what_it_is_like(semantic_world: World) -> None:
    world = semantic_world
    old = run(world, "add", "decision", "Carts are kept in MySQL.")
    new = run(world, "add", "decision", "Carts are kept in PostgreSQL now.", "--supersedes", old["id"])
    assert new["similar"] == []
    assert any(f"{new['id']} stays and {old['id']} is retired" in note for note in new["warnings"])
    block = ask(world, "are the carts kept in MySQL or elsewhere?")
    assert "Carts are kept in PostgreSQL now" in block
    assert re.search(r"was: Carts are kept in MySQL.? \(until 20\d\d-\d\d-\d\d\)", block)
    third = run(world, "add", "decision", "Carts are kept in PostgreSQL 15.", "--keep-both", new["id"])
    assert third["similar"] == []
    assert world.run("add", "x y", "--updates", "a", "--keep-both", "b", **BY_WORDS).returncode == 2


def test_constraint_is_given_until_its_day_is_over(semantic_world: World) -> None:
    world = semantic_world
    day = lambda ahead: (datetime.now(UTC) + timedelta(days=ahead)).strftime("%Y-%m-%d")  # noqa: E731
    folder = world.project / ".claude" / "memory" / "constraints"
    folder.mkdir(parents=True)
    content = {"kind": "technical", "impact": ["i"], "severity": "high", "active": True}
    for slug, rule, expires in (
        ("frozen-branch", "The payments branch is frozen for the zebra audit.", day(-1)),
        ("frozen-schema", "The payments schema is frozen for the giraffe audit.", day(1)),
    ):
        record = {
            "schema_version": "1.0",
            "category": "constraint",
            "id": slug,
            "title": rule,
            "record_status": "active",
            "created_at": days_ago(3),
            "updated_at": days_ago(2),
            "tags": ["payments"],
            "content": {**content, "rule": rule, "expires": expires},
        }
        (folder / f"{slug}.json").write_text(json.dumps(record), encoding="utf-8")
    start = hook(world, "session-start", "s1", source="startup")
    assert "giraffe" in start
    assert "zebra" not in start
    event = {"session_id": "s2", "cwd": str(world.project), "source": "startup"}
    files_alone = world.run_hook("session-start", event, RECOLLECT_MEMORY_SEMANTIC_ENABLED="false").stdout
    assert "giraffe" in files_alone
    assert "zebra" not in files_alone
    for animal, is_given in (("zebra", False), ("giraffe", True)):
        said = ask(world, f"which payments thing is frozen for the {animal} audit?", animal)
        assert (f"{animal} audit" in said) == is_given
    states = {hit["id"]: hit["expired"] for hit in run(world, "search", "payments frozen audit")["hits"]}
    assert sorted(states.values()) == [False, True]
    assert "expired" in world.run("search", "zebra audit", **BY_WORDS).stdout


def test_memory_past_its_retention_is_not_given(semantic_world: World) -> None:
    world = semantic_world
    world.write_decision("zebra-rule", title="The zebra rule of carts", updated_at=days_ago(40))
    ask(world, "something to begin with", "warm")
    assert "zebra rule" in ask(world, "what is the zebra rule of carts about?")
    world.make_repository()
    world.run("config", "set", "categories.decision.retention_days", "30", **BY_WORDS)
    assert "zebra rule" not in ask(world, "what is the zebra rule of carts about?", "other")
    assert "zebra rule" not in hook(world, "session-start", "third", source="startup")
    [hit] = run(world, "search", "zebra rule")["hits"]
    assert hit["expired"] is True
