"""Memory files as they may be found: links, odd names, and bytes that are no record."""

import hashlib
import json
import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.categories import FOLDER, PROJECT
from recollect.domain.memory import is_slug
from recollect.errors import StorageError
from recollect.files.memory.memories import (
    MAX_BYTES,
    MemoryFile,
    MemoryRoot,
    find_memories,
    is_file_name,
    parse_record,
    read_memory,
    record_text,
    scan,
)


@pytest.fixture
def root(tmp_path):
    project = os.path.realpath(tmp_path)
    path = os.path.join(project, ".claude", "memory")
    for folder in FOLDER.values():
        os.makedirs(os.path.join(path, folder))
    return MemoryRoot(project, path, FOLDER)


def write(root, slug="x", category="decision", data=b'{"title": "T"}'):
    path = root.file(category, slug)
    with open(path, "wb") as file:
        file.write(data)
    return path


def slugs(root):
    problems = []
    return [memory.slug for memory in scan(root, problems)], problems


# ---- names


@pytest.mark.parametrize("name", ["a.json", "a-b-1.json", "1.json", "a" * 80 + ".json"])
def test_slug_with_the_ending_is_a_name(name):
    assert is_file_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", ".json", "-.json", "-a.json", "a-.json", "A.json", "a.JSON", "a", "a.json.json", "a b.json", "a/b.json"),
        *(".a.json", "a.json~", "é.json", "²1.json", "a\n.json", "a.json\n", "a_b.json", "a" * 81 + ".json", "..json"),
        *(".x.json.123.tmp", "x.json.invalid.1700000000", "\udcff.json"),
    ],
)
def test_other_name_is_none(name):
    assert not is_file_name(name)


@given(st.text(st.sampled_from("aZ9-_.é \n²٣\0"), max_size=6) | st.text(max_size=90))
def test_name_is_one_exactly_when_it_is_a_slug(slug):
    assert is_file_name(f"{slug}.json") == is_slug(slug)


# ---- the folder


def test_memories_are_found_by_category_and_name(root):
    for category, slug in [("preference", "z"), ("decision", "b"), ("decision", "a"), ("session_summary", "m")]:
        write(root, slug, category)
    found = [(entry.category, os.path.basename(entry.path)) for entry in find_memories(root, [])]
    assert found == [
        ("session_summary", "m.json"),
        ("decision", "a.json"),
        ("decision", "b.json"),
        ("preference", "z.json"),
    ]
    assert [memory.slug for memory in scan(root, [])] == ["m", "a", "b", "z"]


def test_found_file_has_its_size_and_time(root):
    path = write(root, data=b"12345")
    os.utime(path, ns=(0, 1_700_000_000_123_456_789))
    [found] = find_memories(root, [])
    assert (found.path, found.category, found.size, found.modified) == (path, "decision", 5, 1_700_000_000_123_456_789)


def test_missing_root_and_folders_are_empty(tmp_path):
    problems = []
    assert scan(MemoryRoot(str(tmp_path), str(tmp_path / "none"), FOLDER), problems) == []
    assert problems == []


def test_file_that_is_no_json_is_passed_over_without_a_word(root):
    for name in ("notes.md", "x.json.tmp", ".x.json.77.tmp", "x.json.invalid.1700000000"):
        with open(os.path.join(root.folder("decision"), name), "w", encoding="utf-8") as file:
            file.write("{}")
    assert slugs(root) == ([], [])


@pytest.mark.parametrize("name", ["Big.json", "a b.json", "-x.json", "new\nline.json", "\x1b[31m.json", "\udcff.json"])
def test_odd_name_is_passed_over_and_reported_in_plain_characters(root, name):
    write(root, "good")
    with open(os.path.join(root.folder("decision"), name), "w", encoding="utf-8") as file:
        file.write("{}")
    found, [problem] = slugs(root)
    assert found == ["good"]
    assert problem.startswith(".claude/memory/decisions/")
    assert problem.isascii()
    assert problem.isprintable()


def test_link_to_a_memory_elsewhere_is_not_read(root, tmp_path):
    (tmp_path / "secret.json").write_text('{"title": "secret"}', encoding="utf-8")
    os.symlink(tmp_path / "secret.json", root.file("decision", "x"))
    found, [problem] = slugs(root)
    assert found == []
    assert "x.json is no regular file" in problem
    with pytest.raises(StorageError):
        read_memory(root.file("decision", "x"), "decision")


def test_link_to_a_memory_beside_it_is_not_read_twice(root):
    write(root, "real")
    os.symlink("real.json", root.file("decision", "alias"))
    assert slugs(root)[0] == ["real"]


def test_link_that_leads_nowhere_is_no_memory(root):
    os.symlink("nowhere", root.file("decision", "x"))
    assert slugs(root)[0] == []
    with pytest.raises(StorageError):
        read_memory(root.file("decision", "x"), "decision")


@pytest.mark.parametrize("inside", [True, False])
def test_folder_that_is_a_link_is_not_read(root, tmp_path, inside):
    target = tmp_path / "elsewhere" if not inside else tmp_path / ".claude" / "memory" / "runbooks"
    target.mkdir(exist_ok=True)
    (target / "x.json").write_text("{}", encoding="utf-8")
    os.rmdir(root.folder("decision"))
    os.symlink(target, root.folder("decision"))
    problems = []
    assert [memory.category for memory in scan(root, problems)] == (["runbook"] if inside else [])
    assert problems == [".claude/memory/decisions is a link; what is behind it is not read"]


def test_folder_that_is_a_file_is_reported(root):
    os.rmdir(root.folder("decision"))
    with open(root.folder("decision"), "w", encoding="utf-8"):
        pass
    write(root, "r", "runbook")
    found, [problem] = slugs(root)
    assert found == ["r"]
    assert problem.startswith("cannot read .claude/memory/decisions: ")


def test_folder_in_place_of_a_file_is_reported(root):
    os.mkdir(root.file("decision", "x"))
    found, [problem] = slugs(root)
    assert found == []
    assert "no regular file" in problem


def test_pipe_and_socket_are_passed_over_without_waiting(root):
    os.mkfifo(root.file("decision", "pipe"))
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(root.folder("decision"))  # the name of a socket must be short
    try:
        listener.bind("socket.json")
    finally:
        os.chdir(here)
        listener.close()
    found, problems = slugs(root)
    assert found == []
    assert len(problems) == 2


def test_broken_files_do_not_hide_good_ones(root):
    write(root, "a", data=b"{")
    write(root, "b")
    write(root, "c", data=b"[]")
    found, problems = slugs(root)
    assert found == ["b"]
    assert [os.path.basename(problem.split(" ")[0]) for problem in problems] == ["a.json", "c.json"]


# ---- one file


def test_memory_has_what_its_file_says(root):
    record = {
        "title": "T",
        "record_status": "retired",
        "updated_at": "u",
        "created_at": "c",
        "tags": ["a"],
        "related_files": ["f"],
        "content": {"k": "v"},
        "changes": [{"date": "d"}],
    }
    data = json.dumps(record).encode()
    memory = read_memory(write(root, data=data), "decision")
    assert memory.hash == hashlib.md5(data, usedforsecurity=False).hexdigest()
    assert (memory.slug, memory.category, memory.record) == ("x", "decision", record)
    assert (memory.title, memory.status, memory.updated_at, memory.created_at) == ("T", "retired", "u", "c")
    assert (memory.tags, memory.related_files) == (["a"], ["f"])
    assert (memory.content, memory.changes) == ({"k": "v"}, [{"date": "d"}])


@pytest.mark.parametrize("value", [None, 7, True, [], {}, [1, None], {"a": 1}, "", "text", [["x"]], [{}]])
def test_field_of_any_kind_is_no_error(value):
    fields = ("title", "record_status", "updated_at", "created_at", "tags", "related_files", "content", "changes")
    memory = MemoryFile("/p/x.json", "decision", dict.fromkeys(fields, value), "")
    text = value if isinstance(value, str) else ""
    assert memory.title == (text or "x")
    assert memory.status == (text or "active")
    assert memory.updated_at == memory.created_at == text
    assert memory.tags == memory.related_files == []
    assert isinstance(memory.content, dict)
    assert all(isinstance(line, dict) for line in memory.changes)


def test_missing_file_is_not_found(root):
    with pytest.raises(FileNotFoundError):
        read_memory(root.file("decision", "none"), "decision")


def test_pipe_is_refused_without_waiting(root):
    os.mkfifo(root.file("decision", "x"))
    with pytest.raises(StorageError, match="not a regular file"):
        read_memory(root.file("decision", "x"), "decision")


def test_folder_in_place_of_a_memory_is_a_storage_error(root):
    with pytest.raises(StorageError):
        read_memory(root.folder("decision"), "decision")


def test_nothing_is_left_open_after_a_folder_in_place_of_a_memory(root):
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        with pytest.raises(StorageError):
            read_memory(root.folder("decision"), "decision")
    assert len(os.listdir("/dev/fd")) == before


def test_nothing_is_left_open_after_what_is_no_record(root):
    os.mkfifo(root.file("decision", "pipe"))
    write(root, "bad", data=b"{")
    before = len(os.listdir("/dev/fd"))
    for slug in ("pipe", "bad"):
        with pytest.raises(StorageError):
            read_memory(root.file("decision", slug), "decision")
    assert len(os.listdir("/dev/fd")) == before


# ---- bytes


def test_byte_order_mark_is_no_part_of_the_record():
    assert parse_record(b'\xef\xbb\xbf{"a": 1}', "there") == {"a": 1}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"{",
        b'{"a": 1,}',
        b"{'a': 1}",
        b'{"a": 1} trailing',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": [-Infinity]}',
        b'{"a": 1e999}',
        b'{"a": -1e999}',
        b'{"a": "\xff"}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": "line\nbreak"}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": 1}\0',
    ],
)
def test_what_is_no_json_is_refused(data):
    with pytest.raises(StorageError, match=r"^there is not valid JSON"):
        parse_record(data, "there")


@pytest.mark.parametrize("data", [b"[]", b"7", b'"text"', b"null", b"true", b"[{}]"])
def test_what_is_no_object_is_refused(data):
    with pytest.raises(StorageError, match="there holds no JSON object"):
        parse_record(data, "there")


def test_large_file_is_refused(root):
    path = write(root, data=b'{"a": "' + b"x" * MAX_BYTES + b'"}')
    with pytest.raises(StorageError, match="larger than 4,096 KiB"):
        read_memory(path, "decision")


def test_file_of_the_largest_size_is_read(root):
    data = b'{"a": "' + b"x" * (MAX_BYTES - 9) + b'"}'
    assert len(data) == MAX_BYTES
    assert read_memory(write(root, data=data), "decision").record["a"] == "x" * (MAX_BYTES - 9)


@pytest.mark.parametrize("depth", [25, 500, 5_000, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_deep_record_is_refused(depth, opening, closing):
    data = b'{"a": ' + opening * depth + b"1" + closing * depth + b"}"
    with pytest.raises(StorageError, match="nested"):
        parse_record(data, "there")


def test_record_as_deep_as_any_memory_is_read():
    record = {"content": {"alternatives": [{"option": "o"}]}, "changes": [{"old_value": {"a": [{"b": ["c"]}]}}]}
    assert parse_record(json.dumps(record).encode(), "there") == record


def test_wide_record_is_read():
    record = {"a": list(range(100_000))}
    assert parse_record(json.dumps(record).encode(), "there") == record


@given(
    st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
            max_leaves=8,
        ),
        max_size=5,
    )
)
def test_record_that_is_written_is_read_as_it_was(record):
    text = record_text(record)
    assert text.endswith("}\n")
    assert parse_record(text.encode(), "there") == record


@given(st.binary(max_size=60) | st.text(st.sampled_from('{}[]",:0e+-.\\ntrueé ')).map(str.encode))
def test_any_bytes_are_a_record_or_a_storage_error(data):
    try:
        record = parse_record(data, "there")
    except StorageError as error:
        assert "there" in str(error)  # noqa: PT017 (either outcome is right)
    else:
        assert parse_record(record_text(record).encode(), "there") == record


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_number_that_could_not_be_read_again_is_not_written(value):
    with pytest.raises(ValueError, match="JSON"):
        record_text({"a": value})


# ---- paths


def test_root_knows_its_files_and_shows_them_from_the_project_on():
    root = MemoryRoot("/p q", "/p q/.claude/memory", FOLDER)
    assert root.index == "/p q/.claude/memory/index.md"
    assert root.file("tech_debt", "a-b") == "/p q/.claude/memory/tech-debt/a-b.json"
    assert root.shown(root.file("tech_debt", "a-b")) == ".claude/memory/tech-debt/a-b.json"
    assert {root.folder(category) for category in PROJECT} >= {
        f"/p q/.claude/memory/{folder}"
        for folder in ("sessions", "decisions", "runbooks", "constraints", "tech-debt", "preferences")
    }
