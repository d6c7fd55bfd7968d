"""One memory: its text, files, use and history, and the form made from its schema."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect
from tests.conftest import World
from tests.e2e.ui.conftest import Check, entry_of, ids_of

from recollect.engine.engine import Engine
from recollect.learn.by_hand import Note, add

Visit = Callable[..., Page]
PRICES = "Prices are integers in cents"


def test_page_has_text_files_use_and_what_is_like_it(lived: World, visit: Visit) -> None:
    ids = ids_of(lived)
    page = visit(lived, f"/memory/{ids[PRICES]}")
    expect(page.locator("#main")).to_contain_text("All prices are integers in cents, in code, in the database")
    files = page.locator("[aria-labelledby=files]")
    expect(files).to_contain_text("Take the tax rate from the country")
    expect(files.locator(".diff .cut").first).to_have_text("-RATE = 0.19")
    expect(files.locator(".diff .add").first).to_have_text("+from shop.tax import rate_for")
    used = page.locator("[aria-labelledby=given]")
    expect(used).to_contain_text("as text; used in")
    expect(used.locator(".parts").first).to_contain_text("Needed")
    page.goto(page.url.replace(ids[PRICES], ids["Read the query plan before adding an index"]))
    expect(page.locator("#like")).to_contain_text("Check the plan before you add an index")


def test_keys_confirm_pin_mute_retire_and_restore(lived: World, visit: Visit) -> None:
    id = ids_of(lived)[PRICES]
    page = visit(lived, f"/memory/{id}")
    expect(page.locator("html[data-state]")).to_have_count(1)
    for key, told in (
        ("a", "Still true"), ("p", "Pinned"), ("p", "No longer pinned"), ("m", "Muted"), ("m", "Given again"),
        ("x", "Retired"), ("a", "Restored"),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(page.locator("#notice")).to_contain_text(told)
    assert entry_of(lived, id).status == "active"
    expect(page.locator("[aria-labelledby=files]")).to_contain_text("as it was")
    expect(page.locator(".history")).to_contain_text("Restored")


def test_form_saves_through_the_checks_and_the_history_shows_the_difference(lived: World, visit: Visit) -> None:
    id = ids_of(lived)[PRICES]
    page = visit(lived, f"/memory/{id}")
    expect(page.locator("html[data-state]")).to_have_count(1)
    page.keyboard.press("e")
    page.get_by_label("Decision").fill("All prices are integers in cents, in code and in the database.")
    page.get_by_label("Option").fill("Decimals")
    page.get_by_label("Rejected reason").fill("Slow, and JSON has none.")
    page.get_by_label("Context").fill("Floats lost cents.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notice")).to_contain_text("Saved.")
    expect(page.locator(".prose").first).to_contain_text("Decimals")
    expect(page.locator(".history del").first).to_be_visible()
    [path] = (lived.project / ".claude" / "memory" / "decisions").glob("prices*.json")
    content = json.loads(path.read_text(encoding="utf-8"))["content"]
    assert content["alternatives"] == [{"option": "Decimals", "rejected_reason": "Slow, and JSON has none."}]
    assert content["context"] == "Floats lost cents."


def test_refusal_stands_beside_its_field_and_nothing_typed_is_lost(
    lived: World, visit: Visit, check_page: Check
) -> None:
    id = ids_of(lived)[PRICES]
    page = visit(lived, f"/memory/{id}/edit")
    page.get_by_label("Title").fill("x" * 200)
    page.get_by_label("Decision").fill("Cents it is.")
    expect(page.locator("label[for='field-title']")).to_have_text("Title needed")
    alternative = page.get_by_role("group", name="Alternatives 1")
    expect(alternative.locator("label").first).to_have_text("Option needed in each")
    page.get_by_role("button", name="Save").click()
    field = page.locator(".field").filter(has=page.get_by_label("Title"))
    expect(field.locator(".wrong").first).to_contain_text("expected: at most 120 characters")
    expect(page.get_by_label("Title")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Title")).to_be_focused()
    expect(page.get_by_label("Decision")).to_have_value("Cents it is.")
    check_page(page)
    page.get_by_label("Title").fill("Prices are whole cents")
    page.get_by_label("Tags 1").fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".wrong").first).to_contain_text("grow-only")
    assert entry_of(lived, id).name == PRICES


def test_file_that_somebody_else_has_changed_is_not_overwritten(lived: World, visit: Visit) -> None:
    id = ids_of(lived)[PRICES]
    page = visit(lived, f"/memory/{id}/edit")
    assert lived.run("write", "--help").returncode == 0
    [path] = (lived.project / ".claude" / "memory" / "decisions").glob("prices*.json")
    record = json.loads(path.read_text(encoding="utf-8"))
    record["content"]["decision"] = "Somebody else was faster."
    path.write_text(json.dumps(record), encoding="utf-8")
    page.get_by_label("Decision").fill("Mine.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".warning")).to_contain_text("Somebody has changed the file meanwhile")
    assert "faster" in path.read_text(encoding="utf-8")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notice")).to_contain_text("Saved.")
    assert json.loads(path.read_text(encoding="utf-8"))["content"]["decision"] == "Mine."


def test_lesson_with_a_new_text_takes_the_place_of_the_old_one(lived: World, visit: Visit) -> None:
    id = ids_of(lived)["Outbox for events"]
    page = visit(lived, f"/memory/{id}/edit")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".wrong")).to_contain_text("a lesson is known by its text")
    page.locator("#n-text").fill("Write events into a table with the change, and publish them from there.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notice")).to_contain_text("Saved as a new lesson")
    expect(page.locator(".facts")).to_contain_text("Supersedes")
    assert entry_of(lived, id).status == "retired"


def test_memory_of_fifty_kilobytes_is_shown_whole(lived: World, visit: Visit, check_page: Check) -> None:
    text = "\n".join(f"- step {number}: `do {number}` and **look** at what it says" for number in range(900))
    assert len(text) > 40_000
    path = next((lived.project / ".claude" / "memory" / "runbooks").glob("*.json"))
    record = json.loads(path.read_text(encoding="utf-8"))
    record["content"]["steps"] = [text, "x" * 8_000]
    path.write_text(json.dumps(record), encoding="utf-8")
    id = ids_of(lived)["Webhook queue is stuck"]
    page = visit(lived, f"/memory/{id}")
    expect(page.locator("#main")).to_contain_text("step 899")
    check_page(page)


def test_entry_of_another_project_is_shown_and_changed_there(lived: World, visit: Visit) -> None:
    other = lived.home / "other"
    other.mkdir()
    (other / ".git").mkdir()
    with Engine(lived.workspace(other)) as engine:
        done, _ = add(engine, Note("Deploys of other happen on Tuesdays alone.", "constraint", "Deploy on Tuesdays"))
    page = visit(lived, "/memories?project=all")
    page.get_by_role("link", name="Deploy on Tuesdays").click()
    expect(page.locator("h1")).to_have_text("Deploy on Tuesdays")
    page.get_by_role("button", name="Retire").click()
    expect(page.locator("#notice")).to_contain_text("Retired")
    assert entry_of(lived, done.id).status == "retired"
