"""`recollect team token` on a real server."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from tests import postgres
from tests.conftest import World
from tests.postgres import Team

from recollect.errors import InvalidEntry
from recollect.team.tokens import seconds_of

BACKEND = "team:backend"


@pytest.fixture
def team(tmp_path: Path) -> Team:
    team = postgres.server().team(tmp_path, "organisation:acme")
    with team.log("ann") as ann:
        ann.create_scope(BACKEND)
        team.let_in(ann, BACKEND, "bob", "writer")
    return team


def test_token_is_shown_once_listed_and_revoked(world: World, team: Team) -> None:
    ann, bob = ({"RECOLLECT_MEMORY_STORE": team.url(login)} for login in ("ann", "bob"))
    made = world.run("team", "token", "create", "bob", "--scope", BACKEND, "--role", "writer", "--for", "CI", **bob)
    token = made.stdout.strip()
    assert made.returncode == 0, made.stderr
    assert len(token) == 4 + 43
    assert token.startswith("rct_")
    assert made.stderr == "Token 1 of bob for team:backend, as writer, for 90d. It is not shown again.\n"
    listed = world.run("team", "token", "list", **ann)
    assert listed.stdout.startswith("1: bob, team:backend, writer for CI, by bob, until 20")
    assert listed.stdout.endswith("Z, never used\n")
    kept = str(team.server.run(f"SELECT * FROM {team.schema}.tokens"))
    assert token not in kept + listed.stdout
    assert sha256(token.encode()).hexdigest() in kept
    assert world.run("team", "token", "revoke", "1", **ann).stdout == "Token 1 is revoked.\n"
    found = json.loads(world.run("team", "token", "list", "--json", **ann).stdout)["tokens"]
    assert [(each["number"], each["login"], each["revoked_at"] != "") for each in found] == [(1, "bob", True)]
    with team.log("ann") as log:
        done = [(line.who, line.action, line.subject) for line in log.audit(BACKEND, 10)]
    assert done[:2] == [("ann", "revoked token", "bob"), ("bob", "created token", "bob")]


def test_token_for_somebody_else_is_an_invitation_that_he_redeems(world: World, team: Team) -> None:
    ann, bob = ({"RECOLLECT_MEMORY_STORE": team.url(login)} for login in ("ann", "bob"))
    made = world.run("team", "token", "create", "bob", "--scope", BACKEND, "--role", "writer", **ann)
    invitation = made.stdout.strip()
    assert invitation.startswith("rci_")
    assert made.stderr == (
        "Invitation 1 to a token of bob for team:backend, as writer, for 90d. It is not shown again.\n"
        f"bob gets the token with his own login: recollect team token redeem {invitation}\n"
    )
    assert world.run("team", "token", "list", **ann).stdout.endswith("Z, invitation, not redeemed yet\n")
    failed = world.run("team", "token", "redeem", invitation, **ann)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "that is no invitation to a token for ann, or not any more" in failed.stderr
    redeemed = world.run("team", "token", "redeem", invitation, **bob)
    assert redeemed.stdout.startswith("rct_")
    assert redeemed.stderr.startswith("Token 1 for team:backend, as writer, until 20")
    assert world.run("team", "token", "list", **ann).stdout.endswith("Z, never used\n")
    with team.log("ann") as log:
        assert [(line.who, line.action) for line in log.audit(BACKEND, 1)] == [("bob", "redeemed token")]


def test_token_as_json_has_its_text(world: World, team: Team) -> None:
    made = world.run(
        *("team", "token", "create", "bob", "--scope", BACKEND, "--json"), RECOLLECT_MEMORY_STORE=team.url("bob")
    )
    told = json.loads(made.stdout)
    assert told.pop("token").startswith("rct_")
    assert told == {"number": 1, "login": "bob", "scope": BACKEND, "role": "reader"}


@pytest.mark.parametrize(
    ("login", "arguments", "said"),
    [
        ("bob", ("bob", "--role", "curator"), "bob has no role of curator in team:backend"),
        ("bob", ("ann",), "bob has no role of admin in team:backend"),
        ("ann", ("bob", "--role", "admin"), "bob has no role of admin in team:backend"),
        ("ann", ("bob", "--expires", "forever"), "'forever' is no lifetime"),
        ("ann", ("bob", "--expires", "2y"), "'2y' is no lifetime"),
        ("ann", ("bob", "--for", "x" * 101), "at most 100 characters"),
        ("eve", ("eve",), "eve has no role of reader in team:backend"),
    ],
)
def test_token_never_allows_more_than_its_user_or_its_maker_may(
    world: World, team: Team, login: str, arguments: tuple[str, ...], said: str
) -> None:
    there = {"RECOLLECT_MEMORY_STORE": team.url(login)}
    done = world.run("team", "token", "create", *arguments, "--scope", BACKEND, **there)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert team.server.run(f"SELECT * FROM {team.schema}.tokens") == []


def test_commands_without_a_server_and_with_a_wrong_scope_say_what_to_give(world: World, team: Team) -> None:
    assert "no team is joined here" in world.run("team", "token", "list").stderr
    there = {"RECOLLECT_MEMORY_STORE": team.url("ann")}
    done = world.run("team", "token", "create", "bob", "--scope", "Backend", **there)
    assert "'Backend' is no scope; it is one of personal:NAME, project:NAME, team:NAME" in done.stderr
    assert "there is no token 7 that you could revoke" in world.run("team", "token", "revoke", "7", **there).stderr


@pytest.mark.parametrize(("text", "seconds"), [("1m", 60), ("12h", 43_200), (" 90D ", 7_776_000), ("2w", 1_209_600)])
def test_lifetime_is_a_number_with_a_unit(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "0d", "-1d", "367d", "1.5h", "90", "d", "٣d", "9999999d", "1d\n2d"])
def test_what_is_no_lifetime_is_refused(text: str) -> None:
    with pytest.raises(InvalidEntry):
        seconds_of(text)
