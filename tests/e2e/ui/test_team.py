"""The page of the team: what a curator reviews, what a member sees, an exchange by a button, and no team at all."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from tests import postgres
from tests.conftest import PATIENCE, World, days_ago
from tests.e2e.ui.conftest import Check, Serve
from tests.laptops import BACKEND, Laptop
from tests.postgres import Team

from recollect.config import locations
from recollect.files.team.state import JoinedScope, RefusedLine, TeamState, change_state
from recollect.team import say
from recollect.team.exchange import exchange_lock
from recollect.team.review import awaiting_review

Visit = Callable[..., Page]

JITTER = "Retries without jitter overload the gateway."
PAGES = "Offsets are slow on long lists. Keep a cursor."


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """A curated scope on a real server, with ann for an admin, eve for a curator and bob for a writer."""
    made = postgres.server().team(tmp_path)
    with made.log("ann") as log:
        log.create_scope(BACKEND, curated=True)
        made.let_in(log, BACKEND, "eve", "curator")
        made.let_in(log, BACKEND, "bob", "writer")
    return made


@pytest.fixture
def eve(team: Team, tmp_path: Path) -> Laptop:
    return joined(team, tmp_path, "eve")


@pytest.fixture
def bob(team: Team, tmp_path: Path) -> Laptop:
    """A writer who has shared two lessons."""
    laptop = joined(team, tmp_path, "bob")
    laptop.share(JITTER, reasoning="It took us down.", triggers=["a service comes back slowly"])
    laptop.share(PAGES)
    laptop.sync()
    return laptop


def joined(team: Team, folder: Path, name: str) -> Laptop:
    laptop = Laptop(folder, name, team.url(name))
    laptop.join()
    return laptop


def world_of(laptop: Laptop) -> World:
    return World(laptop.home, laptop.project, laptop.store, semantic=True)


def opened(visit: Visit, laptop: Laptop, path: str = "/team", **options: object) -> Page:
    page = visit(world_of(laptop), path, **options)
    expect(page.locator("html[data-state]")).to_have_count(1)
    return page


def row(page: Page, text: str) -> Locator:
    return page.locator("#team [data-row]").filter(has_text=text)


def move_server(laptop: Laptop, address: str) -> None:
    """Let a laptop look for its server elsewhere."""

    def moved(state: TeamState | None) -> tuple[TeamState | None, None]:
        assert state
        state.address = address
        return state, None

    store = str(laptop.store)
    change_state(locations.team_state(store), locations.team_folder(store), moved)


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that takes connections and says nothing; who waits for it is told when it is closed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.mark.usefixtures("bob")
def test_key_approves_what_a_writer_has_shared_and_members_get_it(eve: Laptop, visit: Visit) -> None:
    eve.sync()
    page = opened(visit, eve)
    first = row(page, JITTER)
    expect(first).to_contain_text("said by bob in team:backend")
    page.keyboard.press("j")
    expect(first).to_have_attribute("aria-current", "true")
    first.get_by_text("Why, when and where").click()
    expect(first.get_by_text("It took us down.")).to_be_visible()
    expect(first.get_by_text("a service comes back slowly")).to_be_visible()
    page.keyboard.press("a")
    expect(page.locator("#notice")).to_contain_text("Approved: Retries without jitter overload the gateway.")
    expect(row(page, JITTER)).to_have_count(0)
    expect(row(page, "Offsets are slow")).to_have_attribute("aria-current", "true")
    expect(page.locator("#sync")).to_contain_text("1 line to be sent")
    page.keyboard.press("s")
    expect(page.locator("#notice")).to_contain_text("Sent 1 line, pulled 1 line.")
    expect(page.locator("#sync")).to_contain_text("0 lines to be sent")
    expect(row(page, "you are its curator")).to_contain_text("1 lesson")
    assert JITTER in eve.lessons()


def test_key_refuses_with_a_reason_and_only_when_it_is_sent(eve: Laptop, bob: Laptop, visit: Visit) -> None:
    eve.sync()
    page = opened(visit, eve)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")
    reason = row(page, "Offsets are slow").get_by_label("Why not")
    expect(reason).to_be_focused()
    assert len(awaiting_review(eve.workspace)) == 2, "the key alone refuses nothing"
    page.keyboard.type("a cursor is no cure")
    page.keyboard.press("Enter")
    expect(page.locator("#notice")).to_contain_text("Refused: Offsets are slow on long lists.")
    expect(row(page, "Offsets are slow")).to_have_count(0)
    [left] = awaiting_review(eve.workspace)
    assert left.text.entry.description == JITTER
    eve.sync()
    bob.sync()
    assert "a cursor is no cure" in bob.lines().decode()


def test_approval_by_mistake_is_taken_back(eve: Laptop, bob: Laptop, visit: Visit) -> None:
    eve.sync()
    page = opened(visit, eve)
    row(page, JITTER).get_by_role("button", name="Approve").click()
    expect(page.locator("#notice")).to_contain_text("Approved")
    page.keyboard.press("u")
    expect(page.locator("#notice")).to_contain_text("Refused after all")
    expect(row(page, JITTER)).to_have_count(0)
    eve.sync()
    bob.sync()
    assert JITTER not in eve.lessons()


@pytest.mark.usefixtures("bob")
def test_text_that_another_curator_has_settled_is_not_settled_twice(
    team: Team, tmp_path: Path, eve: Laptop, visit: Visit
) -> None:
    eve.sync()
    page = opened(visit, eve)
    page.evaluate("dispatchEvent(new Event('pagehide'))")  # it listens no more, so that its row stays
    ann = joined(team, tmp_path, "ann")
    for each in awaiting_review(ann.workspace):
        say.approve(ann.workspace, each.scope, each.id, each.text.line)
    ann.sync()
    eve.sync()
    row(page, JITTER).get_by_role("button", name="Approve").click()
    expect(page.locator(".notice.error")).to_contain_text("nothing that awaits review has the id")


def test_change_of_an_approved_lesson_is_shown_as_words(eve: Laptop, bob: Laptop, visit: Visit) -> None:
    eve.sync()
    for each in awaiting_review(eve.workspace):
        say.approve(eve.workspace, each.scope, each.id, each.text.line)
    eve.sync()
    bob.sync()
    bob.edit(JITTER, "Retries without jitter overload the database.")
    bob.sync()
    eve.sync()
    page = opened(visit, eve)
    edited = row(page, "edits another")
    expect(edited.locator("del")).to_contain_text("gateway")
    expect(edited.locator("ins")).to_contain_text("database")


def test_page_follows_what_another_exchange_has_pulled(eve: Laptop, bob: Laptop, visit: Visit) -> None:
    page = opened(visit, eve)
    bob.share("Name the owner of every alarm.")
    bob.sync()
    eve.sync()
    expect(row(page, "Name the owner of every alarm.")).to_be_visible()


def test_server_that_cannot_be_reached_is_said_beside_the_button(eve: Laptop, visit: Visit, tmp_path: Path) -> None:
    move_server(eve, f"postgresql://eve@/postgres?host={tmp_path}/nowhere")
    page = opened(visit, eve)
    page.get_by_role("button", name="Sync now").click()
    expect(page.locator("#sync")).to_contain_text("The last try failed:")
    expect(page.locator("#sync .wrong")).to_contain_text("check that the server runs")
    expect(page.get_by_role("button", name="Sync now")).to_be_enabled()
    page.goto(page.url.partition("/team")[0] + f"/team/scope/{BACKEND}")
    expect(page.locator(".warning")).to_contain_text("The server was not reached:")


def test_server_that_says_nothing_keeps_no_page_waiting(eve: Laptop, visit: Visit, silent: socket.socket) -> None:
    port = silent.getsockname()[1]
    move_server(eve, f"postgresql://eve@127.0.0.1:{port}/team?connect_timeout={PATIENCE:.0f}")
    page = opened(visit, eve)
    page.get_by_role("button", name="Sync now").click()
    other = page.context.new_page()
    other.goto(page.url.partition("/team")[0] + "/memories")
    expect(other.get_by_role("heading", name="Memories")).to_be_visible()
    expect(page.get_by_role("button", name="Sync now")).to_have_attribute("aria-busy", "true")
    other.goto(page.url)
    other.get_by_role("button", name="Sync now").click()  # waits for the same exchange
    page.bring_to_front()
    expect(page.locator("#notice")).to_contain_text("It goes on, and this page follows it.")
    silent.close()
    expect(page.locator("#sync .wrong")).to_contain_text("The last try failed:")


def test_exchange_that_waits_for_another_says_so(eve: Laptop, visit: Visit) -> None:
    page = opened(visit, eve)
    with exchange_lock(str(eve.store)):
        page.get_by_role("button", name="Sync now").click()
        expect(page.locator("#sync .wrong")).to_be_visible()
    page.get_by_role("button", name="Sync now").click()
    expect(page.locator("#notice")).to_contain_text("Sent 0 lines, pulled 0 lines.")
    expect(page.locator("#sync .wrong")).to_have_count(0)


def test_refused_lines_have_lesson_and_reason_and_are_sent_again(team: Team, bob: Laptop, visit: Visit) -> None:
    bob.share("Name the owner of every alarm.")
    with team.log("ann") as log:
        team.let_in(log, BACKEND, "bob", "reader")
    bob.sync()
    page = opened(visit, bob)
    refused = row(page, "Name the owner of every alarm")
    expect(refused).to_contain_text("to team:backend")
    expect(refused).to_contain_text(bob.state.refused[0].reason[:20], ignore_case=True)
    with team.log("ann") as log:
        team.let_in(log, BACKEND, "bob", "writer")
    page.get_by_role("button", name="Send again").click()
    expect(page.locator("#notice")).to_contain_text("Sent")
    expect(page.get_by_role("heading", name="Refused by the server")).to_have_count(0)
    assert bob.state.refused == []


def test_invitation_is_accepted_by_a_key_on_the_page_today(team: Team, tmp_path: Path, visit: Visit) -> None:
    with team.log("ann") as log:
        log.add_member(BACKEND, "dan", "reader")
        log.create_scope("team:other")
        log.add_member("team:other", "dan", "writer")
    dan = Laptop(tmp_path, "dan", team.url("dan"))
    dan.join(accept=False)
    page = opened(visit, dan, "/")
    invited = page.locator("[aria-labelledby=invited] [data-row]")
    expect(invited).to_have_count(2)
    expect(invited.first).to_contain_text("ann invites you as a reader")
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(page.locator("#notice")).to_contain_text("Accepted team:backend.")
    expect(invited).to_have_count(1)
    invited.get_by_role("button", name="Decline").click()
    expect(page.locator("#notice")).to_contain_text("Declined team:other.")
    expect(invited).to_have_count(0)
    page.goto(page.url.partition("?")[0] + "team")
    expect(row(page, "you are its reader")).to_contain_text("team:backend")


def test_writer_sees_no_review_and_cannot_force_it(bob: Laptop, visit: Visit) -> None:
    page = opened(visit, bob)
    expect(page.get_by_role("heading", name="Scopes")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    fields = {"scope": BACKEND, "id": "0" * 16, "line": "", "way": "approve"}
    forged = "async fields => { const body = new URLSearchParams({...fields, csrf: document.body.dataset.csrf});"
    forged += " const { ask } = await import('/static/key.js');"
    forged += " return (await ask('/team/settle', {method: 'POST', body})).text(); }"
    assert "you are a curator of no scope" in page.evaluate(forged, fields)


@pytest.mark.usefixtures("bob")
def test_scope_has_its_members_and_its_lessons(eve: Laptop, visit: Visit) -> None:
    eve.sync()
    for each in awaiting_review(eve.workspace):
        say.approve(eve.workspace, each.scope, each.id, each.text.line)
    eve.sync()
    eve.note("A lesson of my own.")
    page = opened(visit, eve)
    row(page, "you are its curator").locator("a.title").click()
    members = page.locator("[aria-labelledby=members] [data-row]")
    expect(members).to_have_count(3)
    expect(members.filter(has_text="bob")).to_contain_text("writer")
    page.get_by_role("link", name="2 lessons").click()
    expect(page.locator("#results [data-row]")).to_have_count(2)
    expect(page.locator("#results [data-row]").first).to_contain_text("said by bob in team:backend")
    page.get_by_label("Said in or by").select_option("any")
    expect(page.locator("#results [data-row]")).to_have_count(3)
    page.get_by_role("link", name="said by bob in team:backend").first.click()
    expect(page.locator("#results [data-row]")).to_have_count(2)
    expect(page.get_by_label("Said in or by")).to_have_value("bob in team:backend")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280, 3840])
def test_pages_with_everything_on_them_have_no_fault(  # noqa: PLR0917 (fixtures)
    team: Team, eve: Laptop, bob: Laptop, visit: Visit, check_page: Check, width: int, scheme: str
) -> None:
    bob.share("<script>alert(1)</script> and a word that is " + "long" * 100)
    bob.sync()
    eve.sync()
    eve.share("A line that the server refuses.", "team:backend")
    with team.log("ann") as log:
        team.let_in(log, BACKEND, "eve", "reader")
    eve.sync()
    with team.log("ann") as log:
        team.let_in(log, BACKEND, "eve", "curator")
    eve.sync()
    page = opened(visit, eve, viewport={"width": width, "height": 900}, color_scheme=scheme)
    expect(page.get_by_role("button", name="Approve")).to_have_count(3)
    expect(page.get_by_role("heading", name="Refused by the server")).to_be_visible()
    assert page.locator("main script").count() == 0
    page.keyboard.press("j")
    check_page(page)
    page.goto(page.url + f"/scope/{BACKEND}")
    check_page(page)


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
    expect(page.locator("#sync .wrong")).to_contain_text(hostile)
    assert page.locator("main script").count() == 0
    check_page(page)
