"""The times of hooks, by hook and by day."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recollect.files.times import NAME
from recollect.overview.latency import Times, latency

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)


def write(folder: Path, *lines: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(folder)


def test_times_are_told_by_hook_and_by_day(tmp_path: Path) -> None:
    store = write(
        tmp_path,
        "2026-03-30T10:00:00Z prompt 10",
        "2026-03-31T10:00:00Z prompt 20",
        "2026-03-31T10:00:01Z prompt 40",
        "2026-03-31T10:00:02Z stop 5",
        "2026-01-01T10:00:00Z stop 9999",
    )
    prompt, stop = latency(store, NOW)
    assert prompt.total == Times("prompt", 3, 20, 40, 40)
    assert prompt.days[-2:] == [Times("2026-03-30", 1, 10, 10, 10), Times("2026-03-31", 2, 20, 40, 40)]
    assert prompt.days[0] == Times("2026-03-02")
    assert len(prompt.days) == 30
    assert stop.total == Times("stop", 1, 5, 5, 5)


def test_without_a_record_there_is_no_hook(tmp_path: Path) -> None:
    assert latency(str(tmp_path), NOW) == []


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=50))
def test_shares_of_calls_are_as_they_are_called(taken: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = write(Path(folder), *(f"2026-03-31T10:00:00Z prompt {each}" for each in taken))
        [hook] = latency(store, NOW)
    within = [sum(each <= most for each in taken) / len(taken) for most in (hook.total.median, hook.total.most)]
    assert within[0] >= 0.5
    assert within[1] >= 0.95
    assert hook.total.slowest == max(taken)
