"""Which categories a sentence speaks of, by the words and phrases in it, in time linear to its length."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

# What a phrase does: it tells of its category, or boosts what does; a word inside a phrase of another meaning does
# not count; and in a sentence with certain phrases (a negation, a condition) nothing tells.
PRIMARY, BOOSTER, OTHER_MEANING, NOT_MEANT = range(4)

# In a phrase: any one word, the sentence's start and its end.
ANY = "_"
START = "^"
END = "$"

_WORD_CHARACTERS = "_./\\\x01"
_APOSTROPHES = "'’‘"
_CLOSING = " \t\r*_\"'”’)"
_STOPS = _CLOSING + ".!?;:…"
_NONE: frozenset[str] = frozenset()


class Rule:
    """A category's words and phrases, parted by a comma and a space, and what they weigh.

    What has a speaker in its name counts only in what that one says. `asked` says whether a question may tell of the
    category.
    """

    __slots__ = ("asked", "boosted_weight", "denominator", "phrases", "primary_weight")

    def __init__(
        self,
        primary: str,
        boosters: str,
        *,
        weights: tuple[float, float, float],
        by_human: str = "",
        by_assistant: str = "",
        boosters_by_assistant: str = "",
        other_meaning: str = "",
        unless: str = "",
        unless_human: str = "",
        unless_assistant: str = "",
        asked: bool = True,
    ) -> None:
        self.primary_weight, self.boosted_weight, self.denominator = weights
        self.asked = asked
        self.phrases = (
            (primary, PRIMARY, ""),
            (by_human, PRIMARY, "human"),
            (by_assistant, PRIMARY, "assistant"),
            (boosters, BOOSTER, ""),
            (boosters_by_assistant, BOOSTER, "assistant"),
            (other_meaning, OTHER_MEANING, ""),
            (unless, NOT_MEANT, ""),
            (unless_human, NOT_MEANT, "human"),
            (unless_assistant, NOT_MEANT, "assistant"),
        )


class Lexicon:
    """The phrases of several categories, by their words."""

    __slots__ = ("_first", "_not_asked", "_unread")

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self._not_asked = frozenset(category for category, rule in rules.items() if not rule.asked)
        self._first: dict[str, _Node] = {}
        # By first words. Most of them occur in no session, so a tree is made of those that do, when they do.
        self._unread: dict[str, list[tuple[str, str, int, str]]] = {}
        for category, rule in rules.items():
            for listed, kind, speaker in rule.phrases:
                for phrase in listed.split(", ") if listed else ():
                    first, _, rest = phrase.partition(" ")
                    self._unread.setdefault(first, []).append((rest, category, kind, speaker))

    def meant(self, sentence: str, speaker: str) -> tuple[AbstractSet[str], AbstractSet[str]]:
        """The categories that the sentence tells of, and those that it boosts."""
        hits = self._hits(words_of(sentence), speaker)
        if not hits:
            return _NONE, _NONE
        silent = {category for category, kind, _, _ in hits if kind == NOT_MEANT}
        asked = self._not_asked if sentence.rstrip(_CLOSING).endswith("?") else _NONE
        covered = {
            (category, at) for category, kind, start, end in hits if kind == OTHER_MEANING for at in range(start, end)
        }
        told: set[str] = set()
        boosted: set[str] = set()
        for category, kind, start, end in hits:
            if kind > BOOSTER or category in asked:
                continue
            if covered and (category, start) in covered and (category, end - 1) in covered:
                continue
            if kind == BOOSTER:
                boosted.add(category)
            elif category not in silent:
                told.add(category)
        return told, boosted

    def _hits(self, words: Sequence[str], speaker: str) -> list[tuple[str, int, int, int]]:
        """Each phrase that is there: its category, what it does, and its first word and the one after its last."""
        unread = self._unread
        hits: list[tuple[str, int, int, int]] = []
        for at, word in enumerate(words):
            if word not in unread:
                continue
            nodes = [self._first.get(word) or self._tree(word)]
            end = at + 1
            while nodes:
                for node in nodes:
                    for category, kind, who in node.meanings:
                        if not who or who == speaker:
                            hits.append((category, kind, at, end))
                if end == len(words):
                    break
                following = words[end]
                end += 1
                nodes = [node.next[step] for node in nodes for step in (following, ANY) if step in node.next]
        return hits

    def _tree(self, first: str) -> _Node:
        """The phrases that begin with a word, as a tree of the words that follow."""
        tree = self._first[first] = _Node()
        for rest, category, kind, speaker in self._unread[first]:
            node = tree
            for word in rest.split():
                node = node.next.setdefault(word, _Node())
            node.meanings.append((category, kind, speaker))
        return tree


class _Node:
    """What a phrase means that ends here, and the words by which longer ones go on."""

    __slots__ = ("meanings", "next")

    def __init__(self) -> None:
        self.meanings: list[tuple[str, int, str]] = []
        self.next: dict[str, _Node] = {}


class _ToWords(dict[int, int | None]):
    """For str.translate: lets stay what a word is made of, deletes apostrophes, makes a space of all else."""

    def __missing__(self, code: int) -> int | None:
        char = chr(code)
        stays = code if char.isalnum() or char in _WORD_CHARACTERS else 0x20
        self[code] = None if char in _APOSTROPHES else stays
        return self[code]


_TO_WORDS = _ToWords()


def words_of(sentence: str) -> list[str]:
    """The sentence's words in lower case, between marks of its start and its end; names of files stay whole."""
    return [START, *sentence.rstrip(_STOPS).lower().translate(_TO_WORDS).split(), END]
