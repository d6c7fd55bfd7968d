"""Waiting for a model that is being loaded."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from recollect.embedding.base import Kind, Telling
from recollect.engine.warm import Embedders, PatientModel
from recollect.errors import EmbeddingError, ModelLoading

VECTOR = b"\0" * 16


class Loading:
    """A model that is loaded after some questions, or never."""

    provider, model, identity, dimensions = "local", "m", "local:m", 4

    def __init__(self, questions: int, failure: str = "") -> None:
        self.left = questions
        self.asked = 0
        self.failure = failure

    def embed(self, texts: Sequence[str], kind: Kind, telling: Telling | None = None) -> list[bytes]:  # noqa: ARG002
        self.asked += 1
        if self.asked <= self.left:
            raise ModelLoading
        if self.failure:
            raise EmbeddingError(self.failure)
        return [VECTOR for _ in texts]


def test_a_model_that_takes_a_moment_to_load_is_waited_for() -> None:
    assert PatientModel(Loading(3), 100).embed(["one", "two"], "query") == [VECTOR, VECTOR]


def test_a_model_that_is_loaded_is_asked_once() -> None:
    loaded = Loading(0)
    assert PatientModel(loaded, 100).embed(["one"], "query") == [VECTOR]
    assert loaded.asked == 1


def test_a_model_that_cannot_be_loaded_is_not_waited_for_any_longer() -> None:
    with pytest.raises(EmbeddingError, match="no room"):
        PatientModel(Loading(2, "no room"), 100).embed(["one"], "query")


def test_after_one_wait_in_vain_nobody_waits_again() -> None:
    forever, embedders = Loading(10**9), Embedders()
    with pytest.raises(ModelLoading):
        embedders.patient(forever, 0.2).embed(["one"], "query")
    before = forever.asked
    assert before > 1
    with pytest.raises(ModelLoading):
        embedders.patient(forever, 0.2).embed(["one"], "query")
    assert forever.asked == before + 1
