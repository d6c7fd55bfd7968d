"""One fault injector and one stage for all tests of a worker: both take a second to make."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.conftest import cannot_be_tested
from tests.faults.injector import Injector, available
from tests.faults.scenes import Stage, remove_contexts

from recollect.resident import client as resident


@pytest.fixture(scope="session")
def injector() -> Iterator[Injector]:
    reason = available()
    if reason:
        cannot_be_tested(reason)
    with Injector() as injector:
        yield injector


@pytest.fixture(scope="session")
def stage(injector: Injector, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    stage = Stage(tmp_path_factory.mktemp("stage"), injector)
    yield stage
    remove_contexts()
    for place in resident.folders(str(stage.world.store)):
        resident.sweep(place)  # what servers leave that were killed
