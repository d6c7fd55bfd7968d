"""A store on a server that is used directly: lines there are the record, and files of this machine do not count."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests import postgres
from tests.conftest import World
from tests.integration.mcp_server.talk import LESSON, called, refused, with_client
from tests.postgres import Team

from recollect.domain.shared.lines import TeamLine
from recollect.sync.entry_input import parse_entry_input

psycopg = pytest.importorskip("psycopg")

BACKEND = "team:backend"
JITTER = {key: value for key, value in LESSON.items() if key != "reasoning"}


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """A server with a team of ann, its admin, bob, a writer, and dan, a reader."""
    team = postgres.server().team(tmp_path, "organisation:acme")
    with team.log("ann") as ann:
        ann.create_scope(BACKEND)
        team.let_in(ann, BACKEND, "bob", "writer")
        team.let_in(ann, BACKEND, "dan", "reader")
    return team


def there(team: Team, login: str, scope: str = BACKEND) -> dict[str, str]:
    return {
        "RECOLLECT_MEMORY_STORE": team.url(login),
        "RECOLLECT_MEMORY_SCOPE": scope,
        "RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true",
        "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false",
    }


def kinds(team: Team, scope: str = BACKEND) -> list[tuple[str, str]]:
    rows = team.server.run(f"SELECT author, kind FROM {team.schema}.lines WHERE scope = '{scope}' ORDER BY seq")
    return [(str(author), str(kind)) for author, kind in rows]


def upsert(world: World, variables: dict[str, str], *options: str, **fields: str) -> str:
    text = json.dumps({**JITTER, **fields})
    done = world.run("upsert", "--entry-json", text, *options, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_lesson_goes_to_the_scope_and_is_found_at_once_by_all_members(world: World, team: Team) -> None:
    bob = there(team, "bob")
    assert "Stored: Retry with jitter" in upsert(world, bob)
    assert kinds(team) == [("bob", "shared")]
    assert "Retry with jitter" in world.run("search", "gateway", **bob).stdout
    again = World(world.home, world.project, world.home / "other")
    assert "It was known; it has now been seen 2 times." in upsert(again, there(team, "ann"))
    assert "Retry with jitter" in again.run("search", "gateway", **there(team, "ann")).stdout
    assert not (world.store / "session-captures.jsonl").exists()


def test_files_of_a_machine_with_a_scope_are_never_read_into_the_store(world: World, team: Team) -> None:
    world.write_bank("patterns", "### Pattern: Small queues\nA queue at the gateway has a limit.\n", shared=True)
    bob = there(team, "bob")
    assert "Small queues" not in world.run("search", "gateway", **bob).stdout
    assert "of no machine; those of this machine are not read" in " ".join(world.run("status", **bob).stdout.split())
    upsert(world, bob)
    assert "Retry with jitter" in world.run("search", "gateway", **bob).stdout, "nothing retired it"


def test_lessons_are_retired_and_restored_by_lines(world: World, team: Team) -> None:
    bob = there(team, "bob")
    upsert(world, bob)
    retired = world.run("retire", "Retry with jitter", "--reason", "It held once.", **bob)
    assert retired.returncode == 0, retired.stderr
    assert "Retry with jitter" not in world.run("search", "gateway", **bob).stdout
    assert "is retired already" in world.run("retire", "Retry with jitter", **bob).stdout
    restored = world.run("restore", "Retry with jitter", **bob)
    assert restored.returncode == 0, restored.stderr
    assert "Retry with jitter" in world.run("search", "gateway", **bob).stdout
    assert kinds(team) == [("bob", "shared"), ("bob", "retired"), ("bob", "confirmed")]


def test_roles_decide_and_the_reason_is_said(world: World, team: Team) -> None:
    upsert(world, there(team, "ann"))
    done = world.run("retire", "Retry with jitter", **there(team, "bob"))
    assert done.returncode == 1
    assert "team:backend does not take it: only a curator can change or retire what somebody else has shared" in (
        done.stderr
    )
    refused = world.run("upsert", "--entry-json", json.dumps(JITTER), **there(team, "dan"))
    assert refused.returncode == 1
    assert "Stored" not in refused.stdout
    assert kinds(team) == [("ann", "shared")]


def test_entries_that_a_writer_has_changed_by_sql_are_made_from_the_lines_again(world: World, team: Team) -> None:
    """As docs/team.md says; it says, too, that a writer can do that."""
    ann = there(team, "ann")
    upsert(world, ann)
    text = (Path(__file__).parents[2] / "docs" / "team.md").read_text(encoding="utf-8")
    again = text[text.index("SET recollect.scope = 'team:backend'") :].partition("```")[0]
    for login, statements in (
        ("bob", "SET recollect.scope = 'team:backend'; UPDATE recollect.entries SET name = 'Forged', details = ''"),
        ("ann", again),
    ):
        with psycopg.connect(team.url(login), autocommit=True) as connection:
            connection.execute(re.sub(r"(?<= )recollect[.](?!scope)", f"{team.schema}.", statements).encode())
        found = world.run("search", "gateway", **there(team, "ann")).stdout
        assert ("Forged" in found, "Retry with jitter" in found) == (login == "bob", login == "ann")


def test_lesson_of_a_writer_in_a_curated_scope_waits_and_says_so(world: World, team: Team) -> None:
    with team.log("ann") as ann:
        ann.set_curated(BACKEND, curated=True)
    bob = there(team, "bob")
    done = world.run("upsert", "--entry-json", json.dumps(JITTER), **bob)
    assert "team:backend is curated: it is found once a curator has approved it" in done.stderr
    assert "Retry with jitter" not in world.run("search", "gateway", **bob).stdout


def test_scope_that_becomes_curated_hides_what_nobody_has_approved_and_shows_it_again(world: World, team: Team) -> None:
    bob, own = there(team, "bob"), there(team, "bob", "personal")
    upsert(world, bob)
    for curated in (True, False):
        with team.log("ann") as ann:
            ann.set_curated(BACKEND, curated=curated)
        for variables in (bob, own):  # the scope that is written to, and another one that is read
            found = world.run("search", "gateway", **variables).stdout
            assert ("Retry with jitter" in found) != curated
    assert kinds(team) == [("bob", "shared")]


def test_personal_scope_is_ones_own(world: World, team: Team) -> None:
    upsert(world, there(team, "bob", "personal"))
    assert kinds(team, "personal:bob") == [("bob", "shared")]


def test_file_of_entries_is_taken_once(world: World, team: Team, tmp_path: Path) -> None:
    bob = there(team, "bob")
    file = tmp_path / "entries.json"
    entries = [{**JITTER, "name": f"Rule {n}", "description": f"Rule {n} is about topic{n}."} for n in range(120)]
    file.write_text(json.dumps(entries), encoding="utf-8")
    assert "120 entries: 120 stored." in world.run("upsert", "--entry-file", str(file), **bob).stdout
    assert "120 entries: 120 there already." in world.run("upsert", "--entry-file", str(file), **bob).stdout
    assert len(kinds(team)) == 120


def test_server_that_is_gone_keeps_nothing_and_says_so(world: World, team: Team) -> None:
    gone = {**there(team, "bob"), "RECOLLECT_MEMORY_STORE": f"postgresql://bob@/x?host={world.home}"}
    done = world.run("upsert", "--entry-json", json.dumps(JITTER), **gone)
    assert done.returncode == 2
    assert "check that the server runs" in done.stderr
    assert not (world.store / "session-captures.jsonl").exists()


def test_marks_are_refused_because_no_journal_keeps_them(world: World, team: Team) -> None:
    bob = there(team, "bob")
    upsert(world, bob)
    done = world.run("mute", "Retry with jitter", **bob)
    assert done.returncode == 1
    assert "kept in the journal of a machine" in done.stderr
    assert "`recollect retire NAME` hides a lesson for all who read its scope" in done.stderr


def test_tools_store_supersede_and_forget_by_lines(world: World, team: Team) -> None:
    async def use(session: object) -> None:
        _, first = await called(session, "store_memory", **LESSON)  # type: ignore[arg-type]
        assert first["outcome"] == "stored"
        newer = {**LESSON, "name": "Retry with a budget", "description": "Retries need a budget for the whole request."}
        _, second = await called(session, "store_memory", **newer, supersedes=first["id"])  # type: ignore[arg-type]
        assert second["superseded"]["id"] == first["id"]
        _, found = await called(session, "search_memory", query="retries gateway budget")  # type: ignore[arg-type]
        assert [hit["id"] for hit in found["results"]] == [second["id"]]
        _, again = await called(session, "store_memory", **newer)  # type: ignore[arg-type]
        assert again["outcome"] == "reinforced"
        _, gone = await called(session, "forget_memory", id=second["id"], reason="Tests do that.")  # type: ignore[arg-type]
        assert gone["outcome"] == "retired"
        said = await refused(session, "store_memory", **{**LESSON, "category": "decision"})  # type: ignore[arg-type]
        assert "decision" in said

    empty = World(world.home, world.home, world.store)  # the home folder is no project
    with_client(empty, use, **there(team, "bob"))
    assert [kind for _, kind in kinds(team)] == ["shared", "shared", "retired", "shared", "retired"]


def test_lines_of_laptops_become_entries_for_whoever_asks_next(world: World, team: Team) -> None:
    with team.log("bob") as bob:
        for number in range(3):
            given = parse_entry_input({**JITTER, "description": f"Gateway rule number {number}."})
            entry = {**JITTER, "description": given.written}
            id = f"{1_760_000_000_000 + number}-000000-00000abc"
            assert bob.append(BACKEND, [TeamLine(id, {"shared": given.content_hash, "entry": entry})]) == []
    found = json.loads(world.run("search", "gateway rule", "--json", **there(team, "ann")).stdout)
    assert len(found["hits"]) == 3, found


def test_lines_of_laptops_are_found_by_meaning_by_who_works_in_another_scope(world: World, team: Team) -> None:
    with team.log("bob") as bob:
        given = parse_entry_input(JITTER)
        body = {"shared": given.content_hash, "entry": {**JITTER, "description": given.written}}
        assert bob.append(BACKEND, [TeamLine("1760000000000-000000-00000abc", body)]) == []
    for login in ("ann", "dan"):  # dan reads, and has no model of his own: ann's process has made the vector
        own = there(team, login, "personal") | {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "true"}
        found = json.loads(world.run("search", "wait longer after a failed call", "--json", **own).stdout)
        assert [hit["name"] for hit in found["hits"]] == [JITTER["name"]], found
        assert found["vector_candidates"] == 1, found
