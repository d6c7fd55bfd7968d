"""`recollect review`: what sessions have staged, and what became of it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from typing import Any

import pytest
from tests.conftest import RECOLLECT, World, read_terminal


def stage(world: World, *lines: dict[str, Any], project: str = "") -> None:
    known = {"at": "2026-01-02T03:04:05Z", "project": project or str(world.project), "session": "s-1", "score": 0.52}
    world.store.mkdir(exist_ok=True)
    with (world.store / "session-captures.jsonl").open("a", encoding="utf-8") as file:
        for line in lines:
            about = {"category": "decision", "snippets": [f"we chose {line['staged']}"], "context": "Said.\nAround it."}
            file.write(json.dumps({**known, **about, **line}) + "\n")


def listed(world: World) -> list[str]:
    done = world.run("review", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return [each["id"] for each in json.loads(done.stdout)["captures"]]


def test_nothing_to_review_is_said_and_nothing_is_made(world: World) -> None:
    done = world.run("review")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Nothing awaits review in this project.\n", "")
    assert not world.store.exists()
    assert listed(world) == []


def test_captures_are_listed_one_a_line(world: World) -> None:
    stage(world, {"staged": "aa11bb22"}, {"staged": "cc33dd44", "category": "tech_debt", "snippets": []})
    stage(world, {"staged": "ee55ff66"}, project="/home/dev/other")
    lines = world.run("review").stdout.splitlines()
    assert lines[:2] == [
        "aa11bb22  2026-01-02  decision   0.52  we chose aa11bb22",
        "cc33dd44  2026-01-02  tech_debt  0.52  Said. Around it.",
    ]
    assert "`recollect review ID`" in lines[-1]
    assert listed(world) == ["aa11bb22", "cc33dd44"]


def test_one_is_shown_in_full_by_the_beginning_of_its_id(world: World) -> None:
    stage(world, {"staged": "aa11bb22"}, {"staged": "cc33dd44"})
    done = world.run("review", "aa")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:5] == [
        "Capture   aa11bb22",
        "Category  decision",
        "Score     0.52",
        "Staged    2026-01-02T03:04:05Z",
        "Session   s-1",
    ]
    assert done.stdout.endswith("\n- we chose aa11bb22\n\nSaid.\nAround it.\n")
    assert json.loads(world.run("review", "aa", "--json").stdout) == {
        "id": "aa11bb22",
        "at": "2026-01-02T03:04:05Z",
        "category": "decision",
        "score": 0.52,
        "session": "s-1",
        "snippets": ["we chose aa11bb22"],
        "context": "Said.\nAround it.",
    }


def test_what_was_saved_or_dismissed_no_longer_awaits(world: World) -> None:
    stage(world, *({"staged": f"{letter}1234567"} for letter in "abcd"))
    done = world.run("review", "--saved", "a1", "--dismiss", "b1", "--dismiss", "c1")
    assert (done.returncode, done.stdout) == (0, "1 saved, 2 dismissed; 1 capture awaits review.\n")
    assert listed(world) == ["d1234567"]
    lines = (world.store / "session-captures.jsonl").read_text(encoding="utf-8").splitlines()
    outcomes = [(line["reviewed"][0], line["outcome"]) for line in map(json.loads, lines[4:])]
    assert outcomes == [("a", "saved"), ("b", "dismissed"), ("c", "dismissed")]


def test_all_that_is_left_can_be_dismissed_at_once(world: World) -> None:
    stage(world, *({"staged": f"{letter}1234567"} for letter in "abc"))
    stage(world, {"staged": "e1234567"}, project="/home/dev/other")
    done = world.run("review", "--saved", "b1", "--dismiss-all", "--json")
    assert json.loads(done.stdout) == {
        "saved": ["b1234567"],
        "dismissed": ["a1234567", "c1234567"],
        "awaiting_review": 0,
    }
    assert listed(world) == []
    assert world.run("review", "--dismiss-all").stdout == "Nothing awaits review in this project.\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["zz"], "Error: no capture 'zz' awaits review in this project; `recollect review` lists those that do"),
        (["a"], "Error: 2 captures begin with 'a': a1111111, a2222222; give more of the one you mean"),
        (["--saved", "zz"], "Error: no capture 'zz' awaits review in this project"),
        (["--saved", "a1", "--dismiss", "zz"], "Error: no capture 'zz' awaits review in this project"),
        (["--saved", "a1", "--dismiss", "a11"], "Error: a1111111 cannot be saved and dismissed at once"),
        (["--saved", ""], "Error: no capture '' awaits review in this project"),
    ],
)
def test_what_cannot_be_meant_is_an_error_and_settles_nothing(
    world: World, arguments: list[str], sentence: str
) -> None:
    stage(world, {"staged": "a1111111"}, {"staged": "a2222222"})
    done = world.run("review", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(sentence)
    assert listed(world) == ["a1111111", "a2222222"]


def test_showing_and_settling_at_once_is_a_usage_error(world: World) -> None:
    assert world.run("review", "a1", "--dismiss-all").returncode == 2


def test_captures_of_a_worktree_are_those_of_the_project(world: World) -> None:
    git = ["git", "-C", str(world.project), "-c", "user.name=dev", "-c", "user.email=dev@example.com"]
    for arguments in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "c"],
        ["worktree", "add", "-q", "../side"],
    ):
        subprocess.run([*git, *arguments], check=True, capture_output=True)
    stage(world, {"staged": "aa11bb22"})
    done = world.run("review", "--json", cwd=world.home / "side")
    assert [each["id"] for each in json.loads(done.stdout)["captures"]] == ["aa11bb22"]


def test_unseen_characters_are_not_shown(world: World) -> None:
    stage(world, {"staged": "aa11bb22", "snippets": ["a\u200bb\x1b[31m"], "context": "c\u202ed\x1b[2J"})
    for arguments in ([], ["aa"], ["aa", "--json"], ["--json"]):
        shown = world.run("review", *arguments).stdout
        assert not {"\u200b", "\x1b", "\u202e"} & set(shown)
        assert "\\u200b" not in shown


def test_status_counts_what_awaits_review(world: World) -> None:
    assert json.loads(world.run("status", "--json").stdout)["awaiting_review"] == 0
    stage(world, {"staged": "aa11bb22"}, {"staged": "cc33dd44"})
    told = json.loads(world.run("status", "--json").stdout)
    assert (told["awaiting_review"], told["last_capture"]) == (2, None)
    assert "2 captures; `recollect review` shows them" in world.run("status").stdout


def test_a_journal_that_cannot_be_read_is_an_error(world: World) -> None:
    (world.store / "session-captures.jsonl").mkdir(parents=True)
    done = world.run("review")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "session-captures.jsonl" in done.stderr


# Accepting


def test_accepted_capture_becomes_a_memory_and_is_settled(semantic_world: World) -> None:
    world = semantic_world
    chosen = "We chose SQLite for the carts because it needs no server."
    stage(world, {"staged": "aa11bb22", "snippets": [chosen]}, {"staged": "cc33dd44", "category": "tech_debt"})
    done = world.run("review", "--accept", "aa")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Stored: We chose SQLite for the carts because it needs no server (decision, id ")
    assert done.stdout.endswith("1 capture awaits review.\n")
    assert listed(world) == ["cc33dd44"]
    document = json.loads(world.run("review", "--accept", "cc", "--json").stdout)
    assert document["awaiting_review"] == 0
    [accepted] = document["accepted"]
    assert (accepted["category"], accepted["outcome"]) == ("tech_debt", "stored")
    assert (world.project / accepted["path"]).is_file()
    assert world.run("review", "--accept", "aa").returncode == 1


def test_capture_is_edited_before_it_is_accepted(semantic_world: World) -> None:
    world = semantic_world
    stage(world, {"staged": "aa11bb22", "snippets": ["we chose sqlite for carts"], "context": "Said.\nAround it."})
    script = world.home / "editor.py"
    script.write_text(
        "import sys\ntext = open(sys.argv[1]).read()\nassert '# Around it.' in text\n"
        "open(sys.argv[1], 'w').write(text.replace('we chose sqlite', 'We chose SQLite'))\n",
        encoding="utf-8",
    )
    done = world.run("review", "--accept", "aa11bb22", "--edit", "--json", EDITOR=f"python3 {script}")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accepted"][0]["title"] == "We chose SQLite for carts"
    assert listed(world) == []
    assert world.run("review", "--edit").returncode == 2
    assert world.run("review", "aa", "--accept", "aa").returncode == 2


def test_capture_that_cannot_be_kept_still_awaits(semantic_world: World) -> None:
    world = semantic_world
    stage(world, {"staged": "aa11bb22", "snippets": ["todo"]})
    done = world.run("review", "--accept", "aa11bb22")
    assert done.returncode == 1
    assert "says too little to be of use later" in done.stderr
    assert listed(world) == ["aa11bb22"]


def keys(world: World, pressed: str, columns: int = 80, options: Sequence[str] = (), **variables: str) -> str:
    """Review on a terminal with these keys, each after the question; return all that was shown."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = world.environment({"TERM": "xterm", **variables})
    process = subprocess.Popen(
        [RECOLLECT, "review", *options], cwd=world.project, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    for key in pressed:
        asked = shown.count(b"q quit: ")
        while shown.count(b"q quit: ") == asked:
            shown += os.read(ours, 65536)
        while termios.tcgetattr(ours)[3] & termios.ICANON:  # a key that comes before the terminal waits for it is lost
            select.select([], [], [], 0.01)
        os.write(ours, key.encode())
    shown += read_terminal(ours)
    assert process.wait() == 0
    return shown.decode().replace("\r\n", "\n")


def test_keys_accept_edit_dismiss_and_skip_on_a_terminal(semantic_world: World) -> None:
    world = semantic_world
    texts = ("We chose SQLite for carts.", "we chose redis for sessions", "We chose nothing.", "We chose Go for tools.")
    stage(world, *({"staged": f"{number}a11bb22", "snippets": [text]} for number, text in enumerate(texts)))
    script = world.home / "editor.py"
    script.write_text(
        "import sys\ntext = open(sys.argv[1]).read()\n"
        "open(sys.argv[1], 'w').write(text.replace('we chose redis', 'We chose Redis'))\n",
        encoding="utf-8",
    )
    shown = keys(world, "aeds", EDITOR=f"{sys.executable} {script}")
    assert "1 of 4" in shown
    assert "Stored: " in shown
    assert shown.endswith("2 saved, 1 dismissed; 1 capture awaits review.\n")
    assert listed(world) == ["3a11bb22"]
    titles = [each["title"] for each in json.loads(world.run("list", "--json").stdout)["memories"]]
    assert sorted(titles) == ["We chose Redis for sessions", "We chose SQLite for carts"]


def test_keys_on_a_small_terminal_show_more_and_quit(semantic_world: World) -> None:
    world = semantic_world
    stage(world, {"staged": "aa11bb22", "context": "Said.\n" + "Around it. " * 30}, {"staged": "cc33dd44"})
    shown = keys(world, "mq", columns=30)
    assert "Around it. Around it." in shown
    assert " ".join(shown.split()).endswith("0 saved, 0 dismissed; 2 captures await review.")
    assert listed(world) == ["aa11bb22", "cc33dd44"]
    assert keys(world, "\x03").endswith("2 captures await review.\n")


def test_refusal_leaves_the_question_on_the_terminal(semantic_world: World) -> None:
    world = semantic_world
    stage(world, {"staged": "aa11bb22", "snippets": ["todo"]})
    shown = keys(world, "as")
    assert "says too little to be of use later" in shown
    assert listed(world) == ["aa11bb22"]
