"""Clients of a server that are in each other's way: whoever is ended for another does its transaction again."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from tests import postgres
from tests.beside import Beside
from tests.conftest import PATIENCE
from tests.contract.test_stores import EVERYWHERE, bank, entry, model, unit
from tests.integration.test_postgres_upgrade import ALL, FIRST, check_all_is_there, migrations
from tests.integration.test_team_log import BACKEND, line
from tests.meeting import Opponent, meet
from tests.unit.doctor.test_run import case_of, read_files, write_bank

from recollect.doctor.case import OK
from recollect.doctor.database import database
from recollect.domain.hashing import content_hash
from recollect.domain.shared.acting import Acting
from recollect.errors import StoreConflict, StoreError
from recollect.store.base import Store
from recollect.store.copy import Copy, copy_store, plan
from recollect.store.open import open_store, open_team, prepare_team
from recollect.store.postgres.connection import PostgresConnection
from recollect.store.postgres.server import lock_of
from recollect.store.postgres.store import PostgresStore
from recollect.store.repair import take_turn
from recollect.store.repeat import TRIES

WEB = "team:web"


@pytest.fixture
def place(tmp_path: Path) -> str:
    return postgres.server().place(tmp_path)


@pytest.fixture
def schema(place: str) -> str:
    return place.rpartition("%3D")[2]


@pytest.fixture
def older(place: str, schema: str) -> str:
    """The address of a store as the first version left it."""
    import psycopg

    with psycopg.connect(postgres.server().url(user="dev"), autocommit=True) as connection:
        connection.execute(FIRST.read_text(encoding="utf-8").replace("older", schema).encode())
    return place


@pytest.fixture
def admin(schema: str) -> str:
    return postgres.server().url(schema)


def share(*tables: str) -> str:
    """The statement that lets others read tables, and not write to them."""
    return f"LOCK TABLE {', '.join(tables)} IN SHARE MODE"


def alone(*tables: str) -> str:
    return f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE"


def write_lock(schema: str, scope: str = "personal:dev") -> str:
    """The statement for the lock that the writers of a scope take."""
    return f"SELECT 1 FROM {schema}.turns WHERE scope = '{scope}' FOR UPDATE"


def database_of(store: Store) -> PostgresConnection:
    assert isinstance(store, PostgresStore)
    return store._database  # pyright: ignore[reportPrivateUsage]


# Upgrades


def test_upgrade_that_waits_in_a_circle_with_another_client_is_done_again(older: str, admin: str) -> None:
    def upgrade() -> None:
        with open_store(older) as store:
            check_all_is_there(store)

    meet(
        admin,
        upgrade,
        first="LOCK TABLE feedback IN ACCESS SHARE MODE",
        then="LOCK TABLE usage IN ACCESS SHARE MODE",
        wanted="SELECT 1 FROM anchors",
    )
    assert migrations(older) == ALL


def test_upgrade_by_a_client_that_was_slower_waits_for_nobody_who_reads(place: str, admin: str, schema: str) -> None:
    open_store(place).close()
    ((newest, name, at),) = postgres.server().run(
        f"DELETE FROM {schema}._migrations WHERE version = {len(ALL)} RETURNING *"
    )
    with Opponent(admin) as upgraded, Opponent(admin) as reader:
        upgraded.hold("SELECT pg_advisory_xact_lock({}, {})".format(*lock_of(schema)))
        slower = Beside(lambda: open_store(place).close())
        upgraded.wait_for_somebody()
        upgraded.hold(f"INSERT INTO _migrations VALUES ({newest}, '{name}', '{at}')")
        reader.hold("SELECT 1 FROM feedback")
        upgraded.end(kept=True)
        slower.result()


def test_upgrade_waits_for_a_writer_before_it_takes_any_table(place: str, admin: str, schema: str) -> None:
    entered, goes_on = threading.Event(), threading.Event()
    runs: list[str] = []
    with open_store(place) as store, Opponent(admin) as watch:
        postgres.server().run(f"DELETE FROM {schema}._migrations WHERE version = {len(ALL)}")
        postgres.server().run(f"DROP FUNCTION {schema}.text_id CASCADE")
        postgres.server().run(f"ALTER TABLE {schema}.entries DROP CONSTRAINT ids_are_hashes")

        def work() -> None:
            runs.append("begun")
            store.put(bank(), [entry("a")])
            entered.set()
            assert goes_on.wait(PATIENCE)
            assert store.anchors(["/nowhere"]) == {}

        writing = Beside(lambda: store.write(work))
        assert entered.wait(PATIENCE)
        writer = database_of(store)._raw.info.backend_pid  # pyright: ignore[reportPrivateUsage]
        upgrading = Beside(lambda: open_store(place).close())
        watch.wait_for_somebody(writer)
        waits = f"SELECT locktype FROM pg_locks WHERE NOT granted AND {writer} = ANY (pg_blocking_pids(pid))"
        assert postgres.server().run(waits) == [("relation",)]
        goes_on.set()
        writing.result()
        upgrading.result()
        assert runs == ["begun"]
        assert store.count(EVERYWHERE) == 1
    assert migrations(place) == ALL


def test_index_that_is_made_again_beside_a_client_in_its_way_is_made_once_more(
    place: str, admin: str, schema: str
) -> None:
    with open_store(place) as store:
        store.put(bank(), [entry("a", "A pelican.")])
        store.set_meta("index_version", "older")

    def look() -> list[str]:
        with open_store(place) as store:
            return [match.id for match in store.text_matches(["pelican"], EVERYWHERE, 5)] + store.check()

    found = meet(admin, look, first=share("entries"), then=share("word_counts"), wanted=write_lock(schema))
    assert found == ["a"]


# Transactions


def test_transaction_that_waits_in_a_circle_is_run_again_as_a_whole(place: str, admin: str, schema: str) -> None:
    runs: list[int] = []
    with open_store(place) as store:

        def work() -> int:
            store.set_meta("runs", store.get_meta("runs") + "x")
            runs.append(len(store.get_meta("runs")))
            store.put(bank(), [entry("a")])
            return len(runs)

        done = meet(
            admin,
            lambda: store.write(work),
            first=share("entries"),
            then=share("changes"),
            wanted=write_lock(schema),
        )
        assert done == 2
        assert runs == [1, 1]
        assert store.get_meta("runs") == "x"
        assert store.count(EVERYWHERE) == 1
        assert store.check() == []


def test_clients_of_two_scopes_that_make_the_same_index_at_once_both_keep_their_vectors(tmp_path: Path) -> None:
    team = postgres.server().team(tmp_path)
    with team.log("ann") as log:
        for scope in (BACKEND, WEB):
            log.create_scope(scope)
    both, runs = threading.Barrier(2), list[str]()
    text = "What was learned."
    id = content_hash(text)

    def fill(scope: str) -> int:
        with open_store(team.url("ann"), acting=Acting("", scope)) as store:
            store.put(bank(), [entry(id, text)])
            store.use_model(model(4))

            def work() -> None:
                runs.append(scope)
                store.drop_vectors()  # from now on it uses the table, and keeps others from making an index
                if runs.count(scope) == 1:
                    both.wait(PATIENCE)
                store.put_vectors([(id, unit([1.0, 0.0, 0.0, 0.0]))])

            store.write(work)
            return store.coverage_of(EVERYWHERE).pending

    clients = [Beside(partial(fill, scope)) for scope in (BACKEND, WEB)]
    assert [client.result() for client in clients] == [0, 0]
    assert len(runs) == 3


def test_search_that_waits_in_a_circle_is_answered(place: str, admin: str) -> None:
    with open_store(place) as store:
        read = database_of(store)
        found = meet(
            admin,
            lambda: read.run("SELECT 1 FROM anchors a, feedback f, usage u"),
            first=alone("feedback"),
            then=alone("usage"),
            wanted=alone("anchors"),
        )
        assert found == []


# The team


def test_lines_whose_sender_waits_in_a_circle_arrive_once(tmp_path: Path) -> None:
    team = postgres.server().team(tmp_path)
    with team.log("ann") as log:
        log.create_scope(BACKEND)
        refused = meet(
            postgres.server().url(team.schema),
            lambda: log.append(BACKEND, [line(), line("observed")]),
            first=share("lines"),
            then=share("audit"),
            wanted=f"SELECT 1 FROM scopes WHERE name = '{BACKEND}' FOR NO KEY UPDATE",
        )
        assert refused == []
        assert [each.seq for each in log.read(BACKEND, 0, 10)] == [1, 2]
        assert len([each for each in log.audit(BACKEND, 10) if each.action in ("shared", "observed")]) == 2


def test_changes_of_a_team_that_cannot_be_serialized_are_made_again(tmp_path: Path) -> None:
    team = postgres.server().team(tmp_path)
    strict = team.url("ann") + "%20-cdefault_transaction_isolation%3Dserializable"
    with open_team(strict) as log:
        log.create_scope(BACKEND)
        number, _ = log.create_token("ann", BACKEND, "reader", 3600)
        for elsewhere, here in (
            ("UPDATE scopes SET created_by = 'eve'", lambda: log.set_curated(BACKEND, curated=True)),
            ("UPDATE tokens SET name = 'new'", lambda: log.revoke_token(number)),
        ):
            with Opponent(postgres.server().url(team.schema)) as other:
                other.hold(elsewhere)
                change = Beside(here)
                other.wait_for_somebody()
                other.end(kept=True)
                change.result()
        assert [scope.curated for scope in log.scopes() if scope.name == BACKEND] == [True]
        assert [(token.name, bool(token.revoked_at)) for token in log.tokens()] == [("new", True)]


def test_team_is_made_ready_beside_a_client_in_the_way(tmp_path: Path) -> None:
    team = postgres.server().team(tmp_path)
    groups = meet(
        postgres.server().url(),
        lambda: prepare_team(team.operator),
        first=f"SELECT 1 FROM {team.schema}._migrations",
        then="LOCK TABLE pg_class IN SHARE MODE",
        wanted="SELECT pg_advisory_xact_lock({}, {})".format(*lock_of(team.schema)),
    )
    assert groups == team.groups


# Copies


def test_copy_that_waits_in_a_circle_goes_on(tmp_path: Path, place: str, admin: str, schema: str) -> None:
    source = str(tmp_path / "source")
    with open_store(source) as store:
        store.put(bank(), [entry(f"e{number}") for number in range(20)])
    open_store(place).close()
    copy = meet(
        admin,
        lambda: copy_store(source, place, anew=False, progress=lambda *_: None),
        first=share("entries"),
        then=share("_metadata"),
        wanted=write_lock(schema),
    )
    assert {table.name: table.rows for table in copy.tables}["entries"] == 20
    with open_store(place) as store:
        assert store.count(EVERYWHERE) == 20
        assert store.check() == []


@pytest.mark.parametrize("is_planned", [True, False])
def test_copy_from_a_server_reads_anew_what_it_could_not_read(
    tmp_path: Path, place: str, admin: str, is_planned: bool
) -> None:
    with open_store(place) as store:
        store.put(bank(), [entry("a")])
    target = str(tmp_path / "target")

    def copied() -> Copy:
        if is_planned:
            return plan(place, target)
        return copy_store(place, target, anew=False, progress=lambda *_: None)

    copy = meet(admin, copied, first=alone("origins"), then=alone("retirements"), wanted=alone("_migrations"))
    assert [(table.name, table.rows) for table in copy.tables][:2] == [("entries", 1), ("sources", 1)]
    assert (copy.went_on, copy.problem) == (False, "")


# Looks and repairs


def test_turn_is_taken_after_one_that_was_ended_for_another_client(place: str, admin: str, schema: str) -> None:
    open_store(place).close()
    shared = write_lock(schema).replace("UPDATE", "SHARE")
    assert meet(admin, lambda: take_turn(place, PATIENCE), first=shared, then=shared, wanted=alone("_migrations"))


@pytest.mark.parametrize("then", ["word_counts", "models"])
def test_doctor_looks_again_at_a_store_when_a_client_was_in_the_way(
    tmp_path: Path, place: str, admin: str, schema: str, then: str
) -> None:
    case = case_of(tmp_path, RECOLLECT_MEMORY_STORE=place)
    write_bank(case, 3)
    read_files(case)
    found = meet(admin, lambda: [*database(case)], first=alone("entries"), then=alone(then), wanted=write_lock(schema))
    assert [(finding.level, finding.sentence) for finding in found if finding.level != OK] == []
    assert "3 active entries" in found[0].sentence


def test_tables_are_compacted_beside_a_client_in_the_way(place: str, admin: str, schema: str) -> None:
    with open_store(place) as store:
        store.put(bank(), [entry("a")])
        asked = f"SELECT reltoastrelid::regclass::text FROM pg_class WHERE oid = '{schema}.entries'::regclass"
        ((beside,),) = postgres.server().run(asked)
        meet(
            admin,
            store.compact,
            first=f"SELECT 1 FROM {beside}",
            then="LOCK TABLE pg_class IN SHARE MODE",
            wanted="SELECT 1 FROM entries",
        )
        assert store.check() == []


# Without an end


@pytest.fixture
def clashing(place: str, schema: str) -> str:
    """The address of a store whose server calls every new entry a conflict, and counts them."""
    open_store(place).close()
    postgres.server().run(
        f"""
        SET search_path = {schema};
        CREATE SEQUENCE tried;
        CREATE FUNCTION clash() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
            PERFORM nextval('{schema}.tried');
            RAISE EXCEPTION 'could not serialize access' USING ERRCODE = '40001';
        END $$;
        CREATE TRIGGER clash BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION clash();
        """
    )
    return place


def test_transaction_that_is_always_in_the_way_ends_with_a_sentence(clashing: str, schema: str) -> None:
    told = rf"could not serialize access: another client was in the way, each of {TRIES} times; try again when the"
    with open_store(clashing) as store:
        with pytest.raises(StoreError, match=told) as failed:
            store.write(lambda: store.put(bank(), [entry("a")]))
        assert not isinstance(failed.value, StoreConflict)
        assert postgres.server().run(f"SELECT last_value FROM {schema}.tried") == [(TRIES,)]
        assert store.count(EVERYWHERE) == 0
        postgres.server().run(f"DROP TRIGGER clash ON {schema}.entries")
        store.put(bank(), [entry("a")])
        assert store.count(EVERYWHERE) == 1


def test_transaction_that_hides_a_conflict_from_its_end_is_run_again(clashing: str) -> None:
    with open_store(clashing) as store:
        database = database_of(store)

        def work() -> None:
            with suppress(StoreError):
                database.run("INSERT INTO entries (id, name, category) VALUES ('a', 'a', 'patterns')")

        with pytest.raises(StoreError, match=f"each of {TRIES} times"):
            store.write(work)
        assert store.count(EVERYWHERE) == 0
