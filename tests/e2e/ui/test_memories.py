"""All memories: filters, search as you type with its reasons, and changes of several at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.conftest import World
from tests.e2e.ui.conftest import Serve, entry_of, ids_of, lived_world, ui_world

from recollect.engine.engine import Engine

Visit = Callable[..., Page]


def titles(page: Page) -> list[str]:
    return page.locator("[data-row] .title").all_inner_texts()


def test_search_as_you_type_explains_each_hit(lived: World, visit: Visit) -> None:
    page = visit(lived, "/memories")
    page.get_by_role("searchbox").press_sequentially("charged twice", delay=20)
    expect(page.locator("#results [role=status]")).to_contain_text("for “charged twice”")
    assert titles(page)[0] == "Charging without an idempotency key"
    bars = page.locator("[data-row]").first.locator(".parts")
    for name in ("Words", "Meaning", "Prominence", "Use"):
        expect(bars).to_contain_text(name)
    assert float(page.locator(".parts rect").first.get_attribute("width").rstrip("%")) > 0  # pyright: ignore
    assert "q=charged" in page.url
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.get_by_role("searchbox").fill("")
    expect(page.locator("#results [role=status]")).to_have_text("14 memories")


@pytest.mark.parametrize(
    ("label", "option", "expected"),
    [
        ("Category", "Decision", {"Use PostgreSQL for orders", "Prices are integers in cents"}),
        ("Origin", "you", None),
        ("Use", "never given", None),
        ("Changed", "older than a year", set()),
        ("Status", "retired", set()),
    ],
)
def test_filter_by_choice(lived: World, visit: Visit, label: str, option: str, expected: set[str] | None) -> None:
    page = visit(lived, "/memories")
    page.get_by_label(label, exact=True).select_option(label=option)
    expect(page.locator("#results [role=status]")).not_to_have_text("14 memories")
    found = set(titles(page))
    with Engine(lived.workspace()) as engine:
        entries, _ = engine.store.page(engine.scope(None), 100)
        origins = engine.store.origins(entry.id for entry in entries)
    if option == "you":
        expected = {entry.name for entry in entries if origins[entry.id] == "you"}
    if option == "never given":
        expected = {entry.name for entry in entries if not entry.recall_count}
    assert found == expected
    if not expected:
        expect(page.locator(".empty")).to_contain_text("Loosen one of them")


def test_filter_by_tag_and_back(lived: World, visit: Visit) -> None:
    page = visit(lived, "/memories")
    page.get_by_role("link", name="migrations", exact=True).click()
    expect(page.locator("[data-row]")).to_have_count(1)
    assert page.get_by_label("Tag", exact=True).input_value() == "migrations"
    page.go_back()
    expect(page.locator("[data-row]")).to_have_count(14)


def select(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("checkbox", name=f"Select {name}").check()


def test_several_are_retired_after_a_preview_and_brought_back(lived: World, visit: Visit) -> None:
    ids = ids_of(lived)
    page = visit(lived, "/memories")
    expect(page.locator("#bulk")).to_be_hidden()
    select(page, "Outbox for events", "Use PostgreSQL for orders")
    expect(page.locator("#bulk")).to_contain_text("2 selected")
    page.get_by_role("button", name="Retire").click()
    expect(page.get_by_role("heading", name="Retire 2 memories?")).to_be_visible()
    assert entry_of(lived, ids["Outbox for events"]).status == "active", "a preview changes nothing"
    page.get_by_role("button", name="Retire 2 memories").click()
    expect(page.locator("#notice")).to_contain_text("Retired 2 memories.")
    expect(page.locator("#results [role=status]")).to_have_text("12 memories")
    assert {entry_of(lived, ids[name]).status for name in ("Outbox for events", "Use PostgreSQL for orders")} == {
        "retired"
    }
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#notice")).to_contain_text("Undone for 2 memories.")
    expect(page.locator("#results [role=status]")).to_have_text("14 memories")


def test_preview_says_what_is_left_out_and_can_be_cancelled(lived: World, visit: Visit) -> None:
    page = visit(lived, "/memories?category=decision")
    page.goto(page.url.replace("category=decision", ""))
    select(page, "Outbox for events", "Use PostgreSQL for orders")
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("heading", name="Archive 1 memory?")).to_be_visible()
    expect(page.locator("[data-row]").filter(has_text="Outbox")).to_contain_text("a lesson has no file of its own")
    page.get_by_role("link", name="Cancel").click()
    expect(page.locator("[data-row]")).to_have_count(14)


def test_tag_is_added_to_several_and_taken_back(lived: World, visit: Visit) -> None:
    id = ids_of(lived)["Use PostgreSQL for orders"]
    before = entry_of(lived, id).keywords
    page = visit(lived, "/memories")
    select(page, "Use PostgreSQL for orders", "Prices are integers in cents")
    page.get_by_label("Tag to add").fill("Quarterly")
    page.get_by_role("button", name="Tag", exact=True).click()
    page.get_by_role("button", name="Tag 2 memories").click()
    expect(page.locator("#notice")).to_contain_text("Tagged 2 memories.")
    assert "quarterly" in entry_of(lived, id).keywords
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#notice")).to_contain_text("Undone for 2 memories.")
    assert entry_of(lived, id).keywords == before


def test_several_are_merged_into_the_first_and_separated_again(lived: World, visit: Visit) -> None:
    ids = ids_of(lived)
    pair = ("Check the plan before you add an index", "Read the query plan before adding an index")
    page = visit(lived, "/memories")
    select(page, *pair)
    page.get_by_role("button", name="Merge").click()
    expect(page.locator("[data-row]").first).to_contain_text("stays")
    page.get_by_role("button", name="Merge 2 memories").click()
    expect(page.locator("#notice")).to_contain_text("Merged 1 memory into")
    assert sorted(entry_of(lived, ids[name]).status for name in pair) == ["active", "retired"]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#notice")).to_contain_text("Undone for 1 memory.")
    assert {entry_of(lived, ids[name]).status for name in pair} == {"active"}


def test_keyboard_alone_selects_and_opens(lived: World, visit: Visit) -> None:
    page = visit(lived, "/memories")
    expect(page.locator("html[data-state]")).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("Space")
    page.keyboard.press("j")
    page.keyboard.press("Space")
    expect(page.locator("#bulk")).to_contain_text("2 selected")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Two ways to parse addresses")


@pytest.mark.slow
def test_ten_thousand_entries_are_paged_filtered_and_searched(tmp_path: Path, visit: Visit) -> None:
    world = lived_world(tmp_path)
    with Engine(world.workspace()) as engine:
        ui_world.add_many(engine, 10_000)
    page = visit(world, "/memories")
    expect(page.locator("#results [role=status]")).to_have_text("10,014 memories")
    expect(page.locator("[data-row]")).to_have_count(50)
    page.get_by_role("link", name="Older").click()
    expect(page.locator("#results [role=status]")).to_contain_text("from 51 on")
    page.get_by_label("Origin", exact=True).select_option(label="you")
    expect(page.locator("#results [role=status]")).to_contain_text("10,008 memories")
    page.get_by_label("Origin", exact=True).select_option(label="any")
    page.get_by_role("searchbox").fill("number 4711")
    expect(page.locator("[data-row]").first).to_contain_text("number 4711")


def test_search_after_the_server_has_ended_says_so(lived: World, visit: Visit, serve: Serve) -> None:
    served = serve(lived)
    page = visit(lived, "/memories", served=served)
    expect(page.locator("html[data-state]")).to_have_count(1)
    page.evaluate("dispatchEvent(new Event('pagehide'))")  # listens no more, so that only the search can tell
    served.process.kill()
    served.process.wait()
    page.get_by_role("searchbox").fill("retry")
    expect(page.locator("#ended")).to_be_visible()
