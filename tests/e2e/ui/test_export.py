"""The page that is written to a file: whole, without a script, without a request, without a credential."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.conftest import World, days_ago
from tests.e2e.ui.conftest import Check

from recollect.engine.engine import Engine
from recollect.store.values import PROMPT, Receipt, ReceiptLine
from recollect.sync.sync import sync

LESSON = "### Pattern: Draw the delay at random\nJitter spreads **clients** out.\n- Keywords: retry, jitter\n"
KEY = "AKIA" + "Q4ZX7XJ2P9WM4KTZ"


def export(world: World, *arguments: str) -> tuple[Path, str]:
    """The file and what was said of it."""
    path = world.home / "memories.html"
    done = world.run("ui", "--export", str(path), *arguments)
    assert done.returncode == 0, done.stderr
    return path, done.stdout + done.stderr


def give(world: World) -> None:
    with Engine(world.workspace()) as engine:
        sync(engine.store, engine.workspace, engine.labels())
        line = ReceiptLine(
            engine.store.standings(engine.scope(engine.project))[0].id, 1.0, vector=0.0, keyword=1.0, prominence=0.0
        )
        for session in ("s1", "s2"):
            engine.store.recalled(
                Receipt(
                    at=days_ago(1), event=PROMPT, project=engine.project, session=session, query="retry", lines=[line]
                )
            )


def opened(chromium: Browser, path: Path, **options: object) -> tuple[Page, list[str]]:
    """The page from its file, and everything that it has asked for."""
    page = chromium.new_context(**options).new_page()  # pyright: ignore[reportArgumentType]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    return page, asked


def test_page_is_whole_without_server_script_or_request(world: World, chromium: Browser) -> None:
    world.write_bank("patterns", LESSON)
    world.write_decision("use-queue", title="Use a queue for orders")
    give(world)
    path, said = export(world)
    assert said == f"Exported 2 memories and 2 sessions to {path}.\n"
    page, asked = opened(chromium, path, java_script_enabled=False)
    expect(page.get_by_role("heading", name="What shop-front remembers")).to_be_visible()
    expect(page.get_by_role("heading", name="Use a queue for orders")).to_be_visible()
    expect(page.locator("article strong")).to_have_text("clients")
    page.locator("details", has_text=" at 1 prompt").first.locator("summary").click()
    expect(page.locator(".given").first).to_contain_text("Draw the delay at random")
    expect(page.get_by_role("img", name="Tokens given a day")).to_be_visible()
    assert asked == [path.as_uri()]
    text = path.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "http" not in text.replace('http-equiv="Content-Security-Policy"', "")
    assert str(world.home) not in text
    page.context.close()


def test_credential_is_replaced_by_its_kind_and_that_is_said(world: World) -> None:
    world.write_bank("patterns", f"### Pattern: Where {KEY} is\nThe key is {KEY}.\n- Keywords: {KEY}\n- Why: {KEY}\n")
    path, said = export(world)
    text = path.read_text(encoding="utf-8")
    assert KEY not in text
    assert KEY not in said
    assert "a credential in 1 memory was replaced by its kind" in said
    assert "Credentials in 1 memory were replaced" in text


def test_file_that_is_there_is_replaced_only_with_force(world: World) -> None:
    path = world.home / "memories.html"
    path.write_text("mine", encoding="utf-8")
    refused = world.run("ui", "--export", str(path))
    assert refused.returncode == 1
    assert path.read_text(encoding="utf-8") == "mine"
    export(world, "--force")
    assert "Nothing is remembered here yet." in path.read_text(encoding="utf-8")


def test_program_is_told_what_was_written(world: World) -> None:
    world.write_bank("patterns", LESSON)
    path, said = export(world, "--json")
    told = json.loads(said)
    assert told == {"path": str(path), "memories": 1, "sessions": 0, "redacted": 0, "warnings": []}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_page_has_no_fault_and_hostile_text_is_text(
    world: World, chromium: Browser, check_page: Check, width: int, scheme: str
) -> None:
    world.write_bank(
        "patterns",
        "### Pattern: <img src=x onerror=alert(1)> </style><script>alert(1)</script>\n"
        "</main><script>alert(2)</script> [a](javascript:alert(3)) ![b](http://example.com/x.png) "
        + "long" * 300
        + "\n",
    )
    give(world)
    path, _ = export(world)
    page, asked = opened(chromium, path, viewport={"width": width, "height": 900}, color_scheme=scheme)
    expect(page.get_by_role("heading", level=3).first).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("script, article img, a[href^=javascript]").count() == 0
    for summary in page.locator("summary").all():
        summary.click()
    check_page(page)
    assert asked == [path.as_uri()]
    page.context.close()
