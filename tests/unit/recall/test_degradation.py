"""Shortcomings in words: for people with commands, for models with tools."""

from __future__ import annotations

import pytest

from recollect.recall import degradation
from recollect.recall.degradation import ELSEWHERE, LOADING, NO_FULL_TEXT, NO_MATCH, NOTHING_STORED, Degradation

DATA = {"error": "no key", "pending": 2, "skipped": 1, "total": 3, "outside": 1, "count": 1, "causes": "it is off"}
CODES = [value for name, value in vars(degradation).items() if name.isupper() and not name.startswith("_")]


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_sentence_for_people_and_for_models(code: str) -> None:
    found = Degradation(code, **DATA)
    for sentence in (str(found), found.for_models()):
        assert sentence
        assert "{" not in sentence
    assert "store_memory" not in str(found)
    assert "--" not in found.for_models()
    assert "upsert" not in found.for_models()


def test_models_are_told_what_results_were_found_by() -> None:
    assert Degradation(LOADING, error="no model").for_models() == "found by words only: no model"
    assert Degradation(NO_FULL_TEXT).for_models().startswith("found by meaning only: fts5")
    assert str(Degradation(LOADING, error="no model")) == "no model"


def test_people_are_told_commands_and_models_tools() -> None:
    elsewhere = Degradation(ELSEWHERE, outside=1, total=2)
    assert str(elsewhere).endswith("; --all-projects searches them all")
    assert elsewhere.for_models().endswith('; project "all" searches them all')
    assert "`recollect add` adds" in str(Degradation(NOTHING_STORED))
    assert "store_memory adds" in Degradation(NOTHING_STORED).for_models()


def test_braces_in_the_data_are_text() -> None:
    assert str(Degradation(LOADING, error="{total} of {x}")) == "{total} of {x}"


def test_one_entry_is_not_called_entries() -> None:
    assert "none of 1 entry is" in str(Degradation(NO_MATCH, total=1))
    assert "none of 2 entries is" in str(Degradation(NO_MATCH, total=2))
