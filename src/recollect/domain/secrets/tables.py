# hot
"""Find secrets by the names of their columns, in Markdown and in CSV, and in the data of a Kubernetes Secret."""

from __future__ import annotations

from recollect.domain.secrets.encoded import decoded_text
from recollect.domain.secrets.values import compiled, has_digit, is_password, is_placeholder, is_random, is_secret_word
from recollect.domain.secrets.words import FOREIGN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORD = "a password"  # noqa: S105 (a kind)
IN_CLUSTER = "a secret of Kubernetes"
# Words in the name of a column of passwords.
COLUMN_NAMES = FOREIGN | {"password", "passphrase", "passcode"}
_CSV_NAMES = COLUMN_NAMES | {"passwd", "pwd", "pass", "pw"}
_LONGEST_HEADER, _LONGEST_CELL = 500, 40
# The data of a Secret: indented lines, or an object of JSON. What is certified, and where it belongs, is public.
_DATA = r"""["']?\b(?:string)?[dD]ata\\?["']?[ \t]{0,4}:[ \t]{0,4}(?:\{[^{}]*|(?:(?:\n|\\n)[ \t]+[^\n\\]*)+)"""
_PAIR = r"""["']?([\w.-]{1,100})\\?["']?[ \t]{0,4}:[ \t]{0,4}\\?["']?([^\s"'\\,{}|>&*][^\s"'\\,{}]{2,})"""
_PUBLIC = ("-----BEGIN CERTIFICATE", "-----BEGIN PUBLIC")
_PUBLIC_NAMES = frozenset({"namespace", "username", "user", "host", "port", "name", "type", "url"})


def columns(text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and kind of each password in a Markdown table, by the names of its columns."""
    if not any(word in lowered for word in COLUMN_NAMES):
        return
    named: list[bool] = []
    for start, line in _lines(text):
        cells = line.split("|")
        if len(cells) < 2:
            named = []
        elif not any(named):
            named = [any(word in COLUMN_NAMES for word in cell.lower().strip(" *`\n").split()) for cell in cells]
        else:
            for begin, value in _cells(start, cells, named, " *`\n"):
                if has_digit(value) and is_password(value, bare=True):
                    yield begin, begin + len(value), PASSWORD


def separated_values(text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and kind of each password in CSV, by the names in its first line."""
    named: list[bool] = []
    separator = header = ""
    for start, line in _lines(text) if any(word in lowered for word in _CSV_NAMES) else ():
        if separator:
            cells = _split(line, separator)
            if len(cells) == len(named):
                for begin, value in _cells(start, cells, named, " \"'\r\n"):
                    if is_password(value, bare=f"{separator} " in header):  # a sentence may have commas as well
                        yield begin, begin + len(value), PASSWORD
                continue
        if any(word in lowered[start : start + len(line)] for word in _CSV_NAMES):
            separator, named = _header(line)
            header = line
        else:
            separator = ""


def secret_data(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and kind of each value in the data of a Kubernetes Secret."""
    for data in compiled(_DATA).finditer(text):
        is_plain = "tring" in data[0][:10]
        for pair in compiled(_PAIR).finditer(text, data.start() + data[0].index(":") + 1, data.end()):
            if _is_secret_data(pair[1], pair[2], is_plain=is_plain):
                yield (*pair.span(2), IN_CLUSTER)


def _is_secret_data(name: str, value: str, *, is_plain: bool) -> bool:
    said = value if is_plain else decoded_text(value)
    if name.lower() in _PUBLIC_NAMES or is_placeholder(value) or said.startswith(_PUBLIC):
        return False
    if is_plain:
        return is_secret_word(value) and (is_random(value) or is_password(value, bare=True))
    return (bool(said) and is_secret_word(said)) or (len(value) >= 12 and has_digit(value) and is_random(value))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, line
        start += len(line)


def _cells(start: int, cells: list[str], named: list[bool], around: str) -> Iterator[tuple[int, str]]:
    """Yield the start and the value of each cell in a column of passwords."""
    for is_named, cell in zip(named, cells, strict=False):
        value = cell.strip(around)
        if is_named and value:
            yield start + cell.find(value), value
        start += len(cell) + 1


def _split(line: str, separator: str) -> list[str]:
    """Split a line of CSV at its separators, but not inside of quotes."""
    if '"' not in line or line.count('"') % 2:
        return line.split(separator)
    cells: list[str] = []
    for place, part in enumerate(line.split('"')):
        outside = part.split(separator) if place % 2 == 0 else [part]
        before = f'{cells.pop()}"' if place else ""
        cells += [before + outside[0], *outside[1:]]
    return cells


def _header(line: str) -> tuple[str, list[bool]]:
    """Return the separator of a header of CSV, and which of its columns hold passwords; no separator if it is none."""
    for separator in (",", ";", "\t") if len(line) <= _LONGEST_HEADER else ():
        cells = line.split(separator)
        if len(cells) < 2 or max(map(len, cells)) > _LONGEST_CELL:
            continue
        cells = [cell.strip(" \"'\ufeff\r\n").lower() for cell in cells]
        named = [_names_password(cell) for cell in cells]
        if any(named) and all(cell.replace("_", "").replace("-", "").replace(" ", "").isalnum() for cell in cells):
            return separator, named
    return "", []


def _names_password(cell: str) -> bool:
    return not _CSV_NAMES.isdisjoint(cell.replace("_", " ").replace("-", " ").split()[-1:])
