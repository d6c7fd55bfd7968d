"""The tests' own ground: what the client runs in reaches nothing but the scripted API."""

from __future__ import annotations

import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.claude.api import Api
from tests.e2e.claude.client import Client

# What comes of trying to reach an address, in words.
_TRY = """
import os, socket, sys, urllib.request
for address in sys.argv[1:]:
    host, port = address.split(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
        print("reached")
    except OSError as error:
        print(type(error).__name__, error.errno)
print([name for _, name in socket.if_nameindex()])
print(urllib.request.urlopen(urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"], method="HEAD")).status)
"""


@pytest.mark.oldest
def test_client_reaches_the_scripted_api_and_nothing_else(machine: Client) -> None:
    in_its_place = replace(machine, program=Path(sys.executable))
    with socket.create_server(("127.0.0.1", 0)) as outside, Api() as api:
        ours = f"127.0.0.1:{outside.getsockname()[1]}"
        run = in_its_place.run(["-c", _TRY, "203.0.113.1:443", ours], api)
    assert run.stdout.splitlines() == ["OSError 101", "ConnectionRefusedError 111", "['lo']", "200"], run.stderr
