"""Single faults: a full or read-only disk, a clock that goes back, damaged files, two versions at once."""

from __future__ import annotations

import json
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.faults.injector import FAULTS, QUICK_DOCTOR, Outcome
from tests.faults.invariants import check_database
from tests.faults.scenes import EXPORT, LESSON, OLD_LESSON, SCENES, Scene, Stage, entry, hook

from recollect.resident import client as resident
from recollect.version import VERSION

_YEAR = 365 * 86_400.0
_PLAIN = Scene("plain", ("status",))
_START = hook("SessionStart", source="startup")
_PROMPT = hook("UserPromptSubmit", prompt="should the refresh token be in a cookie?")
_OLD = OLD_LESSON["description"]


@pytest.fixture
def world(stage: Stage) -> Stage:
    """The stage with a world in which nothing is wrong."""
    stage.reset(_PLAIN)
    stage.run(("search", "anything"))  # the store has read all there is
    return stage


def findings(world: Stage, **fault: str | int | float) -> dict[str, str]:
    """Return what the doctor finds wrong: the sentences by their subjects."""
    done = world.run((QUICK_DOCTOR, "--json"), **fault)  # type: ignore[arg-type]
    assert "Traceback" not in done.stderr
    report = json.loads(done.stdout)
    assert done.code == (0 if report["healthy"] else 1)
    wrong = [each for each in report["findings"] if each["level"] != "ok"]
    return {each["subject"]: f"{each['sentence']} {each['fix']}" for each in wrong}


def texts(world: Stage) -> set[str]:
    """Return the texts of all lessons that are there, by a plain command."""
    done = world.run(EXPORT)
    assert done.code == 0
    return {each.get("description", "") for each in map(json.loads, done.stdout.splitlines())}


def told(done: Outcome, *parts: str) -> None:
    assert "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stdout + done.stderr, (part, done)


def halve(path: Path) -> bytes:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    return path.read_bytes()


def test_nothing_is_found_where_nothing_is_wrong(world: Stage) -> None:
    assert findings(world) == {}


# The disk


@pytest.mark.parametrize(
    ("fault", "reason"), [("full", "No space left on device"), ("readonly", "Read-only file system")]
)
def test_a_disk_that_takes_nothing_still_gives_what_it_has(world: Stage, fault: str, reason: str) -> None:
    told(world.run(("search", "handle left open"), fault=fault, at=1), _OLD)
    told(world.run(("show", "refresh-token-cookie"), fault=fault, at=1), "Refresh token in an httpOnly cookie")
    told(world.run(("inject",), fault=fault, at=1), _OLD)
    told(world.run(("hook", "session-start"), _START, fault=fault, at=1), _OLD)
    told(world.run(("hook", "prompt"), _PROMPT, fault=fault, at=1), "Refresh token in an httpOnly cookie")
    refused = world.run(entry(LESSON), fault=fault, at=1)
    assert refused.code != 0
    told(refused, reason)
    assert LESSON["description"] not in texts(world)
    assert world.run(entry(LESSON)).code == 0
    assert LESSON["description"] in texts(world)


@pytest.mark.parametrize(
    ("fault", "reason"), [("full", "No space left on device"), ("readonly", "Read-only file system")]
)
def test_the_doctor_names_a_disk_that_takes_nothing(world: Stage, fault: str, reason: str) -> None:
    done = world.run(("doctor",), fault=fault, at=1)
    assert done.code == 1
    told(done, reason)


@pytest.mark.attack
def test_a_renaming_that_meets_a_fault_leaves_one_whole_memory(world: Stage) -> None:
    scene = next(scene for scene in SCENES if scene.name == "write update")
    record = {**json.loads(scene.stdin), "title": "Sessions end at midnight everywhere"}
    folder = world.world.project / ".claude" / "memory" / "decisions"
    names = ("refresh-token-cookie.json", "sessions-end-at-midnight-everywhere.json")
    operations = world.run(scene.arguments, json.dumps(record)).operations
    of_files = [number for number, each in enumerate(operations, 1) if "/store/" not in each.path]
    for fault in FAULTS:
        for at in of_files:
            world.reset(_PLAIN)
            done = world.run(scene.arguments, json.dumps(record), fault=fault, at=at)
            there = [name for name in names if (folder / name).exists()]
            assert len(there) == 1, (fault, at, operations[at - 1], there)
            found = json.loads((folder / there[0]).read_text(encoding="utf-8"))
            assert found["title"] in ("Refresh token in an httpOnly cookie", record["title"])
            if done.code == 0:
                assert (there[0], found["title"]) == (names[1], record["title"])
            if fault in ("full", "io"):  # whoever is told that it failed finds it by the name that it has
                assert found["title"] == record["title"] or there[0] == names[0], (fault, at, operations[at - 1])


# The clock


def test_a_clock_that_goes_back_a_year_loses_nothing(world: Stage) -> None:
    assert world.run(entry(LESSON)).code == 0
    assert world.run(("retire", "refresh-token-cookie")).code == 0
    gone = world.run(("index", "--gc", "--json"), clock=-_YEAR)
    assert (gone.code, json.loads(gone.stdout)["outcomes"]) == (0, [])
    assert world.run(("restore", "refresh-token-cookie"), clock=-_YEAR).code == 0
    later = {**LESSON, "name": "Later", "description": "What was learned after the clock went back."}
    for command in (entry(later), ("promote",), ("index", "--rebuild"), ("status",)):
        done = world.run(command, clock=-_YEAR)
        assert (done.code, done.waited) == (0, False), done
        assert "-1 " not in done.stdout
    assert "Clock" in findings(world, clock=-_YEAR)
    assert {_OLD, LESSON["description"], later["description"]} <= texts(world)
    told(world.run(("show", "refresh-token-cookie")), "active")
    assert findings(world) == {}


def test_hooks_work_while_the_clock_is_a_year_behind(world: Stage) -> None:
    world.run(("hook", "session-start"), _START)
    told(world.run(("hook", "session-start"), hook("SessionStart", "another", source="startup"), clock=-_YEAR), _OLD)
    stop = hook("Stop", stop_hook_active=False, last_assistant_message="Done.")
    told(world.run(("hook", "stop"), stop), "recollect asks once")
    flag = world.world.project / ".claude" / ".stop_hook_active"
    assert flag.exists()
    assert world.run(("hook", "stop"), stop, clock=-_YEAR).code == 0  # and does not wait for a year
    assert world.run(("hook", "prompt"), _PROMPT, clock=-_YEAR).code == 0


# The store


def test_a_corrupt_database_is_named_and_loses_nothing(world: Stage) -> None:
    path = world.world.store / "memory.db"
    path.write_bytes(b"\xff" * 4096 + path.read_bytes()[4096:])
    assert "recollect rebuild" in findings(world)["Database"]
    told(world.run(("search", "handle")), "recollect rebuild")
    stored = world.run(entry(LESSON))
    told(stored, "session-captures.jsonl")
    told(world.run(("hook", "session-start"), _START), "Say what failed")
    assert world.run(("rebuild",)).code == 0
    told(world.run(("search", "jitter")), LESSON["description"])
    assert _OLD in texts(world)
    assert findings(world).keys() <= {"Hooks"}
    check_database(world.world)


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-40], lambda data: data + b"\0" * 512, lambda data: data[:-40] + b"\0" * 40],
    ids=["cut in a line", "zeros at the end", "zeros in the last line"],
)
def test_a_journal_with_a_damaged_end_is_named_and_goes_on(world: Stage, damage: Callable[[bytes], bytes]) -> None:
    path = world.world.store / "session-captures.jsonl"
    path.write_bytes(damage(path.read_bytes()))
    assert "no whole line" in findings(world)["Journal"]
    assert world.run(entry(LESSON)).code == 0
    assert {_OLD, LESSON["description"]} <= texts(world)
    assert "cannot be used" in findings(world)["Journal"]


def test_a_journal_that_has_lost_its_lines_is_named(world: Stage) -> None:
    path = world.world.store / "session-captures.jsonl"
    path.write_bytes(b"")
    assert "has lost" in findings(world)["Files"]
    assert world.run(("backup", "restore", "{home}/backup.tar.gz", "--overwrite")).code == 0
    assert _OLD in texts(world)


def test_a_journal_that_has_lost_its_lines_is_told_by_the_command_that_finds_out(world: Stage) -> None:
    (world.world.store / "session-captures.jsonl").write_bytes(b"")
    told(world.run(("search", "handle")), "has lost", "recollect backup restore")


# Half-written JSON


def test_half_a_memory_is_named_and_the_others_are_there(world: Stage) -> None:
    path = world.world.project / ".claude" / "memory" / "decisions" / "refresh-token-cookie.json"
    half = halve(path)
    assert path.name in findings(world)["Files"]
    for command in (("list",), ("status",), ("index", "--rebuild")):
        done = world.run(command)
        assert done.code == 0
        told(done, path.name)
    told(world.run(("search", "handle left open")), _OLD)
    assert world.run(("hook", "session-start"), _START).code == 0
    assert path.read_bytes() == half


def test_half_a_settings_file_is_named_and_not_written_over(world: Stage) -> None:
    path = world.world.project / ".claude" / "memory" / "memory-config.json"
    half = halve(path)
    assert "memory-config.json" in findings(world)["Settings"]
    refused = world.run(("config", "set", "delete.grace_period_days", "5"))
    assert refused.code == 1
    told(refused, "memory-config.json", "mend it first")
    assert world.run(entry(LESSON)).code == 0
    assert path.read_bytes() == half


@pytest.mark.parametrize("name", [".last-injection.json", ".promoted.json"])
def test_half_a_record_is_named_and_made_again(world: Stage, name: str) -> None:
    commands = (("promote",), ()), (("hook", "session-start"), (_START,))
    for command, given in commands:
        world.run(command, *given)
    halve(world.world.store / name)
    assert name in findings(world)["Records"]
    for command, given in commands:
        assert world.run(command, *given).code == 0
    assert findings(world) == {}


def test_half_the_configuration_of_a_client_is_named_and_left_alone(world: Stage) -> None:
    path = world.world.project / ".cursor" / "mcp.json"
    half = halve(path)
    refused = world.run(("init", "--client", "cursor"))
    assert refused.code == 1
    told(refused, str(path), "was not changed")
    assert world.run(("uninstall", "--yes")).code == 0
    assert path.read_bytes() == half


# Two versions


def test_a_store_of_a_newer_version_is_named_and_left_as_it_is(world: Stage) -> None:
    path = world.world.store / "memory.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO _migrations SELECT max(version) + 1, 'of_the_future', '' FROM _migrations")
        connection.commit()
    before = path.read_bytes()
    assert "newer version" in findings(world)["Database"]
    for command in (("search", "handle"), ("rebuild",), ("status",)):
        told(world.run(command), "newer version", "upgrade")
    stored = world.run(entry(LESSON))
    told(stored, "session-captures.jsonl", "newer version")
    told(world.run(("hook", "session-start"), _START), "Say what failed")
    told(world.run(("hook", "prompt"), _PROMPT), "Refresh token in an httpOnly cookie")
    assert path.read_bytes() == before
    with closing(sqlite3.connect(path)) as connection:  # by the newer version, say
        connection.execute("DELETE FROM _migrations WHERE name = 'of_the_future'")
        connection.commit()
    assert {_OLD, LESSON["description"]} <= texts(world)


def test_the_engine_of_an_older_version_is_named_and_not_asked(
    world: Stage, tmp_path_factory: pytest.TempPathFactory
) -> None:
    runtime = tmp_path_factory.mktemp("run")
    variables = {"XDG_RUNTIME_DIR": str(runtime)}
    (ours,) = (Path(each).name for each in list(resident.folders(str(world.world.store)))[-1:])
    folder = runtime / "recollect" / ours.replace(VERSION, "0.0.1")
    folder.mkdir(parents=True, mode=0o700)
    (runtime / "recollect").chmod(0o700)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(resident.socket_in(str(folder)))
        Path(resident.socket_in(str(folder))).chmod(0o600)
        other.listen()
        report = json.loads(world.run((QUICK_DOCTOR, "--json"), variables=variables).stdout)
        assert any("version 0.0.1 is running" in each["sentence"] for each in report["findings"])
        told(world.run(("hook", "prompt"), _PROMPT, variables=variables), "Refresh token in an httpOnly cookie")
        assert world.run(entry(LESSON), variables=variables).code == 0
        other.settimeout(0.0)
        asked = 0
        while True:
            try:
                connection, _ = other.accept()
            except BlockingIOError:
                break
            asked += bool(_said(connection))
    assert asked == 0
    assert LESSON["description"] in texts(world)


def _said(connection: socket.socket) -> bytes:
    """Return what somebody has asked; the doctor only looks whether anybody listens."""
    with connection:
        connection.settimeout(0.0)
        try:
            return connection.recv(1)
        except BlockingIOError:
            return b""
