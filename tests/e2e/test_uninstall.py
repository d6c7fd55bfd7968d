"""`recollect uninstall` where its folders hold other things than its own: only its own goes."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World, until
from tests.earlier import row, write_earlier

from recollect.files.session.record import add_given, add_words, reset_given, set_triaged
from recollect.web.place import Place

ENTRY = {"name": "Lock rows in one order", "description": "Or they wait for each other.", "category": "patterns"}

KEPT = ("session-captures.jsonl", "patterns.md")


def files(*folders: Path) -> dict[Path, bytes]:
    found = (path for folder in folders for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path: path.read_bytes() for path in found}


def use(world: World, **variables: Any) -> None:
    """Have the commands and hooks leave what they leave in a store."""
    upserted = world.run("upsert", "--entry-json", json.dumps(ENTRY), **variables)
    assert upserted.returncode == 0, upserted.stderr
    world.run("promote", **variables)
    start = {"cwd": str(world.project), "session_id": "a-session", "source": "startup"}
    assert world.run_hook("session-start", start, **variables).returncode == 0
    words = re.compile(r"^\*", re.MULTILINE)  # written last, when the hook has answered
    store = Path(variables.get("RECOLLECT_HOME", world.store))
    record = store / ".sessions" / "a-session"
    until(lambda: not record.exists() or words.search(record.read_text(encoding="utf-8")))


def uninstall(world: World, **variables: Any) -> str:
    done = world.run("uninstall", "--yes", **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_other_things_in_the_folders_that_are_named_stay(world: World, tmp_path: Path) -> None:
    theirs = {
        world.store / ".draft.tmp",
        world.store / ".draft.4711.tmp",
        world.store / "memory.db-notes.txt",
        world.store / "memory.db.damaged-beyond-repair",
        world.store / "notes" / "memory.db",
        world.store / ".sessions" / "login.txt",
        world.project / "docs" / "knowledge-bank" / ".outline.tmp",
        tmp_path / "data of another plugin" / "environments" / "production",
        world.home / ".claude" / "plugins" / "data" / "memory-inline" / "of-another-plugin.db",
    }
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine", encoding="utf-8")
    bank = world.write_bank("patterns", "### Pattern: Close what you open\nAlways.\n")
    left = world.store / ".patterns.md.recollect-4711.tmp"
    left.write_text("of a killed writer", encoding="utf-8")
    use(world)
    assert (world.store / ".sessions" / "a-session").exists()
    uninstall(world, CLAUDE_PLUGIN_DATA=str(tmp_path / "data of another plugin"))
    assert set(files(tmp_path)) - theirs == {bank, *(world.store / name for name in KEPT)}


def test_nothing_in_a_folder_that_goes_is_said_to_stay(world: World) -> None:
    folder = world.home / ".claude" / "plugins" / "data" / "memory-recollect"
    folder.mkdir(parents=True)
    (folder / "interpreter").write_text(sys.executable, encoding="utf-8")
    told = json.loads(world.run("uninstall", "--yes", "--json").stdout)
    assert (told["removed"], told["unknown"]) == ([{"path": str(folder), "what": ""}], [])
    assert not folder.exists()


def test_records_of_sessions_go_whatever_they_begin_with(world: World) -> None:
    store = str(world.store)
    for session in ("given", "words", "triaged", "all", "compacted"):
        if session != "words":
            add_given(store, session, [f"key of {session}"])
        if session in ("words", "all", "compacted"):
            add_words(store, session, ["a-mark", "another"])
        if session in ("triaged", "all", "compacted"):
            set_triaged(store, session, 4711, "said", held=True)
        if session in ("triaged", "compacted"):
            reset_given(store, session)
    assert len(list((world.store / ".sessions").iterdir())) == 5
    uninstall(world)
    assert not world.store.exists()


def test_what_servers_of_pages_leave_goes_and_what_others_put_there_stays(world: World) -> None:
    place = Place(str(world.store), str(world.project))
    assert place.take()
    sockets, address = place.listen(0)
    place.hand_over(address, "/")
    for each in sockets:
        each.close()
    folder = world.store / ".pages"
    mine = folder / "mine.html"
    mine.write_text("mine", encoding="utf-8")
    uninstall(world)
    assert list(folder.iterdir()) == [mine]
    mine.unlink()
    uninstall(world)
    assert not world.store.exists()


@pytest.mark.parametrize("text", ["+ a list", "- one\n- two\n", "* one\n", "---\ntitle: x\n---\n", "= a\n\nb\n"])
def test_a_file_beside_records_stays_whatever_else_is_there(world: World, text: str) -> None:
    add_given(str(world.store), "a-session", ["key"])
    folder = world.store / ".sessions"
    (folder / ".a-session.recollect-4711.tmp").write_text("+key\n", encoding="utf-8")
    theirs = folder / "notes.md"
    theirs.write_text(text, encoding="utf-8")
    uninstall(world)
    assert list(folder.iterdir()) == [theirs]


@pytest.mark.parametrize("place", [".", ".claude/memory", "docs/knowledge-bank"])
def test_a_store_inside_the_project_leaves_the_project_as_it_was(world: World, place: str) -> None:
    world.write_bank("patterns", "### Pattern: Close what you open\nAlways.\n")
    world.write_decision("kept")
    (world.project / "README.md").write_text("# Shop\n", encoding="utf-8")
    store = str(world.project / place)
    assert world.run("index", "--rebuild", RECOLLECT_HOME=store).returncode == 0  # which is a memory's, and stays
    before = files(world.project)
    use(world, RECOLLECT_HOME=store)
    uninstall(world, RECOLLECT_HOME=store)
    after = files(world.project)
    assert {path: content for path, content in after.items() if path.suffix not in (".jsonl", ".md")} == {
        path: content for path, content in before.items() if path.suffix != ".md"
    }
    assert before.keys() <= after.keys()


def test_a_folder_in_the_place_of_the_database_is_no_database(world: World) -> None:
    inside = world.store / "memory.db" / "precious"
    inside.parent.mkdir(parents=True)
    inside.write_text("mine", encoding="utf-8")
    uninstall(world)
    assert inside.exists()


def test_a_memory_folder_that_leads_out_of_the_project_is_no_reason_to_stay(world: World, tmp_path: Path) -> None:
    use(world)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".a.recollect-1.tmp").write_text("mine", encoding="utf-8")
    (world.project / ".claude").mkdir(exist_ok=True)
    (world.project / ".claude" / "memory").symlink_to(elsewhere)
    uninstall(world)
    assert not (world.store / "memory.db").exists()
    assert (elsewhere / ".a.recollect-1.tmp").exists()


@pytest.mark.parametrize("root", [".claude/memory", "docs/notes"])
def test_what_killed_writers_left_goes_in_every_project_that_is_known(
    semantic_world: World, tmp_path: Path, root: str
) -> None:
    world = semantic_world
    world.make_repository()
    folder = world.write_decision("kept").parents[1]
    world.write_local_settings(f"memory_root: {root}\n")
    (world.project / "docs").mkdir()
    folder.rename(world.project / root)
    assert world.run("index", "--rebuild").returncode == 0
    use(world)
    left = world.project / root / "decisions" / ".kept.json.recollect-4711.tmp"
    left.write_text("{", encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = world.run("uninstall", "--yes", cwd=elsewhere)
    assert done.returncode == 0, done.stderr
    assert not left.exists()
    assert (left.parent / "kept.json").exists()


def test_settings_that_are_a_link_stay_a_link(world: World, tmp_path: Path) -> None:
    shared = tmp_path / "dotfiles.json"
    shared.write_text('{\n  "enabledPlugins": {\n    "memory@recollect": true\n  }\n}\n', encoding="utf-8")
    link = world.home / ".claude" / "settings.json"
    link.parent.mkdir(parents=True)
    link.symlink_to(shared)
    claude = tmp_path / "claude"  # which does what the client does to its settings
    empty = f"""printf '{{\\n  "enabledPlugins": {{}}\\n}}\\n' >'{shared}'"""
    claude.write_text(f'#!/bin/sh\ncase "$*" in *list*) echo "[]" ;; esac\n{empty}\n', encoding="utf-8")
    claude.chmod(0o755)
    done = world.run("uninstall", "--yes", "--claude", str(claude))
    assert done.returncode == 0, done.stderr
    assert link.is_symlink()


def test_without_a_terminal_it_needs_yes_and_removes_nothing(world: World) -> None:
    use(world)
    before = files(world.home, world.store)
    for options in ([], ["--json"], ["--purge"]):
        done = world.run("uninstall", *options)
        assert done.returncode == 2
        assert "--yes removes" in done.stderr
        assert "--dry-run names them" in done.stderr
    assert files(world.home, world.store) == before
    assert world.run("uninstall", "--keep-store", "--purge", "--yes").returncode == 2


def test_a_dry_run_names_all_that_would_go_and_changes_nothing(world: World) -> None:
    use(world)
    theirs = world.store / "notes.txt"
    theirs.write_text("mine", encoding="utf-8")
    before = files(world.home, world.store)
    shown = world.run("uninstall", "--dry-run")
    assert shown.returncode == 0
    assert "This would be removed:" in shown.stdout
    assert str(world.store / "memory.db") in shown.stdout
    assert f"Left, because recollect did not make it:\n  {theirs}\nNothing was changed." in shown.stdout
    planned = json.loads(world.run("uninstall", "--dry-run", "--json").stdout)
    assert files(world.home, world.store) == before
    done = json.loads(world.run("uninstall", "--yes", "--json").stdout)
    assert (planned.pop("dry_run"), done.pop("dry_run")) == (True, False)
    assert planned == done
    assert done["unknown"] == [str(theirs)]


def test_nothing_to_remove_needs_no_yes(world: World) -> None:
    done = world.run("uninstall")
    assert (done.returncode, done.stdout) == (0, "There is nothing of recollect to remove here.\n")


def test_a_database_that_recollect_did_not_make_stays_and_is_named(world: World) -> None:
    """Neither one of the memory system before, nor one of another program, nor something else of that name."""
    before: dict[Path, bytes] = {}
    for number, make in enumerate((write_usual, write_foreign, write_mention, write_garbage)):
        store = world.home / f"store {number}"
        store.mkdir()
        make(store / "memory.db")
        aside = store / "memory.db.damaged-20260102030405"
        aside.write_bytes(b"set aside, but whose is it?")
        before = files(store)
        told = json.loads(world.run("uninstall", "--yes", "--json", RECOLLECT_HOME=str(store)).stdout)
        assert told["unknown"] == [str(store / "memory.db"), str(aside)]
        assert files(store) == before


def write_usual(path: Path) -> None:
    write_earlier(path, [row("A lesson", "Its text.")])


def write_foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE sources (number, path, kind, project)")


def write_mention(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text)")
        connection.execute("INSERT INTO notes VALUES ('the first step is m001_entries')")
        connection.commit()


def write_garbage(path: Path) -> None:
    path.write_bytes(b"no database at all")


def test_the_copy_of_an_earlier_database_stays_and_is_named(semantic_world: World) -> None:
    world = semantic_world
    world.store.mkdir()
    write_usual(world.store / "memory.db")
    assert world.run("rebuild").returncode == 0
    told = json.loads(world.run("uninstall", "--yes", "--json").stdout)
    copy = world.store / "memory.db.before-recollect"
    assert (told["kept"], told["unknown"]) == ([str(world.store / "session-captures.jsonl"), str(copy)], [])
    assert sorted(path.name for path in world.store.iterdir()) == [copy.name, "session-captures.jsonl"]


def test_our_own_database_goes_even_if_it_is_damaged(world: World) -> None:
    use(world)
    path = world.store / "memory.db"
    data = bytearray(path.read_bytes())
    data[:16] = b"\0" * 16
    path.write_bytes(data)
    uninstall(world)
    assert not path.exists()


def test_purge_removes_memories_too_and_nothing_else(world: World) -> None:
    bank = world.write_bank("patterns", "### Pattern: Close what you open\nAlways.\n")
    memory = world.write_decision("kept")
    world.write_decision("also")
    assert world.run("index", "--rebuild").returncode == 0
    theirs = {
        world.store / "notes.txt",
        memory.parent / "notes.txt",
        world.project / ".claude" / "memory" / "memory-config.json",
    }
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", encoding="utf-8")
    use(world)
    before = set(files(world.home, world.store))
    told = json.loads(world.run("uninstall", "--purge", "--dry-run", "--json").stdout)
    assert set(files(world.home, world.store)) >= before
    done = world.run("uninstall", "--purge", "--yes")
    assert done.returncode == 0, done.stderr
    assert set(files(world.home, world.store)) == {bank, *theirs}
    removed = {item["path"] for item in told["removed"]}
    assert {str(memory), str(world.store / "session-captures.jsonl"), str(world.store / "patterns.md")} <= removed
    assert told["kept"] == [str(bank.parent), str(world.project / ".claude" / "memory" / "memory-config.json")]
    assert sorted(told["unknown"]) == sorted(str(path) for path in theirs if path.suffix == ".txt")


def test_purge_leaves_no_empty_folders(world: World) -> None:
    world.write_decision("kept")
    use(world)
    assert world.run("uninstall", "--purge", "--yes").returncode == 0
    assert not world.store.exists()
    assert not (world.project / ".claude").exists()


def test_purge_leaves_an_index_that_is_none(world: World) -> None:
    index = world.write_decision("kept").parents[1] / "index.md"
    index.write_text("# My own notes\n", encoding="utf-8")
    assert world.run("uninstall", "--purge", "--yes").returncode == 0
    assert index.read_text(encoding="utf-8") == "# My own notes\n"
    assert not (index.parent / "decisions").exists()


def test_purge_leaves_files_that_are_no_memories_and_names_each_path(world: World) -> None:
    memory = world.write_decision("kept")
    theirs = [memory.parent / name for name in ("list.json", "other.json", "package.json")]
    for path, text in zip(theirs, ("[]", '{"category": "runbook", "title": "x"}', '{"name": "x"}'), strict=True):
        path.write_text(text, encoding="utf-8")
    told = json.loads(world.run("uninstall", "--purge", "--yes", "--json").stdout)
    assert str(memory) in [item["path"] for item in told["removed"]]
    assert {*told["unknown"]} >= {str(path) for path in theirs}
    assert sorted(memory.parent.iterdir()) == theirs


def test_purge_names_each_memory_even_if_the_whole_folder_goes(world: World) -> None:
    paths = [world.write_decision("one"), world.write_decision("two")]
    told = json.loads(world.run("uninstall", "--purge", "--dry-run", "--json").stdout)
    assert {item["path"] for item in told["removed"]} >= {str(path) for path in paths}


def test_merge_driver_is_named_and_removed_and_shared_lines_stay(world: World) -> None:
    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=world.project, capture_output=True, encoding="utf-8", check=False
        ).stdout.strip()

    git("init", "-q", ".")
    git("config", "user.name", "Ada")
    world.write_decision("locks")
    assert world.run("init", "--git").returncode == 0
    assert git("config", "merge.recollect.driver")
    config, attributes = world.project / ".git" / "config", world.project / ".gitattributes"

    planned = world.run("uninstall", "--dry-run").stdout
    assert f"  {config}  merge.recollect\n" in planned
    assert git("config", "merge.recollect.driver"), "nothing was changed"

    removed = json.loads(world.run("uninstall", "--yes", "--json").stdout)
    assert {"path": str(config), "what": "merge.recollect"} in removed["removed"]
    assert str(attributes) in removed["kept"]
    assert (removed["failed"], git("config", "merge.recollect.driver"), git("config", "user.name")) == ([], "", "Ada")
    assert "merge=recollect" in attributes.read_text(encoding="utf-8")
    assert str(config) not in world.run("uninstall", "--dry-run").stdout
