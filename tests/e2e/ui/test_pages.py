"""Every page of every size and scheme: without a fault, nothing wider than the page, nothing that moves by itself."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.conftest import World
from tests.e2e.ui.conftest import Check, Serve, entry_of, ids_of, lived_world, shift_of

Visit = Callable[..., Page]


@pytest.fixture
def readable() -> Iterator[World]:
    """A world that everybody can read, and in a place that everybody can reach."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-"))
    folder.chmod(0o755)
    yield lived_world(folder)
    shutil.rmtree(folder)


def paths(world: World) -> list[str]:
    ids = ids_of(world)
    memory, lesson = ids["Prices are integers in cents"], ids["Charging without an idempotency key"]
    return [
        *("/", "/sessions", "/memories", "/memories?q=charged+twice", "/memories?tag=nothing+has+it", "/nothing"),
        *(
            f"/memory/{memory}",
            f"/memory/{lesson}",
            f"/memory/{memory}/edit",
            f"/memory/{lesson}/edit",
            "/capture/00000001",
        ),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280, 3840])
def test_every_page_has_no_fault(lived: World, visit: Visit, check_page: Check, width: int, scheme: str) -> None:
    page = visit(lived, viewport={"width": width, "height": 1000}, color_scheme=scheme)
    base = page.url.rstrip("/")
    stories = [f"/sessions/{session}" for session in sessions_on(page, base)[:1]]
    for path in [*paths(lived), *stories]:
        page.goto(base + path)
        expect(page.locator("[data-load]:not([data-loaded])")).to_have_count(0)
        check_page(page)
        assert shift_of(page) < 0.02, path


def sessions_on(page: Page, base: str) -> list[str]:
    page.goto(base + "/sessions")
    return page.eval_on_selector_all("[data-row]", "rows => rows.map(row => row.dataset.key)")


def test_page_weighs_little(lived: World, visit: Visit) -> None:
    page = visit(lived, "/memories")
    expect(page.locator("[data-load]:not([data-loaded])")).to_have_count(0)
    # The browser lets go of the bodies of a page that it leaves; their sizes are kept with the page that it shows.
    weights = "performance.getEntries().map(each => each.decodedBodySize || 0)"
    assert 10_000 < sum(page.evaluate(weights)) < 300_000


def test_empty_store_says_what_to_do_next(world: World, visit: Visit, serve: Serve, check_page: Check) -> None:
    served = serve(world)
    page = visit(world, served=served)
    expect(page.locator(".empty").first).to_contain_text("Nothing awaits you")
    for path, words in (("/sessions", "Work with your agent"), ("/memories", "recollect add")):
        page.goto(served.base + path)
        expect(page.locator(".empty")).to_contain_text(words)
        check_page(page)


def test_keys_open_pages_and_the_list_of_keys(lived: World, visit: Visit) -> None:
    page = visit(lived)
    page.keyboard.press("3")
    expect(page.get_by_role("heading", name="Memories")).to_be_visible()
    expect(page.locator("html[data-state]")).to_have_count(1)  # its script runs
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    expect(page.locator("html[data-state]")).to_have_count(1)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next and previous row")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Session in shop")).to_be_visible()


def test_times_are_relative_with_the_exact_one_on_hover(lived: World, visit: Visit) -> None:
    page = visit(lived, "/memories")
    shown = page.locator("time").first
    assert re.fullmatch(r"now|\d+ min ago", shown.text_content() or "")
    assert (shown.get_attribute("title") or "").endswith("UTC")


def test_names_of_files_open_the_editor(lived: World, visit: Visit, serve: Serve) -> None:
    id = ids_of(lived)["Prices are integers in cents"]
    path = str(lived.project / "src" / "pricing.py")

    def opened(editor: str) -> Page:
        served = serve(lived, RECOLLECT_EDITOR_URL=editor)
        page = visit(lived, f"/memory/{id}", served=served, refused=True)  # the next server refuses this page
        expect(page.locator("#files")).to_be_visible()
        served.process.kill()
        served.process.wait()
        return page

    link = opened("").get_by_role("link", name="src/pricing.py")
    assert link.get_attribute("href") == f"vscode://file{path}:1"
    link = opened("txmt://open?url=file://{path}&line={line}").get_by_role("link", name="src/pricing.py")
    assert link.get_attribute("href") == f"txmt://open?url=file://{path}&line=1"
    assert opened("javascript:alert('{path}')").locator("a[href^=javascript]").count() == 0


def test_change_by_another_process_shows_by_itself(lived: World, visit: Visit) -> None:
    page = visit(lived, "/memories")
    total = page.locator("#results [role=status]")
    expect(total).to_have_text("14 memories")
    expect(page.locator("html[data-state]")).to_have_count(1)  # the page listens now
    assert lived.run("add", "heuristics", "Name the owner of every alarm.").returncode == 0
    expect(total).to_have_text("15 memories")


def test_two_tabs_see_the_same_and_settle_once(lived: World, visit: Visit, serve: Serve) -> None:
    served = serve(lived)
    one = visit(lived, served=served)
    expect(one.get_by_role("heading", name="Last sessions")).to_be_visible()
    other = one.context.new_page()
    other.goto(served.base)
    expect(other.get_by_role("heading", name="Last sessions")).to_be_visible()
    other.evaluate("dispatchEvent(new Event('pagehide'))")  # it listens no more, so that its row stays
    for page, told in ((one, "Dismissed"), (other, "awaits review")):  # the second one is told why not
        page.locator("[data-row]").filter(has_text="staging database").get_by_role("button", name="Dismiss").click()
        expect(page.locator("#notice")).to_contain_text(told)


def test_store_that_cannot_be_written_is_shown_and_changes_are_refused(
    readable: World, visit: Visit, serve: Serve, check_page: Check
) -> None:
    lived = readable
    ids = ids_of(lived)
    id, memory = ids["Charging without an idempotency key"], ids["Prices are integers in cents"]
    with (lived.store / "patterns.md").open("a", encoding="utf-8") as bank:
        bank.write("\n")  # the store is behind its files, and cannot catch up
    for path in (lived.home, *lived.home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    served = serve(lived, rights=False)
    page = visit(lived, f"/memory/{id}", served=served)
    expect(page.get_by_role("heading", name="Charging without an idempotency key")).to_be_visible()
    expect(page.get_by_text("the newest changes to files may not be found")).to_be_visible()
    check_page(page)
    page.get_by_role("button", name="Retire").click()
    expect(page.locator(".notice.error")).to_contain_text("check the permissions")
    page.goto(f"{served.base}/memory/{memory}/edit")
    page.get_by_label("Title").fill("Prices are integers in pence")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".notice.error")).to_be_visible()
    page.goto(f"{served.base}/memories?q=charged+twice")
    expect(page.locator("[data-row]").first).to_contain_text("Charging without")
    served.process.kill()  # before anybody else opens the store, and leaves files there that only they can read
    assert entry_of(lived, id).status == "active"
    assert entry_of(lived, memory).name == "Prices are integers in cents"
