"""Make pages of templates. Texts of memories are data: escaped, without invisible characters, markdown without HTML."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from recollect.config.locations import EDITOR_VARIABLE
from recollect.domain.categories import CATEGORIES, UNKNOWN
from recollect.domain.clock import parse_time, relative
from recollect.domain.feedback.kinds import CONTRADICTED
from recollect.domain.text import counted, cut, one_line, visible
from recollect.sessions.given import Evidence
from recollect.version import VERSION

HERE = os.path.dirname(os.path.abspath(__file__))

# The addresses by which editors open a file at a line.
EDITORS = {
    "vscode": "vscode://file{path}:{line}",
    "vscode-insiders": "vscode-insiders://file{path}:{line}",
    "cursor": "cursor://file{path}:{line}",
    "windsurf": "windsurf://file{path}:{line}",
    "zed": "zed://file{path}:{line}",
    "idea": "idea://open?file={path}&line={line}",
    "pycharm": "pycharm://open?file={path}&line={line}",
    "sublime": "subl://open?url=file://{path}&line={line}",
    "none": "",
}
_DEFAULT_EDITOR = "vscode"
_LINKS = ("http://", "https://", "mailto:")
_NO_EDITOR = ("javascript:", "data:", "vbscript:", "blob:")


def rendered(template: str, **values: Any) -> str:
    """Return a page."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(os.path.join(HERE, "templates"), encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.filters |= FILTERS  # pyright: ignore[reportUnknownMemberType]
    made.globals |= {"VERSION": VERSION, "category_names": [(name, category_label(name)) for name in CATEGORIES]}  # pyright: ignore[reportUnknownMemberType]
    return made


def _shown(value: object) -> object:
    """Return a value of a template as it is shown: a text of anybody without invisible characters."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def markdown(text: str) -> Markup:
    """Return a text as HTML. HTML in it is shown and not obeyed, and pictures are links."""
    return Markup(_markdown().render(_lines(text)))  # noqa: S704 (made by a library that escapes all HTML)


class _Markdown(MarkdownIt):
    """Markdown whose links lead to the web, to mail or to the user's editor; another one stays the text that it is."""

    def validateLink(self, url: str) -> bool:
        beginning = _editor_template().partition("{path}")[0].lower()
        return url.lower().startswith((*_LINKS, *([f"{beginning}/"] if ":" in beginning else ())))


@cache
def _markdown() -> MarkdownIt:
    made = _Markdown("commonmark", {"html": False, "linkify": False}).enable("table").disable("image")
    made.add_render_rule("link_open", _link)  # pyright: ignore[reportUnknownMemberType]
    for level in ("heading_open", "heading_close"):
        made.add_render_rule(level, _heading)  # pyright: ignore[reportUnknownMemberType]
    return made


def _link(self: Any, tokens: Any, place: int, options: Any, _env: Any) -> str:
    tokens[place].attrSet("rel", "noreferrer noopener")
    return self.renderToken(tokens, place, options, {})


def _heading(_self: Any, tokens: Any, place: int, _options: Any, _env: Any) -> str:
    """Make headings of memories paragraphs in bold, because they are no headings of the page."""
    return '<p class="heading">' if tokens[place].nesting == 1 else "</p>\n"


def lines(text: str) -> Markup:
    """Return a text with its line breaks, escaped and without invisible characters."""
    return Markup("{}").format(_lines(text))


def _lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


def ago(at: str, now: datetime | None = None) -> Markup:
    """Return a time relative to now, with the exact one on hover; nothing for none."""
    moment = parse_time(at)
    if moment is None:
        return Markup("")
    exact = moment.strftime("%Y-%m-%d %H:%M:%S UTC")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        moment.isoformat(), exact, relative(moment, now or datetime.now(UTC))
    )


def sentence(text: str) -> str:
    """Return a clause as a sentence."""
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}." if text else ""


def category_label(name: str) -> str:
    """Return the name of a category for people."""
    row = CATEGORIES.get(name, UNKNOWN)
    return row.label or one_line(name).replace("_", " ").capitalize()


def project_label(identity: str) -> str:
    """Return the name of a project for people."""
    if identity in ("", "*"):
        return "several projects" if identity else "every project"
    return one_line(os.path.basename(identity)) or "no project"


def home_path(path: str) -> str:
    """Return a path as people write it, with ~ for their home folder."""
    home = os.path.expanduser("~").rstrip(os.sep)
    return f"~{path[len(home) :]}" if home and path.startswith(home + os.sep) else path


def editor_url(path: str, line: int = 1) -> str:
    """Return the address that opens a file in the user's editor; empty if there is none."""
    template = _editor_template()
    if not template or not os.path.isabs(path):
        return ""
    return template.replace("{path}", quote(path)).replace("{line}", str(line))


def _editor_template() -> str:
    """Return the address of a file in the user's editor, with a place for its path; empty if there is none."""
    template = os.environ.get(EDITOR_VARIABLE, "").strip() or _DEFAULT_EDITOR
    template = EDITORS.get(template, template)
    return template if "{path}" in template and not template.lower().startswith(_NO_EDITOR) else ""


def clock(at: str) -> Markup:
    """Return the time of day, with the exact time on hover."""
    moment = parse_time(at)
    exact = moment.strftime("%Y-%m-%d %H:%M:%S UTC") if moment else ""
    shown = moment.astimezone().strftime("%H:%M") if moment else ""
    return Markup('<time title="{}">{}</time>').format(exact, shown)


def when(at: str) -> str:
    """Return the day and the time of day, where the user is."""
    moment = parse_time(at)
    return moment.astimezone().strftime("%a %-d %b, %H:%M") if moment else ""


def day(text: str) -> str:
    """Return a day in words."""
    moment = parse_time(text)
    days = (datetime.now(UTC).date() - moment.date()).days if moment else -1
    named = {0: "Today", 1: "Yesterday"}.get(days, "")
    return named or (moment.strftime("%A, %-d %B %Y") if moment else text)


def project_pairs(projects: Mapping[str, str], but: str = "") -> list[tuple[str, str]]:
    """Return the projects of a choice, by their names; the folder beside a name that several have."""
    names = Counter(map(project_label, projects))
    found = [(project_label(each), each) for each in projects if each and each != but]
    return [(each, f"{name} ({each})" if names[name] > 1 else name) for name, each in sorted(found)]


def told_signs(signs: Sequence[Evidence]) -> list[tuple[str, str]]:
    """Return a word for each kind of sign of use, to mark a row with."""
    kinds = Counter(sign.kind for sign in signs)
    return [("bad" if kind == CONTRADICTED else "good", kind) for kind in kinds]


# What templates can do with a value.
FILTERS = {
    "clock": clock,
    "day": day,
    "pairs": project_pairs,
    "signs_told": told_signs,
    "when": when,
    "ago": ago,
    "count": counted,
    "cut": cut,
    "editor": editor_url,
    "home": home_path,
    "label": category_label,
    "line": one_line,
    "lines": lines,
    "markdown": markdown,
    "project": project_label,
    "sentence": sentence,
}
