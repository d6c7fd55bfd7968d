from __future__ import annotations

import os
import signal
import sys

import click

from recollect.cli.shared import is_terminal, workspace_options
from recollect.config.locations import IN_FILE, METRICS_TOKEN_VARIABLE, TOKEN_VARIABLE
from recollect.config.workspace import Workspace
from recollect.errors import InvalidSetting
from recollect.files.textfile import read_text


def _address(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, int] | None:
    if value is None:
        return None
    host, _, port = value.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) <= 65535):
        wrong = f"{value!r} is no address; give HOST:PORT, or a port alone for this machine only"
        raise click.BadParameter(wrong, context, parameter)
    return host or "127.0.0.1", int(port)


def _secret(variable: str) -> str:
    """Return the token in a variable, or in the file that its twin names, as services are given secrets."""
    token, path = os.environ.get(variable, ""), os.environ.get(variable + IN_FILE, "")
    if token and path:
        raise InvalidSetting(f"both {variable} and {variable}{IN_FILE} are set; set one of them")
    if path and not (token := read_text(path).strip()):
        raise InvalidSetting(f"there is no token in {path}, the file that {variable}{IN_FILE} names; put one there")
    return token


@click.command("mcp")
@click.option("--http", metavar="HOST:PORT", callback=_address, help="Serve over HTTP; a port alone is on 127.0.0.1.")
@click.option("--allow-host", "allowed", metavar="NAME", multiple=True, help="A name that HTTP clients may use for it.")
@click.option("--workers", type=click.IntRange(1, 64), metavar="N", help="HTTP calls done at once on a server's store.")
@click.option("--call-timeout", type=click.FloatRange(1, 600), metavar="SECONDS", help="The time for an HTTP call.")
@workspace_options
def command(
    http: tuple[str, int] | None,
    allowed: tuple[str, ...],
    workers: int | None,
    call_timeout: float | None,
    workspace: Workspace,
) -> None:
    """Serve the memories to an MCP client.

    A client starts this and speaks to it over standard input and output: store_memory, search_memory, get_memories,
    list_memories and forget_memory. It ends when the client does.

    With --http the same is served over streamable HTTP at /mcp. Clients need a bearer token: that of the variable
    RECOLLECT_MCP_TOKEN, or one that is made and shown at the start. /healthz tells anybody whether the server is well.
    /metrics has numbers for Prometheus, for the same token or for that of RECOLLECT_METRICS_TOKEN.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # end at once: nothing is half done before it serves
    given = {"--allow-host": allowed, "--workers": workers, "--call-timeout": call_timeout}
    for option, value in given.items():
        if value and http is None:
            raise click.UsageError(f"{option} goes with --http")
    from recollect.mcp.serve import CALL_SECONDS, serve_http, serve_stdio

    if http is None:
        if is_terminal(sys.stdin):
            click.echo("An MCP client speaks to this, and starts it by itself; Ctrl-C ends it.", err=True)
        serve_stdio(workspace)
    else:
        serve_http(
            workspace,
            *http,
            _secret(TOKEN_VARIABLE),
            metrics_token=_secret(METRICS_TOKEN_VARIABLE),
            allowed=allowed,
            threads=workers or 0,
            seconds=call_timeout or CALL_SECONDS,
        )
