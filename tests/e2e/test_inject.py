"""Injection as a process: the command that people type, and the bare entry that hooks run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from tests.conftest import BARE_ENTRY, RECOLLECT, World

from recollect.domain.start_block import CLOSING, OPENING
from recollect.files.log import NAME as LOG

ONE = "### Pattern: One\nThe one lesson.\n- Used in: Feature #001\n"


def test_block_has_the_stated_format(world: World) -> None:
    world.trust_in_client()
    world.write_bank("anti-patterns", "### Anti-Pattern: A\nDo not.\n- Cost: Much\n")
    world.write_bank("heuristics", "### Plain name\nRule of thumb.\n- Source: Feature #018\n")
    world.write_bank("patterns", ONE, shared=True)
    expected = f"""{OPENING}## Engineering Memory (from knowledge bank)

*Memory: 3 entries (2 local, 1 global) | semantic: disabled*

### Anti-Patterns to Avoid
### Anti-Pattern: A [repository]
Do not.
- Cost: Much

### Heuristics
### Plain name [repository]
Rule of thumb.
- Source: Feature #018

### Patterns to Follow
### Pattern: One
The one lesson.
- Used in: Feature #001

---
{CLOSING}"""
    assert world.run("inject").stdout == expected
    assert world.run_bare("--event", "startup").stdout == expected


def test_command_and_bare_entry_print_the_same_for_a_large_bank(world: World, bank_text: Callable[..., str]) -> None:
    world.write_bank("patterns", bank_text("Pattern", 60, Benefit="x" * 300))
    world.write_bank("heuristics", bank_text("Heuristic", 60, Confidence="high"), shared=True)
    command, bare = world.run("inject", "--limit", "-1").stdout, world.run_bare("--limit=-1").stdout
    assert command == bare
    assert len(bare) < 9_500
    assert " dropped to stay below 9,500 characters*" in bare


def test_json_holds_the_block_its_entries_and_the_reason(world: World) -> None:
    empty = json.loads(world.run("inject", "--json").stdout)
    assert empty["block"] == ""
    assert empty["reason"].startswith("no entries in ")
    world.write_bank("patterns", ONE)
    full = json.loads(world.run("inject", "--json").stdout)
    assert full["block"].startswith(f"{OPENING}## Engineering Memory")
    assert [(entry["name"], entry["origin"]) for entry in full["entries"]] == [("One", "local")]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--limit", "many"),
        ("--limit",),
        ("--nonsense", "x"),
        ("--project-root", "/nonexistent/\udcff"),
        ("--event", "no-such-event"),
        ("--project-root", "\n"),
    ],
)
def test_bare_entry_exits_0_whatever_its_arguments(world: World, arguments: tuple[str, ...]) -> None:
    world.write_bank("patterns", ONE)
    assert world.run_bare(*arguments).returncode == 0


def test_bare_entry_uses_the_setting_when_its_limit_is_no_number_and_logs_why(world: World) -> None:
    world.write_bank("patterns", ONE)
    done = world.run_bare("--limit", "many")
    assert "### Pattern: One" in done.stdout
    assert "--limit must be a whole number from -1, not 'many'" in (world.store / LOG).read_text(encoding="utf-8")


@pytest.mark.parametrize(("option", "value"), [("--event", "birthday"), ("--limit", "-5"), ("--bogus", "x")])
def test_bare_entry_logs_each_argument_that_it_cannot_use(world: World, option: str, value: str) -> None:
    world.write_bank("patterns", ONE)
    done = world.run_bare(option, value)
    assert done.returncode == 0
    assert (value if option != "--bogus" else option) in (world.store / LOG).read_text(encoding="utf-8")


def test_entries_that_are_all_too_long_leave_a_reason_in_the_log(world: World) -> None:
    world.write_bank("patterns", f"### Pattern: Long\n{'long ' * 3000}\n")
    done = world.run_bare()
    assert (done.returncode, done.stdout) == (0, "")
    assert "too long to inject" in (world.store / LOG).read_text(encoding="utf-8")


def test_bare_entry_survives_a_folder_that_is_gone(world: World) -> None:
    script = "import os, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]); os.execv(sys.executable, sys.argv[2:])"
    gone = world.home / "gone"
    gone.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", script, str(gone), *BARE_ENTRY, "inject", "--global-store", str(world.store)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout == ""
    assert "nothing was injected: FileNotFoundError" in (world.store / LOG).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--limit", "-2"], "-2 is not in the range"),
        (["--limit", "many"], "'many' is not a valid integer range"),
        (["--nonsense"], "--nonsense"),
        (["more"], "unexpected extra argument"),
        (["--project-root", "/no/such/folder"], "there is no folder"),
    ],
)
def test_inject_says_what_is_wrong_with_its_arguments_and_exits_1(
    world: World, arguments: list[str], reason: str
) -> None:
    done = world.run("inject", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert reason in done.stderr


def test_unknown_file_in_the_bank_is_warned_about_and_constitution_is_not(world: World) -> None:
    world.write_bank("patterns", ONE)
    for name in ("constitution.md", "notes.md"):
        (world.project / "docs" / "knowledge-bank" / name).write_text("### Pattern: No\nNo.\n", encoding="utf-8")
    for done in (world.run("inject"), world.run_bare()):
        assert done.stderr.count("Warning: ") == 1
        assert "notes.md is not a knowledge-bank file; skipped" in done.stderr
        assert "Pattern: No" not in done.stdout


def test_wrong_settings_never_stop_an_injection(world: World) -> None:
    world.write_bank("patterns", ONE)
    world.write_local_settings("memory_injection_limit: lots\nmemory_injektion_enabled: false\n")
    (world.project / ".claude" / "memory").mkdir()
    (world.project / ".claude" / "memory" / "memory-config.json").write_text("{broken", encoding="utf-8")
    command, bare = world.run("inject"), world.run_bare()
    assert command.returncode == bare.returncode == 0
    assert "### Pattern: One" in command.stdout == bare.stdout
    assert "memory_injektion_enabled is not a setting; did you mean memory_injection_enabled?" in command.stderr
    assert "memory_injection_limit must be a whole number from -1 to 100000, not 'lots'" in command.stderr
    assert "not valid JSON" in command.stderr
    logged = (world.store / LOG).read_text(encoding="utf-8")
    assert all(word in logged for word in ("memory_injection_limit", "memory_injektion_enabled", "not valid JSON"))


def test_read_only_store_costs_a_warning_not_the_block(world: World) -> None:
    world.write_bank("patterns", ONE)
    world.store.write_text("a file where the folder should be", encoding="utf-8")
    for done in (world.run("inject"), world.run_bare()):
        assert done.returncode == 0
        assert "### Pattern: One" in done.stdout
        assert ".last-injection.json: " in done.stderr


def test_block_is_utf8_whatever_the_locale(world: World) -> None:
    world.write_bank("patterns", "### Pattern: Größe 🎯\nPrüfe zuerst.\n")
    for done in (world.run("inject", LANG="C", LC_ALL="C"), world.run_bare(LC_ALL="C")):
        assert "### Pattern: Größe 🎯 [repository]\n> Prüfe zuerst." in done.stdout


def test_bytes_that_are_not_utf8_do_not_hide_the_entry(world: World) -> None:
    path = world.write_bank("patterns", "")
    path.write_bytes(b"### Pattern: Caf\xe9\nLesson \xff here.\n")
    for done in (world.run("inject"), world.run_bare()):
        assert "### Pattern: Caf? [repository]\n> Lesson ? here." in done.stdout


@pytest.mark.parametrize("count", [1, 60])
def test_a_closed_pipe_is_no_failure(world: World, bank_text: Callable[..., str], count: int) -> None:
    world.write_bank("patterns", bank_text("Pattern", count, Benefit="x" * 300))
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*BARE_ENTRY, "inject", "--project-root", str(world.project), "--global-store", str(world.store)],
        stdout=writer,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    os.close(writer)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_worktrees_of_a_repository_are_one_project(world: World) -> None:
    git = ["git", "-C", str(world.project), "-c", "user.name=A", "-c", "user.email=a@example.com"]
    world.write_bank("patterns", ONE)
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    worktree = world.home / "elsewhere"
    subprocess.run([*git, "worktree", "add", "-q", str(worktree)], check=True)
    world.run_bare("--project-root", str(worktree))
    record = json.loads((world.store / ".last-injection.json").read_text(encoding="utf-8"))
    assert record["project"] == "shop-front"


def test_printed_hooks_give_a_session_its_block_on_the_configured_events(world: World) -> None:
    world.write_bank("patterns", ONE)
    world.write_local_settings("memory_injection_events: startup, compact\n")
    given: dict[str, bool] = {}
    for handler in json.loads(world.run("inject", "--print-hook").stdout)["hooks"]["SessionStart"]:
        (hook,) = handler["hooks"]
        done = subprocess.run(
            [hook["command"], *hook["args"]],
            cwd=world.project,
            env={"HOME": str(world.home), "RECOLLECT_HOME": str(world.store)},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        given[handler["matcher"]] = "### Pattern: One" in done.stdout
    assert given == {"startup": True, "resume": False, "clear": False, "compact": True}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [("inject",), ("config",), ("promote", "--dry-run")])
def test_a_full_disk_behind_standard_output_is_one_line_and_exit_1(world: World, arguments: tuple[str, ...]) -> None:
    world.write_bank("patterns", ONE)
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [RECOLLECT, *arguments],
            cwd=world.project,
            env={"HOME": str(world.home), "RECOLLECT_HOME": str(world.store)},
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1


def test_an_empty_home_is_the_user_s_own_and_a_relative_store_is_below_it(world: World) -> None:
    code = "import os; from recollect.config import locations; print(locations.global_store())"
    command = [sys.executable, "-c", code]
    shown = {}
    for name, place in {"": "", "relative/x": "relative/x"}.items():
        environment = {"HOME": "" if not name else str(world.home), "RECOLLECT_HOME": place}
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=True)
        shown[name] = done.stdout.strip()
    assert shown["relative/x"] == str(world.home / "relative" / "x")
    assert shown[""].endswith("/.claude/iflow/memory")
    assert shown[""] != "/.claude/iflow/memory"


@pytest.mark.parametrize("home", ["~", "relative/home"])
def test_a_home_that_is_none_never_leaves_a_store_in_the_project(home: str) -> None:
    code = "from recollect.config import locations; print(locations.global_store())"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"HOME": home}, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout == "/.claude/iflow/memory\n"
