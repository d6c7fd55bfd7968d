"""`recollect init` and `recollect uninstall` with the real client: what they change, and that nothing is left of it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.chance import some_uuid
from tests.conftest import PATIENCE, RECOLLECT
from tests.e2e.claude.client import Client

# What the client keeps of any plugin that was ever installed: its own books, empty by then, and folders for them.
LEFT_BY_THE_CLIENT = {
    ".claude/plugins",
    ".claude/plugins/cache",
    ".claude/plugins/marketplaces",
    ".claude/plugins/installed_plugins.json",
    ".claude/plugins/known_marketplaces.json",
}
# What it changes whenever it runs: its state, and copies of that.
CLIENT_STATE = (".claude/.claude.json", ".claude/backups")

# In the order that the client itself keeps.
SETTINGS = '{\n  "permissions": {\n    "allow": [\n      "Bash(ls:*)"\n    ]\n  },\n  "model": "opus"\n}\n'
SAID = (
    "We decided to use PostgreSQL because it has row locks. The decision: chose PostgreSQL over MySQL due to locking."
)


def tree(folder: Path) -> dict[str, str | bytes]:
    """Everything below a folder: the bytes of files, where links lead, and folders."""
    found: dict[str, str | bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.startswith(CLIENT_STATE):
            continue
        if path.is_symlink():
            found[name] = os.readlink(path)
        else:
            found[name] = "folder" if path.is_dir() else path.read_bytes()
    return found


def recollect(machine: Client, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The installed command, without a network."""
    where = ["--project-root", str(machine.project)] if arguments[0] in ("init", "uninstall") else []
    return subprocess.run(
        [*machine.namespace, RECOLLECT, *arguments, *where],
        cwd=machine.project,
        env={**machine.environment(), "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"},  # refused at once, not waited for
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )


def serve(machine: Client, hook: str, **fields: object) -> subprocess.CompletedProcess[str]:
    """An event, served by the plugin's launcher as the client has it served."""
    launcher = Path(__file__).parents[3] / "plugin" / "bin" / "recollect"
    done = subprocess.run(
        [launcher, "hook", hook],
        cwd=machine.project,
        env={**machine.environment(), "CLAUDE_PLUGIN_DATA": str(machine.data())},
        input=json.dumps({"cwd": str(machine.project), **fields}),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done


def use(machine: Client, session: str) -> None:
    """Have every hook and the commands do what leaves files."""
    transcript = machine.home / "transcript.jsonl"
    lines = [{"type": "user", "message": {"role": "user", "content": SAID}}]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    serve(machine, "session-start", session_id=session, source="startup")
    serve(machine, "prompt", session_id=session, prompt="Which database did we decide on for row locks?")
    stopped = serve(machine, "stop", session_id=session, transcript_path=str(transcript), last_assistant_message=SAID)
    assert '"hookEventName": "Stop"' in stopped.stdout, stopped.stderr
    transcript.unlink()
    entry = {"name": "Lock rows in one order", "description": "Or they wait for each other.", "category": "patterns"}
    done = recollect(machine, "upsert", "--entry-file", "-", stdin=json.dumps(entry))
    assert done.returncode == 0, done.stderr
    assert recollect(machine, "promote").returncode == 0
    assert recollect(machine, "search", "row locks").returncode == 0


@pytest.mark.slow
def test_uninstall_leaves_nothing_behind_but_memories(machine: Client) -> None:
    machine.store = machine.home / "knowledge" / "store"
    (machine.config / "settings.json").write_text(SETTINGS, encoding="utf-8")
    bank = machine.project / "docs" / "knowledge-bank" / "patterns.md"
    bank.parent.mkdir(parents=True)
    bank.write_text("### Pattern: Close what you open\nAlways.\n", encoding="utf-8")
    assert machine.manage("list").code == 0
    home, project = tree(machine.home), tree(machine.project)
    session = some_uuid()
    claude = ("--claude", str(machine.program))

    first = recollect(machine, "init", *claude, "--json")
    assert first.returncode == 0, first.stderr
    changed = {
        (Path(item["path"]).relative_to(machine.home).as_posix(), item["what"])
        for item in json.loads(first.stdout)["changed"]
    }
    assert changed == {
        (".claude/settings.json", "extraKnownMarketplaces.recollect"),
        (".claude/settings.json", "enabledPlugins.memory@recollect"),
        (".claude/plugins/known_marketplaces.json", "recollect"),
        (".claude/plugins/installed_plugins.json", "plugins.memory@recollect"),
        (".claude/plugins/cache/recollect", ""),
        (".claude/plugins/data/memory-recollect/interpreter", ""),
    }
    installed = tree(machine.home)
    outside = {name for name in installed if installed[name] != home.get(name)} - LEFT_BY_THE_CLIENT
    told = tuple(path for path, _ in changed)
    assert {name for name in outside if not name.startswith(told) and installed[name] != "folder"} == set()

    again = recollect(machine, "init", *claude)
    assert "nothing was changed" in again.stdout
    assert tree(machine.home) == installed
    use(machine, session)
    assert machine.store.joinpath("memory.db").exists()

    refused = recollect(machine, "uninstall", "--yes")
    assert (refused.returncode, "--claude" in refused.stderr) == (1, True)
    assert machine.store.joinpath("memory.db").exists(), "nothing is removed when the plugin cannot be"

    removed = recollect(machine, "uninstall", "--yes", *claude)
    assert removed.returncode == 0, removed.stderr
    after = {name: content for name, content in tree(machine.home).items() if name not in LEFT_BY_THE_CLIENT}
    memories = {"knowledge", "knowledge/store", "knowledge/store/session-captures.jsonl"}
    memories |= {name for name in after if name.startswith("knowledge/store/") and name.endswith(".md")}
    assert {name: content for name, content in after.items() if name not in memories} == home
    assert tree(machine.project) == project
    assert notes_of(session) == []
    assert str(machine.store / "session-captures.jsonl") in removed.stdout, "what was kept is named"

    assert "nothing of recollect" in recollect(machine, "uninstall", "--yes").stdout


def notes_of(session: str) -> list[str]:
    """The passages that were written for agents of a session and are still there."""
    found: list[str] = []
    for path in Path("/tmp").glob(".memory-triage-context-*"):
        try:
            if f"Session: {session}" in path.read_text(encoding="utf-8", errors="replace"):
                found.append(str(path))
        except OSError:
            continue  # of another test, which has just removed it
    return found


@pytest.mark.slow
def test_init_for_one_project_is_taken_back_in_that_project(machine: Client) -> None:
    assert machine.manage("list").code == 0
    home, project = tree(machine.home), tree(machine.project)
    done = recollect(machine, "init", "--claude", str(machine.program), "--scope", "project", "--json")
    assert done.returncode == 0, done.stderr
    shared = json.loads((machine.project / ".claude" / "settings.json").read_text(encoding="utf-8"))
    assert shared["enabledPlugins"] == {"memory@recollect": True}
    elsewhere = machine.home / "elsewhere"
    elsewhere.mkdir()
    machine.project, here = elsewhere, machine.project
    done = recollect(machine, "uninstall", "--claude", str(machine.program), "--yes")
    assert done.returncode == 0, done.stderr
    elsewhere.rmdir()
    assert {name: content for name, content in tree(machine.home).items() if name not in LEFT_BY_THE_CLIENT} == home
    assert tree(here) == project
