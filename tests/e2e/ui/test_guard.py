"""Who may see the pages: requests made by hand, as a hostile page or another machine would make them."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from tests.conftest import PATIENCE, World
from tests.e2e.ui.conftest import Serve, Served

from recollect.web import guard
from recollect.web.guard import MAX_BODY
from recollect.web.place import LIFE


class Caller:
    """Makes requests to a server, with the key once it was let in."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.host = urlsplit(served.url).netloc
        self.known: dict[str, str] = {}

    def ask(
        self, path: str, method: str = "GET", body: str | None = None, **headers: str
    ) -> tuple[int, http.client.HTTPMessage, str]:
        """Make a request with these headers; one that is empty is left out."""
        connection = self.connected()
        sent = {**self.known, "Host": self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.request(method, path, body, {name: value for name, value in sent.items() if value})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def connected(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", urlsplit(self.served.url).port, timeout=PATIENCE)

    def enter(self, token: str = "") -> int:
        status, _, said = self.ask("/enter", "POST", token or self.served.token, Authorization="")
        if status == 200:
            self.known = {"Authorization": f"Bearer {json.loads(said)['key']}"}
        return status


@pytest.fixture
def caller(world: World, serve: Serve) -> Iterator[Caller]:
    made = Caller(serve(world))
    assert made.enter() == 200
    yield made
    made.served.process.terminate()
    assert made.served.process.wait(PATIENCE) == 128 + 15


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 200),
        ("/", {"Authorization": "Bearer x"}, 403),
        ("/", {"Authorization": "Basic x"}, 403),
        ("/events", {"Authorization": "Bearer x"}, 403),
        ("/static/style.css", {"Authorization": ""}, 200),
        ("/static/../app.py", {}, 404),
        ("/static/%2e%2e/app.py", {}, 404),
        ("/nothing", {}, 404),
        ("/", {"Host": "evil.example"}, 421),
        ("/", {"Host": "127.0.0.1"}, 421),
        ("/", {"Host": "localhost:PORT"}, 421),
        ("/", {"Host": "other.localhost:PORT"}, 421),
        ("/", {"Host": "127.0.0.1:PORT"}, 200),
        ("/", {"Host": "evil.example", "Authorization": ""}, 421),
        ("/here", {"Host": "127.0.0.1:PORT", "Authorization": "Bearer x"}, 403),
        ("/static/style.css", {"Host": "evil.example"}, 421),
        ("/", {"Origin": "http://evil.example"}, 403),
        ("/", {"Origin": "null"}, 403),
        ("/", {"Origin": "http://127.0.0.1:1"}, 403),
        ("/", {"Sec_Fetch_Site": "cross-site"}, 403),
        ("/", {"Sec_Fetch_Site": "same-site"}, 403),
        ("/", {"Sec_Fetch_Site": "same-origin"}, 200),
        ("/?" + "&".join(["a=b"] * 30_000), {}, 413),
    ],
)
def test_only_requests_of_our_own_pages_are_answered(
    caller: Caller, path: str, headers: dict[str, str], status: int
) -> None:
    port = caller.host.rpartition(":")[2]
    assert caller.ask(path, **{name: value.replace("PORT", port) for name, value in headers.items()})[0] == status


@pytest.mark.parametrize("path", ["/", "/?token=wrong", "/memories", "/events", "/nothing", "/enter"])
def test_who_has_no_key_gets_a_page_that_knows_nothing(caller: Caller, path: str) -> None:
    status, headers, text = caller.ask(path, Authorization="", Cookie="recollect_1=x")
    assert (status, text) == (200, (Path(guard.__file__).parent / "static" / "enter.html").read_text(encoding="utf-8"))
    assert headers["Recollect-Seal"] is None
    assert caller.ask(path, "POST", "x", Authorization="")[0] == 403


def test_token_lets_one_in_once_and_its_hand_over_is_gone(world: World, serve: Serve) -> None:
    caller = Caller(serve(world))
    for wrong in ("x", "x" * 10_000, "../x", "%2e%2e", caller.served.token[:-1], caller.served.token.lower()):
        assert caller.enter(wrong) == 403
    assert caller.ask("/enter", "POST", caller.served.token, Origin="http://evil.example")[0] == 403
    assert caller.ask("/enter", "POST", caller.served.token, Sec_Fetch_Site="cross-site")[0] == 403
    assert Path(caller.served.file).exists()
    assert caller.enter() == 200
    assert not Path(caller.served.file).exists()
    assert caller.enter() == 403


def test_hand_over_is_private_and_lives_for_minutes(world: World, serve: Serve) -> None:
    caller = Caller(serve(world))
    file = Path(caller.served.file)
    assert [path.stat().st_mode & 0o777 for path in (file, file.parent, world.store)] == [0o600, 0o700, 0o700]
    assert caller.served.token in file.read_text(encoding="utf-8")
    assert caller.served.token not in str(file)
    old = time.time() - LIFE
    os.utime(file, (old, old))
    assert caller.enter() == 403


def test_hand_overs_go_with_their_server(world: World, serve: Serve) -> None:
    first = serve(world)
    first.process.terminate()
    first.process.wait()
    assert not Path(first.file).exists()
    killed = serve(world)
    killed.process.kill()
    killed.process.wait()
    assert Path(killed.file).exists()
    caller = Caller(serve(world))
    assert caller.enter(killed.token) == 403


def test_every_answer_has_the_headers_that_keep_others_out(caller: Caller) -> None:
    known = caller.known["Authorization"]
    for path, key in (("/", known), ("/", ""), ("/", "Bearer x"), ("/nothing", known), ("/static/app.js", "")):
        _, headers, _ = caller.ask(path, Authorization=key)
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == ("no-cache" if path.startswith("/static") else "no-store")
        assert (headers["Recollect-Seal"] is not None) == (key == known)
        assert headers["Set-Cookie"] is None


def test_change_needs_the_token_of_a_form(caller: Caller) -> None:
    _, _, page = caller.ask("/")
    token = page.partition('data-csrf="')[2].partition('"')[0]
    for given, status in ((token, 303), ("", 403), ("x" + token, 403)):
        assert caller.ask("/undo/x", "POST", urlencode({"csrf": given}))[0] == status
    assert caller.ask("/undo/x", "POST", urlencode({"csrf": token}), Origin="http://evil.example")[0] == 403
    assert caller.ask("/undo/x", "POST", urlencode({"csrf": token}), Authorization="")[0] == 403
    assert caller.ask("/undo/x")[0] == 405


@pytest.mark.parametrize("back", ["//evil.example/", "/\\evil.example", "https://evil.example/x", "javascript:a"])
def test_change_goes_back_to_our_own_pages_only(caller: Caller, back: str) -> None:
    _, _, page = caller.ask("/")
    token = page.partition('data-csrf="')[2].partition('"')[0]
    _, headers, _ = caller.ask("/undo/x", "POST", urlencode({"csrf": token, "back": back}))
    assert headers["Location"].startswith("/")
    assert not headers["Location"].startswith(("//", "/\\"))


def test_large_body_is_refused(caller: Caller) -> None:
    assert caller.ask("/undo/x", "POST", "a" * (MAX_BODY + 1))[0] == 413
    connection = caller.connected()
    pieces = (b"a" * 65_536 for _ in range(MAX_BODY // 65_536 + 2))
    connection.request("POST", "/undo/x", pieces, {**caller.known, "Host": caller.host}, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_request_for_a_web_socket_is_answered_as_any_other_and_logs_nothing(caller: Caller) -> None:
    assert caller.ask("/", Connection="Upgrade", Upgrade="websocket")[0] == 200
    caller.served.process.terminate()
    assert caller.served.process.stderr
    assert caller.served.process.stderr.read() == ""


def test_port_in_use_is_said(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        done = world.run("ui", "--no-browser", "--port", str(other.getsockname()[1]))
    assert done.returncode == 1
    assert "choose another port" in done.stderr


def test_client_that_hangs_up_within_its_form_leaves_no_line(caller: Caller) -> None:
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", urlsplit(caller.served.url).port or 0)) as client:
            known = f"Host: {caller.host}\r\nAuthorization: {caller.known['Authorization']}"
            client.sendall(f"POST /undo/x HTTP/1.1\r\n{known}\r\nContent-Length: 100\r\n\r\ncsrf".encode())
            client.shutdown(socket.SHUT_WR)
            assert client.recv(1) == b""
    caller.served.process.terminate()
    assert caller.served.process.stderr
    assert caller.served.process.stderr.read() == ""


def test_process_ends_some_time_after_the_last_page(world: World) -> None:
    code = """
import sys
from recollect.config.workspace import Workspace
from recollect.web.serve import serve
serve(Workspace(sys.argv[1], sys.argv[2]), 0, lambda url: None, lingering=0.1)
"""
    done = subprocess.run([sys.executable, "-c", code, world.project, world.store], check=False, timeout=PATIENCE)
    assert done.returncode == 0
