"""Check the team that was joined: that its server answers, that lines get there, and that none were refused."""

from __future__ import annotations

import os
from collections.abc import Iterator

from recollect.config import locations
from recollect.doctor.case import ERROR, OK, WARNING, Case, Finding
from recollect.domain.text import counted, one_line
from recollect.errors import RecollectError
from recollect.team.join import look, status

_PATIENCE = 3.0


def team(case: Case) -> Iterator[Finding]:
    """Ask the server how far it is. A server that cannot be reached is no error: everything works without it."""
    workspace = case.workspace
    if not os.path.exists(locations.team_state(workspace.global_store)):
        yield Finding(OK, "Team", "no team is joined")
        return
    try:
        failure = look(workspace, patience=_PATIENCE)
        found = status(workspace)
    except RecollectError as error:
        yield Finding(ERROR, "Team", one_line(str(error)), error.fix)
        return
    lines = f"{counted(found.unsent, 'line', 'lines')} to send, {found.behind:,} to pull"
    since = f"last contact {found.contacted_at or 'never'}"
    if failure:
        told = f"the server does not answer; {lines}, {since}: {one_line(failure)}"
        yield Finding(WARNING, "Team", told, "nothing is lost: lines are sent when it answers again")
    else:
        yield Finding(OK, "Team", f"{found.user} on {found.address}, {lines}, {since}")
    if found.refused:
        last = found.refused[-1]
        told = (
            f"{counted(len(found.refused), 'line was', 'lines were')} refused; the last, for {last.to}: {last.reason}"
        )
        yield Finding(
            WARNING, "Team", told, "`recollect team status` shows them, `recollect team sync --again` retries"
        )
