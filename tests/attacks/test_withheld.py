"""Memory files and entries that no hook saw being written: what is no memory, or holds a credential, reaches nobody."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World, days_ago

TOKEN = "gh" + "p_" + "Zk3vQ9sT1xW7bN5cR8dF2gH6jL4mP0aYuE1o"
PROMPT = "why do advisory locks keep two importers apart"
WORDS = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true", "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
PASSWORD = "Tr0ub4dor&3xyz"  # no secret but by the name of its field
TITLES = {**WORDS, "RECOLLECT_RETRIEVAL_MATCH_STRATEGY": "title_tags"}


def content(**fields: str) -> dict[str, Any]:
    return {"status": "accepted", "context": "c", "decision": "advisory locks", "rationale": ["r"], **fields}


def write_good(world: World, slug: str = "advisory-locks") -> Path:
    return world.write_decision(slug, title="Advisory locks keep importers apart", tags=["locks"], content=content())


def spoil(path: Path, how: str) -> None:
    """Change a memory file as a shell would: in place, past every hook."""
    record = json.loads(path.read_text(encoding="utf-8"))
    if how == "token":
        record["content"]["context"] = f"push with {TOKEN}"
    elif how == "named":
        record["content"]["db_password"] = PASSWORD
    elif how == "nested":
        record["changes"] = [{"date": "2026-01-01", "summary": f"token {TOKEN}"}]
    elif how == "fields":
        del record["content"]
    text = json.dumps(record) if how != "json" else '{"title": "Advisory locks keep importers apart"'
    with path.open("r+", encoding="utf-8") as file:
        file.write(text)
        file.truncate()


def prompted(world: World, session: str, variables: dict[str, str]) -> str:
    event = {"session_id": session, "cwd": str(world.project), "prompt": PROMPT}
    done = world.run_hook("prompt", event, **variables)
    assert done.returncode == 0
    return done.stdout


def started(world: World, session: str = "s9", **variables: str) -> dict[str, Any]:
    event = {"session_id": session, "cwd": str(world.project), "source": "startup"}
    done = world.run_hook("session-start", event, **{**WORDS, **variables})
    assert done.returncode == 0
    return json.loads(done.stdout or "{}")


@pytest.mark.parametrize("how", ["token", "named", "nested", "fields", "json"])
@pytest.mark.parametrize("variables", [WORDS, TITLES], ids=["store", "titles"])
def test_a_file_that_was_spoilt_is_given_to_nobody_until_it_is_mended(
    world: World, how: str, variables: dict[str, str]
) -> None:
    path = write_good(world)
    good = path.read_text(encoding="utf-8")
    world.run("search", "locks", **WORDS)
    assert "Advisory locks" in prompted(world, "s1", variables)
    spoil(path, how)
    assert prompted(world, "s2", variables) == ""
    found = world.run("search", "advisory locks", "--json", **WORDS)
    assert json.loads(found.stdout)["hits"] == []
    assert "is withheld until it is mended" in found.stderr
    assert TOKEN not in found.stdout + found.stderr
    assert prompted(world, "s3", variables) == ""
    path.write_text(good, encoding="utf-8")
    assert len(json.loads(world.run("search", "advisory locks", "--json", **WORDS).stdout)["hits"]) == 1
    assert "Advisory locks" in prompted(world, "s4", variables)


@pytest.mark.parametrize("how", ["token", "fields", "json"])
def test_the_next_session_says_which_file_is_withheld_once_a_day(world: World, how: str) -> None:
    path = write_good(world)
    world.run("search", "locks", **WORDS)
    started(world, "s1")
    os.utime(path.parent, (1_700_000_000, 1_700_000_000))
    fresh = path.with_name("other.json")
    fresh.write_bytes(path.read_bytes())
    path.unlink()
    spoil(fresh, how)
    said = started(world, "s2")["systemMessage"]
    assert ".claude/memory/decisions/other.json is withheld until it is mended" in said
    assert TOKEN not in json.dumps(said)
    assert "withheld" not in started(world, "s3").get("systemMessage", "")


@pytest.mark.parametrize("arguments", [("status",), ("index", "--health"), ("doctor", "--only", "withheld")])
def test_commands_list_what_is_withheld(world: World, arguments: tuple[str, ...]) -> None:
    path = write_good(world)
    spoil(path, "token")
    shown = world.run(*arguments, **WORDS).stdout
    assert "withheld" in shown.lower()
    assert "advisory-locks.json" in shown
    assert "seems to hold a GitHub token" in shown
    assert TOKEN not in shown


@pytest.mark.parametrize("semantic", ["true", "false"])
@pytest.mark.parametrize("shared", [True, False])
def test_an_entry_of_a_bank_with_a_credential_is_withheld_and_the_others_are_not(
    world: World, semantic: str, shared: bool
) -> None:
    bank = f"### Pattern: Advisory locks\nAdvisory locks keep importers apart. Push with {TOKEN}\n\n"
    world.write_bank(
        "patterns", bank + "### Pattern: Importers\nAdvisory importers are kept apart by locks.\n", shared=shared
    )
    variables = {**WORDS, "RECOLLECT_MEMORY_SEMANTIC_ENABLED": semantic}
    for session in ("s1", "s2"):
        begun = started(world, session, **variables)
        given = begun["hookSpecificOutput"]["additionalContext"]
        assert "Pattern: Importers" in given
        assert "Pattern: Advisory locks" not in given
        assert TOKEN not in json.dumps(begun)
        assert ("'Pattern: Advisory locks' is withheld" in begun.get("systemMessage", "")) == (session == "s1")
    assert TOKEN not in prompted(world, "s3", variables)
    found = world.run("search", "advisory locks", "--json", **variables)
    assert TOKEN not in found.stdout + found.stderr
    assert [hit["name"] for hit in json.loads(found.stdout)["hits"]] == ["Importers"]
    assert TOKEN not in world.run("inject", **variables).stdout
    assert "Advisory locks' is withheld" in world.run("doctor", "--only", "withheld", **variables).stdout


def test_a_text_is_looked_through_once(world: World) -> None:
    world.write_bank("patterns", "### Pattern: Importers\nLocks keep importers apart.\n")
    started(world, "s1", RECOLLECT_MEMORY_SEMANTIC_ENABLED="false")
    record = world.store / ".looked"
    before = record.stat().st_mtime_ns
    started(world, "s2", RECOLLECT_MEMORY_SEMANTIC_ENABLED="false")
    assert record.stat().st_mtime_ns == before
    assert TOKEN not in record.read_text(encoding="utf-8")


@pytest.mark.parametrize("strategy", ["fts5_bm25", "title_tags"])
def test_a_credential_in_the_index_of_a_repository_reaches_nobody(world: World, strategy: str) -> None:
    path = write_good(world)
    line = f"- [DECISION] Advisory locks keep importers {TOKEN} -> .claude/memory/decisions/{path.name}"
    index = path.parent.parent / "index.md"
    index.write_text(f"# Memory Index\n\n{line} #tags:locks,importers,{TOKEN}\n", encoding="utf-8")
    for session in ("s1", "s2"):
        told = prompted(world, session, {**WORDS, "RECOLLECT_RETRIEVAL_MATCH_STRATEGY": strategy})
        assert "Advisory locks keep importers apart" in told
        assert "#tags:locks" in told
        assert TOKEN.lower() not in told.lower()


def test_a_credential_in_the_title_of_an_entry_is_not_repeated_by_what_says_that_it_is_withheld(world: World) -> None:
    world.write_bank("patterns", f"### Pattern: Locks {TOKEN}\nAdvisory locks keep importers apart.\n")
    begun = started(world, "s1")
    assert "'Pattern: Locks [redacted: a GitHub token]' is withheld" in begun["systemMessage"]
    assert TOKEN not in json.dumps(begun)
    only = ("doctor", "--only", "withheld")
    for arguments in (only, (*only, "--json"), ("search", "locks"), ("search", "locks", "--json")):
        done = world.run(*arguments, **WORDS)
        assert "Locks [redacted" in done.stdout + done.stderr
        assert TOKEN not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        *(("list",), ("list", "--json"), ("show", "advisory-locks"), ("show", "advisory-locks", "--json")),
        *(("show", "advisory-locks", "--history"), ("export",), ("export", "--format", "markdown")),
        *(("doctor",), ("status",), ("index", "--health")),
    ],
    ids=" ".join,
)
def test_commands_do_not_print_the_credential_that_a_memory_is_withheld_for(
    world: World, arguments: tuple[str, ...]
) -> None:
    change = {"date": "2026-01-01", "summary": f"by {TOKEN}", "field": "title", "old_value": TOKEN, "new_value": "x"}
    fields = {
        "tags": ["locks", TOKEN],
        "changes": [change],
        "content": content(context=TOKEN, db_password=PASSWORD),
        TOKEN: [TOKEN],
    }
    world.write_decision("advisory-locks", title=f"Locks {TOKEN}", **fields)
    world.write_bank("patterns", f"### Pattern: Importers {TOKEN}\nThey are kept apart with {TOKEN}.\n")
    done = world.run(*arguments, **WORDS)
    assert done.stdout
    assert TOKEN not in done.stdout + done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    if arguments[0] in ("list", "show", "export"):
        assert "Locks [redacted: a GitHub token]" in done.stdout


def test_what_is_withheld_is_told_whole_however_much_else_there_is_to_say(world: World) -> None:
    names = [f"Advisory locks {letter} {'x' * 90}" for letter in "abcde"]
    world.write_bank("patterns", "".join(f"### Pattern: {name}\nPush {name} with {TOKEN}\n\n" for name in names))
    world.write_local_settings("".join(f"memory_injection_limit: {'n' * 300}\n" for _ in range(2)))
    world.store.mkdir(exist_ok=True)
    (world.store / "recollect.log").write_text(f"{days_ago(0)} prompt: cannot read {'y' * 900}\n", encoding="utf-8")
    said = started(world, "s1")["systemMessage"]
    assert said.startswith("recollect: the entry 'Pattern: Advisory locks ")
    assert said.count("seems to hold a GitHub token") == 2
    assert "(`recollect doctor` lists all)" in said
    assert "this repository brings 5 bank entries, given as its notes and never obeyed" in said
    assert len(said) <= 500
