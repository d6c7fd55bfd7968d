"""Other users of the machine beside `recollect ui`: what they can read of it, and what they can send to it."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import pytest
from tests.conftest import NOBODY, PATIENCE, World, cannot_be_tested

from recollect.web.render import markdown

# What another user can read of all processes, but for those of the reader itself.
READ_ALL = f"""
import glob, os, sys
os.setgid({NOBODY}); os.setuid({NOBODY})
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        sys.stdout.buffer.write(open(path, "rb").read().replace(b"\\0", b" ") + b"\\n")
    except OSError:
        pass
"""

# Says what it was started with, and stays, as a browser does.
BROWSER = '#!/bin/sh\nprintf "%s\\n" "$@" >"$OPENED"\nread _ <"$STAYS"\n'

COOKIE = 'a="' + "\\" * 60_000 + '"'


def cpu_seconds_of(process: int) -> float:
    """How long a process has been on a core; other work beside it does not count."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def ui(world: World, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """`recollect ui` with a browser that stays, and the pipe by which that tells what it was started with."""
    opened, stays = tmp_path / "opened", tmp_path / "stays"
    os.mkfifo(opened)
    os.mkfifo(stays)
    browser = tmp_path / "browser"
    browser.write_text(BROWSER, encoding="utf-8")
    browser.chmod(0o755)
    process = world.start(
        "ui", encoding="utf-8", BROWSER=f"{browser} %s", OPENED=str(opened), STAYS=str(stays), DISPLAY=":9"
    )
    try:
        yield process, opened
    finally:
        with stays.open("w", encoding="utf-8"):
            pass  # the browser ends
        process.kill()
        process.communicate()


def test_no_other_user_reads_the_token_or_the_name(ui: tuple[subprocess.Popen[str], Path]) -> None:
    if os.geteuid() != 0:
        cannot_be_tested("only root can act for another user")
    _, opened = ui
    url = opened.read_text(encoding="utf-8").strip()
    file = Path(url.removeprefix("file://"))
    page = file.read_text(encoding="utf-8")
    address = urlsplit(page.partition('href="')[2].partition('"')[0])
    assert address.fragment.startswith("token=")
    read = subprocess.run([sys.executable, "-c", READ_ALL], capture_output=True, check=True, cwd="/").stdout.decode()
    assert str(file) in read, "the browser is there, and its arguments are read"
    assert address.fragment.removeprefix("token=") not in read
    assert str(address.hostname) not in read
    looks = f"import os; os.setgid({NOBODY}); os.setuid({NOBODY}); open({str(file)!r})"
    done = subprocess.run([sys.executable, "-c", looks], capture_output=True, check=False, cwd="/")
    assert b"PermissionError" in done.stderr


def test_header_of_a_neighbour_holds_nobody_up(world: World) -> None:
    process = world.start("ui", "--json", encoding="utf-8")
    assert process.stdout
    host = urlsplit(json.loads(process.stdout.readline())["url"])
    before = cpu_seconds_of(process.pid)
    try:
        for headers in ({"Cookie": COOKIE}, {"Cookie": f"recollect_{host.port}={COOKIE}"}, {"Authorization": COOKIE}):
            for _ in range(5):
                connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=PATIENCE)
                connection.request("GET", "/events", headers={"Host": host.netloc, **headers})
                assert connection.getresponse().status == (403 if "Authorization" in headers else 200)
                connection.close()
        assert cpu_seconds_of(process.pid) - before < 10, "one such header took more than a minute"
    finally:
        process.kill()
        process.communicate()


def ask(address: SplitResult, method: str, path: str, body: str = "", **headers: str) -> tuple[int, str | None, bytes]:
    """The status of an answer, the cookie that it sets, and its body."""
    connection = http.client.HTTPConnection("127.0.0.1", int(address.port or 0), timeout=PATIENCE)
    with closing(connection):
        connection.request(method, path, body, {"Host": address.netloc, **headers})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Set-Cookie"), answer.read()


def test_key_is_in_no_cookie_and_opens_nothing_once_its_server_has_ended(world: World) -> None:
    """A cookie would go to every port of the machine, and to whoever takes this one."""
    keys: list[str] = []
    for _ in range(2):
        process = world.start("ui", "--json", encoding="utf-8")
        assert process.stdout
        address = urlsplit(json.loads(process.stdout.readline())["url"])
        assert str(address.hostname).endswith(".localhost")
        try:
            status, cookie, body = ask(address, "POST", "/enter", address.fragment.removeprefix("token="))
            assert (status, cookie) == (200, None)
            keys.append(json.loads(body)["key"])
            opened = [ask(address, "GET", "/", Authorization=f"Bearer {key}")[:2] for key in keys]
            assert opened == [(403, None)] * (len(keys) - 1) + [(200, None)]
        finally:
            process.kill()
            process.communicate()


def test_no_server_has_the_name_of_one_before(world: World) -> None:
    """Leave nothing in a browser, for whoever has the port, but at the names that were known then."""
    said: list[dict[str, str]] = []
    for _ in range(2):
        process = world.start("ui", "--json", encoding="utf-8")
        assert process.stdout
        said.append(json.loads(process.stdout.readline()))
        try:
            now, before = (urlsplit(each["url"]) for each in (said[-1], said[0]))
            assert said[-1]["address"] == said[0]["address"]
            names = {str(urlsplit(said[0]["address"]).hostname), f"x.{before.hostname}", str(before.hostname)}
            for name in names - {str(now.hostname)}:
                other = now._replace(netloc=f"{name}:{now.port}")
                connection = http.client.HTTPConnection("127.0.0.1", int(now.port or 0), timeout=PATIENCE)
                with closing(connection):
                    connection.request("GET", "/memories?q=%0d%0aX:1", headers={"Host": other.netloc})
                    answer = connection.getresponse()
                    assert (answer.status, answer.read()) == (307, b"")
                    assert answer.getheader("Location") == f"http://{now.netloc}/memories?q=%0d%0aX:1"
                    assert answer.getheader("Cache-Control") == "no-store"
                assert ask(other, "POST", "/enter", now.fragment.removeprefix("token="))[0] == 421
                assert ask(other, "GET", "/", Authorization="Bearer x")[0] == 421
            assert ask(now._replace(netloc=f"evil.localhost:{now.port}"), "GET", "/")[0] == 421
        finally:
            process.kill()
            process.communicate()
    assert len({each["url"].partition("#")[0] for each in said}) == 2


@pytest.mark.parametrize(
    "address", ["ms-officecmd:x", "SMB://host/share", "steam&#58;//run/1", "tel:1", "blob:x", "/x"]
)
def test_link_of_a_memory_that_starts_a_program_cannot_be_clicked(address: str) -> None:
    for form in ("[t]({})", "<{}>", "![t]({})", "[t]: {}\n\n[t]"):
        assert "href" not in markdown(form.format(address))
