"""The page to try a prompt: what it would be given, what was just below the bar, and that nothing is counted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.conftest import World
from tests.e2e.ui.conftest import Check

Visit = Callable[..., Page]

BANK = """
### Pattern: Draw the delay before a retry at random
Clients that failed together come back together; jitter spreads them out.
- Keywords: retry, jitter

### Pattern: Pin the base image by its digest
A tag moves, and with it every build that names it.

### Pattern: Close what a worker opened
A worker that leaves connections open starves the pool before the retry begins.

### Pattern: Greet whoever calls by name
People stay where they are known, and a client is one of them.
"""
PROMPT = "How should a client choose its delay before a retry, with jitter or without?"


def ask(page: Page, prompt: str) -> None:
    page.get_by_label("Prompt").fill(prompt)
    expect(page.locator("#results")).not_to_contain_text("Type a prompt.")


def test_prompt_is_answered_as_it_is_typed_and_nothing_is_counted(semantic_world: World, visit: Visit) -> None:
    semantic_world.write_bank("patterns", BANK)
    page = visit(semantic_world, "/try")
    expect(page.locator("#results")).to_contain_text("Type a prompt.")
    ask(page, PROMPT)
    given = page.locator("#results section", has_text="Given as text").first
    expect(given.get_by_role("link", name="Draw the delay before a retry at random")).to_be_visible()
    expect(given.locator(".evidence")).to_contain_text("above the bar of")
    page.get_by_text("The block, as the model gets it").first.click()
    expect(page.locator("#results pre")).to_contain_text("<memory-context")
    assert PROMPT not in page.url
    assert json.loads(semantic_world.run("log", "--json").stdout)["given"] == []


def test_entry_below_the_bar_is_shown_with_what_it_lacks(semantic_world: World, visit: Visit) -> None:
    semantic_world.write_bank("patterns", BANK)
    page = visit(semantic_world, "/try")
    ask(page, PROMPT)
    left = page.locator("#results section", has_text="Not given").last
    expect(left).to_contain_text(re.compile(r"\d\.\d below"))
    expect(left).to_contain_text("below what its title takes")


def test_another_project_is_chosen_and_its_start_is_shown(semantic_world: World, visit: Visit) -> None:
    other = semantic_world.home / "desk"
    (other / "docs" / "knowledge-bank").mkdir(parents=True)
    (other / "docs" / "knowledge-bank" / "patterns.md").write_text(
        "### Pattern: Count the drawers\nA desk has as many drawers as its owner has habits.\n", encoding="utf-8"
    )
    semantic_world.run("search", "drawers", cwd=other)
    semantic_world.write_bank("patterns", BANK)
    page = visit(semantic_world, "/try")
    expect(page.locator("#start")).to_contain_text("Pin the base image by its digest")
    page.get_by_label("Project").select_option(label="desk")
    expect(page.locator("#start")).to_contain_text("Count the drawers")
    expect(page.locator("#start")).not_to_contain_text("Pin the base image")


def test_prompt_about_nothing_is_told_so_and_so_is_an_empty_start(world: World, visit: Visit) -> None:
    page = visit(world, "/try")
    expect(page.locator("#start")).to_contain_text("A start would give nothing.")
    ask(page, "what is the airspeed of a swallow")
    expect(page.locator("#results")).to_contain_text("Nothing would be given.")


HOSTILE = (
    "### Pattern: <img src=x onerror=alert(1)> retry \"'`{{7*7}}\n"
    "</pre><script>alert(1)</script> retry jitter delay client\n"
)


def test_hostile_text_is_shown_as_text(semantic_world: World, visit: Visit, check_page: Check) -> None:
    semantic_world.write_bank("patterns", HOSTILE)
    page = visit(semantic_world, "/try")
    ask(page, "<script>alert(2)</script> retry jitter delay client")
    expect(page.locator("#results .title").first).to_contain_text("<img src=x onerror=alert(1)>")
    expect(page.get_by_label("Prompt")).to_have_value("<script>alert(2)</script> retry jitter delay client")
    expect(page.locator("#start")).not_to_have_class("loading")
    assert page.locator("main img, main script").count() == 0
    check_page(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_page_has_no_fault(semantic_world: World, visit: Visit, check_page: Check, width: int, scheme: str) -> None:
    semantic_world.write_bank("patterns", BANK)
    page = visit(semantic_world, "/try", viewport={"width": width, "height": 900}, color_scheme=scheme)
    ask(page, PROMPT)
    expect(page.locator("#results .evidence").first).to_be_visible()
    expect(page.locator("#start .row").first).to_be_visible()
    check_page(page)


def test_keys_lead_to_the_prompt_and_through_the_answer(semantic_world: World, visit: Visit) -> None:
    semantic_world.write_bank("patterns", BANK)
    page = visit(semantic_world)
    page.keyboard.press("4")
    expect(page.get_by_role("heading", name="Try a prompt")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type(PROMPT)
    expect(page.locator("#results .row").first).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("#results .row").first).to_have_attribute("aria-current", "true")
