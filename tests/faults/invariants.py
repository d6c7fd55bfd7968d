"""What has to hold after any fault, whatever the command was."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import World
from tests.faults.injector import QUICK_DOCTOR, Outcome
from tests.faults.scenes import Scene, Stage

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d(\.\d+)?Z?)?|\b\d{10}(\.\d+)?\b")
_UNFINISHED = re.compile(r"\..*\.tmp|.*-journal|\.index\.lockdir|recollect-.*")
# Files that are only ever added to, or that tell of runs and not of memories, and the database.
_OF_RUNS = re.compile(
    r"recollect\.log.*|\.hook-times.*|\.told|\.looked|\.last-injection\.json|\.stop_hook_active|memory\.db.*"
    r"|session-captures\.jsonl|\.trusted|\.written|.*\.tar\.gz"
)
_COUNTED = (
    "observation_count",
    "recall_count",
    "last_recalled_at",
    "last_observed",
    "updated_at",
    "observed_at",
    "times",
)
_SAFE = "is safe in"

Entries = dict[str, str]
Files = dict[str, str]


@dataclass(frozen=True)
class Reference:
    """A scene that nothing disturbs: how it ends, and what is there before and after it."""

    outcome: Outcome
    files: tuple[Files, Files]
    entries: tuple[Entries, Entries]


def reference(stage: Stage, scene: Scene) -> Reference:
    stage.reset(scene)
    before = files_of(stage.world), entries_of(stage, scene)
    stage.reset(scene)
    outcome = stage.play(scene)
    assert "Traceback" not in outcome.stderr
    after = files_of(stage.world), entries_of(stage, scene)
    assert unfinished(stage.world) == []
    return Reference(outcome, (before[0], after[0]), (before[1], after[1]))


def check(stage: Stage, scene: Scene, known: Reference, fault: str, at: int, *, by_doctor: bool = False) -> None:
    """Play a scene that meets a fault, and look at what is there then, and after the same command once more."""
    stage.reset(scene)
    outcome = stage.play(scene, fault, at)
    check_saying(scene, known, outcome, fault)
    check_files(stage.world, scene, known)
    check_journal(stage.world, most_torn=int(fault == "torn"))
    if by_doctor:
        check_doctor(stage)
    acknowledged = is_acknowledged(scene, known, outcome)
    entries = entries_of(stage, scene)
    check_entries(entries, known, acknowledged)
    age(unfinished(stage.world))
    again = stage.play(scene)
    assert "Traceback" not in again.stderr, again.stderr
    assert not again.waited or scene.arguments[0] == "mcp", "it has waited for something that nobody holds"
    settled = entries_of(stage, scene)
    is_done = entries == known.entries[1]
    assert again.code == known.outcome.code or is_done, (again.code, again.stderr)
    if is_done or scene.counts_again:  # doing it again may have counted it again
        assert settled.keys() == known.entries[1].keys()
    else:
        assert settled == known.entries[1], differences(settled, known.entries[1])
    if unfinished(stage.world):  # where the same command has nothing to write, the next one that writes tidies up
        assert stage.run(("index", "--rebuild")).code == 0
    assert unfinished(stage.world) == [], f"left behind: {unfinished(stage.world)}"
    check_database(stage.world)
    if by_doctor:
        check_doctor(stage)


def check_saying(scene: Scene, known: Reference, outcome: Outcome, fault: str) -> None:
    said = outcome.stderr
    assert "Traceback" not in said, said
    if outcome.code < 0:
        assert (outcome.code, fault in ("kill", "torn")) == (-9, True), outcome
    elif scene.is_hook:
        assert outcome.code in (0, known.outcome.code), (outcome.code, said)
    elif outcome.code != known.outcome.code:
        assert outcome.code in (1, 2), (outcome.code, said)
        assert re.match(r"Error: |Warning: |[A-Z]+_ERROR\n|recollect ", said) or "ERROR " in outcome.stdout, said


def is_acknowledged(scene: Scene, known: Reference, outcome: Outcome) -> bool:
    """Whether the user may rely on what was asked for."""
    if scene.arguments[0] == "mcp":
        answers = [json.loads(line) for line in outcome.stdout.splitlines() if line.endswith("}")]
        return any(answer.get("id") == 1 and not answer["result"].get("isError") for answer in answers)
    if _SAFE in outcome.stderr:
        return True
    if scene.is_hook:
        return False
    if "! not written" in outcome.stdout:  # a promotion that fails must not fail what it is part of
        return False
    return outcome.stdout == known.outcome.stdout != "" or outcome.code == known.outcome.code == 0


def files_of(world: World) -> Files:
    """Return the text of each file by its path, without the moments in it; those of runs left out."""
    found: Files = {}
    for folder, names, files in os.walk(world.home):
        names[:] = [name for name in names if name not in (".sessions", "projects", ".git")]
        for name in files:
            if not _OF_RUNS.fullmatch(name) and not _UNFINISHED.fullmatch(name):
                path = Path(folder, name)
                text = path.read_text(encoding="utf-8", errors="surrogateescape")
                shown = _MOMENT.sub("MOMENT", str(path.relative_to(world.home)))
                found[shown] = _MOMENT.sub("MOMENT", text)
    return found


def check_files(world: World, scene: Scene, known: Reference) -> None:
    """Each file is the old or the new one, and every JSON in it is whole."""
    before, after = known.files
    now = files_of(world)
    for path in sorted({*before, *after, *now}):
        allowed = [version.get(path) for version in (before, after)]
        if not any(part in path for part in scene.between):
            assert now.get(path) in allowed, f"{path} is neither old nor new: {now.get(path)!r}, but one of {allowed}"
    for path in world.home.rglob("*.json"):
        if not _UNFINISHED.fullmatch(path.name) and ".claude/projects" not in str(path):
            json.loads(path.read_text(encoding="utf-8"))


def entries_of(stage: Stage, scene: Scene) -> Entries:
    """Return what commands that meet no fault show, by keys, without counts and moments."""
    found: Entries = {}
    for probe in scene.probes:
        done = stage.run(probe)
        assert done.code == 0, (probe, done.stderr)
        found |= {f"{probe[0]} {key}": value for key, value in _parsed(done.stdout)}
    return found


def _parsed(text: str) -> Iterable[tuple[str, str]]:
    try:
        documents = [json.loads(text)] if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    except ValueError:
        documents = [json.loads(text)]
    for document in documents:
        items = document if isinstance(document, list) else [document]
        for place, item in enumerate(items):
            key = str(item.get("id") or item.get("key") or place) if isinstance(item, dict) else str(place)
            yield key, _MOMENT.sub("MOMENT", json.dumps(_plain(item), sort_keys=True))


def _plain(item: Any) -> Any:
    if isinstance(item, dict):
        if "snippets" in item:
            item.pop("id")  # made by chance
        return {key: _plain(value) for key, value in item.items() if key not in _COUNTED}
    return [_plain(each) for each in item] if isinstance(item, list) else item


def check_entries(now: Entries, known: Reference, acknowledged: bool) -> None:
    """What was there before is there, old or new; what is acknowledged is there as it was promised."""
    before, after = known.entries
    if acknowledged:
        assert now == after, differences(now, after)
    for key in {*before, *after, *now}:
        allowed = [version.get(key) for version in (before, after)]
        assert now.get(key) in allowed, f"{key} is neither old nor new: {now.get(key)}, but one of {allowed}"


def differences(now: Entries, expected: Entries) -> list[tuple[str, str | None, str | None]]:
    return [
        (key, now.get(key), expected.get(key)) for key in sorted({*now, *expected}) if now.get(key) != expected.get(key)
    ]


def unfinished(world: World) -> list[str]:
    """Return what writers have left that nobody needs."""
    found: list[str] = []
    for folder, names, files in os.walk(world.home):
        found += [os.path.join(folder, name) for name in (*names, *files) if _UNFINISHED.fullmatch(name)]
    return found


def check_journal(world: World, most_torn: int) -> None:
    """Every line is whole, but for the one that was being written."""
    path = world.store / "session-captures.jsonl"
    torn = 0
    for line in path.read_bytes().split(b"\n") if path.exists() else ():
        try:
            json.loads(line or b"{}")
        except ValueError:
            torn += 1
    assert torn <= most_torn


def check_doctor(stage: Stage) -> None:
    """The doctor examines everything, and finds nothing that keeps recollect from working."""
    done = stage.run((QUICK_DOCTOR, "--json"))
    assert done.code == 0, (done.stdout, done.stderr)
    assert "could not be examined" not in done.stdout


def age(paths: Iterable[str]) -> None:
    """Let hours pass for these."""
    for path in paths:
        moment = os.lstat(path).st_mtime - 4 * 3600
        os.utime(path, (moment, moment), follow_symlinks=False)


def check_database(world: World) -> None:
    path = world.store / "memory.db"
    if path.exists():
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
