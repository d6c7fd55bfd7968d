"""What of a session's end is worth remembering: a score for each category, from what was said and what was done."""

from __future__ import annotations

from recollect.domain.phrases import Lexicon
from recollect.domain.text import one_line
from recollect.domain.triage_text import sentences, spoken_lines
from recollect.domain.triage_words import RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recollect.domain.phrases import Rule

SESSION_SUMMARY = "session_summary"

# Sentences before and after a telling one in which a word boosts it; lines around it that are its context.
BOOSTER_SENTENCES = 4
WINDOW_LINES = 10

MOST_PRIMARY = 3
MOST_BOOSTED = 2
LONGEST_SNIPPET = 120

# More of one sentence is not worth cleaning for a snippet.
_LONGEST_CLEANED = 1_000

_LEXICON = Lexicon(RULES)


class Said:
    """One message, and whether a human or the assistant said it."""

    __slots__ = ("role", "text")

    def __init__(self, role: str, text: str) -> None:
        self.role = role
        self.text = text


class Activity:
    """What was done in a session, in numbers."""

    __slots__ = ("distinct_tools", "exchanges", "tool_uses")

    def __init__(self, tool_uses: int, distinct_tools: int, exchanges: int) -> None:
        self.tool_uses = tool_uses
        self.distinct_tools = distinct_tools
        self.exchanges = exchanges


class Finding:
    """A category that has something to remember, the sentences that say so, and the text around them."""

    __slots__ = ("category", "score", "snippets", "windows")

    def __init__(self, category: str, score: float, snippets: list[str], windows: list[str]) -> None:
        self.category = category
        self.score = score
        self.snippets = snippets
        self.windows = windows


class _Text:
    """All that was said: its lines, and for each sentence the line and the message that it is in.

    A message has one line for each paragraph, so what is near and what counts once is measured in sentences.
    """

    __slots__ = ("line_of", "lines", "message_of", "sentences")

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.sentences: list[str] = []
        self.line_of: list[int] = []
        self.message_of: list[int] = []


class _Marks:
    """In which sentences a category is spoken of: the telling ones, and those with boosters."""

    __slots__ = ("boosters", "telling")

    def __init__(self) -> None:
        self.telling: list[int] = []
        self.boosters: set[int] = set()


def find(
    said: Iterable[Said],
    activity: Activity,
    thresholds: Mapping[str, float],
    *,
    rules: Mapping[str, Rule] = RULES,
    lexicon: Lexicon = _LEXICON,
) -> list[Finding]:
    """What reaches its category's threshold, best first; a category without a threshold is not looked for.

    `rules` and their `lexicon` are for measuring other words than ours.
    """
    text = _Text()
    marks = {category: _Marks() for category in rules if category in thresholds}
    for number, message in enumerate(said):
        _mark(message, number, text, marks, lexicon)
    found = [_text_finding(category, rules[category], marks[category], text) for category in marks]
    if SESSION_SUMMARY in thresholds:
        found.append(_summary_finding(activity))
    kept = [finding for finding in found if finding.score and finding.score >= thresholds[finding.category]]
    return sorted(kept, key=lambda finding: -finding.score)


def clean_snippet(text: str) -> str:
    """The text on one line of at most 120 characters, with nothing unseen, no backtick and no markup in it."""
    plain = one_line(text[:_LONGEST_CLEANED].replace("`", ""))
    safe = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if len(safe) <= LONGEST_SNIPPET:
        return safe
    cut = safe[: LONGEST_SNIPPET - 1]
    entity = cut.rfind("&")
    if entity >= 0 and ";" not in cut[entity:]:
        cut = cut[:entity]
    return cut.rstrip() + "…"


def _mark(message: Said, number: int, text: _Text, marks: Mapping[str, _Marks], lexicon: Lexicon) -> None:
    """Add what the message says to the text, and note where a category is spoken of."""
    speaker = f"{message.role}: "
    for line, masked in spoken_lines(message.text):
        text.lines.append(speaker + line)
        speaker = ""
        for sentence, words in sentences(line, masked):
            at = len(text.sentences)
            text.sentences.append(sentence)
            text.line_of.append(len(text.lines) - 1)
            text.message_of.append(number)
            told, boosted = lexicon.meant(words, message.role)
            for category in told and told & marks.keys():
                marks[category].telling.append(at)
            for category in boosted and boosted & marks.keys():
                marks[category].boosters.add(at)


def _text_finding(category: str, rule: Rule, marks: _Marks, text: _Text) -> Finding:
    boosted = _boosted(marks, text.message_of)
    raw = min(len(marks.telling), MOST_PRIMARY) * rule.primary_weight + len(boosted) * rule.boosted_weight
    counted = list(dict.fromkeys([*boosted, *marks.telling]))[:MOST_PRIMARY]
    snippets = dict.fromkeys(clean_snippet(text.sentences[at]) for at in counted)
    windows = _windows([text.line_of[at] for at in marks.telling], text.lines)
    return Finding(category, min(1.0, raw / rule.denominator), list(snippets), windows)


def _boosted(marks: _Marks, message_of: Sequence[int]) -> list[int]:
    """The first telling sentences that have a booster near, as many as count.

    It may stand in the message before or after, but not further on, where the talk is of something else.
    """
    boosted: list[int] = []
    for at in marks.telling:
        near = range(at - BOOSTER_SENTENCES, at + BOOSTER_SENTENCES + 1)
        if any(other in marks.boosters and abs(message_of[other] - message_of[at]) <= 1 for other in near):
            boosted.append(at)
            if len(boosted) == MOST_BOOSTED:
                break
    return boosted


def _windows(telling: Iterable[int], lines: Sequence[str]) -> list[str]:
    """The lines around the telling ones, as texts; those that touch are one."""
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
