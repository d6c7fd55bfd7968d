"""The team: invitations, texts to be reviewed, the scopes here, an exchange by a button, what was refused."""

from __future__ import annotations

from concurrent.futures import wait

from starlette.responses import Response

from recollect.domain.secrets.detect import redact
from recollect.domain.text import counted, cut, one_line
from recollect.domain.word_diff import word_diff
from recollect.errors import RecollectError, TeamError, UnknownMemory
from recollect.team import say
from recollect.team.exchange import exchange
from recollect.team.join import answer, members_of, status
from recollect.team.joined import find_team, joined_team, scope_of
from recollect.team.review import Awaiting, awaiting_named, awaiting_review
from recollect.web.call import Call

APPROVE, REFUSE = "approve", "refuse"
ACCEPT = "accept"

_MOST_SHOWN = 50
_LONGEST_TITLE = 60

# In seconds: how long the server may take for an answer, and how long a page waits for an exchange.
_PATIENCE = 2.0
_LONGEST = 4.0


def show(call: Call) -> Response:
    """Show how things stand, from files alone: no server is asked."""
    return _page(call)


def _page(call: Call, failure: str = "") -> Response:
    workspace = call.site.workspace()
    if find_team(workspace.global_store) is None:
        return call.page("team.html", team=None)
    try:
        awaiting = awaiting_review(workspace)
    except TeamError:
        awaiting = list[Awaiting]()  # they are a curator of none
    found = status(workspace)
    return call.page(
        "team.html",
        team=found,
        failure=failure or redact(found.error),
        awaiting=[(each, *_texts(each)) for each in awaiting[:_MOST_SHOWN]],
        more=max(0, len(awaiting) - _MOST_SHOWN),
    )


def _texts(each: Awaiting) -> tuple[str, str, list[tuple[str, str]]]:
    """Return the title and the text of what awaits a curator, and the words that it changes if it edits another."""
    text = redact(each.text.entry.description)
    difference = word_diff(redact(each.former.description), text) if each.former else []
    return redact(each.text.entry.name), text, difference


def settle(call: Call) -> Response:
    """Approve a text or refuse it, as `recollect review --team` does."""
    site, workspace = call.site, call.site.workspace()
    way, reason = call.given("way"), call.given("reason")
    each = awaiting_named(awaiting_review(workspace, call.given("scope")), call.given("id"))
    if each.text.line != call.given("line"):
        raise UnknownMemory("it was shared anew meanwhile; look at it again")
    title = cut(one_line(redact(each.text.entry.name)), _LONGEST_TITLE)
    if way == REFUSE:
        say.refuse(workspace, each.scope, each.id, reason)
        return call.done(f"Refused: {title}.", more=["It is retired for all members with the next exchange."])
    if way != APPROVE:
        raise UnknownMemory(f"a text cannot be settled by {way[:40]!r}; reload the page")
    say.approve(workspace, each.scope, each.id, each.text.line)

    def undo() -> str:
        say.refuse(site.workspace(), each.scope, each.id, "approved by mistake")
        return f"Refused after all: {title}."

    return call.done(f"Approved: {title}.", more=["The members get it with the next exchange."], undo=undo)


def sync(call: Call) -> Response:
    """Exchange lines with the server, as `recollect team sync` does. What takes longer goes on behind the page."""
    site, again = call.site, bool(call.given("again"))
    running = site.exchanging
    if running is None or running.done():
        running = site.exchanges.submit(exchange, site.workspace(), patience=_PATIENCE, wait=_PATIENCE, again=again)
        site.exchanging = running
    if not wait([running], _LONGEST).done:
        return call.done("The exchange takes longer. It goes on, and this page follows it.", to="/team")
    try:
        done = running.result()
    except RecollectError as error:
        return _page(call, redact(str(error)))
    refused = counted(len(done.refused), "line was", "lines were")
    more = [*done.warnings, *([f"{refused} refused; the reasons are below."] if done.refused else [])]
    return call.done(done.sentence, more=more, to="/team")


def answered(call: Call) -> Response:
    """Accept a scope to which the user was invited, or decline it. The exchange goes on behind the page."""
    site, name, is_yes = call.site, call.given("scope"), call.given("way") == ACCEPT
    answer(site.workspace(), name, accept=is_yes, patience=_PATIENCE)
    begun = site.exchanges.submit(exchange, site.workspace(), patience=_PATIENCE, wait=_PATIENCE)
    site.exchanging = begun
    wait([begun], _LONGEST)
    if is_yes:
        return call.done(f"Accepted {name}.", more=["What its members share is found here from now on."])
    return call.done(f"Declined {name}.", more=["Nothing of it is found here, and you are not asked again."])


def scope(call: Call) -> Response:
    """Show the members of a scope, as `recollect team member` does: this asks the server."""
    workspace, name = call.site.workspace(), call.names["scope"]
    scope_of(joined_team(workspace.global_store), name)
    try:
        members, failure = members_of(workspace, name, patience=_PATIENCE), ""
    except RecollectError as error:
        members, failure = [], redact(str(error))
    known = next(each for each in status(workspace).scopes if each.name == name)
    return call.page("scope.html", scope=known, members=members, failure=failure)


ROUTES = (
    ("GET", "/team", show),
    ("POST", "/team/settle", settle),
    ("POST", "/team/sync", sync),
    ("POST", "/team/answer", answered),
    ("GET", "/team/scope/{scope}", scope),
)
