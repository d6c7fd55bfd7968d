"""What a hook may import: a person waits for every module."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import BARE_ENTRY, World

import recollect
from recollect.domain.hashing import content_hash
from recollect.hooks.run import HOOKS

DATA = Path(__file__).parents[1] / "data"

# Each of these costs a tenth of a bare interpreter start or more.
FORBIDDEN = {
    "argparse",
    "asyncio",
    "click",
    "collections",
    "contextlib",
    "dataclasses",
    "datetime",
    "difflib",
    "enum",
    "functools",
    "inspect",
    "json",
    "logging",
    "pathlib",
    "random",
    "re",
    "shutil",
    "socket",
    "sqlite3",
    "subprocess",
    "tempfile",
    "threading",
    "typing",
    "urllib",
}

PACKAGE = Path(recollect.__file__).parent


def marked() -> set[str]:
    """Return the modules that say `# hot` on their first line: somebody waits for them to be imported."""
    hot = [path for path in PACKAGE.rglob("*.py") if path.read_text(encoding="utf-8").startswith("# hot\n")]
    return {".".join(("recollect", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in hot}


def modules_only(names: set[str]) -> set[str]:
    """Return which of some names are modules of ours, and no packages."""
    own = {name for name in names if name.partition(".")[0] == "recollect"}
    return {name for name in own if (PACKAGE / "/".join(name.split(".")[1:])).with_suffix(".py").is_file()}


# Each of these costs more than all the rest of a session's start.
HEAVY = {"numpy", "onnxruntime", "tokenizers", "click", "subprocess", "dataclasses", "urllib", "asyncio"}


def modules_after(world: World, *options: str, semantic: str = "false") -> set[str]:
    """All modules that an injection has loaded, measured in the process that did it."""
    where = ["--project-root", str(world.project), "--global-store", str(world.store)]
    world.write_local_settings(f"memory_semantic_enabled: {semantic}\nyolo_mode: true\nmemory_injection_limit: 5\n")
    probe = [sys.executable, "-I", "-S", "-X", "importtime", BARE_ENTRY[-1], "inject", *where, *options]
    if semantic == "false":
        subprocess.run(probe, capture_output=True, check=True)  # whoever comes first looks for credentials, once
    done = subprocess.run(probe, capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout, "the injection must have done its work"
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_injection_loads_no_costly_module(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n- Keywords: a\n")
    world.write_bank("patterns", "### Pattern: Q\nAnother.\n- Content-Hash: sha256:0123456789abcdef\n", shared=True)
    assert modules_after(world, "--event", "startup") & FORBIDDEN == set()


def test_a_journal_with_something_retired_needs_no_costly_module(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n\n### Pattern: Q\nAnother.\n")
    world.store.mkdir()
    line = {"retired": content_hash("Another."), "at": "2026-01-01T00:00:00Z", "project": ""}
    (world.store / "session-captures.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    loaded = modules_after(world)
    assert loaded & FORBIDDEN == set()
    assert "recollect.files.journal.kinds" in loaded


def test_a_settings_file_that_is_json_needs_no_costly_module(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n")
    settings = world.project / ".claude" / "memory" / "memory-config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"retrieval": {"max_inject": 3}}', encoding="utf-8")
    assert modules_after(world) & FORBIDDEN == set()


def test_a_team_needs_no_costly_module(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n")
    world.write_local_settings("memory_semantic_enabled: false\n")
    write_invitation(world)
    told = world.run_hook("session-start", fields_of("session-start", world)).stdout
    assert "ann invites you to team:backend" in told
    assert modules_of("session-start", world) & FORBIDDEN == set()


def write_invitation(world: World) -> None:
    invited = {"team:backend": {"role": "writer", "by": "ann", "at": "2026-01-01T00:00:00Z"}}
    world.store.mkdir(exist_ok=True)
    joined = {"address": "postgresql://bob@db.example/memory", "user": "bob", "machine": {"id": "0000abcd"}}
    state = {"version": 1, **joined, "invited": invited}
    (world.store / "team.json").write_text(json.dumps(state), encoding="utf-8")


def test_a_question_that_was_asked_before_needs_no_model(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nRead a real file before you write its parser.\n")
    feature = world.project / "docs" / "features" / "001-parser"
    feature.mkdir(parents=True)
    (feature / ".meta.json").write_text('{"status": "active", "slug": "file-parser"}', encoding="utf-8")
    assert {"numpy", "onnxruntime"} <= packages_after(world), "the first start gives the entry its vector"
    assert {"numpy", "onnxruntime"} <= packages_after(world), "the second one asks by meaning"
    assert packages_after(world) & HEAVY == set()


def packages_after(world: World) -> set[str]:
    return {name.partition(".")[0] for name in modules_after(world, semantic="true")}


# The hooks of the plugin. What they load until they have answered is measured; what follows, nobody waits for.

SQLITE_NEEDS = {"collections", "datetime", "functools", "sqlite3"}

# What the guard needs for a file that is no memory.
GUARD = {
    "recollect.config.locations",
    "recollect.config.project",
    "recollect.domain.quick_json",
    "recollect.domain.text",
    "recollect.hooks.answer",
    "recollect.hooks.run",
    "recollect.hooks.stdin",
    "recollect.hooks.write_guard",
    "recollect.memories.protect",
}


def fields_of(hook: str, world: World) -> dict[str, Any]:
    """An event as most of them are: of a file that is no memory, of a session that says nothing worth remembering."""
    transcript = world.home / "session.jsonl"
    shutil.copyfile(DATA / "transcripts" / "scripted-2.1.325.jsonl", transcript)
    written = {"tool_name": "Write", "tool_input": {"file_path": str(world.project / "src" / "main.py")}}
    return {
        "session_id": "s1",
        "cwd": str(world.project),
        "transcript_path": str(transcript),
        **{
            "session-start": {"source": "startup"},
            "prompt": {"prompt": "why does the queue lose an order when the importer restarts"},
            "stop": {"stop_hook_active": False, "last_assistant_message": "Done."},
            "compacted": {"trigger": "manual", "compact_summary": ""},
            "permit": {"tool_name": "Bash", "tool_input": {"command": "recollect search 'order queue'"}},
            "write-guard": written,
            "write-check": written,
        }[hook],
    }


def modules_of(hook: str, world: World) -> set[str]:
    """All modules that a hook has loaded when it has answered, measured in the process that did it.

    A session's start is measured the second time: the first one in a project looks at what that brings.
    """
    if hook == "session-start":
        world.run_hook(hook, fields_of(hook, world))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", BARE_ENTRY[-1], "hook", hook],
        input=json.dumps(fields_of(hook, world)),
        env={"PATH": os.environ["PATH"], "HOME": str(world.home), "RECOLLECT_HOME": str(world.store)},
        cwd=world.project,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode in ((0, 2) if hook == "stop" else (0,))
    assert not (world.store / "recollect.log").exists(), (world.store / "recollect.log").read_text(encoding="utf-8")
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize("hook", [hook for hook in HOOKS if hook != "prompt"])
def test_a_hook_without_a_store_loads_no_costly_module(world: World, hook: str) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n")
    world.write_local_settings("memory_semantic_enabled: false\n")
    loaded = modules_of(hook, world)
    assert loaded & FORBIDDEN == set()
    assert f"recollect.hooks.{hook.replace('-', '_')}" in loaded


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_with_a_store_loads_what_sqlite_needs_and_no_more(world: World, hook: str) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n", shared=True)
    path = world.write_decision("advisory-locks", title="Advisory locks keep importers apart")
    for old in (*world.store.glob("*.md"), path, *path.parents[:2]):
        os.utime(old, (1_700_000_000, 1_700_000_000))
    assert world.run("search", "importers", RECOLLECT_MEMORY_SEMANTIC_ENABLED="true").returncode == 0
    modules_of(hook, world)  # whoever comes first notes what has been read
    assert modules_of(hook, world) & FORBIDDEN <= (set() if hook == "prompt" else SQLITE_NEEDS)


def test_hot_modules_are_those_that_hooks_load(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n", shared=True)
    (world.project / "locks.py").write_text("changed since then\n", encoding="utf-8")
    world.write_decision(
        "advisory-locks",
        title="Advisory locks keep importers apart when the queue restarts",
        related_files=["locks.py"],
        anchors=[{"file": "locks.py", "hash": "0123456789abcdef", "at": "2026-11-02"}],
    )
    assert world.run("add", "patterns", "The importer is started after the queue.").returncode == 0
    write_invitation(world)
    by_markdown = modules_after(world)
    by_markdown |= {name for hook in HOOKS for name in modules_of(hook, world)}
    world.write_local_settings("memory_semantic_enabled: true\nmemory_embedding_enabled: false\n")
    assert world.run("search", "importers", RECOLLECT_MEMORY_SEMANTIC_ENABLED="true").returncode == 0
    by_store = {name for hook in HOOKS for name in modules_of(hook, world)}
    assert modules_only(by_markdown | by_store) == marked()


def test_modules_that_are_not_hot_are_written_like_others() -> None:
    cold = [path for path in PACKAGE.rglob("*.py") if not path.read_text(encoding="utf-8").startswith("# hot\n")]
    names = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in cold}
    dear = {name for name, text in names.items() if "\nTYPE_CHECKING = False" in text or "__slots__" in text}
    assert dear == set(), "only hot modules do without dataclasses and typing"


def test_the_guard_of_a_file_that_is_no_memory_loads_next_to_nothing(world: World) -> None:
    assert modules_only(modules_of("write-guard", world)) == GUARD
    assert modules_only(modules_of("write-check", world)) == GUARD | {"recollect.hooks.write_check"}


def test_an_event_that_needs_nothing_loads_no_store(world: World) -> None:
    for hook in ("write-guard", "write-check", "stop"):
        assert not any(name.startswith("recollect.store") for name in modules_of(hook, world))
