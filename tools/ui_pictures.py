"""Take a picture of each page of `recollect ui`, of a project that was worked on for some days: docs/ui/*.png.

python tools/ui_pictures.py [FOLDER]     (`make docs` calls it when the pages have changed)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import browser
import ui_world
from recollect.engine.engine import Engine
from recollect.sessions.timeline import sessions_lately

TOP = Path(__file__).parents[1]
WIDTH, HEIGHT = 1200, 800
LARGEST = 150 * 1024

# Each page with its scheme: half of them are dark.
PAGES = {
    "today": ("/", "light"),
    "sessions": ("/sessions/{session}", "dark"),
    "memories": ("/memories?q=a+customer+was+charged+twice", "light"),
    "memory": ("/memory/{memory}", "dark"),
    "try": ("/try?q=A+customer+says+she+was+charged+twice+for+one+order.", "light"),
    "map": ("/map", "dark"),
    "health": ("/health", "light"),
    "team": ("/team", "dark"),
}


def main() -> int:
    """Take the pictures, or say which one is too large."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else TOP / "docs" / "ui"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        world = Path(place)
        workspace = ui_world.build(world, entries=300)
        with Engine(workspace) as engine:
            entries, _ = engine.store.page(engine.scope(None), 1_000)
            names = {"memory": next(each.id for each in entries if each.name.startswith("Prices"))}
            names["session"] = sessions_lately(engine, project=None)[0].session
        command = [
            str(Path(sys.executable).parent / "recollect"),
            "ui",
            "--json",
            "--project-root",
            str(world / "shop"),
        ]
        command += ["--global-store", str(world / "store")]
        environment = {**os.environ, "HOME": str(world)}  # so that no picture names a folder of this machine
        with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env=environment) as server:
            try:
                assert server.stdout
                _take(json.loads(server.stdout.readline())["url"], names, folder, lambda: ui_world.add_team(workspace))
            finally:
                server.terminate()
    large = [path.name for path in folder.glob("*.png") if path.stat().st_size > LARGEST]
    if large:
        print(f"Larger than {LARGEST // 1024} kB: {', '.join(large)}.", file=sys.stderr)
    return 1 if large else 0


def _take(url: str, names: dict[str, str], folder: Path, join_team: Callable[[], None]) -> None:
    base = url.partition("/#")[0]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=browser.program(), args=list(browser.ARGUMENTS), env={**browser.environment()}
        )
        page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
        page.set_default_timeout(180_000)  # a busy machine takes its time to compare all entries
        page.goto(url)
        page.wait_for_selector("body[data-csrf]")  # the browser is let in now
        for name, (path, scheme) in PAGES.items():
            if name == "team":
                join_team()  # only now: with a team, every page has one more to choose
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.goto(base + path.format(**names))
            _settle(page)
            page.screenshot(path=folder / f"{name}.png")
        chromium.close()


def _settle(page: Page) -> None:
    """Wait until everything that comes after the page is there."""
    page.wait_for_selector("html[data-state]", state="attached")
    page.wait_for_selector("[data-load]:not([data-loaded])", state="detached")
    page.wait_for_selector(".map:not([data-ready])", state="detached")
    if "/health" not in page.url and "/map" not in page.url:
        page.keyboard.press("j")
    page.wait_for_load_state("load")


if __name__ == "__main__":
    sys.exit(main())
