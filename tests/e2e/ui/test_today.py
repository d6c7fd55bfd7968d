"""The start page: one list, settled by keys, each with its way back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.conftest import World
from tests.e2e.ui.conftest import entry_of, ids_of

Visit = Callable[..., Page]

SAMPLE = Path(__file__).parents[3] / "examples" / "sample-project"


def opened(visit: Visit, world: World) -> Page:
    """The start page, once all of it is there."""
    page = visit(world)
    expect(page.get_by_role("heading", name="Last sessions")).to_be_visible()
    expect(page.locator("html[data-state]")).to_have_count(1)
    return page


def row(page: Page, text: str) -> Locator:
    return page.locator("[data-row]").filter(has_text=text).first


def choose(page: Page, text: str) -> None:
    """Go down the list with the key for that, until the row with the text is the current one."""
    wanted = row(page, text)
    for _ in range(page.locator("[data-row]").count()):
        page.keyboard.press("j")
        if wanted.get_attribute("aria-current") == "true":
            return
    raise AssertionError(text)


def test_list_has_everything_that_awaits_with_its_reason(lived: World, visit: Visit) -> None:
    page = opened(visit, lived)
    for title, reason in (
        ("The staging database", "staged by session"),
        ("Webhook queue is stuck", "contradicted"),
        ("Read the query plan", "prompts and never used"),
        ("Prices are integers in cents", "src/pricing.py changed since"),
        ("Check the plan before you add an index", "alike"),
    ):
        expect(row(page, title)).to_contain_text(reason)
    expect(row(page, "Prices are integers")).to_contain_text("Take the tax rate from the country")
    expect(page.locator("[aria-labelledby=lately] [data-row]").first).to_contain_text("in shop")


def test_phone_without_keys_is_told_of_none(lived: World, visit: Visit) -> None:
    page = visit(lived, viewport={"width": 375, "height": 740}, has_touch=True, is_mobile=True)
    expect(page.locator(".lead")).to_contain_text("What awaits you in shop.")
    expect(page.get_by_text("Move with")).to_be_hidden()
    expect(page.locator("kbd").first).to_be_hidden()


def test_keys_move_and_accept_a_capture_and_undo_it(lived: World, visit: Visit) -> None:
    page = opened(visit, lived)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    first = page.locator("[data-row]").first
    expect(first).to_have_attribute("aria-current", "true")
    expect(first).to_be_focused()
    text = first.locator(".title").inner_text()
    page.keyboard.press("a")
    expect(page.locator("#notice")).to_contain_text("Kept:")
    expect(row(page, text[:40])).to_have_count(0)
    assert any(name.startswith(text[:30]) for name in ids_of(lived))
    page.keyboard.press("u")
    expect(page.locator("#notice")).to_contain_text("awaits review again")
    expect(row(page, text[:40])).to_be_visible()
    assert not any(name.startswith(text[:30]) for name in ids_of(lived))


def test_key_dismisses_a_capture_and_the_selection_stays_in_place(lived: World, visit: Visit) -> None:
    page = opened(visit, lived)
    count = page.locator("[data-row]").count()
    choose(page, "The staging database")
    page.keyboard.press("x")
    expect(page.locator("#notice")).to_contain_text("Dismissed the capture.")
    expect(page.locator("[data-row]")).to_have_count(count - 1)
    expect(page.locator("[data-row][aria-current=true]")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()
    expect(row(page, "The staging database")).to_be_visible()


def test_key_edits_a_capture_before_it_is_kept(lived: World, visit: Visit) -> None:
    page = opened(visit, lived)
    choose(page, "The staging database")
    page.keyboard.press("e")
    expect(page.get_by_role("heading", name="Keep a capture")).to_be_visible()
    expect(page.get_by_text("We looked at it together.")).to_be_visible()
    page.locator("#n-title").fill("Staging forgets every night")
    page.locator("#n-text").fill("")
    page.get_by_role("button", name="Keep").click()
    expect(page.locator(".wrong")).to_be_visible()  # refused beside the field, and nothing typed is lost
    expect(page.locator("#n-title")).to_have_value("Staging forgets every night")
    page.locator("#n-text").fill("The staging database is reset every night at two.")
    page.get_by_role("button", name="Keep").click()
    expect(page.locator("#notice")).to_contain_text("Kept: Staging forgets every night.")
    assert "Staging forgets every night" in ids_of(lived)


@pytest.mark.parametrize(
    ("title", "key", "told", "status"),
    [
        ("Prices are integers in cents", "a", "Still true: Prices are integers in cents.", "active"),
        ("Prices are integers in cents", "x", "Retired: Prices are integers in cents.", "retired"),
        ("Prices are integers in cents", "m", "Muted in this project: Prices are integers", "active"),
        ("Webhook queue is stuck", "a", "Kept as it is.", "active"),
        ("Read the query plan before adding an index", "x", "Retired: Read the query plan", "retired"),
    ],
)
def test_key_settles_an_entry(  # noqa: PLR0917 (a row of the table above)
    lived: World, visit: Visit, title: str, key: str, told: str, status: str
) -> None:
    id = ids_of(lived)[title]
    page = opened(visit, lived)
    choose(page, title)
    reason = page.locator("[data-row][aria-current=true] .tag").inner_text()
    page.keyboard.press(key)
    expect(page.locator("#notice")).to_contain_text(told)
    expect(row(page, title).locator(".tag", has_text=reason)).to_have_count(0)
    assert entry_of(lived, id).status == status
    if told.startswith("Kept"):
        return
    page.keyboard.press("u")
    expect(page.locator("#notice")).not_to_contain_text(told)
    expect(row(page, title)).to_be_visible()
    assert entry_of(lived, id).status == "active"


def test_pair_is_merged_and_separated_again(lived: World, visit: Visit) -> None:
    ids = ids_of(lived)
    page = opened(visit, lived)
    choose(page, "Check the plan before you add an index")
    expect(page.locator("[data-row][aria-current=true] del").first).to_be_visible()
    page.keyboard.press("a")
    expect(page.locator("#notice")).to_contain_text("Merged into:")
    assert {entry_of(lived, ids[name]).status for name in ids if "plan before" in name} == {"active", "retired"}
    page.keyboard.press("u")
    expect(page.locator("#notice")).to_contain_text("Separate again:")
    assert {entry_of(lived, ids[name]).status for name in ids if "plan before" in name} == {"active"}


def test_pair_that_is_kept_is_not_asked_about_again(lived: World, visit: Visit) -> None:
    page = opened(visit, lived)
    choose(page, "Check the plan before you add an index")
    page.keyboard.press("x")
    expect(page.locator("#notice")).to_contain_text("Both are kept")
    page.reload()
    expect(page.get_by_role("heading", name="Last sessions")).to_be_visible()
    expect(row(page, "Check the plan before you add an index")).to_have_count(0)
    later = opened(visit, lived)  # another server
    expect(row(later, "Check the plan before you add an index")).to_have_count(0)


def test_different_is_as_prominent_as_merge(lived: World, visit: Visit) -> None:
    page = opened(visit, lived)
    choose(page, "Check the plan before you add an index")
    buttons = page.locator("[data-row][aria-current=true]").get_by_role("button")
    merge, different = buttons.filter(has_text="Merge"), buttons.filter(has_text="Different")
    looks = (
        "each => ['color', 'backgroundColor', 'borderColor', 'fontWeight'].map(name => getComputedStyle(each)[name])"
    )
    assert different.evaluate(looks) == merge.evaluate(looks)
    assert [text.split()[0] for text in buttons.all_inner_texts()[:2]] == ["Merge", "Different"]


def test_lessons_of_the_sample_are_not_offered_as_alike(semantic_world: World, visit: Visit) -> None:
    shutil.copytree(SAMPLE, semantic_world.project, dirs_exist_ok=True)
    page = opened(visit, semantic_world)
    assert len(ids_of(semantic_world)) >= 30
    expect(page.locator("[data-row]").filter(has_text="alike")).to_have_count(0)
    expect(page.get_by_role("button", name="Merge")).to_have_count(0)
