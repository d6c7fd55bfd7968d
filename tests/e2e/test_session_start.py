"""The start of a session as the client has it: an event on standard input, one JSON answer, and nobody left behind."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import BARE_ENTRY, LOCK, PATIENCE, Start, World, heard, run_without_rights, tell
from tests.integration.provider_servers import ProviderServer

from recollect.config.project import identity
from recollect.domain.start_block import OPENING
from recollect.files.journal.kinds import STAGED, Staged
from recollect.files.journal.log import append_lines
from recollect.files.log import NAME as LOG
from recollect.files.met import meet
from recollect.files.session.record import FOLDER as RECORDS
from recollect.files.session.record import add_given, add_words, read_record
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import Scope
from recollect.sync.memories import entry_id

ONE = "### Pattern: One\nThe one lesson.\n"
TWO = "### Pattern: Two\nAnother lesson.\n"
BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
TITLE = f"{OPENING}## Engineering Memory (from knowledge bank)\n\n*Memory: "


class Began:
    """What a session was told when it started."""

    def __init__(self, code: int, stdout: str, stderr: str) -> None:
        assert code == 0
        assert "Traceback" not in stderr
        self.stdout = stdout
        answer = json.loads(stdout) if stdout else {}
        assert set(answer) <= {"systemMessage", "hookSpecificOutput"}
        self.message: str = answer.get("systemMessage", "")
        specific = answer.get("hookSpecificOutput", {})
        assert not specific or specific["hookEventName"] == "SessionStart"
        self.block: str = specific.get("additionalContext", "")
        assert "\n" not in self.message


def event_of(world: World, source: str = "startup", session: str = "s1", **fields: Any) -> dict[str, Any]:
    transcript = str(world.home / ".claude" / "projects" / "shop" / f"{session}.jsonl")
    event = {"session_id": session, "transcript_path": transcript, "cwd": str(world.project)}
    return {**event, "hook_event_name": "SessionStart", "source": source, **fields}


def environment_of(world: World, variables: Mapping[str, str]) -> dict[str, str]:
    switched = {} if world.semantic else {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"}
    kept = {"PATH": os.environ["PATH"], "HOME": str(world.home), "LANG": "C.UTF-8"}
    return {**kept, "RECOLLECT_HOME": str(world.store), **switched, **variables}


def is_over(reader: int, seconds: float = PATIENCE) -> bool:
    """Whether all processes that hold the other end of a pipe have ended."""
    return bool(select.select([reader], [], [], seconds)[0]) and os.read(reader, 1) == b""


def open_hook(
    world: World, variables: Mapping[str, str], cwd: Path | None = None
) -> tuple[subprocess.Popen[bytes], int]:
    """The hook's process, and the end of a pipe that is held by it and by all that it starts."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [*BARE_ENTRY, "hook", "session-start"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd or world.project,
        env=environment_of(world, variables),
        pass_fds=(writer,),
    )
    os.close(writer)
    return process, reader


def begin_with(world: World, stdin: bytes, cwd: Path | None = None, **variables: str) -> Began:
    """Serve one event, and wait until all that the hook has started is over."""
    process, reader = open_hook(world, variables, cwd)
    stdout, stderr = process.communicate(stdin, timeout=PATIENCE)
    assert is_over(reader), "something is still running"
    os.close(reader)
    return Began(process.returncode, stdout.decode(), stderr.decode())


def begin(world: World, source: str = "startup", session: str = "s1", **variables: str) -> Began:
    """Serve the start of a session in a project that there were sessions in before."""
    meet(str(world.store), identity(str(world.project)))
    return begin_with(world, json.dumps(event_of(world, source, session)).encode(), **variables)


def log_of(world: World) -> str:
    path = world.store / LOG
    return path.read_text(encoding="utf-8") if path.exists() else ""


def start_feature(world: World) -> None:
    folder = world.project / "docs" / "features" / "007-lessons"
    folder.mkdir(parents=True)
    (folder / ".meta.json").write_text('{"status": "active", "slug": "one-lesson"}', encoding="utf-8")


# What is given


@pytest.mark.parametrize("semantic", [False, True])
def test_a_new_session_is_given_the_block_and_the_user_its_size(world: World, semantic: bool) -> None:
    world.write_bank("patterns", ONE)
    began = begin(world, RECOLLECT_MEMORY_SEMANTIC_ENABLED=str(semantic).lower(), **BY_WORDS)
    assert began.block.startswith(TITLE)
    assert "### Pattern: One [repository]\n> The one lesson." in began.block
    assert began.message == "recollect: 1 memory recalled"
    assert log_of(world) == ""


def test_the_hook_gives_what_the_command_gives(semantic_world: World, bank_text: Callable[..., str]) -> None:
    semantic_world.write_bank("patterns", bank_text("Pattern", 60, Benefit="größer" * 50))
    uncounted = {**BY_WORDS, "RECOLLECT_MEMORY_RECALL_TRACKING": "false"}
    assert begin(semantic_world, **uncounted).block == semantic_world.run("inject", **uncounted).stdout


@pytest.mark.parametrize("semantic", [False, True])
def test_an_empty_project_is_told_nothing(world: World, semantic: bool) -> None:
    assert begin(world, RECOLLECT_MEMORY_SEMANTIC_ENABLED=str(semantic).lower(), **BY_WORDS).stdout == ""


@pytest.mark.parametrize(
    "settings",
    ["memory_injection_enabled: false", "memory_injection_limit: 0", "memory_injection_events: resume, clear"],
)
def test_what_is_switched_off_is_not_given(world: World, settings: str) -> None:
    world.write_bank("patterns", ONE)
    world.write_local_settings(settings + "\n")
    assert begin(world).stdout == ""
    assert not read_record(str(world.store), "s1").given


@pytest.mark.parametrize("semantic", [False, True])
def test_a_resumed_session_is_given_only_what_it_has_not_had(world: World, semantic: bool) -> None:
    variables = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": str(semantic).lower(), **BY_WORDS}
    world.write_bank("patterns", ONE)
    begin(world, **variables)
    assert begin(world, "resume", **variables).stdout == ""
    world.write_bank("patterns", ONE + "\n" + TWO)
    block = begin(world, "resume", **variables).block
    assert "Pattern: Two" in block
    assert "Pattern: One" not in block
    assert "*Memory: 1 entries" in block
    assert begin(world, "resume", **variables).stdout == ""


def test_what_is_had_in_markdown_counts_when_the_store_chooses(world: World) -> None:
    world.write_bank("patterns", ONE + "\n### Pattern: Bare\n- Used in: one place\n")
    block = begin(world).block
    assert "Pattern: One" in block
    assert "Pattern: Bare" in block
    assert begin(world, "resume", RECOLLECT_MEMORY_SEMANTIC_ENABLED="true", **BY_WORDS).stdout == ""


def test_a_session_without_a_record_is_given_all_when_it_is_resumed(world: World) -> None:
    world.write_bank("patterns", ONE)
    assert "Pattern: One" in begin(world, "resume", "from-before-the-plugin").block


@pytest.mark.parametrize("semantic", [False, True])
def test_entries_that_did_not_fit_do_not_follow_on_resume(
    world: World, bank_text: Callable[..., str], semantic: bool
) -> None:
    variables = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": str(semantic).lower(), **BY_WORDS}
    world.write_bank("patterns", bank_text("Pattern", 60, Benefit="x" * 900))
    assert " dropped to stay below 9,500 characters" in begin(world, **variables).block
    assert begin(world, "resume", **variables).stdout == ""


@pytest.mark.parametrize("source", ["compact", "clear"])
@pytest.mark.parametrize("gives", [True, False])
def test_a_session_that_has_forgotten_is_given_all_again(world: World, source: str, gives: bool) -> None:
    world.write_bank("patterns", ONE)
    world.write_local_settings(f"memory_injection_events: startup, resume{', ' + source if gives else ''}\n")
    begin(world)
    assert ("Pattern: One" in begin(world, source).block) is gives
    assert ("Pattern: One" in begin(world, "resume").block) is not gives


def test_two_sessions_at_once_are_each_given_all_of_it(semantic_world: World) -> None:
    semantic_world.write_bank("patterns", ONE + "\n" + TWO)
    hooks = [open_hook(semantic_world, BY_WORDS) for _ in range(2)]
    for number, (process, _) in enumerate(hooks):
        assert process.stdin
        process.stdin.write(json.dumps(event_of(semantic_world, session=f"s{number}")).encode())
        process.stdin.flush()
    for process, reader in hooks:
        stdout, stderr = process.communicate(timeout=PATIENCE)
        block = Began(process.returncode, stdout.decode(), stderr.decode()).block
        assert "Pattern: One" in block
        assert "Pattern: Two" in block
        assert is_over(reader)
        os.close(reader)
    records = [read_record(str(semantic_world.store), f"s{number}").given for number in range(2)]
    assert records[0] == records[1]
    assert len(records[0]) == 2


def test_a_receipt_says_which_session_was_given_what_on_which_event(semantic_world: World) -> None:
    semantic_world.write_bank("patterns", ONE)
    begin(semantic_world, **BY_WORDS)
    semantic_world.write_bank("patterns", ONE + "\n" + TWO)
    begin(semantic_world, "resume", **BY_WORDS)
    with SqliteStore(str(semantic_world.store / "memory.db")) as store:
        second, first = store.receipts(10)
        assert (first.event, first.session, len(first.lines)) == ("startup", "s1", 1)
        assert (second.event, second.session, len(second.lines)) == ("resume", "s1", 1)
        assert [entry.name for entry in store.entries(line.id for line in second.lines)] == ["Two"]


# The titles of the project's memories


@pytest.mark.parametrize("semantic", [False, True])
def test_a_project_s_memories_are_in_view_from_the_start(world: World, semantic: bool) -> None:
    variables = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": str(semantic).lower(), **BY_WORDS}
    world.write_decision("orders", title="Orders live in PostgreSQL")
    id = entry_id(identity(str(world.project)), "decision", "orders")
    line = f"Decisions:\n- [{id}] Orders live in PostgreSQL\n"
    began = begin(world, **variables)
    assert began.block.startswith(TITLE + "no lessons, 1 title | semantic: ")
    assert "### Memories of This Project [repository]\n" in began.block
    assert line in began.block
    world.write_bank("patterns", ONE)
    block = begin(world, session="s2", **variables).block
    assert block.index("Pattern: One") < block.index(line)
    assert log_of(world) == ""


@pytest.mark.parametrize(
    ("show", "count", "message"),
    [
        ("start", 1, ""),
        ("never", 1, ""),
        ("always", 1, "recollect: no memory recalled, 1 title given"),
        ("always", 2, "recollect: no memory recalled, 2 titles given"),
    ],
)
def test_the_user_is_told_of_titles_alone_if_the_settings_say_always(
    world: World, show: str, count: int, message: str
) -> None:
    for number in range(count):
        world.write_decision(f"orders-{number}", title=f"Orders live in PostgreSQL {number}")
    begin(world, session="s0")  # the first session is told more
    assert begin(world, RECOLLECT_RETRIEVAL_SHOW=show).message == message


def test_the_id_of_a_title_is_that_of_the_store(semantic_world: World) -> None:
    semantic_world.write_decision("orders", title="Orders live in PostgreSQL")
    block = begin(semantic_world, **BY_WORDS).block
    with SqliteStore(str(semantic_world.store / "memory.db")) as store:
        [entry] = store.entries(standing.id for standing in store.standings(Scope(None)))
    assert f"- [{entry.id}] Orders live in PostgreSQL" in block


@pytest.mark.parametrize("semantic", [False, True])
def test_a_resumed_session_is_given_new_titles_only(world: World, semantic: bool) -> None:
    variables = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": str(semantic).lower(), **BY_WORDS}
    world.write_bank("patterns", ONE)
    world.write_decision("orders", title="Orders live in PostgreSQL")
    begin(world, **variables)
    assert begin(world, "resume", **variables).stdout == ""
    world.write_decision("queue", title="The queue is a table")
    block = begin(world, "resume", **variables).block
    assert "The queue is a table" in block
    assert "PostgreSQL" not in block
    assert "Pattern: One" not in block
    assert begin(world, "resume", **variables).stdout == ""
    block = begin(world, "clear", **variables).block
    assert "The queue is a table" in block
    assert "PostgreSQL" in block


@pytest.mark.parametrize("setting", ["memory_injection_enabled", "retrieval.enabled"])
def test_titles_can_be_switched_off(world: World, setting: str) -> None:
    world.write_decision("orders", title="Orders live in PostgreSQL")
    folder = world.project / ".claude" / "memory"
    name, _, below = setting.partition(".")
    (folder / "memory-config.json").write_text(json.dumps({name: {below: False} if below else False}), encoding="utf-8")
    assert begin(world).stdout == ""


def test_the_command_lists_the_titles_that_the_hook_lists(semantic_world: World) -> None:
    for number in range(60):
        semantic_world.write_decision(f"d{number}", title=f"Decision number {number}")
    semantic_world.write_bank("patterns", ONE)
    uncounted = {**BY_WORDS, "RECOLLECT_MEMORY_RECALL_TRACKING": "false"}
    block = begin(semantic_world, **uncounted).block
    assert " more: `recollect list`\n" in block
    assert semantic_world.run("inject", **uncounted).stdout == block
    told = json.loads(semantic_world.run("inject", "--json", **uncounted).stdout)
    assert [f"- [{each['id']}] {each['name']}" in block for each in told["titles"]] == [True] * block.count("\n- [")


# Forks: the client says neither which session was forked nor has it written the transcript of the new one


def fork(world: World, session: str, idle: float | None = 1) -> Began:
    fields = {} if idle is None else {"seconds_since_last_response": idle}
    return begin_with(world, json.dumps(event_of(world, "fork", session, **fields)).encode())


def write_transcript(world: World, session: str, seconds_ago: float) -> None:
    path = Path(event_of(world, session=session)["transcript_path"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n", encoding="utf-8")
    changed = path.stat().st_mtime - seconds_ago
    os.utime(path, (changed, changed))


def test_a_fork_is_given_only_what_its_session_has_not_had(world: World) -> None:
    world.write_bank("patterns", ONE)
    begin(world)
    write_transcript(world, "s1", 1)
    assert fork(world, "f1").stdout == ""
    world.write_bank("patterns", ONE + "\n" + TWO)
    block = fork(world, "f2").block
    assert "Pattern: Two" in block
    assert "Pattern: One" not in block
    assert begin(world, "resume", "f2").stdout == ""
    assert "Pattern: Two" in begin(world, "resume", "f1").block


def test_a_fork_of_an_older_session_has_had_what_that_one_had(world: World) -> None:
    for session, seconds_ago in (("old", 5_000), ("busy", 0)):
        write_transcript(world, session, seconds_ago)
    add_given(str(world.store), "old", ["a", "b"])
    add_words(str(world.store), "old", ["0123abcd"])
    add_given(str(world.store), "busy", ["c"])
    fork(world, "f1", 5_001)
    record = read_record(str(world.store), "f1")
    assert (record.given, record.words) == ({"a", "b"}, {"0123abcd"})


@pytest.mark.parametrize("idle", [None, -1, 1, 10**12, float("inf")])
def test_a_fork_of_nobody_knows_what_is_given_nothing(world: World, idle: float | None) -> None:
    world.write_bank("patterns", ONE)
    write_transcript(world, "without-a-record", 1)
    assert fork(world, "f1", idle).stdout == ""


def test_a_fork_counts_as_resumed_for_the_setting(world: World) -> None:
    world.write_bank("patterns", ONE)
    world.write_local_settings("memory_injection_events: startup\n")
    add_given(str(world.store), "s1", ["something-else"])
    write_transcript(world, "s1", 1)
    assert fork(world, "f1").stdout == ""
    world.write_local_settings("memory_injection_events: resume\n")
    assert "Pattern: One" in fork(world, "f2").block


# What the user is told


def stage_captures(world: World, count: int, project: Path | None = None) -> None:
    world.store.mkdir(exist_ok=True)
    owner = identity(str(project or world.project))
    found = [Staged(f"id{n}", "2026-01-02T03:04:05Z", owner, "s0", "decision", 0.5, ["text"], "") for n in range(count)]
    append_lines(str(world.store / "session-captures.jsonl"), STAGED, found)


def test_captures_that_await_review_are_told_beside_the_block(world: World) -> None:
    world.write_bank("patterns", ONE)
    stage_captures(world, 2)
    stage_captures(world, 3, world.home / "another")
    began = begin(world)
    assert began.message == "recollect: 2 captures await your review: /memory:review. 1 memory recalled."
    assert "Pattern: One" in began.block
    assert began.message not in began.block


def test_one_capture_is_told_without_any_memories_and_not_in_the_middle_of_things(world: World) -> None:
    stage_captures(world, 1)
    assert begin(world).message == "recollect: 1 capture awaits your review: /memory:review."
    assert begin(world, "compact").stdout == ""


def test_a_journal_that_cannot_be_read_costs_a_line_in_the_log_and_nothing_else(world: World) -> None:
    world.write_bank("patterns", ONE)
    (world.store / "session-captures.jsonl").mkdir(parents=True)
    began = begin(world)
    assert "Pattern: One" in began.block
    assert began.message == "recollect: 1 memory recalled"
    assert "session-captures.jsonl" in log_of(world)


@pytest.mark.parametrize("semantic", [False, True])
@pytest.mark.parametrize(
    ("show", "message"),
    [("start", "recollect: 12 memories recalled"), ("always", "recollect: 12 memories recalled"), ("never", "")],
)
def test_the_user_is_told_how_many_lessons_were_given_unless_the_settings_say_never(
    world: World, bank_text: Callable[..., str], semantic: bool, show: str, message: str
) -> None:
    world.write_bank("patterns", bank_text("Pattern", 12))
    settings = world.project / ".claude" / "memory" / "memory-config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"retrieval": {"show": show}}), encoding="utf-8")
    began = begin(world, RECOLLECT_MEMORY_SEMANTIC_ENABLED=str(semantic).lower(), **BY_WORDS)
    assert began.block.count("### Pattern: ") == 12
    assert began.message == message
    assert message not in began.block or not message
    assert begin(world, "resume").stdout == "", "nothing was given, so nothing is said"


def test_settings_that_say_never_silence_no_notice(world: World) -> None:
    world.write_bank("patterns", ONE)
    stage_captures(world, 2)
    began = begin(world, RECOLLECT_RETRIEVAL_SHOW="never")
    assert began.message == "recollect: 2 captures await your review: /memory:review."
    assert "Pattern: One" in began.block


def test_a_degraded_engine_is_told_once_a_day(semantic_world: World) -> None:
    semantic_world.write_bank("patterns", ONE)
    semantic_world.store.mkdir()
    (semantic_world.store / "memory.db").write_bytes(b"no database " * 999)
    first, second = begin(semantic_world), begin(semantic_world, session="s2")
    assert first.message.startswith("recollect: memories are not chosen as well as they could be: ")
    assert "recollect rebuild" in first.message
    assert first.message.endswith(". 1 memory recalled.")
    assert second.message == "recollect: 1 memory recalled"
    for began in (first, second):
        assert "Pattern: One" in began.block
        assert "| semantic: degraded (" in began.block
    told = semantic_world.store / ".told"
    told.write_text(told.read_text(encoding="utf-8").replace("20", "19"), encoding="utf-8")
    assert begin(semantic_world, session="s3").message == first.message


# Three seconds


class Trickle:
    """A server that answers forever, a byte at a time, so that no time-out between two bytes helps."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def close(self) -> None:
        self._over.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join(PATIENCE)

    def _serve(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.asked.set()
            self._threads.append(threading.Thread(target=self._drip, args=(connection,), daemon=True))
            self._threads[-1].start()

    def _drip(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                while not self._over.wait(0.1):
                    connection.sendall(b" ")
            except OSError:
                return


@pytest.fixture
def trickle() -> Iterator[Trickle]:
    server = Trickle()
    yield server
    server.close()


@pytest.fixture
def remote_world(semantic_world: World) -> World:
    """A world whose entries have vectors of a provider that will have to be asked at each start."""
    semantic_world.write_bank("patterns", ONE + "\n" + TWO)
    start_feature(semantic_world)
    semantic_world.make_repository()
    semantic_world.write_local_settings("memory_embedding_provider: ollama\n")
    with ProviderServer("ollama") as server:
        done = semantic_world.run("reembed", **server.environment)
    assert done.returncode == 0, done.stderr
    return semantic_world


def test_a_provider_that_never_ends_leaves_markdown_and_says_so(remote_world: World, trickle: Trickle) -> None:
    began = begin(remote_world, OLLAMA_HOST=trickle.url)
    assert "Pattern: One" in began.block
    assert "| semantic: degraded (markdown only: there was no answer in time)" in began.block
    assert "there was no answer in time" in began.message
    assert "session-start: markdown alone has to do: there was no answer in time" in log_of(remote_world)
    assert len(read_record(str(remote_world.store), "s1").given) == 2


def test_a_provider_that_never_answers_leaves_a_block(remote_world: World) -> None:
    with ProviderServer("ollama") as server:
        server.silent = True
        began = begin(remote_world, **server.environment)
    assert "Pattern: One" in began.block
    assert "| semantic: degraded (" in began.block


def test_captures_are_told_even_if_no_memories_can_be_had_in_time(remote_world: World, trickle: Trickle) -> None:
    stage_captures(remote_world, 1)
    assert begin(remote_world, OLLAMA_HOST=trickle.url).message.startswith("recollect: 1 capture awaits your review")


def test_a_killed_hook_leaves_nobody_behind(remote_world: World, trickle: Trickle) -> None:
    process, reader = open_hook(remote_world, {"OLLAMA_HOST": trickle.url})
    assert process.stdin
    process.stdin.write(json.dumps(event_of(remote_world)).encode())
    process.stdin.flush()  # it is read to the end of the object, not of the pipe
    assert trickle.asked.wait(PATIENCE)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert is_over(reader)
    os.close(reader)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("kind", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_store_that_another_process_holds_still_leaves_a_block(
    semantic_world: World, start: Start, known: bool, kind: str
) -> None:
    semantic_world.write_bank("patterns", ONE)
    semantic_world.store.mkdir()
    if known:
        begin(semantic_world, session="s0", **BY_WORDS)
    semantic_world.write_bank("patterns", ONE + "\n" + TWO)
    semantic_world.write_decision("use-queue")
    other = start(LOCK, str(semantic_world.store / "memory.db"), kind)
    assert heard(other) == "locked"
    began = begin(semantic_world, **BY_WORDS)
    assert "Pattern: One" in began.block
    assert "| semantic: degraded (" in began.block
    assert began.message
    assert "memory.db" in log_of(semantic_world)
    tell(other)
    assert heard(other) == "free"
    assert "Pattern: Two" in begin(semantic_world, session="s2", **BY_WORDS).block


# What is done once the answer is out


def stored(world: World, *, status: str = "active") -> dict[str, str]:
    with SqliteStore(str(world.store / "memory.db")) as store:
        everything = store.entries(standing.id for standing in store.standings(Scope(None, statuses=(status,))))
    return {entry.name: entry.category for entry in everything}


@pytest.mark.parametrize("events", ["startup", "clear"])
def test_the_store_follows_the_project_s_files_even_if_nothing_is_given(semantic_world: World, events: str) -> None:
    semantic_world.write_bank("patterns", ONE)
    semantic_world.write_decision("use-queue", title="Use the queue")
    semantic_world.write_local_settings(f"memory_injection_events: {events}\n")
    begin(semantic_world, **BY_WORDS)
    assert stored(semantic_world) == {"One": "patterns", "Use the queue": "decision"}
    assert log_of(semantic_world) == ""


def test_new_memories_have_vectors_after_a_start(semantic_world: World) -> None:
    semantic_world.write_decision("use-queue", title="Use the queue")
    begin(semantic_world)
    with SqliteStore(str(semantic_world.store / "memory.db")) as store:
        coverage = store.coverage()
    assert (coverage.entries, coverage.pending) == (1, 0)


def test_without_the_store_no_database_is_made(world: World) -> None:
    world.write_bank("patterns", ONE)
    world.write_decision("use-queue")
    begin(world)
    assert sorted(path.name for path in world.store.iterdir()) == [
        ".hook-times",
        ".last-injection.json",
        ".looked",
        ".met",
        RECORDS,
    ]


def test_records_that_nobody_needs_any_more_are_swept(world: World) -> None:
    for session in ("old", "new"):
        add_given(str(world.store), session, ["a"])
    os.utime(world.store / RECORDS / "old", (1_700_000_000, 1_700_000_000))
    begin(world)
    assert [path.name for path in (world.store / RECORDS).iterdir()] == ["new"]


# Whatever comes


@pytest.mark.parametrize(
    "stdin",
    [b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b'"text"', b'{"source": "startup"', b"[" * 100_000, b"{}{}"],
)
def test_input_that_is_no_event_is_logged_and_counts_as_a_startup(world: World, stdin: bytes) -> None:
    world.write_bank("patterns", ONE)
    assert "Pattern: One" in begin_with(world, stdin).block
    assert "session-start: ValueError: standard input holds no JSON object" in log_of(world)
    assert begin_with(world, stdin, RECOLLECT_MEMORY_INJECTION_EVENTS="resume,clear").block == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"source": 7},
        {"source": None},
        {"session_id": 7},
        {"session_id": "../../escape"},
        {"session_id": "/etc/passwd"},
        {"session_id": "x" * 100_000},
        {"session_id": ""},
        {"session_id": "a\0b"},
        {"session_id": "\ud800"},
        {"transcript_path": ["x"]},
        {"cwd": None},
        {"cwd": ""},
        {"cwd": "x" * 1_000_000},
        {"cwd": "a\0b"},
    ],
)
def test_fields_that_make_no_sense_do_not_keep_a_session_from_its_block(world: World, fields: dict[str, Any]) -> None:
    world.write_bank("patterns", ONE)
    before = {path for path in world.home.parent.rglob("*") if not path.is_relative_to(world.store)}
    for source in ("startup", "resume"):
        event = {**event_of(world, source), **fields}
        assert "Pattern: One" in begin_with(world, json.dumps(event).encode()).block or source == "resume"
    after = {path for path in world.home.parent.rglob("*") if not path.is_relative_to(world.store)}
    assert after == before


def test_source_that_nobody_knows_counts_as_a_startup(world: World) -> None:
    world.write_bank("patterns", ONE)
    assert "Pattern: One" in begin(world, "birthday").block
    assert begin(world, "birthday", RECOLLECT_MEMORY_INJECTION_EVENTS="resume,clear").block == ""


def test_a_folder_that_is_gone_has_no_bank_but_what_is_shared(world: World) -> None:
    world.write_bank("patterns", ONE, shared=True)
    gone = world.home / "gone"
    event = {**event_of(world), "cwd": str(gone)}
    assert "Pattern: One" in begin_with(world, json.dumps(event).encode()).block
    assert f"there is no folder {gone}" in log_of(world)


def test_without_a_home_it_is_the_user_s_own(world: World) -> None:
    world.write_bank("patterns", ONE)
    assert "Pattern: One" in begin(world, HOME="").block


def test_a_store_that_cannot_be_made_costs_no_block(world: World) -> None:
    world.write_bank("patterns", ONE)
    world.store.write_text("a file where the folder should be", encoding="utf-8")
    for semantic in ("true", "false"):
        began = begin(world, RECOLLECT_MEMORY_SEMANTIC_ENABLED=semantic, **BY_WORDS)
        assert "Pattern: One" in began.block


@pytest.mark.parametrize("known", [True, False])
def test_a_store_that_cannot_be_written_costs_no_block(open_world: World, known: bool) -> None:
    bank = open_world.write_bank("patterns", ONE)
    os.utime(bank, (1e9, 1e9))  # a file that has just changed is read again, which would depend on the machine's speed
    if known:
        begin(open_world, session="s0", **BY_WORDS)
    for path in (open_world.store, *open_world.store.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = run_without_rights(
        ["hook", "session-start"],
        [],
        cwd=open_world.project,
        environment=environment_of(open_world, BY_WORDS),
        stdin=json.dumps(event_of(open_world)),
    )
    began = Began(done.returncode, done.stdout, done.stderr)
    assert "Pattern: One" in began.block
    assert (began.message == "recollect: 1 memory recalled") is known  # a store that is there can be read


@pytest.fixture
def open_world() -> Iterator[World]:
    """A world that processes without rights can read; pytest's own folders are nobody else's."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-test-"))
    folder.chmod(0o755)
    (folder / "home" / "shop-front").mkdir(parents=True)
    (folder / "store").mkdir()
    yield World(folder / "home", folder / "home" / "shop-front", folder / "store", semantic=True)
    shutil.rmtree(folder)


def test_nobody_who_listens_is_no_failure(world: World) -> None:
    world.write_bank("patterns", ONE)
    process, reader = open_hook(world, {})
    assert process.stdin
    assert process.stdout
    process.stdout.close()
    process.stdin.write(json.dumps(event_of(world)).encode())
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    assert is_over(reader)
    os.close(reader)
    assert process.stderr
    process.stderr.close()


def test_wrong_settings_are_logged_and_stop_nothing(world: World) -> None:
    world.write_bank("patterns", ONE)
    world.write_local_settings("memory_injection_limit: lots\n")
    assert "Pattern: One" in begin(world).block
    assert "session-start: .claude/iflow-dev.local.md line 1: memory_injection_limit must be" in log_of(world)


@pytest.mark.parametrize("value", ["False", "no", "off", '"false"', "0", "false  # why", "flase"])
def test_every_value_but_true_switches_the_start_block_off(world: World, value: str) -> None:
    world.write_bank("patterns", ONE)
    world.write_local_settings(f"---\nmemory_injection_enabled: {value}\n---\n")
    assert begin(world).block == ""


def test_a_value_that_cannot_be_read_is_said_at_the_next_start_once_a_day(world: World) -> None:
    world.write_bank("patterns", ONE)
    world.write_local_settings("retrieval.enabled: flase\nmemory_injection_limit: lots\n")
    event = {"prompt": "what is known about the one lesson?", "session_id": "s0", "cwd": str(world.project)}
    world.run_hook("prompt", event)
    assert "settings: .claude/iflow-dev.local.md line 1: retrieval.enabled must be true or false" in log_of(world)
    assert begin(world, "compact").message == ""
    assert begin(world, session="s1").message == (
        "recollect: .claude/iflow-dev.local.md line 1: retrieval.enabled must be true or false, not 'flase';"
        " false is used; `recollect config` shows it and 1 more of the kind. 1 memory recalled."
    )
    assert begin(world, session="s2").message == "recollect: 1 memory recalled"
    other = replace(world, project=world.home / "till")
    other.project.mkdir()
    other.write_local_settings("retrieval.enabled: flase\n")
    assert "retrieval.enabled must be" in begin(other, session="s3").message


def test_memories_that_an_editor_has_changed_are_followed(semantic_world: World) -> None:
    path = semantic_world.write_decision("use-queue", title="Use a queue")
    for place in (path, path.parent):
        os.utime(place, (1_700_000_000, 1_700_000_000))
    begin(semantic_world, **BY_WORDS)
    path.write_text(path.read_text(encoding="utf-8").replace("Use a queue", "Use a stream"), encoding="utf-8")
    begin(semantic_world, session="s2", **BY_WORDS)
    assert stored(semantic_world) == {"Use a stream": "decision"}


def test_a_plugin_that_awaits_its_packages_serves_and_advises_nothing_wrong(
    semantic_world: World, tmp_path: Path
) -> None:
    semantic_world.write_bank("patterns", ONE)
    start_feature(semantic_world)
    python = tmp_path / "bare" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(os.path.realpath(sys.executable))
    data = tmp_path / "data"
    data.mkdir()
    (data / "build.outcome").write_text(f"9\n{time.time()}\nno network\n", encoding="utf-8")
    for session in ("s1", "s2"):
        reader, writer = os.pipe()
        done = subprocess.run(
            [python, *BARE_ENTRY[1:], "hook", "session-start"],
            input=json.dumps(event_of(semantic_world, session=session)),
            env=environment_of(semantic_world, {"CLAUDE_PLUGIN_DATA": str(data)}),
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=PATIENCE,
            pass_fds=(writer,),
        )
        os.close(writer)
        assert is_over(reader)
        os.close(reader)
        began = Began(done.returncode, done.stdout, done.stderr)
        assert "Pattern: One" in began.block
        assert "no network" in began.message or session == "s2"
        assert "pip install" not in done.stdout
    assert log_of(semantic_world) == ""


def test_a_git_that_hangs_ends_with_the_hook_even_if_the_store_is_held(semantic_world: World, start: Start) -> None:
    semantic_world.write_bank("patterns", ONE)
    begin(semantic_world, session="s0", **BY_WORDS)
    semantic_world.write_bank("patterns", ONE + "\n" + TWO)
    (semantic_world.project / ".git").mkdir()
    (semantic_world.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    git = semantic_world.home / "bin" / "git"
    git.parent.mkdir()
    # It holds a pipe open that only the end of the process closes.
    git.write_text(f"#!/bin/sh\nexec 9>{semantic_world.home}/held; exec sleep 1000\n", encoding="utf-8")
    git.chmod(0o755)
    os.mkfifo(semantic_world.home / "held")
    held = os.open(semantic_world.home / "held", os.O_RDONLY | os.O_NONBLOCK)
    other = start(LOCK, str(semantic_world.store / "memory.db"), "IMMEDIATE")
    assert heard(other) == "locked"
    began = begin(semantic_world, PATH=f"{git.parent}:{os.environ['PATH']}", **BY_WORDS)
    assert "Pattern: One" in began.block
    assert is_over(held)
    os.close(held)


def test_that_nothing_could_be_given_is_told(world: World) -> None:
    folder = world.home / "gone"
    folder.mkdir()
    process, reader = open_hook(world, {}, folder)
    folder.rmdir()
    event = {"session_id": "s1", "source": "startup"}  # and nobody says where
    stdout, stderr = process.communicate(json.dumps(event).encode(), timeout=PATIENCE)
    assert is_over(reader)
    os.close(reader)
    began = Began(process.returncode, stdout.decode(), stderr.decode())
    assert began.message.startswith("recollect: no memories could be given: FileNotFoundError")
    assert "nothing was given" in log_of(world)
