"""Memory files are recollect's to write: what becomes of a model that tries."""

from __future__ import annotations

import pytest
from tests.e2e.claude.api import calls
from tests.e2e.claude.client import Client

_MODES = {
    "accepted": ["--permission-mode", "acceptEdits"],
    "skipped": ["--dangerously-skip-permissions"],
}


@pytest.mark.oldest
@pytest.mark.parametrize("permissions", _MODES)
def test_file_tools_are_refused_memory_files(client: Client, permissions: str) -> None:
    kept = client.world.write_decision("kept", title="Kept as it is")
    before = kept.read_bytes()
    new = client.project / ".claude" / "memory" / "decisions" / "x.json"
    notes = client.project / "notes.txt"

    run = client.ask(
        "Remember this.",
        script=[
            calls("Write", file_path=str(new), content="{}"),
            calls("Read", file_path=str(kept)),
            calls("Edit", file_path=str(kept), old_string="Kept as it is", new_string="Changed"),
            calls("Write", file_path=str(notes), content="Fine.\n"),
        ],
        options=_MODES[permissions],
    )

    write, read, edit, other = run.requests[-1].tool_results
    assert write["is_error"]
    assert edit["is_error"]
    for refusal in (write, edit):
        assert "recollect write" in refusal["text"]
    assert not read["is_error"]
    assert not new.exists()
    assert kept.read_bytes() == before
    assert not other["is_error"]
    assert notes.read_text(encoding="utf-8") == "Fine.\n"


def test_subagent_is_refused_memory_files_too(client: Client) -> None:
    new = client.project / ".claude" / "memory" / "decisions" / "x.json"

    run = client.ask(
        "Have it remembered.",
        script=[
            calls(
                "Agent",
                description="Remember",
                prompt="Remember it.",
                subagent_type="general-purpose",
                run_in_background=False,
            ),
            calls("Write", file_path=str(new), content="{}"),
        ],
        options=["--dangerously-skip-permissions"],
    )

    [refusal] = run.request_for("recollect write").tool_results
    assert refusal["is_error"]
    assert not new.exists()


def test_shell_that_changes_a_memory_file_goes_unhindered(client: Client) -> None:
    kept = client.world.write_decision("kept", title="Kept as it is")

    run = client.ask(
        "Change it.",
        script=[calls("Bash", command="sed -i 's/Kept as it is/Changed/' .claude/memory/decisions/kept.json")],
        options=["--dangerously-skip-permissions"],
    )

    [result] = run.requests[-1].tool_results
    assert not result["is_error"]
    assert "Changed" in kept.read_text(encoding="utf-8")
    assert run.requests[-1].context_of("PostToolUse:Bash") == []
