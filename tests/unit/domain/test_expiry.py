"""When a memory's time is over."""

from __future__ import annotations

import pytest

from recollect.domain.memory_text import is_expired

TODAY = "2026-11-17"
SINCE = "2026-11-07T19:00:00Z"


@pytest.mark.parametrize(
    ("expires", "expected"),
    [
        ("2026-11-16", True),
        ("2026-11-17", False),
        ("2026-11-18", False),
        ("2026-11-16T23:00:00Z", True),
        ("2026-11-16, says legal", True),
        ("2025-01-01 at the latest", True),
        ("2020-13-45", False),
        ("2026-1-1", False),
        ("2020-01-01-rc1", False),
        ("2020-01-0123", False),
        ("after the release of 2020", False),
        ("never", False),
        ("", False),
        ("²020-01-01", False),
    ],
)
def test_constraint_holds_until_the_end_of_its_day(expires: str, expected: bool) -> None:
    details = f"- Kind: technical\n- Expires: {expires}"
    assert is_expired("constraint", details, "2026-11-01T00:00:00Z", since="", today=TODAY) is expected
    assert not is_expired("decision", details, "2026-11-01T00:00:00Z", since="", today=TODAY)


@pytest.mark.parametrize(
    ("updated", "expected"),
    [
        ("2026-11-07T18:59:59Z", True),
        ("2026-11-07T19:00:00Z", True),
        ("2026-11-07T19:00:01Z", False),
        ("2026-11-07T21:00:00+02:00", True),
        ("2026-11-07T21:00:00-02:00", False),
        ("2026-11-01", True),
        ("2026-11-31T99:00:00+00:00", False),
        ("", False),
        ("yesterday", False),
    ],
)
def test_memory_expires_after_its_days_as_it_does_for_gc(updated: str, expected: bool) -> None:
    assert is_expired("decision", "", updated, since=SINCE, today=TODAY) is expected
    assert not is_expired("decision", "", updated, since="", today=TODAY)
