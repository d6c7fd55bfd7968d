# hot
"""Find repetitions: sentences that quote or reword text injected into the session, and entries known from elsewhere."""

from __future__ import annotations

from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Set

# So many equal words in a row are no coincidence.
_RUN = 5
_ENDS = (". ", "! ", "? ", "; ", ": ")

# Of so many runs of a repeated text one may be missing: four fifths of them count as nearly all. Fewer words than
# these say too little.
_ONE_IN = 5
_FEWEST = 3
_MOST = 400

# A sentence rewords a passage if two thirds of its telling words, and so many at least, are in it. Telling words are
# compared by their first letters, so that forms of a word are alike.
_TELLING = 4
_LETTERS = 5
_SHORTEST = 4

# A sentence with one of these says that something is no longer so; then the words in common are about what was.
_CHANGE = frozenset(
    "now anymore longer outdated obsolete switch switched move moved replace replaced migrate migrated"
    " drop dropped changed deprecated superseded until formerly previously".split()
)


class _Words(dict[int, str]):
    """The table for `str.translate` to leave only words; each character is looked at once."""

    def __missing__(self, point: int) -> str:
        self[point] = chr(point) if chr(point).isalnum() else " "
        return self[point]


_table = _Words()


def marks(text: str) -> set[str]:
    """Return hashes of a text to recognise it later: of each run of words, and of the telling words of each passage."""
    whole: list[str] = []
    found: set[str] = set()
    for passage in _passages(text):
        words = _words(passage)
        whole += words
        name = f"{crc32(passage.encode('utf-8', 'replace')) & 0xFFFF:04x}."
        found.update([name + mark for mark in _telling_marks(words)])
    found.update(_marks(whole))
    return found


class Known:
    """A text to find repetitions of: its words in order, with a space around each, and each word once."""

    def __init__(self, text: str) -> None:
        words = _words(text)
        self.text = f" {' '.join(words)} " if words else ""
        self._words = frozenset(words)

    def has(self, words: list[str]) -> bool:
        """Return True if nearly all runs of some words are here. Fewer words than a run are one."""
        length = min(_RUN, len(words))
        places = range(len(words) - length + 1)
        misses = len(places) // _ONE_IN
        # Most runs have a word that is nowhere in the text, and looking for a word is cheap.
        is_here = [word in self._words for word in words]
        for place in places:
            run = slice(place, place + length)
            if not all(is_here[run]) or f" {' '.join(words[run])} " not in self.text:
                misses -= 1
                if misses < 0:
                    return False
        return True


def is_repeated(text: str, known: Iterable[Known]) -> bool:
    """Return True if one of the known texts has nearly all runs of words of a text.

    A text of one or two words is never repeated.
    """
    words = _words(text)[:_MOST]
    return len(words) >= _FEWEST and any(each.has(words) for each in known)


def without_quotes(text: str, known: Set[str], *, reworded: bool = False) -> str:
    """Remove the sentences with at least half of their words in known runs; with `reworded`, also those in other words.

    What an agent says in other words it has from what it was given. What a user says so may be meant as said.
    """
    passages = _by_passage(known) if reworded else []
    return "\n".join(
        "".join(
            sentence
            for sentence in _sentences(line)
            if not _is_quoted(sentence, known) and not _is_reworded(sentence, passages)
        )
        for line in text.split("\n")
    )


def _by_passage(known: Set[str]) -> list[set[str]]:
    """Return the hashes of the telling words of each passage that has enough of them."""
    found: dict[str, set[str]] = {}
    for mark in known:
        name, point, word = mark.partition(".")
        if point:
            found.setdefault(name, set()).add(word)
    return [words for words in found.values() if len(words) >= _TELLING]


def _is_reworded(sentence: str, passages: list[set[str]]) -> bool:
    """Return True if one passage has most of the telling words of a sentence, which speaks of no change."""
    if not passages:
        return False
    words = _words(sentence)
    said = _telling_marks(words)
    if len(said) < _TELLING or not _CHANGE.isdisjoint(words):
        return False
    return any(len(said & passage) >= max(_TELLING, len(said) * 2 / 3) for passage in passages)


def _telling_marks(words: list[str]) -> set[str]:
    from recollect.domain.ranking.terms import STOP_WORDS  # imported late: most hooks find nothing

    telling = {word.rstrip("s")[:_LETTERS] for word in words if len(word) >= _SHORTEST and word not in STOP_WORDS}
    return {f"{crc32(beginning.encode('utf-8', 'replace')) & 0xFFFF:04x}" for beginning in telling}


def _passages(text: str) -> list[str]:
    """Return the passages of a block: an item of a list or a heading, with the lines that belong to it."""
    found: list[list[str]] = [[]]
    for line in text.split("\n"):
        if not line.strip() or line.startswith(("- ", "#")):
            found.append([])
        found[-1].append(line)
    return ["\n".join(lines) for lines in found if any(map(str.strip, lines))]


def _is_quoted(sentence: str, known: Set[str]) -> bool:
    words = _words(sentence)
    if len(words) < _RUN:
        return False
    quoted = [False] * len(words)
    for place, mark in enumerate(_marks(words)):
        if mark in known:
            quoted[place : place + _RUN] = [True] * _RUN
    return 2 * sum(quoted) >= len(words)


def _marks(words: list[str]) -> Iterator[str]:
    for place in range(len(words) - _RUN + 1):
        yield f"{crc32(' '.join(words[place : place + _RUN]).encode('utf-8', 'replace')):08x}"


def _words(text: str) -> list[str]:
    return text.casefold().translate(_table).split()


def _sentences(line: str) -> list[str]:
    for end in _ENDS:
        line = line.replace(end, end + "\0")
    return line.split("\0")
