"""The client's two releases, and machines that have one of them with the plugin."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from tests.conftest import cannot_be_tested
from tests.e2e.claude.client import OLDEST, REPOSITORY, Client, namespace_command

sys.path.append(str(REPOSITORY / "tools"))
import claude_client
import npm_cache

T = TypeVar("T")
# What says something about a busy machine, not about a hook.
_SLOW = re.compile("without-resident: .*took too long|markdown alone has to do: there was no answer in time")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to `make attack` what the oldest release is not expected to do in a way of its own."""
    for item in items:
        parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        if parameters.get("release") == OLDEST and not item.get_closest_marker("oldest"):
            item.add_marker("attack")


def _or_cannot(get: Callable[[], T]) -> T:
    try:
        return get()
    except npm_cache.NotAvailableError as error:
        return cannot_be_tested(f"Claude Code cannot be driven here: {error}")


@pytest.fixture(scope="session", params=[OLDEST, "newest"])
def release(request: pytest.FixtureRequest) -> str:
    """A release of the client, by its number."""
    if request.param == OLDEST:
        return OLDEST
    return _or_cannot(claude_client.newest)


@pytest.fixture(scope="session")
def program(release: str) -> Path:
    return _or_cannot(lambda: claude_client.install(release))


@pytest.fixture(scope="session")
def namespace() -> list[str]:
    return namespace_command() or cannot_be_tested(
        "Claude Code cannot be driven here: no network namespace can be made (unshare -rn)"
    )


@pytest.fixture
def machine(program: Path, release: str, namespace: list[str], tmp_path: Path) -> Client:
    """A machine with the client and nothing else."""
    return Client(program, release, namespace, tmp_path / "home of dev", tmp_path / "shop front", tmp_path / "store")


@pytest.fixture(scope="session")
def home_with_plugin(
    program: Path, release: str, namespace: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A home where the plugin is installed from the marketplace that this repository is."""
    folder = tmp_path_factory.mktemp(f"claude-{release}")
    machine = Client(program, release, namespace, folder / "home of dev", folder / "project", folder / "store")
    for arguments in (("marketplace", "add", str(REPOSITORY)), ("install", "memory@recollect")):
        done = machine.manage(*arguments)
        assert done.code == 0, done.stdout + done.stderr
    machine.name_interpreter()
    return machine.home


@pytest.fixture
def client(
    program: Path, release: str, namespace: list[str], home_with_plugin: Path, tmp_path: Path
) -> Iterator[Client]:
    """A machine that has the plugin, with a project and a store of the test's own, where no hook may complain."""
    client = Client(program, release, namespace, home_with_plugin, tmp_path / "shop front", tmp_path / "store")
    yield client
    log = client.store / "recollect.log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    assert [line for line in lines if not _SLOW.search(line)] == []
