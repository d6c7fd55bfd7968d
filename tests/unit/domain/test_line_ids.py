"""Ids of lines: they sort as text, and a machine's own always grow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.shared.line_ids import (
    MOST_MILLISECONDS,
    LineClock,
    id_of_journal_line,
    is_line_id,
    line_id,
    milliseconds_of,
    time_of,
)

DAY = 24 * 3600 * 1000
NOW = 1_795_000_000_000
times = st.integers(-DAY, MOST_MILLISECONDS)
ids = st.builds(
    line_id, st.integers(0, MOST_MILLISECONDS - 1), st.integers(0, 999_999), st.sampled_from(["a" * 8, "0" * 8])
)


@given(st.lists(times, min_size=1), st.sampled_from(["00000000", "ffffffff"]))
def test_ids_of_a_machine_grow_whatever_its_clock_says(moments: list[int], machine: str) -> None:
    clock = LineClock(machine)
    made = [clock.next_id(moment) for moment in moments]

    assert made == sorted(set(made))
    assert all(map(is_line_id, made))


@given(st.lists(st.tuples(times, ids)))
def test_an_id_is_later_than_all_that_were_pulled_before(steps: list[tuple[int, str]]) -> None:
    clock = LineClock("12345678")
    for moment, pulled in steps:
        clock.merge(pulled, MOST_MILLISECONDS)
        assert clock.next_id(moment) > pulled


@given(
    st.integers(0, MOST_MILLISECONDS),
    st.integers(0, MOST_MILLISECONDS),
    st.integers(0, 999_999),
    st.integers(0, 999_999),
)
def test_ids_sort_as_text_by_time_and_then_by_counter(one: int, other: int, first: int, second: int) -> None:
    made = line_id(one, first, "a" * 8), line_id(other, second, "a" * 8)

    assert (made[0] < made[1]) == ((one, first) < (other, second))
    assert milliseconds_of(made[0]) == one


def test_a_clock_set_back_by_a_day_counts_on() -> None:
    clock = LineClock("aaaaaaaa")
    first = clock.next_id(NOW)

    assert clock.next_id(NOW - DAY) == first.replace("-000000-", "-000001-")


def test_a_clock_knows_its_last_id_after_a_restart() -> None:
    last = LineClock("aaaaaaaa").next_id(NOW)

    assert LineClock("aaaaaaaa", last).next_id(NOW - 5) > last
    assert LineClock("aaaaaaaa", "no id").next_id(NOW) == last


def test_a_full_counter_goes_on_in_the_next_millisecond() -> None:
    clock = LineClock("aaaaaaaa", line_id(NOW, 999_999, "aaaaaaaa"))

    assert clock.next_id(NOW) == line_id(NOW + 1, 0, "aaaaaaaa")


def test_an_id_from_far_in_the_future_does_not_move_the_clock() -> None:
    clock = LineClock("aaaaaaaa")
    clock.merge(line_id(NOW + DAY, 0, "bbbbbbbb"), NOW + 1000)

    assert milliseconds_of(clock.next_id(NOW)) == NOW


def test_a_line_of_a_journal_has_the_same_id_in_each_copy() -> None:
    line = {"id": "a" * 16, "at": "2026-11-18T04:02:11Z", "name": "Jitter"}

    made = id_of_journal_line(line, 7)
    assert made == id_of_journal_line(dict(reversed(line.items())), 7)
    assert made.startswith("1794974531000-000007-")
    assert time_of(made) == "2026-11-18T04:02:11Z"
    assert made != id_of_journal_line(line | {"name": "Backoff"}, 7)


@pytest.mark.parametrize("at", [None, "yesterday", 5, "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:00"])
def test_a_line_without_a_usable_time_has_an_id_too(at: object) -> None:
    assert is_line_id(id_of_journal_line({"at": at, "name": "\ud800"}, 10**9))


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        "",
        "1-2-3",
        "1794974531000-000007-ABCDEF01",
        "1794974531000-000007-abcdef01\n",
        "١794974531000-000007-abcdef01",
    ],
)
def test_other_values_are_no_ids(value: object) -> None:
    assert not is_line_id(value)
