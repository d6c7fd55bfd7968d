"""The lines of a transcript from its beginning, to see what a session did with what it was given."""

from __future__ import annotations

import os
from io import BufferedReader
from typing import Any

from recollect.domain.feedback.lines import HUMAN, MODEL, OUTSIDE, Line
from recollect.domain.feedback.signs import is_own
from recollect.domain.triage.signs import Step
from recollect.domain.triage.spoken import ASKED, START_TITLE, is_inserted
from recollect.errors import StorageError
from recollect.files.session.transcript import (
    LONGEST_LINE,
    MARKS,
    MOST_BYTES,
    MOST_LINES,
    blocks_of,
    fields_in,
    parsed_line,
    texts_in,
    without_inserted,
)
from recollect.files.textfile import open_regular

# The first bytes of a line tell that nobody reads it: the client's own notes, copies of what other lines say.
_BEGINNING = 2_000
_NOTES = tuple(
    f'"type":{space}"{kind}"'.encode()
    for kind in ("progress", "file-history-snapshot", "api-request-blob", "queue-operation")
    for space in ("", " ")
)

# Text of recollect's own, which is no word of anybody else.
_OURS = ("<memory-context", "<triage_data", START_TITLE, ASKED)
_BLOCK = 256 * 1024


def read_lines(path: str) -> tuple[list[Line], int]:
    """Return the lines of a transcript that somebody has written or read, oldest first, and its size in bytes.

    Of a transcript of more than 32 MiB or 100,000 lines, these are the last ones, from a prompt on. Lines of subagents
    are left out, and so is what recollect has said itself.

    Raises:
        StorageError: the transcript is not a regular file, or cannot be read.
    """
    reader = _Reader()
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            skipped = number = _skipped(file, max(0, size - MOST_BYTES))
            for data in file:
                number += 1
                if data.endswith(b"\n") or parsed_line(data) is not None:  # the last one may be half written
                    reader.take(number, data)
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    lines = reader.lines[-MOST_LINES:]
    if skipped or len(lines) < len(reader.lines):
        # Signs are counted once for a turn, and nobody knows the turn of lines whose prompt was cut off.
        first = next((place for place, line in enumerate(lines) if line.source == HUMAN), len(lines))
        lines = lines[first:]
    return lines, size


def _skipped(file: BufferedReader, start: int) -> int:
    """Move to the first line after an offset, and return the number of lines before it."""
    number = 0
    while file.tell() < start:
        number += file.read(min(_BLOCK, start - file.tell())).count(b"\n")
    if start:
        file.readline()
        number += 1
    return number


class _Reader:
    """A collector of lines. It knows which results are of recollect's own tools."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._own: set[str] = set()

    def take(self, number: int, data: bytes) -> None:
        if len(data) > LONGEST_LINE or any(mark in data[:_BEGINNING] for mark in _NOTES):
            return
        line = parsed_line(data)
        if line is None or line.get("isSidechain") or line.get("isCompactSummary"):
            return
        at = line.get("timestamp")
        at = at[:40] if isinstance(at, str) else (self.lines[-1].at if self.lines else "")
        kind = line.get("type")
        if kind == "assistant":
            self._take_answer(number, at, line)
        elif kind in ("user", "human"):
            self._take_prompt(number, at, line)
        elif kind == "attachment":
            attached = fields_in(line.get("attachment"))
            self._add(number, at, OUTSIDE, texts_in(blocks_of(attached)))

    def _take_answer(self, number: int, at: str, line: dict[str, Any]) -> None:
        if line.get("isApiErrorMessage"):
            return
        blocks = blocks_of(line)
        steps: list[Step] = []
        for block in blocks:
            name = block.get("name") if block.get("type") == "tool_use" else None
            if isinstance(name, str):
                step = Step(name, fields_in(block.get("input")), str(block.get("id")))
                steps.append(step)
                if is_own(step):
                    self._own.add(step.id)
        text = "\n".join(texts_in(blocks))
        if text or steps:
            self.lines.append(Line(number, at, MODEL, text, steps))

    def _take_prompt(self, number: int, at: str, line: dict[str, Any]) -> None:
        blocks = blocks_of(line)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if results:
            told = [text for each in results if each.get("tool_use_id") not in self._own for text in _results(each)]
            self._add(number, at, OUTSIDE, told)
            return
        texts = [without_inserted(text) for text in texts_in(blocks)]
        is_spoken = not any(line.get(mark) for mark in MARKS) and not any(map(is_inserted, texts))
        self._add(number, at, HUMAN if is_spoken else OUTSIDE, texts)

    def _add(self, number: int, at: str, source: str, texts: list[str]) -> None:
        text = "\n".join(text for text in texts if text and not any(mark in text for mark in _OURS))
        if text:
            self.lines.append(Line(number, at, source, text))


def _results(block: dict[str, Any]) -> list[str]:
    return texts_in(blocks_of(block))
