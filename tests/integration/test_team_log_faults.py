"""The log of a team when its server fails: nothing is lost, nothing counts twice, and a sentence says what to do."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import postgres
from tests.laptops import Laptop
from tests.postgres import Server, Team

from recollect.domain.shared.lines import TeamLine
from recollect.errors import StoreError
from recollect.store.open import open_team, prepare_team
from recollect.store.team import TeamLog

BACKEND = "team:backend"


def lines(count: int, start: int = 0) -> list[TeamLine]:
    now = int(time.time() * 1000)
    return [TeamLine(f"{now:013}-{start + each:06}-0000abcd", {"shared": f"h{start + each}"}) for each in range(count)]


def known(log: TeamLog) -> list[str]:
    return [line.id for line in log.read(BACKEND, 0, 10_000)]


@pytest.fixture
def team(tmp_path: Path) -> Team:
    team = postgres.server().team(tmp_path)
    with team.log("ann") as ann:
        ann.create_scope(BACKEND)
    return team


@pytest.fixture
def own() -> Iterator[tuple[Server, list[subprocess.Popen[bytes]]]]:
    """A server of its own, and the processes that ran it; the last one is ended."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-own-"))
    processes = [postgres.start_own(folder)]
    server = Server(folder)
    prepare_team(server.url())
    with open_team(server.url()) as log:
        log.create_scope(BACKEND)
    yield server, processes
    processes[-1].send_signal(signal.SIGQUIT)
    processes[-1].wait()
    shutil.rmtree(folder, ignore_errors=True)


def test_server_killed_in_the_middle_keeps_what_it_said_yes_to_and_the_rest_is_sent_again(
    own: tuple[Server, list[subprocess.Popen[bytes]]],
) -> None:
    import psycopg

    server, processes = own
    given = lines(20)
    log = open_team(server.url(), patience=0.1)
    assert log.append(BACKEND, given[:10]) == []
    server.run("CHECKPOINT")
    unfinished = psycopg.connect(server.url())
    unfinished.execute("SET search_path = recollect")
    body = f'[{{"id": "{given[15].id}", "body": {{"shared": "h15"}}}}]'
    unfinished.execute("SELECT * FROM append_lines(%s, %s)", (BACKEND, body))
    processes[0].send_signal(signal.SIGQUIT)  # no orderly end: as after a power failure
    processes[0].wait()
    unfinished.close()
    with pytest.raises(StoreError, match="check that the server runs"):
        log.append(BACKEND, given)
    processes.append(postgres.start_again(server.folder))
    assert known(log) == [line.id for line in given[:10]]
    assert log.append(BACKEND, given) == []
    assert known(log) == [line.id for line in given]
    assert [line.seq for line in log.read(BACKEND, 0, 100)] == list(range(1, 21))
    log.close()


def test_full_disk_is_said_and_the_lines_come_later(team: Team) -> None:
    schema = team.schema
    team.server.run(
        f"CREATE FUNCTION {schema}.full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;"
        f" CREATE TRIGGER full_disk BEFORE INSERT ON {schema}.lines FOR EACH ROW WHEN (NEW.hash = 'h3')"
        f" EXECUTE FUNCTION {schema}.full_disk()"
    )
    given = lines(5)
    with team.log("ann") as ann:
        with pytest.raises(StoreError, match="make room on the disk of the server"):
            ann.append(BACKEND, given)
        assert known(ann) == [], "a portion is kept as a whole or not at all"
        team.server.run(f"DROP TRIGGER full_disk ON {schema}.lines")
        assert ann.append(BACKEND, given) == []
        assert known(ann) == [line.id for line in given]


def test_read_only_server_is_read_and_an_append_is_refused_with_a_sentence(team: Team) -> None:
    with team.log("ann") as ann:
        ann.append(BACKEND, lines(1))
    calm = team.url("ann").replace("-csearch_path", "-cdefault_transaction_read_only%3Don%20-csearch_path")
    with open_team(calm) as log:
        assert len(known(log)) == 1
        with pytest.raises(StoreError, match="the server takes no writes now"):
            log.append(BACKEND, lines(1, start=5))


def test_schema_newer_than_this_version_is_refused_with_a_sentence(team: Team) -> None:
    team.server.run(f"INSERT INTO {team.schema}._migrations VALUES (99, 'm099_unheard', '2030-01-01')")
    with pytest.raises(StoreError, match="newer version of recollect; upgrade"):
        team.log("ann")


def test_connection_lost_between_two_calls_is_opened_again(team: Team) -> None:
    name = f"&application_name={team.schema}"
    with open_team(team.url("ann") + name) as log:
        given = lines(2)
        assert log.append(BACKEND, given[:1]) == []
        cut = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{team.schema}'"
        team.server.run(cut)
        assert log.append(BACKEND, given) == []
        team.server.run(cut)
        assert known(log) == [line.id for line in given]


def test_password_that_has_changed_is_said_and_the_new_one_lets_in(
    own: tuple[Server, list[subprocess.Popen[bytes]]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server, _ = own
    server.run("CREATE ROLE zoe LOGIN PASSWORD 'first' IN ROLE recollect_member")
    rules = server.folder / "data" / "pg_hba.conf"
    rules.write_text(f"local all zoe scram-sha-256\n{rules.read_text(encoding='utf-8')}", encoding="utf-8")
    server.run("SELECT pg_reload_conf()")
    monkeypatch.setenv("PGPASSWORD", "first")
    log = open_team(server.url(user="zoe"), patience=0.1)
    assert log.user() == "zoe"
    server.run("ALTER ROLE zoe PASSWORD 'second'")
    server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'zoe'")
    with pytest.raises(
        StoreError, match=r"the server runs; check the login in .* the password in PGPASSWORD or ~/\.pgpass"
    ):
        log.user()
    monkeypatch.setenv("PGPASSWORD", "second")
    assert log.user() == "zoe"
    log.close()

    # Whoever joins is told which of the two it is, before anything is stored.
    for password, address, told in (
        ("wrong", server.url(user="zoe"), "authentication failed .*; the server runs; check the login"),
        ("second", "postgresql://zoe@127.0.0.1:1/memory", "; check that the server runs, and its name and port"),
    ):
        monkeypatch.setenv("PGPASSWORD", password)
        laptop = Laptop(tmp_path, "zoe", address)
        with pytest.raises(StoreError, match=told) as failed:
            laptop.join(accept=False)
        assert "\n" not in str(failed.value)
        assert not (laptop.store / "team.json").exists()


# Between the client and the server


class Proxy:
    """Passes bytes on between a socket of its own and a server, until told to keep the answers to itself."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.silent = threading.Event()
        self._target = str(server.folder / ".s.PGSQL.5432")
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(folder / ".s.PGSQL.5432"))
        self._listening.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            threading.Thread(target=self._pass_on, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(server, client, True), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        try:
            while data := source.recv(65536):
                if not (is_answer and self.silent.is_set()):
                    target.sendall(data)
        except OSError:
            pass
        finally:
            source.close()
            target.close()

    def close(self) -> None:
        self._listening.close()


@pytest.mark.slow
def test_answer_that_never_comes_is_given_up_and_the_lines_count_once(team: Team) -> None:
    folder = Path(tempfile.mkdtemp(prefix="recollect-proxy-"))
    proxy = Proxy(team.server, folder)
    url = team.url("ann").replace(f"host={team.server.folder}", f"host={folder}")
    given = lines(3)
    try:
        with open_team(url, patience=0.1) as log:
            proxy.silent.set()
            with pytest.raises(StoreError, match="it did not answer in 2 s; try again"):
                log.append(BACKEND, given)
            proxy.silent.clear()
            assert log.append(BACKEND, given) == []
            assert known(log) == [line.id for line in given], "the server had taken them, and takes them once"
    finally:
        proxy.close()
        shutil.rmtree(folder)
