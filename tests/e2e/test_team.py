"""A team by its commands: two people on two machines, as docs/team.md tells it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests import postgres
from tests.conftest import World
from tests.e2e.test_review import keys
from tests.postgres import Team

from recollect.domain.hashing import content_hash

JITTER = "Retries without jitter overload the gateway."
SLUG = "retries-without-jitter-overload-the-gateway"
PAGES = "Offsets are slow on long lists."
BACKEND = "team:backend"


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return postgres.server().team(tmp_path, "organisation:acme")


def person(tmp_path: Path, name: str) -> World:
    home = tmp_path / name
    world = World(home, home / "project", home / "store", semantic=True)
    world.project.mkdir(parents=True)
    return world


def run(world: World, *arguments: str, code: int = 0, stdin: str = "") -> str:
    done = world.run(*arguments, stdin=stdin, RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def document(world: World, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = world.run(*arguments, "--json", RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def ann(tmp_path: Path, team: Team) -> World:
    world = person(tmp_path, "ann")
    run(world, "team", "join", team.url("ann"))
    run(world, "team", "scope", BACKEND, "--create")
    team.url("bob")
    run(world, "team", "member", BACKEND, "bob", "--role", "writer")
    return world


@pytest.fixture
def bob(tmp_path: Path, team: Team, ann: World) -> World:  # noqa: ARG001 (she makes the team)
    world = person(tmp_path, "bob")
    told = run(world, "team", "join", team.url("bob"))
    assert "ann invites you to team:backend as a writer; `recollect team accept team:backend` takes its" in told
    assert "You have accepted no scope yet; `recollect team accept SCOPE` takes one in." in told
    assert "ann invites you to team:backend" in run(world, "team", "status")
    assert run(world, "team", "accept", BACKEND).startswith("Accepted team:backend.")
    return world


def test_two_people_share_a_lesson(ann: World, bob: World) -> None:
    run(ann, "add", "anti-pattern", JITTER, "--why", "It took us down.")
    shown = run(ann, "promote", "--to", BACKEND, SLUG, "--dry-run")
    assert "this would be sent" in shown
    assert "It took us down." in shown
    assert document(ann, "team", "status")["unsent"] == 0
    told = run(ann, "promote", "--to", BACKEND, SLUG)
    assert "To be shared: Retries" in told
    assert "Kept here, and sent when the server can be reached; `recollect team sync` does it now." in told
    assert "To send      1 line" in run(ann, "team", "status")
    assert "Sent 1 line, pulled 1 line." in run(ann, "team", "sync")

    assert document(bob, "team", "status")["behind"] == 1
    run(bob, "team", "sync")
    (hit,) = document(bob, "search", "gateway", "overload")["hits"]
    assert (hit["title"], hit["origin"], hit["said_by"]) == (JITTER[:-1], "team", "ann in team:backend")
    assert "said by ann in team:backend" in run(bob, "search", "gateway")
    block = run(bob, "inject")
    assert f"\n> {JITTER}\n" in block, "bob has not vouched for what ann says"
    assert "\n- Said by: ann in team:backend\n" in block
    assert document(bob, "show", SLUG)["origin"] == "team"
    assert document(bob, "status")["team"]["user"] == "bob"
    assert "Team" in run(bob, "status")
    assert "bob on postgresql" in run(bob, "doctor", "--only", "team")


def test_what_is_said_to_a_scope_reaches_all(ann: World, bob: World) -> None:
    run(ann, "add", "anti-pattern", JITTER)
    run(ann, "promote", "--to", BACKEND, SLUG)
    run(ann, "team", "sync")
    run(bob, "team", "sync")
    edited = ann.home / "edited.toml"
    edited.write_text(f'text = "{JITTER} Wait."\ncategory = "anti-patterns"\ntitle = "Jitter"\n', encoding="utf-8")
    told = run(ann, "edit", SLUG, "--to", BACKEND, "--from", str(edited), "--no-editor")
    assert "To be shared: Jitter" in told
    run(ann, "team", "sync")
    run(bob, "team", "sync")
    (hit,) = document(bob, "search", "gateway")["hits"]
    assert hit["description"] == f"{JITTER} Wait."

    run(ann, "retire", "jitter", "--to", BACKEND, "--reason", "fixed")
    run(ann, "team", "sync")
    run(bob, "team", "sync")
    assert document(bob, "search", "gateway")["hits"] == []
    told = run(bob, "confirm", "jitter", "--to", BACKEND, code=1)
    assert "'Jitter' was retired in team:backend (fixed), and only ann or a curator brings it back there" in told
    assert "To be confirmed" in run(ann, "confirm", "jitter", "--to", BACKEND)
    run(ann, "team", "sync")
    run(bob, "team", "sync")
    assert len(document(bob, "search", "gateway")["hits"]) == 1


def test_retire_of_a_colleagues_lesson_says_that_it_is_for_oneself_alone(ann: World, bob: World) -> None:
    run(ann, "add", "anti-pattern", JITTER)
    run(ann, "promote", "--to", BACKEND, SLUG)
    run(ann, "team", "sync")
    run(bob, "team", "sync")
    id = content_hash(JITTER)
    assert run(bob, "retire", SLUG) == (
        f"Retired for you alone: {JITTER[:-1]}. ann in team:backend keeps it; `recollect retire --to team:backend {id}`"
        f" retires it for all, if you have shared it or are a curator there. `recollect restore {id}` brings it back.\n"
    )
    assert document(bob, "search", "gateway")["hits"] == []
    assert len(document(ann, "search", "gateway")["hits"]) == 1


def test_invitation_is_said_once_at_a_start_and_until_it_is_answered_in_status(
    tmp_path: Path, team: Team, ann: World
) -> None:
    run(ann, "add", "anti-pattern", JITTER)
    run(ann, "promote", "--to", BACKEND, SLUG)
    run(ann, "team", "sync")
    bob = person(tmp_path, "bob")
    run(bob, "team", "join", team.url("bob"))
    event = {"cwd": str(bob.project), "session_id": "one", "source": "startup"}
    said = bob.run_hook("session-start", event, RECOLLECT_MEMORY_EMBEDDING_ENABLED="false").stdout
    told = "ann invites you to team:backend; nothing of it is given before you say `recollect team accept team:backend`"
    assert told in json.loads(said)["systemMessage"]
    assert "Retries" not in said
    again = bob.run_hook("session-start", {**event, "session_id": "two"}, RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
    assert "invites" not in again.stdout
    assert list(document(bob, "team", "status")["invited"]) == [BACKEND]
    run(bob, "add", "pattern", PAGES)
    shared = ("promote", "--to", BACKEND, content_hash(PAGES))
    refused = "you have not accepted team:backend yet; `recollect team accept team:backend` takes its lessons in"
    assert refused in run(bob, *shared, code=1)

    assert run(bob, "team", "decline", BACKEND).startswith("Declined team:backend.")
    assert document(bob, "team", "status")["invited"] == {}
    assert "`recollect team accept team:backend` accepts it if you were invited" in run(bob, *shared, code=1)
    assert "has not accepted yet" in run(ann, "team", "member", BACKEND)
    assert run(bob, "team", "accept", BACKEND).startswith("Accepted team:backend.")
    assert len(document(bob, "search", "gateway")["hits"]) == 1
    assert "was not invited to team:other" in run(bob, "team", "accept", "team:other", code=1)


def test_errors_say_what_to_do_next(tmp_path: Path, ann: World, bob: World) -> None:
    nobody = person(tmp_path, "nobody")
    assert "team join" in run(nobody, "team", "status", code=1)
    assert "team join" in run(nobody, "team", "sync", code=1)
    for command in ("promote", "retire", "confirm", "edit"):
        assert "no team is joined here; `recollect team join" in run(nobody, command, "x", "--to", BACKEND, code=1)
    run(nobody, "add", "pattern", PAGES)
    assert "team join" in run(nobody, "promote", "--to", BACKEND, content_hash(PAGES), code=1)
    assert document(nobody, "team", "leave", code=1)["code"] == "team"
    assert "PGPASSWORD" in run(nobody, "team", "join", "postgresql://a:secret@db/x", code=1)
    away = run(nobody, "team", "join", "postgresql://ann@127.0.0.1:1/x", code=1)
    assert "check that the server runs" in away
    assert not (nobody.store / "team.json").exists()

    run(ann, "add", "anti-pattern", JITTER)
    assert "your scopes are team:backend" in run(ann, "promote", "--to", "team:data", SLUG, code=1)
    assert "NAMEs" in run(ann, "promote", "--to", BACKEND, code=2)
    run(ann, "promote", "--to", BACKEND, SLUG)
    assert "1 line was not sent yet; `recollect team sync` sends it" in run(ann, "team", "leave", code=1)
    run(ann, "team", "sync")
    run(bob, "team", "sync")
    assert "ask a curator" in run(bob, "retire", SLUG, "--to", BACKEND, code=1)
    assert "ask an admin" in run(bob, "team", "member", BACKEND, "eve", "--role", "admin", code=1)
    assert "give a LOGIN" in run(ann, "team", "member", BACKEND, "bob", code=2)


def test_a_server_that_is_gone_is_told_and_nothing_else_fails(ann: World, team: Team) -> None:
    run(ann, "add", "anti-pattern", JITTER)
    run(ann, "promote", "--to", BACKEND, SLUG)
    path = ann.store / "team.json"
    state = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**state, "address": "postgresql://ann@127.0.0.1:1/x"}), encoding="utf-8")

    assert "check that the server runs" in run(ann, "team", "sync", code=1)
    fix = document(ann, "team", "sync", code=1)["fix"]
    assert fix.startswith("check that the server runs")
    assert fix.endswith("its name and port in the address")
    left = document(ann, "team", "leave", code=1)
    assert "the server does not answer now" in left["error"]
    assert "team sync" not in left["fix"]
    assert "recollect team leave --force" in left["fix"]
    shown = run(ann, "team", "status", code=1)
    assert "Not reached" in shown
    assert "To send      1 line" in shown
    run(ann, "team", "status", "--offline")
    assert "nothing is lost" in run(ann, "doctor", "--only", "team")
    assert len(document(ann, "search", "gateway")["hits"]) == 1
    path.write_text(json.dumps({**state, "address": team.url("ann")}), encoding="utf-8")
    run(ann, "team", "sync")


def test_curators_review_by_options_and_by_keys(ann: World, bob: World) -> None:
    run(ann, "team", "scope", BACKEND, "--curated")
    run(bob, "team", "sync")
    for text in (JITTER, PAGES, "Name a queue after what is in it."):
        run(bob, "add", "pattern", text, "--why", "We saw it.")
        told = run(bob, "promote", "--to", BACKEND, content_hash(text))
        assert "find it once a curator has approved it" in told
    run(bob, "team", "sync")
    run(ann, "team", "sync")
    assert "3 texts await you" in run(ann, "team", "status")
    assert "--accept ID and --dismiss ID settle it" in run(ann, "review", "--team")
    (first, *_) = document(ann, "review", "--team")["awaiting"]
    assert (first["said_by"], first["scope"], first["reasoning"]) == ("bob", BACKEND, "We saw it.")
    assert "said by bob" in run(ann, "review", "--team", content_hash(JITTER))
    done = document(ann, "review", "--team", "--accept", content_hash(JITTER)[:8])
    assert (done["approved"], done["awaiting"]) == ([content_hash(JITTER)], 2)

    shown = keys(ann, "mda", options=["--team"], RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
    assert "said by bob" in shown
    assert "We saw it." in shown
    assert "1 approved, 1 retired; 0 texts await you." in shown
    run(ann, "team", "sync")
    run(bob, "team", "sync")
    assert "Nothing awaits you" in run(ann, "review", "--team")
    assert document(bob, "team", "status")["scopes"][0]["lessons"] == 2
    assert "curator of no scope" in run(bob, "review", "--team", code=1)


def test_a_refused_line_is_sent_once_more_as_the_status_says(ann: World, bob: World) -> None:
    run(ann, "team", "member", BACKEND, "bob", "--role", "reader")
    run(bob, "add", "pattern", PAGES)
    run(bob, "promote", "--to", BACKEND, content_hash(PAGES))
    again = "`recollect team sync --again` sends it once more"
    line = "team:backend, 'Offsets are slow on long lists': a reader cannot write"
    told = run(bob, "team", "sync", code=1)
    assert again in told
    assert line in told
    told = run(bob, "team", "status")
    assert again in told
    assert line in told
    assert document(bob, "team", "status")["refused"][0]["about"] == PAGES[:-1]
    run(ann, "team", "member", BACKEND, "bob", "--role", "writer")
    run(bob, "team", "sync", "--again")
    assert "refused" not in run(bob, "team", "status")


def test_a_credential_never_leaves_the_machine_by_any_way(ann: World, team: Team) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    run(ann, "add", "anti-pattern", JITTER)
    run(ann, "promote", "--to", BACKEND, SLUG)
    run(ann, "team", "sync")
    told: list[str] = []

    bank = ann.store / "patterns.md"
    bank.write_text(f"# Patterns\n\n### Pattern: Deploy by hand\nUse {token} to deploy.\n", encoding="utf-8")
    told.append(run(ann, "promote", "--to", BACKEND, "deploy-by-hand", code=1))
    told.append(run(ann, "promote", "--to", BACKEND, "deploy-by-hand", "--dry-run", code=1))
    form = ann.home / "edited.toml"
    form.write_text(f'text = "{JITTER} {token}"\ncategory = "anti-patterns"\ntitle = "Jitter"\n', encoding="utf-8")
    told.append(run(ann, "edit", SLUG, "--to", BACKEND, "--from", str(form), "--no-editor", code=1))
    told.append(run(ann, "retire", SLUG, "--to", BACKEND, "--reason", f"it was {token}", code=1))
    assert document(ann, "team", "status")["unsent"] == 0

    journal = ann.store / "session-captures.jsonl"
    own = {"id": "0" * 16, "at": "2026-01-01T00:00:00Z", "category": "patterns", "name": f"Deploy {token}"}
    said = {"shared": content_hash(token), "entry": {"name": "Deploy", "description": token, "category": "patterns"}}
    line = {"outgoing": "1760000000000-000000-00000abc", "to": BACKEND, "body": said, "at": own["at"]}
    with journal.open("a", encoding="utf-8") as lines:  # as an older version, or a hand, may have written them
        lines.write(json.dumps({**own, "description": "Deploy by hand."}) + "\n" + json.dumps(line) + "\n")
    told.append(run(ann, "team", "sync", code=1))
    told.append(run(ann, "team", "join", team.url("ann"), "--personal"))
    refused = document(ann, "team", "status")["refused"]
    assert sorted(each["to"] for each in refused) == ["personal:ann", BACKEND]
    assert all("which is never sent" in each["reason"] for each in refused)

    told.append(run(ann, "team", "status"))
    assert token not in "".join(told) + json.dumps(refused) + (ann.store / "team.json").read_text(encoding="utf-8")
    there = team.server.run(f"SELECT body::text FROM {team.schema}.lines")
    assert there
    assert token not in str(there)


def test_scopes_members_and_the_audit_are_listed(ann: World, bob: World) -> None:
    assert document(ann, "team", "scope")["scopes"][0]["role"] == "admin"
    members = document(ann, "team", "member", BACKEND)["members"]
    assert [(each["login"], each["role"]) for each in members] == [("ann", "admin"), ("bob", "writer")]
    actions = [each["action"] for each in document(ann, "team", "audit", BACKEND)["audit"]]
    assert "created scope" in actions
    run(ann, "team", "member", BACKEND, "bob", "--role", "curator")
    run(ann, "add", "anti-pattern", JITTER)
    run(ann, "promote", "--to", BACKEND, SLUG)
    run(ann, "team", "sync")
    shown = run(ann, "team", "audit", BACKEND)
    assert "added member bob, writer" in shown
    assert "changed member bob from writer to curator" in shown
    assert "created scope team:backend, open" in shown
    assert f"shared {content_hash(JITTER)} {JITTER[:-1]}, as admin" in shown
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  ann  ", shown)
    on_screen = ann.on_a_terminal("team", "audit", BACKEND, NO_COLOR="1", RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
    assert re.match(rb"(now|\d+ min ago) +ann  shared", on_screen)
    run(ann, "team", "member", BACKEND, "bob", "--role", "writer")
    assert "ask an admin" in run(bob, "team", "audit", BACKEND, code=1)
    run(ann, "team", "member", BACKEND, "bob", "--remove")
    assert "no member of team:backend any more" in run(bob, "team", "sync")


def test_a_projects_scope_is_linked_to_its_folder(ann: World) -> None:
    run(ann, "team", "scope", "project:shop", "--create")
    assert "not linked" in run(ann, "team", "status")
    assert document(ann, "team", "link", "project:shop")["project"] == str(ann.project.resolve())
    assert "linked to" in run(ann, "team", "status")
    run(ann, "team", "link", "project:shop", "--remove")
    assert "not linked" in run(ann, "team", "status")


def test_leaving_keeps_what_is_mine(ann: World, bob: World) -> None:
    run(ann, "add", "anti-pattern", JITTER)
    run(ann, "promote", "--to", BACKEND, SLUG)
    run(ann, "team", "sync")
    run(bob, "add", "pattern", PAGES)
    run(bob, "promote", "--to", BACKEND, content_hash(PAGES))
    run(bob, "team", "sync")
    done = document(bob, "team", "leave")
    assert (done["removed"], done["kept"]) == (1, 0)
    assert document(bob, "search", "gateway")["hits"] == []
    assert len(document(bob, "search", "offsets")["hits"]) == 1


def test_init_makes_a_database_ready_and_says_how_to_go_on(tmp_path: Path, team: Team) -> None:
    operator = person(tmp_path, "operator")
    shown = run(operator, "team", "init", team.operator)
    assert f"CREATE ROLE ann LOGIN PASSWORD '...' IN ROLE {team.groups.member};" in shown
    assert "recollect team join" in shown
    assert document(operator, "team", "init", team.operator)["members"] == team.groups.member


def test_progress_and_colours_are_for_terminals(ann: World, bob: World) -> None:
    run(ann, "add", "anti-pattern", JITTER)
    run(ann, "promote", "--to", BACKEND, SLUG)
    shown = ann.on_a_terminal("team", "sync", RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
    assert b"Sending" in shown
    assert b"Pulling" in shown
    plain = bob.on_a_terminal("team", "status", NO_COLOR="1", RECOLLECT_MEMORY_EMBEDDING_ENABLED="false")
    assert not re.search(rb"\x1b\[[0-9;]*m", plain)
    assert "\x1b" not in run(bob, "team", "sync")


def test_uninstalling_takes_the_files_of_a_team_along(ann: World) -> None:
    run(ann, "uninstall", "--yes")
    assert not (ann.store / "team.json").exists()
    assert not (ann.store / "team").exists()
