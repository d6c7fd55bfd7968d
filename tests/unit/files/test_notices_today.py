"""What people were told today."""

from __future__ import annotations

from pathlib import Path

from recollect.files.notices_today import NAME, is_news


def test_a_sentence_is_news_once_a_day(tmp_path: Path) -> None:
    assert is_news(str(tmp_path), "the model is missing")
    assert not is_news(str(tmp_path), "the model is missing")
    assert is_news(str(tmp_path), "the store is locked")
    note = tmp_path / NAME
    day = note.read_text(encoding="utf-8")[:10]
    note.write_text(note.read_text(encoding="utf-8").replace(day, "2020-01-01"), encoding="utf-8")
    assert is_news(str(tmp_path), "the model is missing")
    assert "2020-01-01" not in note.read_text(encoding="utf-8")


def test_sentences_that_differ_in_numbers_are_the_same(tmp_path: Path) -> None:
    assert is_news(str(tmp_path), "the bank is being read, 1,500 of 10,000 entries so far")
    assert not is_news(str(tmp_path), "the bank is being read, 2,000 of 10,000 entries so far")


def test_what_cannot_be_noted_is_told_again(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.write_text("a file where the folder should be", encoding="utf-8")
    assert is_news(str(store), "the store cannot be written")
    assert is_news(str(store), "the store cannot be written")


def test_a_note_that_makes_no_sense_is_replaced(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"\xff\x00" * 100_000)
    assert is_news(str(tmp_path), "the model is missing")
    assert not is_news(str(tmp_path), "the model is missing")


def test_the_note_stays_small(tmp_path: Path) -> None:
    for number in range(120):
        is_news(str(tmp_path), f"reason {chr(97 + number % 26)}{chr(97 + number // 26)} {'long ' * 200}")
    assert (tmp_path / NAME).stat().st_size < 64 * 1024
