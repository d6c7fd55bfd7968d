# hot
"""Which categories a sentence speaks of, by the words and phrases in it, in time linear to its length."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

# What a phrase does. It tells of its category; or does so only beside a booster, or only near what tells of it anyway.
# It boosts what tells; or tells and boosts, though never itself; or boosts only what the other speaker said. A word
# inside a phrase of another meaning does not count, and in a sentence with certain phrases (a negation, a condition)
# nothing tells, or nothing weak does.
PRIMARY, WEAK, SUPPORT, CUE, BOOSTER, ANSWER, OTHER_MEANING, NOT_MEANT, NOT_WEAK = range(9)

# In a phrase: any one word, up to three words, a number, the sentence's start and its end. A name in capitals is any
# word of that class.
ANY = "_"
GAP = ".."
NUMBER = "#"
PAST = "ED"
GERUND = "ING"
START = "^"
END = "$"

_GAPS = ("", " _", " _ _", " _ _ _")
_WORD_CHARACTERS = "_./\\\x01"
_APOSTROPHES = "'’‘"
_CLOSING = " \t\r*_\"'”’)"
_STOPS = _CLOSING + ".!?;:…"
_NO_CLASS: tuple[str, ...] = ()
_SHORTEST_FORM = 4
# What does not count in a sentence where nothing is meant, or nothing weak.
_SILENCED = {NOT_MEANT: (PRIMARY, WEAK, SUPPORT, CUE), NOT_WEAK: (WEAK,)}
_DIGITS = frozenset("0123456789")


class Rule:
    """A category's words and phrases, parted by a comma and a space, and what they weigh.

    What has a speaker in its name counts only in what that one says. `asked` are the first words of questions that may
    tell of the category, if not all do; `reach` how many messages away a booster may stand;
    `answer_words` how many words a sentence must have to answer.
    """

    __slots__ = ("answer_words", "asked", "boosted_weight", "denominator", "phrases", "primary_weight", "reach")

    def __init__(
        self,
        primary: str,
        boosters: str,
        *,
        weights: tuple[float, float, float],
        by_human: str = "",
        by_assistant: str = "",
        cues: str = "",
        cues_by_human: str = "",
        weak: str = "",
        weak_by_human: str = "",
        weak_by_assistant: str = "",
        support: str = "",
        answers: str = "",
        answers_by_human: str = "",
        answers_by_assistant: str = "",
        boosters_by_human: str = "",
        boosters_by_assistant: str = "",
        other_meaning: str = "",
        unless: str = "",
        unless_human: str = "",
        unless_assistant: str = "",
        unless_weak: str = "",
        unless_weak_human: str = "",
        asked: tuple[str, ...] | None = None,
        reach: int = 1,
        answer_words: int = 0,
    ) -> None:
        self.primary_weight, self.boosted_weight, self.denominator = weights
        self.asked = asked
        self.reach = reach
        self.answer_words = answer_words
        self.phrases = (
            (primary, PRIMARY, ""),
            (by_human, PRIMARY, "human"),
            (by_assistant, PRIMARY, "assistant"),
            (boosters, BOOSTER, ""),
            (boosters_by_human, BOOSTER, "human"),
            (boosters_by_assistant, BOOSTER, "assistant"),
            (cues, CUE, ""),
            (cues_by_human, CUE, "human"),
            (weak, WEAK, ""),
            (weak_by_human, WEAK, "human"),
            (weak_by_assistant, WEAK, "assistant"),
            (support, SUPPORT, ""),
            (answers, ANSWER, ""),
            (answers_by_human, ANSWER, "human"),
            (answers_by_assistant, ANSWER, "assistant"),
            (other_meaning, OTHER_MEANING, ""),
            (unless, NOT_MEANT, ""),
            (unless_human, NOT_MEANT, "human"),
            (unless_assistant, NOT_MEANT, "assistant"),
            (unless_weak, NOT_WEAK, ""),
            (unless_weak_human, NOT_WEAK, "human"),
        )


class Meant:
    """What a sentence does for each category that it speaks of, and the categories that it boosts in itself."""

    __slots__ = ("boosted", "does")

    def __init__(self, hits: Sequence[tuple[str, int, int, int]]) -> None:
        self.does: dict[str, set[int]] = {}
        for category, kind, _, _ in hits:
            kinds = self.does.setdefault(category, set())
            kinds.update((PRIMARY, BOOSTER) if kind == CUE else (kind,))
        self.boosted = {
            category
            for category, kinds in self.does.items()
            if len(kinds) > 1 and BOOSTER in kinds and _boosts_itself(category, hits)
        }


class Lexicon:
    """The phrases of several categories, by their words, and the classes that a phrase may name."""

    __slots__ = ("_answer_words", "_asked", "_class_of", "_first", "_known", "_unread")

    def __init__(self, rules: Mapping[str, Rule], classes: Mapping[str, str] | None = None) -> None:
        self._answer_words = {category: rule.answer_words for category, rule in rules.items() if rule.answer_words}
        self._asked = {category: rule.asked for category, rule in rules.items()}
        self._first: dict[str, _Node] = {}
        self._known: dict[str, tuple[list[_Node], tuple[str, ...]]] = {}
        # By first words. Most of them occur in no session, so a tree is made of those that do, when they do.
        self._unread: dict[str, list[tuple[str, str, int, str]]] = {}
        self._class_of: dict[str, tuple[str, ...]] = {}
        for name, words in (classes or {}).items():
            for listed in words.split():
                for word in _forms(listed):
                    self._class_of[word] = (*self._class_of.get(word, _NO_CLASS), name)
        for category, rule in rules.items():
            for listed, kind, speaker in rule.phrases:
                for phrase in listed.split(", ") if listed else ():
                    first, _, rest = phrase.partition(" ")
                    self._unread.setdefault(first, []).append((rest, category, kind, speaker))

    def meant(self, sentence: str, speaker: str, mark: str = "") -> Meant | None:
        """What the sentence speaks of; `mark` is one more word, for something that its words do not show."""
        words = words_of(sentence)
        if mark:
            words.append(mark)
        hits = self._hits(words, speaker)
        if not hits:
            return None
        silent = set(self._silent(sentence, words))
        covered: set[tuple[str, int]] = set()
        for category, kind, start, end in hits:
            if kind == OTHER_MEANING:
                covered.update([(category, at) for at in range(start, end)])
            elif kind in _SILENCED:
                silent.update([(category, other) for other in _SILENCED[kind]])
        counted = [hit for hit in hits if hit[1] < OTHER_MEANING and hit[:2] not in silent]
        if covered:
            counted = [hit for hit in counted if not _within(covered, hit)]
        return Meant(counted)

    def _silent(self, sentence: str, words: Sequence[str]) -> Iterator[tuple[str, int]]:
        """What cannot count in a question, or in so few words."""
        if sentence.rstrip(_CLOSING).endswith("?"):
            for category, first in self._asked.items():
                if first is not None and words[1] not in first:
                    yield from [(category, kind) for kind in _SILENCED[NOT_MEANT]]
        for category, least in self._answer_words.items():
            if len(words) < least:
                yield category, ANSWER

    def _hits(self, words: Sequence[str], speaker: str) -> list[tuple[str, int, int, int]]:
        """Each phrase that is there: its category, what it does, and its first word and the one after its last."""
        known = self._known
        read = [known.get(word) or self._read(word) for word in words]
        last = len(words)
        hits: list[tuple[str, int, int, int]] = []
        for at, (trees, _) in enumerate(read):
            nodes, end = trees, at + 1
            while nodes:
                following = read[end][1] if end < last else _NO_CLASS
                for node in nodes:
                    for category, kind, who in node.meanings:
                        if not who or who == speaker:
                            hits.append((category, kind, at, end))
                nodes = [node[step] for node in nodes if node for step in following if step in node]
                end += 1
        return hits

    def _read(self, word: str) -> tuple[list[_Node], tuple[str, ...]]:
        """The trees that begin with the word, and what a phrase may have for it: itself, its classes, any word."""
        steps = (word, *self._class_of.get(word, _NO_CLASS), *_shape(word), ANY)
        trees = [self._first.get(step) or self._tree(step) for step in steps if step in self._unread]
        known = self._known[word] = (trees, steps)
        return known

    def _tree(self, first: str) -> _Node:
        """The phrases that begin with a word, as a tree of the words that follow."""
        tree = self._first[first] = _Node()
        for rest, category, kind, speaker in self._unread[first]:
            for words in _without_gaps(rest) if GAP in rest else (rest,):
                node = tree
                for word in words.split():
                    longer = node.get(word)
                    if longer is None:
                        longer = node[word] = _Node()
                    node = longer
                node.meanings = (*node.meanings, (category, kind, speaker))
        return tree


class _Node(dict[str, "_Node"]):
    """What a phrase means that ends here, and the words by which longer ones go on."""

    __slots__ = ("meanings",)

    def __init__(self) -> None:
        self.meanings: tuple[tuple[str, int, str], ...] = ()


def _shape(word: str) -> tuple[str, ...]:
    """The class that the word is of by its first or last letters."""
    if word[0] in _DIGITS:
        return (NUMBER,)
    if len(word) <= _SHORTEST_FORM:
        return _NO_CLASS
    return (PAST,) if word.endswith("ed") else (GERUND,) if word.endswith("ing") else _NO_CLASS


def _forms(word: str) -> tuple[str, ...]:
    """The word, and if a tilde ends it, also the other forms of that verb."""
    if word[-1] != "~":
        return (word,)
    verb = word[:-1]
    stem = verb.removesuffix("e")
    third = "es" if stem == verb and verb.endswith(("s", "sh", "ch", "x")) else "s"
    return verb, verb + third, stem + "ed", stem + "ing"


def _without_gaps(phrase: str) -> Iterator[str]:
    """The phrase with each gap as none, one, two or three words."""
    before, gap, after = phrase.partition(GAP)
    if not gap:
        yield phrase
        return
    for rest in _without_gaps(after):
        for words in _GAPS:
            yield f"{before}{words}{rest}"


def _within(covered: AbstractSet[tuple[str, int]], hit: tuple[str, int, int, int]) -> bool:
    category, _, start, end = hit
    return (category, start) in covered and (category, end - 1) in covered


def _boosts_itself(category: str, hits: Sequence[tuple[str, int, int, int]]) -> bool:
    """Whether what boosts the category in a sentence is something else than what tells of it there."""
    telling = [hit for hit in hits if hit[0] == category and hit[1] in (PRIMARY, WEAK, CUE)]
    if not telling:
        return False
    first_end = min(end for _, _, _, end in telling)
    last_start = max(start for _, _, start, _ in telling)
    sure = any(kind == PRIMARY for _, kind, _, _ in telling)
    return any(
        (kind == BOOSTER and sure) or (kind in (BOOSTER, CUE) and (start >= first_end or end <= last_start))
        for other, kind, start, end in hits
        if other == category
    )


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
