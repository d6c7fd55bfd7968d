"""Who may see the pages: requests made by hand, as a hostile page or another machine would make them."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlencode, urlsplit

import pytest
from tests.conftest import PATIENCE, World
from tests.e2e.ui.conftest import Serve, Served

from recollect.web.guard import MAX_BODY


class Caller:
    """Makes requests to a server, with the cookie once it has one."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.host = urlsplit(served.url).netloc
        self.cookie = ""

    def ask(
        self, path: str, method: str = "GET", body: str | None = None, **headers: str
    ) -> tuple[int, http.client.HTTPMessage, str]:
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent |= {"Cookie": self.cookie} if self.cookie and "Cookie" not in sent else {}
        connection.request(method, path, body, sent)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def enter(self) -> None:
        _, headers, _ = self.ask("/?" + urlsplit(self.served.url).query)
        self.cookie = headers["Set-Cookie"].partition(";")[0]


@pytest.fixture
def caller(world: World, serve: Serve) -> Iterator[Caller]:
    made = Caller(serve(world))
    made.enter()
    yield made
    made.served.process.terminate()
    assert made.served.process.wait(PATIENCE) == 128 + 15


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 200),
        ("/", {"Cookie": "recollect_1=x"}, 403),
        ("/", {"Cookie": ""}, 403),
        ("/?token=wrong", {"Cookie": ""}, 403),
        ("/?token=", {"Cookie": ""}, 403),
        ("/events", {"Cookie": ""}, 403),
        ("/static/style.css", {"Cookie": ""}, 200),
        ("/static/../app.py", {}, 404),
        ("/static/%2e%2e/app.py", {}, 404),
        ("/nothing", {}, 404),
        ("/", {"Host": "evil.example"}, 421),
        ("/", {"Host": "127.0.0.1"}, 421),
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
    assert caller.ask(path, **headers)[0] == status


def test_every_answer_has_the_headers_that_keep_others_out(caller: Caller) -> None:
    for path, cookie in (("/", caller.cookie), ("/", ""), ("/nothing", caller.cookie), ("/static/app.js", "")):
        _, headers, _ = caller.ask(path, Cookie=cookie)
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == ("no-cache" if path.startswith("/static") else "no-store")


def test_change_needs_the_token_of_a_form(caller: Caller) -> None:
    _, _, page = caller.ask("/")
    token = page.partition('data-csrf="')[2].partition('"')[0]
    for given, status in ((token, 303), ("", 403), ("x" + token, 403)):
        assert caller.ask("/undo/x", "POST", urlencode({"csrf": given}))[0] == status
    assert caller.ask("/undo/x", "POST", urlencode({"csrf": token}), Origin="http://evil.example")[0] == 403
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
    connection = http.client.HTTPConnection(caller.host, timeout=PATIENCE)
    pieces = (b"a" * 65_536 for _ in range(MAX_BODY // 65_536 + 2))
    connection.request("POST", "/undo/x", pieces, {"Cookie": caller.cookie}, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_request_for_a_web_socket_is_answered_as_any_other_and_logs_nothing(caller: Caller) -> None:
    assert caller.ask("/", Connection="Upgrade", Upgrade="websocket")[0] == 200
    caller.served.process.terminate()
    assert caller.served.process.stderr
    assert caller.served.process.stderr.read() == ""


def test_port_in_use_is_said(world: World, caller: Caller) -> None:
    done = world.run("ui", "--no-browser", "--port", caller.host.partition(":")[2])
    assert done.returncode == 1
    assert "choose another port" in done.stderr


def test_process_ends_some_time_after_the_last_page(world: World) -> None:
    code = """
import sys
from recollect.config.workspace import Workspace
from recollect.web.serve import serve
serve(Workspace(sys.argv[1], sys.argv[2]), 0, lambda url: None, lingering=0.1)
"""
    done = subprocess.run([sys.executable, "-c", code, world.project, world.store], check=False, timeout=PATIENCE)
    assert done.returncode == 0
