"""What the journal says is retired, muted or pinned, read without a store."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import examples

from recollect.config.locations import journal as journal_of
from recollect.config.workspace import Workspace
from recollect.domain.hashing import content_hash
from recollect.domain.stored import ACTIVE, MUTED, PINNED, Mark, Retirement
from recollect.files.journal.kinds import CAPTURE, MARK, RETIREMENT
from recollect.files.journal.log import append_lines, read_lines
from recollect.files.journal.tail import marked_ids, retired_ids
from recollect.promote.candidates import from_given
from recollect.promote.classify import UNIVERSAL
from recollect.promote.promote import promote
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import BANK, Source
from recollect.sync.entry_input import parse_entry_input
from recollect.sync.journal import captured
from recollect.sync.sync import sync_journal

HERE, THERE = "/home/dev/shop", "/home/dev/desk"
TEXTS = ["Read before you write.", "Lock before you look.", "Ask twice."]
IDS = [content_hash(text) for text in TEXTS]


@pytest.fixture
def journal(tmp_path: Path) -> str:
    return journal_of(str(tmp_path))


def write(journal: str, retirements: list[Retirement]) -> None:
    append_lines(journal, RETIREMENT, retirements)


def capture(number: int, **more: object) -> dict[str, object]:
    return {"name": f"Lesson {number}", "description": TEXTS[number], "category": "patterns", **more}


def test_what_is_retired_everywhere_and_here_is_told_apart(journal: str) -> None:
    write(journal, [Retirement(IDS[0]), Retirement(IDS[1], HERE), Retirement(IDS[2], THERE)])
    assert retired_ids(journal, HERE) == ({IDS[0]}, {IDS[1]})


def test_marks_of_this_project_and_of_all_are_read_in_order_until_they_end(journal: str) -> None:
    append_lines(journal, MARK, [Mark(IDS[2], MUTED), Mark(IDS[0], MUTED, HERE), Mark(IDS[1], MUTED, THERE)])
    append_lines(journal, MARK, [Mark(IDS[1], PINNED, HERE)])
    assert (marked_ids(journal, MUTED, HERE), marked_ids(journal, PINNED, HERE)) == ([IDS[2], IDS[0]], [IDS[1]])
    append_lines(journal, MARK, [Mark(IDS[2], MUTED, HERE, ended=True)])
    assert marked_ids(journal, MUTED, HERE) == [IDS[2], IDS[0]], "it ended here and not everywhere"
    append_lines(journal, MARK, [Mark(IDS[2], MUTED, ended=True)])
    assert marked_ids(journal, MUTED, HERE) == [IDS[0]]


def test_marks_hold_after_another_observation(journal: str) -> None:
    append_lines(journal, MARK, [Mark(IDS[0], MUTED)])
    append_lines(journal, CAPTURE, [{"id": IDS[0], **capture(0)}])
    assert marked_ids(journal, MUTED, HERE) == [IDS[0]]


def test_what_was_restored_or_observed_again_is_retired_no_more(journal: str) -> None:
    write(journal, [Retirement(id) for id in IDS])
    write(journal, [Retirement(IDS[0], ended=True), Retirement(IDS[1], HERE, ended=True)])
    append_lines(journal, CAPTURE, [{"id": IDS[2], **capture(2)}])
    assert retired_ids(journal, HERE) == ({IDS[1]}, set())
    append_lines(journal, CAPTURE, [{"id": IDS[0], "at": "2026-01-01T00:00:00Z", **capture(0)}])
    assert retired_ids(journal, HERE) == ({IDS[1]}, set())
    append_lines(journal, CAPTURE, [capture(1)])  # no id: a line of somebody else
    assert retired_ids(journal, HERE) == (set(), set())


def test_lesson_that_tells_of_another_s_id_does_not_bring_that_back(journal: str) -> None:
    write(journal, [Retirement(IDS[0])])
    append_lines(
        journal, CAPTURE, [{"id": IDS[1], **capture(1), "reasoning": f"Better than {IDS[0]}, which is retired."}]
    )
    assert retired_ids(journal, HERE) == ({IDS[0]}, set())


def test_there_is_nothing_in_a_journal_that_is_missing_broken_or_no_file(tmp_path: Path, journal: str) -> None:
    assert retired_ids(journal, HERE) == (set(), set())
    assert retired_ids(str(tmp_path), HERE) == (set(), set())
    Path(journal).write_bytes(b'{"retired"\n[1]\n\xff"retired"\n{"retired": 7}\n' + b'{"retired":' * 9_000)
    assert retired_ids(journal, HERE) == (set(), set())


def test_only_the_end_of_a_very_long_journal_is_looked_through(journal: str) -> None:
    write(journal, [Retirement(IDS[0])])
    for _ in range(20):
        append_lines(journal, CAPTURE, [capture(1, reasoning="x" * 1000)])
    write(journal, [Retirement(IDS[2])])
    assert retired_ids(journal, HERE, 10_000) == ({IDS[2]}, set())
    assert retired_ids(journal, HERE, 100_000) == ({IDS[0], IDS[2]}, set())


def test_promotion_ends_the_retirement_of_what_it_writes_and_of_nothing_else(tmp_path: Path) -> None:
    workspace = Workspace(str(tmp_path / "shop"), str(tmp_path / "store"))
    os.mkdir(workspace.project_root)
    os.mkdir(workspace.global_store)
    lesson = {"name": "Read first", "description": TEXTS[0], "category": "patterns"}
    promote(workspace, [from_given(parse_entry_input(lesson))], judgement=UNIVERSAL)
    assert not os.path.exists(workspace.journal)
    here = workspace.identity
    write(workspace.journal, [Retirement(IDS[0]), Retirement(IDS[0], here), Retirement(IDS[1], THERE)])
    promote(workspace, [from_given(parse_entry_input(lesson))], judgement=UNIVERSAL)
    assert retired_ids(workspace.journal, here) == (set(), set())
    assert retired_ids(workspace.journal, THERE) == (set(), {IDS[1]})


def test_line_that_cannot_be_used_is_reported_and_a_credential_is_not_kept() -> None:
    token = "ghp_" + "a1" * 20
    lines = [{"retired": "x"}, {"retired": IDS[0], "reason": f"it had {token}"}, {"restored": IDS[1], "project": 1}]
    entries, retirements, problems = captured(lines)
    assert (entries, [(each.id, each.reason) for each in retirements]) == ([], [(IDS[0], "")])
    assert len(problems) == 2
    assert all("a retirement in the journal cannot be used: " in problem for problem in problems)


# Whatever order lines come in, and however they are read, the state is the same.

PLACES = ["", HERE, THERE]
STEPS = st.one_of(
    st.tuples(st.just("capture"), st.sampled_from([0, 1, 2]), st.just("")),
    st.tuples(st.sampled_from(["retire", "restore"]), st.sampled_from([0, 1, 2]), st.sampled_from(PLACES)),
    st.tuples(st.just("sync"), st.just(0), st.just("")),
    st.tuples(st.just("bank"), st.integers(1, 5), st.sampled_from(PLACES)),
)


def held_by_banks(store: SqliteStore, project: str, count: int) -> None:
    entries, _, _ = captured([capture(number, at="2026-01-01T00:00:00Z") for number in range(2)])
    for entry in entries:
        entry.observation_count = count
    store.put(Source(f"/bank{PLACES.index(project)}.md", BANK, project=project), entries)


def state(store: SqliteStore) -> dict[str, object]:
    known = {entry.id: (entry.status, entry.project, entry.observation_count) for entry in store.entries(IDS)}
    return {id: (known.get(id), [each.project for each in store.retirements(id)]) for id in IDS}


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(STEPS, max_size=14))
def test_any_order_of_lines_gives_one_state_however_it_is_read(
    steps: list[tuple[str, int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("store")
    journal = journal_of(str(folder))
    banks: dict[str, int] = {}
    with SqliteStore(str(folder / "step.db")) as followed, SqliteStore(str(folder / "anew.db")) as anew:
        for kind, number, project in steps:
            if kind == "capture":
                append_lines(journal, CAPTURE, [capture(number)])
            elif kind == "sync":
                sync_journal(followed, str(folder))
            elif kind == "bank":
                banks[project] = number
                held_by_banks(followed, project, number)
            else:
                write(journal, [Retirement(IDS[number], project, ended=kind == "restore")])
        assert sync_journal(followed, str(folder)) == []
        sync_journal(anew, str(folder))
        for project, count in banks.items():
            held_by_banks(anew, project, count)
        assert state(followed) == state(anew)
        model = expected(steps, banks)
        assert {entry.id for entry in followed.entries(IDS) if entry.status == ACTIVE} == model
        everywhere, here = retired_ids(journal, HERE)
        assert everywhere == {id for id in IDS if any(not each.project for each in followed.retirements(id))}
        assert here == {id for id in IDS if any(each.project == HERE for each in followed.retirements(id))}


def expected(steps: list[tuple[str, int, str]], banks: dict[str, int]) -> set[str]:
    """Which entries are active, said as simply as can be."""
    captured_ones = {number for kind, number, _ in steps if kind == "capture"}
    retired: set[tuple[int, str]] = set()
    for kind, number, project in steps:
        if kind == "capture":
            retired = {each for each in retired if each[0] != number}
        elif kind == "retire":
            retired.add((number, project))
        elif kind == "restore":
            retired.discard((number, project))
    active: set[str] = set()
    for number in range(3):
        holders = set(banks) if number < 2 else set()
        holders |= {""} if number in captured_ones else set()
        if (number, "") not in retired and any((number, project) not in retired for project in holders):
            active.add(IDS[number])
    return active


def test_lines_of_the_journal_are_json_that_others_can_read(journal: str) -> None:
    write(journal, [Retirement(IDS[0], "/home/dev/caf\u00e9", at="2026-01-01T00:00:00Z", reason='say "no"')])
    [line] = read_lines(journal, 0).lines
    assert line == {
        "retired": IDS[0],
        "at": "2026-01-01T00:00:00Z",
        "project": "/home/dev/caf\u00e9",
        "reason": 'say "no"',
    }
    assert json.loads(Path(journal).read_text(encoding="utf-8")) == line


def test_capture_that_replaces_another_names_it_in_its_details() -> None:
    [entry], _, problems = captured([{**capture(1), "supersedes": {"id": IDS[0], "name": "Old  \nname"}}])
    assert (entry.details, entry.telling_details, problems) == (f"- Supersedes: {IDS[0]} Old name", "", [])


@pytest.mark.parametrize(
    "hostile",
    [None, [], "x", {"id": "x"}, {"id": 7, "name": "n"}, {"name": "n"}, {"id": "../../etc/passwd", "name": "n"}],
)
def test_capture_with_an_unusable_pointer_counts_without_it(hostile: object) -> None:
    [entry], _, problems = captured([{**capture(1), "supersedes": hostile}])
    assert (entry.details, problems) == ("", [])


@pytest.mark.parametrize("name", [7, "ghp_" + "a1B2" * 9, None])
def test_name_of_a_replaced_entry_that_cannot_be_shown_is_left_out(name: object) -> None:
    [entry], _, _ = captured([{**capture(1), "supersedes": {"id": IDS[0], "name": name}}])
    assert entry.details == f"- Supersedes: {IDS[0]}"
