"""Work that a child does: heard until its time, and over after it. In processes without threads, as hooks are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PATIENCE

BEGIN = """
import json, os, select, sys, time
from recollect.hooks.apart import run_with_deadline

def nothing():
    return ()

def forever():
    while True:  # as deaf as code in C that waits for a lock
        select.select([], [], [], 60)

def hear(work, seconds=60):
    heard = run_with_deadline(work, time.monotonic() + seconds)
    print(json.dumps([heard.is_complete, heard.failure, heard.told, os.getpid()]))
    return heard
"""


def heard_from(code: str) -> list[list[Any]]:
    """What a process has heard, for each `hear` in its code, once all that it has started is over."""
    reader, writer = os.pipe()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BEGIN + code],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
        pass_fds=(writer,),
    )
    os.close(writer)
    assert os.read(reader, 1) == b""
    os.close(reader)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_is_told_is_heard() -> None:
    code = """
def work(tell):
    print("nobody hears this")
    tell("block", 'Größe "🎯"\\n\\ttwo\\\\')
    tell("long", "x" * 500_000)
    tell("pid", str(os.getpid()))
    return nothing

assert hear(work).afterwards is None
"""
    [[complete, failure, told, pid]] = heard_from(code)
    assert (complete, failure) == (True, "")
    assert told["block"] == 'Größe "🎯"\n\ttwo\\'
    assert len(told["long"]) == 500_000
    assert told["pid"] != str(pid)


def test_the_rest_is_done_once_the_answer_is_out() -> None:
    code = """
reader, writer = os.pipe()
go, going = os.pipe()

def work(tell):
    tell("block", "text")
    return lambda: os.read(go, 1) and os.write(writer, b"done")

assert hear(work).is_complete
os.write(going, b"x")  # the rest waits for somebody who has heard the answer
assert os.read(reader, 10) == b"done"
"""
    assert len(heard_from(code)) == 1


def test_what_was_told_before_the_time_was_up_is_heard_and_the_child_is_ended() -> None:
    code = """
def work(tell):
    tell("first", "early")
    forever()

hear(work, 1)
"""
    [[complete, failure, told, _]] = heard_from(code)
    assert (complete, failure, told) == (False, "there was no answer in time", {"first": "early"})


def test_what_a_child_has_started_ends_with_it() -> None:
    code = """
import subprocess

def work(tell):
    subprocess.run(["sleep", "1000"])
    return nothing

hear(work, 1)
"""
    [[complete, *_]] = heard_from(code)
    assert not complete


def test_a_child_whose_parent_was_killed_does_not_go_on() -> None:
    code = """
def work(tell):
    os.kill(os.getppid(), 9)
    forever()

if os.fork():
    os.wait()
else:
    hear(work, 1)
"""
    assert heard_from(code) == []


def test_a_failure_is_heard_in_words() -> None:
    [[complete, failure, *_]] = heard_from("hear(lambda tell: [][1])")
    assert (complete, failure) == (False, "IndexError: list index out of range")


@pytest.mark.parametrize("how", ["os._exit(3)", "os.kill(os.getpid(), 9)", "sys.exit()"])
def test_a_child_that_ends_without_a_word_is_a_failure(how: str) -> None:
    [[complete, failure, *_]] = heard_from(f"hear(lambda tell: {how})")
    assert (complete, failure) == (False, "the process that was to answer ended without a word")


def test_where_there_are_no_children_the_work_is_done_here() -> None:
    code = """
del os.fork

def work(tell):
    tell("pid", str(os.getpid()))
    return lambda: ["rest"]

assert hear(work).afterwards() == ["rest"]
hear(lambda tell: [][1])
"""
    first, second = heard_from(code)
    assert (first[0], first[2]) == (True, {"pid": str(first[3])})
    assert (second[0], second[1]) == (False, "IndexError: list index out of range")


def test_a_child_is_let_end_what_it_has_started_in_groups_of_their_own() -> None:
    code = """
import subprocess

def work(tell):
    process = subprocess.Popen(["sleep", "1000"], process_group=0)
    try:
        process.wait()
    finally:
        process.kill()
        process.wait()

hear(work, 1)
"""
    [[complete, *_]] = heard_from(code)
    assert not complete


def test_work_that_is_left_is_done_by_one_at_a_time_and_nobody_waits_for_it(tmp_path: Path) -> None:
    code = f"""
from recollect.hooks.apart import run_detached

reader, writer = os.pipe()
go, going = os.pipe()
folder = {str(tmp_path / "store")!r}

def work():
    os.write(writer, b"began ")
    os.read(go, 1)
    os.write(writer, b"done ")

run_detached(work, 60, folder)
assert os.read(reader, 10) == b"began "
run_detached(work, 60, folder)
os.wait()  # the second, who finds the first at it
os.write(going, b"x")
assert os.read(reader, 10) == b"done "
os.wait()
os.close(writer)
assert os.read(reader, 10) == b""
run_detached(lambda: [][1], 60, folder)
run_detached(lambda: select.select([], [], [], 60), 0.1, folder)
"""
    assert heard_from(code) == []
