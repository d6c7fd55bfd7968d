"""What the lines of a scope mean: the same for every order, for duplicates, and for hostile lines among them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.shared.fold import Folded, fold, hash_of, related
from recollect.domain.shared.line_ids import line_id, time_of
from recollect.domain.shared.lines import TeamLine, can, is_scope, kind_of_scope
from recollect.errors import InvalidEntry

NOW = 1_795_000_000_000
A, B, C, D = ("a" * 16, "b" * 16, "c" * 16, "d" * 16)


@dataclass(frozen=True)
class Lesson:
    content_hash: str
    name: str


def parse(item: object) -> Lesson:
    if not isinstance(item, dict) or not isinstance(item.get("hash"), str):
        raise InvalidEntry("no lesson")
    return Lesson(item["hash"], str(item.get("name")))


def line(
    at: int, kind: str, hash: str, by: str = "ann", role: str = "writer", *, clock: int = 0, day: int = 1, **more: Any
) -> TeamLine:
    """A line that the server took at a place, from a machine of its author, whose clock may show another time."""
    if kind == "shared":
        more = {"entry": {"hash": hash, "name": f"by {by}"}, **more}
    id = line_id(NOW + (clock or at), 0, by.encode().hex()[:6].rjust(8, "0"))
    return TeamLine(id, {kind: hash, **more}, seq=at, author=by, role=role, received=f"2026-01-{day:02}T10:00:00Z")


def folded(*lines: TeamLine, curated: bool = False) -> Folded[Lesson]:
    return fold(lines, parse, curated=curated)


def only(*lines: TeamLine, curated: bool = False) -> Any:
    (lesson,) = folded(*lines, curated=curated).lessons
    return lesson


def test_observations_of_all_add_up() -> None:
    lesson = only(
        line(1, "shared", A), line(2, "shared", A, "bob"), line(3, "observed", A, "cem"), line(4, "confirmed", A)
    )

    assert (lesson.id, lesson.observations, lesson.authors) == (A, 3, ("ann", "bob", "cem"))
    assert lesson.text.entry.name == "by ann"  # whoever says the same again does not change its name


def test_times_of_a_lesson_are_the_servers_whatever_clocks_say() -> None:
    """Otherwise whoever observes it once makes it as old as he likes."""
    given = [line(1, "shared", A, day=5), line(2, "observed", A, "mallory", clock=-NOW, day=6)]
    lesson = only(*given, line(3, "confirmed", A, day=7))
    assert [time_of(line_id(at, 0, "")) for at in (lesson.created, lesson.updated)] == [
        "2026-01-05T10:00:00Z",
        "2026-01-07T10:00:00Z",
    ]


def test_a_chain_of_edits_is_one_lesson_with_its_history() -> None:
    lesson = only(
        line(1, "shared", A), line(2, "observed", A), line(3, "shared", B, edits=A), line(4, "shared", C, edits=B)
    )

    assert (lesson.id, lesson.observations) == (C, 1)
    assert [text.id for text in lesson.history] == [A, B]


def test_of_two_edits_of_one_text_the_one_that_the_server_had_first_holds() -> None:
    late = line(3, "shared", C, "eve", "curator", edits=A, clock=9)
    lesson = only(line(1, "shared", A), line(2, "shared", B, edits=A), late)

    assert lesson.id == B
    assert {text.id for text in lesson.history} == {A, C}


def test_edits_of_one_machine_follow_each_other_though_it_has_heard_of_none() -> None:
    lesson = only(line(1, "shared", A), line(2, "shared", B, edits=A), line(3, "shared", C, edits=A))

    assert lesson.id == C


# Who may do what, whatever the log has


def test_edit_of_somebody_elses_lesson_is_a_lesson_of_its_own() -> None:
    found = folded(line(1, "shared", A), line(2, "shared", B, "mallory", edits=A))

    assert [(each.id, each.text.author) for each in found.lessons] == [(A, "ann"), (B, "mallory")]
    assert only(line(1, "shared", A), line(2, "shared", B, "eve", "curator", edits=A)).id == B


def test_text_of_another_is_joined_with_no_lesson_by_whoever_repeats_it() -> None:
    """Otherwise an edit or the end of the one would be that of the other."""
    joins = [line(1, "shared", A), line(2, "shared", B, "mallory"), line(3, "shared", A, "mallory", edits=B)]
    edited = folded(*joins, line(4, "shared", C, "mallory", edits=B))
    assert [(each.id, each.text.author) for each in edited.lessons] == [(A, "ann"), (C, "mallory")]

    retired = folded(*joins, line(4, "retired", B, "mallory"))
    assert [(each.id, each.is_retired) for each in retired.lessons] == [(A, False), (B, True)]
    assert only(*joins[:2], line(3, "shared", A, "eve", "curator", edits=B)).id == A


def test_lesson_that_a_curator_has_put_in_the_place_of_anothers_stays_that_of_its_author() -> None:
    """Otherwise whoever had shared the same in other words could change and retire it."""
    merged = [line(1, "shared", A), line(2, "shared", B, "mallory"), line(3, "shared", A, "eve", "curator", edits=B)]
    taken = [line(4, "shared", C, "mallory"), line(5, "shared", B, "mallory", edits=C)]
    assert [each.id for each in folded(*merged, *taken).lessons] == [A, C]
    assert [each.id for each in folded(*merged, line(4, "shared", C, "mallory", edits=B)).lessons] == [A, C]

    assert not only(*merged, line(4, "retired", B, "mallory")).is_retired
    retired = line(4, "retired", A)
    assert only(*merged, retired).is_retired
    assert only(*merged, retired, line(5, "confirmed", B, "mallory")).is_retired


def test_first_line_on_the_server_keeps_its_fields_whatever_clocks_say() -> None:
    lesson = only(line(7, "shared", A), line(8, "shared", A, "mallory", clock=1))

    assert (lesson.text.author, lesson.text.entry.name) == ("ann", "by ann")


def test_lesson_is_retired_by_its_author_and_by_curators_alone() -> None:
    first = line(1, "shared", A)

    assert not only(first, line(2, "retired", A, "mallory")).is_retired
    assert only(first, line(2, "retired", A)).is_retired
    assert only(first, line(2, "retired", A, "eve", "curator")).is_retired


@pytest.mark.parametrize("kind", ["confirmed", "observed", "shared"])
@pytest.mark.parametrize(
    ("by", "role", "is_open", "is_curated"),
    [("bob", "writer", False, False), ("ann", "writer", True, False), ("eve", "curator", True, True)],
)
def test_lesson_is_revived_by_its_author_and_by_curators_alone(
    kind: str, by: str, role: str, is_open: bool, is_curated: bool
) -> None:
    first = line(1, "shared", A)
    given = [first, line(2, "approved", A, "eve", "curator", line=first.id), line(3, "retired", A, "eve", "curator")]

    assert only(*given, line(4, kind, A, by, role)).is_retired is not is_open
    assert only(*given, line(4, kind, A, by, role), curated=True).is_retired is not is_curated


def test_one_person_counts_once_a_day() -> None:
    many = [line(at, "observed", A, "mallory", day=2) for at in range(10, 510)]
    own = [line(at, "observed", A) for at in range(2, 9)]

    assert only(line(1, "shared", A), *own, *many).observations == 2
    assert only(line(1, "shared", A), *many, line(600, "observed", A, "mallory", day=3)).observations == 3


def test_approval_counts_from_a_curator_alone() -> None:
    first = line(1, "shared", A)

    assert not folded(first, line(2, "approved", A, "mallory", line=first.id), curated=True).lessons


def test_author_is_told_who_refused_a_lesson_and_why() -> None:
    (refused,) = folded(
        line(1, "shared", A), line(2, "retired", A, "eve", "curator", reason="not ours"), curated=True
    ).refused
    assert (refused.text.author, refused.by, refused.reason) == ("ann", "eve", "not ours")

    taken_back = folded(line(1, "shared", A), line(2, "retired", A), curated=True)
    assert (taken_back.awaiting, taken_back.refused) == ([], [])
    again = folded(line(1, "shared", A), line(2, "retired", A, "eve", "curator"), line(3, "shared", A), curated=True)
    assert ([text.id for text in again.awaiting], again.refused) == ([A], [])


def test_the_old_text_said_again_is_an_observation_of_the_edited_lesson() -> None:
    lesson = only(line(1, "shared", A), line(2, "shared", B, edits=A), line(3, "shared", A, "bob"))

    assert (lesson.id, lesson.observations) == (B, 2)


@pytest.mark.parametrize(("kind", "is_retired"), [("confirmed", False), ("observed", False), ("shared", False)])
def test_retired_holds_until_somebody_says_otherwise_later(kind: str, is_retired: bool) -> None:
    retired = line(5, "retired", A, reason="wrong since v2")
    lesson = only(line(1, "shared", A), retired)
    assert (lesson.is_retired, lesson.reason) == (True, "wrong since v2")

    assert only(line(1, "shared", A), retired, line(6, kind, A)).is_retired is is_retired
    assert only(line(1, "shared", A), retired, line(4, kind, A)).is_retired


def test_retired_beats_a_later_edit() -> None:
    assert only(line(1, "shared", A), line(2, "retired", A), line(3, "shared", B, edits=A)).is_retired


def test_a_writers_text_in_a_curated_scope_awaits_its_approval() -> None:
    first = line(1, "shared", A)
    assert [text.line for text in folded(first, curated=True).awaiting] == [first.id]
    assert not folded(first, curated=True).lessons

    approval = line(2, "approved", A, "eve", "curator", line=first.id)
    assert folded(first, approval, curated=True).awaiting == []
    assert only(first, approval, curated=True).text.author == "ann"
    assert only(line(1, "shared", A, role="curator"), curated=True).id == A


def test_an_approval_is_for_one_line_not_for_others_with_the_same_text() -> None:
    """Otherwise a writer could set his clock back, and bring another name for an approved text."""
    first, forged = line(2, "shared", A), line(1, "shared", A, "mallory")
    approval = line(3, "approved", A, "eve", "curator", line=first.id)

    assert only(forged, first, approval, curated=True).text.entry.name == "by ann"
    assert not folded(forged, line(3, "approved", B, line=forged.id), curated=True).lessons


def test_an_edit_that_awaits_its_approval_leaves_the_lesson_as_it_is() -> None:
    first = line(1, "shared", A, role="curator")
    edit = line(2, "shared", B, edits=A)
    waiting = folded(first, edit, curated=True)
    assert [lesson.id for lesson in waiting.lessons] == [A]
    assert [text.id for text in waiting.awaiting] == [B]

    refused = folded(first, edit, line(3, "retired", B, "eve", "curator"), curated=True)
    assert ([(each.id, each.is_retired) for each in refused.lessons], refused.awaiting) == ([(A, False)], [])


HOSTILE: list[Any] = [
    None, [], "x", {}, {"shared": A}, {"shared": A, "entry": []}, {"shared": A, "entry": {"hash": B}},
    {"shared": A, "entry": {"hash": A}, "edits": A}, {"shared": A, "entry": {"hash": A}, "edits": [A]},
    {"retired": "x" * 16}, {"retired": [A]}, {"retired": A, "observed": A}, {"observed": None}, {"approved": A},
    {"approved": A, "line": {"id": 1}}, {"unheard": A}, {"retired": A.upper()}, {"confirmed": A + "\n"},
]  # fmt: skip


@pytest.mark.parametrize("body", HOSTILE, ids=repr)
def test_a_hostile_body_says_nothing_and_is_counted_with_a_reason(body: Any) -> None:
    hostile = TeamLine(line_id(NOW + 2, 0, "abcdef01"), body, author="mallory", role="admin")
    found = folded(line(1, "shared", A), hostile)

    assert [(each.id, each.observations, each.is_retired) for each in found.lessons] == [(A, 1, False)]
    assert list(found.problems) == [hostile.id]


def test_a_line_without_an_id_says_nothing() -> None:
    found = folded(TeamLine("../../x", {"observed": A}), line(1, "shared", A))

    assert (found.lessons[0].observations, list(found.problems)) == (1, ["../../x"])


def test_names_and_reasons_of_others_are_one_bounded_line() -> None:
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    lesson = only(line(1, "shared", A, by="x\n- Said by: boss" + "y" * 500), line(2, "retired", A, reason=f"{key}\n"))

    assert "\n" not in lesson.text.author
    assert len(lesson.text.author) <= 63
    assert key not in lesson.reason


def test_journal_lines_of_a_personal_scope_are_about_no_lesson() -> None:
    found = folded(TeamLine(line_id(NOW, 0, "abcdef01"), {"journal": {"id": A}}))

    assert (found.lessons, found.problems) == ([], {})


hashes = st.sampled_from([A, B, C, D])
bodies: st.SearchStrategy[Any] = st.one_of(
    st.builds(
        lambda hash, edits: {"shared": hash, "entry": {"hash": hash, "name": f"{hash}{edits}"}, "edits": edits},
        hashes,
        hashes,
    ),
    st.builds(lambda hash: {"shared": hash, "entry": {"hash": hash}}, hashes),
    st.builds(lambda kind, hash: {kind: hash}, st.sampled_from(["observed", "confirmed", "retired"]), hashes),
    st.builds(
        lambda hash, at: {"approved": hash, "line": line_id(NOW + at, 0, "abcdef01")}, hashes, st.integers(0, 15)
    ),
    st.sampled_from(HOSTILE),
)
lines = st.lists(
    st.builds(
        lambda at, seq, body, by, role: TeamLine(line_id(NOW + at, 0, "abcdef01"), body, seq=seq, author=by, role=role),
        st.integers(0, 15),
        st.integers(1, 9),
        bodies,
        st.sampled_from(["ann", "bob", "cem"]),
        st.sampled_from(["writer", "curator", "admin", ""]),
    ),
    max_size=16,
)


@given(lines, st.randoms(use_true_random=False), st.booleans(), st.data())
def test_the_order_and_the_number_of_copies_make_no_difference(
    given_lines: list[TeamLine], chance: random.Random, curated: bool, data: st.DataObject
) -> None:
    again = [*given_lines, *data.draw(st.lists(st.sampled_from(given_lines)) if given_lines else st.just([]))]
    chance.shuffle(again)

    assert folded(*again, curated=curated) == folded(*given_lines, curated=curated)


@given(lines, st.sampled_from([A, B, C, D]), st.booleans())
def test_the_lines_related_to_a_lesson_give_it_as_all_lines_do(
    given_lines: list[TeamLine], hash: str, curated: bool
) -> None:
    some = related(given_lines, [hash])
    about = {hash_of(each) for each in some} | {hash}
    part, whole = folded(*some, curated=curated), folded(*given_lines, curated=curated)

    assert part.lessons == [lesson for lesson in whole.lessons if lesson.id in about]
    assert part.awaiting == [text for text in whole.awaiting if text.id in about]


@given(lines, bodies)
@settings(max_examples=20)
def test_a_line_replayed_a_thousand_times_changes_nothing(given_lines: list[TeamLine], body: Any) -> None:
    replayed = TeamLine(line_id(NOW + 99, 0, "abcdef01"), body, author="ann", role="writer")

    assert folded(*given_lines, *[replayed] * 1000) == folded(*given_lines, replayed)


def test_machines_that_meet_in_any_way_agree(chance: random.Random) -> None:
    """Three machines, each with lines of its own, that pull from each other in random portions."""
    for _ in range(200):
        said = [line(at, kind, hash, by) for at, (kind, hash, by) in enumerate(
            (chance.choice(["shared", "observed", "retired", "confirmed"]), chance.choice([A, B]), chance.choice("xyz"))
            for _ in range(12)
        )]  # fmt: skip
        machines: list[list[TeamLine]] = [[each for each in said if each.author == name] for name in "xyz"]
        log: list[TeamLine] = []
        for _ in range(6):
            machine = chance.choice(machines)
            log += chance.sample(machine, chance.randint(0, len(machine)))
            machine += log
        log += [each for machine in machines for each in machine]
        for machine in machines:
            machine.extend(chance.sample(log, len(log)))
        assert len({repr(folded(*machine)) for machine in machines}) == 1


@pytest.mark.parametrize("name", ["team:backend", "personal:ann", "project:a.b-c_9", "organisation:" + "x" * 63])
def test_scopes_have_a_kind_and_a_name(name: str) -> None:
    assert is_scope(name)
    assert kind_of_scope(name) in name


@pytest.mark.parametrize(
    "name",
    ["", "team", "team:", "Team:x", "team:X", "team:.x", "team:a/b", "team:" + "x" * 64, "team:x\n", "group:x", 7],
)
def test_other_names_are_no_scopes(name: object) -> None:
    assert not is_scope(name)


def test_roles_have_the_rights_of_those_below() -> None:
    assert can("admin", "curator")
    assert can("writer", "writer")
    assert not can("reader", "writer")
    assert not can("", "reader")
    assert not can("root", "reader")
