"""The map: points that are near in meaning, chosen with a lasso or by keys, and what is chosen as a list."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.conftest import World
from tests.e2e.ui.conftest import Check
from tests.held import writing

from recollect.embedding.identity import local_identity
from recollect.engine.engine import Engine
from recollect.store.values import Model
from recollect.sync.sync import sync

Visit = Callable[..., Page]
BankText = Callable[..., str]

DIMENSIONS = 64

# Beside what a browser does at the start, so many frames may take longer than 50 ms while the map is moved.
FEW = 5


def fill(world: World, text: str, *, shared: bool = False) -> None:
    """Lessons in five groups by vectors of our own: those of the model would take minutes."""
    world.write_bank("patterns", text, shared=shared)
    with Engine(world.workspace()) as engine:
        sync(engine.store, engine.workspace, engine.labels())
        ids = [each.id for each in engine.store.standings(engine.scope(engine.project))]
        chance = random.Random(2)
        engine.store.use_model(Model(local_identity("auto"), "local", "name", DIMENSIONS))
        with writing(engine.store):
            engine.store.put_vectors([(id, _vector(chance, number % 5)) for number, id in enumerate(ids)])


def _vector(chance: random.Random, group: int) -> bytes:
    values = [chance.gauss(2.0 if place == group else 0.0, 0.4) for place in range(DIMENSIONS)]
    length = math.sqrt(sum(value * value for value in values))
    return array("f", [value / length for value in values]).tobytes()


def ready(page: Page) -> Page:
    page.locator("[data-ready]").wait_for()
    return page


def draw_around_everything(page: Page) -> None:
    box = page.locator("canvas").bounding_box()
    assert box
    left, top, right, bottom = box["x"] + 2, box["y"] + 2, box["x"] + box["width"] - 2, box["y"] + box["height"] - 2
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top + 5)):
        page.mouse.move(x, y, steps=4)
    page.mouse.up()


def test_lasso_selects_entries_and_lists_them(semantic_world: World, visit: Visit, bank_text: BankText) -> None:
    fill(semantic_world, bank_text("Pattern", 30))
    page = ready(visit(semantic_world, "/map"))
    expect(page.locator("#map-said")).to_have_text("30 entries")
    draw_around_everything(page)
    expect(page.locator("#selection .row")).to_have_count(20)
    expect(page.locator("#selection")).to_contain_text("And 10 more entries, selected as well.")
    expect(page.locator("#map-said")).to_contain_text("30 selected")
    expect(page.locator("[data-selected]")).to_have_text("30 selected")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#selection .row")).to_have_count(0)


def test_map_follows_what_another_process_stores_and_keeps_the_selection(
    semantic_world: World, visit: Visit, bank_text: BankText
) -> None:
    fill(semantic_world, bank_text("Pattern", 10))
    page = ready(visit(semantic_world, "/map"))
    expect(page.locator("html[data-state]")).to_have_count(1)  # the page listens now
    draw_around_everything(page)
    expect(page.locator("#map-said")).to_have_text("10 selected of 10 entries")
    fill(semantic_world, bank_text("Pattern", 12))
    expect(page.locator("#map-said")).to_have_text("10 selected of 12 entries")
    expect(page.locator("#selection .row")).to_have_count(10)


def test_keys_zoom_and_select_what_is_in_view(semantic_world: World, visit: Visit, bank_text: BankText) -> None:
    fill(semantic_world, bank_text("Pattern", 30))
    page = ready(visit(semantic_world, "/map"))
    page.keyboard.press("m")
    expect(page.locator("canvas")).to_be_focused()
    page.keyboard.press("s")
    expect(page.locator("#selection .row")).to_have_count(20)
    for _ in range(4):
        page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("s")
    expect(page.locator("#map-said")).not_to_contain_text("30 selected")
    page.keyboard.press("c")
    expect(page.locator("#selection .row")).to_have_count(0)
    page.keyboard.press("0")
    page.keyboard.press("s")
    expect(page.locator("#selection .row")).to_have_count(20)
    page.locator("#selection .title").first.focus()
    expect(page.locator("#selection .row").first).to_have_attribute("aria-current", "true")


def test_category_that_is_switched_off_is_not_selected(
    semantic_world: World, visit: Visit, bank_text: BankText
) -> None:
    semantic_world.write_bank("heuristics", bank_text("Heuristic", 10))
    fill(semantic_world, bank_text("Pattern", 10))
    page = ready(visit(semantic_world, "/map"))
    page.get_by_role("checkbox", name="Heuristic").uncheck()
    page.keyboard.press("s")
    expect(page.locator("#selection .row")).to_have_count(10)
    expect(page.locator("#selection")).not_to_contain_text("Heuristic")


def test_point_under_the_pointer_is_named_and_a_click_selects_it(
    semantic_world: World, visit: Visit, bank_text: BankText
) -> None:
    fill(semantic_world, bank_text("Pattern", 1))
    page = ready(visit(semantic_world, "/map"))
    box = page.locator("canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2 + 2)
    expect(page.locator(".map-card")).to_contain_text("Lesson 1")
    expect(page.locator(".map-card")).to_contain_text("given 0 times")
    page.mouse.down()
    page.mouse.up()
    expect(page.locator("#selection .title")).to_have_text("Lesson 1")


def test_selection_is_retired_after_a_preview_and_brought_back(
    semantic_world: World, visit: Visit, bank_text: BankText
) -> None:
    fill(semantic_world, bank_text("Pattern", 6))
    page = ready(visit(semantic_world, "/map"))
    page.keyboard.press("s")
    expect(page.locator("#bulk")).to_contain_text("6 selected")
    page.locator("#selection input[type=checkbox]").first.uncheck()
    expect(page.locator("#bulk")).to_contain_text("5 selected")
    page.locator("#bulk").get_by_role("button", name="Retire").click()
    page.get_by_role("button", name="Retire 5 memories").click()
    expect(page.locator("#notice")).to_contain_text("Retired 5 memories")
    expect(page.locator("#map-said")).to_contain_text("1 entry")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#map-said")).to_contain_text("6 entries")


LONG_TASKS = """
window.long = 0;
new PerformanceObserver((list) => { window.long += list.getEntries().length; }).observe({ type: "longtask" });
"""


def test_ten_thousand_points_stay_smooth(semantic_world: World, visit: Visit, bank_text: BankText) -> None:
    fill(semantic_world, bank_text("Pattern", 10_000), shared=True)  # of a repository's, 5,000 would be read
    page = ready(visit(semantic_world, "/map"))
    expect(page.locator("#map-said")).to_contain_text("10,000 entries")
    page.get_by_role("button", name="Move").click()
    page.evaluate(LONG_TASKS)
    before = int(page.locator("canvas").get_attribute("data-frames") or 0)
    box = page.locator("canvas").bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(40):
        page.mouse.move(x + 3 * step, y + 2 * step)
    page.mouse.up()
    for _ in range(10):
        page.mouse.wheel(0, -120)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    drawn = int(page.locator("canvas").get_attribute("data-frames") or 0) - before
    assert drawn >= 10
    assert page.evaluate("window.long") <= FEW
    draw = page.get_by_role("button", name="Show all")
    draw.click()
    page.keyboard.press("s")
    expect(page.locator("#selection .warning")).to_contain_text("are too many for one change")


def test_map_without_vectors_says_what_to_do(semantic_world: World, visit: Visit, check_page: Check) -> None:
    page = ready(visit(semantic_world, "/map"))
    expect(page.locator(".map-empty")).to_contain_text("recollect reembed")
    check_page(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_page_has_no_fault(  # noqa: PLR0917
    semantic_world: World, visit: Visit, check_page: Check, bank_text: BankText, width: int, scheme: str
) -> None:
    fill(semantic_world, bank_text("Pattern", 30))
    page = ready(visit(semantic_world, "/map", viewport={"width": width, "height": 900}, color_scheme=scheme))
    page.keyboard.press("s")
    expect(page.locator("#selection .row")).to_have_count(20)
    check_page(page)


def test_hostile_title_is_shown_as_text(semantic_world: World, visit: Visit, check_page: Check) -> None:
    fill(semantic_world, "### Pattern: <img src=x onerror=alert(1)> {{7*7}}\n<script>alert(1)</script>\n")
    page = ready(visit(semantic_world, "/map"))
    page.keyboard.press("s")
    expect(page.locator("#selection .title")).to_have_text("<img src=x onerror=alert(1)> {{7*7}}")
    box = page.locator("canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2 + 2)
    expect(page.locator(".map-card b")).to_have_text("<img src=x onerror=alert(1)> {{7*7}}")
    check_page(page)
