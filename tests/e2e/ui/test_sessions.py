"""Sessions: a timeline, and one session as a story."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect
from tests.conftest import World

from recollect.engine.engine import Engine

Visit = Callable[..., Page]


def test_timeline_has_a_line_for_each_session_by_day(lived: World, visit: Visit) -> None:
    page = visit(lived, "/sessions")
    expect(page.locator("[data-row]")).to_have_count(12)
    expect(page.locator("[data-row]").first).to_contain_text("3 prompts")
    assert page.locator("#results h2").count() > 3
    box = page.get_by_label("Project").bounding_box()
    assert box
    assert box["width"] < 400, "no wider than what there is to choose"
    page.get_by_label("Project").select_option(label="shop")
    expect(page.locator("[data-row]")).to_have_count(12)
    page.wait_for_url("**project=**")


def test_page_counts_what_was_given_as_the_line_at_the_start_did(semantic_world: World, visit: Visit) -> None:
    world = semantic_world
    world.write_bank("patterns", "### Pattern: Locks\nTake the locks in one order.\n")
    for number in range(3):
        world.write_decision(f"orders-{number}", title=f"Orders live in PostgreSQL {number}")
    event = {"session_id": "s1", "cwd": str(world.project), "source": "startup"}
    said = json.loads(world.run_hook("session-start", event).stdout)["systemMessage"]
    world.run_hook("prompt", {**event, "prompt": "Please translate the French poem about the sea."})
    given = "1 memory and 3 titles"
    assert said.endswith(f"{given} recalled.")
    page = visit(world, "/sessions")
    expect(page.locator("[data-row]")).to_contain_text(f"{given} at its start")
    expect(page.locator("[data-row]")).not_to_contain_text("0 prompts")
    page.locator("[data-row] .title").click()
    expect(page.locator(".lead")).to_contain_text(f"It was given {given} at its start, and used 0.")


def test_story_tells_what_was_given_used_and_captured(lived: World, visit: Visit) -> None:
    page = visit(lived, "/sessions")
    page.locator("[data-row] .title").first.click()
    expect(page.get_by_role("heading", name="It started")).to_be_visible()
    expect(page.get_by_role("heading", name="A prompt")).to_have_count(3)
    start = page.locator(".story > li").first
    expect(start.locator("[data-row]").first).to_contain_text("pinned")
    expect(start.locator("[data-row]").last).to_contain_text("title only")
    prompt = page.locator(".story > li").nth(1)
    expect(prompt.locator(".parts").first).to_contain_text("Needed")
    assert prompt.locator(".section-head .tag").count() >= 3, "the words that it was found by"
    assert page.locator(".tag.good").count() >= 1, "what was used, with the kind of evidence"
    expect(page.locator("[aria-labelledby=captured]")).to_contain_text("awaits review")


def test_entry_of_a_story_is_muted_pinned_and_opened_from_there(lived: World, visit: Visit) -> None:
    page = visit(lived, "/sessions")
    page.locator("[data-row] .title").first.click()
    expect(page.get_by_role("heading", name="It started")).to_be_visible()
    expect(page.locator("html[data-state]")).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("m")
    expect(page.locator("#notice")).to_contain_text("Muted in this project.")
    page.keyboard.press("u")
    expect(page.locator("#notice")).to_contain_text("Undone.")
    page.keyboard.press("p")
    expect(page.locator("#notice")).to_contain_text("Pinned")
    with Engine(lived.workspace()) as engine:
        assert len(engine.store.marked("pinned", engine.scope(engine.project))) == 2
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Retrying without jitter")


def test_unknown_session_says_so(lived: World, visit: Visit) -> None:
    page = visit(lived, "/sessions/no-such-session")
    expect(page.locator("#main")).to_contain_text("Nothing is known of this session any more")
