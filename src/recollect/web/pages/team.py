"""The team: its scopes as they are on this machine, what waits to be sent or reviewed, and what was refused."""

from __future__ import annotations

from starlette.responses import Response

from recollect.domain.secrets.detect import redact
from recollect.errors import TeamError
from recollect.team.join import status
from recollect.team.joined import find_team
from recollect.team.review import Awaiting, awaiting_review
from recollect.web.call import Call

_MOST_SHOWN = 50


def show(call: Call) -> Response:
    """Show how things stand, from files alone: no server is asked."""
    workspace = call.site.workspace()
    if find_team(workspace.global_store) is None:
        return call.page("team.html", team=None, awaiting=[], more=0)
    try:
        awaiting = awaiting_review(workspace)
    except TeamError:
        awaiting = list[Awaiting]()  # they are a curator of none
    rows = [(each, redact(each.text.entry.name)) for each in awaiting[:_MOST_SHOWN]]
    return call.page("team.html", team=status(workspace), awaiting=rows, more=len(awaiting) - len(rows))


ROUTES = (("GET", "/team", show),)
