"""Events on standard input: complete, late, never ending, too large, no events at all."""

from __future__ import annotations

import os
import threading

import pytest

from recollect.hooks import stdin
from recollect.hooks.stdin import Event, read_event


def told(data: bytes, *, closed: bool = True) -> Event:
    """The event that is read from a pipe with this in it, whose other end may stay open."""
    ours, theirs = os.pipe()
    writer = threading.Thread(target=_write, args=(theirs, data, closed))
    writer.start()
    try:
        return read_event(ours)
    finally:
        os.close(ours)
        writer.join()
        if not closed:
            os.close(theirs)


def _write(descriptor: int, data: bytes, closed: bool) -> None:
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except BrokenPipeError:
        pass  # the reader has had enough
    if closed:
        os.close(descriptor)


def test_an_event_is_read_to_its_end() -> None:
    assert told(b'{"prompt": "' + b"x" * 3_000_000 + b'"}')["prompt"] == "x" * 3_000_000


def test_an_event_whose_pipe_stays_open_is_read_as_soon_as_it_is_complete() -> None:
    assert told(b'{"prompt": "hello"}', closed=False) == {"prompt": "hello"}


def test_an_event_that_stays_incomplete_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdin, "_TIMEOUT", 0.3)
    with pytest.raises(ValueError, match="no JSON object"):
        told(b'{"prompt": "hel', closed=False)


def test_nothing_at_all_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdin, "_TIMEOUT", 0.2)
    with pytest.raises(ValueError, match="0 bytes"):
        told(b"", closed=False)


def test_a_byte_order_mark_is_passed_over() -> None:
    assert told(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"null", b"12", b'"text"', b"{}x", b"\xff\xfe", b"\0" * 100, b"[" * 50_000]
)
def test_what_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no JSON object"):
        told(data)


def test_more_than_any_event_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdin, "MAX_BYTES", 1000)
    with pytest.raises(ValueError, match="no JSON object"):
        told(b'{"a": "' + b"x" * 2000 + b'"}')


def test_a_descriptor_that_is_closed_holds_no_event() -> None:
    ours, theirs = os.pipe()
    os.close(theirs)
    os.close(ours)
    with pytest.raises(ValueError, match="no JSON object"):
        read_event(ours)


def test_fields_of_another_kind_are_as_good_as_missing() -> None:
    event = Event({"prompt": 3, "stop_hook_active": "true", "tool_input": ["x"], "cwd": None})
    assert event.text("prompt") == event.text("cwd") == event.text("missing") == ""
    assert not event.flag("stop_hook_active")
    assert event.fields("tool_input") == {}
