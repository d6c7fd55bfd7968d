from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import BARE_ENTRY, World

# As the client sends it, but for the paths.
EVENT: dict[str, Any] = {
    "session_id": "b0596af1-a467-4d9d-a783-8c599a6ba37b",
    "transcript_path": "/home/dev/.claude/projects/-home-dev-project/b0596af1-a467-4d9d-a783-8c599a6ba37b.jsonl",
    "cwd": "/home/dev/project",
    "prompt_id": "8792c5a7-9ae4-4543-9f32-4b7d77b6943b",
    "permission_mode": "bypassPermissions",
    "effort": {"level": "medium"},
    "hook_event_name": "PreToolUse",
    "tool_name": "Write",
    "tool_input": {"file_path": "/home/dev/project/a.txt", "content": "x"},
    "tool_use_id": "toolu_ed950dba58dc4605b1de4ff5",
}
MEMORY = ".claude/memory/decisions/use-sqlite.json"


def event(world: World, tool: str = "Write", **tool_input: Any) -> dict[str, Any]:
    return {**EVENT, "cwd": str(world.project), "tool_name": tool, "tool_input": tool_input}


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """The reason of a refusal, in the only form that the client takes for one; empty when the write is allowed."""
    assert (done.returncode, done.stderr) == (0, "")
    if not done.stdout:
        return ""
    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert (answer["hookEventName"], answer["permissionDecision"]) == ("PreToolUse", "deny")
    return answer["permissionDecisionReason"]


def log_of(world: World) -> str:
    path = world.store / "recollect.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("Write", {"file_path": MEMORY, "content": "{}"}),
        ("Edit", {"file_path": MEMORY, "old_string": "a", "new_string": "b"}),
        ("MultiEdit", {"file_path": MEMORY, "edits": []}),
        ("NotebookEdit", {"notebook_path": MEMORY, "new_source": "x"}),
    ],
)
def test_file_tool_is_refused_a_memory_file_and_told_what_to_use(
    world: World, tool: str, tool_input: dict[str, Any]
) -> None:
    assert "`recollect write " in refusal(world.run_hook("write-guard", event(world, tool, **tool_input)))
    assert not (world.project / ".claude").exists()
    assert not world.store.exists()


def test_event_of_a_client_that_says_only_the_path_is_refused(world: World) -> None:
    assert refusal(world.run_hook("write-guard", {"tool_input": {"file_path": str(world.project / MEMORY)}}))


@pytest.mark.parametrize("path", ["src/main.py", "/tmp/.memory-triage-context-decision.txt", ".claude/settings.json"])
def test_other_files_are_allowed_in_silence(world: World, path: str) -> None:
    assert refusal(world.run_hook("write-guard", event(world, file_path=path, content="x"))) == ""
    assert log_of(world) == ""


@pytest.mark.parametrize("tool", ["Write", "Edit"])
def test_draft_is_approved_unless_it_is_switched_off(world: World, tool: str) -> None:
    told = event(world, tool, file_path=f"/tmp/.memory-draft-decision-{world.home.stat().st_ino}.json")
    answer = json.loads(world.run_hook("write-guard", told).stdout)["hookSpecificOutput"]
    assert (answer["hookEventName"], answer["permissionDecision"]) == ("PreToolUse", "allow")
    done = world.run_hook("write-guard", told, RECOLLECT_PERMISSIONS_APPROVE_OWN_STEPS="false")
    assert refusal(done) == ""
    assert log_of(world) == ""


def test_memory_file_by_a_drafts_name_is_refused(world: World, tmp_path: Path) -> None:
    (world.project / ".claude" / "memory" / "decisions").mkdir(parents=True)
    (world.project / MEMORY).write_text("{}", encoding="utf-8")
    draft = tmp_path / ".memory-draft-decision.json"
    draft.hardlink_to(world.project / MEMORY)
    assert refusal(world.run_hook("write-guard", event(world, file_path=str(draft)), TMPDIR=str(tmp_path)))
    draft.unlink()
    draft.symlink_to(world.project / MEMORY)
    assert refusal(world.run_hook("write-guard", event(world, file_path=str(draft)), TMPDIR=str(tmp_path)))


def test_tool_that_only_reads_is_allowed(world: World) -> None:
    assert refusal(world.run_hook("write-guard", event(world, "Read", file_path=MEMORY))) == ""


def test_link_into_the_memory_folder_is_refused(world: World) -> None:
    world.write_decision("use-sqlite")
    (world.project / "short.json").symlink_to(MEMORY)
    assert refusal(world.run_hook("write-guard", event(world, "Edit", file_path="short.json")))


def test_chosen_memory_root_is_refused(world: World) -> None:
    (world.project / ".git").mkdir()
    assert world.run("config", "set", "memory_root", "docs/notes").returncode == 0
    assert refusal(world.run_hook("write-guard", event(world, file_path="docs/notes/decisions/x.json", content="")))
    assert refusal(world.run_hook("write-guard", event(world, file_path="docs/guide.md", content=""))) == ""


def test_settings_and_index_are_refused_with_reasons_of_their_own(world: World) -> None:
    settings = refusal(world.run_hook("write-guard", event(world, file_path=".claude/memory/memory-config.json")))
    index = refusal(world.run_hook("write-guard", event(world, file_path=".claude/memory/index.md")))
    assert "`recollect config set" in settings
    assert "is made from the memory files" in index


def test_database_is_refused_and_a_shared_bank_is_not(world: World) -> None:
    assert "database" in refusal(world.run_hook("write-guard", event(world, file_path=str(world.store / "memory.db"))))
    assert refusal(world.run_hook("write-guard", event(world, file_path=str(world.store / "patterns.md")))) == ""


@pytest.mark.parametrize(
    "stdin",
    [
        "{}",
        '{"tool_input": null}',
        '{"tool_input": "text"}',
        '{"tool_input": []}',
        '{"tool_input": {}}',
        '{"tool_input": {"file_path": ""}}',
        '{"tool_input": {"file_path": 7}}',
        '{"tool_input": {"file_path": [".claude/memory/x.json"]}}',
        '{"tool_input": {"file_path": "a\\u0000b"}}',
        '{"tool_input": {"file_path": "\\ud800"}}',
        '{"cwd": 7, "tool_name": {}, "tool_input": {"file_path": "a"}}',
    ],
)
def test_event_that_says_no_path_is_allowed(world: World, stdin: str) -> None:
    assert refusal(world.run_hook("write-guard", stdin)) == ""


@pytest.mark.parametrize("stdin", ["", "{", "[]", "null", "no JSON", '{"tool_input": {"file_path": "' + "[" * 9999])
def test_what_is_no_event_is_allowed_and_leaves_its_reason_in_the_log(world: World, stdin: str) -> None:
    done = world.run_hook("write-guard", stdin)
    assert (done.returncode, done.stdout) == (0, "")
    reason = "write-guard: ValueError: standard input holds no JSON object"
    assert reason in log_of(world)
    assert done.stderr.startswith(f"recollect {reason}")


def test_event_without_a_folder_is_judged_from_the_one_it_is_served_in(world: World) -> None:
    told = event(world, file_path=MEMORY)
    del told["cwd"]
    assert refusal(world.run_hook("write-guard", told))


def test_content_of_fifty_megabytes_does_not_hide_the_path(world: World) -> None:
    content = "x" * (50 * 1024 * 1024)
    assert refusal(world.run_hook("write-guard", event(world, file_path=MEMORY, content=content)))
    assert refusal(world.run_hook("write-guard", event(world, file_path="big.txt", content=content))) == ""


def test_refusal_is_one_line_of_json_whatever_the_path_holds(world: World) -> None:
    path = '.claude/memory/decisions/"quoted"\n\\ naïve 日本 \u202e\x07.json'
    done = world.run_hook("write-guard", event(world, file_path=path))
    assert refusal(done)
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("hook", ["write-guard", "write-check"])
def test_free_path_costs_no_module_beyond_the_few_that_are_needed(world: World, hook: str) -> None:
    (world.project / ".git").mkdir()
    settings = world.project / ".claude" / "memory" / "memory-config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"memory_root": ".claude/memory", "retrieval": {"max_inject": 3}}', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", BARE_ENTRY[-1], "hook", hook],
        input=json.dumps(event(world, file_path="src/main.py", content="x")),
        env={"HOME": str(world.home), "RECOLLECT_HOME": str(world.store)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    own = {name for name in loaded if name.startswith("recollect.")}
    assert own - {"recollect.config", "recollect.domain", "recollect.hooks", "recollect.memories"} == {
        "recollect.domain.quick_json",
        "recollect.domain.text",
        "recollect.hooks.answer",
        "recollect.hooks.run",
        "recollect.hooks.stdin",
        "recollect.hooks.write_guard",
        *(["recollect.hooks.write_check"] if hook == "write-check" else []),
        "recollect.config.locations",
        "recollect.config.project",
        "recollect.memories.protect",
    }
    assert (
        loaded & {"re", "json", "typing", "pathlib", "tempfile", "shutil", "collections", "functools", "enum"} == set()
    )
