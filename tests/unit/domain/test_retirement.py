"""Lines of the journal about what is retired: whatever they hold, they are understood or refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.retirement import LONGEST_REASON, Retirement, is_about_retiring, retirement_of
from recollect.errors import InvalidEntry

ID = "0123456789abcdef"
ANYTHING = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=4)


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("reason", ["", "It was wrong."])
def test_line_says_what_the_retirement_was(ended: bool, reason: str) -> None:
    line = Retirement(ID, "/home/dev/shop", at="2026-01-02T03:04:05Z", reason=reason, ended=ended).line()
    assert is_about_retiring(line)
    again = retirement_of(line)
    assert {slot: getattr(again, slot) for slot in Retirement.__slots__} == {
        "id": ID,
        "project": "/home/dev/shop",
        "at": "2026-01-02T03:04:05Z",
        "reason": reason,
        "ended": ended,
    }


@pytest.mark.parametrize(
    "line",
    [
        {"retired": "short"},
        {"retired": "0123456789ABCDEF"},
        {"retired": ID + "0"},
        {"retired": "../../etc/passwd"},
        {"retired": None},
        {"retired": [ID]},
        {"restored": 7},
        {"retired": ID, "restored": ID},
        {"retired": ID, "project": 7},
        {"retired": ID, "project": "x" * 5000},
        {"retired": ID, "project": "/home/\ud800"},
    ],
)
def test_line_that_names_no_entry_or_no_project_is_refused(line: dict[str, Any]) -> None:
    with pytest.raises(InvalidEntry):
        retirement_of(line)


def test_line_without_a_project_counts_everywhere_and_may_have_fields_of_a_later_version() -> None:
    said = retirement_of({"retired": ID, "by": "somebody", "at": 7, "reason": ["no text"]})
    assert (said.project, said.at, said.reason, said.ended) == ("", "", "", False)


def test_reason_is_one_short_line() -> None:
    said = retirement_of({"retired": ID, "reason": "a\nb\x1b[31m " + "x" * 10_000, "at": "2026\n" * 50})
    assert len(said.reason) <= LONGEST_REASON
    assert said.reason.startswith("a b")
    assert "\n" not in said.reason + said.at
    assert "\x1b" not in said.reason
    assert len(said.at) <= 20


@given(
    st.fixed_dictionaries(
        {"retired": ANYTHING | st.just(ID)}, optional=dict.fromkeys(["at", "project", "reason"], ANYTHING)
    )
)
def test_any_line_is_understood_or_refused(line: dict[str, Any]) -> None:
    try:
        said = retirement_of(line)
    except InvalidEntry:
        return
    assert said.id == ID
    assert len(said.reason) <= LONGEST_REASON
