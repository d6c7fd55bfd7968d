"""Servers that tests may share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.conftest import World
from tests.integration.mcp_server.talk import Talk, talking


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A server that everything may be said to: what cannot be used changes nothing."""
    folder = tmp_path_factory.mktemp("bad")
    project = folder / "home" / "shop-front"
    project.mkdir(parents=True)
    with talking(World(folder / "home", project, folder / "store")) as talk:
        yield talk
