"""The page of the team: its scopes where one is joined, and what to do where none is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.conftest import World, days_ago
from tests.e2e.ui.conftest import Check, Serve

from recollect.config import locations
from recollect.files.team.state import JoinedScope, RefusedLine, TeamState, change_state

Visit = Callable[..., Page]


def join(world: World, **known: object) -> None:
    """What joining leaves in the files; the page asks no server."""
    state = TeamState("postgresql://ann@db.example/team", "ann", "0" * 8, "laptop", contacted_at=days_ago(1), **known)  # type: ignore[arg-type]
    state.scopes |= {"team:backend": JoinedScope("curator", curated=True), "personal:ann": JoinedScope("admin")}
    store = str(world.store)
    change_state(locations.team_state(store), locations.team_folder(store), lambda _before: (state, None))


def test_team_begins_with_its_scopes(world: World, visit: Visit, serve: Serve) -> None:
    join(world)
    page = visit(world, served=serve(world, "--team"))
    expect(page.get_by_role("heading", name="Team")).to_be_visible()
    expect(page.locator(".row", has_text="team:backend")).to_contain_text("curator")
    expect(page.locator(".row", has_text="team:backend")).to_contain_text("curated")
    expect(page.locator("#pages [aria-current]")).to_contain_text("Team")


def test_without_a_team_the_command_says_how_to_join_one(world: World, visit: Visit) -> None:
    done = world.run("ui", "--team", "--json")
    assert done.returncode == 1
    assert "recollect team join" in done.stderr
    page = visit(world, "/team")
    expect(page.locator(".empty")).to_contain_text("recollect team join URL")
    expect(page.locator("#pages")).not_to_contain_text("Team")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_page_has_no_fault_and_hostile_text_is_text(
    world: World, visit: Visit, check_page: Check, width: int, scheme: str
) -> None:
    hostile = "<script>alert(1)</script>"
    refused = [RefusedLine("0" * 26, "team:backend", hostile, days_ago(2))]
    join(world, error=f"{hostile} " + "long" * 100, refused=refused)
    page = visit(world, "/team", viewport={"width": width, "height": 900}, color_scheme=scheme)
    expect(page.locator("#team .warning")).to_contain_text(hostile)
    assert page.locator("main script").count() == 0
    check_page(page)
