"""Members of one team against another's rows: by every method, and by plain SQL with their own logins.

The teams are red and blue. Ann is in red, bob in blue, cleo in both, eve in none; the gateway acts for others. What is
red's has the word crimson in it somewhere, also where it is a number.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from tests import postgres
from tests.contract.test_stores import EVERYWHERE, NORTH, SHOP, bank, entry, model, receipt
from tests.postgres import Team

from recollect.domain.feedback.kinds import OPENED
from recollect.domain.shared.acting import Acting
from recollect.domain.shared.lines import TeamLine
from recollect.errors import StoreError
from recollect.store.base import Store
from recollect.store.open import open_store, open_team
from recollect.store.postgres.scopes_schema import MOST_MODELS
from recollect.store.team import TeamLog
from recollect.store.values import Evidence, Source

psycopg = pytest.importorskip("psycopg")

RED, BLUE, TRAP = "team:red", "team:blue", "team:trap"
SHARED = ("_migrations", "model_numbers")
IDS = {word: [f"{word[0]}{number}" * 8 for number in range(3)] for word in ("crimson", "azure")}
CRIMSON = IDS["crimson"][0]
LINE = "1700000000000-000001-0000abcd"


@pytest.fixture
def office(tmp_path: Path) -> Team:
    """Two teams with all kinds of rows."""
    team = postgres.server().team(tmp_path, "organisation:acme")
    team.url("gateway", group=team.groups.server)
    team.url("eve")
    for scope, admin, word in ((RED, "ann", "crimson"), (BLUE, "bob", "azure")):
        with team.log(admin) as log:
            log.create_scope(scope)
            team.let_in(log, scope, "cleo", "curator")
            log.append(scope, [TeamLine(LINE, {"shared": f"{word}-hash", "entry": {"name": word}})])
            log.create_token(admin, scope, "writer", 3600, f"{word} token")
            log.personal_scope()
        for place in (scope, ""):
            with open_store(team.url(admin), acting=Acting("", place)) as store:
                fill(store, word)
    team.server.run(f"ANALYZE {', '.join(f'{team.schema}.{table}' for table in tables(team))}")
    return team


def fill(store: Store, word: str) -> None:
    store.use_model(model(4))
    store.put(bank(f"/{word}.md", SHOP), [entry(id, f"The {word} pelican.") for id in IDS[word]])
    store.put_vectors([(IDS[word][0], NORTH)])
    store.recalled(receipt(IDS[word][0], query=f"{word} words"))
    store.keep_query_vector(f"{word} words", NORTH)
    store.note_evidence([Evidence(at="2026-02-01", kind=OPENED, id=IDS[word][0], project=SHOP, session=word)])
    store.set_meta("note", word)


def tables(team: Team) -> list[str]:
    found = team.server.run(
        "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace ="
        f" '{team.schema}'::regnamespace ORDER BY 1"
    )
    return [str(name) for (name,) in found]


def contents(team: Team) -> dict[str, list[str]]:
    """All rows of red and of ann, as the superuser sees them."""
    found: dict[str, list[str]] = {}
    for table in tables(team):
        rows = team.server.run(f"SELECT to_jsonb(t)::text FROM {team.schema}.{table} t ORDER BY 1")
        owned = re.compile('"(scope|name)": "(team:red|personal:ann)"')
        found[table] = [str(row) for (row,) in rows if table in SHARED or owned.search(str(row))]
    return found


class Intruder:
    """A login with plain SQL. Each statement is a transaction of its own, unless told otherwise."""

    def __init__(self, team: Team, login: str) -> None:
        self.notices: list[str] = []
        self._connection: Any = psycopg.connect(team.url(login), autocommit=True)
        self._connection.add_notice_handler(lambda notice: self.notices.append(str(notice.message_primary)))

    def run(self, statement: str) -> str:
        """Everything that a statement brings to light: rows, notices, and what an error says."""
        self.notices.clear()
        try:
            cursor = self._connection.execute(statement.encode())
            rows = cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            rows = [str(error)]
            if self._connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                self._connection.execute(b"ROLLBACK")
        return repr(rows) + repr(self.notices)

    def copied(self, what: str) -> str:
        try:
            with self._connection.cursor().copy(f"COPY {what} TO STDOUT") as copy:
                return b"".join(map(bytes, copy)).decode()
        except psycopg.Error as error:
            return str(error)

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def bob(office: Team) -> Iterator[Intruder]:
    with closing(Intruder(office, "bob")) as intruder:
        yield intruder


# What the schema promises


def test_every_table_forces_row_level_security_and_has_policies(office: Team) -> None:
    rows = office.server.run(
        "SELECT c.relname FROM pg_class c WHERE c.relkind IN ('r', 'p')"
        f" AND c.relnamespace = '{office.schema}'::regnamespace AND NOT (c.relrowsecurity AND c.relforcerowsecurity"
        " AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid))"
    )
    assert rows == []
    assert len(tables(office)) > 25


def test_every_function_with_the_owners_rights_has_a_fixed_path_and_is_closed_to_the_public(office: Team) -> None:
    rows = office.server.run(
        "SELECT proname, prosecdef, proconfig, has_function_privilege('public', oid, 'EXECUTE') FROM pg_proc"
        f" WHERE pronamespace = '{office.schema}'::regnamespace"
    )
    assert len(rows) > 25
    for name, is_definer, settings, is_public in rows:
        assert not is_public, name
        if is_definer:
            assert settings == [f"search_path={office.schema}, pg_temp"], name


def test_views_see_what_their_reader_sees_and_the_public_has_no_right(office: Team) -> None:
    place = f"relnamespace = '{office.schema}'::regnamespace"
    views = office.server.run(f"SELECT relname, reloptions FROM pg_class WHERE relkind = 'v' AND {place}")
    assert views == [("nearest", ["security_invoker=true"])]
    granted = f"SELECT relname FROM pg_class, aclexplode(relacl) a WHERE a.grantee = 0 AND {place}"
    assert office.server.run(granted) == []
    assert office.server.run(f"SELECT has_schema_privilege('public', '{office.schema}', 'USAGE')") == [(False,)]


# Reading

SETTINGS = [
    "",
    f"SET recollect.scope = '{RED}'; ",
    f"SET recollect.read = '{RED}'; SET recollect.scope = '{RED}'; SET recollect.role = 'admin'; ",
    f"SET recollect.read = '{RED},{BLUE},*'; ",
    "SET recollect.scope = 'personal:ann'; SET recollect.read = 'personal:ann'; ",
    "SELECT set_config('recollect.user', 'ann', false); ",
    "SELECT set_config('recollect.user', 'operator', false); ",
    "SET row_security = off; ",
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_plain_sql_of_a_stranger_reads_no_row_whatever_he_sets(office: Team, settings: str) -> None:
    for login in ("bob", "eve"):
        with closing(Intruder(office, login)) as intruder:
            intruder.run(settings or "SELECT 1")
            for table in (*tables(office), "nearest"):
                for seen in (
                    intruder.run(f"SELECT to_jsonb(t)::text FROM {table} t"),
                    intruder.run(f"TABLE {table}"),
                    intruder.run(f"SELECT to_jsonb(t)::text FROM {table} t FOR UPDATE"),
                    intruder.run(f"SELECT count(*) FROM {table} WHERE to_jsonb({table})::text LIKE '%crimson%'"),
                    intruder.copied(table),
                    intruder.copied(f"(SELECT * FROM {table})"),
                ):
                    assert "crimson" not in seen
                    assert "personal:ann" not in seen
                    assert "[(3,)]" not in seen


def test_stranger_sees_neither_the_scope_nor_its_members_tokens_or_audit(bob: Intruder) -> None:
    for table in ("scopes", "members", "lines", "audit", "tokens (number, login, scope)"):
        name = table.split()[0]
        assert RED not in bob.run(f"SELECT * FROM {name}").replace(f"no role of reader in {RED}", "")
    assert "permission denied" in bob.run("SELECT hash FROM tokens")
    assert "permission denied" in bob.run("SELECT * FROM entry_words")


def test_function_of_the_reader_is_given_no_row_of_others(bob: Intruder) -> None:
    bob.run(
        "CREATE FUNCTION pg_temp.leak(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS"
        " $$ BEGIN RAISE NOTICE 'leaked %', t; RETURN true; END $$"
    )
    for table, column in (
        *(("entries", "description"), ("nearest", "description"), ("lines", "body::text"), ("audit", "subject")),
        *(("receipts", "query"), ("sources", "path"), ("members", "login"), ("_metadata", "value")),
    ):
        seen = bob.run(f"SELECT count(*) FROM {table} WHERE pg_temp.leak({column})")
        assert "crimson" not in seen
        assert "ann" not in seen
    assert "leaked The azure" in bob.run("SELECT 1 FROM entries WHERE pg_temp.leak(description)"), "the trap works"


def test_statistics_and_plans_tell_no_value_of_others(office: Team, bob: Intruder) -> None:
    assert bob.run(f"SELECT * FROM pg_stats WHERE schemaname = '{office.schema}'").startswith("[]")
    assert "permission denied" in bob.run("SELECT * FROM pg_statistic")
    for table in ("entries", "lines", "receipts"):
        seen = bob.run(f"EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM {table}")
        assert "crimson" not in seen


@pytest.mark.parametrize("role", ["operator", "recollect", "ann", "gateway", "{server}"])
def test_stranger_cannot_become_somebody_else(office: Team, bob: Intruder, role: str) -> None:
    name = role.replace("{server}", office.groups.server)
    for statement in (f'SET ROLE "{name}"', f'SET SESSION AUTHORIZATION "{name}"', f"SET LOCAL ROLE '{name}'"):
        assert "permission denied" in bob.run(statement)
    assert "bob" in bob.run("SELECT me()")
    bob.run(f'SET ROLE "{office.groups.member}"')
    assert "bob" in bob.run("SELECT me()"), "the group has no more rights than its members"
    assert "crimson" not in bob.run("SELECT * FROM entries")


def test_tables_and_functions_of_the_reader_take_the_place_of_none_of_ours(office: Team, bob: Intruder) -> None:
    for statement in (
        "CREATE TEMP TABLE members (scope text, login text, role text)",
        f"INSERT INTO pg_temp.members VALUES ('{RED}', 'bob', 'admin'), ('{RED}', '*', 'admin')",
        "CREATE TEMP TABLE scopes (name text)",
        "CREATE FUNCTION pg_temp.me() RETURNS text LANGUAGE sql AS $$ SELECT 'ann' $$",
        "CREATE FUNCTION pg_temp.acts_for_others() RETURNS boolean LANGUAGE sql AS $$ SELECT true $$",
        "CREATE FUNCTION pg_temp.my_scopes(text) RETURNS text[] LANGUAGE sql AS $$ SELECT ARRAY['team:red'] $$",
        "CREATE FUNCTION pg_temp.level(text) RETURNS integer LANGUAGE sql AS $$ SELECT 4 $$",
        "CREATE FUNCTION pg_temp.same(text, text) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$",
        "CREATE OPERATOR pg_temp.= (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.same)",
    ):
        bob.run(statement)
    for path in (f"pg_temp, {office.schema}", f"pg_temp, {office.schema}, pg_catalog", f"{office.schema}"):
        bob.run(f"SET search_path = {path}")
        our = office.schema
        assert "'bob'" in bob.run(f"SELECT {our}.me()")
        assert RED not in bob.run(f"SELECT {our}.my_scopes('reader')")
        assert "None" in bob.run(f"SELECT {our}.my_role('{RED}')")
        assert "no role of" in bob.run(f"SELECT {our}.append_lines('{RED}', '[]')")
        assert "no role of admin" in bob.run(f"SELECT {our}.put_member('{RED}', 'bob', 'admin')")
        for table in ("entries", "lines", "members", "receipts", "_metadata"):
            assert "crimson" not in bob.run(f"SELECT * FROM {our}.{table}")
            assert "ann" not in bob.run(f"SELECT * FROM {our}.members")


def test_prepared_statement_follows_whoever_is_acted_for(office: Team) -> None:
    with closing(Intruder(office, "gateway")) as gateway:
        gateway.run("SELECT set_config('recollect.user', 'cleo', false)")
        gateway.run("PREPARE all_of_it AS SELECT description FROM entries")
        for _ in range(7):  # also as a plan for all values
            assert "crimson" in gateway.run("EXECUTE all_of_it")
        gateway.run("SELECT set_config('recollect.user', 'bob', false)")
        assert "crimson" not in gateway.run("EXECUTE all_of_it")
        gateway.run("SELECT set_config('recollect.user', '', false)")
        assert gateway.run("EXECUTE all_of_it").startswith("[]")


def test_settings_of_a_transaction_are_gone_with_it(office: Team) -> None:
    with open_store(office.url("gateway"), acting=Acting("cleo")) as store:
        assert store.count(EVERYWHERE) == 6
        raw: Any = store._database._raw  # type: ignore[attr-defined]
        for name in ("user", "scope", "read", "role"):
            assert raw.execute(f"SELECT current_setting('recollect.{name}', true)").fetchone()[0] in (None, "")
        assert raw.execute(f"SELECT count(*) FROM {office.schema}.entries").fetchone() == (0,)


# Writing


def attempts(table: str, columns: str) -> list[str]:
    """Statements that would change rows of red, or put something into it."""
    return [
        f"UPDATE {table} SET scope = '{BLUE}'",
        f"UPDATE {table} SET scope = '{BLUE}' WHERE scope = '{RED}'",
        f"UPDATE {table} SET scope = '{RED}'",
        f"UPDATE {table} SET scope = 'personal:ann'",
        f"DELETE FROM {table} WHERE scope IN ('{RED}', 'personal:ann')",
        f"INSERT INTO {table} ({columns}, scope) SELECT {columns}, '{RED}' FROM {table}",
        f"INSERT INTO {table} ({columns}, scope) SELECT {columns}, 'personal:ann' FROM {table}",
        f"MERGE INTO {table} t USING (SELECT 1) s ON true WHEN MATCHED AND t.scope = '{RED}' THEN DELETE",
        f"TRUNCATE {table}",
        f"TRUNCATE {table} CASCADE",
        f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} DISABLE TRIGGER ALL",
        f"CREATE POLICY mine ON {table} USING (true)",
        f"DROP TABLE {table} CASCADE",
        f"GRANT ALL ON {table} TO PUBLIC",
        f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE",
        f"CREATE TRIGGER mine BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION note()",
        f"CREATE RULE mine AS ON SELECT TO {table} DO INSTEAD SELECT 1",
    ]


@pytest.mark.parametrize("settings", [SETTINGS[0], SETTINGS[2], SETTINGS[4], SETTINGS[5]])
def test_plain_sql_of_a_stranger_changes_no_row_whatever_he_sets(office: Team, settings: str) -> None:
    before = contents(office)
    assert all(before[table] for table in ("entries", "lines", "members", "receipts", "vectors", "audit", "tokens"))
    with closing(Intruder(office, "bob")) as bob:
        bob.run(settings or "SELECT 1")
        for table in tables(office):
            columns = office.server.run(
                f"SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute WHERE attrelid ="
                f" '{office.schema}.{table}'::regclass AND attnum > 0 AND attname <> 'scope' AND attgenerated = ''"
            )
            for statement in attempts(table, str(columns[0][0])):
                bob.run(statement)
    assert contents(office) == before


def test_nothing_can_be_hung_on_an_entry_of_another_scope(office: Team, bob: Intruder) -> None:
    numbers = office.server.run(
        f"SELECT (SELECT min(number) FROM {office.schema}.entries WHERE scope = '{RED}'),"
        f" (SELECT min(number) FROM {office.schema}.sources WHERE scope = '{RED}'),"
        f" (SELECT min(number) FROM {office.schema}.entries WHERE scope = '{BLUE}')"
    )
    entry_number, source, own = numbers[0]
    bob.run(f"SET recollect.scope = '{BLUE}'")
    for statement in (
        f"INSERT INTO origins (entry, source, project, observation_count) VALUES ({entry_number}, {source}, '', 9)",
        f"INSERT INTO origins (entry, source, project, observation_count) VALUES ({own}, {source}, '', 9)",
        f"INSERT INTO vectors (model, kind, number, scale, vector) SELECT model, kind, {entry_number}, 1, vector"
        " FROM vectors LIMIT 1",
        f"UPDATE origins SET entry = {entry_number} WHERE entry = {own}",
    ):
        assert "violates foreign key" in bob.run(statement)
    for statement in (
        f"INSERT INTO entries (number, id, name, description, category, created_at, updated_at, source)"
        f" VALUES ({entry_number}, 'x', '', '', 'patterns', '', '', 'manual')",
        f"UPDATE entries SET number = {entry_number}",
        f"UPDATE sources SET number = {source}",
    ):
        assert "permission denied" in bob.run(statement)


def test_lines_and_audit_are_changed_by_nobody_and_forged_by_no_member(office: Team) -> None:
    insert = (
        "INSERT INTO lines (scope, seq, id, author, role, kind, hash, body) VALUES"
        f" ('{BLUE}', 9, '1700000000000-000009-0000abcd', 'ann', 'admin', 'shared', 'x', '{{}}')"
    )
    before = contents(office)
    for login in ("bob", "cleo", "gateway", "operator"):
        with closing(Intruder(office, login)) as intruder:
            for statement in (
                "UPDATE lines SET author = 'eve'",
                "DELETE FROM lines",
                "TRUNCATE lines, audit",
                "UPDATE audit SET who = 'eve'",
                "DELETE FROM audit",
            ):
                assert "denied" in (seen := intruder.run(statement)) or "only ever added to" in seen
            if login != "operator":
                assert "permission denied" in intruder.run(insert)
                assert "permission denied" in intruder.run(
                    "INSERT INTO audit (scope, action, subject) SELECT '', '', ''"
                )
    with psycopg.connect(office.server.url(office.schema), autocommit=True) as admin:
        for statement in ("UPDATE lines SET author = 'eve'", "DELETE FROM audit", "TRUNCATE audit"):
            with pytest.raises(psycopg.Error, match="only ever added to"):
                admin.execute(statement)
    assert contents(office) == before


def test_author_and_role_of_a_line_are_those_of_the_session(bob: Intruder) -> None:
    bob.run("SELECT set_config('recollect.user', 'ann', false)")
    given = '[{"id": "1700000000000-000009-0000abcd", "author": "ann", "role": "x", "seq": 1, "body": {"shared": "h"}}]'
    bob.run(f"SELECT * FROM append_lines('{BLUE}', '{given}')")
    assert "('bob', 'admin', 2)" in bob.run("SELECT author, role, seq FROM lines ORDER BY seq DESC LIMIT 1")


def test_functions_that_are_not_for_members_cannot_be_called(bob: Intruder) -> None:
    for call in ("keep_admin('x')", "lock_members('x')", "lock_members('x', true)", "note()", "refuse_change()"):
        assert "permission denied" in bob.run(f"SELECT {call}")
    assert "only a server may look up tokens" in bob.run("SELECT * FROM token_user('x')")
    for statement in (
        "CREATE TABLE mine (x int)",
        "CREATE FUNCTION me(int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "DROP FUNCTION me() CASCADE",
        "ALTER FUNCTION me() RENAME TO other",
        "CREATE OR REPLACE FUNCTION me() RETURNS text LANGUAGE sql AS $$ SELECT 'ann'::text $$",
        "CREATE VIEW mine AS SELECT 1",
    ):
        assert "permission denied" in (seen := bob.run(statement)) or "must be owner" in seen


def test_index_and_number_of_a_model_are_bounded(bob: Intruder) -> None:
    assert "[(None,)]" in bob.run("SELECT to_regclass('vectors_of_99_0')")
    bob.run("SELECT index_vectors(99, 0), index_vectors(0, 7), index_vectors(NULL, 0)")
    assert "[(None, None)]" in bob.run("SELECT to_regclass('vectors_of_99_0'), to_regclass('vectors_of_0_7')")
    for call in ("number_of_model('x', 0)", "number_of_model('x', 99999)", "number_of_model(repeat('x', 5000), 4)"):
        assert "violates check constraint" in bob.run(f"SELECT {call}")


# A scope into which somebody was put


@pytest.fixture
def trap(office: Team) -> Iterator[Intruder]:
    """Bob has put ann into a scope of his, which has an entry that she has, too, and changes its rows as he likes."""
    with office.log("bob") as log:
        log.create_scope(TRAP)
        office.let_in(log, TRAP, "ann", "writer")
    with open_store(office.url("bob"), acting=Acting("", TRAP)) as store:
        store.put(bank(), [entry(CRIMSON, "The crimson pelican.")])
    with closing(Intruder(office, "bob")) as bob:
        bob.run(f"SET recollect.scope = '{TRAP}'")
        yield bob


@pytest.mark.usefixtures("trap")
def test_token_that_an_admin_makes_for_a_member_tells_nothing_of_what_the_member_uses(office: Team) -> None:
    with open_store(office.url("ann")) as own:
        assert own.entries([CRIMSON])[0].recall_count == 2, "in her own scope and in red"
    with open_store(office.url("gateway"), acting=Acting("ann", TRAP, (TRAP,), "writer")) as store:
        assert (store.receipts(9), store.usages(), store.evidence(), store.feedback()) == ([], [], [], {})
        assert (store.entries([CRIMSON])[0].recall_count, store.query_vector("crimson words")) == (0, None)
        store.recalled(receipt(CRIMSON, query="words of bob"))
        assert [each.query for each in store.receipts(9)] == ["words of bob"]
    with open_store(office.url("ann")) as own:
        assert {each.query for each in own.receipts(9)} == {"crimson words"}


def test_token_speaks_for_one_user_for_a_year_at_most(trap: Intruder) -> None:
    for login in ("", "*"):
        told = trap.run(f"SELECT create_token('h', '{login}', '{TRAP}', 'writer', 60, '')")
        assert "a token speaks for one user" in told
    for seconds in ("1e9", "'Infinity'", "'NaN'"):
        told = trap.run(f"SELECT create_token('h', 'ann', '{TRAP}', 'writer', {seconds}, '')")
        assert "a token ends within a year" in told
    assert "[(0,)]" in trap.run("SELECT count(*) FROM tokens WHERE scope = 'team:trap'")


def test_owner_who_acts_for_somebody_has_no_rights_of_an_owner(office: Team) -> None:
    office.server.run(f'GRANT "{office.groups.server}" TO operator')
    with closing(Intruder(office, "operator")) as operator:
        assert "[(True,)]" in operator.run("SELECT is_owner()")
        for user in ("ann", "operator"):
            operator.run(f"SELECT set_config('recollect.user', '{user}', false)")
            assert "[(False,)]" in operator.run("SELECT is_owner()")


@pytest.mark.parametrize("login", ["Ann", "***", "a" * 80])
def test_no_login_has_the_personal_scope_of_another(bob: Intruder, login: str) -> None:
    made = bob.run(f"SELECT personal_name('{login}')").split(":")[1].split("'")[0]
    assert made != login
    assert "[(False,)]" in bob.run(f"SELECT personal_name('{made}') = personal_name('{login}')")


@pytest.mark.parametrize(
    "poison",
    [
        "UPDATE corpus SET entries = -1000000, length = -1000000",
        "UPDATE corpus SET entries = 999999999999, length = 999999999999999",
        "UPDATE corpus SET entries = 9223372036854775807",
        "UPDATE word_counts SET entries = -1000000",
        "UPDATE word_counts SET entries = 999999999999",
        "DELETE FROM word_counts",
        "UPDATE entries SET keywords = 'no json', triggers = '{\"a\":', \"references\" = '7', updated_at = 'x'",
        "UPDATE entries SET length = -5, observation_count = 2147483647, words = NULL",
        "INSERT INTO vectors (model, kind, number, scale, vector) SELECT 0, 0, number, 'NaN', '[1,2,3,4]' FROM entries",
        "INSERT INTO vectors (model, kind, number, scale, vector) SELECT 0, 0, number, 1, '[1,2,3]' FROM entries",
        "INSERT INTO vectors (model, kind, number, scale, vector) SELECT 77, 0, number, 1, '[1,2,3]' FROM entries",
        "UPDATE models SET dimensions = 3",
    ],
)
def test_no_row_of_a_member_makes_searches_of_others_fail(office: Team, trap: Intruder, poison: str) -> None:
    if poison.startswith("INSERT"):
        poison += f" WHERE scope = '{TRAP}'"
    trap.run(poison)
    with open_store(office.url("ann")) as store:
        store.use_model(model(4))
        assert {match.id for match in store.text_matches(["crimson", "pelican"], EVERYWHERE, 9)} >= {IDS["crimson"][1]}
        assert [match.id for match in store.vector_matches(NORTH, EVERYWHERE, 9)] == [CRIMSON]
        counts, total = store.document_frequencies(["crimson"])
        assert 0 < counts["crimson"] <= total
        assert len(store.entries([CRIMSON])) == 1
        assert len(store.titles(EVERYWHERE, 9)) == 3
        assert store.background(NORTH, EVERYWHERE).count
    with open_store(office.url("ann"), acting=Acting("", TRAP)) as store:
        store.check()  # as `recollect doctor` does: it counts anew, and indexes what is left
        store.put(bank("/b.md"), [entry("0" * 16, "A new pelican.")])


def test_wrong_vector_is_refused_before_the_model_of_its_number_is_known(trap: Intruder) -> None:
    told = trap.run(
        "INSERT INTO vectors (model, kind, number, scale, vector)"
        f" SELECT 77, 0, number, 1, '[1,2,3]' FROM entries WHERE scope = '{TRAP}'"
    )
    assert "a vector has another size than those of its model" in told


def test_number_of_models_is_bounded(trap: Intruder) -> None:
    trap.run(f"SELECT number_of_model('x' || n, 4) FROM generate_series(1, {MOST_MODELS - 1}) n")
    assert "models already" in trap.run("SELECT number_of_model('one more', 4)")
    assert "[(" in trap.run("SELECT number_of_model('x1', 4)")


# Every method

LOG: dict[str, Any] = dict(  # noqa: C408 (short)
    scope=RED, name=RED, login="bob", role="reader", lines=[TeamLine(LINE, {"shared": "x"})], after_seq=0, limit=10,
    curated=True, hashes=["crimson-hash"], number=1, seconds=60.0, token="rct_unheard",
    accept=True, invitation="rci_unheard",
)  # fmt: skip


def arguments(method: Any) -> dict[str, Any]:
    """Arguments that ask for red, by the names of parameters."""
    return {name: LOG[name] for name in inspect.signature(method).parameters if name != "self"}


@pytest.mark.parametrize("login", ["bob", "eve"])
def test_no_method_of_the_log_gives_or_takes_anything_of_another_team(office: Team, login: str) -> None:
    before = contents(office)
    names = [name for name in vars(TeamLog) if not name.startswith("_") and name != "close"]
    assert len(names) > 15
    for name in names:
        with open_team(office.url(login)) as log:
            method = getattr(log, name)
            try:
                seen = repr(method(**arguments(getattr(TeamLog, name))))
            except StoreError as error:
                seen = str(error)
            assert not re.search("crimson|ann", seen), name
    after = contents(office)
    assert {**after, "audit": []} == {**before, "audit": []}


STORE: dict[str, Any] = dict(  # noqa: C408 (short)
    ids=[CRIMSON], id=CRIMSON, scope=EVERYWHERE, limit=10, terms=["crimson", "pelican"], vector=NORTH,
    kind="bank", project=SHOP, projects=[SHOP], files=["x"], beginning="crimson", text="crimson words", key="note",
    paths=["/crimson.md"], path="/crimson.md", new="/x.md", source=Source("/crimson.md", "bank"), entries=[],
    keywords={CRIMSON: ["x"]}, vectors=[], model=model(4), identities=[model(4).identity],
    identity=model(4).identity, receipt=receipt("x"), usages=[], old_id=CRIMSON, new_id="x", found=[], raised=[],
    anew=True, at="2026-01-01", since="2026-01-01", times=1, patience=1.0, is_unwanted=lambda _entry: True,
    acting=None, aside="x#aside=x",
)  # fmt: skip


@pytest.mark.parametrize("acting", [None, Acting("", RED), Acting("", RED, (RED,)), Acting("", "personal:ann")])
def test_no_method_of_a_store_gives_or_takes_anything_of_another_team(office: Team, acting: Acting | None) -> None:
    before = contents(office)
    names = [name for name, member in vars(Store).items() if inspect.isfunction(member) and not name.startswith("_")]
    assert len(names) > 50
    for name in names:
        if name in ("close", "write", "compact"):
            continue
        wanted = inspect.signature(getattr(Store, name)).parameters
        given = {each: STORE[each] for each in wanted if each in STORE}
        with open_store(office.url("bob"), acting=acting, patience=2.0) as store:
            try:
                seen = repr(_told(getattr(store, name)(**given)))
            except StoreError as error:
                seen = str(error)
            # Answers repeat what was asked for, but know nothing else of it.
            assert not re.search("(c1|c2){8}|The crimson|crimson words", seen), name
    assert contents(office) == before


def _told(value: Any) -> Any:
    """A value with the fields of objects in it."""
    if isinstance(value, dict):
        return {str(key): _told(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [_told(each) for each in value]
    names = getattr(type(value), "__slots__", None) or getattr(value, "__dict__", {})
    return {name: str(getattr(value, name, "")) for name in names} if names else str(value)


def test_whoever_is_in_both_teams_reads_both_and_loses_one_at_once(office: Team) -> None:
    with open_store(office.url("cleo")) as store, ExitStack() as stack:
        assert store.count(EVERYWHERE) == 6
        ann = stack.enter_context(open_team(office.url("ann")))
        ann.remove_member(RED, "cleo")
        assert store.count(EVERYWHERE) == 3
        with closing(Intruder(office, "cleo")) as cleo:
            assert "crimson" not in cleo.run("SELECT * FROM entries")
