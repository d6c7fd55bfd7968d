"""The log of a team on a real server: who may say what, in which order, and what is kept of it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from tests import postgres
from tests.conftest import PATIENCE
from tests.postgres import Team

from recollect.domain.shared.lines import TeamLine
from recollect.errors import StoreError
from recollect.store.open import open_store, open_team, prepare_team
from recollect.store.team import TeamLog

BACKEND = "team:backend"


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return postgres.server().team(tmp_path, "organisation:acme")


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def ann(team: Team, opened: ExitStack) -> TeamLog:
    """The admin of a team with bob for a writer, cleo for a curator and dan for a reader."""
    log = opened.enter_context(team.log("ann"))
    log.create_scope(BACKEND)
    for login, role in (("bob", "writer"), ("cleo", "curator"), ("dan", "reader")):
        team.let_in(log, BACKEND, login, role)
    return log


_COUNTER = iter(range(1, 1_000_000))


def line(kind: str = "shared", hash: str = "h1", *, id: str = "", **more: object) -> TeamLine:
    made = f"{int(time.time() * 1000):013}-{next(_COUNTER):06}-0000abcd"
    return TeamLine(id or made, {kind: hash, **more})


def said(log: TeamLog, *lines: TeamLine) -> list[str]:
    return [refusal.reason for refusal in log.append(BACKEND, lines)]


def test_lines_come_back_in_order_with_author_role_and_time(team: Team, ann: TeamLog, opened: ExitStack) -> None:
    bob = opened.enter_context(team.log("bob"))
    first, second = line(entry={"name": "Jitter", "description": "Ünïcode \\u0000 as text"}), line("observed")
    assert ann.append(BACKEND, [first]) == bob.append(BACKEND, [second]) == []
    found = opened.enter_context(team.log("dan")).read(BACKEND, 0, 10)
    assert [(each.id, each.body) for each in found] == [(first.id, first.body), (second.id, second.body)]
    assert [(each.seq, each.author, each.role) for each in found] == [(1, "ann", "admin"), (2, "bob", "writer")]
    assert found[0].received.endswith("Z")
    assert [each.id for each in ann.read(BACKEND, 1, 10)] == [second.id]
    assert [each.id for each in ann.read(BACKEND, 0, 1)] == [first.id]


def test_scopes_are_those_of_the_user_with_role_and_last_line(team: Team, ann: TeamLog, opened: ExitStack) -> None:
    bob = opened.enter_context(team.log("bob"))
    assert bob.user() == "bob"
    assert bob.personal_scope() == bob.personal_scope() == "personal:bob"
    ann.append(BACKEND, [line(), line("observed")])
    seen = [(each.name, each.kind, each.role, each.lines, each.last_seq) for each in bob.scopes()]
    assert seen == [("personal:bob", "personal", "admin", 0, 0), (BACKEND, "team", "writer", 2, 2)]
    assert opened.enter_context(team.log("eve")).scopes() == []


def test_a_line_replayed_a_thousand_times_counts_once(ann: TeamLog) -> None:
    once = line()
    assert ann.append(BACKEND, [once] * 1000) == []
    assert ann.append(BACKEND, [once]) == []
    assert [each.seq for each in ann.read(BACKEND, 0, 10)] == [1]


def test_refused_lines_do_not_stop_the_others(ann: TeamLog) -> None:
    known = line()
    ann.append(BACKEND, [known])
    soon = f"{int((time.time() + 500) * 1000):013}-000000-0000abcd"
    late = f"{int((time.time() + 86_400) * 1000):013}-000000-0000abcd"
    bad = {
        "its id is that of another line": line("retired", id=known.id),
        "its id has another shape": line(id="1-2-3"),
        "it says nothing, or several things at once": TeamLine(line().id, {"shared": "h", "retired": "h"}),
        "it is larger than 64 KiB": line(entry="x" * 70_000),
        "its time is in the future; set the clock of that machine": line(id=late),
        "it has a character that the server cannot store": line(entry="\0"),
        "it is no JSON": line(entry=float("nan")),
        "lines of a journal belong to a personal scope": line("journal", "{}"),
    }
    kept = [line(), line(id=soon)]
    refused = ann.append(BACKEND, [kept[0], *bad.values(), kept[1]])
    assert {(each.id, each.reason) for each in refused} == {(given.id, reason) for reason, given in bad.items()}
    assert [each.id for each in ann.read(BACKEND, 1, 10)] == [each.id for each in kept]


def test_roles_decide_what_may_be_said(team: Team, ann: TeamLog, opened: ExitStack) -> None:
    bob, cleo, dan = (opened.enter_context(team.log(login)) for login in ("bob", "cleo", "dan"))
    others = "only a curator can change or retire what somebody else has shared"
    assert said(ann, line(hash="hers")) == []
    assert said(bob, line(hash="his"), line(hash="hers"), line("observed"), line("confirmed", "hers")) == []
    assert said(bob, line("retired", "hers"), line(hash="new", edits="hers"), line("retired", "?")) == [others] * 3
    assert said(bob, line(hash="new", edits="his"), line("retired", "his"), line("retired", "new")) == []
    assert said(bob, line("approved", "hers")) == ["only a curator can approve"]
    assert said(cleo, line("approved", "hers"), line("retired", "hers"), line(hash="newer", edits="new")) == []
    assert said(dan, line("observed"), line()) == ["a reader cannot write"] * 2


def test_lines_of_a_journal_are_kept_in_the_personal_scope(ann: TeamLog) -> None:
    own = ann.personal_scope()
    body = {"journal": {"name": "x", "at": "2026-01-01"}}
    assert ann.append(own, [TeamLine(line().id, body)]) == []
    assert [each.body for each in ann.read(own, 0, 5)] == [body]
    assert [each.action for each in ann.audit(own, 5)] == ["added member", "created scope"]


def test_strangers_are_refused_with_a_sentence(team: Team, ann: TeamLog, opened: ExitStack) -> None:
    eve = opened.enter_context(team.log("eve"))
    for attempt in (
        lambda: eve.append(BACKEND, [line()]),
        lambda: eve.read(BACKEND, 0, 5),
        lambda: eve.members(BACKEND),
        lambda: eve.audit(BACKEND, 5),
        lambda: eve.add_member(BACKEND, "eve", "reader"),
        lambda: eve.remove_member(BACKEND, "ann"),
        lambda: eve.set_curated(BACKEND, curated=True),
        lambda: eve.create_token("eve", BACKEND, "reader", 60),
        lambda: eve.append("team:unheard", [line()]),
    ):
        with pytest.raises(StoreError, match=r"^eve has no role of .* in team:.*; ask an admin of team:"):
            attempt()
    assert [each.login for each in ann.members(BACKEND)] == ["ann", "bob", "cleo", "dan"]


def test_members_change_by_admins_and_the_last_admin_stays(team: Team, ann: TeamLog, opened: ExitStack) -> None:
    bob, cleo = (opened.enter_context(team.log(login)) for login in ("bob", "cleo"))
    with pytest.raises(StoreError, match="cleo has no role of admin"):
        cleo.add_member(BACKEND, "eve", "reader")
    with pytest.raises(StoreError, match="would have no admin; make somebody else an admin first"):
        ann.remove_member(BACKEND, "ann")
    with pytest.raises(StoreError, match="would have no admin"):
        ann.add_member(BACKEND, "ann", "writer")
    with pytest.raises(StoreError, match="is no role; the roles are reader, writer, curator, admin"):
        ann.add_member(BACKEND, "bob", "god")
    with pytest.raises(StoreError, match="members of a personal scope do not change"):
        ann.add_member(ann.personal_scope(), "bob", "reader")
    bob.remove_member(BACKEND, "bob")
    assert bob.scopes() == []
    ann.add_member(BACKEND, "cleo", "admin")
    ann.remove_member(BACKEND, "ann")
    assert [(each.login, each.role) for each in cleo.members(BACKEND)] == [("cleo", "admin"), ("dan", "reader")]


def test_everybody_can_be_a_member_of_an_organisation(team: Team, ann: TeamLog, opened: ExitStack) -> None:
    operator = opened.enter_context(open_team(team.operator))
    operator.add_member("organisation:acme", "*", "writer")
    with pytest.raises(StoreError, match="everybody cannot be curator"):
        operator.add_member("organisation:acme", "*", "curator")
    eve = opened.enter_context(team.log("eve"))
    assert eve.scopes() == []
    eve.answer("organisation:acme", accept=True)
    assert [(each.name, each.role) for each in eve.scopes()] == [("organisation:acme", "writer")]
    assert eve.append("organisation:acme", [line()]) == []
    with pytest.raises(StoreError, match="only the owner of the schema may create an organisation; ask operator"):
        ann.create_scope("organisation:other")
    with pytest.raises(StoreError, match="there is a scope team:backend already"):
        eve.create_scope(BACKEND)
    for name in ("personal:ann", "team:", "team:UP", "x", "team:a b", "team:" + "a" * 64):
        with pytest.raises(StoreError, match="is no name of a scope; it begins with"):
            eve.create_scope(name)


def test_logins_with_other_characters_have_personal_scopes_of_their_own(team: Team, opened: ExitStack) -> None:
    names = [opened.enter_context(team.log(login)).personal_scope() for login in ("Ann", "Ann Smith", "x" * 63, "_")]
    assert len({*names, "personal:ann"}) == 5


def test_audit_says_who_did_what_and_only_curators_read_it(team: Team, ann: TeamLog, opened: ExitStack) -> None:
    bob, cleo = (opened.enter_context(team.log(login)) for login in ("bob", "cleo"))
    bob.append(BACKEND, [line(hash="h1")])
    cleo.append(BACKEND, [line("retired", "h1")])
    ann.set_curated(BACKEND, curated=True)
    ann.remove_member(BACKEND, "dan")
    found = cleo.audit(BACKEND, 20)
    assert [(each.who, each.action, each.subject) for each in found] == [
        ("ann", "removed member", "dan"),
        ("ann", "changed scope", BACKEND),
        ("cleo", "retired", "h1"),
        ("bob", "shared", "h1"),
        ("dan", "accepted invitation", "dan"),
        ("ann", "added member", "dan"),
        ("cleo", "accepted invitation", "cleo"),
        ("ann", "added member", "cleo"),
        ("bob", "accepted invitation", "bob"),
        ("ann", "added member", "bob"),
        ("ann", "added member", "ann"),
        ("ann", "created scope", BACKEND),
    ]
    assert found[2].detail["role"] == "curator"
    with pytest.raises(StoreError, match="bob has no role of curator"):
        bob.audit(BACKEND, 5)


def test_tokens_speak_for_a_member_until_revoked(team: Team, ann: TeamLog, opened: ExitStack) -> None:
    team.let_in(ann, BACKEND, "ci", "writer")
    token = team.token("ann", "ci", BACKEND, "writer", about="nightly")
    (number,) = (each.number for each in ann.tokens())
    with pytest.raises(StoreError, match="only a server may look up tokens"):
        ann.token_user(token)
    team.url("gateway", group=team.groups.server)
    gateway = opened.enter_context(team.log("gateway"))
    found = gateway.token_user(token)
    assert found is not None
    assert (found.number, found.login, found.scope, found.role) == (number, "ci", BACKEND, "writer")
    assert gateway.token_user(token + "x") is None
    over = team.token("ci", "ci", BACKEND, "reader", seconds=-1)
    assert gateway.token_user(over) is None
    with pytest.raises(StoreError, match="ci has no role of curator in team:backend; add the member first"):
        ann.create_token("ci", BACKEND, "curator", 60)
    with pytest.raises(StoreError, match="bob has no role of admin"):
        opened.enter_context(team.log("bob")).create_token("ci", BACKEND, "writer", 60)
    assert [(each.login, each.role, each.name, each.last_used_at != "", each.revoked_at) for each in ann.tokens()] == [
        ("ci", "writer", "nightly", True, ""),
        ("ci", "reader", "", False, ""),
    ]
    ann.revoke_token(number)
    assert gateway.token_user(token) is None
    with pytest.raises(StoreError, match="there is no token"):
        ann.revoke_token(number)
    second = team.token("ann", "ci", BACKEND, "writer")
    assert gateway.token_user(second) is not None
    ann.remove_member(BACKEND, "ci")
    assert gateway.token_user(second) is None, "who is no member any more"


def test_numbers_of_lines_are_taken_in_the_order_of_commits(team: Team, ann: TeamLog) -> None:
    with psycopg.connect(team.url("bob")) as slow:
        given = f'[{{"id": "{line().id}", "body": {{"shared": "slow"}}}}]'
        slow.execute("SELECT * FROM append_lines(%s, %s)", (BACKEND, given))
        quick = threading.Thread(target=lambda: ann.append(BACKEND, [line(hash="quick")]))
        quick.start()
        with team.log("dan") as dan:
            assert dan.read(BACKEND, 0, 5) == [], "the quick one waits for the one that came before it"
        slow.commit()
        quick.join()
    with team.log("dan") as dan:
        assert [each.body["shared"] for each in dan.read(BACKEND, 0, 5)] == ["slow", "quick"]


APPEND = """
import sys, time
from recollect.domain.shared.lines import TeamLine
from recollect.store.open import open_team
with open_team(sys.argv[1], patience=30) as log:
    sys.stdin.readline()
    for number in range(20):
        id = f"{int(time.time() * 1000):013}-{number:06}-{int(sys.argv[2]):08x}"
        assert log.append("team:backend", [TeamLine(id, {"shared": id})]) == []
"""


@pytest.mark.slow
def test_clients_that_write_at_once_lose_nothing_and_leave_no_gap(team: Team, ann: TeamLog) -> None:
    clients = [
        subprocess.Popen(
            [sys.executable, "-c", APPEND, team.url("bob"), str(number)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for number in range(4)
    ]
    told = [client.communicate("\n", timeout=PATIENCE)[1] for client in clients]
    assert [(client.returncode, text) for client, text in zip(clients, told, strict=True)] == [(0, "")] * 4
    assert [each.seq for each in ann.read(BACKEND, 0, 1000)] == list(range(1, 81))


def test_related_lines_are_those_of_a_whole_chain_of_edits(ann: TeamLog) -> None:
    chain = [line(hash="a"), line(hash="b", edits="a"), line("observed", "c"), line(hash="c", edits="b")]
    aside = [line(hash="x"), line(hash="y", edits="x"), line("observed", "x")]
    ann.append(BACKEND, [each for pair in zip(chain, [*aside, line("observed", "z")], strict=True) for each in pair])
    for hash in "abc":
        assert [each.id for each in ann.related(BACKEND, [hash])] == [each.id for each in chain]
    assert [each.id for each in ann.related(BACKEND, ["y"])] == [each.id for each in aside]
    assert len(ann.related(BACKEND, ["a", "y"])) == 7
    assert ann.related(BACKEND, ["unheard"]) == []


# Making a server ready


def test_preparing_a_team_twice_changes_nothing(team: Team, ann: TeamLog) -> None:
    ann.append(BACKEND, [line()])
    assert prepare_team(team.operator, organisation="organisation:acme") == team.groups
    assert len(ann.read(BACKEND, 0, 5)) == 1


def test_user_who_may_not_create_groups_is_told_the_statements(tmp_path: Path) -> None:
    server = postgres.server()
    schema = "own" + server.place(tmp_path)[-20:]
    server.login(schema)
    server.run(f"CREATE SCHEMA {schema} AUTHORIZATION {schema}")
    url = server.url(schema, user=schema)
    with pytest.raises(StoreError, match="may not create them; run there as an administrator: CREATE ROLE") as found:
        prepare_team(url)
    server.run(str(found.value).rpartition("administrator: ")[2])
    assert prepare_team(url).member == f"{schema}_member"
    with open_team(url) as log:
        assert log.personal_scope() == f"personal:{schema}"


def test_member_without_the_tables_rights_is_told_what_to_do(team: Team) -> None:
    team.server.login("zoe")
    with pytest.raises(StoreError, match="zoe"):
        open_team(team.server.url(team.schema, user="zoe"))


def test_older_schema_of_another_owner_is_told_with_the_owner(team: Team) -> None:
    team.server.run(f"DELETE FROM {team.schema}._migrations WHERE version > 1")
    with pytest.raises(StoreError, match="older version, and belong to another user; ask operator to run"):
        team.log("bob")


def test_team_log_needs_a_server(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is no address of a PostgreSQL server"):
        open_team(str(tmp_path))


def test_store_on_a_server_has_a_team_log_and_one_in_a_file_has_none(team: Team, tmp_path: Path) -> None:
    with open_store(team.operator) as store:
        assert store.team is not None
        assert store.team.user() == "operator"
    with open_store(str(tmp_path)) as store:
        assert store.team is None


def test_database_that_nobody_has_made_ready_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    server = postgres.server()
    place = server.place(tmp_path)  # of a user who might make the tables
    with pytest.raises(StoreError, match=r"no team was made ready there; ask the owner .* `recollect team init`"):
        open_team(place)
    schema = place.rpartition("%3D")[2]
    assert server.run(f"SELECT 1 FROM pg_namespace WHERE nspname = '{schema}'") == []


def test_team_is_not_made_where_everybody_may_create_functions() -> None:
    server = postgres.server()
    server.run("DROP DATABASE IF EXISTS open_to_all")
    server.run("CREATE DATABASE open_to_all OWNER operator")
    url = server.url(database="open_to_all")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
        with pytest.raises(StoreError, match='REVOKE CREATE ON SCHEMA "public" FROM PUBLIC'):
            prepare_team(server.url(database="open_to_all", user="operator"))
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        prepare_team(server.url(database="open_to_all", user="operator"))
    server.run("DROP DATABASE open_to_all")
