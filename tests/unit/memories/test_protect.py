from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.conftest import World, link_worktree

from recollect.files.session.stop_flag import FLAG as FLAG_FILE
from recollect.memories.protect import FLAG, INDEX, MEMORY, PLUGIN, SETTINGS, STORE, in_folder, kept, protected
from recollect.plugin.uninstall_plan import IN_STORE


@pytest.fixture(autouse=True)
def at_home(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("TMPDIR", "TEMP", "TMP", "RECOLLECT_MEMORY_ROOT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.setenv("RECOLLECT_HOME", str(world.store))


def kind(world: World, path: str | Path, cwd: Path | None = None) -> str:
    found = kept(str(path), str(cwd or world.project))
    return found.kind if found else ""


def make_worktree(world: World, name: str = "side") -> Path:
    return link_worktree(world.project, world.home / name)


@pytest.mark.parametrize(
    "path",
    [
        ".claude/memory/decisions/use-sqlite.json",
        "./src/../.claude/memory/decisions/use-sqlite.json",
        ".claude//memory/./decisions/x.json",
        "  .claude/memory/decisions/x.json ",
        ".claude/memory",
        ".claude/memory/notes.txt",
        ".claude/memory/deeper/and/deeper/x.json",
        "~/shop-front/.claude/memory/decisions/x.json",
        "~/another project/.claude/memory/decisions/x.json",
        "sub/.claude/memory/decisions/x.json",
        ".claude/memory/decisions/naïve-日本.json",
        "C:\\shop\\.claude\\memory\\decisions\\x.json",
    ],
)
def test_path_into_a_memory_folder_is_kept(world: World, path: str) -> None:
    assert kind(world, path) == MEMORY


@pytest.mark.parametrize(
    "path",
    [
        "src/main.py",
        ".claude/memory/../settings.json",
        ".claude/memory-notes.md",
        ".claude/memories/x.json",
        "my.claude/memory/x.json",
        "claude/memory/x.json",
        ".claude/sub/memory/x.json",
        "iflow-dev.local.md",
        ".claude/sub/iflow-dev.local.md",
        "docs/knowledge-bank/patterns.md",
        "~/.claude/projects/-home-dev-shop-front/memory/MEMORY.md",
        ".claude/agent-memory/reviewer/MEMORY.md",
        "/dev/null",
        "/",
        "~",
        ".",
    ],
)
def test_path_to_another_place_is_free(world: World, path: str) -> None:
    assert kind(world, path) == ""


def test_path_is_relative_to_the_folder_of_the_event(world: World) -> None:
    folder = world.project / ".claude" / "memory" / "decisions"
    assert kind(world, "x.json", cwd=folder) == MEMORY
    assert kind(world, "../../x.json", cwd=folder) == ""


def test_index_and_settings_are_told_apart_from_memories(world: World) -> None:
    assert kind(world, ".claude/memory/index.md") == INDEX
    assert kind(world, ".claude/memory/memory-config.json") == SETTINGS
    assert kind(world, ".claude/memory/decisions/memory-config.json") == MEMORY


def test_reason_names_the_path_and_what_to_use_instead(world: World) -> None:
    def reason(path: str) -> str:
        return protected(path, str(world.project))

    assert reason(".claude/memory/decisions/x.json").startswith(".claude/memory/decisions/x.json: ")
    assert "`recollect write --action create" in reason(".claude/memory/decisions/x.json")
    assert "`recollect config set KEY VALUE`" in reason(".claude/memory/memory-config.json")
    assert "recollect" not in reason(".claude/memory/index.md").partition(": ")[2]
    assert "`recollect upsert`" in reason(str(world.store / "memory.db"))
    assert reason("src/main.py") == ""


def test_reason_shows_a_hostile_path_short_and_on_one_line(world: World) -> None:
    reason = protected(f".claude/memory/\n\u202eIgnore\x1b[31m{'x' * 3000}.json", str(world.project))
    assert not set("\n\u202e\x1b") & set(reason)
    assert len(reason) < 1000


def test_link_that_leads_into_the_memory_folder_is_kept(world: World) -> None:
    folder = world.project / ".claude" / "memory" / "decisions"
    folder.mkdir(parents=True)
    (world.project / "notes").symlink_to(folder.parent)
    (world.project / "note.json").symlink_to(folder / "x.json")
    found = kept("notes/decisions/x.json", str(world.project))
    assert found
    assert (found.path, found.leads_out) == (str(folder / "x.json"), False)
    assert kind(world, "note.json") == MEMORY


def test_link_that_leads_out_of_the_memory_folder_is_kept_and_told(world: World, tmp_path: Path) -> None:
    (world.project / ".claude").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (world.project / ".claude" / "memory").symlink_to(tmp_path / "elsewhere")
    found = kept(".claude/memory/decisions/x.json", str(world.project))
    assert found
    assert (found.kind, found.leads_out) == (MEMORY, True)
    assert kind(world, tmp_path / "elsewhere" / "decisions" / "x.json") == ""


def test_folder_that_the_memory_folder_is_a_link_to_is_kept(world: World) -> None:
    (world.project / ".claude").mkdir()
    (world.project / "kept").mkdir()
    (world.project / ".git").mkdir()
    (world.project / ".claude" / "memory").symlink_to("../kept")
    assert kind(world, "kept/decisions/x.json") == MEMORY


def test_parent_of_a_link_is_taken_by_its_letters_and_by_where_the_link_leads(world: World, tmp_path: Path) -> None:
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (world.project / "link").symlink_to(tmp_path / "far" / "deep")
    assert kind(world, "link/../.claude/memory/x.json") == MEMORY
    (tmp_path / "far" / "into").symlink_to(world.project / ".claude" / "memory")
    assert kind(world, "link/../into/x.json") == MEMORY


def test_loop_of_links_is_no_obstacle(world: World) -> None:
    (world.project / "loop").symlink_to("loop")
    assert kind(world, "loop/x.json") == ""
    assert kind(world, "loop/.claude/memory/x.json") == MEMORY


def test_another_spelling_is_free_where_it_is_another_folder(world: World) -> None:
    (world.project / ".claude" / "memory").mkdir(parents=True)
    (world.project / ".Claude" / "Memory").mkdir(parents=True)
    if os.path.samefile(world.project / ".claude", world.project / ".Claude"):
        assert kind(world, ".Claude/Memory/x.json") == MEMORY  # a file system for which they are one
    else:
        assert kind(world, ".Claude/Memory/x.json") == ""


def test_another_spelling_of_the_same_folder_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "memory" / "decisions").mkdir(parents=True)
    if not (tmp_path / "Memory").exists():
        (tmp_path / "Memory").symlink_to("memory")
    assert in_folder(str(tmp_path / "Memory" / "decisions" / "x.json"), str(tmp_path / "memory"))
    assert in_folder(str(tmp_path / "Memory"), str(tmp_path / "memory"))
    assert not in_folder(str(tmp_path / "Memory-too"), str(tmp_path / "memory"))
    assert not in_folder(str(tmp_path), str(tmp_path / "memory"))


@pytest.mark.parametrize("name", [".memory-write-pending.json", ".memory-draft-a.json", ".memory-triage-context-d.txt"])
def test_file_that_is_handed_over_is_free_directly_in_a_temporary_folder(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = world.project / ".claude" / "memory" / "tmp"
    folder.mkdir(parents=True)
    assert kind(world, f"/tmp/{name}") == ""
    assert kind(world, folder / name) == MEMORY
    monkeypatch.setenv("TMPDIR", str(folder))
    assert kind(world, folder / name) == ""
    assert kind(world, folder / "deeper" / name) == MEMORY
    assert kind(world, folder / f"x{name}") == MEMORY
    assert kind(world, folder / f"{name}.bak") == MEMORY


def test_file_that_is_handed_over_is_kept_when_it_is_a_link_to_a_memory(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    memory = world.write_decision("use-sqlite")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / ".memory-draft-a.json").symlink_to(memory)
    assert kind(world, tmp_path / ".memory-draft-a.json") == MEMORY


@pytest.mark.parametrize("source", ["settings", "local", "variable"])
def test_memory_root_that_a_project_has_chosen_is_kept(
    world: World, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    (world.project / ".git").mkdir()
    assert kind(world, "docs/notes/decisions/x.json") == ""
    if source == "settings":
        path = world.project / ".claude" / "memory" / "memory-config.json"
        path.parent.mkdir(parents=True)
        path.write_text('\ufeff{"memory_root": "docs/notes"}', encoding="utf-8")
    elif source == "local":
        world.write_local_settings("memory_root: docs/notes\n")
    else:
        monkeypatch.setenv("RECOLLECT_MEMORY_ROOT", "docs/notes")
    assert kind(world, "docs/notes/decisions/x.json") == MEMORY
    assert kind(world, "docs/notes/index.md") == INDEX
    assert kind(world, "docs/notes-too/x.json") == ""
    assert kind(world, ".claude/memory/memory-config.json") == SETTINGS


def test_memory_root_of_another_project_than_the_session_is_kept(world: World) -> None:
    other = world.home / "other"
    (other / ".git").mkdir(parents=True)
    (other / ".claude").mkdir()
    (other / ".claude" / "iflow-dev.local.md").write_text("memory_root: kept\n", encoding="utf-8")
    assert kind(world, other / "kept" / "decisions" / "x.json") == MEMORY
    assert kind(world, other / "src" / "x.json") == ""


def test_memory_root_that_is_a_repository_of_its_own_is_kept(world: World) -> None:
    (world.project / ".git").mkdir()
    (world.project / "kept" / ".git").mkdir(parents=True)
    world.write_local_settings("memory_root: kept\n")
    assert kind(world, "kept/decisions/x.json") == MEMORY


def test_worktree_keeps_the_memory_root_of_its_main_checkout_and_its_own_copy(world: World) -> None:
    tree = make_worktree(world)
    world.write_local_settings("memory_root: kept\n")
    assert kind(world, world.project / "kept" / "decisions" / "x.json", cwd=tree) == MEMORY
    assert kind(world, "kept/decisions/x.json", cwd=tree) == MEMORY
    assert kind(world, ".claude/memory/decisions/x.json", cwd=tree) == MEMORY
    assert kind(world, "src/x.json", cwd=tree) == ""


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"memory_root": 7}', '{"memory_root": "../out"}', "memory_root", "\0\xff"]
)
def test_settings_that_cannot_be_used_leave_the_usual_memory_root(world: World, text: str) -> None:
    path = world.project / ".claude" / "memory" / "memory-config.json"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="latin-1")
    assert kind(world, "src/x.py") == ""
    assert kind(world, ".claude/memory/x.json") == MEMORY


def test_pipe_in_place_of_settings_is_not_waited_for(world: World) -> None:
    (world.project / ".claude" / "memory").mkdir(parents=True)
    os.mkfifo(world.project / ".claude" / "memory" / "memory-config.json")
    assert kind(world, "src/x.py") == ""


@pytest.mark.parametrize(
    "name",
    [
        "memory.db",
        "memory.db-wal",
        "memory.db.damaged",
        "session-captures.jsonl",
        ".sessions/b0596af1",
        "Memory.DB-wal",
        "Session-Captures.JSONL",
        ".Sessions/b0596af1",
        "recollect.log",
        "recollect.log.1",
        ".told",
        ".last-injection.json",
        ".lock",
        ".gitignore",
        "trusted.json",
        "sub/memory.db",
        "sub/notes.md",
    ],
)
def test_own_part_of_the_global_store_is_kept(world: World, name: str) -> None:
    assert kind(world, world.store / name) == STORE


@pytest.mark.parametrize("name", ["patterns.md", "anti-patterns.md", "README.md"])
def test_markdown_files_of_the_global_store_are_free(world: World, name: str) -> None:
    assert kind(world, world.store / name) == ""


@pytest.mark.parametrize("around", ["home", "project"])
def test_only_known_names_are_kept_in_a_store_around_other_files(
    world: World, monkeypatch: pytest.MonkeyPatch, around: str
) -> None:
    store = world.home if around == "home" else world.project
    monkeypatch.setenv("RECOLLECT_HOME", str(store))
    assert kind(world, store / "src" / "main.py") == ""
    assert kind(world, store / "memory.db") == STORE
    for name in (*IN_STORE, "team/team.backend.jsonl", ".pages/usual"):
        assert kind(world, store / name) == STORE, name


def test_flag_and_local_settings_are_kept_in_every_project(world: World) -> None:
    assert kind(world, FLAG_FILE) == FLAG
    assert kind(world, world.home / "other" / FLAG_FILE) == FLAG
    assert kind(world, ".claude/iflow-dev.local.md") == SETTINGS
    assert kind(world, world.home / "other" / ".claude" / "iflow-dev.local.md") == SETTINGS


def test_data_folders_of_the_plugin_are_kept(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("CLAUDE_PLUGIN_DATA", raising=False)
    data = world.home / ".claude" / "plugins" / "data"
    for folder in ("memory-recollect", "memory-inline"):
        assert kind(world, data / folder / "interpreter") == PLUGIN
        assert kind(world, data / folder / "environments" / "1" / "bin" / "python") == PLUGIN
    assert kind(world, data / "memory-other" / "interpreter") == ""
    monkeypatch.setenv("CLAUDE_PLUGIN_DATA", str(tmp_path / "data"))
    assert kind(world, tmp_path / "data" / "interpreter") == PLUGIN


def test_another_name_of_a_kept_file_is_kept(world: World) -> None:
    (world.project / ".git").mkdir()
    memory = world.write_decision("use-sqlite")
    settings = world.write_local_settings("yolo_mode: true\n")
    world.store.mkdir()
    (world.store / "memory.db").touch()
    (world.store / "patterns.md").touch()
    for path in (memory, settings, world.store / "memory.db", world.store / "patterns.md", world.home / "free"):
        path.touch()
        os.link(path, world.project / f"link-{path.name}")
    assert kind(world, f"link-{memory.name}") == MEMORY
    assert kind(world, f"link-{settings.name}") == SETTINGS
    assert kind(world, "link-memory.db") == STORE
    assert kind(world, "link-patterns.md") == ""
    assert kind(world, "link-free") == ""


def test_draft_that_is_another_name_of_a_memory_is_kept(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (world.project / ".git").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    os.link(world.write_decision("use-sqlite"), tmp_path / ".memory-draft-a.json")
    assert kind(world, tmp_path / ".memory-draft-a.json") == MEMORY


def test_banks_are_free_in_a_global_store_that_is_called_as_memory_folders_are(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", "~/.claude/memory")
    store = world.home / ".claude" / "memory"
    assert kind(world, store / "patterns.md") == ""
    assert kind(world, store / "memory.db") == STORE
    assert kind(world, store / "decisions" / "x.json") == MEMORY
    assert kind(world, world.project / ".claude" / "memory" / "patterns.md") == MEMORY


@pytest.mark.parametrize(
    "path",
    ["a\0b", "\0", "\ud800", "x" * 5000, "d/" * 2000 + "x", "d/" * 500_000 + "x", "~nobody-x/a", "~\0/a", "~\ud800"],
)
def test_path_that_no_system_opens_is_free(world: World, path: str) -> None:
    assert kind(world, path) == ""


@pytest.mark.parametrize("middle", ["\0", "~\0", "\ud800", "x" * 5000, "d/" * 500_000])
def test_path_that_no_system_opens_is_kept_when_it_names_a_memory_folder(world: World, middle: str) -> None:
    assert kind(world, f"{middle}/.claude/memory/x.json") == MEMORY


def test_path_that_is_long_only_because_it_repeats_itself_is_understood(world: World) -> None:
    (world.project / "notes").symlink_to(world.project / ".claude" / "memory")
    assert kind(world, "./" * 5000 + "notes/x.json") == MEMORY
    assert kind(world, "a/../" * 5000 + "notes/x.json") == MEMORY


@pytest.mark.parametrize("cwd", ["", "relative", "/no/such/folder", "/\0", "/" + "d/" * 500_000])
def test_odd_folder_of_an_event_is_no_obstacle(world: World, cwd: str) -> None:
    found = kept(str(world.project / ".claude" / "memory" / "x.json"), cwd)
    assert found
    assert found.kind == MEMORY
    assert kept(str(world.project / "src" / "x.py"), cwd) is None
