"""Which memory a name means: exact, by its beginning, by its path; and what is said when it is none or several."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from recollect.domain.categories import FOLDER
from recollect.errors import StorageError, UnknownMemory
from recollect.files.memory.memories import MemoryRoot
from recollect.memories.lookup import find_memory, read_named, shortest_name


@pytest.fixture
def root(tmp_path: Path) -> MemoryRoot:
    project = Path(os.path.realpath(tmp_path)) / "shop"
    return MemoryRoot(str(project), str(project / ".claude" / "memory"), FOLDER)


def put(root: MemoryRoot, category: str, slug: str, title: str = "", status: str = "active") -> str:
    path = Path(root.file(category, slug))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"title": title or slug, "record_status": status}), encoding="utf-8")
    return str(path)


def complaint(root: MemoryRoot, name: str) -> str:
    with pytest.raises(UnknownMemory) as unknown:
        find_memory(root, name)
    return str(unknown.value)


@pytest.mark.parametrize(
    "name",
    [
        "use-postgres",
        "  Use-Postgres ",
        "Use Postgres",
        "decision/Use Postgres.",
        "use-postgres.json",
        "decision/use-postgres",
        "decisions/use-postgres.json",
        ".claude/memory/decisions/use-postgres.json",
        ".claude/memory/decisions/use-postgres",
        "{root}/decisions/use-postgres.json",
    ],
)
def test_every_way_to_name_a_memory_finds_it(root: MemoryRoot, name: str) -> None:
    path = put(root, "decision", "use-postgres")
    put(root, "decision", "use-postgres-15")
    put(root, "runbook", "restart")
    assert find_memory(root, name.format(root=root.path)).path == path


def test_unique_prefix_finds_a_memory_in_any_state(root: MemoryRoot) -> None:
    path = put(root, "runbook", "restart-the-queue", status="retired")
    put(root, "decision", "use-postgres")
    put(root, "decision", "rest-over-rpc")
    assert read_named(root, "restart").path == path
    assert read_named(root, "Restart the").path == path
    assert read_named(root, "runbooks/r").path == path


def test_path_in_a_worktree_means_the_shared_file(root: MemoryRoot, tmp_path: Path) -> None:
    path = put(root, "decision", "use-postgres")
    worktree = tmp_path / "worktree"
    asked = str(worktree / ".claude" / "memory" / "decisions" / "use-postgres.json")
    assert find_memory(root, asked, str(worktree)).path == path


def test_exact_slug_reads_no_other_file(root: MemoryRoot) -> None:
    put(root, "decision", "use-postgres", "Use Postgres")
    for number in range(20):
        Path(root.file("decision", f"use-postgres-{number}")).write_text("{broken", encoding="utf-8")
    assert read_named(root, "use-postgres").title == "Use Postgres"


def test_broken_file_is_found_by_name_but_not_read(root: MemoryRoot) -> None:
    path = put(root, "decision", "use-postgres")
    Path(path).write_text("{broken", encoding="utf-8")
    assert find_memory(root, "use").path == path
    with pytest.raises(StorageError, match="is not valid JSON"):
        read_named(root, "use")


def test_several_candidates_are_listed_with_category_state_and_title(root: MemoryRoot) -> None:
    put(root, "decision", "use-postgres", "Use Postgres")
    put(root, "decision", "use-python", "Use\nPython\x1b[2J " + "x" * 200, status="retired")
    Path(root.file("decision", "use-broken")).write_text("{", encoding="utf-8")
    lines = complaint(root, "use").split("\n")
    assert lines[0] == "'use' may mean any of 3 memories; give more of the name:"
    assert lines[1].split() == ["use-broken", "decision", "unknown", "(cannot", "be", "read)"]
    assert lines[2].split() == ["use-postgres", "decision", "active", "Use", "Postgres"]
    assert lines[3].split()[:5] == ["use-python", "decision", "retired", "Use", "Python[2J"]
    assert lines[3].endswith("x…")
    assert len(lines) == 4


def test_more_than_ten_candidates_are_counted(root: MemoryRoot) -> None:
    for number in range(13):
        put(root, "decision", f"use-{number:02}")
    lines = complaint(root, "use").split("\n")
    assert lines[0].startswith("'use' may mean any of 13 memories")
    assert [line.split()[0] for line in lines[1:-1]] == [f"use-{number:02}" for number in range(10)]
    assert lines[-1] == "  and 3 more"


def test_same_slug_in_two_categories_is_told_apart_by_category(root: MemoryRoot) -> None:
    put(root, "decision", "retry")
    path = put(root, "runbook", "retry")
    said = complaint(root, "retry")
    assert "\n  decision/retry  decision  active" in said
    assert "\n  runbook/retry   runbook   active" in said
    assert find_memory(root, "runbook/retry").path == path
    assert shortest_name(root, path, "runbook") == "runbook/retry"
    os.unlink(root.file("decision", "retry"))
    assert shortest_name(root, path, "runbook") == "retry"


def test_unknown_name_is_answered_with_near_ones(root: MemoryRoot) -> None:
    put(root, "decision", "use-postgres")
    put(root, "runbook", "restart-the-queue")
    assert "Did you mean use-postgres?" in complaint(root, "use-posgres")
    assert "Did you mean use-postgres?" in complaint(root, "postgres")
    assert "Did you mean restart-the-queue?" in complaint(root, "decision/restart-the-queue")
    assert "Did you mean use-postgres?" in complaint(root, "Use Posgres")
    assert complaint(root, "beef").endswith("; of an id give 6 digits or more")
    said = complaint(root, "zzz")
    assert said == "no memory is called 'zzz'. `recollect list --all` shows all there are"


def test_unknown_name_without_any_memory_says_so(root: MemoryRoot) -> None:
    assert complaint(root, "x") == "no memory is called 'x': there are none in .claude/memory yet"


def test_unknown_name_tells_what_was_passed_over(root: MemoryRoot, tmp_path: Path) -> None:
    put(root, "decision", "use-postgres")
    (tmp_path / "elsewhere").mkdir()
    Path(root.folder("runbook")).symlink_to(tmp_path / "elsewhere")
    assert "(.claude/memory/runbooks is a link; what is behind it is not read)" in complaint(root, "restart")


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "/",
        "decision/",
        "\0",
        "../../../etc/passwd",
        "decisions/../../../../outside.json",
        "/etc/passwd",
        ".claude/memory/../../secret.json",
        "x" * 100_000,
        "\x1b[2J\u202e",
        "\ud800",
    ],
)
def test_hostile_names_mean_nothing_and_are_shown_safely(root: MemoryRoot, name: str) -> None:
    put(root, "decision", "use-postgres")
    Path(root.project, "secret.json").write_text("{}", encoding="utf-8")
    said = complaint(root, name)
    assert said.isprintable()
    assert len(said) < 300
