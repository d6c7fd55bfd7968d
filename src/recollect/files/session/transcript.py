# hot
"""Session transcripts, read from the end: the messages of people and the model."""

from __future__ import annotations

import os

from recollect.domain.quick_json import parse
from recollect.domain.triage.score import Said
from recollect.domain.triage.signs import Step
from recollect.domain.triage.spoken import ASKED, FEEDBACK, is_inserted
from recollect.errors import StorageError
from recollect.files.textfile import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader
    from typing import Any

MOST_BYTES = 32 * 1024 * 1024
MOST_LINES = 100_000
LONGEST_LINE = 4 * 1024 * 1024

_BLOCK = 256 * 1024
_HUMAN = "human"
_ASSISTANT = "assistant"

# Four lines of five are about hooks and tools. They are recognised by their first bytes and never parsed. Quotation
# marks inside a text are escaped, so a match is a real field. Some clients write a space after the colon.
_BEGINNING = 2000
_MODEL = b'"assistant"'
_NOBODY = (b'"type":"progress"', b'"type": "progress"', b'"type":"tool_result"', b'"type": "tool_result"')
_SPEAKERS = (b'"user"', b'"human"', _MODEL, b'"tool_use"')

# Of the results of tools, only those of failed ones are parsed. They are found by these bytes.
_FAILED = (b'"is_error":true', b'"is_error": true')
_LONGEST_ERROR = 4_000

# A line with one of these fields was not written by a person or by the model, or comes from another agent.
MARKS = (
    *("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"),
    *("toolUseResult", "sourceToolUseID"),
)

# Blocks inserted into a person's own words, by the client or by recollect.
_INSERTED = ("system-reminder", "memory-context", "triage_data")
_REQUESTS = (ASKED, "<triage_data>")

# A request by JSON is kept as an attachment of this type.
_ATTACHED = "hook_additional_context"
_ATTACHED_REQUEST = (b'"hook_additional_context"', ASKED.encode())
_SYNTHETIC = "<synthetic>"


class Heard:
    """The messages and the steps of a session, oldest first; `end` is the transcript's end in bytes.

    `compacted` is True if the conversation was summarized on the way, to make room in the context.
    """

    def __init__(self) -> None:
        self.said: list[Said] = []
        self.steps: list[Step] = []
        self.compacted = False
        self.tool_uses = 0
        self.distinct_tools = 0
        self.exchanges = 0
        self.end = 0


def read_end(path: str, most: int, start: int = 0) -> Heard:
    """Return the last `most` messages with a text after the byte `start`.

    A transcript shorter than `start` is a different one and is read from its beginning. At most the last 32 MiB and
    100,000 lines are read. Reading stops at a stop held by recollect: older messages were triaged then, perhaps in
    another session with its transcript copied into this one.

    Raises:
        StorageError: the transcript is not a regular file, or cannot be read.
    """
    window = _Window(most)
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            lines = _lines(file, max(start if start <= size else 0, size - MOST_BYTES), size)
            last = next(lines, b"")
            # A last line without a newline is still being written, unless it is valid JSON already.
            line = parsed_line(last)
            window.heard.end = size if not last or line is not None else size - len(last)
            if line is None or window.take(line):
                _fill(window, lines)
    except FileNotFoundError:
        return window.whole()  # the client calls hooks before it writes the transcript
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    return window.whole()


def _fill(window: _Window, lines: Iterator[bytes]) -> None:
    for number, data in enumerate(lines):
        if number == MOST_LINES:
            return
        if not _may_matter(data):
            window.note_failure(data)
            continue
        line = parsed_line(data)
        if line is not None and not window.take(line):
            return


class _Window:
    """A collector of messages. It takes lines from last to first until there are enough."""

    def __init__(self, most: int) -> None:
        self.heard = Heard()
        self._most = most
        self._texts: list[tuple[str, list[str]]] = []  # role and parts of messages, both in reverse order
        self._by_id: dict[str, list[str] | None] = {}
        self._tools: set[str] = set()
        self._errors: dict[str, str] = {}  # by the ids of tool uses
        self._new = (0, 0, set[str](), 0)  # the counts at the last prompt taken

    def take(self, line: dict[str, Any]) -> bool:
        """Add the message in a line. Return False if there is no room for more messages."""
        kind = line.get("type")
        if line.get("isCompactSummary"):
            self.heard.compacted = True
        if kind == "attachment" or any(line.get(mark) for mark in MARKS):
            return not _is_hold(line) or self._forget_saving()
        if kind == _ASSISTANT:
            return self._take_answer(line)
        if kind in ("user", _HUMAN):
            return self._take_prompt(line)
        if kind == "tool_use":
            self._use(line)
        return True

    def note_failure(self, data: bytes) -> None:
        """Remember the error of a failed tool use, from the line of its result."""
        line = parsed_line(data) if any(mark in data for mark in _FAILED) else None
        for block in blocks_of(line) if line else ():
            if block.get("is_error") is True and isinstance(block.get("tool_use_id"), str):
                texts = texts_in(blocks_of(block))
                self._errors[block["tool_use_id"]] = "\n".join(texts)[-_LONGEST_ERROR:]

    def whole(self) -> Heard:
        heard = self.heard
        heard.said = [Said(role, "\n".join(reversed(parts))) for role, parts in reversed(self._texts)]
        heard.steps.reverse()
        heard.distinct_tools = len(self._tools)
        return heard

    def _take_prompt(self, line: dict[str, Any]) -> bool:
        blocks = blocks_of(line)
        if any(block.get("type") == "tool_result" for block in blocks):
            return True
        texts = [without_inserted(text) for text in texts_in(blocks) if not is_inserted(text)]
        text = "\n".join(text for text in texts if text)
        if not text:
            return True
        if len(self._texts) >= self._most:
            return False
        self._texts.append((_HUMAN, [text]))
        self.heard.exchanges += 1
        self._new = (len(self._texts), self.heard.tool_uses, self._tools.copy(), self.heard.exchanges)
        return True

    def _take_answer(self, line: dict[str, Any]) -> bool:
        """Add one part of an answer. Lines with the same message id form one answer."""
        message = fields_in(line.get("message"))
        blocks = blocks_of(line)
        tools = [block for block in blocks if block.get("type") == "tool_use"]
        text = "\n".join(texts_in(blocks))
        if message.get("model") == _SYNTHETIC or not (text or tools):
            return True
        known = str(message.get("id") or f"line {len(self._by_id)}")
        parts = self._by_id.get(known)
        if text and parts is None and len(self._texts) >= self._most:
            return False
        self.heard.exchanges += known not in self._by_id
        if text and parts is None:
            parts = list[str]()
            self._texts.append((_ASSISTANT, parts))
        if text and parts is not None:
            parts.append(text)
        self._by_id[known] = parts
        for tool in reversed(tools):
            self._use(tool)
        return True

    def _forget_saving(self) -> bool:
        """Drop the messages and tool uses caused by a held stop. Return False, because reading ends here."""
        count, self.heard.tool_uses, self._tools, self.heard.exchanges = self._new
        del self._texts[count:]
        del self.heard.steps[self.heard.tool_uses :]
        return False

    def _use(self, tool: dict[str, Any]) -> None:
        name = tool.get("name")
        name = name if isinstance(name, str) else ""
        self.heard.tool_uses += 1
        self.heard.steps.append(
            Step(name, fields_in(tool.get("input")), str(tool.get("id")), self._errors.get(str(tool.get("id"))))
        )
        self._tools.add(name)


def _lines(file: BufferedReader, start: int, end: int) -> Iterator[bytes]:
    """Yield the lines between two offsets from last to first. A line too long to be a message is empty."""
    rest: list[bytes] = []  # pieces of a line without its beginning yet, from last to first
    length = 0
    place = end
    while place > start:
        size = min(_BLOCK, place - start)
        place -= size
        file.seek(place)
        pieces = file.read(size).split(b"\n")
        length += len(pieces[-1])
        rest = [*rest, pieces[-1]] if length <= LONGEST_LINE else []
        if len(pieces) > 1:
            yield b"".join(reversed(rest))
            yield from reversed(pieces[1:-1])
            rest, length = [pieces[0]], len(pieces[0])
    yield b"".join(reversed(rest))


def _may_matter(data: bytes) -> bool:
    """Return True if a line may come from a person or the model."""
    beginning = data[:_BEGINNING]
    if _MODEL in beginning or all(mark in beginning for mark in _ATTACHED_REQUEST):
        return True
    return not any(mark in beginning for mark in _NOBODY) and any(speaker in data for speaker in _SPEAKERS)


def parsed_line(data: bytes) -> dict[str, Any] | None:
    try:
        line = parse(data.decode("utf-8", "replace"))
    except ValueError:
        return None
    return line if isinstance(line, dict) else None  # pyright: ignore[reportUnknownVariableType]


def _is_hold(line: dict[str, Any]) -> bool:
    """Return True if a line tells the model about a stop held by recollect, by JSON or by an exit code."""
    attached = fields_in(line.get("attachment"))
    if attached.get("type") == _ATTACHED and attached.get("hookEvent") == "Stop":
        return any(text.startswith(ASKED) for text in texts_in(blocks_of(attached)))
    if line.get("type") != "user" or not line.get("isMeta"):
        return False
    return any(
        text.startswith(FEEDBACK) and any(request in text for request in _REQUESTS)
        for text in texts_in(blocks_of(line))
    )


def fields_in(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def blocks_of(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks of a message. Its content may be a bare text, or a list of bare texts and blocks."""
    message = line.get("message", line)
    content: Any = message.get("content") if isinstance(message, dict) else message  # pyright: ignore
    found: list[Any] = content if isinstance(content, list) else [content]  # pyright: ignore
    return [{"type": "text", "text": block} if isinstance(block, str) else fields_in(block) for block in found]


def texts_in(blocks: list[dict[str, Any]]) -> list[str]:
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    return [text for text in texts if isinstance(text, str) and text.strip()]


def without_inserted(text: str) -> str:
    """Return the text without inserted blocks. An unclosed block reaches to the end of the text."""
    for name in _INSERTED:
        opening, closing = f"<{name}", f"</{name}>"
        kept: list[str] = []
        at = 0
        start = text.find(opening)
        while start >= 0:
            kept.append(text[at:start])
            end = text.find(closing, start)
            at = end + len(closing) if end >= 0 else len(text)
            start = text.find(opening, at)
        text = "".join([*kept, text[at:]])
    return text.strip()
