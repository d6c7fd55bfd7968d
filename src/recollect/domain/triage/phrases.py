# hot
"""Find the categories of a sentence by its words and phrases, in time linear to its length."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

# The kinds of phrases. PRIMARY: a sign of its category. WEAK: a sign only if boosted or answered. SUPPORT: a sign only
# near another sign of the category. CUE: both a sign and a booster, but never of itself. BOOSTER: strengthens signs
# near it. ANSWER: strengthens only signs by the other speaker. OTHER_MEANING: words inside it do not count. NOT_MEANT:
# in its sentence (a negation, a condition) no sign counts. NOT_WEAK: in its sentence no weak sign counts.
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
# The kinds silenced in a sentence with NOT_MEANT or NOT_WEAK.
_SILENCED = {NOT_MEANT: (PRIMARY, WEAK, SUPPORT, CUE), NOT_WEAK: (WEAK,)}
_DIGITS = frozenset("0123456789")


# The kind and the speaker of a rule's phrases, by name. Without a speaker, they count in everybody's sentences.
_KINDS = {
    "primary": (PRIMARY, ""),
    "by_human": (PRIMARY, "human"),
    "by_assistant": (PRIMARY, "assistant"),
    "boosters": (BOOSTER, ""),
    "boosters_by_human": (BOOSTER, "human"),
    "boosters_by_assistant": (BOOSTER, "assistant"),
    "cues": (CUE, ""),
    "cues_by_human": (CUE, "human"),
    "weak": (WEAK, ""),
    "weak_by_human": (WEAK, "human"),
    "weak_by_assistant": (WEAK, "assistant"),
    "support": (SUPPORT, ""),
    "answers": (ANSWER, ""),
    "answers_by_human": (ANSWER, "human"),
    "answers_by_assistant": (ANSWER, "assistant"),
    "other_meaning": (OTHER_MEANING, ""),
    "unless": (NOT_MEANT, ""),
    "unless_human": (NOT_MEANT, "human"),
    "unless_assistant": (NOT_MEANT, "assistant"),
    "unless_weak": (NOT_WEAK, ""),
    "unless_weak_human": (NOT_WEAK, "human"),
}


class Rule:
    """A category's words and phrases, separated by a comma and a space, and their weights.

    `others` are more phrases by their names in `_KINDS`. `asked` limits questions: only those with one of these first
    words count; None allows all. `one_is_enough` is the least score of a sentence that boosts itself. `reach` is the
    greatest distance of a booster in messages, `answer_words` the least number of words in an answer, counting the
    marks of the sentence's start and end.
    """

    def __init__(
        self,
        primary: str,
        boosters: str,
        *,
        weights: tuple[float, float, float],
        asked: tuple[str, ...] | None = None,
        reach: int = 1,
        answer_words: int = 0,
        one_is_enough: float = 0.0,
        **others: str,
    ) -> None:
        self.primary_weight, self.boosted_weight, self.denominator = weights
        self.asked = asked
        self.reach = reach
        self.answer_words = answer_words
        self.one_is_enough = one_is_enough
        given = {"primary": primary, "boosters": boosters, **others}
        self.phrases = [(listed, *_KINDS[name]) for name, listed in given.items()]


class Meant:
    """The kinds of phrases in a sentence by category, and the categories boosted within the sentence.

    `ambiguous` are the categories of which a word has another meaning here.
    """

    def __init__(self, hits: Sequence[tuple[str, int, int, int]], ambiguous: AbstractSet[str]) -> None:
        self.ambiguous = ambiguous
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
    """The phrases of several categories by their words, and the word classes used in phrases."""

    def __init__(self, rules: Mapping[str, Rule], classes: Mapping[str, str] | None = None) -> None:
        self._answer_words = {category: rule.answer_words for category, rule in rules.items() if rule.answer_words}
        self._asked = {category: rule.asked for category, rule in rules.items()}
        self._first: dict[str, _Node] = {}
        self._known: dict[str, tuple[list[_Node], tuple[str, ...]]] = {}
        # By first words. Most never occur in a session, so a tree is built only when its first word does.
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
        """Return the meaning of the sentence, or None without a phrase. `mark` is an extra word for its context."""
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
        return Meant(counted, {category for category, _ in covered})

    def _silent(self, sentence: str, words: Sequence[str]) -> Iterator[tuple[str, int]]:
        """Yield categories and kinds silenced because the sentence is a question or too short to answer."""
        if sentence.rstrip(_CLOSING).endswith("?"):
            for category, first in self._asked.items():
                if first is not None and words[1] not in first:
                    yield from [(category, kind) for kind in _SILENCED[NOT_MEANT]]
        for category, least in self._answer_words.items():
            if len(words) < least:
                yield category, ANSWER

    def _hits(self, words: Sequence[str], speaker: str) -> list[tuple[str, int, int, int]]:
        """Return each phrase found: its category, its kind, and the indexes of its first word and after its last."""
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
        """Return the trees beginning with the word, and its steps in a phrase: itself, its classes, any word."""
        steps = (word, *self._class_of.get(word, _NO_CLASS), *_shape(word), ANY)
        trees = [self._first.get(step) or self._tree(step) for step in steps if step in self._unread]
        known = self._known[word] = (trees, steps)
        return known

    def _tree(self, first: str) -> _Node:
        """Build a tree of the phrases with this first word."""
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
    """A node of a phrase tree: the meanings of phrases ending here, and the next words of longer ones."""

    __slots__ = ("meanings",)

    def __init__(self) -> None:
        self.meanings: tuple[tuple[str, int, str], ...] = ()


def _shape(word: str) -> tuple[str, ...]:
    """Return the word's class by its first or last letters: a number, ED, ING or none."""
    if word[0] in _DIGITS:
        return (NUMBER,)
    if len(word) <= _SHORTEST_FORM:
        return _NO_CLASS
    return (PAST,) if word.endswith("ed") else (GERUND,) if word.endswith("ing") else _NO_CLASS


def _forms(word: str) -> tuple[str, ...]:
    """Return the word and, for a verb ending in a tilde, its other forms."""
    if word[-1] != "~":
        return (word,)
    verb = word[:-1]
    stem = verb.removesuffix("e")
    third = "es" if stem == verb and verb.endswith(("s", "sh", "ch", "x")) else "s"
    return verb, verb + third, stem + "ed", stem + "ing"


def _without_gaps(phrase: str) -> Iterator[str]:
    """Yield the phrase with each gap expanded to none, one, two or three words."""
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
    """Return True if a sentence boosts its own sign of the category.

    Any booster counts for a primary sign. Otherwise a booster or cue must stand apart from the sign.
    """
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
    """A table for `str.translate`: keeps the characters of words, deletes apostrophes, replaces the rest by spaces."""

    def __missing__(self, code: int) -> int | None:
        char = chr(code)
        stays = code if char.isalnum() or char in _WORD_CHARACTERS else 0x20
        self[code] = None if char in _APOSTROPHES else stays
        return self[code]


_TO_WORDS = _ToWords()


def words_of(sentence: str) -> list[str]:
    """Return the sentence's words in lower case, between marks of its start and end. File names stay whole."""
    return [START, *sentence.rstrip(_STOPS).lower().translate(_TO_WORDS).split(), END]
