"""The lines pulled for a scope: one JSON object per line, in the order of the server's log, appended to."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from recollect.domain.shared.fold import hashes_of, related
from recollect.domain.shared.line_ids import is_line_id
from recollect.domain.shared.lines import TeamLine, is_scope
from recollect.domain.stored import is_id
from recollect.errors import InvalidEntry, StorageError
from recollect.files.journal.kinds import Kind
from recollect.files.journal.log import LONGEST_LINE, append_lines, read_lines
from recollect.files.textfile import open_regular

# In bytes: more than a line takes, with its body at its largest.
_TAIL = 1024 * 1024

# In characters: a quarter of the longest line that can be read, as a character may take four bytes.
_MAX_CHARS = LONGEST_LINE // 4
_DEEPEST = 20  # levels of a body

_CHUNK = 4 * 1024 * 1024  # bytes looked through at once
_FEW = 32  # hashes to look for; for more, parsing each line once is quicker


def _parse(line: dict[str, Any]) -> TeamLine:
    """Return a pulled line. What its body says is for `fold` to check."""
    id, body, seq = line.get("line"), line.get("body"), line.get("seq")
    if not is_line_id(id) or not isinstance(body, dict) or type(seq) is not int:
        raise InvalidEntry("a pulled line has an id, a place and a body")
    author, role, received, maker = (str(line.get(name) or "") for name in ("author", "role", "received", "maker"))
    known = cast("dict[str, Any]", body)
    return TeamLine(str(id), known, seq=seq, author=author, role=role, received=received, maker=maker)


def _write(line: TeamLine) -> str:
    fields = {"line": line.id, "seq": line.seq, "author": line.author, "role": line.role, "received": line.received}
    if line.maker:
        fields["maker"] = line.maker
    return json.dumps({**fields, "body": line.body}, ensure_ascii=False, separators=(",", ":"))


PULLED = Kind("pulled line", (), _parse, _write)


# The file that is locked during an exchange.
LOCK = ".sync"


def is_team_file(name: str) -> bool:
    """Return True for the name of a file in the folder of pulled lines."""
    kind, _, rest = name.removesuffix(".jsonl").partition(".")
    return name == LOCK or (name.endswith(".jsonl") and is_scope(f"{kind}:{rest}"))


def append_pulled(path: str, lines: Sequence[TeamLine]) -> None:
    """Append lines to the file of a scope. Raises as `append_lines` does."""
    append_lines(path, PULLED, lines)


def refuse_unordered(lines: Sequence[TeamLine], after: int) -> None:
    """Raise InvalidEntry unless lines from a server can be kept: with an id, small enough, each after the one before.

    Others would be asked for again and again, or could not be read from their file.
    """
    place = after
    for line in lines:
        if not is_line_id(line.id) or type(line.seq) is not int or line.seq <= place:
            raise InvalidEntry(f"the line after place {place} is none")
        place = line.seq
        if len(_write(line)) > _MAX_CHARS:
            raise InvalidEntry(f"the line at place {place} is too large")


def bounded_body(body: object) -> Mapping[str, Any]:
    """Return the body of a line; an empty one if it is no object, or nested so deeply that reading it may fail."""
    is_usable = isinstance(body, Mapping) and _is_shallow(cast("object", body), _DEEPEST)
    return cast("Mapping[str, Any]", body) if is_usable else {}


def _is_shallow(value: object, most: int) -> bool:
    if not isinstance(value, Mapping | list | tuple):
        return True
    inner = cast("Iterable[object]", value.values() if isinstance(value, Mapping) else value)
    return most > 0 and all(_is_shallow(each, most - 1) for each in inner)


def pulled_lines(path: str, start: int = 0) -> tuple[list[TeamLine], int, list[str]]:
    """Return the valid lines of a file from an offset on, the offset of their end, and warnings.

    Raises:
        StorageError: the file cannot be read.
    """
    found = read_lines(path, start)
    return _valid(found.lines), found.end, found.problems


def lines_about(path: str, hashes: Collection[str]) -> list[TeamLine]:
    """Return the lines about lessons with these hashes, and about those that edits join with them.

    For few hashes, only lines that name one of them are parsed: looking through a file takes far less than parsing it.

    Raises:
        StorageError: the file cannot be read.
    """
    asked: set[str] = set()
    wanted = {hash for hash in hashes if is_id(hash)}
    found: dict[int, TeamLine] = {}
    while new := wanted - asked:
        if len(wanted) > _FEW:
            return related(pulled_lines(path)[0], hashes)
        asked |= new
        for place, text in _naming(path, [hash.encode() for hash in new]):
            for line in _parsed(text):
                hash, edits = hashes_of(line)
                if hash in asked or edits in asked:
                    found[place] = line
                    wanted |= {each for each in (hash, edits) if is_id(each)}
    return [found[place] for place in sorted(found)]


def _naming(path: str, words: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield each line of a file that has one of these words in it, with its place."""
    words = list(words)
    for start, chunk in _chunks(path):
        lines: dict[int, bytes] = {}
        for word in words:
            place = chunk.find(word)
            while place >= 0:
                first, end = chunk.rfind(b"\n", 0, place) + 1, chunk.find(b"\n", place)
                lines[start + first] = chunk[first:end]
                place = chunk.find(word, end)
        yield from lines.items()


def _chunks(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield a file in parts of whole lines, each with its place. What is longer than any line is left out."""
    start, rest = 0, b""
    try:
        with open_regular(path) as file:
            while data := file.read(_CHUNK):
                data = rest + data
                end = data.rfind(b"\n") + 1
                if end:
                    yield start, data[:end]
                elif len(data) > LONGEST_LINE:
                    end = len(data)
                start, rest = start + end, data[end:]
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error


def last_pulled(path: str) -> TeamLine | None:
    """Return the last line pulled; None if there is none. Only the end of the file is read.

    Raises:
        StorageError: the file cannot be read.
    """
    try:
        with open_regular(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
            data = file.read(_TAIL)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    for text in reversed(data.split(b"\n")[:-1]):  # what follows the last line feed was never finished
        for line in _parsed(text):
            return line
    return None


def _parsed(text: bytes) -> list[TeamLine]:
    """Return the line in a text; none if it is invalid."""
    try:
        return _valid([json.loads(text)])
    except (ValueError, RecursionError):
        return []


def _valid(lines: Iterable[Any]) -> list[TeamLine]:
    found: list[TeamLine] = []
    for line in lines:
        if isinstance(line, dict):
            with suppress(InvalidEntry):
                found.append(_parse(cast("dict[str, Any]", line)))
    return found
