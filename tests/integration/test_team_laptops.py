"""Three laptops and one real server: what people write apart is the same for all once they have met."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

import pytest
from tests import postgres
from tests.conftest import World
from tests.laptops import BACKEND, Laptop
from tests.postgres import Team

from recollect.config import locations
from recollect.domain.hashing import content_hash
from recollect.domain.shared.acting import Acting
from recollect.domain.shared.lines import TeamLine
from recollect.domain.stored import PINNED, Mark, Retirement
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, TeamError, UnknownMemory
from recollect.files.journal.kinds import CAPTURE, MARK, RETIREMENT
from recollect.files.journal.log import append_lines
from recollect.memories.forget import forget
from recollect.memories.lookup import find_named
from recollect.store.open import open_store
from recollect.sync.rebuild import rebuild
from recollect.team import say
from recollect.team.exchange import PULLING, SENDING
from recollect.team.join import administer, answer, join, link, status, unlink
from recollect.team.review import awaiting_named, awaiting_review

JITTER = "Retries without jitter overload the gateway."
PAGES = "Offsets are slow on long lists. Keep a cursor."
CACHE = "A cache without an end fills the disk."


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return postgres.server().team(tmp_path)


@pytest.fixture
def ann(team: Team, tmp_path: Path) -> Laptop:
    """The laptop of the admin of a team, with bob and cem for writers, and eve for a curator."""
    with team.log("ann") as log:
        log.create_scope(BACKEND)
        for login, role in (("bob", "writer"), ("cem", "writer"), ("eve", "curator"), ("rob", "reader")):
            team.let_in(log, BACKEND, login, role)
    return joined(team, tmp_path, "ann")


def joined(team: Team, folder: Path, name: str, login: str = "", **options: bool) -> Laptop:
    laptop = Laptop(folder, name, team.url(login or name))
    laptop.join(**options)
    return laptop


@pytest.fixture
def bob(team: Team, tmp_path: Path, ann: Laptop) -> Laptop:  # noqa: ARG001 (she makes the team)
    return joined(team, tmp_path, "bob")


@pytest.fixture
def cem(team: Team, tmp_path: Path, ann: Laptop) -> Laptop:  # noqa: ARG001 (she makes the team)
    return joined(team, tmp_path, "cem")


def meet(*laptops: Laptop) -> None:
    for laptop in (*laptops, *laptops):
        laptop.sync()


def test_what_was_written_apart_is_the_same_for_all_after_they_met(
    team: Team, tmp_path: Path, ann: Laptop, bob: Laptop, cem: Laptop
) -> None:
    ann.share(JITTER)
    meet(ann, bob, cem)
    assert bob.lessons() == cem.lessons() == {JITTER: (1, "ann in team:backend")}
    assert ann.lessons() == {JITTER: (1, "")}

    # All are offline, and each says something about the same lesson.
    ann.edit(JITTER, f"{JITTER} Wait a random time.")
    bob.observe(JITTER)
    bob.share(PAGES)
    cem.share(PAGES)
    cem.share(CACHE)
    meet(cem, bob, ann)

    edited = f"{JITTER} Wait a random time."
    assert bob.lessons()[edited] == cem.lessons()[edited] == (2, "ann in team:backend")
    assert ann.lessons()[PAGES][0] == bob.lessons()[PAGES][0] == cem.lessons()[PAGES][0] == 2
    assert ann.lines() == bob.lines() == cem.lines()

    # A fourth joins late, and finds all; one leaves.
    eve = joined(team, tmp_path, "eve")
    assert set(eve.lessons()) == {edited, PAGES, CACHE}
    done = cem.leave()
    assert (done.kept, done.removed) == (0, 1)
    assert cem.lessons() == {PAGES: (1, ""), CACHE: (1, "")}
    assert not (cem.store / "team.json").exists()
    assert not (cem.store / "team").exists()
    assert b"Wait a random time" not in (cem.store / "memory.db").read_bytes()
    with pytest.raises(TeamError, match="team join"):
        cem.sync()


def test_laptops_that_say_anything_in_any_order_agree(
    ann: Laptop, bob: Laptop, cem: Laptop, chance: random.Random
) -> None:
    laptops = [ann, bob, cem]
    texts = [f"Lesson number {n} of this team." for n in range(4)]
    for _ in range(40):
        laptop, text = chance.choice(laptops), chance.choice(texts)
        act = chance.choice([laptop.share, laptop.note, laptop.retire, laptop.confirm, laptop.sync])
        try:
            act() if act == laptop.sync else act(text)
        except (TeamError, InvalidEntry, UnknownMemory):
            continue  # it is not there yet, or somebody else's
    meet(*laptops)

    assert ann.lines() == bob.lines() == cem.lines()
    seen = [status(laptop.workspace) for laptop in laptops]
    assert len({tuple((each.lessons, each.lines) for each in found.scopes) for found in seen}) == 1
    for laptop in laptops:
        before = laptop.lessons()
        rebuild(laptop.workspace)
        assert laptop.lessons() == before


@pytest.mark.parametrize(("asked", "answered", "skew"), [(-60, 60, 0), (30, 90, -30), (-90, -30, 30)])
def test_a_slow_answer_of_the_server_makes_no_clock_wrong(
    ann: Laptop, asked: float, answered: float, skew: float
) -> None:
    ahead = iter([asked])
    ann.sync(now=lambda: time.time() + next(ahead, answered))
    assert ann.state.skew == pytest.approx(skew, abs=20)


def test_retired_beats_edited_unless_confirmed_later(ann: Laptop, bob: Laptop, cem: Laptop) -> None:
    ann.share(JITTER)
    meet(ann, bob, cem)
    ann.edit(JITTER, f"{JITTER} Wait.")
    meet(ann, bob, cem)
    ann.retire(f"{JITTER} Wait.", reason="fixed in 2.0")
    meet(ann, bob, cem)
    assert bob.lessons() == cem.lessons() == {}
    assert ann.lessons() == {JITTER: (1, "")}  # her own file has it: a scope retires nothing of hers

    with pytest.raises(
        TeamError, match=r"was retired in team:backend \(fixed in 2.0\), and only ann or a curator brings"
    ):
        bob.confirm(f"{JITTER} Wait.")
    bob.observe(f"{JITTER} Wait.")
    meet(bob, cem)
    assert cem.lessons() == {}
    ann.confirm(f"{JITTER} Wait.")
    meet(ann, cem)
    assert set(cem.lessons()) == {f"{JITTER} Wait."}


def test_a_writer_changes_only_what_is_his(ann: Laptop, bob: Laptop) -> None:
    ann.share(JITTER)
    meet(ann, bob)
    with pytest.raises(TeamError, match="ask a curator"):
        bob.retire(JITTER)
    with pytest.raises(TeamError, match="ask a curator"):
        bob.edit(JITTER, "Another text.")

    # A line that was written all the same is refused by the server, and said so.
    say.say(bob.workspace, BACKEND, [{"retired": content_hash(JITTER)}])
    (refused,) = bob.sync().refused
    assert "only a curator" in refused.reason
    assert [line.reason for line in status(bob.workspace).refused] == [refused.reason]
    assert bob.sync().refused == []  # once
    assert len(bob.sync(again=True).refused) == 1
    ann.sync()
    assert set(ann.lessons()) == {JITTER}


def test_the_same_lesson_is_shared_once_by_each(ann: Laptop, bob: Laptop) -> None:
    bob.note(JITTER)  # before the team had it
    assert ann.share(JITTER).outcome == "shared"
    assert ann.promote(JITTER).outcome == "already_shared"
    meet(ann, bob)
    assert ann.promote(JITTER).outcome == "already_shared"
    assert bob.promote(JITTER).outcome == "observed"
    bob.observe(JITTER)
    meet(bob, ann)
    assert bob.promote(JITTER).outcome == "already_shared"
    assert status(ann.workspace).scopes[0].lessons == 1
    assert ann.lessons()[JITTER][0] == 2  # one for each person and day


def test_a_lesson_that_an_agent_observes_needs_no_word_of_its_user(ann: Laptop, bob: Laptop) -> None:
    ann.share(JITTER)
    meet(ann, bob)
    bob.observe(JITTER)
    assert bob.promote(JITTER).outcome == "already_shared"
    meet(bob, ann)
    assert ann.lessons()[JITTER][0] == 2


def test_what_may_not_leave_the_machine_does_not(ann: Laptop, bob: Laptop) -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    with pytest.raises(InvalidEntry, match="never sent"):
        say.say(ann.workspace, BACKEND, [{"retired": "a" * 16, "reason": f"see {key}"}])
    # Somebody has written it into the journal by hand.
    id, body = "1794974531000-000000-abcdef01", {"retired": "a" * 16, "reason": key}
    line = json.dumps({"outgoing": id, "to": BACKEND, "body": body})
    with open(locations.journal(str(ann.store)), "a", encoding="utf-8") as journal:
        journal.write(line + "\n")
    done = ann.sync()
    assert (done.sent, len(done.refused)) == (0, 1)
    assert key not in done.refused[0].reason
    bob.sync()
    assert key.encode() not in bob.lines()
    assert "_password" not in (ann.store / "team.json").read_text(encoding="utf-8")


def test_memories_of_a_project_stay_in_its_repository(ann: Laptop) -> None:
    World(ann.home, ann.project, ann.store).write_decision("use-postgres")
    with Engine(ann.workspace) as engine:
        entry = find_named(engine, "use-postgres", []).entry
    with pytest.raises(InvalidEntry, match="stays in its repository"):
        say.share(ann.workspace, BACKEND, entry)


def test_roles_and_scopes_are_checked_before_anything_is_written(team: Team, tmp_path: Path, ann: Laptop) -> None:
    rob = joined(team, tmp_path, "rob")
    with pytest.raises(TeamError, match="you are a reader of team:backend, and this needs a writer"):
        rob.share(JITTER)
    with pytest.raises(TeamError, match="no member of team:data"):
        ann.share(JITTER, "team:data")
    with pytest.raises(TeamError, match="is no scope"):
        ann.promote(JITTER, "../../etc")
    assert status(rob.workspace).unsent == 0


def test_curators_approve_or_retire_what_writers_share(team: Team, tmp_path: Path, ann: Laptop, bob: Laptop) -> None:
    administer(ann.workspace, lambda log: log.set_curated(BACKEND, curated=True))
    eve = joined(team, tmp_path, "eve")
    bob.share(JITTER)
    bob.share(PAGES)
    meet(bob, eve, ann)
    assert eve.lessons() == {}
    assert [each.text.author for each in awaiting_review(eve.workspace)] == ["bob", "bob"]

    first = awaiting_named(awaiting_review(eve.workspace), content_hash(JITTER))
    say.approve(eve.workspace, first.scope, first.id, first.text.line)
    say.refuse(eve.workspace, BACKEND, content_hash(PAGES), "not ours")
    assert awaiting_review(eve.workspace) == []  # though nothing was sent yet
    meet(eve, ann)
    assert ann.lessons() == eve.lessons() == {JITTER: (1, "bob in team:backend")}
    with pytest.raises(TeamError, match="curator of no scope"):
        awaiting_review(bob.workspace)


def test_scope_is_found_on_a_laptop_after_its_user_has_said_yes(team: Team, tmp_path: Path, ann: Laptop) -> None:
    ann.share(JITTER)
    ann.sync()
    with team.log("ann") as log:
        log.add_member(BACKEND, "dan", "reader")
    dan = Laptop(tmp_path, "dan", team.url("dan"))
    (told,) = dan.join(accept=False).warnings
    assert told == (
        "ann invites you to team:backend as a reader; `recollect team accept team:backend` takes its lessons in,"
        " `decline` does not"
    )
    assert (dan.lessons(), dan.lines(), dan.sync().warnings) == ({}, b"", [])
    assert [(scope, each.by) for scope, each in status(dan.workspace).invited.items()] == [(BACKEND, "ann")]

    answer(dan.workspace, BACKEND, accept=True)
    dan.sync()
    assert (set(dan.lessons()), status(dan.workspace).invited) == ({JITTER}, {})
    answer(dan.workspace, BACKEND, accept=False)
    dan.sync()
    assert (dan.lessons(), dan.lines(), status(dan.workspace).invited) == ({}, b"", {})
    with pytest.raises(TeamError, match="is no scope"):
        answer(dan.workspace, "backend", accept=True)


def test_laptop_sends_again_what_a_restored_server_lacks_in_its_order(
    team: Team, ann: Laptop, bob: Laptop, cem: Laptop
) -> None:
    """Ann's lines come to the server in another order than that of her journal."""
    ann.share(JITTER)
    meet(ann, bob, cem)
    with team.log("ann") as log:
        backup = log.read(BACKEND, 0, 10)[-1].seq
        log.append(BACKEND, [TeamLine("1700000000009-000000-0000abcd", {"observed": content_hash(JITTER)})])
    bob.share(PAGES)
    cem.share(PAGES)
    ann.share(CACHE)
    meet(ann, bob, cem)
    assert ann.lessons()[PAGES] == (2, "bob in team:backend")
    ann.edit(CACHE, f"{CACHE} Always.")
    meet(ann, bob, cem)
    before, ids = ann.lessons(), own_lines(team, "ann")
    assert len(ids) == 4

    lose_lines(team, backup)
    cem.share("Cem goes on meanwhile.")
    meet(cem, ann, bob, cem, ann, bob)
    assert own_lines(team, "ann") == ids
    assert ann.lines() == bob.lines() == cem.lines()
    assert {text: count for text, (count, _) in ann.lessons().items()} == {
        **{text: count for text, (count, _) in before.items()},
        "Cem goes on meanwhile.": 1,
    }
    assert ann.lessons()[PAGES][1] == "cem in team:backend", "whose laptop came first"


def test_nobody_takes_the_ids_of_lines_that_a_restored_server_lacks(team: Team, ann: Laptop, bob: Laptop) -> None:
    """Use ids that were pulled before, ahead of their author."""
    ann.share(JITTER)
    meet(ann, bob)
    ann.edit(JITTER, f"{JITTER} Always.")
    meet(ann, bob)
    known = own_lines(team, "ann")
    assert len(known) == 2
    lose_lines(team, 0)
    with team.log("bob") as log:
        assert log.append(BACKEND, [TeamLine(id, {"observed": "a" * 16}) for id in known]) == []
    for _ in range(2):
        assert ann.sync().refused == []
        assert len(own_lines(team, "ann")) == 2
    bob.sync()
    assert bob.lessons() == {f"{JITTER} Always.": (1, "ann in team:backend")}
    assert ann.lines() == bob.lines()
    assert ann.state.refused == []


def test_what_a_token_had_said_is_sent_again_by_the_laptop_of_its_user(team: Team, ann: Laptop, bob: Laptop) -> None:
    """As docs/team.md says: a restored server learns it without the maker of the token."""
    with team.log("ann") as log, team.log("bob") as own:
        number, invitation = log.create_token("bob", BACKEND, "writer", 3600)
        own.redeem_token(invitation)
        ann.share(JITTER)
        meet(ann)
        acting = Acting("bob", BACKEND, (BACKEND,), "writer", str(number))
        with open_store(team.url("gateway", group=team.groups.server), acting=acting) as store:
            assert store.team
            said = TeamLine("1700000000009-000000-0000abcd", {"observed": content_hash(JITTER)})
            assert store.team.append(BACKEND, [said]) == []
        meet(bob)
        before = [(line.author, line.maker) for line in log.read(BACKEND, 0, 10)]
        lose_lines(team, 1)
        ann.share(PAGES)
        meet(ann, bob)
        after = [(line.author, line.maker) for line in log.read(BACKEND, 0, 10)]
    assert (before, after) == ([("ann", ""), ("bob", "ann")], [("ann", ""), ("ann", ""), ("bob", "")])


def lose_lines(team: Team, after: int) -> None:
    """Let the server have what it had when it had taken so many lines."""
    team.server.run(
        f"ALTER TABLE {team.schema}.lines DISABLE TRIGGER ALL; DELETE FROM {team.schema}.lines WHERE seq > {after};"
        f" ALTER TABLE {team.schema}.lines ENABLE TRIGGER ALL"
    )


def own_lines(team: Team, login: str) -> list[str]:
    """The ids of the lines of somebody, in the server's order."""
    with team.log(login) as log:
        return [line.id for line in log.read(BACKEND, 0, 1_000) if line.author == login]


def test_author_is_told_which_lesson_a_curator_has_refused(
    team: Team, tmp_path: Path, ann: Laptop, bob: Laptop
) -> None:
    administer(ann.workspace, lambda log: log.set_curated(BACKEND, curated=True))
    eve = joined(team, tmp_path, "eve")
    bob.share(PAGES)
    meet(bob, eve)
    say.refuse(eve.workspace, BACKEND, content_hash(PAGES), "not ours")
    meet(eve, bob)
    (refused,) = status(bob.workspace).refused_lessons
    assert (refused.id, refused.by, refused.reason) == (content_hash(PAGES), "eve", "not ours")
    assert status(eve.workspace).refused_lessons == []


def test_who_is_no_member_any_more_keeps_nothing_of_the_team(ann: Laptop, bob: Laptop) -> None:
    ann.share(JITTER)
    bob.share(PAGES)
    meet(ann, bob)
    assert set(bob.lessons()) == {JITTER, PAGES}
    administer(ann.workspace, lambda log: log.remove_member(BACKEND, "bob"))

    (told,) = bob.sync().warnings
    assert "no member of team:backend any more" in told
    assert bob.lessons() == {PAGES: (1, "")}
    assert bob.lines() == b""


def test_a_lesson_of_mine_that_only_the_team_has_is_kept_when_i_leave(team: Team, tmp_path: Path, ann: Laptop) -> None:
    ann.share(JITTER)
    ann.sync()
    other = joined(team, tmp_path, "anns-other", "ann")
    assert other.lessons() == {JITTER: (1, "ann in team:backend")}

    assert other.leave().kept == 1
    assert other.lessons() == {JITTER: (1, "")}


def test_leaving_loses_no_line_that_was_not_sent(ann: Laptop) -> None:
    ann.share(JITTER)
    with pytest.raises(TeamError, match="1 line was not sent yet; `recollect team sync`"):
        ann.leave()
    assert ann.leave(force=True).unsent == 1
    assert ann.lessons() == {JITTER: (1, "")}


def test_lessons_of_a_projects_scope_are_found_where_it_is_linked(team: Team, tmp_path: Path, ann: Laptop) -> None:
    administer(ann.workspace, lambda log: log.create_scope("project:shop"))
    administer(ann.workspace, lambda log: team.let_in(log, "project:shop", "bob", "writer"))
    ann.sync()
    ann.share(JITTER, "project:shop")
    ann.sync()
    bob = joined(team, tmp_path, "bob")
    assert bob.lessons() == {}
    link(bob.workspace, "project:shop")
    assert bob.lessons() == {JITTER: (1, "ann in project:shop")}
    unlink(bob.workspace, "project:shop")
    assert bob.lessons() == {}
    with pytest.raises(TeamError, match="hold in every project"):
        link(bob.workspace, BACKEND)


def test_personal_lines_travel_between_machines_of_one_person(team: Team, tmp_path: Path, ann: Laptop) -> None:
    desk = joined(team, tmp_path, "desk", "ann", personal=True)
    assert ann.join(personal=True).refused == []
    ann.note(JITTER)
    desk.note(PAGES)
    desk.note(JITTER)
    meet(ann, desk)
    assert ann.lessons() == desk.lessons() == {JITTER: (2, ""), PAGES: (1, "")}

    with Engine(desk.workspace) as engine:
        forget(engine, content_hash(PAGES), "wrong")
    append_lines(desk.workspace.journal, MARK, [Mark(content_hash(JITTER), PINNED, "/only/here", at="2026-01-01")])
    meet(desk, ann)
    assert ann.lessons() == desk.lessons() == {JITTER: (2, "")}
    assert b"/only/here" not in ann.lines("personal:ann")
    size = os.path.getsize(ann.workspace.journal)
    meet(desk, ann, desk)
    assert os.path.getsize(ann.workspace.journal) == size  # each line once


def test_personal_lines_are_read_in_the_order_of_their_ids(team: Team, tmp_path: Path, ann: Laptop) -> None:
    """A lesson that one machine has retired is not brought back by an older observation from another."""
    desk = joined(team, tmp_path, "desk", "ann", personal=True)
    ann.join(personal=True)
    old = {"id": content_hash(JITTER), "category": "patterns", "name": "Jitter", "description": JITTER}
    write(ann, {**old, "at": "2026-01-01T00:00:00Z"})
    write(desk, {**old, "at": "2026-01-01T00:00:01Z"})
    append_lines(desk.workspace.journal, RETIREMENT, [Retirement(old["id"], at="2026-01-02T00:00:00Z")])
    write(ann, {**old, "at": "2026-01-01T00:00:02Z", "name": "Jitter again"})
    meet(desk, ann)
    assert ann.lessons() == desk.lessons() == {}

    write(ann, {**old, "at": "2026-01-03T00:00:00Z"})
    meet(ann, desk)
    assert ann.lessons() == desk.lessons() == {JITTER: (4, "")}


def write(laptop: Laptop, line: dict[str, str]) -> None:
    append_lines(laptop.workspace.journal, CAPTURE, [line])


def test_nothing_personal_is_sent_unless_it_is_asked_for(team: Team, ann: Laptop) -> None:
    ann.note(JITTER)
    assert ann.sync().sent == 0
    with team.log("ann") as log:
        assert log.read(log.personal_scope(), 0, 10) == []


def test_ten_thousand_lines_are_told_of_as_they_come(ann: Laptop, bob: Laptop) -> None:
    bodies = [{"observed": f"{n:016x}"} for n in range(10_000)]
    say.say(ann.workspace, BACKEND, bodies)
    told: list[tuple[str, int, int]] = []
    assert ann.sync(progress=lambda *step: told.append(step)).sent == 10_000
    sent = [step for step in told if step[0] == SENDING]
    assert len(sent) == 20
    assert sent[-1] == (SENDING, 10_000, 10_000)

    told.clear()
    assert bob.sync(progress=lambda *step: told.append(step)).pulled == 10_000
    assert told == [(PULLING, n, 10_000) for n in range(1_000, 10_001, 1_000)]
    assert bob.sync().pulled == 0


def test_an_address_with_a_password_is_refused_and_not_repeated(tmp_path: Path) -> None:
    laptop = Laptop(tmp_path, "x")
    for address in ("postgresql://ann:hunter2@db/memory", "postgresql://db/memory?password=hunter2"):
        with pytest.raises(TeamError, match="PGPASSWORD") as caught:
            join(laptop.workspace, address, progress=lambda *_: None)
        assert "hunter2" not in str(caught.value)
    with pytest.raises(TeamError, match="looks like"):
        join(laptop.workspace, "mysql://db", progress=lambda *_: None)
    assert not (laptop.store / "team.json").exists()


def test_another_team_is_joined_only_after_the_first_was_left(team: Team, ann: Laptop) -> None:
    with pytest.raises(TeamError, match="team leave"):
        join(ann.workspace, team.url("bob"), progress=lambda *_: None)
