"""The start page: what awaits the user, and the last sessions."""

from __future__ import annotations

from starlette.responses import Response

from recollect.web.call import Call


def show(call: Call) -> Response:
    return call.page("today.html")


ROUTES = (("GET", "/", show),)
