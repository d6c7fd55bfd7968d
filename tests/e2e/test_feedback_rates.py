"""How often the signs of use are right, on labelled sessions: a little below what bench/feedback/signs.py measures."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.feedback.cases import load_cases
from bench.feedback.signs import FIRST, USED, judged, rates

PRECISION, RECALL = 0.93, 0.78


@pytest.mark.slow
def test_what_counts_as_used_was_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # transcripts are read in the home only
    verdicts = list(judged([case for case in load_cases() if case.part == FIRST], str(tmp_path)))
    found = rates(verdicts, USED)
    assert len(verdicts) == 165
    assert found["precision"] >= PRECISION
    assert found["recall"] >= RECALL


def test_every_memory_of_a_session_is_labelled() -> None:
    for case in load_cases():
        assert {memory["id"] for memory in case.memories} == set(case.labels), case.name
