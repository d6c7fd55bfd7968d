"""Encrypted connections to a real server: certificates that are trusted, and those that are not."""

from __future__ import annotations

import datetime
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
import trustme
from tests import postgres
from tests.postgres import Team

from recollect.errors import StoreError
from recollect.store.open import open_store, open_team

WAITED = 60.0
REQUEST = 8  # bytes of the request for an encrypted connection
CHUNK = 65_536


class Encrypted:
    """A listener that speaks TLS with clients and passes on what they say to a server's Unix socket."""

    def __init__(self, folder: Path, certificate: trustme.LeafCert) -> None:
        self._server = str(folder / ".s.PGSQL.5432")
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        certificate.configure_cert(self._context)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.encrypted = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(client,), daemon=True).start()

    def _talk(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(WAITED)
            client.recv(REQUEST)
            client.sendall(b"S")
            with self._context.wrap_socket(client, server_side=True) as spoken, closing(self._connected()) as server:
                self.encrypted += 1
                spoken.settimeout(0.01)  # one thread for both directions: a TLS socket is not for two
                server.settimeout(0.01)
                while True:
                    for source, target in ((spoken, server), (server, spoken)):
                        with suppress(TimeoutError):
                            data = source.recv(CHUNK)
                            if not data:
                                return
                            target.sendall(data)

    def _connected(self) -> socket.socket:
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._server)
        return server


@pytest.fixture
def team(tmp_path: Path) -> Team:
    return postgres.server().team(tmp_path)


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path) -> Path:
    """The file of the authority that clients trust."""
    path = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


def address(team: Team, proxy: Encrypted, mode: str, root: Path) -> str:
    team.url("ann")  # she is let in
    options = f"-csearch_path%3D{team.schema}"
    return f"postgresql://ann@127.0.0.1:{proxy.port}/postgres?options={options}&sslmode={mode}&sslrootcert={root}"


@pytest.fixture
def good(team: Team, authority: trustme.CA) -> Iterator[Encrypted]:
    with closing(Encrypted(team.server.folder, authority.issue_cert("127.0.0.1"))) as proxy:
        yield proxy


def test_certificate_of_the_right_host_and_a_trusted_authority_is_taken(
    team: Team, good: Encrypted, trusted: Path
) -> None:
    with open_team(address(team, good, "verify-full", trusted)) as log:
        assert log.user() == "ann"
    with open_store(address(team, good, "verify-full", trusted)) as store:
        store.set_meta("note", "kept")
        assert store.get_meta("note") == "kept"
    assert good.encrypted == 2


CERTIFICATE = "does not prove that it is the one in the address"


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("stranger", "certificate verify failed"),
        ("elsewhere", "does not match host name"),
        ("expired", "certificate verify failed"),
    ],
)
def test_certificate_that_is_not_to_be_trusted_is_refused_with_a_sentence(
    team: Team, authority: trustme.CA, trusted: Path, host: str, reason: str
) -> None:
    yesterday = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    certificate = {
        "stranger": lambda: trustme.CA().issue_cert("127.0.0.1"),
        "elsewhere": lambda: authority.issue_cert("db.example"),
        "expired": lambda: authority.issue_cert("127.0.0.1", not_after=yesterday),
    }[host]()
    with closing(Encrypted(team.server.folder, certificate)) as proxy:
        with pytest.raises(StoreError) as caught:
            open_team(address(team, proxy, "verify-full", trusted), patience=1.0)
        told = str(caught.value)
        assert re.search(reason, told)
        assert CERTIFICATE in told
        assert "sslrootcert" in told
        assert "PGPASSWORD" not in told


def test_authority_that_is_missing_is_named(team: Team, good: Encrypted, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r'root certificate file ".*gone\.pem" does not exist.*sslrootcert'):
        open_team(address(team, good, "verify-full", tmp_path / "gone.pem"), patience=1.0)


def test_server_without_tls_is_refused_where_it_was_asked_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            client, _ = listening.accept()
            with client:
                client.recv(REQUEST)
                client.sendall(b"N")

        threading.Thread(target=refuse, daemon=True).start()
        port = listening.getsockname()[1]
        with pytest.raises(StoreError, match=r"does not support SSL.*turn TLS on there"):
            open_team(f"postgresql://ann@127.0.0.1:{port}/memory?sslmode=require", patience=0.1)
