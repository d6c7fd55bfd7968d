"""The frame of all pages: who may see it, how it lives and ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.conftest import World
from tests.e2e.ui.conftest import Check, Serve

Visit = Callable[..., Page]

SIZES = [(375, 740), (1280, 900), (3840, 2160)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_start_page_has_no_fault_in_any_size_and_scheme(
    world: World, visit: Visit, check_page: Check, size: tuple[int, int], scheme: str
) -> None:
    page = visit(world, viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    expect(page.get_by_role("heading", name="Today")).to_be_visible()
    check_page(page)


def test_page_says_that_the_process_has_ended(world: World, visit: Visit, serve: Serve) -> None:
    served = serve(world)
    page = visit(world, served=served)
    expect(page.locator("#ended")).to_be_hidden()
    served.process.kill()
    expect(page.locator("#ended")).to_be_visible()


def test_every_page_can_be_chosen_on_a_phone_without_scrolling(world: World, visit: Visit) -> None:
    page = visit(world, viewport={"width": 375, "height": 740})
    for link in page.locator("#pages a").all():
        expect(link).to_be_in_viewport(ratio=1)
