"""One request and its answer, as the pages see them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.responses import HTMLResponse, RedirectResponse, Response

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.web.render import rendered
from recollect.web.site import Notice, Site

_MOST_FIELDS = 20_000


@dataclass(frozen=True)
class Call:
    """A request: its path, the fields of its address and of its form, and the site."""

    site: Site
    path: str
    names: Mapping[str, str]  # the parts of the path
    query: Sequence[tuple[str, str]]
    form: Sequence[tuple[str, str]] = ()

    def asked(self, name: str, default: str = "") -> str:
        """Return the last value of a field of the address."""
        return next((value for key, value in reversed(self.query) if key == name), default)

    def number(self, name: str, default: int, most: int) -> int:
        """Return a field of the address as a number from 0 to `most`; anything else is the default."""
        value = self.asked(name)
        is_number = value.isascii() and value.isdecimal() and len(value) < 10
        return min(int(value), most) if is_number else default

    def given(self, name: str, default: str = "") -> str:
        """Return the last value of a field of the form."""
        return next((value for key, value in reversed(self.form) if key == name), default)

    def all_given(self, name: str) -> list[str]:
        """Return all values of a field of the form."""
        return [value for key, value in self.form if key == name]

    def engine(self, workspace: Workspace | None = None) -> Engine:
        """Return an engine, as `Site.engine` does."""
        return self.site.engine(workspace)

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """Return a page made of a template, with the notice that the address names."""
        notice = self.asked("notice")
        shared = {
            "path": self.path,
            "csrf": self.site.csrf,
            "here": self.site.workspace(),
            "notice_name": notice,
            "notice": self.site.notice(notice) if notice else None,
            "with_query": self.with_query,
            "has_team": os.path.exists(locations.team_state(self.site.workspace().global_store)),
        }
        return HTMLResponse(rendered(template, **shared, **values), status)

    def done(
        self, text: str, *, more: Sequence[str] = (), undo: Callable[[], str] | None = None, to: str = ""
    ) -> Response:
        """Answer a change: go back to the page that it came from, or `to` another one, and say what was done."""
        return self._back(Notice(text, list(dict.fromkeys(more)), undo=undo), to)

    def failed(self, text: str) -> Response:
        """Answer a change that was refused: go back to the page that it came from, and say why."""
        return self._back(Notice(text, is_error=True), "")

    def _back(self, notice: Notice, to: str) -> Response:
        place = urlsplit(to or self.given("back", "/"))
        path = place.path if place.path.startswith("/") and not place.path.startswith(("//", "/\\")) else "/"
        fields = [pair for pair in parse_qsl(place.query) if pair[0] != "notice"]
        return RedirectResponse(f"{path}?{urlencode([*fields, ('notice', self.site.keep(notice))])}", 303)

    def with_query(self, **changes: object) -> str:
        """Return the address of this page with other fields; None and empty texts take a field out."""
        kept = [(key, value) for key, value in self.query if key not in changes and key != "notice"]
        new = [(key, str(value)) for key, value in changes.items() if value not in (None, "")]
        fields = urlencode([*kept, *new])
        return f"{self.path}?{fields}" if fields else self.path


def fields_in(text: str) -> list[tuple[str, str]]:
    """Return the fields of a query or a form.

    Raises:
        ValueError: there are too many.
    """
    return parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
