from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.clock import parse_time, time_text
from recollect.domain.text import utc_text

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01T12:00:00Z",
        "2026-03-01T12:00:00",
        "2026-03-01 12:00",
        " 2026-03-01T12:00:00.000Z\n",
        "2026-03-01T14:00:00+02:00",
        "20260301T120000Z",
    ],
)
def test_time_is_read_however_people_write_it(text: str) -> None:
    assert parse_time(text) == NOON


def test_day_alone_is_its_midnight_in_utc() -> None:
    assert parse_time("2026-03-01") == datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "value", ["", "yesterday", "2026-13-01", "0001-01-01T00:00:00+05:00", "9999-12-31T23:00:00-05:00", None, 5, ["x"]]
)
def test_value_that_names_no_moment_is_none(value: object) -> None:
    assert parse_time(value) is None


@given(st.text())
def test_any_text_is_a_time_or_none(text: str) -> None:
    moment = parse_time(text)
    assert moment is None or moment.tzinfo is UTC


def test_time_is_written_in_utc_to_the_second() -> None:
    assert time_text(datetime(2026, 3, 1, 14, 0, 0, 999, tzinfo=timezone(timedelta(hours=2)))) == "2026-03-01T12:00:00Z"


@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))
def test_written_time_is_read_as_the_same_second(moment: datetime) -> None:
    assert parse_time(time_text(moment)) == moment.replace(microsecond=0)


@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))
def test_hooks_write_a_time_as_everybody_does(moment: datetime) -> None:
    assert utc_text(moment.utctimetuple()) == time_text(moment)
