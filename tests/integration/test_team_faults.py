"""What goes wrong between laptops and their server: nothing is lost, nothing counts twice, and a sentence says so."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests import postgres
from tests.conftest import PATIENCE, RECOLLECT
from tests.laptops import BACKEND, Laptop
from tests.postgres import Team
from tests.proxy import Proxy

from recollect.config import locations
from recollect.domain.shared.lines import TeamLine
from recollect.domain.stored import StoredEntry
from recollect.errors import LockTimeout, StoreError
from recollect.files.journal.kinds import OUTGOING
from recollect.files.journal.log import append_lines, read_lines
from recollect.files.team.lines import pulled_lines
from recollect.store.open import open_store
from recollect.store.postgres.team_log import PostgresTeamLog
from recollect.store.values import BANK, Scope, Source
from recollect.team import say
from recollect.team.exchange import SENDING, exchange_lock
from recollect.team.join import look, status

JITTER = "Retries without jitter overload the gateway."
PAGES = "Offsets are slow on long lists. Keep a cursor."
DAY = 24 * 3600.0
TEN = 10.0  # seconds


@pytest.fixture
def team(tmp_path: Path) -> Team:
    made = postgres.server().team(tmp_path)
    prepare(made)
    return made


def prepare(team: Team) -> None:
    with team.log("ann") as log:
        log.create_scope(BACKEND)
        team.let_in(log, BACKEND, "bob", "writer")


@pytest.fixture
def ann(team: Team, tmp_path: Path) -> Laptop:
    return joined(tmp_path, "ann", team.url("ann"))


@pytest.fixture
def bob(team: Team, tmp_path: Path) -> Laptop:
    return joined(tmp_path, "bob", team.url("bob"))


def joined(folder: Path, name: str, url: str) -> Laptop:
    laptop = Laptop(folder, name, url)
    laptop.join()
    return laptop


def lines_there(team: Team) -> list[TeamLine]:
    with team.log("ann") as log:
        return log.read(BACKEND, 0, 100_000)


# The client


def test_a_client_killed_before_it_hears_the_answer_sends_nothing_twice(
    team: Team, tmp_path: Path, through: Proxy
) -> None:
    ann = Laptop(tmp_path, "ann", address(team, "ann", through))
    ann.join()
    ann.share(JITTER)
    ann.share(PAGES)
    process: list[subprocess.Popen[bytes]] = []

    def kill() -> None:
        process[0].kill()

    through.at_answer_to("append_lines", kill)
    process.append(start_sync(ann))
    assert process[0].wait(PATIENCE) == -signal.SIGKILL

    assert len(lines_there(team)) == 2  # the server has them, and nobody knows
    assert status(ann.workspace).unsent == 2
    done = ann.sync()
    assert (done.sent, done.refused, status(ann.workspace).unsent) == (2, [], 0)
    assert len(lines_there(team)) == 2
    assert ann.lessons() == {JITTER: (1, ""), PAGES: (1, "")}


def start_sync(laptop: Laptop) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "RECOLLECT_HOME": str(laptop.store), "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
    command = [RECOLLECT, "team", "sync", "--project-root", str(laptop.project)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_a_line_a_thousand_times_in_a_journal_counts_once(ann: Laptop, bob: Laptop, team: Team) -> None:
    ann.share(JITTER)
    (line,) = [each for each in read_lines(ann.workspace.journal, 0).lines if "outgoing" in each]
    append_lines(ann.workspace.journal, OUTGOING, [OUTGOING.parse(line)] * 999)
    ann.sync()
    ann.sync(again=True)
    bob.sync()

    assert len(lines_there(team)) == 1
    assert bob.lessons() == {JITTER: (1, "ann in team:backend")}


def test_pulled_lines_a_thousand_times_in_their_file_count_once(ann: Laptop, bob: Laptop) -> None:
    ann.share(JITTER)
    ann.sync()
    bob.sync()
    path = Path(locations.team_lines(str(bob.store), BACKEND))
    path.write_bytes(path.read_bytes() * 1000)

    assert bob.lessons() == {JITTER: (1, "ann in team:backend")}
    assert bob.sync().pulled == 0


def test_two_exchanges_at_once_on_one_machine_take_turns(ann: Laptop) -> None:
    ann.share(JITTER)
    with exchange_lock(str(ann.store)), pytest.raises(LockTimeout):
        ann.sync(wait=0.0)
    assert ann.sync().sent == 1


# Clocks


@pytest.mark.parametrize("wrong", [DAY, -DAY], ids=["ahead", "behind"])
def test_a_clock_wrong_by_a_day_loses_nothing(ann: Laptop, bob: Laptop, team: Team, wrong: float) -> None:
    bob.ahead = wrong
    bob.share(JITTER)
    bob.share(PAGES)
    done = bob.sync()
    assert (done.sent, done.refused) == (2, [])
    assert any("clock of this machine was ahead" in each for each in done.warnings) == (wrong > 0)
    ids = [line.id for line in lines_there(team)]
    assert ids == sorted(ids)
    bob.sync(again=True)
    assert [line.id for line in lines_there(team)] == ids  # not once more, under other ids

    # From then on it knows how wrong it is: what it says after ann is later than what she said.
    ann.sync()
    ann.edit(JITTER, f"{JITTER} Wait.")
    ann.sync()
    bob.sync()
    bob.confirm(f"{JITTER} Wait.")
    bob.sync()
    last = lines_there(team)
    assert "confirmed" in last[-1].body
    assert last[-1].id == max(line.id for line in last)


# Backups


def test_a_journal_restored_on_a_second_laptop_says_nothing_twice(
    team: Team, tmp_path: Path, ann: Laptop, bob: Laptop
) -> None:
    ann.share(JITTER)
    ann.note(PAGES)
    ann.sync()
    shutil.copytree(ann.store, tmp_path / "anns-new" / "store")
    new = Laptop(tmp_path, "anns-new", ann.url)
    path = new.store / "team.json"
    state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    state["machine"]["host"] = "the-old-laptop 01234567"  # the files were made there
    path.write_text(json.dumps(state), encoding="utf-8")

    told = new.sync(again=True).warnings
    assert any("these files come from the-old-laptop" in each for each in told)
    assert new.state.machine != ann.state.machine
    assert len(lines_there(team)) == 1
    # Both go on from there, each in its own name.
    assert new.promote(PAGES).outcome == ann.promote(PAGES).outcome == "shared"
    new.sync()
    ann.sync()
    bob.sync()
    ids = [line.id for line in lines_there(team)]
    assert len({id[-8:] for id in ids}) == 2
    assert bob.lessons()[PAGES][0] == 1, "one person, one day"


def test_a_journal_restored_alone_is_joined_again_without_harm(team: Team, tmp_path: Path, ann: Laptop) -> None:
    ann.share(JITTER)
    ann.sync()
    new = Laptop(tmp_path, "anns-new", ann.url)
    shutil.copy(ann.workspace.journal, new.workspace.journal)
    done = new.join()

    assert done.refused == []
    assert len(lines_there(team)) == 1
    assert new.lessons() == {JITTER: (1, "")}


def test_a_server_restored_from_an_older_backup_gets_what_it_lost(team: Team, ann: Laptop, bob: Laptop) -> None:
    ann.share(JITTER)
    ann.sync()
    bob.sync()
    bob.share(PAGES)
    bob.sync()
    ann.sync()
    lose = f'SET session_replication_role = replica; DELETE FROM "{team.schema}".lines WHERE seq > 1'
    team.server.run(lose)

    (told,) = bob.sync().warnings
    assert "perhaps it was restored" in told
    assert [line.author for line in lines_there(team)] == ["ann", "bob"]
    ann.sync()
    assert ann.lessons()[PAGES] == (1, "bob in team:backend")
    assert bob.sync().warnings == []


def test_a_server_that_sends_the_same_lines_for_ever_is_given_up(
    ann: Laptop, bob: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann.share(JITTER)
    ann.sync()
    read = PostgresTeamLog.read
    monkeypatch.setattr(PostgresTeamLog, "read", lambda log, scope, _after, limit: read(log, scope, 0, limit))
    with pytest.raises(StoreError, match="the log of team:backend on the server cannot be used"):
        bob.sync()
    assert bob.lines().count(b"\n") == 1

    monkeypatch.undo()
    bob.sync()
    assert bob.lessons() == {JITTER: (1, "ann in team:backend")}


@pytest.mark.parametrize("value", ["9" * 5_000, "[" * 5_000 + "]" * 5_000], ids=["digits", "depth"])
def test_a_line_that_cannot_be_read_keeps_nobody_from_the_others(
    team: Team, ann: Laptop, bob: Laptop, value: str
) -> None:
    body = f'{{"observed": "{"a" * 16}", "more": {value}}}'
    line = f'[{{"id": "1700000000000-000000-abcdef01", "body": {body}}}]'
    with psycopg.connect(team.url("bob")) as connection:  # with plain SQL, as any writer can
        assert connection.execute("SELECT * FROM append_lines(%s, %s)", (BACKEND, line)).fetchall() == []
    bob.share(JITTER)
    bob.sync()

    done = ann.sync()
    assert done.pulled == 2
    assert any("1 line was left out of team:backend" in each for each in done.warnings)
    assert ann.lessons() == {JITTER: (1, "bob in team:backend")}
    assert ann.sync().pulled == 0


def test_an_exchange_without_anything_new_reads_no_file_of_pulled_lines_whole(
    ann: Laptop, bob: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann.share(JITTER)
    ann.sync()
    bob.sync()
    whole: list[str] = []
    monkeypatch.setattr("recollect.files.team.lines.read_lines", lambda path, *_: whole.append(path))

    assert (bob.sync().pulled, whole) == (0, [])


def test_a_lost_or_cut_file_of_pulled_lines_is_pulled_again(ann: Laptop, bob: Laptop) -> None:
    ann.share(JITTER)
    ann.share(PAGES)
    ann.sync()
    bob.sync()
    path = Path(locations.team_lines(str(bob.store), BACKEND))
    path.write_bytes(path.read_bytes()[:-30])
    assert bob.sync().pulled == 1
    path.unlink()
    assert bob.sync().pulled == 2
    assert set(bob.lessons()) == {JITTER, PAGES}


# The server


@pytest.fixture
def through(team: Team) -> Iterator[Proxy]:
    proxy = Proxy(team.server.folder)
    yield proxy
    proxy.close()


def address(team: Team, login: str, proxy: Proxy) -> str:
    team.url(login)  # it is let in
    return f"postgresql://{login}@127.0.0.1:{proxy.port}/postgres?options=-csearch_path%3D{team.schema}"


def test_a_server_that_hangs_is_given_up_and_said_to(team: Team, tmp_path: Path, through: Proxy) -> None:
    ann = Laptop(tmp_path, "ann", address(team, "ann", through))
    ann.join()
    ann.share(JITTER)
    through.hangs.set()
    with pytest.raises(StoreError):
        ann.sync(patience=0.1)

    found = status(ann.workspace)
    assert (found.unsent, bool(found.error)) == (1, True)
    assert look(ann.workspace, patience=0.1)
    assert ann.lessons() == {JITTER: (1, "")}
    through.hangs.clear()
    assert ann.sync().sent == 1
    assert status(ann.workspace).error == ""


def test_a_slow_server_is_waited_for(team: Team, tmp_path: Path, through: Proxy) -> None:
    ann = Laptop(tmp_path, "ann", address(team, "ann", through))
    ann.join()
    ann.share(JITTER)
    through.delay = 0.3  # each answer
    assert ann.sync(patience=5.0).sent == 1


def fails_and_keeps(laptop: Laptop, sentence: str, unsent: int = 1) -> None:
    """Check that an exchange fails with a sentence, which is kept, and that so many lines are still to be sent."""
    with pytest.raises(StoreError, match=sentence) as caught:
        laptop.sync(patience=0.5)
    found = status(laptop.workspace)
    assert (found.unsent, found.error) == (unsent, str(caught.value))


def sends_once(team: Team, laptop: Laptop, unsent: int = 1) -> None:
    """Check that the lines are sent now, each once, however often they are sent."""
    before = len(lines_there(team))
    done = laptop.sync()
    assert (done.sent, done.refused) == (unsent, [])
    assert laptop.sync(again=True).refused == []
    ids = [line.id for line in lines_there(team)]
    assert len(set(ids)) == len(ids) == before + unsent
    assert (status(laptop.workspace).unsent, status(laptop.workspace).error) == (0, "")


def test_a_server_with_a_full_disk_is_said_and_gets_the_rest_later(team: Team, ann: Laptop, bob: Laptop) -> None:
    hashes = [f"{number:016x}" for number in range(1_200)]
    say.say(ann.workspace, BACKEND, [{"observed": each} for each in hashes])
    full = f"{team.schema}.full_disk"
    team.server.run(
        f"CREATE FUNCTION {full}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;"
        f" CREATE TRIGGER full_disk BEFORE INSERT ON {team.schema}.lines FOR EACH ROW"
        f" WHEN (NEW.hash = '{hashes[700]}') EXECUTE FUNCTION {full}()"
    )
    fails_and_keeps(ann, "No space left.*make room on the disk of the server", unsent=700)
    assert len(lines_there(team)) == 500  # a portion is kept as a whole or not at all

    team.server.run(f"DROP TRIGGER full_disk ON {team.schema}.lines")
    sends_once(team, ann, unsent=700)
    assert bob.sync().pulled == 1_200


def test_a_server_that_takes_no_writes_is_pulled_from_and_gets_the_lines_later(
    team: Team, ann: Laptop, bob: Laptop
) -> None:
    bob.share(PAGES)
    bob.sync()
    ann.share(JITTER)
    read_only = ann.url.replace("-csearch_path", "-cdefault_transaction_read_only%3Don%20-csearch_path")
    move(ann, read_only)
    fails_and_keeps(ann, "the server takes no writes now; try again later, or name the primary server")
    assert ann.lessons() == {JITTER: (1, ""), PAGES: (1, "bob in team:backend")}

    move(ann, ann.url)
    sends_once(team, ann)


def move(laptop: Laptop, url: str) -> None:
    """Let the address of a laptop's team lead elsewhere, as a name does whose server has changed."""
    path = laptop.store / "team.json"
    state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**state, "address": url}), encoding="utf-8")


def test_a_server_of_a_newer_version_is_left_alone_until_the_upgrade(team: Team, ann: Laptop) -> None:
    ann.share(JITTER)
    team.server.run(f"INSERT INTO {team.schema}._migrations VALUES (99, 'm099_unheard', '2030-01-01')")
    fails_and_keeps(ann, "newer version of recollect; upgrade")
    assert ann.lessons() == {JITTER: (1, "")}

    team.server.run(f"DELETE FROM {team.schema}._migrations WHERE version = 99")
    sends_once(team, ann)


def test_a_server_without_the_encryption_asked_for_gets_nothing(
    team: Team, tmp_path: Path, through: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = joined(tmp_path, "ann", address(team, "ann", through))
    ann.share(JITTER)
    monkeypatch.setenv("PGSSLMODE", "require")
    fails_and_keeps(ann, "server does not support SSL, but SSL was required")
    assert lines_there(team) == []

    monkeypatch.delenv("PGSSLMODE")
    sends_once(team, ann)


def test_an_answer_that_takes_seconds_is_waited_for(team: Team, tmp_path: Path, through: Proxy) -> None:
    ann = joined(tmp_path, "ann", address(team, "ann", through))
    ann.share(JITTER)
    through.hold_answer_to("append_lines", threading.Event(), 2.5)  # longer than the least that is waited for
    sends_once(team, ann)


@pytest.mark.slow
def test_an_answer_after_ten_seconds_is_waited_for_by_an_exchange(team: Team, tmp_path: Path, through: Proxy) -> None:
    ann = joined(tmp_path, "ann", address(team, "ann", through))
    ann.share(JITTER)
    through.hold_answer_to("append_lines", threading.Event(), TEN)
    sends_once(team, ann)


@pytest.mark.slow
def test_a_direct_search_waits_ten_seconds_or_says_that_it_did_not(team: Team, through: Proxy) -> None:
    with open_store(address(team, "ann", through), patience=5.0) as store:
        store.put(
            Source("/bank.md", BANK), [StoredEntry(id="a", category="patterns", name="A", description="Pelicans.")]
        )
        through.hold_answer_to("ts_rank", threading.Event(), TEN)
        assert [match.id for match in store.text_matches(["pelican"], Scope(None), 5)] == ["a"]
        given_up = threading.Event()
        store.wait(1.0)
        through.hold_answer_to("ts_rank", given_up, TEN)
        with pytest.raises(StoreError, match=r"it did not answer in 3 s; try again, or see what the server does"):
            store.text_matches(["pelican"], Scope(None), 6)
        given_up.set()
        assert [match.id for match in store.text_matches(["pelican"], Scope(None), 6)] == ["a"]


def test_an_answer_that_comes_too_late_leaves_each_line_there_once(team: Team, tmp_path: Path, through: Proxy) -> None:
    ann = joined(tmp_path, "ann", address(team, "ann", through))
    ann.share(JITTER)
    given_up = threading.Event()
    through.hold_answer_to("append_lines", given_up, 60.0)
    fails_and_keeps(ann, "it did not answer in 2 s; try again")
    given_up.set()
    (line,) = lines_there(team)  # the server has it, and nobody knows

    assert ann.sync().sent == 1
    assert [each.id for each in lines_there(team)] == [line.id]


def test_hooks_and_searches_never_ask_the_server(team: Team, tmp_path: Path, through: Proxy) -> None:
    ann = Laptop(tmp_path, "ann", address(team, "ann", through))
    ann.join()
    ann.share(JITTER)
    ann.sync()
    through.hangs.set()
    asked = through.connections
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(ann.home),
        "RECOLLECT_HOME": str(ann.store),
        "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false",
    }
    event = {"session_id": "s1", "cwd": str(ann.project), "source": "startup", "prompt": "does retrying need jitter?"}
    for arguments in (["hook", "session-start"], ["hook", "prompt"], ["hook", "stop"], ["search", "gateway"]):
        done = subprocess.run(
            [RECOLLECT, *arguments],
            input=json.dumps(event),
            cwd=ann.project,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert through.connections == asked


class OwnServer:
    """A server that a test may kill and start again."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="recollect-own-"))
        self._process = postgres.start_own(self.folder)
        self.server = postgres.Server(self.folder)
        self.server.prepare()
        self.server.run("ALTER DATABASE postgres SET synchronous_commit = on")  # what it says is done stays done

    def kill(self) -> None:
        """Kill it at once, as a power failure does: also the processes that serve its clients."""
        own = str(self._process.pid)
        parents = {path.name: path / "stat" for path in Path("/proc").iterdir() if path.name.isdecimal()}
        children = [pid for pid, stat in parents.items() if _parent(stat) == own]
        for pid in (own, *children):
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        self._process.wait()

    def start(self) -> None:
        self._process = postgres.start_again(self.folder)

    def close(self) -> None:
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _parent(stat: Path) -> str:
    try:
        return stat.read_text(encoding="utf-8").rpartition(")")[2].split()[1]
    except OSError:
        return ""


@pytest.fixture
def own() -> Iterator[OwnServer]:
    made = OwnServer()
    yield made
    made.close()


@pytest.mark.slow
def test_a_server_killed_in_the_middle_loses_nothing(own: OwnServer, tmp_path: Path) -> None:
    team = own.server.team(tmp_path)
    prepare(team)
    ann, bob = joined(tmp_path, "ann", team.url("ann")), joined(tmp_path, "bob", team.url("bob"))
    say.say(ann.workspace, BACKEND, [{"observed": f"{n:016x}"} for n in range(2_000)])

    def kill_after_the_first(stage: str, done: int, _total: int) -> None:
        if stage == SENDING and done == 500:
            own.kill()

    with pytest.raises(StoreError):
        ann.sync(progress=kill_after_the_first, patience=0.5)
    with pytest.raises(StoreError):
        bob.sync(patience=0.5)
    assert status(ann.workspace).unsent == 1_500
    assert "check that the server runs" in status(ann.workspace).error

    own.start()
    assert ann.sync().sent == 1_500
    assert bob.sync().pulled == 2_000
    lines, _, _ = pulled_lines(locations.team_lines(str(bob.store), BACKEND))
    assert len({line.id for line in lines}) == len(lines) == 2_000
    assert [line.seq for line in lines] == list(range(1, 2_001))


@pytest.mark.slow
def test_a_changed_password_is_said_and_nothing_is_lost(
    own: OwnServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = own.server.team(tmp_path)
    prepare(team)
    own.server.run("ALTER ROLE ann PASSWORD 'first'")
    rules = own.folder / "data" / "pg_hba.conf"
    rules.write_text("local all ann scram-sha-256\nlocal all all trust\n", encoding="utf-8")
    own.server.run("SELECT pg_reload_conf()")
    monkeypatch.setenv("PGPASSWORD", "first")
    ann = joined(tmp_path, "ann", team.url("ann"))
    ann.share(JITTER)
    own.server.run("ALTER ROLE ann PASSWORD 'second'")

    with pytest.raises(StoreError, match=r"PGPASSWORD or ~/\.pgpass") as caught:
        ann.sync(patience=0.5)
    assert "first" not in str(caught.value)
    assert status(ann.workspace).unsent == 1
    assert "first" not in (ann.store / "team.json").read_text(encoding="utf-8")
    monkeypatch.setenv("PGPASSWORD", "second")
    assert ann.sync().sent == 1


def test_another_user_on_the_server_is_noticed(team: Team, ann: Laptop) -> None:
    move(ann, team.url("bob"))
    with pytest.raises(Exception, match="the server knows you as bob, but ann has joined here"):
        ann.sync()
