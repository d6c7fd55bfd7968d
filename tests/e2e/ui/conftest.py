"""A browser, a server of pages for a world of its own, and pages of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests import forks
from tests.conftest import PATIENCE, World, cannot_be_tested

from recollect.domain.stored import StoredEntry
from recollect.engine.engine import Engine
from recollect.sync.rebuild import sync_all

sys.path.append(str(Path(__file__).parents[3] / "tools"))
import browser as tool
import npm_cache
import ui_world

Serve = Callable[..., "Served"]

# In milliseconds: a guard, too, but a page that is wrong is told sooner than a process that hangs.
_SHOWN_WITHIN = PATIENCE * 1000 / 5
expect.set_options(timeout=_SHOWN_WITHIN)


@dataclass(frozen=True)
class Served:
    """A running `recollect ui`: its process, its page with the token, its hand-over, and the address that stays."""

    process: subprocess.Popen[str]
    url: str
    file: str
    address: str

    @property
    def base(self) -> str:
        return "http://" + urlsplit(self.url).netloc

    @property
    def token(self) -> str:
        return urlsplit(self.url).fragment.removeprefix("token=")


# Of a module and not of all: while playwright runs, no other test of the worker can run an event loop.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    try:
        program, environment = tool.program(), tool.environment()
    except npm_cache.NotAvailableError as error:
        cannot_be_tested(f"pages cannot be looked at here: {error}")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=program,
            args=list(tool.ARGUMENTS),
            env={**environment},  # pyright: ignore[reportArgumentType]
        )
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def unknowing(chromium: Browser) -> Iterator[Browser]:
    """A browser that does not know names such as ours."""
    rules = "--host-resolver-rules=MAP *.localhost ~NOTFOUND"
    launched = chromium.browser_type.launch(
        executable_path=tool.program(),
        args=[*tool.ARGUMENTS, rules],
        env={**tool.environment()},  # pyright: ignore[reportArgumentType]
    )
    yield launched
    launched.close()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts `recollect ui` in a world; none outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def start(world: World, *arguments: str, rights: bool = True, **variables: str) -> Served:
        process = forks.Fork(
            ["ui", "--json", *arguments],
            limits=None if rights else forks.Limits(rights=False, reads=True),
            cwd=world.project,
            env=world.environment(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        started.append(process)
        assert process.stdout
        line = process.stdout.readline()
        assert line, process.stderr and process.stderr.read()
        return Served(process, **json.loads(line))

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def visit(chromium: Browser, serve: Serve) -> Iterator[Callable[..., Page]]:
    """Opens a page of a world in a browser of its own, and fails the test for anything that its console says."""
    said: list[str] = []
    expected = ["net::ERR_", "a status of 404", "a status of 422"]  # a server that ended, no such page, a refused form
    contexts: list[Any] = []

    def opened(
        world: World,
        path: str = "/",
        *,
        served: Served | None = None,
        url: str = "",
        refused: bool = False,
        **options: Any,
    ) -> Page:
        expected.extend(["a status of 403", "a status of 421"] if refused else [])
        served = served or serve(world)
        context = chromium.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        )
        context.set_default_timeout(_SHOWN_WITHIN)
        contexts.append(context)
        context.on("page", _wait_for_pages)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(url or served.url)
        if path != "/":
            page.goto(served.base + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [line for line in said if not any(words in line for words in expected)] == []


def _wait_for_pages(page: Page) -> None:
    """Have navigations wait for what takes the place of the entrance, and its script; or is no page of ours."""

    def waiting(navigate: Callable[..., Any]) -> Callable[..., None]:
        def navigated(*arguments: Any, **options: Any) -> None:
            navigate(*arguments, **options)
            expect(page.locator(f"{_BEGUN} body:not(:has(#refused[hidden]))")).to_be_attached()

        return navigated

    page.goto, page.reload, page.go_back = map(waiting, (page.goto, page.reload, page.go_back))


# A page whose script listens, or that has none.
_BEGUN = "html:is([data-begun], :not(:has(script[src='/static/app.js'])))"

Check = Callable[[Page], None]


@pytest.fixture(scope="module")
def check_page(chromium: Browser) -> Check:  # noqa: ARG001 (tells first that there is no browser)
    """Fails for a fault that axe-core finds, for anything wider than the page, and for text that is cut off."""
    script = tool.axe().read_text(encoding="utf-8")

    def check(page: Page) -> None:
        # Our policy forbids scripts that are not our own; the debugger's are exempt.
        found = page.evaluate(f"(async () => {{ {script}; return (await axe.run()).violations; }})()")
        told = [f"{each['id']}: {each['help']}: {[node['html'] for node in each['nodes']][:3]}" for each in found]
        assert told == []
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")

    return check


@pytest.fixture
def lived(tmp_path: Path) -> World:
    """A world in which a project was worked on for some days."""
    return lived_world(tmp_path)


def lived_world(folder: Path) -> World:
    """Make a world in which a project was worked on for some days, as tools/ui_world.py does."""
    ui_world.build(folder)
    return World(folder, folder / "shop", folder / "store", semantic=True)


def ids_of(world: World) -> dict[str, str]:
    """The ids of all active entries by their names."""
    with Engine(world.workspace()) as engine:
        found, _ = engine.store.page(engine.scope(None), 100_000)
    return {entry.name: entry.id for entry in found}


def entry_of(world: World, id: str) -> StoredEntry:
    with Engine(world.workspace()) as engine:
        sync_all(engine)
        [entry] = engine.store.entries([id])
    return entry


def shift_of(page: Page) -> float:
    """How much the page has moved under the reader by itself, as browsers count it."""
    code = "new Promise(done => { let sum = 0; new PerformanceObserver(list => { for (const each of list.getEntries())"
    code += " if (!each.hadRecentInput) sum += each.value; }).observe({type: 'layout-shift', buffered: true});"
    return page.evaluate(code + " setTimeout(() => done(sum), 200); })")
