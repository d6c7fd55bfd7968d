"""Stores of several users on one server: what each reads and writes, and which of several entries counts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests import postgres
from tests.conftest import PATIENCE
from tests.contract.test_stores import EAST, EVERYWHERE, NORTH, SHOP, bank, entry, model, receipt
from tests.held import writing
from tests.postgres import Team

from recollect.domain.feedback.kinds import OPENED
from recollect.domain.shared.acting import Acting
from recollect.domain.stored import Retirement
from recollect.errors import StoreError
from recollect.store.base import Store
from recollect.store.open import open_store
from recollect.store.values import JOURNAL, Evidence, Source

BACKEND, WEB = "team:backend", "team:web"

A, B, C = "a" * 16, "b" * 16, "c" * 16
BACK, OWN_ANN, OWN_BOB, OF_WEB = "1" * 16, "2" * 16, "3" * 16, "4" * 16


class Office:
    """A team's server on which anybody opens stores."""

    def __init__(self, team: Team, stack: ExitStack) -> None:
        self.team = team
        self._stack = stack

    def store(self, login: str, scope: str = "", read: tuple[str, ...] = (), **known: str) -> Store:
        acting = Acting(known.get("user", ""), scope, read, known.get("role", ""))
        return self._stack.enter_context(open_store(self.team.url(login), acting=acting))


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    """Ann is an admin of two teams, bob writes in one and reads the other, dan reads one."""
    team = postgres.server().team(tmp_path, "organisation:acme")
    with ExitStack() as stack:
        with team.log("ann") as ann:
            for scope in (BACKEND, WEB):
                ann.create_scope(scope)
            team.let_in(ann, BACKEND, "bob", "writer")
            team.let_in(ann, WEB, "bob", "reader")
            team.let_in(ann, BACKEND, "dan", "reader")
        yield Office(team, stack)


def found(store: Store, *terms: str) -> list[str]:
    return sorted(match.id for match in store.text_matches(list(terms), EVERYWHERE, 20))


def test_everybody_finds_what_is_his_and_what_his_scopes_hold(office: Office) -> None:
    ann, bob, dan = office.store("ann"), office.store("bob"), office.store("dan")
    ann.put(bank(), [entry(OWN_ANN, "A pelican.")])
    bob.put(bank(), [entry(OWN_BOB, "A pelican.")])
    office.store("ann", BACKEND).put(bank("scope:backend"), [entry(BACK, "A pelican.")])
    office.store("ann", WEB).put(bank("scope:web"), [entry(OF_WEB, "A pelican.")])
    assert found(ann, "pelicans") == [BACK, OWN_ANN, OF_WEB]
    assert found(bob, "pelicans") == [BACK, OWN_BOB, OF_WEB]
    assert found(dan, "pelicans") == [BACK]
    assert found(office.store("bob", read=(BACKEND,)), "pelicans") == [BACK, OWN_BOB]
    assert found(office.store("bob", BACKEND, (BACKEND,)), "pelicans") == [BACK]
    assert found(office.store("eve"), "pelicans") == []
    assert [ann.count(EVERYWHERE), bob.count(EVERYWHERE), dan.count(EVERYWHERE)] == [3, 3, 1]
    assert ann.document_frequencies(["pelican"]) == ({"pelican": 3}, 3)
    assert sorted(title.id for title in dan.titles(EVERYWHERE, 9)) == [BACK]
    assert [each.id for each in dan.entries([BACK, OF_WEB, OWN_ANN])] == [BACK]
    assert dan.ids_beginning("", EVERYWHERE, 9) == [BACK]
    assert dan.term_places(["pelican"], [BACK, OF_WEB]) == {BACK: {"pelican": {"description"}}}
    assert [source.path for source in dan.sources_of(BACK)] == ["scope:backend"]
    assert dan.sources_of(OF_WEB) == []


def test_of_one_entry_in_several_scopes_the_nearest_counts(office: Office) -> None:
    for scope, words in ((BACKEND, "Of the backend."), (WEB, "Of the web."), ("", "My own.")):
        store = office.store("ann", scope)
        store.use_model(model(4))
        store.put(bank(), [entry(A, f"A pelican. {words}")])
        store.put_vectors([(A, EAST if scope else NORTH)])
    ann, bob = office.store("ann"), office.store("bob")
    bob.use_model(model(4))
    assert [each.description for each in ann.entries([A])] == ["A pelican. My own."]
    assert [each.description for each in bob.entries([A])] == ["A pelican. Of the backend."]
    assert [each.description for each in office.store("ann", WEB).entries([A])] == ["A pelican. Of the web."]
    for store in (ann, bob):
        assert store.count(EVERYWHERE) == 1
        assert found(store, "pelican") == [A]
        assert [title.id for title in store.titles(EVERYWHERE, 5)] == [A]
        assert [each.id for each in store.standings(EVERYWHERE)] == [A]
        assert store.page(EVERYWHERE, 5)[1] == 1
        assert store.page(EVERYWHERE, 5, terms=["pelican"])[1] == 1
    assert [round(match.score, 2) for match in ann.vector_matches(NORTH, EVERYWHERE, 5)] == [1.0]
    assert [round(match.score, 2) for match in bob.vector_matches(NORTH, EVERYWHERE, 5)] == [0.0]
    assert [round(score, 2) for score in ann.similarities(NORTH, [A]).values()] == [1.0]
    assert ann.background(NORTH, EVERYWHERE).count == 1
    found_words = found(office.store("ann", read=(WEB,)), "web")
    assert found_words == [], "the words of an entry that a nearer one hides find nothing"


def test_what_one_has_retired_stays_retired_whatever_a_scope_says(office: Office) -> None:
    office.store("ann", BACKEND).put(bank(), [entry(A), entry(B)])
    bob = office.store("bob")
    said = [Retirement(A, "", at="2026-01-02T00:00:00Z", reason="wrong")]
    bob.put(Source("/journal.jsonl", JOURNAL), [entry(A)], retirements=said)
    assert bob.ids_beginning("", EVERYWHERE, 9) == [B]
    assert office.store("dan").ids_beginning("", EVERYWHERE, 9) == [A, B]


def test_a_transaction_sees_the_scope_that_is_written_to_alone(office: Office) -> None:
    office.store("ann", BACKEND).put(bank(), [entry(A, "A pelican.")])
    bob = office.store("bob")
    with writing(bob):
        assert (bob.count(EVERYWHERE), found(bob, "pelican"), bob.document_frequencies(["pelican"])[1]) == (0, [], 0)
    assert (bob.count(EVERYWHERE), found(bob, "pelican"), bob.document_frequencies(["pelican"])[1]) == (1, [A], 1)
    assert (bob.sources(), bob.projects("bank"), bob.unlabelled(), bob.pending_ids(EVERYWHERE)) == ({}, [], [], [])
    assert (bob.coverage().entries, bob.coverage_of(EVERYWHERE).entries, bob.pending(5, EVERYWHERE)) == (0, 0, [])


def test_readers_cannot_write_and_are_told_whom_to_ask(office: Office) -> None:
    dan = office.store("dan", BACKEND)
    assert dan.read_only
    for attempt in (
        lambda: dan.put(bank(), [entry(A)]),
        lambda: dan.set_meta("key", "x"),
        lambda: dan.use_model(model(4)),
        lambda: dan.forget_sources(["x"]),
    ):
        with pytest.raises(StoreError, match="dan has no role of writer in team:backend; ask an admin of team:backend"):
            attempt()
    with pytest.raises(StoreError, match="bob has no role of writer in team:web"):
        office.store("bob", WEB).put(bank(), [entry(A)])
    assert not office.store("bob", BACKEND).read_only


def test_lost_membership_is_effective_at_once_also_for_open_stores(office: Office) -> None:
    office.store("ann", BACKEND).put(bank(), [entry(A, "A pelican.")])
    dan, bob = office.store("dan"), office.store("bob", BACKEND)
    assert found(dan, "pelican") == [A]
    assert dan.version() == dan.version()
    before = dan.version()
    with office.team.log("ann") as ann:
        ann.remove_member(BACKEND, "dan")
        office.team.let_in(ann, BACKEND, "bob", "reader")
    assert dan.version() != before
    assert (found(dan, "pelican"), dan.entries([A]), dan.count(EVERYWHERE)) == ([], [], 0)
    with pytest.raises(StoreError, match="bob has no role of writer"):
        bob.put(bank(), [entry(B)])


def test_use_is_everybodys_own_wherever_he_works(office: Office) -> None:
    ann, bob = office.store("ann", BACKEND), office.store("bob", BACKEND)
    ann.use_model(model(4))
    ann.put(bank(), [entry(A)])
    ann.recalled(receipt(A, query="a secret of ann"))
    ann.keep_query_vector("a secret of ann", NORTH)
    ann.note_evidence([Evidence(at="2026-02-01T00:00:00Z", kind=OPENED, id=A, project=SHOP, session="s")])
    for store in (bob, office.store("dan"), office.store("dan", BACKEND)):
        assert (store.receipts(5), store.usages(), store.evidence(), store.feedback()) == ([], [], [], {})
        assert (store.has_receipts(SHOP), store.query_vector("a secret of ann")) == (False, None)
        assert store.entries([A])[0].recall_count == 0
    assert office.store("ann").receipts(5)[0].query == "a secret of ann"
    assert ann.entries([A])[0].recall_count == 1


def test_change_of_any_scope_is_a_new_version_for_its_readers(office: Office) -> None:
    backend, web, dan = office.store("ann", BACKEND), office.store("ann", WEB), office.store("dan")
    before = dan.version()
    web.put(bank(), [entry(A, "A pelican.")])
    assert dan.version() == before
    backend.put(bank(), [entry(A, "A pelican.")])
    assert dan.version() != before
    assert found(dan, "pelican") == [A]
    backend.put(bank(), [entry(B, "A pelican.")])
    assert found(dan, "pelican") == [B]


def test_writers_of_different_scopes_do_not_wait_for_each_other(office: Office) -> None:
    backend, web = office.store("ann", BACKEND), office.store("ann", WEB)
    backend.use_model(model(4))
    web.use_model(model(4))
    with writing(backend):
        backend.put(bank(), [entry(A, "A pelican.")])
        backend.put_vectors([(A, NORTH)])
        other = threading.Thread(target=lambda: web.put(bank(), [entry(B, "A pelican.")]))
        other.start()
        other.join(PATIENCE)
        assert not other.is_alive()
    assert found(office.store("ann"), "pelican") == [A, B]
    blocked = office.store("bob", BACKEND)
    blocked.wait(0.05)
    with writing(backend), pytest.raises(StoreError, match="another process has been writing"):
        blocked.put(bank("/b.md"), [entry(C)])


# Who acts for others


def test_server_acts_for_each_user_in_turn_on_one_store(office: Office) -> None:
    office.store("ann").put(bank(), [entry(OWN_ANN, "A pelican.")])
    office.store("ann", BACKEND).put(bank(), [entry(BACK, "A pelican.")])
    office.team.url("gateway", group=office.team.groups.server)
    gateway = office.store("gateway")
    seen: dict[str, list[str]] = {}
    for user in ("ann", "bob", "eve", "ann"):
        gateway.act_as(Acting(user))
        assert gateway.team is not None
        assert gateway.team.user() == user
        seen[user] = found(gateway, "pelican")
    assert seen == {"ann": [BACK, OWN_ANN], "bob": [BACK], "eve": []}
    gateway.act_as(Acting("ann", BACKEND, (BACKEND,), "reader"))
    assert found(gateway, "pelican") == [BACK]
    with pytest.raises(StoreError, match="ann has no role of admin in team:backend"):
        gateway.team.add_member(BACKEND, "eve", "reader")  # type: ignore[union-attr]
    gateway.act_as(None)
    assert found(gateway, "pelican") == []


def test_login_that_may_not_act_for_others_is_refused_with_the_statement(office: Office) -> None:
    with pytest.raises(StoreError, match=r"bob may not act for ann; run there as an administrator: GRANT .*_server"):
        office.store("bob", user="ann")
    bob = office.store("bob")
    with pytest.raises(StoreError, match="bob may not act for ann"):
        bob.act_as(Acting("ann"))
    with pytest.raises(StoreError, match="bob may not act for ann"):
        bob.count(EVERYWHERE)


def test_role_and_scopes_of_an_acting_server_only_narrow(office: Office) -> None:
    office.team.url("gateway", group=office.team.groups.server)
    gateway = office.store("gateway", BACKEND, (BACKEND, WEB), user="dan", role="admin")
    assert gateway.team is not None
    assert [(scope.name, scope.role) for scope in gateway.team.scopes()] == [(BACKEND, "reader")]
    gateway.put(bank("scope:team:backend"), [entry(A, "A pelican.")])  # derived from lines, by who serves readers
    assert found(office.store("dan"), "pelican") == [A]
    with pytest.raises(StoreError, match="dan has no role of writer in team:web"):
        office.store("gateway", WEB, (WEB,), user="dan").put(bank(), [entry(B)])


def test_store_that_is_set_aside_is_that_of_one_scope(office: Office) -> None:
    from recollect.store.repair import read_sources, set_aside

    ann = office.store("ann")
    ann.put(bank(), [entry(A)])
    ann.recalled(receipt(A))
    office.store("bob").put(bank(), [entry(B)])
    office.store("ann", BACKEND).put(bank(), [entry(C)])
    aside = set_aside(office.team.url("ann"))
    assert [source.path for source in read_sources(aside)] == ["/bank.md"]
    again = office.store("ann")
    assert (again.ids_beginning("", EVERYWHERE, 9), again.usages(), again.check()) == ([C], [], [])
    assert again.rescue(aside) == 3
    assert office.store("bob").ids_beginning("", EVERYWHERE, 9) == [B, C]


def test_models_of_a_scope_are_those_of_its_readers(office: Office) -> None:
    back = office.store("ann", BACKEND)
    back.put(bank("scope:backend"), [entry(BACK, "A pelican.")])
    back.use_model(model(4))
    back.put_vectors([(BACK, EAST)])
    dan = office.store("dan")
    assert dan.choose_model(model(4).identity)
    assert [match.id for match in dan.vector_matches(EAST, EVERYWHERE, 5)] == [BACK]
    assert dan.models() == [], "none in the scope that is his own"
    dan.put(bank(), [entry(OWN_ANN, "A heron.")])
    dan.use_model(model(4))
    dan.put_vectors([(OWN_ANN, NORTH)])
    assert [each.vectors for each in dan.models()] == [1]
    assert [match.id for match in dan.vector_matches(NORTH, EVERYWHERE, 5)] == [OWN_ANN, BACK]
