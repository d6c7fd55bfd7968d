"""The kinds of journal lines. Each row of the table is written, read back, and never taken for another kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.config.locations import journal as journal_of
from recollect.config.project import identity
from recollect.config.workspace import Workspace
from recollect.domain.hashing import content_hash
from recollect.domain.stored import LONGEST_REASON, MUTED, PINNED, Anchored, Mark, Raised, Relation, Retirement
from recollect.errors import InvalidEntry
from recollect.files.archive import JOURNAL_FILE, Archive, Member, write_archive
from recollect.files.journal.kinds import (
    ANCHORED,
    CAPTURE,
    CARRIED,
    KINDS,
    MARK,
    MOVED,
    OUTGOING,
    RAISED,
    RELATION,
    RETIREMENT,
    REVIEWED,
    SAVED,
    STAGED,
    Kind,
    Moved,
    Outgoing,
    Reviewed,
    Staged,
    kind_of,
    parse_line,
)  # fmt: skip
from recollect.files.journal.log import append_lines, read_lines
from recollect.files.journal.tail import awaiting, retired_ids
from recollect.promote.from_journal import captured_lessons
from recollect.sync.journal import captured, carried
from recollect.transfer.backup import verify

ID = "0123456789abcdef"
AT = "2026-01-02T03:04:05Z"
ANYTHING = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=4)

LESSON = {
    "id": content_hash("Read it \u00e9 first."), "at": AT, "category": "patterns", "name": "Read",
    "description": "Read it \u00e9 first.", "source": "session-capture",
}  # fmt: skip


class Example(NamedTuple):
    kind: Kind
    value: Any
    text: str  # the line, as it was always written
    invalid: list[dict[str, Any]]


EXAMPLES = [
    Example(
        STAGED,
        Staged("a1b2c3d4", AT, "PROJECT", "s-1", "decision", 0.52, ['we chose "it"'], "line\n\ttwo \u00e9"),
        '{"staged": "a1b2c3d4", "at": "2026-01-02T03:04:05Z", "project": "PROJECT", "session": "s-1", '
        '"category": "decision", "score": 0.52, "snippets": ["we chose \\"it\\""], "context": "line\\n\\ttwo \u00e9"}',
        [{"staged": 7, "category": "decision"}, {"staged": "a1b2c3d4"}],
    ),
    Example(
        REVIEWED,
        Reviewed("a1b2c3d4", AT, SAVED),
        '{"reviewed": "a1b2c3d4", "at": "2026-01-02T03:04:05Z", "outcome": "saved"}',
        [{"reviewed": None}],
    ),
    Example(
        RAISED,
        Raised(ID, "medium", at=AT, reason="3 observations"),
        '{"raised": "0123456789abcdef", "to": "medium", "at": "2026-01-02T03:04:05Z", "reason": "3 observations"}',
        [{"raised": ID}, {"raised": ID, "to": "low"}, {"raised": "x", "to": "high"}, {"raised": ID, "to": ["high"]}],
    ),
    Example(
        RETIREMENT,
        Retirement(ID, "/home/dev/shop", at=AT, reason="It was wrong."),
        '{"retired": "0123456789abcdef", "at": "2026-01-02T03:04:05Z", "project": "/home/dev/shop", '
        '"reason": "It was wrong."}',
        [{"retired": "short"}, {"retired": ID, "restored": ID}],
    ),
    Example(
        RETIREMENT,
        Retirement(ID, at=AT, ended=True),
        '{"restored": "0123456789abcdef", "at": "2026-01-02T03:04:05Z", "project": ""}',
        [{"restored": 7}],
    ),
    *(
        Example(
            MARK,
            Mark(ID, kind, "/home/dev/shop", at=AT, ended=bool(end)),
            f'{{"{end}{kind}": "0123456789abcdef", "at": "2026-01-02T03:04:05Z", "project": "/home/dev/shop"}}',
            [{f"{end}{kind}": "short"}, {f"{end}{kind}": ID, "project": 7}, {"muted": ID, "pinned": ID}],
        )
        for kind in (MUTED, PINNED)
        for end in ("", "un")
    ),
    Example(
        RELATION,
        Relation(ID, "fedcba9876543210", "supersedes", at=AT),
        '{"related": "0123456789abcdef", "to": "fedcba9876543210", "as": "supersedes", "at": "2026-01-02T03:04:05Z"}',
        [
            {"related": ID, "to": ID, "as": "apart"},
            {"related": ID, "to": "short", "as": "apart"},
            {"related": ID, "to": "fedcba9876543210", "as": "nothing"},
        ],
    ),
    Example(
        ANCHORED,
        Anchored(ID, "/home/dev/shop", [], at=AT),
        '{"anchored": "0123456789abcdef", "at": "2026-01-02T03:04:05Z", "project": "/home/dev/shop", "anchors": []}',
        [{"anchored": "short"}, {"anchored": ID, "project": 7}],
    ),
    Example(
        MOVED,
        Moved(ID, AT, 2),
        '{"moved": "0123456789abcdef", "at": "2026-01-02T03:04:05Z", "observations": 2}',
        [{"moved": "short", "observations": 1}, {"moved": ID, "observations": True}, {"moved": ID}],
    ),
    Example(
        OUTGOING,
        Outgoing("1794974531000-000007-abcdef01", "team:backend", {"retired": ID, "reason": "é"}, at=AT),
        '{"outgoing":"1794974531000-000007-abcdef01","at":"2026-01-02T03:04:05Z","to":"team:backend",'
        '"body":{"retired":"0123456789abcdef","reason":"é"}}',
        [
            {"outgoing": "7", "to": "team:backend", "body": {}},
            {"outgoing": "1794974531000-000007-abcdef01", "to": "../x", "body": {}},
            {"outgoing": "1794974531000-000007-abcdef01", "to": "team:backend", "body": [ID]},
        ],
    ),
    Example(
        CARRIED,
        {"carried": ID, "at": AT, "observations": 3, "created_at": AT, "updated_at": AT, "name": "Read"},
        '{"carried":"0123456789abcdef","at":"2026-01-02T03:04:05Z","observations":3,'
        '"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z","name":"Read"}',
        [{"carried": "short"}, {"carried": None}],
    ),
    Example(
        CAPTURE,
        LESSON,
        f'{{"id":"{LESSON["id"]}","at":"2026-01-02T03:04:05Z","category":"patterns","name":"Read",'
        '"description":"Read it \u00e9 first.","source":"session-capture"}',
        [],
    ),
]
ROWS = pytest.mark.parametrize("row", EXAMPLES, ids=[row.kind.name for row in EXAMPLES])


def fields(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    names = getattr(type(value), "__slots__", None) or vars(value)
    return {name: getattr(value, name) for name in names}


def test_every_kind_has_an_example_and_no_two_kinds_share_a_key() -> None:
    assert {row.kind for row in EXAMPLES} == set(KINDS)
    keys = [key for kind in KINDS for key in kind.keys]
    assert len(keys) == len(set(keys))
    assert all(f'"{key}"' in "".join(row.text for row in EXAMPLES) for key in keys)


@ROWS
def test_a_line_is_written_as_it_always_was_and_read_back_as_its_kind(tmp_path: Path, row: Example) -> None:
    kind, value, text, _ = row
    path = tmp_path / "j.jsonl"
    assert append_lines(str(path), kind, [value, value]) == [0, len(text.encode()) + 1]
    assert path.read_text(encoding="utf-8") == f"{text}\n{text}\n"
    found = read_lines(str(path), 0)
    assert (len(found.lines), found.problems) == (2, [])
    assert kind_of(found.lines[0]) is kind
    assert [each for each in KINDS if any(key in found.lines[0] for key in each.keys)] in ([kind], [])
    quick_kind, quick_value = parse_line(text.encode())
    assert quick_kind is kind
    assert fields(quick_value) == fields(kind.parse(found.lines[0]))
    expected = {name: each for name, each in LESSON.items() if name not in ("id", "at")}
    others = {"name": "Read"} if kind is CARRIED else fields(value)
    assert fields(quick_value) == (expected if kind is CAPTURE else others)


@ROWS
def test_only_a_capture_is_taken_for_one(tmp_path: Path, row: Example) -> None:
    """Even with all fields of a lesson, a line with another kind's key is none, for whoever reads the journal."""
    kind, value, _, _ = row
    root, store = tmp_path / "shop", tmp_path / "store"
    root.mkdir()
    store.mkdir()
    journal = journal_of(str(store))
    written = read_written(tmp_path, kind, value) | {"project": identity(str(root))}
    append_lines(journal, CAPTURE, [written | {name: each for name, each in LESSON.items() if name not in written}])
    entries, retirements, problems = captured(read_lines(journal, 0).lines)
    assert (len(entries), len(retirements), problems) == (kind is CAPTURE, kind is RETIREMENT, [])
    lessons = captured_lessons(Workspace(str(root), str(store)), [], [])
    assert len(lessons) == (kind is CAPTURE)
    assert len(awaiting(journal, identity(str(root)))) == (kind is STAGED)
    is_retired = kind is RETIREMENT and not value.ended
    assert retired_ids(journal, identity(str(root))) == (set(), {ID} if is_retired else set())
    backup = str(tmp_path / "backup.tar.gz")
    write_archive(backup, Archive("shop", "", "1", AT, [Member(JOURNAL_FILE, Path(journal).read_bytes())]))
    assert verify(backup).warnings == []


def read_written(folder: Path, kind: Kind, value: Any) -> dict[str, Any]:
    append_lines(str(folder / "one"), kind, [value])
    [line] = read_lines(str(folder / "one"), 0).lines
    return line


@ROWS
def test_invalid_lines_are_skipped_and_counted_if_the_store_needs_them(tmp_path: Path, row: Example) -> None:
    kind, _, _, invalid = row
    path = str(tmp_path / "j.jsonl")
    append_lines(path, CAPTURE, invalid)
    for line in invalid:
        assert kind_of(line) is kind
        with pytest.raises(InvalidEntry):
            kind.parse(line)
    entries, retirements, problems = captured(read_lines(path, 0).lines)
    taken, doubtful = carried(read_lines(path, 0).lines)
    problems += doubtful
    assert (entries, retirements, taken) == ([], [], [])
    assert len(problems) == (0 if kind in (STAGED, REVIEWED) else len(invalid))
    assert all(problem.startswith(f"a {kind.name} in the journal cannot be used: ") for problem in problems)
    assert awaiting(path, "") == []
    assert retired_ids(path, "") == (set(), set())


@pytest.mark.parametrize("line", [{"influenced": ID, "at": AT}, {"name": "No text", "category": "patterns"}, {}])
def test_a_kind_of_a_newer_version_is_an_invalid_capture_which_is_counted(tmp_path: Path, line: dict[str, Any]) -> None:
    path = str(tmp_path / "j.jsonl")
    append_lines(path, CAPTURE, [line, LESSON])
    assert kind_of(line) is CAPTURE
    entries, _, problems = captured(read_lines(path, 0).lines)
    assert [entry.name for entry in entries] == ["Read"]
    assert len(problems) == 1
    assert problems[0].startswith("a capture in the journal cannot be used: ")


def test_nothing_to_append_leaves_no_file(tmp_path: Path) -> None:
    for kind in KINDS:
        assert append_lines(str(tmp_path / "j.jsonl"), kind, []) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'["staged"]', b'"staged"', b"\xff", b'{"a":' * 50_000, b"1 2"])
def test_text_that_is_no_object_is_of_no_kind(text: bytes) -> None:
    assert parse_line(text) == (None, None)


# Retirements: whatever a line holds, it is understood or refused.


@pytest.mark.parametrize(
    "line",
    [
        {"retired": "short"},
        {"retired": "0123456789ABCDEF"},
        {"retired": ID + "0"},
        {"retired": "../../etc/passwd"},
        {"retired": None},
        {"retired": [ID]},
        {"restored": 7},
        {"retired": ID, "restored": ID},
        {"retired": ID, "project": 7},
        {"retired": ID, "project": "x" * 5000},
        {"retired": ID, "project": "/home/\ud800"},
    ],
)
def test_line_that_names_no_entry_or_no_project_is_refused(line: dict[str, Any]) -> None:
    with pytest.raises(InvalidEntry):
        RETIREMENT.parse(line)


def test_line_without_a_project_counts_everywhere_and_may_have_fields_of_a_later_version() -> None:
    said = RETIREMENT.parse({"retired": ID, "by": "somebody", "at": 7, "reason": ["no text"]})
    assert (said.project, said.at, said.reason, said.ended) == ("", "", "", False)


def test_reason_is_one_short_line() -> None:
    said = RETIREMENT.parse({"retired": ID, "reason": "a\nb\x1b[31m " + "x" * 10_000, "at": "2026\n" * 50})
    assert len(said.reason) <= LONGEST_REASON
    assert said.reason.startswith("a b")
    assert "\n" not in said.reason + said.at
    assert "\x1b" not in said.reason
    assert len(said.at) <= 20


@given(
    st.fixed_dictionaries(
        {"retired": ANYTHING | st.just(ID)}, optional=dict.fromkeys(["at", "project", "reason"], ANYTHING)
    )
)
def test_any_line_is_understood_or_refused(line: dict[str, Any]) -> None:
    try:
        said = RETIREMENT.parse(line)
    except InvalidEntry:
        return
    assert said.id == ID
    assert len(said.reason) <= LONGEST_REASON
