from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.clock import relative
from recollect.web.render import ago, editor_url, markdown, project_pairs

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (5, "now"), (-5, "now"), (61, "1 min ago"), (3599, "59 min ago"), (3600, "1 h ago"), (86_400 * 2, "2 d ago"),
        (-7200, "in 2 h"), (86_400 * 31, "18 Oct 2026"),
    ],
)  # fmt: skip
def test_time_is_told_relative_to_now(seconds: int, told: str) -> None:
    assert relative(NOW - timedelta(seconds=seconds), NOW) == told


def test_time_has_the_exact_one_on_hover() -> None:
    shown = str(ago("2026-11-18T10:00:00Z", NOW))
    assert 'title="2026-11-18 10:00:00 UTC"' in shown
    assert ">2 h ago<" in shown
    assert str(ago("<b>", NOW)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "<script>x</script>",
        "[a](javascript:alert(1))",
        "![a](http://x/y.png)",
        "<img src=x>",
        "[a](data:text/html,x)",
        "# Big\n<b>",
    ],
)
def test_markdown_makes_no_element_that_acts(text: str) -> None:
    shown = str(markdown(text)).lower()
    assert not any(mark in shown for mark in ("<script", "<img", "<b>", 'href="javascript', 'href="data', "<h1"))


@pytest.mark.parametrize(
    ("address", "editor", "is_link"),
    [
        ("https://example.org/a", "", True),
        ("HTTP://example.org", "", True),
        ("mailto:ann@example.org", "none", True),
        ("vscode://file/srv/shop/a.py:3", "", True),
        ("idea://open?file=/srv/a.py&line=3", "idea", True),
        ("vscode://file/srv/shop/a.py:3", "none", False),
        ("vscode://file/srv/shop/a.py:3", "zed", False),
        ("vscode://ms.remote/run?x", "", False),
        ("vscode://filex/a", "", False),
        ("ms-msdt:/id", "", False),
        ("smb://host/share", "", False),
        ("//host/share", "", False),
        ("/health?whole=1", "", False),
        ("other.html", "", False),
        ("file:///etc/passwd", "", False),
        ("https:example", "", False),
        ("x", "{path}", False),
        ("/x", "{path}", False),
        ("javascript:/x", "javascript:{path}", False),
    ],
)
@pytest.mark.parametrize("form", ["[t]({})", "<{}>", "[t]\n\n[t]: {}"])
def test_markdown_links_to_the_web_to_mail_and_to_the_users_editor_alone(
    monkeypatch: pytest.MonkeyPatch, form: str, address: str, editor: str, is_link: bool
) -> None:
    monkeypatch.setenv("RECOLLECT_EDITOR_URL", editor)
    shown = str(markdown(form.format(address)))
    assert ("<a" in shown) == is_link, shown


@given(st.text(st.sampled_from("<>&\"'`[]()!#*_-= \njavscriptonloaddata:/{}%"), max_size=80))
def test_no_text_becomes_an_element_of_its_own_choice(text: str) -> None:
    allowed = {"p", "em", "strong", "code", "pre", "ul", "ol", "li", "a", "hr", "blockquote", "br"}
    allowed |= {"table", "thead", "tbody", "tr", "th", "td"}
    shown = str(markdown(text))
    for part in shown.split("<")[1:]:
        assert part.lstrip("/").split(">")[0].split(" ")[0].rstrip("/") in allowed, shown
    assert " on" not in "".join(part.partition(">")[0] for part in shown.split("<")[1:])


@pytest.mark.parametrize(
    ("setting", "path", "url"),
    [
        ("", "/a b/c.py", "vscode://file/a%20b/c.py:3"),
        ("zed", "/c.py", "zed://file/c.py:3"),
        ("x://{path}?{line}", "/c.py", "x:///c.py?3"),
        ("none", "/c.py", ""),
        ("nonsense", "/c.py", ""),
        ("JavaScript:alert('{path}')", "/c.py", ""),
        ("", "relative.py", ""),
    ],
)
def test_editor_opens_a_file_at_a_line(monkeypatch: pytest.MonkeyPatch, setting: str, path: str, url: str) -> None:
    monkeypatch.setenv("RECOLLECT_EDITOR_URL", setting)
    assert editor_url(path, 3) == url


def test_projects_of_one_name_are_told_apart_by_their_folders() -> None:
    found = project_pairs({"/a/shop": "/a/shop", "/b/shop": "/b/shop", "/c/web": "/c/web"}, but="/c/web")
    assert found == [("/a/shop", "shop (/a/shop)"), ("/b/shop", "shop (/b/shop)")]
