"""Text of others on its way to a terminal, and to whatever a command's output is piped into."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest
from tests import forks
from tests.conftest import World, days_ago, read_terminal

# An operating system command, a cleared screen, a hidden text, C1 codes, text turned round, and what nobody sees.
HOSTILE = (
    "\x1b]0;owned\x07 \x1b[2J\x1b[8m \x9b2J \x90q\x9c \x08\x08\x0b\x0c \x7f \u202e\u2066\u200b\u200d\u2060\ufeff\u2028"
    "\x85\ufe0f\U000e0041 \x1b[31mred"
)
SLUG = "advisory-locks"
OUR_COLOURS = re.compile(rb"\x1b\[(?:0|3[0-7]|9[0-7])m")
OUR_PROGRESS = re.compile(rb"\r\x1b\[K")


def hostile_world(world: World) -> World:
    """Put hostile text into everything that commands print from."""
    folder = f"docs/a{HOSTILE}".replace("\x0b", "").replace("/", "_")
    (world.project / folder).mkdir(parents=True)
    bank = (
        f"### Pattern: Locks {HOSTILE}\nImporters need locks. {HOSTILE}\n- Source: {HOSTILE}\n- Keywords: {HOSTILE}\n"
    )
    world.write_bank("patterns", bank)
    world.write_bank("heuristics", bank.replace("Pattern", "Heuristic").replace("need", "want"), shared=True)
    world.write_decision(
        SLUG,
        title=f"Advisory locks {HOSTILE}",
        tags=["locks", f"t{HOSTILE}"],
        related_files=[f"gone{HOSTILE}"],
        confidence=0.5,
        content={"status": "accepted", "context": HOSTILE, "decision": f"locks {HOSTILE}", "rationale": [HOSTILE]},
        changes=[
            {"date": days_ago(1), "summary": HOSTILE, "field": HOSTILE, "old_value": HOSTILE, "new_value": HOSTILE}
        ],
    )
    world.write_decision(f"broken-{1}", category=HOSTILE, times_updated=9, extra=HOSTILE)
    odd = world.project / ".claude" / "memory" / "decisions" / f"odd{HOSTILE.replace('/', '')}.json"
    odd.write_text(HOSTILE, encoding="utf-8")
    settings = world.project / ".claude" / "memory" / "memory-config.json"
    settings.write_text(json.dumps({f"key{HOSTILE}": 1, "retrieval": {"max_inject": HOSTILE}}), encoding="utf-8")
    world.write_local_settings(f"memory_injection_limit: {HOSTILE}\nunknown{HOSTILE}: 1\n")
    world.store.mkdir(exist_ok=True)
    capture = {"name": f"Sleep {HOSTILE}", "description": f"Locks {HOSTILE}", "category": "patterns", "at": days_ago(1)}
    (world.store / "session-captures.jsonl").write_text(
        json.dumps(capture) + "\n" + json.dumps({"name": HOSTILE, "category": HOSTILE}) + f"\n{HOSTILE}\n",
        encoding="utf-8",
    )
    (world.store / "recollect.log").write_text(f"{days_ago(0)} prompt: failed {HOSTILE}\n", encoding="utf-8")
    return world


COMMANDS = [
    ("search", "locks", "--explain"),
    ("search", "locks", "--json"),
    ("search", f"nothing {HOSTILE}".replace("\x00", "")),
    ("show", SLUG, "--history"),
    ("show", SLUG, "--json"),
    ("show", f"no-such{HOSTILE}"),
    ("list",),
    ("list", "--state", "all", "--json"),
    ("status",),
    ("status", "--json"),
    ("config",),
    ("config", "--json"),
    ("config", "get", f"key{HOSTILE}"),
    ("doctor",),
    ("index", "--health"),
    ("index", "--validate"),
    ("index", "--query", "locks"),
    ("index", "--gc", "--dry-run"),
    ("index", "--rebuild"),
    ("review", "list"),
    ("promote", "--dry-run"),
    ("promote", "--dry-run", "--json"),
    ("export",),
    ("export", "--format", "markdown"),
    ("inject",),
    ("inject", "--json"),
    ("rebuild",),
    ("candidate", "--category", "decision", "--new-info", f"locks {HOSTILE}"),
    ("retire", SLUG, "--reason", HOSTILE),
    ("upsert", "--entry-json", json.dumps({"name": HOSTILE, "description": f"d {HOSTILE}", "category": HOSTILE})),
    ("write", "--action", "create", "--category", "decision", "--input", f"/tmp/{HOSTILE.replace('/', '')}"),
    (f"no{HOSTILE}",),
    ("list", f"--no{HOSTILE}"),
    ("search", "x", "--project", f"p{HOSTILE}"),
    ("list", "--project-root", f"/nowhere{HOSTILE}"),
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(arguments[:2])[:20].encode().hex()[:12])
def test_no_command_prints_a_control_code_of_others(world: World, arguments: tuple[str, ...]) -> None:
    hostile_world(world)
    environment = world.environment(
        {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true", "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
    )
    shown = on_a_terminal(arguments, world.project, environment)
    assert_harmless(OUR_PROGRESS.sub(b"", OUR_COLOURS.sub(b"", shown.replace(b"\r\n", b"\n"))))
    with forks.Fork(
        arguments, cwd=world.project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        piped, errors = process.communicate()
    assert_harmless(piped)
    assert_harmless(errors)
    assert b"Traceback" not in shown + errors
    if "--json" in arguments:
        json.loads(piped)


def on_a_terminal(arguments: tuple[str, ...], folder: Path, environment: dict[str, str]) -> bytes:
    ours, theirs = pty.openpty()
    process = forks.Fork(arguments, cwd=folder, env=environment, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = read_terminal(ours)
    process.wait()
    return shown


def assert_harmless(data: bytes) -> None:
    text = data.decode("utf-8")
    unseen = set(HOSTILE) - set("]0;owned[2J8mq31red ")
    assert not set(text) & unseen, ascii(text)
    assert not any(ord(char) < 32 and char not in "\n\t" for char in text)
    assert not any(0x7F <= ord(char) < 0xA0 for char in text)


def test_a_colour_of_a_file_is_not_a_colour_of_ours(world: World) -> None:
    world.write_decision(SLUG, title="Advisory \x1b[32mlocks\x1b[0m")
    shown = world.on_a_terminal("list")
    assert b"Advisory [32mlocks[0m" in shown
    assert b"\x1b[32m" + SLUG.encode() in shown
    assert b"\x1b" not in world.on_a_terminal("list", NO_COLOR="1")


def test_a_file_that_is_asked_for_raw_is_shown_without_codes_on_a_terminal(world: World) -> None:
    path = world.write_decision(SLUG)
    path.write_text(path.read_text(encoding="utf-8").replace("storage", "\u202e\x9b\x7f"), encoding="utf-8")
    assert not set(world.on_a_terminal("show", SLUG, "--raw").decode()) & set("\u202e\x9b\x7f")
    assert world.run("show", SLUG, "--raw").stdout == path.read_text(encoding="utf-8")
