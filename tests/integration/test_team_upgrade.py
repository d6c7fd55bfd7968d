"""A team's server of 0.6, upgraded in place: laptops go on, nothing is lost, and nobody speaks for somebody else."""

from __future__ import annotations

import itertools
import json
import os
import threading
from pathlib import Path

import psycopg
import pytest
from psycopg.errors import DeadlockDetected
from tests import postgres
from tests.beside import Beside
from tests.conftest import PATIENCE
from tests.integration.test_postgres_upgrade import ALL
from tests.laptops import BACKEND, Laptop

from recollect.config import locations
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.hashing import content_hash
from recollect.domain.shared.lines import TeamLine
from recollect.domain.stored import SCOPE_SOURCE, StoredEntry
from recollect.engine.engine import Engine
from recollect.errors import StoreError
from recollect.files.journal.kinds import OUTGOING, Outgoing
from recollect.files.journal.log import append_lines, fingerprint
from recollect.files.team.lines import append_pulled
from recollect.files.team.state import JoinedScope, TeamState, change_state
from recollect.store.open import open_team, prepare_team
from recollect.store.values import BANK, Scope, Source
from recollect.sync.direct import caught_up
from recollect.sync.scopes import fold_lessons
from recollect.team.exchange import follow
from recollect.team.joined import this_host

# Made by pg_dump of a team's server by the fifth version. Ann has a team in which bob and mallory have written, rob has
# read, and zoe done nothing; the operator has let everybody into the organisation. Mallory has put everybody into a
# scope of hers, and has joined ann's lesson with a bait. Ann has made a token for herself, and one for bob.
FIFTH = Path(__file__).parents[1] / "data" / "postgres" / "m005.sql"

JITTER = "Retries without jitter overload the gateway."
CURSOR = "Keep a cursor for long lists."


class Older:
    """The server, and its schema."""

    def __init__(self, folder: Path) -> None:
        self.server = postgres.server()
        self.schema = self.server.place(folder).rpartition("%3D")[2]
        self.operator = self.server.url(self.schema, user="operator")
        with psycopg.connect(self.server.url(user="operator"), autocommit=True) as connection:
            connection.execute(b"SET check_function_bodies = false")
            connection.execute(FIFTH.read_text(encoding="utf-8").replace("older", self.schema).encode())

    def upgrade(self) -> None:
        self.group = prepare_team(self.operator).member

    def url(self, login: str) -> str:
        self.server.login(login)
        self.server.run(f'GRANT "{self.group}" TO "{login}"')
        return self.server.url(self.schema, user=login)

    def laptop(self, folder: Path, login: str, *scopes: str) -> Laptop:
        """A laptop that had joined with 0.6, and has pulled all."""
        laptop = Laptop(folder, login, self.url(login))
        store = str(laptop.store)
        joined = {scope: JoinedScope("writer") for scope in scopes}
        state = TeamState(laptop.url, login, "0000abcd", this_host(), scopes=joined)
        change_state(locations.team_state(store), locations.team_folder(store), lambda _: (state, None))
        for scope in scopes:
            rows = self.server.run(
                f"SELECT id, body::text, seq, author, role FROM {self.schema}.lines"
                f" WHERE scope = '{scope}' ORDER BY seq"
            )
            lines = [
                TeamLine(str(id), json.loads(str(body)), seq=int(str(seq)), author=str(author), role=str(role))
                for id, body, seq, author, role in rows
            ]
            append_pulled(locations.team_lines(store, scope), lines)
        return laptop


@pytest.fixture
def older(tmp_path: Path) -> Older:
    return Older(tmp_path)


def test_scopes_in_which_somebody_had_written_count_as_accepted(older: Older) -> None:
    before = older.server.run(f"SELECT scope, seq, id, author, body FROM {older.schema}.lines ORDER BY 1, 2")
    older.upgrade()
    assert older.server.run(f"SELECT version, name FROM {older.schema}._migrations ORDER BY 1") == ALL
    assert older.server.run(f"SELECT scope, seq, id, author, body FROM {older.schema}.lines ORDER BY 1, 2") == before
    seen: dict[str, tuple[list[str], list[str]]] = {}
    for login in ("ann", "bob", "rob", "mallory", "zoe"):
        with open_team(older.url(login)) as log:
            seen[login] = [each.name for each in log.scopes()], [each.scope for each in log.invitations()]
    acme, trap = "organisation:acme", "team:trap"
    assert seen == {
        "ann": (["personal:ann", BACKEND], [acme, trap]),
        "bob": ([acme, BACKEND], [trap]),
        "rob": ([], [acme, BACKEND, trap]),
        "mallory": ([BACKEND, trap], [acme]),
        "zoe": ([], [acme, BACKEND, trap]),
    }


def test_who_spoke_only_by_the_token_of_somebody_else_has_accepted_nothing(older: Older) -> None:
    """Mallory made a scope, put rob into it, and said there as rob what she liked."""
    older.server.run(
        f"SET search_path = {older.schema};"
        " INSERT INTO scopes (name, created_by) VALUES ('team:forge', 'mallory');"
        " INSERT INTO members (scope, login, role, added_by) VALUES ('team:forge', 'mallory', 'admin', 'mallory'),"
        " ('team:forge', 'rob', 'writer', 'mallory');"
        " INSERT INTO tokens (hash, login, scope, role, name, created_by, expires_at, last_used_at)"
        " VALUES ('x', 'rob', 'team:forge', 'writer', '', 'mallory', 'infinity', now());"
        " INSERT INTO lines (scope, seq, id, author, role, received, kind, hash, body) VALUES ('team:forge', 1,"
        " '1794974500001-000000-0000abcd', 'rob', 'writer', now(), 'observed', 'aaaaaaaaaaaaaaaa',"
        ' \'{"observed": "aaaaaaaaaaaaaaaa"}\')'
    )
    older.upgrade()
    with open_team(older.url("rob")) as log:
        assert [each.name for each in log.scopes()] == []
        assert "team:forge" in [each.scope for each in log.invitations()]


def test_what_a_server_of_0_6_had_taken_does_no_harm(older: Older) -> None:
    older.upgrade()
    with open_team(older.url("ann")) as log:
        found = fold_lessons(log.read(BACKEND, 0, 100), curated=False).lessons
    assert {each.text.entry.description: (each.text.author, each.is_retired) for each in found} == {
        JITTER: ("ann", False),
        CURSOR: ("bob", False),
        "Poison.": ("mallory", True),
    }


def test_token_for_oneself_goes_on_and_one_for_somebody_else_is_an_invitation(older: Older) -> None:
    older.upgrade()
    older.server.login("gateway")
    older.server.run(f'GRANT "{older.schema[:50]}_server" TO gateway')
    with open_team(older.server.url(older.schema, user="gateway")) as gateway, open_team(older.url("bob")) as bob:
        own = gateway.token_user("rct_own")
        assert own
        assert (own.login, gateway.token_user("rct_of bob")) == ("ann", None)
        _, token = bob.redeem_token("rct_of bob")
        found = gateway.token_user(token)
        assert found
        assert found.login == "bob"


def test_laptops_of_0_6_go_on_with_what_they_had(older: Older, tmp_path: Path) -> None:
    older.upgrade()
    bob = older.laptop(tmp_path, "bob", "organisation:acme", BACKEND)
    rob = older.laptop(tmp_path, "rob", BACKEND)
    line = "1794974600000-000000-0000abcd"
    append_lines(
        bob.workspace.journal, OUTGOING, [Outgoing(line, BACKEND, {"observed": content_hash(JITTER)}, at="2026-11-18")]
    )
    done = bob.sync()
    assert (done.sent, done.refused) == (1, [])
    assert set(bob.lessons()) == {JITTER, CURSOR}

    told = rob.sync().warnings
    assert any("team:backend waits for your yes" in each for each in told), told
    assert (rob.lessons(), set(rob.state.invited)) == ({}, {"organisation:acme", BACKEND, "team:trap"})
    rob.accept()
    rob.sync()
    assert {JITTER, CURSOR} <= set(rob.lessons())


POISON = StoredEntry(id=content_hash("Poison."), category="patterns", name="Poison", description="Poison.")


def test_laptop_makes_anew_what_0_6_had_made_of_the_lines(older: Older, tmp_path: Path) -> None:
    """Though no line has come since: what a lesson says depends on who may say it."""
    older.upgrade()
    bob = older.laptop(tmp_path, "bob", BACKEND)
    path = locations.team_lines(str(bob.store), BACKEND)
    file = os.stat(path)
    source = Source(SCOPE_SOURCE + BACKEND, BANK, size=file.st_size, modified=file.st_mtime_ns, offset=file.st_size)
    source.hash = f"open:{fingerprint(path, file.st_size)}"
    with Engine(bob.workspace) as engine:
        engine.store.put(source, [POISON])
    follow(bob.workspace)
    assert set(bob.lessons()) == {JITTER, CURSOR}


def test_store_on_a_server_makes_anew_what_0_6_had_made_of_the_lines(older: Older, tmp_path: Path) -> None:
    older.upgrade()
    place = {"RECOLLECT_MEMORY_STORE": older.url("bob"), "RECOLLECT_MEMORY_SCOPE": BACKEND}
    settings = load_settings(str(tmp_path), {**place, "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"})
    with Engine(Workspace(str(tmp_path), str(tmp_path), settings)) as engine:
        engine.store.put(Source(SCOPE_SOURCE + BACKEND, BANK, hash="open", offset=7), [POISON])
        assert caught_up(engine) == []
        found, _ = engine.store.page(Scope(engine.project), 100)
    assert {entry.description for entry in found} == {JITTER, CURSOR}


def test_lines_of_clients_of_0_6_arrive_while_the_server_is_upgraded(older: Older) -> None:
    """Those that are open go on by the functions that they know; those that come are told to upgrade, and wait."""
    older.server.login("bob")
    with psycopg.connect(older.operator, autocommit=True) as owner:
        owner.execute(f'CREATE ROLE "{older.schema}_member" NOLOGIN'.encode())
    older.server.run(
        f'GRANT "{older.schema}_member" TO bob; GRANT USAGE ON SCHEMA {older.schema} TO bob;'
        f" GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {older.schema} TO bob"
    )
    begun, ended = threading.Event(), threading.Event()
    sent: list[str] = []

    def go_on() -> None:
        numbers = itertools.count(1)
        left = 5
        with psycopg.connect(older.server.url(older.schema, user="bob"), autocommit=True) as connection:
            while left:
                id = f"{1_794_974_600_000 + next(numbers)}-000000-0000abcd"
                given = json.dumps([{"id": id, "body": {"observed": content_hash(JITTER)}}])
                try:
                    refused = connection.execute("SELECT * FROM append_lines(%s, %s)", (BACKEND, given)).fetchall()
                except DeadlockDetected:
                    continue  # as the next exchange does
                assert refused == []
                sent.append(id)
                left -= ended.is_set()
                if len(sent) == 5:
                    begun.set()

    client = Beside(go_on)
    assert begun.wait(PATIENCE)
    older.upgrade()
    ended.set()
    client.result()
    with open_team(older.url("ann")) as log:
        lines = log.read(BACKEND, 7, 100_000)
    assert [line.id for line in lines] == sent
    assert [line.seq for line in lines] == list(range(8, 8 + len(sent)))

    older.server.run(f"INSERT INTO {older.schema}._migrations VALUES ({len(ALL) + 1}, 'm_next', '2027-01-01')")
    with pytest.raises(StoreError, match="made by a newer version of recollect; upgrade"):
        open_team(older.url("ann"))
