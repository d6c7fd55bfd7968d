# hot
"""Knowledge banks: three markdown files of entries. Reading and writing keeps every byte of unchanged entries."""

from __future__ import annotations

import os
import time
from itertools import pairwise

from recollect.domain.categories import KNOWLEDGE
from recollect.domain.text import fenced_lines, unclosed_fence
from recollect.errors import StorageError, UnsafeEdit
from recollect.files.bank.entry import bare_name, may_have_fences, parse_entry, set_in_block
from recollect.files.textfile import leads_out, read_regular, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recollect.domain.entry import Entry

# The most entries that are read of the bank of a repository that nobody has vouched for, the last ones of its files,
# and the most characters: a few long entries take as much time as many short ones.
MOST_BROUGHT = 5_000
MOST_SIZE = 8 * 1024 * 1024

_LEFT_OUT = ("constitution.md",)
_SMALLEST = 6  # in bytes: an entry is a heading at least
_STEP = 100  # how many entries are parsed between two looks at the clock
_BEGINNING = 64 * 1024  # in bytes: sessions wait for it
_LARGEST_LOOKED_AT = 4 * 1024 * 1024  # in bytes: a person waits

# The headings that were looked up in files, with the time and size of each file.
_seen: dict[str, tuple[tuple[int, int], dict[str, str]]] = {}


class BankFile:
    """One file of a bank. Unchanged blocks are written as they were read."""

    def __init__(self, text: str, category: str, origin: str = "local") -> None:
        self.category = category
        self.origin = origin
        self._carriage = "\r" if text.partition("\n")[0].endswith("\r") else ""
        self._preamble, *self._blocks = _blocks(text)
        self.entries = [parse_entry(block, category, origin, at) for at, block in enumerate(self._blocks)]

    @property
    def text(self) -> str:
        return "".join([self._preamble, *self._blocks])

    @property
    def is_blank(self) -> bool:
        return not self.entries and not self._preamble.strip()

    def append(self, lines: Sequence[str]) -> Entry:
        """Append an entry, given as its lines, after a blank line at the end of the file.

        Raises:
            UnsafeEdit: the file has an unclosed code fence, so the entry would become part of the code.
        """
        block = "".join([f"{line}{self._carriage}\n" for line in lines])
        if may_have_fences(block) and unclosed_fence(self.text.split("\n")):
            raise UnsafeEdit("it has a code fence that is never closed; close it and try again")
        last = self._blocks[-1] if self._blocks else self._preamble
        last_line = last.rpartition("\n")[2]
        if last_line.strip():
            last += ("" if last_line.endswith("\r") else self._carriage) + "\n"
        last += self._carriage + "\n"
        if self._blocks:
            self._blocks[-1] = last
        else:
            self._preamble = last
        self._blocks.append(block)
        self.entries.append(parse_entry(block, self.category, self.origin, len(self.entries)))
        return self.entries[-1]

    def set_metadata(self, position: int, values: Mapping[str, str]) -> Entry:
        """Change metadata of the entry at `position`. Keep each item's place and style, and add missing items."""
        for label, value in values.items():
            self._blocks[position] = set_in_block(self._blocks[position], label, value, self._carriage)
        self.entries[position] = parse_entry(self._blocks[position], self.category, self.origin, position)
        return self.entries[position]


def read_bank(
    directory: str, origin: str, bounds: Mapping[str, int] | None = None, *, end: float | None = None
) -> tuple[list[Entry], list[str]]:
    """Return the entries of a bank, and a warning for each unusable file. A missing bank is empty.

    With `bounds`, by name, only so many of a file's last entries are read. After `end`, a time of the monotonic clock,
    no more are parsed, beginning with the last entry of each file.
    """
    entries: list[Entry] = []
    paths, warnings = bank_paths(directory, origin)
    for path in paths:
        try:
            blocks = blocks_of(read_text(path))
        except StorageError as error:
            warnings.append(f"{error}; skipped")
            continue
        category = os.path.basename(path).removesuffix(".md")
        most = bounds.get(os.path.basename(path), len(blocks)) if bounds else len(blocks)
        entries += entries_in(blocks, category, origin, max(0, len(blocks) - most), end=end)
    return entries, warnings


def brought(directory: str) -> dict[str, int]:
    """Return how many entries are read of each file of a bank that nobody has vouched for; nothing if all are."""
    paths = bank_paths(directory, "local")[0]
    try:
        if sum(map(os.path.getsize, paths)) < MOST_BROUGHT * _SMALLEST:
            return {}
    except OSError:
        return {}
    found = {name: [*map(len, blocks)] for name, blocks in _blocks_in(directory).items()}
    counts, sizes = ({name: measure(each) for name, each in found.items()} for measure in (len, sum))
    if sum(counts.values()) <= MOST_BROUGHT and sum(sizes.values()) <= MOST_SIZE:
        return {}
    counts, sizes = _shares(counts, MOST_BROUGHT), _shares(sizes, MOST_SIZE)
    return {name: min(counts[name], _last_within(each, sizes[name])) for name, each in found.items()}


def _shares(amounts: Mapping[str, int], left: int) -> dict[str, int]:
    """Return how much each file has of what there is for all: what a small one leaves, others have."""
    shares: dict[str, int] = {}
    for place, name in enumerate(sorted(amounts, key=lambda name: (amounts[name], name))):
        shares[name] = min(amounts[name], left // (len(amounts) - place))
        left -= shares[name]
    return shares


def _last_within(lengths: Sequence[int], left: int) -> int:
    """Return how many of the last lengths are no more than `left` together."""
    for count, length in enumerate(reversed(lengths)):
        left -= length
        if left < 0:
            return count
    return len(lengths)


def count_entries(directory: str) -> dict[str, int]:
    """Return the number of entries in each readable file of a project's bank, by name. They are not parsed."""
    return {name: len(blocks) for name, blocks in _blocks_in(directory).items()}


def _blocks_in(directory: str) -> dict[str, list[str]]:
    """Return the text of each entry in each readable file of a project's bank, by name."""
    found: dict[str, list[str]] = {}
    for path in bank_paths(directory, "local")[0]:
        try:
            found[os.path.basename(path)] = blocks_of(read_text(path))
        except StorageError:
            continue
    return found


def blocks_of(text: str) -> list[str]:
    """Return the text of each entry of a bank's file. They are not parsed, which takes most of the time."""
    return _blocks(text)[1:]


def entries_in(
    blocks: Sequence[str], category: str, origin: str, first: int = 0, *, end: float | None = None
) -> list[Entry]:
    """Parse the blocks from `first` on, the last one first, until `end`; return the entries in their order."""
    found: list[Entry] = []
    for at in range(len(blocks) - 1, first - 1, -1):
        if end is not None and len(found) % _STEP == 0 and found and time.monotonic() >= end:
            break
        found.append(parse_entry(blocks[at], category, origin, at))
    return found[::-1]


def set_headings(directory: str, origin: str, entries: Sequence[Entry]) -> None:
    """Give entries of the store the headings that the bank in a folder has for them. A very large file is not read."""
    for path in bank_paths(directory, origin)[0]:
        category = os.path.basename(path).removesuffix(".md")
        wanted = {entry.name: entry for entry in entries if (entry.origin, entry.category) == (origin, category)}
        headings = _headings(path, wanted) if wanted else {}
        for name, entry in wanted.items():
            entry.heading = headings.get(name) or entry.heading


def _headings(path: str, wanted: Mapping[str, Entry]) -> dict[str, str]:
    """Return the headings in a file for the names of entries, empty for usual ones. A resident asks only once."""
    try:
        status = os.stat(path)
        mark = (status.st_mtime_ns, status.st_size)
        if path not in _seen or _seen[path][0] != mark:
            _seen[path] = (mark, {})
        found = _seen[path][1]
        text = "" if wanted.keys() <= found.keys() else f"\n{read_text(path, _LARGEST_LOOKED_AT)}\n"
    except (OSError, StorageError):
        return {}
    news = {name: entry for name, entry in wanted.items() if name not in found}
    # To look for a few names is quicker than to read thousands of headings, most of which are the usual ones.
    unusual = {name for name, entry in news.items() if f"\n### {entry.title}\n" not in text and name in text}
    found.update(dict.fromkeys(news, ""))
    for block in text.split("\n### ")[1:] if unusual else ():
        written = block.partition("\n")[0].rstrip()
        name = bare_name(written)
        if name in unusual:
            found[name] = f"### {written}"
    return found


def bank_paths(directory: str, origin: str) -> tuple[list[str], list[str]]:
    """Return the paths of a bank's existing files, and a warning for each stray file.

    Links out of the project are not followed in a project's bank: they could expose any file of the user.
    """
    if origin == "local" and _leads_out(directory):
        return [], [f"{directory} is a link that leads out of the project; it is not read"]
    try:
        names = sorted(os.listdir(directory))
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [f"cannot read {directory}: {error.strerror or error}"]
    known = [name for name in names if name.endswith(".md") and name.removesuffix(".md") in KNOWLEDGE]
    strays = [name for name in names if name not in known and _is_stray(name, origin)]
    paths = [os.path.join(directory, name) for name in known]
    outside = [path for path in paths if origin == "local" and os.path.islink(path) and bank_file_leads_out(path)]
    return (
        [path for path in paths if path not in outside],
        [
            *(f"{path} is a link that leads out of the project; skipped" for path in outside),
            *(f"{os.path.join(directory, name)} is not a knowledge-bank file; skipped" for name in strays),
        ],
    )


def files_without_entries(directory: str, origin: str, is_told: Callable[[str], bool] | None = None) -> list[str]:
    """Return the paths of a bank's files with lessons, but without a single entry, so that nobody is given them.

    Files for which `is_told` is true are left out, and their lessons are not read.
    """
    return [path for path in bank_paths(directory, origin)[0] if _lacks_entries(path, is_told)]


def _lacks_entries(path: str, is_told: Callable[[str], bool] | None) -> bool:
    """Return True if a file has text but no entry. Most files have an entry near their beginning: that is quick."""
    try:
        beginning = read_regular(path, _BEGINNING)
        if _has_entry(beginning) or not beginning.strip() or (is_told and is_told(path)):
            return False
        from recollect.files.bank.loose import loose_lessons  # imported late: it is hardly ever needed

        has_lessons = bool(loose_lessons(beginning.decode("utf-8", "replace"))[0])
        return has_lessons and not _has_entry(read_regular(path, _LARGEST_LOOKED_AT))
    except (OSError, StorageError):
        return False


def _has_entry(data: bytes) -> bool:
    return b"\n### " in data or data.removeprefix(b"\xef\xbb\xbf").startswith(b"### ")


def bank_file_leads_out(path: str) -> bool:
    """Return True if a link leads a file of a project's bank out of the project."""
    return _leads_out(path, os.path.dirname(path))


def _leads_out(path: str, directory: str = "") -> bool:
    """Return True if a path leads out of the project, two folders above its bank (docs/knowledge-bank)."""
    return leads_out(path, os.path.dirname(os.path.dirname(os.path.abspath(directory or path))))


def read_bank_file(path: str, origin: str) -> BankFile:
    """Read one file of a bank. Its name gives the category. A missing file is empty.

    Raises:
        StorageError: the file is not a regular file, is too large, or cannot be read.
    """
    category = os.path.basename(path).removesuffix(".md")
    return BankFile(read_text(path), category, origin)


def _is_stray(name: str, origin: str) -> bool:
    """Return True if a file in a bank's folder deserves a warning. The global folder also holds other files."""
    if name.startswith(".") or name in _LEFT_OUT:
        return False
    return origin == "local" or name.endswith(".md")


def _blocks(text: str) -> list[str]:
    """Split a text into the part before the first entry and one block per entry. Joined, they are the whole text."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    if may_have_fences(text):
        lines = text.split("\n")
        fenced = fenced_lines(lines)
        starts = [i for i, line in enumerate(lines) if line.startswith("### ") and i not in fenced]
        bounds = [0, *starts, len(lines)]
        pieces = ["\n".join(lines[start:end]) for start, end in pairwise(bounds)]
        first, blocks = pieces[0], [piece + "\n" for piece in pieces[1:]]
    else:
        first, *rest = ("\n" + text).split("\n### ")
        first, blocks = first[1:], [f"### {piece}\n" for piece in rest]
    if blocks:
        blocks[-1] = blocks[-1][:-1]
        first += "" if text.startswith("### ") else "\n"
    return [mark + first, *blocks]
