# hot
"""Score the end of a session by category, from its conversation and its activity, to find memories.

A telling sentence is one with a sign of the category; `phrases` has the kinds of signs.
"""

from __future__ import annotations

from recollect.domain.categories import PREFERENCE, SESSION_SUMMARY
from recollect.domain.text import one_line, unmarked
from recollect.domain.triage.phrases import ANSWER, BOOSTER, PRIMARY, SUPPORT, WEAK, Lexicon, words_of
from recollect.domain.triage.plain import is_plain, is_standing, is_step
from recollect.domain.triage.said import is_prose, sentences, spoken_lines
from recollect.domain.triage.words import CLASSES, COMPARING, FILLERS, RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recollect.domain.triage.phrases import Meant, Rule

# The range of boosters, in sentences before and after a telling one; its context, in lines before and after.
BOOSTER_SENTENCES = 4
WINDOW_LINES = 10

MOST_PRIMARY = 3
MOST_BOOSTED = 2
LONGEST_SNIPPET = 120

# A person types fewer lines than that at once; a longer message has something pasted in it.
_MOST_TYPED = 12

# Only so much of a sentence is cleaned for a snippet.
_LONGEST_CLEANED = 1_000

# Limits in characters, for one message and for all: more text would take time without changing the result.
_LONGEST_MESSAGE = 20_000
_MOST_TEXT = 120_000
_FENCE = "\n```"

_LEXICON = Lexicon(RULES, CLASSES)

# Marks for an answer of the human to a comparison or a question of alternatives: a short choice, a choice with a
# reason, another answer.
CHOSEN = "%chosen"
REASONED = "%reasoned"
ANSWERED = "%answered"
_LONGEST_CHOICE = 40
_MOST_CHOSEN = 3
_SHORTEST_REASON = 20


class Said:
    """One message, with its speaker: the human or the assistant."""

    def __init__(self, role: str, text: str) -> None:
        self.role = role
        self.text = text


class Activity:
    """A session's activity in numbers."""

    def __init__(self, tool_uses: int, distinct_tools: int, exchanges: int) -> None:
        self.tool_uses = tool_uses
        self.distinct_tools = distinct_tools
        self.exchanges = exchanges


class Finding:
    """A category worth remembering, with its score, its telling sentences and the text around them.

    `evidence` was found without our words: facts of the work itself, and statements of the user that were judged by
    their meaning. `by_human` are the snippets that the user said.
    """

    def __init__(self, category: str, score: float, snippets: list[str], windows: list[str]) -> None:
        self.category = category
        self.score = score
        self.snippets = snippets
        self.windows = windows
        self.evidence: list[str] = []
        self.by_human: set[str] = set()


class _Text:
    """The whole conversation: its lines, and for each sentence its line and its message.

    A message has one line for each paragraph, so distances and counts are measured in sentences.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.sentences: list[str] = []
        self.line_of: list[int] = []
        self.message_of: list[int] = []
        self.role_of: list[str] = []
        self.messages = 0
        self.before = _Before()


class _Marks:
    """The sentences about a category by the kind of their phrases, and those boosted within themselves."""

    def __init__(self) -> None:
        self.by_kind: dict[int, set[int]] = {kind: set() for kind in (PRIMARY, WEAK, SUPPORT, BOOSTER, ANSWER)}
        self.boosted: set[int] = set()


class _Before:
    """The two messages before the current one, to recognise a short sentence as a choice between their options."""

    def __init__(self) -> None:
        self._texts = ("", "")
        self._asked = ""
        self._words: set[str] | None = None

    def add(self, text: str) -> None:
        self._texts = (self._texts[1], text)
        self._asked = " ".join([part.rpartition(". ")[2] for part in " ".join(self._texts).split("?")[:-1]])
        self._words = None

    def mark(self, sentence: str, message: Said) -> str:
        """Return the mark of a choice or an answer, or an empty string. A longer message counts as a reason."""
        if message.role != "human" or sentence.endswith("?"):
            return ""
        clause = sentence.partition(", ")[0]
        if len(clause) <= _LONGEST_CHOICE:
            named = [word.removesuffix("s") for word in words_of(clause)[1:-1] if word not in FILLERS]
            if 0 < len(named) <= _MOST_CHOSEN:
                goes_on = len(message.text) - len(clause) >= _SHORTEST_REASON
                if self._names(named):
                    return REASONED if goes_on else CHOSEN
                if goes_on and message.text.startswith(clause):
                    return CHOSEN
        if " or " not in self._asked or len(sentence) < _SHORTEST_REASON:
            return ""
        return REASONED if len(message.text) >= _LONGEST_CHOICE else ANSWERED

    def _names(self, named: list[str]) -> bool:
        if self._words is None:
            said = set(words_of(" ".join(self._texts)))
            self._words = {word.removesuffix("s") for word in said} if said & COMPARING else set()
        return any(word in self._words for word in named)


def find(
    said: Iterable[Said],
    activity: Activity,
    thresholds: Mapping[str, float],
    *,
    rules: Mapping[str, Rule] = RULES,
    lexicon: Lexicon = _LEXICON,
) -> list[Finding]:
    """Return the findings reaching their category's threshold, the best first. Skip categories without one.

    `rules` and their `lexicon` are parameters for measuring other words than ours.
    """
    text = _Text()
    marks = {category: _Marks() for category in rules if category in thresholds}
    for message in said:
        _mark(message, text, marks, lexicon)
        text.before.add(message.text)
        text.messages += 1
    found = [_text_finding(category, rules[category], marks[category], text) for category in marks]
    if SESSION_SUMMARY in thresholds:
        found.append(_summary_finding(activity))
    kept = [finding for finding in found if finding.score and finding.score >= thresholds[finding.category]]
    return sorted(kept, key=lambda finding: -finding.score)


def bounded(said: Sequence[Said]) -> list[Said]:
    """Return the newest messages up to a total length, long ones without their middle."""
    kept: list[Said] = []
    room = _MOST_TEXT
    for each in reversed(said):
        text = _shortened(each.text)
        room -= len(text)
        if room < 0:
            break
        kept.append(each if text is each.text else Said(each.role, text))
    return kept[::-1]


def _shortened(text: str) -> str:
    """Return a text without its middle, cut at line ends if possible, with code fences kept balanced."""
    if len(text) <= _LONGEST_MESSAGE:
        return text
    half = _LONGEST_MESSAGE // 2
    begin = max(text.rfind("\n", 0, half), 0) or max(text.rfind(" ", 0, half), 0)
    end = text.find("\n", -half)
    if end < 0:
        end = text.find(" ", -half)
    if end < 0:
        end = len(text)
    fence = _FENCE if text.count(_FENCE, begin, end) % 2 else ""
    return f"{text[:begin]}{fence}\n{text[end:]}"


def clean_snippet(text: str) -> str:
    """Return the text on one line of at most 120 characters, without invisible characters and backticks.

    It is stored so. Whoever shows it escapes it: text that is escaped twice is nobody's.
    """
    plain = one_line(text[:_LONGEST_CLEANED].replace("`", ""))
    return plain if len(plain) <= LONGEST_SNIPPET else plain[: LONGEST_SNIPPET - 1].rstrip() + "…"


def shown_snippet(snippet: str) -> str:
    """Return a snippet for a model, with its markup escaped, still of at most 120 characters."""
    safe = unmarked(snippet)
    if len(safe) <= LONGEST_SNIPPET:
        return safe
    cut = safe[: LONGEST_SNIPPET - 1]
    entity = cut.rfind("&")
    if entity >= 0 and ";" not in cut[entity:]:
        cut = cut[:entity]
    return cut.rstrip() + "…"


def _mark(message: Said, text: _Text, marks: Mapping[str, _Marks], lexicon: Lexicon) -> None:
    """Add a message to the text, and mark its sentences by category."""
    speaker = f"{message.role}: "
    lines = spoken_lines(message.text)
    pastes = message.role == "human" and len(lines) > _MOST_TYPED
    for line, masked in lines:
        text.lines.append(speaker + line)
        speaker = ""
        if not is_prose(line, pasted=pastes):
            continue
        for sentence, words in sentences(line, masked):
            at = len(text.sentences)
            text.sentences.append(sentence)
            text.line_of.append(len(text.lines) - 1)
            text.message_of.append(text.messages)
            text.role_of.append(message.role)
            meant = lexicon.meant(words, message.role, text.before.mark(words, message))
            if meant is not None and not (message.role == "assistant" and is_step(words)):
                _mark_sentence(at, meant, marks)
                _mark_plain(at, words, message.role, meant, marks)
            if message.role == "human" and PREFERENCE in marks and is_standing(words):
                _mark_boosted(at, marks[PREFERENCE])


def _mark_sentence(at: int, meant: Meant, marks: Mapping[str, _Marks]) -> None:
    for category, kinds in meant.does.items():
        if category in marks:
            for kind in kinds:
                marks[category].by_kind[kind].add(at)
            if category in meant.boosted:
                marks[category].boosted.add(at)


def _mark_plain(at: int, sentence: str, role: str, meant: Meant, marks: Mapping[str, _Marks]) -> None:
    """Mark a plain statement, also if another phrase silences it. The assistant's own preferences do not count."""
    for category, mark in marks.items():
        is_own = role != "human" and category == PREFERENCE
        if at not in mark.boosted and not is_own and category not in meant.ambiguous and is_plain(sentence, category):
            _mark_boosted(at, mark)


def _mark_boosted(at: int, mark: _Marks) -> None:
    mark.by_kind[PRIMARY].add(at)
    mark.boosted.add(at)


def _text_finding(category: str, rule: Rule, marks: _Marks, text: _Text) -> Finding:
    telling = _telling(marks, text)
    boosted = [at for at in telling if at in marks.boosted or _is_boosted(at, marks, text, rule.reach)][:MOST_BOOSTED]
    telling = sorted({*telling, *_supporting(marks, telling, text)})
    raw = min(len(telling), MOST_PRIMARY) * rule.primary_weight + len(boosted) * rule.boosted_weight
    counted = list(dict.fromkeys([*boosted, *telling]))[:MOST_PRIMARY]
    snippets = dict.fromkeys(clean_snippet(text.sentences[at]) for at in counted)
    windows = _windows([text.line_of[at] for at in telling], text.lines)
    is_whole = any(at in marks.boosted for at in boosted)
    score = max(raw / rule.denominator, rule.one_is_enough if is_whole else 0.0)
    finding = Finding(category, min(1.0, score), list(snippets), windows)
    finding.by_human = {clean_snippet(text.sentences[at]) for at in counted if text.role_of[at] == "human"}
    return finding


def _telling(marks: _Marks, text: _Text) -> list[int]:
    """Return the telling sentences: with a primary sign, or with a boosted or answered weak one."""
    weak = {at for at in marks.by_kind[WEAK] if at in marks.boosted or _is_sure(at, marks, text)}
    return sorted(marks.by_kind[PRIMARY] | weak)


def _is_sure(at: int, marks: _Marks, text: _Text) -> bool:
    """Return True if the same speaker boosts the sentence right before or after it, or the other one answers it."""
    boosters, answers = marks.by_kind[BOOSTER], marks.by_kind[ANSWER]
    speaker = text.role_of[at]
    if any(beside in boosters and text.role_of[beside] == speaker for beside in (at - 1, at + 1)):
        return True
    return any(other in answers and text.role_of[other] != speaker for other in _near(at, text, 1))


def _is_boosted(at: int, marks: _Marks, text: _Text, reach: int) -> bool:
    """Return True if another sentence nearby boosts this one."""
    boosters, answers = marks.by_kind[BOOSTER], marks.by_kind[ANSWER]
    return any(
        other in boosters or (other in answers and text.role_of[other] != text.role_of[at])
        for other in _near(at, text, reach)
    )


def _supporting(marks: _Marks, telling: Iterable[int], text: _Text) -> list[int]:
    """Return the supporting sentences near a telling one."""
    told = set(telling)
    return [at for at in marks.by_kind[SUPPORT] if any(other in told for other in _near(at, text, 1))]


def _near(at: int, text: _Text, reach: int) -> list[int]:
    """Return the sentences nearby, without this one.

    They are at most `reach` messages away: further away the topic is often another one.
    """
    last = len(text.sentences) - 1
    window = range(max(0, at - BOOSTER_SENTENCES), min(last, at + BOOSTER_SENTENCES) + 1)
    here = text.message_of[at]
    return [other for other in window if other != at and abs(text.message_of[other] - here) <= reach]


def _windows(telling: Iterable[int], lines: Sequence[str]) -> list[str]:
    """Return the lines around the telling ones as texts. Overlapping or touching ranges are merged."""
    spans: list[tuple[int, int]] = []
    for at in telling:
        start, end = max(0, at - WINDOW_LINES), min(len(lines), at + WINDOW_LINES + 1)
        if spans and start <= spans[-1][1]:
            start = spans.pop()[0]
        spans.append((start, end))
    return ["\n".join(lines[start:end]) for start, end in spans]


def _summary_finding(activity: Activity) -> Finding:
    uses, tools, exchanges = activity.tool_uses, activity.distinct_tools, activity.exchanges
    score = min(1.0, max(0.0, uses * 0.05 + tools * 0.1 + exchanges * 0.02))
    metrics = f"Tool uses: {uses}\nDistinct tools: {tools}\nExchanges: {exchanges}"
    snippet = f"{uses} tool uses of {tools} distinct tools in {exchanges} exchanges"
    return Finding(SESSION_SUMMARY, score, [snippet], [metrics])
