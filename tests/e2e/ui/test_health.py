"""The page about health: what the doctor finds and mends, charts, and the settings."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.conftest import World, days_ago
from tests.e2e.ui.conftest import Check

from recollect.engine.engine import Engine
from recollect.files.times import note_time
from recollect.store.values import PROMPT, Receipt, ReceiptLine
from recollect.sync.sync import sync

Visit = Callable[..., Page]

LESSON = "### Pattern: Draw the delay before a retry at random\nJitter spreads clients out that failed together.\n"


def ready(page: Page) -> Page:
    """The page with what comes after it."""
    page.locator("#findings summary").wait_for()
    page.locator("#charts figure").first.wait_for()
    return page


def give(world: World) -> str:
    """A lesson that a session was given today, which is the result, and the times of two hooks."""
    today = days_ago(0)[:10]
    world.write_bank("patterns", LESSON)
    with Engine(world.workspace()) as engine:
        sync(engine.store, engine.workspace, engine.labels())
        [standing] = engine.store.standings(engine.scope(engine.project))
        line = ReceiptLine(standing.id, 1.0, vector=0.0, keyword=1.0, prominence=0.0)
        at = f"{today}T00:00:00Z"
        engine.store.recalled(
            Receipt(at=at, event=PROMPT, project=engine.project, session="s1", query="retry", lines=[line])
        )
    for taken in (0.012, 0.034, 0.120):
        note_time(str(world.store), "prompt", taken)
    return today


def test_finding_is_mended_by_its_button(world: World, visit: Visit) -> None:
    give(world)
    world.store.chmod(0o755)
    page = ready(visit(world, "/health"))
    row = page.locator("#findings .row", has_text="Permissions").first
    expect(row).to_contain_text("others may read", ignore_case=True)
    row.get_by_role("button", name="Mend").click()
    expect(page.locator("#notice")).to_contain_text("Mended 1 thing.")
    expect(page.locator("#findings .row", has_text="others may read")).to_have_count(0)
    assert world.store.stat().st_mode & 0o077 == 0


def test_charts_have_words_and_a_table(world: World, visit: Visit) -> None:
    today = give(world)
    page = ready(visit(world, "/health"))
    tokens = page.get_by_role("figure", name="Tokens given a day")
    drawn = tokens.get_by_role(
        "img", name=re.compile("Tokens given a day About [1-9][0-9]* tokens in the last 30 days")
    )
    expect(drawn).to_be_visible()
    assert tokens.locator("svg .fill").count() == 1
    tokens.get_by_text("As a table").click()
    expect(tokens.get_by_role("row", name=re.compile(rf"{today} [1-9][0-9]* 1"))).to_be_visible()
    hook = page.get_by_role("figure", name="Time of the hook prompt")
    expect(hook).to_contain_text("Half of 3 calls took 34 ms or less, 95 % 120 ms or less")
    growth = page.get_by_role("figure", name="New entries by week")
    expect(growth).to_contain_text("1 in all")


def test_hook_notes_its_time(world: World, visit: Visit) -> None:
    give(world)
    page = ready(visit(world, "/health"))
    expect(page.get_by_role("figure", name="Time of the hook session-start")).to_have_count(0)
    world.run_hook("session-start", {"source": "startup", "session_id": "s9", "cwd": str(world.project)})
    ready(page).reload()
    expect(page.get_by_role("figure", name="Time of the hook session-start")).to_contain_text("Half of 1 call")


def test_setting_is_changed_undone_and_refused_with_the_same_words(world: World, visit: Visit) -> None:
    page = visit(world, "/health")
    page.get_by_text("Recall at prompts").click()
    field = page.get_by_label("retrieval.max_inject")
    field.fill("3")
    ready(page)
    page.evaluate("document.getElementById('findings').dataset.seen = 'yes'")
    field.press("Enter")
    expect(page.locator("#notice")).to_contain_text("retrieval.max_inject is 3 now")
    expect(page.locator("#findings")).to_have_attribute("data-seen", "yes")  # nothing is examined again
    assert world.run("config", "get", "retrieval.max_inject").stdout.strip() == "3"
    row = page.locator(".settings .row", has_text="retrieval.max_inject").first
    expect(row).to_contain_text("memory-config.json")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#notice")).to_contain_text("retrieval.max_inject is 5 again")
    page.get_by_label("retrieval.max_inject").fill("many")
    page.get_by_label("retrieval.max_inject").press("Enter")
    said = world.run("config", "set", "retrieval.max_inject", "many").stderr.strip().removeprefix("Error: ")
    expect(page.locator("#notice .notice.error")).to_contain_text(said)


def test_setting_of_the_environment_cannot_be_changed_here(world: World, visit: Visit) -> None:
    page = visit(world, "/health")
    row = page.locator(".settings .row", has_text="memory_semantic_enabled").first
    expect(row).to_contain_text("RECOLLECT_MEMORY_SEMANTIC_ENABLED")
    expect(row.get_by_role("combobox")).to_be_disabled()
    assert row.get_by_role("button").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_page_has_no_fault(world: World, visit: Visit, check_page: Check, width: int, scheme: str) -> None:
    give(world)
    world.store.chmod(0o755)
    page = ready(visit(world, "/health", viewport={"width": width, "height": 900}, color_scheme=scheme))
    for summary in page.locator("summary").all():
        summary.click()
    check_page(page)


def test_empty_store_says_what_fills_the_charts(world: World, visit: Visit, check_page: Check) -> None:
    page = ready(visit(world, "/health"))
    expect(page.locator("#charts")).to_contain_text("No hook has noted its time yet.")
    expect(page.get_by_role("figure", name="Tokens given a day")).to_contain_text("Nothing yet.")
    check_page(page)


def test_hostile_settings_are_shown_as_text(world: World, visit: Visit, check_page: Check) -> None:
    world.write_local_settings("memory_injection_limit: <script>alert(1)</script>\n")
    page = ready(visit(world, "/health"))
    expect(page.locator("#settings .warning")).to_contain_text("memory_injection_limit")
    assert page.locator("main script").count() == 0
    check_page(page)
