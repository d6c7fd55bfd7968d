"""The judge of the user's statements: by their meaning, with the local model's vectors."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from recollect.domain.triage.lasting import lasting
from recollect.domain.triage.moment import statements
from recollect.domain.triage.score import Said
from recollect.engine.warm import Embedders

DATA = Path(__file__).parents[2] / "data" / "triage" / "statements.jsonl"


@cache
def loaded() -> Embedders:
    embedders = Embedders()
    embedders.load("auto")
    return embedders


def judged(texts: list[str]) -> list[bool]:
    vectors = loaded().get("local", "auto", 0).embed(texts, "document")
    return [lasting(vector, text) >= 0 for vector, text in zip(vectors, texts, strict=True)]


def test_lasting_statements_are_told_from_requests() -> None:
    expected = {
        "we can't call the Metro API more than 200 times a day": True,
        "no, don't use moment, we have date-fns everywhere": True,
        "turns out the probes report in fahrenheit when the firmware is older than 2.1": True,
        "make the header a bit smaller and move the logo to the left": False,
        "don't touch that file for now, I'm editing it": False,
        "the button is still grey after your last change": False,
    }
    assert dict(zip(expected, judged(list(expected)), strict=True)) == expected


def test_half_of_a_held_out_list_is_found_and_at_most_two_in_a_hundred_others() -> None:
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    chosen = [row for row in rows if row["author"] == "infra"]
    asked: dict[bool, list[bool]] = {True: [], False: []}
    for row in chosen:
        texts = list(statements([Said(*row["said"][0])]))
        asked[row["remember"]].append(bool(texts) and any(judged(texts)))
    assert sum(asked[True]) >= 0.5 * len(asked[True])
    assert sum(asked[False]) <= 0.02 * len(asked[False])


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("thanks! btw the lab network has no internet.", ["btw the lab network has no internet."]),
        ("is the lab network without internet?", []),
        ("why does the lab network have no internet", []),
        ("the page is slow, could you find out why", []),
        ("there are two warnings left in here", []),
        ("go on", []),
        ("```\nthe lab network has no internet\n```", []),
        ("the lab network has no internet\n" * 6, []),
        ("the lab network has no internet " * 20, []),
    ],
)
def test_only_short_statements_are_judged(said: str, found: list[str]) -> None:
    assert list(statements([Said("human", said)])) == found
    assert statements([Said("assistant", said)]) == {}


def test_the_newest_ten_statements_are_judged() -> None:
    said = [Said("human", f"the lab network has {count} internet lines") for count in range(12)]
    assert list(statements(said)) == [each.text for each in said[2:]]
