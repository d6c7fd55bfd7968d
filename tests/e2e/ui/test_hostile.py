"""Texts of others are data: whatever a memory, a session or a capture says, a page shows it and does nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.conftest import World, days_ago
from tests.e2e.ui.conftest import Check, Serve, ids_of

from recollect.engine.engine import Engine
from recollect.files.journal.kinds import STAGED, Staged
from recollect.files.journal.log import append_lines
from recollect.store.values import Evidence, Receipt, ReceiptLine
from recollect.sync.rebuild import sync_all

Visit = Callable[..., Page]

CONTENT = {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]}

HOSTILE = (
    "</textarea></script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>"
    "\"'><svg onload=window.hurt=1> [click](javascript:window.hurt=1) ![pic](http://127.0.0.1:1/leak.png)"
    " <javascript:window.hurt=1> {{ 'made' * 3 }} {% raw %} \u202e\u200bdesrever"
)


@pytest.fixture
def hostile(tmp_path: Path) -> World:
    """A world with a hostile text in every field that a page shows."""
    project = tmp_path / "<b>shop & 'co'"
    project.mkdir()
    world = World(tmp_path, project, tmp_path / "store", semantic=True)
    world.store.mkdir()
    fields = "".join(f"- {name}: {HOSTILE}\n" for name in ("Reasoning", "Keywords", "When", "Note"))
    world.write_bank("patterns", f"# Patterns\n\n### Pattern: {HOSTILE}\n{HOSTILE}\n{fields}", shared=True)
    change = {"date": days_ago(1), "summary": HOSTILE[:280], "field": HOSTILE, "old_value": HOSTILE, "new_value": "x"}
    world.write_decision(
        "hostile",
        title=HOSTILE[:110],
        tags=[HOSTILE],
        triggers=[HOSTILE],
        related_files=[HOSTILE, "src/<i>.py"],
        content={
            "status": "accepted",
            "context": HOSTILE,
            "decision": HOSTILE,
            "rationale": [HOSTILE],
            "alternatives": [{"option": HOSTILE, "rejected_reason": HOSTILE}],
            HOSTILE: HOSTILE,
        },
        changes=[change],
    )
    with Engine(world.workspace()) as engine:
        sync_all(engine)
        ids = [entry.id for entry in engine.store.page(engine.scope(None), 10)[0]]
        lines = [ReceiptLine(id, 1.0, vector=1.0, keyword=1.0, prominence=0.5) for id in ids]
        session = HOSTILE[:90]
        told = {"project": engine.project, "session": session}
        engine.store.recalled(Receipt(at=days_ago(0.1), event="prompt", query=HOSTILE, lines=lines, **told))
        for id in ids:
            sign = Evidence(at=days_ago(0.1), kind="contradicted", id=id, turn=1, place="<b>", **told)
            engine.store.note_evidence([sign])
        staged = Staged("<b>id", days_ago(0.1), engine.project, session, HOSTILE, 0.5, [HOSTILE], HOSTILE)
        append_lines(engine.workspace.journal, STAGED, [staged])
    return world


def test_hostile_text_in_every_field_is_shown_and_does_nothing(
    hostile: World, visit: Visit, serve: Serve, check_page: Check
) -> None:
    served = serve(hostile)
    page = visit(hostile, served=served)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    expect(page.get_by_role("heading", name="Last sessions")).to_be_visible()
    paths = {
        "/",
        "/sessions",
        "/memories",
        f"/memories?q={HOSTILE[:40]}",
        "/memories?tag=<b>&origin=<b>&age=<b>&page=-1",
    }
    paths |= {f"/memories?project={HOSTILE[:30]}", "/memory/<b>x</b>", "/sessions/<b>x</b>", "/capture/<b>x</b>"}
    seen: set[str] = set()
    while left := paths - seen:
        path = min(left)
        seen.add(path)
        page.goto(served.base + path if path.startswith("/") else path)
        expect(page.locator("[data-load]:not([data-loaded])")).to_have_count(0)
        assert page.evaluate("window.hurt") is None, path
        assert page.locator("main img, main script, main iframe, a[href^='javascript' i], a[href^=data]").count() == 0
        assert "mademade" not in page.locator("main").inner_text(), "a template was made of a text"
        assert "\u202e" not in page.content()
        links = page.eval_on_selector_all("main a.title, main a.button", "all => all.map(each => each.href)")
        paths |= {link for link in links if link.startswith(served.base) and "page=" not in link and "#" not in link}
    check_page(page)
    assert any("/edit" in path for path in seen)
    assert any("/sessions/" in path for path in seen)
    assert {url for url in asked if not url.startswith(served.base)} == set(), "nothing is asked of anybody else"


def test_links_in_memories_lead_to_the_web_to_mail_and_to_the_editor_alone(
    world: World, visit: Visit, chromium: Browser
) -> None:
    """A link with another scheme would hand an argument to a program, by one click on what a repository says."""
    led = ["https://example.org/a", "mailto:ann@example.org", "vscode://file/srv/shop/a.py:3"]
    others = [
        "vscode://x",
        "ms-msdt:/id",
        "smb://host/share",
        "//host/share",
        "/health",
        "x.html",
        "tel:1",
        "VBScript:x",
    ]
    lines = [f"[to]({url}) <{url}> [by][{at}]\n\n[{at}]: {url}" for at, url in enumerate([*led, *others])]
    world.write_decision("links", content={**CONTENT, "decision": "\n\n".join(lines)})
    exported = world.home / "memories.html"
    assert world.run("ui", "--export", str(exported)).returncode == 0
    page = visit(world, f"/memory/{ids_of(world)['Title of links']}")
    from_file = chromium.new_page()
    from_file.goto(exported.as_uri())
    for shown in (page, from_file):
        expect(shown.get_by_text("[to](vscode://x)")).to_be_visible()
        found = {*shown.eval_on_selector_all("main a", "all => all.map(each => each.getAttribute('href'))")}
        assert (found & {*led, *others}) == {*led}
    from_file.close()


def test_credential_in_a_memory_or_its_file_is_not_shown(lived: World, visit: Visit, serve: Serve) -> None:
    id = ids_of(lived)["Prices are integers in cents"]
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    path = next((lived.project / ".claude" / "memory" / "decisions").glob("prices*.json"))
    record = json.loads(path.read_text(encoding="utf-8"))
    record["content"]["decision"] = f"The token is {secret}."
    path.write_text(json.dumps(record), encoding="utf-8")
    (lived.project / "src" / "pricing.py").write_text(f"TOKEN = '{secret}'\n", encoding="utf-8")
    served = serve(lived)
    page = visit(lived, served=served)
    for place in ("/?whole=1", "/memories", f"/memory/{id}", "/memories?q=token"):
        page.goto(served.base + place)
        expect(page.locator("[data-load]:not([data-loaded])")).to_have_count(0)
        assert secret not in page.content(), place
