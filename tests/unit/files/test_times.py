"""The record of hooks' times: bounded, and read back whatever else stands in it."""

from __future__ import annotations

from pathlib import Path

from recollect.files.times import MAX_BYTES, NAME, OLDER, TIMED, hook_times, note_time
from recollect.hooks import run


def test_noted_times_are_read_back_oldest_first(tmp_path: Path) -> None:
    note_time(str(tmp_path), "prompt", 0.0234)
    note_time(str(tmp_path), "stop", 1.5)
    assert [(hook, taken) for _, hook, taken in hook_times(str(tmp_path))] == [("prompt", 23), ("stop", 1500)]
    assert (tmp_path / NAME).stat().st_mode & 0o077 == 0


def test_record_is_bounded_and_keeps_the_older_half(tmp_path: Path) -> None:
    for number in range(6_000):
        note_time(str(tmp_path), "prompt", number / 1000)
    assert (tmp_path / NAME).stat().st_size <= MAX_BYTES
    assert (tmp_path / OLDER).stat().st_size <= MAX_BYTES + 100
    taken = [each for _, _, each in hook_times(str(tmp_path))]
    assert taken == list(range(taken[0], 6_000))


def test_without_a_folder_nothing_is_made(tmp_path: Path) -> None:
    note_time(str(tmp_path / "none"), "prompt", 0.1)
    assert not (tmp_path / "none").exists()
    assert list(hook_times(str(tmp_path / "none"))) == []


def test_lines_that_are_no_times_are_passed_over(tmp_path: Path) -> None:
    lines = ["", "x", "2026-01-01T00:00:00Z prompt", "2026-01-01T00:00:00Z prompt -5", "2026-01-01T00:00:00Z prompt 7"]
    lines += [f"2026-01-01T00:00:00Z {name} 7" for name in ("", "<b>", "prompt2", "write-guard")]
    (tmp_path / NAME).write_text("\n".join([*lines, "2026-01-01T00:00:00Z prompt 99999999999"]), encoding="utf-8")
    assert list(hook_times(str(tmp_path))) == [("2026-01-01T00:00:00Z", "prompt", 7)]


def test_hooks_note_the_times_that_are_read() -> None:
    assert run._TIMED == TIMED  # pyright: ignore[reportPrivateUsage]
