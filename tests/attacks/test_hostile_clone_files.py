"""What is not ours is neither written nor, by way of a link, read; and a question writes nothing at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from tests.attacks.hostile import LOCAL, SETTINGS, Hostile, ask, clone_into, hostile_of, remember, start_session
from tests.conftest import World

THEIRS = "# Notes of the garden club\n\n- [ ] Buy seeds\n"
SECRET = "The combination of the safe is known to nobody"
BANK = "docs/knowledge-bank"


@pytest.fixture
def hostile(world: World) -> Hostile:
    return hostile_of(world)


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """All that is below a folder: mode, time and content of each file, link and folder."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, content)
    return found


# ---- the memory root


@pytest.mark.parametrize("index", [None, "# Memory Index\n\n- nonsense\n", THEIRS])
def test_a_question_writes_nothing_into_the_project(semantic_world: World, index: str | None) -> None:
    world = semantic_world
    hostile = hostile_of(world)
    hostile.write(f"{BANK}/patterns.md", "### Pattern: Retry\nRetry what may fail.\n")
    hostile.write("src/main.py", "print()\n")
    world.project.rmdir()
    there = World(world.home, hostile.path, world.store)
    there.write_decision("queue-in-a-table", title="Queue in a table")
    there.write_decision("advisory-locks", title="Advisory locks keep importers apart")
    if index is not None:
        hostile.write(".claude/memory/index.md", index)
    hostile.clone(world.project)
    before = snapshot(world.project)

    def assert_same(what: object) -> None:
        assert snapshot(world.project) == before, what

    assert start_session(world).returncode == 0
    assert_same("session-start")
    for variables in ({}, {"RECOLLECT_RETRIEVAL_MATCH_STRATEGY": "title_tags"}):
        assert ask(world, "how do advisory locks keep importers apart", **variables).returncode == 0
        assert_same(f"prompt {variables}")
    for command in (
        ("candidate", "--category", "decision", "--new-info", "advisory locks for importers"),
        ("candidate", "--category", "decision", "--new-info", "locks", "--root", ".claude/memory"),
        ("search", "locks"),
        ("list",),
        ("show", "advisory-locks"),
        ("status",),
        ("config",),
        ("index", "--query", "locks"),
        ("index", "--validate"),
        ("index", "--health"),
        ("index", "--gc", "--dry-run"),
        ("inject",),
        ("export", "--format", "json"),
        ("review",),
        ("promote", "--dry-run"),
        ("doctor", *(() if index is None else ("--only", "database"))),
        ("schema", "decision"),
    ):
        done = world.run(*command)
        assert "Traceback" not in done.stderr, (command, done.stderr)
        assert_same(command)


def test_a_question_still_finds_what_the_index_does_not_tell(world: World) -> None:
    world.write_decision("advisory-locks", title="Advisory locks keep importers apart")
    assert "advisory-locks" in world.run("index", "--query", "importers").stdout
    asked = world.run("candidate", "--category", "decision", "--new-info", "Advisory locks keep importers apart")
    assert json.loads(asked.stdout)["candidate"]["path"].endswith("advisory-locks.json")
    assert not (world.project / ".claude" / "memory" / "index.md").exists()


@pytest.mark.parametrize("place", ["docs", "notes/deep", ".claude/notes", ".claude/memory"])
def test_somebodys_index_is_never_replaced(world: World, hostile: Hostile, place: str) -> None:
    hostile.write(f"{place}/index.md", THEIRS)
    clone_into(world, hostile)
    chosen = {"RECOLLECT_MEMORY_ROOT": place}
    index = world.project / place / "index.md"
    assert world.run("candidate", "--category", "decision", "--new-info", "x", **chosen).returncode == 0
    done = remember(world, **chosen)
    assert done.returncode == 1
    assert f"{index} is no index of memories" in done.stderr
    assert "recollect config set memory_root" in done.stderr
    assert world.run("index", "--rebuild", **chosen).returncode == 1
    assert world.run("index", "--rebuild", "--root", str(index.parent)).returncode == 1
    assert index.read_text(encoding="utf-8") == THEIRS
    assert sorted(path.name for path in index.parent.iterdir()) == ["index.md"], "nothing else was left there"


FOLDERS = "agents commands hooks output-styles plugins projects rules skills worktrees"


@pytest.mark.parametrize("name", [*(f".claude/{name}" for name in FOLDERS.split()), ".claude", ".Claude/Commands/x"])
def test_folders_of_the_client_hold_no_memories(world: World, hostile: Hostile, name: str) -> None:
    hostile.settings(memory_root=name)
    clone_into(world, hostile)
    refused = world.run("config", "set", "memory_root", name)
    assert refused.returncode == 1
    assert name in refused.stderr
    assert remember(world).returncode == 0
    assert (world.project / ".claude" / "memory" / "decisions").is_dir()
    assert not list((world.project / name).glob("index.md"))
    (world.project / name).mkdir(parents=True, exist_ok=True)
    if not name.startswith(".C"):
        assert world.run("index", "--rebuild", "--root", name).returncode == 1
    assert not list((world.project / name).glob("index.md"))


def test_a_link_to_a_folder_of_the_client_is_no_way_around(world: World, hostile: Hostile) -> None:
    hostile.write(".claude/commands/deploy.md", "Deploy.\n")
    hostile.link(".claude/memory", "commands")
    clone_into(world, hostile)
    assert remember(world).returncode == 1
    assert [path.name for path in (world.project / ".claude" / "commands").iterdir()] == ["deploy.md"]


# ---- links


@pytest.fixture
def private(world: World) -> Path:
    """A file of the user's beside the project."""
    path = world.home / "private.md"
    path.write_text(f"### Pattern: Safe\n{SECRET}.\n", encoding="utf-8")
    return path


def everything_said(world: World) -> str:
    said = start_session(world).stdout + ask(world, "what is known of the combination of the safe").stdout
    for command in (
        ("inject",),
        ("list",),
        ("search", "combination of the safe"),
        ("export",),
        ("promote", "--dry-run"),
        ("show", "safe"),
        ("status", "--json"),
    ):
        said += world.run(*command).stdout
    return said


@pytest.mark.parametrize("link", [f"{BANK}/patterns.md", BANK, "docs"])
def test_a_bank_that_leads_out_of_the_project_is_not_read(semantic_world: World, link: str) -> None:
    world = semantic_world
    outside = world.home / "outside" / "knowledge-bank"
    outside.mkdir(parents=True)
    (outside / "patterns.md").write_text(f"### Pattern: Safe\n{SECRET}.\n", encoding="utf-8")
    target = {"docs": outside.parent, BANK: outside}.get(link, outside / "patterns.md")
    hostile = hostile_of(world)
    hostile.link(link, target)
    clone_into(world, hostile)
    assert SECRET not in everything_said(world)
    assert "leads out of the project" in world.run("inject").stderr
    assert remember(world).returncode == 0
    backup = world.home / "b.tar.gz"
    assert "leads out of the project" in world.run("backup", "create", str(backup)).stderr
    (outside / "patterns.md").unlink()
    world.run("backup", "restore", str(backup))
    assert not (outside / "patterns.md").exists()


@pytest.mark.parametrize("link", [f"{BANK}/patterns.md", BANK, "docs"])
def test_nothing_is_written_to_a_bank_that_leads_out_of_the_project(world: World, link: str) -> None:
    outside = world.home / "outside" / "knowledge-bank"
    outside.mkdir(parents=True)
    (outside / "patterns.md").write_text(THEIRS, encoding="utf-8")
    target = {"docs": outside.parent, BANK: outside}.get(link, outside / "patterns.md")
    hostile = hostile_of(world)
    hostile.link(link, target)
    clone_into(world, hostile)
    before = snapshot(outside.parent)
    entry = json.dumps({"name": "Local", "description": "Only in this project.", "category": "patterns"})
    done = world.run("promote", "--entry-json", entry, "--as", "project-specific")
    assert snapshot(outside.parent) == before
    assert "leads out of the project" in done.stderr
    assert "nothing was promoted" in done.stderr


def test_a_bank_that_leads_to_the_files_of_git_is_neither_read_nor_written(world: World, hostile: Hostile) -> None:
    hostile.link(f"{BANK}/patterns.md", "../../.git/config")
    clone_into(world, hostile)
    with (world.project / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write("### Pattern: Remote\nThe token of the remote.\n")
    before = (world.project / ".git" / "config").read_bytes()
    assert "token of the remote" not in start_session(world).stdout
    entry = {"name": "N", "description": "About src/main.py of this.", "category": "patterns"}
    world.run("promote", "--as", "project-specific", "--entry-json", json.dumps(entry))
    assert (world.project / ".git" / "config").read_bytes() == before


def test_a_bank_behind_a_link_inside_the_project_is_read(world: World, hostile: Hostile) -> None:
    hostile.write("shared/patterns.md", "### Pattern: Retry\nRetry what may fail.\n")
    hostile.link(f"{BANK}/patterns.md", "../../shared/patterns.md")
    clone_into(world, hostile)
    assert "Retry what may fail" in world.run("inject").stdout


@pytest.mark.parametrize("name", [SETTINGS, LOCAL])
def test_settings_that_lead_out_of_the_project_are_neither_read_nor_written(
    world: World, hostile: Hostile, name: str
) -> None:
    outside = world.home / "settings"
    text = '{"retrieval": {"max_inject": 1}}' if name == SETTINGS else "memory_injection_limit: 1\n"
    outside.write_text(text, encoding="utf-8")
    before = outside.read_bytes()
    hostile.link(name, outside)
    clone_into(world, hostile)
    told = json.loads(world.run("config", "--json").stdout)
    assert [row["key"] for row in told["settings"] if row["source"] != "default"] == ["memory_semantic_enabled"]
    assert any("is a link" in problem for problem in told["problems"])
    key = "retrieval.max_inject" if name == SETTINGS else "memory_injection_limit"
    done = world.run("config", "set", key, "3")
    assert done.returncode == 1
    assert "is a link" in done.stderr
    assert outside.read_bytes() == before


@pytest.mark.parametrize("below", ["/memory/decisions/x.json", "/memory/decisions", "/memory", ""])
def test_memories_that_lead_out_of_the_project_are_neither_read_nor_written(
    world: World, hostile: Hostile, below: str
) -> None:
    link = f".claude{below}"
    outside = World(world.home, world.home / "outside", world.store)
    (outside.project).mkdir()
    memory = outside.write_decision("x", title=SECRET)
    depth = ".claude/memory/decisions/x.json".removeprefix(link).count("/")
    hostile.link(link, memory.parents[depth - 1] if depth else memory)
    clone_into(world, hostile)
    before = snapshot(outside.project)
    assert SECRET not in everything_said(world)
    done = remember(world)
    assert snapshot(outside.project) == before, done.stderr
    assert world.run("retire", "x").returncode != 0
    world.run("index", "--rebuild")
    assert snapshot(outside.project) == before


def test_a_draft_that_leads_out_of_the_temporary_folder_is_refused(world: World) -> None:
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / ".memory-draft-x.json"
        draft.symlink_to(os.__file__)
        done = world.run("write", "--action", "create", "--category", "decision", "--input", str(draft))
    assert done.returncode == 1
    assert "SECURITY_ERROR" in done.stderr
    assert Path(os.__file__).exists()


def test_what_a_session_is_about_is_not_read_from_outside_the_project(semantic_world: World) -> None:
    world = semantic_world
    outside = world.home / "outside"
    outside.mkdir()
    (outside / ".meta.json").write_text(json.dumps({"status": "active", "slug": SECRET}), encoding="utf-8")
    from recollect.recall.context import collect

    for number, (link, target) in enumerate(
        [("docs/features/001-x", outside), ("docs/features/002-y/.meta.json", outside / ".meta.json")]
    ):
        hostile = hostile_of(world, f"upstream{number}")
        hostile.link(link, target)
        clone = hostile.clone(world.home / f"clone{number}")
        context = collect(str(clone))
        assert SECRET not in str(context.query)
        assert any("leads out of the project" in warning for warning in context.warnings)
