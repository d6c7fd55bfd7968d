"""index.md: lines that are read back whatever a memory is called, and an index that is made again when it is broken."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.categories import FOLDER, PROJECT
from recollect.errors import StorageError
from recollect.files.memory.index_md import (
    IndexEntry,
    current_index,
    index_entry,
    index_text,
    index_with,
    indexed_memories,
    parse_line,
    read_index,
    rebuild_index,
    trusted_index,
    unlink_link,
)
from recollect.files.memory.memories import MemoryFile, MemoryRoot, read_memory
from recollect.files.textfile import write_text

PIECES = [
    *("a", "B", " ", "->", " -> ", "-", ">", "#tags:", "#TAGS:", "#", ":", ",", "\n", "\t", "\x00", "\x1b", "\u200b"),
    *("\u2028", "\xa0", "é", "İ", "ſ", "😀", "\ud800", "\udcff", ".json", " x.json", "- [DECISION] ", "]", "[", "\r"),
]
hostile = st.one_of(st.text(st.characters()), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))


def update_index(root, memory, before=""):
    """What saving a memory does with the index."""
    text = index_with(root, memory, before)
    unlink_link(root.index)
    write_text(root.index, text)


@pytest.fixture
def root(tmp_path):
    project = os.path.realpath(tmp_path)
    path = os.path.join(project, ".claude", "memory")
    os.makedirs(path)
    return MemoryRoot(project, path, FOLDER)


def write(root, slug, category="decision", **fields):
    path = root.file(category, slug)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"title": slug.title(), "tags": ["t"], **fields}, file)
    return read_memory(path, category)


def text_of(root):
    with open(root.index, encoding="utf-8") as file:
        return file.read()


def lines_of(root):
    return [line for line in text_of(root).split("\n") if line.startswith("- ")]


def put(root, text):
    with open(root.index, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def facts(entry):
    return entry and (entry.category, entry.title, entry.path, entry.tags)


# ---- lines


def test_line_has_category_title_path_and_tags():
    entry = IndexEntry("tech_debt", "Old driver", ".claude/memory/tech-debt/old-driver.json", ["db", "driver"])
    assert entry.line == "- [TECH_DEBT] Old driver -> .claude/memory/tech-debt/old-driver.json #tags:db,driver"
    assert facts(parse_line(entry.line)) == facts(entry)


def test_line_without_tags_ends_with_the_path():
    entry = IndexEntry("decision", "T", "d/x.json", [])
    assert entry.line == "- [DECISION] T -> d/x.json"
    assert facts(parse_line(entry.line)) == facts(entry)


@pytest.mark.parametrize(
    "line",
    [
        *("", "- ", "- [DECISION] T", "- [decision] T -> x.json", "- DECISION T -> x.json", "* [DECISION] T -> x.json"),
        *(
            "- [DECISION] -> x.json",
            "- [DECISION] T -> x.md",
            "- [DECISION] T->x.json",
            "# Memory Index",
            "- [X1] T -> x.json",
        ),
        "- [DECISION] T -> x.json trailing",
    ],
)
def test_what_is_no_line_of_the_index_is_known(line):
    assert parse_line(line) is None


def test_line_is_read_as_other_tools_write_it():
    entry = parse_line("- [DECISION] Use Postgres -> .claude/memory/decisions/x.json #tags:DB, Storage \r")
    assert facts(entry) == ("decision", "Use Postgres", ".claude/memory/decisions/x.json", ["db", "storage"])


@given(hostile, st.lists(hostile, max_size=6), st.sampled_from(PROJECT))
def test_line_of_any_memory_is_read_back_as_it_was(title, tags, category):
    root = MemoryRoot("/p", "/p/.claude/memory", FOLDER)
    memory = MemoryFile(root.file(category, "a-slug"), category, {"title": title, "tags": tags}, "")
    entry = index_entry(root, memory)
    assert "\n" not in entry.line
    assert entry.path == f".claude/memory/{FOLDER[category]}/a-slug.json"
    assert facts(parse_line(entry.line)) == facts(entry)
    assert entry.line.encode().decode() == entry.line


@given(st.lists(st.tuples(hostile, st.lists(hostile, max_size=3)), max_size=5))
def test_index_of_any_memories_has_a_line_for_each(found):
    root = MemoryRoot("/p", "/p/.claude/memory", FOLDER)
    entries = [
        index_entry(root, MemoryFile(root.file("decision", f"m{number}"), "decision", {"title": t, "tags": tags}, ""))
        for number, (t, tags) in enumerate(found)
    ]
    lines = [line for line in index_text(entries).split("\n") if line.startswith("- ")]
    assert sorted(lines) == sorted(entry.line for entry in entries)
    assert len(index_text(entries).splitlines()) == len(entries) + 4


@pytest.mark.parametrize("title", ["", " ", "\u200b", "#tags:", None, 7])
def test_memory_without_a_title_is_called_by_its_slug(title):
    root = MemoryRoot("/p", "/p/m", FOLDER)
    assert index_entry(root, MemoryFile("/p/m/decisions/a-b.json", "decision", {"title": title}, "")).title == "a-b"


# ---- the whole


def test_lines_are_sorted_by_category_then_title_whatever_its_case(root):
    for slug, category, title in [
        ("z", "decision", "b"),
        ("y", "decision", "A"),
        ("x", "decision", "C"),
        ("s", "session_summary", "a"),
        ("c", "constraint", "z"),
        ("k", "decision", "b"),
    ]:
        write(root, slug, category, title=title, tags=[])
    assert len(rebuild_index(root, [])) == 6
    assert [line.split(" -> ")[0] for line in lines_of(root)] == [
        "- [CONSTRAINT] z",
        "- [DECISION] A",
        "- [DECISION] b",
        "- [DECISION] b",
        "- [DECISION] C",
        "- [SESSION_SUMMARY] a",
    ]
    assert "k.json" in lines_of(root)[2]


def test_index_has_its_header_and_active_memories_alone(root):
    write(root, "one")
    write(root, "two", record_status="retired")
    write(root, "three", record_status="archived")
    assert len(rebuild_index(root, [])) == 1
    assert text_of(root).startswith("# Memory Index\n\n<!-- ")
    assert lines_of(root) == ["- [DECISION] One -> .claude/memory/decisions/one.json #tags:t"]


def test_index_of_nothing_is_a_header(root):
    assert len(rebuild_index(root, [])) == 0
    assert read_index(root) == []


def test_rebuilding_reports_what_could_not_be_read(root):
    write(root, "good")
    with open(root.file("decision", "bad"), "w", encoding="utf-8") as file:
        file.write("{")
    problems = []
    assert len(rebuild_index(root, problems)) == 1
    [problem] = problems
    assert "bad.json" in problem


def test_rebuilding_gives_the_same_bytes_as_changing_it_step_by_step(root):
    for slug in ("b", "a", "c"):
        update_index(root, write(root, slug))
    update_index(root, write(root, "b", title="Zebra"))
    stepwise = text_of(root)
    rebuild_index(root, [])
    assert text_of(root) == stepwise


def test_retired_memory_leaves_the_index_and_comes_back(root):
    update_index(root, write(root, "a"))
    update_index(root, write(root, "b"))
    update_index(root, write(root, "a", record_status="retired"))
    assert [entry.title for entry in read_index(root)] == ["B"]
    update_index(root, write(root, "a"))
    assert [entry.title for entry in read_index(root)] == ["A", "B"]


def test_renamed_memory_has_one_line(root):
    update_index(root, write(root, "old"))
    os.rename(root.file("decision", "old"), root.file("decision", "new"))
    update_index(root, read_memory(root.file("decision", "new"), "decision"), root.file("decision", "old"))
    assert [entry.path for entry in read_index(root)] == [".claude/memory/decisions/new.json"]


# ---- missing and broken


def test_missing_index_is_none_and_is_made_by_the_next_change(root):
    assert read_index(root) is None
    write(root, "a")
    update_index(root, write(root, "b"))
    assert [entry.title for entry in read_index(root)] == ["A", "B"]


BROKEN = [
    "",
    "\0" * 100,
    "\ufeff# Memory Index\n",
    "# Memory Index\n- no line of an index\n",
    "# Memory Index\n- [DECISION] A -> x.json\n- [DECISION] A -> x.json\n",
    "# Memory Index\n- [DECISION] A -> .claude/memory/decisions/a.js",
    "<<<<<<< HEAD\n# Memory Index\n",
    "# Memory Index\n- [DECISION] A -> x.json\udcff\n".encode("utf-8", "surrogateescape").decode("latin-1"),
]


@pytest.mark.parametrize("text", BROKEN)
def test_broken_index_is_none_and_is_made_again_by_the_next_change(root, text):
    write(root, "a")
    put(root, text)
    assert read_index(root) is None
    update_index(root, write(root, "b"))
    assert [entry.title for entry in read_index(root)] == ["A", "B"]


@pytest.mark.parametrize("text", ["nonsense", "# Notes\n\n# Memory\n", "\x01\0 nothing of ours", "Memory Index\n"])
def test_file_of_somebody_else_is_left_alone(root, text):
    write(root, "a")
    put(root, text)
    assert [entry.title for entry in indexed_memories(root, [])] == ["A"]
    for change in (lambda: update_index(root, write(root, "b")), lambda: rebuild_index(root, [])):
        with pytest.raises(StorageError, match="is no index of memories, and is not replaced; move it away"):
            change()
    assert text_of(root) == text


def test_index_with_a_conflict_of_git_in_it_is_broken(root):
    put(
        root,
        "# Memory Index\n\n<<<<<<< HEAD\n- [DECISION] A -> a.json\n=======\n- [DECISION] B -> b.json\n>>>>>>> side\n",
    )
    assert read_index(root) is None


def test_index_with_other_line_ends_is_read(root):
    put(root, "# Memory Index\r\n\r\n- [DECISION] A -> .claude/memory/decisions/a.json #tags:x\r\n")
    assert [facts(entry) for entry in read_index(root)] == [("decision", "A", ".claude/memory/decisions/a.json", ["x"])]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_stands_in_the_place_of_the_index_is_told_and_left(root, make):
    memory = write(root, "a")
    make(root.index)
    with pytest.raises(StorageError, match=r"index\.md"):
        update_index(root, memory)
    with pytest.raises(StorageError, match=r"index\.md"):
        read_index(root)
    assert sorted(os.listdir(root.path)) == ["decisions", "index.md"]


@pytest.mark.parametrize("damage", ["missing", "broken", "old"])
def test_current_index_is_made_again_when_it_does_not_tell_the_truth(root, damage):
    write(root, "a")
    rebuild_index(root, [])
    if damage == "missing":
        os.unlink(root.index)
    elif damage == "broken":
        put(root, "# Memory Index\nnonsense")
    else:
        os.utime(root.index, ns=(0, 0))
    write(root, "b")
    os.utime(root.file("decision", "b"), ns=(0, 2**62))
    assert [entry.title for entry in current_index(root, [])] == ["A", "B"]


def test_index_is_current_until_a_file_or_a_folder_changes(root):
    assert trusted_index(root) is None
    memory = write(root, "a")
    rebuild_index(root, [])
    made = os.stat(root.index).st_mtime_ns
    for path in (memory.path, root.folder("decision")):
        os.utime(path, ns=(made, made))
    assert trusted_index(root) is not None
    os.utime(memory.path, ns=(made, made + 1))
    assert trusted_index(root) is None
    os.utime(memory.path, ns=(made, made))
    os.utime(root.folder("decision"), ns=(made, made + 1))
    assert trusted_index(root) is None


# ---- links


def test_link_in_place_of_the_index_is_replaced_and_what_it_leads_to_is_left_alone(root, tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_text("precious", encoding="utf-8")
    os.symlink(precious, root.index)
    write(root, "a")
    rebuild_index(root, [])
    assert precious.read_text(encoding="utf-8") == "precious"
    assert not os.path.islink(root.index)
    assert [entry.title for entry in read_index(root)] == ["A"]


def test_link_to_an_index_elsewhere_is_not_written_through(root, tmp_path):
    other = tmp_path / "other.md"
    text = "# Memory Index\n- [DECISION] Foreign -> d/foreign.json\n"
    other.write_text(text, encoding="utf-8")
    os.symlink(other, root.index)
    update_index(root, write(root, "a"))
    assert other.read_text(encoding="utf-8") == text
    assert not os.path.islink(root.index)


def test_link_to_an_index_elsewhere_is_not_read_through(root, tmp_path):
    other = tmp_path / "other.md"
    other.write_text("# Memory Index\n- [DECISION] Foreign -> d/foreign.json\n", encoding="utf-8")
    os.symlink(other, root.index)
    update_index(root, write(root, "a"))
    assert [entry.title for entry in read_index(root)] == ["A"]


def test_link_that_leads_nowhere_is_replaced(root, tmp_path):
    os.symlink(tmp_path / "nowhere", root.index)
    update_index(root, write(root, "a"))
    assert not os.path.islink(root.index)
    assert not (tmp_path / "nowhere").exists()
    assert [entry.title for entry in read_index(root)] == ["A"]


def test_index_that_lacks_a_memory_or_names_one_too_many_is_not_believed_however_new(root):
    """As a merge may leave it."""
    write(root, "a")
    write(root, "b")
    write(root, "old", record_status="retired")
    rebuild_index(root, [])
    assert trusted_index(root) is not None
    whole = text_of(root)
    lines = whole.splitlines(keepends=True)
    for text in ("".join(lines[:-1]), whole + "- [DECISION] C -> .claude/memory/decisions/c.json\n"):
        put(root, text)
        assert read_index(root) is not None
        assert trusted_index(root) is None
        assert len(current_index(root, [])) == 2
        assert text_of(root) == whole


@pytest.mark.parametrize(
    "path",
    [
        "../outside/private.json",
        "/etc/private.json",
        ".claude/memory/decisions/../../../private.json",
        ".claude/memory/runbooks/a.json",
        ".claude/memory/a.json",
        ".claude/memory/decisions/deep/a.json",
        ".claude/memory/decisions/A.json",
    ],
)
def test_line_that_names_no_place_of_its_category_breaks_the_index(root, path):
    put(root, f"# Memory Index\n\n- [DECISION] A -> {path}\n")
    assert read_index(root) is None


def test_line_without_end_takes_no_time(root):
    put(root, "# Memory Index\n- [DECISION] " + "a -> b.json x" * 500_000 + "\n")
    assert read_index(root) is None


@pytest.mark.parametrize("title", ["a" * 117 + " -> x more", "a" * 114 + " #tags:x", "a" * 119 + " -> b", "-> " * 60])
def test_title_that_is_cut_in_the_middle_of_a_marker_leaves_the_index_whole(root, title):
    write(root, "long", title=title)
    write(root, "other")
    assert len(rebuild_index(root, [])) == 2
    entries = trusted_index(root)
    assert entries is not None
    assert len(entries) == 2


def test_what_a_killed_writer_left_of_the_index_is_swept(root):
    write(root, "a")
    with open(os.path.join(root.path, ".index.md.recollect-4711.tmp"), "w", encoding="utf-8") as file:
        file.write("half")
    rebuild_index(root, [])
    assert sorted(os.listdir(root.path)) == ["decisions", "index.md"]
