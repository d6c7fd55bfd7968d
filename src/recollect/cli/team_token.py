from __future__ import annotations

import click

from recollect.cli.help import Group
from recollect.cli.shared import fields_of, json_option, print_json, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.data_text import data_line
from recollect.domain.shared.lines import READER, ROLES
from recollect.team.tokens import create_token, redeem_token, revoke_token, tokens

_FIELDS = (
    *("number", "login", "scope", "role", "name", "created_by"),
    *("created_at", "expires_at", "last_used_at", "revoked_at", "redeemed_at", "is_invitation"),
)


@click.group("token", cls=Group)
def token() -> None:
    """Tokens by which users ask a server over HTTP.

    A token opens one scope for one user, with a role at most, until it expires. Everybody makes his own; one for
    somebody else is an invitation, which his login redeems.
    """


@token.command("create")
@click.argument("user")
@click.option("--scope", required=True, metavar="SCOPE", help="The scope that it opens, such as team:backend.")
@click.option("--role", type=click.Choice(ROLES), default=READER, show_default=True, help="The most that it may do.")
@click.option("--expires", default="90d", show_default=True, metavar="TIME", help="Its lifetime, such as 12h or 90d.")
@click.option("--for", "name", default="", metavar="TEXT", help="What it is for, such as the name of a runner.")
@json_option
@workspace_options
def create(user: str, scope: str, role: str, expires: str, name: str, as_json: bool, workspace: Workspace) -> None:
    """Create a token of yours, or an invitation to one, and print it once.

    For a member of a scope of which you are an admin, it is an invitation: it opens nothing, and USER gets a token for
    it with his own login (`recollect team token redeem`). So nobody speaks for somebody else. A token never allows more
    than its user may. The server keeps its hash alone.
    """
    made = create_token(workspace, user, scope, role, expires, name=name)
    if as_json:
        what = "invitation" if made.is_invitation else "token"
        print_json({"number": made.number, what: made.text, "login": user, "scope": scope, "role": role})
        return
    click.echo(made.text)
    what = "Invitation {} to a token" if made.is_invitation else "Token {}"
    told = f"{what.format(made.number)} of {user} for {scope}, as {role}, for {expires}. It is not shown again."
    click.echo(told, err=True)
    if made.is_invitation:
        click.echo(f"{user} gets the token with his own login: recollect team token redeem {made.text}", err=True)


@token.command("redeem")
@click.argument("invitation")
@json_option
@workspace_options
def redeem(invitation: str, as_json: bool, workspace: Workspace) -> None:
    """Get the token for an INVITATION that an admin has made for you, and print it once.

    You must have accepted its scope (`recollect team accept SCOPE`). The invitation is worth nothing afterwards.
    """
    found, text = redeem_token(workspace, invitation)
    if as_json:
        print_json({"token": text, **fields_of(found, "number", "login", "scope", "role")})
        return
    click.echo(text)
    until = f"until {found.expires_at}"
    click.echo(f"Token {found.number} for {found.scope}, as {found.role}, {until}. It is not shown again.", err=True)


@token.command("list")
@json_option
@workspace_options
def list_tokens(as_json: bool, workspace: Workspace) -> None:
    """List your tokens, and those of scopes of which you are an admin."""
    found = tokens(workspace)
    if as_json:
        print_json({"tokens": [fields_of(token, *_FIELDS) for token in found]})
        return
    for token in found:
        about = f" for {token.name}" if token.name else ""
        ended = f"revoked {token.revoked_at}" if token.revoked_at else f"until {token.expires_at}"
        used = f"last used {token.last_used_at}" if token.last_used_at else "never used"
        used = "invitation, not redeemed yet" if token.is_invitation else used
        whose = f"{token.number}: {token.login}, {token.scope}, {token.role}{about}, by {token.created_by}"
        click.echo(data_line(f"{whose}, {ended}, {used}"))
    if not found:
        click.echo("There are none.")


@token.command("revoke")
@click.argument("number", type=click.IntRange(min=1))
@json_option
@workspace_options
def revoke(number: int, as_json: bool, workspace: Workspace) -> None:
    """End a token now; servers refuse it within seconds."""
    revoke_token(workspace, number)
    if as_json:
        print_json({"number": number, "outcome": "revoked"})
    else:
        click.echo(f"Token {number} is revoked.")
