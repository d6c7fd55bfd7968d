"""Who may speak for whom: the table of docs/team.md cell by cell, and attacks by logins that a scope has or has not.

Ann is the admin of a scope, cleo its curator, bob and mallory write in it, rob reads it, eve is in none. The operator
owns the database. The token is bob's, and its holder comes through the gateway. Each cell is tried by plain SQL, and by
our client.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests import postgres
from tests.contract.test_stores import EVERYWHERE, entry
from tests.contract.test_stores import bank as bank_of
from tests.postgres import Team

from recollect.domain.hashing import content_hash
from recollect.domain.shared.acting import Acting
from recollect.domain.shared.fold import SharedLesson
from recollect.domain.shared.lines import TeamLine
from recollect.errors import RecollectError, StoreError
from recollect.store.open import open_store
from recollect.store.team import TeamLog
from recollect.sync.entry_input import EntryInput
from recollect.sync.scopes import fold_lessons

psycopg = pytest.importorskip("psycopg")

SCOPE = "team:backend"
WHO = ("stranger", "reader", "writer", "curator", "admin", "owner", "token")
ACTS = ("read", "add", "edit own", "edit others'", "retire", "revive", "invite", "speak as", "block")
LOGINS = {"stranger": "eve", "reader": "rob", "writer": "bob", "curator": "cleo", "admin": "ann", "owner": "operator"}
YES, NO, BY_SQL = "yes", "no", "by SQL"

_numbers = itertools.count(1)


def table() -> dict[tuple[str, str], str]:
    """The cells of the table in the docs."""
    text = (Path(__file__).parents[2] / "docs" / "team.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if line.startswith("| ")]
    acts = next(row[1:] for row in rows if row[1:] == list(ACTS))
    return {(row[0], act): cell for row in rows if row[0] in WHO for act, cell in zip(acts, row[1:], strict=True)}


def line_id(clock: float = 0.0) -> str:
    return f"{int((time.time() + clock) * 1000):013}-{next(_numbers):06}-0000abcd"


def shared(text: str, *, clock: float = 0.0, hash: str = "", **body: object) -> TeamLine:
    fields = {"name": text[:40], "description": text, "category": "patterns", "reasoning": "as said"}
    entry = body.pop("entry", fields)
    return TeamLine(line_id(clock), {"shared": hash or content_hash(text), "entry": entry, **body})


def about(kind: str, text: str, **body: object) -> TeamLine:
    return TeamLine(line_id(), {kind: content_hash(text), **body})


class Person:
    """Somebody with a log by our client, and with a connection for plain SQL."""

    def __init__(self, log: TeamLog, url: str, stack: ExitStack, settings: Mapping[str, str] = {}) -> None:
        self.log = log
        self._connection: Any = stack.enter_context(psycopg.connect(url, autocommit=True))
        for name, value in settings.items():
            self.sql("SELECT set_config(%s, %s, false)", name, value)

    def sql(self, statement: str, *values: object) -> list[Any]:
        cursor = self._connection.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []

    def tries(self, statement: str, *values: object) -> bool:
        try:
            self.sql(statement, *values)
        except psycopg.Error:
            return False
        return True

    def say(self, way: str, line: TeamLine, scope: str = SCOPE) -> None:
        """Say something, as far as it is taken; by SQL also past the function, as somebody else."""
        if way == "client":
            try:
                self.log.append(scope, [line])
            except RecollectError:
                return
            return
        given = json.dumps([{"id": line.id, "body": line.body}])
        try:
            refused = self.sql("SELECT * FROM append_lines(%s, %s)", scope, given)
        except psycopg.Error:
            refused = [("", "")]
        if refused:
            self.put_line(line, "ann", scope)

    def put_line(self, line: TeamLine, author: str, scope: str = SCOPE, *, role: str = "curator") -> bool:
        kind = next(iter(line.body))
        return self.tries(
            "INSERT INTO lines (scope, seq, id, author, role, kind, hash, edits, body)"
            " VALUES (%s, (SELECT 100000 + extract(epoch FROM clock_timestamp()) * 1000)::bigint,"
            " %s, %s, %s, %s, %s, %s, %s)",
            *(scope, line.id, author, role, kind, line.body[kind], line.body.get("edits", ""), json.dumps(line.body)),
        )


class Office:
    """The people of the table, at one server."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.team: Team = postgres.server().team(folder)
        self._stack = stack
        self.people: dict[str, Person] = {}
        self.gateway = self._person("gateway", self.team.url("gateway", group=self.team.groups.server))
        for who, login in LOGINS.items():
            url = self.team.operator if who == "owner" else self.team.url(login)
            self.people[who] = self._person(login, url)
        self.ann = self.people["admin"].log
        self.ann.create_scope(SCOPE)
        for who, role in (("reader", "reader"), ("writer", "writer"), ("curator", "curator")):
            self.ann.add_member(SCOPE, LOGINS[who], role)
            self.people[who].log.answer(SCOPE, accept=True)
        number, self.token = self.people["writer"].log.create_token("bob", SCOPE, "writer", 3600)
        store = self._stack.enter_context(
            open_store(self.team.url("gateway"), acting=Acting("bob", SCOPE, (SCOPE,), "writer", str(number)))
        )
        assert store.team
        settings = {"user": "bob", "scope": SCOPE, "read": SCOPE, "role": "writer", "token": str(number)}
        self.people["token"] = Person(
            store.team, self.team.url("gateway"), stack, {f"recollect.{key}": value for key, value in settings.items()}
        )

        self.another_writer = self.another("mallory", "writer")

    def _person(self, login: str, url: str) -> Person:
        from recollect.store.open import open_team

        assert login
        return Person(self._stack.enter_context(open_team(url)), url, self._stack)

    def another(self, login: str, role: str = "") -> Person:
        """One more login, in the scope if it has a role."""
        person = self._person(login, self.team.url(login))
        if role:
            self.ann.add_member(SCOPE, login, role)
            person.log.answer(SCOPE, accept=True)
        return person

    def lessons(self, *texts: str, scope: str = SCOPE, curated: bool = False) -> dict[str, SharedLesson[EntryInput]]:
        """The lessons as every laptop folds them, by their text; all, or those about these texts."""
        lines = self.ann.related(scope, [content_hash(text) for text in texts])
        return {each.text.entry.description: each for each in fold_lessons(lines, curated=curated).lessons}

    def hers(self) -> str:
        """A new lesson of a colleague: of ann, who is an admin now, and shared it as anybody might."""
        text = f"Lesson {next(_numbers)} of a colleague."
        assert self.ann.append(SCOPE, [shared(text)]) == []
        return text


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with ExitStack() as stack:
        yield Office(tmp_path_factory.mktemp("office"), stack)


class Cell:
    """What somebody tries, in a way: `sql` or `client`. Each returns True if it worked."""

    def __init__(self, office: Office, who: str, way: str) -> None:
        self.office, self.who, self.way = office, who, way
        self.me = office.people[who]
        self.login = LOGINS.get(who, "bob")

    def read(self) -> bool:
        self.office.hers()
        if self.way == "sql":
            seen = "SELECT 1 FROM lines WHERE scope = %s"
            if self.me.sql(seen, SCOPE):
                return True
            if not self.me.tries("ALTER TABLE lines NO FORCE ROW LEVEL SECURITY"):
                return False
            try:
                return bool(self.me.sql(seen, SCOPE))
            finally:
                self.me.sql("ALTER TABLE lines FORCE ROW LEVEL SECURITY")
        try:
            return bool(self.me.log.read(SCOPE, 0, 5))
        except StoreError:
            return False

    def _say(self, line: TeamLine) -> None:
        self.me.say(self.way, line)

    def add(self) -> bool:
        text = f"Lesson {next(_numbers)} of {self.who}."
        self._say(shared(text))
        return text in self.office.lessons(text)

    def edit_own(self) -> bool:
        text = f"Lesson {next(_numbers)} of {self.who}."
        self._say(shared(text))
        self._say(shared(f"{text} Edited.", edits=content_hash(text)))
        return list(self.office.lessons(text)) == [f"{text} Edited."]

    def edit_others(self) -> bool:
        if self.who == "admin":  # whose colleague is bob
            text = f"Lesson {next(_numbers)} of bob."
            self.office.people["writer"].log.append(SCOPE, [shared(text)])
        else:
            text = self.office.hers()
        self._say(shared(f"{text} Edited.", edits=content_hash(text)))
        return text not in self.office.lessons(text)

    def retire(self) -> bool:
        text = self.office.hers()
        self._say(about("retired", text))
        return self.office.lessons(text)[text].is_retired

    def revive(self) -> bool:
        text = self.office.hers()
        self.office.people["curator"].log.append(SCOPE, [about("retired", text)])
        assert self.office.lessons(text)[text].is_retired
        for kind in ("observed", "confirmed"):
            self._say(about(kind, text))
        self._say(shared(text))
        return not self.office.lessons(text)[text].is_retired

    def invite(self) -> bool:
        guest = f"guest{next(_numbers)}"
        if self.way == "sql":
            self.me.tries("SELECT put_member(%s, %s, 'reader')", SCOPE, guest)
        else:
            try:
                self.me.log.add_member(SCOPE, guest, "reader")
            except RecollectError:
                return False
        return guest in {member.login for member in self.office.ann.members(SCOPE)}

    def speak_as(self) -> bool:
        """Say something as dan, whom everybody may have for a colleague."""
        other, text = "cleo" if self.login != "cleo" else "bob", f"Lesson {next(_numbers)} of somebody else."
        if self.way == "client":
            try:
                _, token = self.me.log.create_token(other, SCOPE, "writer", 3600)
            except RecollectError:
                return False
            return self.office.gateway.log.token_user(token) is not None
        self.me.put_line(shared(text), other)
        given = json.dumps([{"id": line_id(), "body": dict(shared(text).body)}])
        if self.who != "token":  # which has no SQL: these are the gateway's settings
            self.me.tries("SELECT set_config('recollect.user', %s, false)", other)
            self.me.tries("SELECT * FROM append_lines(%s, %s)", SCOPE, given)
            self.me.tries("SELECT set_config('recollect.user', '', false)")
        self.me.tries("SELECT create_token(%s, %s, %s, 'writer', 60, '')", f"hash{text}", other, SCOPE)
        used = self.office.gateway.sql("SELECT * FROM token_user(%s)", f"hash{text}")
        return bool(used) or any(each.text.author == other for each in self.office.lessons(text).values())

    def block(self) -> bool:
        """Keep others from writing, as long as one likes: no transaction of our client outlasts its call."""
        if self.way == "client":
            self._say(about("observed", self.office.hers()))
            return self.office.another_writer.log.append(SCOPE, [about("observed", self.office.hers())]) != []
        if self.who == "token":
            return False  # it comes without SQL
        key = f"{self.office.team.schema} lines {SCOPE}"
        self.me.sql("BEGIN")
        for number, statement in enumerate(
            (
                f"SELECT pg_advisory_lock(hashtextextended('{key}', 0))",
                f"SELECT * FROM scopes WHERE name = '{SCOPE}' FOR UPDATE",
                f"SELECT set_config('recollect.scope', '{SCOPE}', true), take_turn()",
                f"SELECT answer_scope('{SCOPE}', true)",
                f"SELECT * FROM append_lines('{SCOPE}', '[]')",
            )
        ):
            self.me.sql(f"SAVEPOINT s{number}")
            if not self.me.tries(statement):
                self.me.sql(f"ROLLBACK TO s{number}")
        try:
            self.office.another_writer.sql("SET lock_timeout = '300ms'")
            given = json.dumps([{"id": line_id(), "body": {"observed": "a" * 16}}])
            return not self.office.another_writer.tries("SELECT * FROM append_lines(%s, %s)", SCOPE, given)
        finally:
            self.me.sql("ROLLBACK; SELECT pg_advisory_unlock_all()")


METHODS = {act: act.replace(" ", "_").replace("'", "") for act in ACTS}


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("act", ACTS)
def test_cell_of_the_table_holds_by_sql_and_by_our_client(office: Office, who: str, act: str) -> None:
    said = table()[who, act]
    assert said in (YES, NO, BY_SQL), said
    worked = {way: getattr(Cell(office, who, way), METHODS[act])() for way in ("sql", "client")}
    assert worked == {"sql": said != NO, "client": said == YES}


# The attacks


def test_writer_joins_no_lesson_of_a_colleague_with_his_own(office: Office) -> None:
    """An edit or the end of his own would be that of the colleague's, for everybody."""
    text, bait = office.hers(), f"Bait {next(_numbers)}."
    mallory = office.another_writer
    joins = shared(text, edits=content_hash(bait))
    assert [each.reason for each in mallory.log.append(SCOPE, [shared(bait), joins])] == [
        "somebody else has shared that text before; only a curator can put it in the place of another"
    ]
    assert mallory.log.append(SCOPE, [shared(f"{bait} Poison.", edits=content_hash(bait))]) == []
    assert text in office.lessons(text)

    # A server that was not so careful has taken it. The fold decides by authors, too.
    office.people["owner"].put_line(joins, "mallory", role="writer")
    mallory.log.append(SCOPE, [about("retired", bait)])
    found = office.lessons(text, bait)
    assert (found[text].is_retired, found[text].text.author) == (False, "ann")
    assert found[f"{bait} Poison."].is_retired


def test_line_without_the_text_of_its_hash_makes_nobody_the_author_of_it(office: Office) -> None:
    """Otherwise who knows what a colleague is about to share takes it from him, and says nothing that anybody sees."""
    text, bob = f"Lesson {next(_numbers)} that was taken.", office.people["writer"].log
    forged = {"name": "x", "description": "Another text.", "category": "patterns"}
    for body in ({"entry": forged}, {"entry": {**forged, "description": 7}}, {"entry": "x"}, {}):
        line = TeamLine(line_id(), {"shared": content_hash(text), **body})
        assert office.another_writer.log.append(SCOPE, [line]) == []
    edited = f"{text} Edited."
    edit = shared(edited, edits=content_hash(text))
    assert bob.append(SCOPE, [shared(text), edit, about("retired", edited)]) == []
    assert office.lessons(text)[edited].is_retired
    assert [each.reason for each in office.another_writer.log.append(SCOPE, [about("retired", text)])] == [
        "only a curator can change or retire what somebody else has shared"
    ]


def test_duplicate_from_a_clock_that_is_behind_changes_no_field_of_a_colleagues_lesson(office: Office) -> None:
    text = office.hers()
    fields = {"name": "FORGED", "description": text, "category": "anti-patterns", "reasoning": "FORGED"}
    forged = shared(text, clock=-30 * 365 * 86_400, entry={**fields, "triggers": ["forged"], "confidence": "high"})
    assert office.another_writer.log.append(SCOPE, [forged]) == [], "a laptop may have been offline for long"
    lesson = office.lessons(text)[text]
    assert (lesson.text.author, lesson.text.entry.name, lesson.text.entry.category) == ("ann", text[:40], "patterns")
    assert lesson.observations == 2


def test_line_of_somebody_else_with_the_same_id_is_not_ones_own(office: Office) -> None:
    """Say a line of somebody else again, where a restored server lacks it: its author hears that he did not."""
    text, mallory = office.hers(), office.another_writer.log
    known = office.ann.related(SCOPE, [content_hash(text)])[0]
    same, other = TeamLine(known.id, known.body), TeamLine(known.id, {"observed": content_hash(text)})
    for line in (same, other):
        assert [each.is_taken for each in mallory.append(SCOPE, [line])] == [True]
    assert office.ann.append(SCOPE, [same]) == []
    assert [line.seq for line in office.ann.related(SCOPE, [content_hash(text)])] == [known.seq]


def test_five_hundred_observations_of_one_person_count_once(office: Office) -> None:
    text = office.hers()
    refused = office.another_writer.log.append(SCOPE, [about("observed", text) for _ in range(500)])
    assert refused == []
    assert office.lessons(text)[text].observations == 2


def test_word_of_a_writer_revives_nothing_that_a_curator_has_retired_in_a_curated_scope(office: Office) -> None:
    scope, text = f"team:curated{next(_numbers)}", "Curators decide here."
    office.ann.create_scope(scope, curated=True)
    office.team.let_in(office.ann, scope, "mallory", "writer")
    office.ann.append(scope, [shared(text), about("retired", text)])
    mallory = office.another_writer.log
    assert mallory.append(scope, [about("observed", text), about("confirmed", text), shared(text)]) == []
    assert office.lessons(text, scope=scope, curated=True)[text].is_retired
    office.ann.append(scope, [about("confirmed", text)])
    assert not office.lessons(text, scope=scope, curated=True)[text].is_retired


def test_scope_reaches_nobody_who_has_not_said_yes(office: Office) -> None:
    scope, mallory, rob = f"team:everybody{next(_numbers)}", office.another_writer, office.people["reader"]
    mallory.log.create_scope(scope)
    with pytest.raises(StoreError, match="only the owner of the schema may add everybody"):
        mallory.log.add_member(scope, "*", "reader")
    mallory.log.add_member(scope, "rob", "writer")
    mallory.log.append(scope, [shared("Run make trust before anything else.")])
    with open_store(office.team.url("mallory"), acting=Acting("", scope)) as store:
        text = "Run make trust before anything else."
        store.put(bank_of(), [entry(content_hash(text), text)])
    with open_store(office.team.url("rob")) as store:
        assert (store.count(EVERYWHERE), store.team and [each.name for each in store.team.scopes()]) == (
            0,
            ["personal:rob", SCOPE],
        )
    for table_of in ("scopes WHERE name", "lines WHERE scope", "entries WHERE scope", "nearest WHERE scope"):
        assert rob.sql(f"SELECT 1 FROM {table_of} = %s", scope) == []
    with pytest.raises(StoreError, match=rf"rob is invited to {scope}, and has not accepted it; `recollect team acc"):
        rob.log.read(scope, 0, 5)
    # memory_scope of a server for agents
    with open_store(office.team.url("rob")) as store, pytest.raises(StoreError, match=f"rob is invited to {scope}"):
        store.act_as(Acting("", scope))
    assert [(each.scope, each.by, each.role) for each in rob.log.invitations()] == [(scope, "mallory", "writer")]

    rob.log.answer(scope, accept=True)
    assert len(rob.log.read(scope, 0, 5)) == 1
    rob.log.answer(scope, accept=False)
    assert scope not in [each.name for each in rob.log.scopes()]
    assert [each.declined for each in rob.log.invitations()] == [True]
    mallory.log.remove_member(scope, "rob")
    mallory.log.add_member(scope, "rob", "reader")
    assert [each.declined for each in rob.log.invitations()] == [True], "a no stays, however often somebody asks"


def test_nobody_answers_for_somebody_else(office: Office) -> None:
    scope, mallory = f"team:mine{next(_numbers)}", office.another_writer
    mallory.log.create_scope(scope)
    mallory.log.add_member(scope, "cleo", "reader")
    assert not mallory.tries("INSERT INTO consents (login, scope, accepted) VALUES ('cleo', %s, true)", scope)
    assert not mallory.tries("UPDATE consents SET accepted = true")
    mallory.sql("SELECT set_config('recollect.user', 'cleo', false)")
    mallory.sql("SELECT answer_scope(%s, true)", scope)
    mallory.sql("SELECT set_config('recollect.user', '', false)")
    assert [(each.login, each.accepted) for each in mallory.log.members(scope)] == [("cleo", False), ("mallory", True)]
    with pytest.raises(StoreError, match="eve was not invited to"):
        office.people["stranger"].log.answer(scope, accept=True)


def test_token_for_somebody_else_opens_nothing_until_his_own_login_redeems_it(office: Office) -> None:
    look_up = office.gateway.log.token_user
    number, invitation = office.ann.create_token("bob", SCOPE, "writer", 3600)
    assert invitation.startswith("rci_")
    assert look_up(invitation) is None
    for other in (office.ann, office.another_writer.log):
        with pytest.raises(StoreError, match="that is no invitation to a token for"):
            other.redeem_token(invitation)
    token, text = office.people["writer"].log.redeem_token(invitation)
    assert (token.number, token.login, token.created_by, token.is_invitation) == (number, "bob", "ann", False)
    found = look_up(text)
    assert found
    assert (found.login, look_up(invitation)) == ("bob", None)
    with pytest.raises(StoreError, match="that is no invitation"):
        office.people["writer"].log.redeem_token(invitation)

    # What it says carries who made it, and it ends at once when it is taken back.
    acting = Acting("bob", SCOPE, (SCOPE,), "writer", str(number))
    said = f"Said by a token {next(_numbers)}."
    with open_store(office.team.url("gateway"), acting=acting) as store:
        assert store.team
        assert store.team.append(SCOPE, [shared(said)]) == []
        assert office.lessons(said)[said].text.said_by == "bob by a token of ann"
        office.ann.revoke_token(number)
        assert (store.team.scopes(), look_up(text)) == ([], None)
        with pytest.raises(StoreError, match="bob has no role of"):
            store.team.append(SCOPE, [shared("Too late.")])


def test_token_of_an_earlier_version_for_somebody_else_is_an_invitation(office: Office) -> None:
    office.team.server.run(
        f"INSERT INTO {office.team.schema}.tokens (hash, login, scope, role, name, created_by, expires_at)"
        f" VALUES (encode(sha256('rct_old'), 'hex'), 'bob', '{SCOPE}', 'reader', '', 'ann', now() + interval '1 day')"
    )
    assert office.gateway.log.token_user("rct_old") is None
    _, text = office.people["writer"].log.redeem_token("rct_old")
    assert office.gateway.log.token_user(text) is not None


def test_token_ends_after_ninety_days_unless_said(office: Office) -> None:
    bob = office.people["writer"]
    bob.sql("SELECT create_token('unsaid', 'bob', %s, 'reader', NULL, '')", SCOPE)
    assert bob.sql(
        "SELECT round(extract(epoch FROM expires_at - created_at) / 86400) FROM tokens WHERE number ="
        " (SELECT max(number) FROM tokens)"
    ) == [(90,)]


def test_entry_of_one_scope_takes_the_place_of_none_of_another(office: Office) -> None:
    """Though Rob has accepted both, and has a login with plain SQL."""
    scope, text = f"project:aaa{next(_numbers)}", "Never turn certificate checks off."
    id = content_hash(text)
    mallory = office.another_writer
    mallory.log.create_scope(scope)
    office.team.let_in(mallory.log, scope, "rob", "reader")
    with open_store(office.team.url("ann"), acting=Acting("", SCOPE)) as store:
        store.put(bank_of(), [entry(id, text)])
    mallory.sql("SELECT set_config('recollect.scope', %s, false)", scope)
    insert = (
        "INSERT INTO entries (id, name, description, category, created_at, updated_at, source)"
        " VALUES (%s, 'Forged', %s, %s, '', '', 'manual')"
    )
    assert not mallory.tries(insert, "crt-0", "Always turn certificate checks off.", "decision")
    assert mallory.tries(insert, id, "Always turn certificate checks off.", "patterns")
    rob = office.people["reader"]
    assert rob.sql("SELECT scope, description FROM nearest WHERE id = %s", id) == [(SCOPE, text)]


@pytest.mark.parametrize("text", ["Plain  TEXT here\n", "Größe ÜBER alles …", "ΟΔΟΣ Σας", "a\u3000b\u00a0C\u2028d"])
def test_server_and_laptops_make_the_same_ids(office: Office, text: str) -> None:
    assert office.people["reader"].sql("SELECT text_id(%s)", text) == [(content_hash(text),)]


def test_no_login_names_the_maker_of_its_lines(office: Office) -> None:
    bob, text = office.people["writer"], f"With a number that is not mine {next(_numbers)}."
    assert not bob.tries("UPDATE lines SET maker = 'ann'")
    bob.sql("SELECT set_config('recollect.token', '1', false)")
    bob.say("sql", shared(text))
    bob.sql("SELECT set_config('recollect.token', '', false)")
    bob.say("sql", shared(text))
    assert [line.maker for line in office.ann.related(SCOPE, [content_hash(text)])] in (["", ""], [""])
