from __future__ import annotations

from recollect.errors import StorageError, StoreError
from recollect.recall.deferred import DeferredWrites


def test_notes_are_written_at_once() -> None:
    written: list[int] = []
    notes = DeferredWrites()
    notes.do(lambda: written.append(1))
    assert written == [1]
    assert notes.write() == []
    assert written == [1]


def test_notes_that_wait_are_written_once_and_in_order() -> None:
    written: list[int] = []
    notes = DeferredWrites(wait=True)
    notes.do(lambda: written.append(1))
    notes.do(lambda: written.append(2))
    assert written == []
    assert notes.write() == []
    assert written == [1, 2]
    notes.write()
    notes.do(lambda: written.append(3))
    assert written == [1, 2, 3]


def test_what_cannot_be_written_is_told_and_the_rest_is_written() -> None:
    written: list[int] = []

    def full() -> None:
        raise StorageError("the disk is full")

    def locked() -> None:
        raise StoreError("it is locked")

    notes = DeferredWrites(wait=True)
    notes.do(full)
    notes.do(locked)
    notes.do(lambda: written.append(1))
    assert notes.write() == ["the disk is full", "the recall was not counted: it is locked"]
    assert written == [1]


def test_nothing_waits_for_what_may_be_slow() -> None:
    notes, done = DeferredWrites(wait=True), list[str]()
    notes.do(lambda: done.append("counted"), slow=True)
    notes.do(lambda: done.append("forgotten"))
    notes.do(lambda: done.append("given"))
    assert done == []
    notes.write()
    assert done == ["forgotten", "given", "counted"]
