"""A proxy between a client and a PostgreSQL server, which can be slow, hang, or do something at a chosen word."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_CHUNK = 65_536


class Proxy:
    """A listener on a port of this machine that passes bytes on to a server's Unix socket."""

    def __init__(self, folder: Path) -> None:
        self._server = str(folder / ".s.PGSQL.5432")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        self.hangs = threading.Event()  # while set, no answer is passed on
        self.delay = 0.0  # in seconds: before each answer
        self._word = b""
        self._act: Callable[[], None] = lambda: None
        self._ended = threading.Event()
        self._asked = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def at_answer_to(self, word: str, act: Callable[[], None]) -> None:
        """Do something once, when the server has answered a question with a word in it and nobody has heard that."""
        self._word, self._act = word.encode(), act

    def hold_answer_to(self, word: str, released: threading.Event, seconds: float) -> None:
        """Keep one answer back until it is released, or for so many seconds."""

        def hold() -> None:
            released.wait(seconds)

        self.at_answer_to(word, hold)

    def close(self) -> None:
        self._ended.set()
        self.hangs.clear()
        _close(self._listener)  # a thread that waits for a connection would still take one

    def _serve(self) -> None:
        while not self._ended.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            with suppress(OSError):
                server.connect(self._server)
            threading.Thread(target=self._questions, args=(client, server), daemon=True).start()
            threading.Thread(target=self._answers, args=(server, client), daemon=True).start()

    def _questions(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(_CHUNK):
                if self._word and self._word in data:
                    self._asked.set()
                server.sendall(data)
        _close(server)

    def _answers(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(_CHUNK):
                if self._asked.is_set():
                    self._asked.clear()
                    self._word = b""
                    self._act()
                self._ended.wait(self.delay)
                while self.hangs.is_set() and not self._ended.is_set():
                    self._ended.wait(0.02)
                client.sendall(data)
        _close(client)


def _close(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
