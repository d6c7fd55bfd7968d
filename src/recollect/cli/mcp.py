from __future__ import annotations

import os
import signal
import sys

import click

from recollect.cli.shared import is_terminal, workspace_options
from recollect.config.locations import TOKEN_VARIABLE
from recollect.config.workspace import Workspace


def _address(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, int] | None:
    if value is None:
        return None
    host, _, port = value.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) <= 65535):
        wrong = f"{value!r} is no address; give HOST:PORT, or a port alone for this machine only"
        raise click.BadParameter(wrong, context, parameter)
    return host or "127.0.0.1", int(port)


@click.command("mcp")
@click.option("--http", metavar="HOST:PORT", callback=_address, help="Serve over HTTP; a port alone is on 127.0.0.1.")
@click.option("--allow-host", "allowed", metavar="NAME", multiple=True, help="A name that HTTP clients may use for it.")
@workspace_options
def command(http: tuple[str, int] | None, allowed: tuple[str, ...], workspace: Workspace) -> None:
    """Serve the memories to an MCP client.

    A client starts this and speaks to it over standard input and output: store_memory, search_memory, get_memories,
    list_memories and forget_memory. It ends when the client does.

    With --http the same is served over streamable HTTP at /mcp. Clients need a bearer token: that of the variable
    RECOLLECT_MCP_TOKEN, or one that is made and shown at the start.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # end at once: nothing is half done before it serves
    if allowed and http is None:
        raise click.UsageError("--allow-host goes with --http")
    from recollect.mcp.serve import serve_http, serve_stdio

    if http is None:
        if is_terminal(sys.stdin):
            click.echo("An MCP client speaks to this, and starts it by itself; Ctrl-C ends it.", err=True)
        serve_stdio(workspace)
    else:
        serve_http(workspace, *http, os.environ.get(TOKEN_VARIABLE, ""), allowed)
