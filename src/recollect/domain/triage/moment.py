# hot
"""Decide whether the end of a turn is the moment to ask what was learned.

Most turns teach nothing that lasts, and no rule finds what does. So the agent is asked after some work, when
the matter is settled, or at once if the user has said something plainly.
"""

from __future__ import annotations

from recollect.domain.categories import DECISION, PROJECT, SESSION_SUMMARY
from recollect.domain.triage.phrases import words_of
from recollect.domain.triage.plain import OPENERS, is_plain, is_request, is_standing
from recollect.domain.triage.said import is_prose, sentences, spoken_lines
from recollect.domain.triage.score import Activity, Said, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from recollect.domain.triage.score import Finding
    from recollect.domain.triage.signs import Step

# So many tool uses are as much work as a prompt.
USES_FOR_A_PROMPT = 6

# Words find something in most sessions. They are evidence if they are of so many categories, or after so many times as
# much work.
_FEWEST_CATEGORIES = 3
_LONGER = 2

# A plain statement of the user: its score, and the size of a message beyond which it is a paste.
PLAIN_SCORE = 0.8
LONGEST_STATEMENT = 600
_MOST_LINES = 6

# A sentence of fewer words says too little by itself. One that begins like these asks something, or points at what
# the user sees ("there are two warnings left").
_FEWEST_WORDS = 4
_MOST_STATEMENTS = 10
_NOW = frozenset(
    "is are was do does did can could should would shall has had why what whats how hows where wheres which who whos am"
    " isnt arent doesnt didnt couldnt wouldnt shouldnt there theres".split()
)
_REQUESTS = (" can you ", " could you ", " would you ", " can we ", " could we ")

# An answer that ends with a question or an offer leaves the matter open.
_END = 160
_OFFERS = ("want me to", "let me know", "should i ", "shall i ", "would you like", "do you want")

# The tool by which an agent stores a memory; and the letters of a word that says little.
_STORE = "store_memory"
_SHORT = 3

_NO_ACTIVITY = Activity(0, 0, 0)

# The categories that a sentence of the user can be of.
_STATED = frozenset(category for category in PROJECT if category != SESSION_SUMMARY)


def is_moment(
    said: Sequence[Said], tool_uses: int, thresholds: Mapping[str, float], enough: int, findings: Sequence[Finding] = ()
) -> bool:
    """Return True if the user spoke plainly, or enough was done with evidence, and the matter is settled.

    `enough` is a number of prompts, or of six times as many tool uses. If a summary is due, the stop is held anyway.
    """
    prompts = list({each.text: each for each in said if each.role == "human"}.values())  # one sent again counts once
    answer = next((each.text for each in reversed(said) if each.role == "assistant"), "")
    done = len(prompts) + tool_uses / USES_FOR_A_PROMPT
    is_enough = done >= enough or any(finding.category == SESSION_SUMMARY for finding in findings)
    if is_enough and _is_evident(findings, is_long=done >= _LONGER * enough) and not is_open(answer):
        return True
    return any(
        finding.score >= PLAIN_SCORE
        or any(is_plain(text, finding.category) or is_standing(text) for text in finding.snippets)
        for finding in find(filter(_is_short, prompts), _NO_ACTIVITY, thresholds)
    )


def _is_evident(findings: Iterable[Finding], *, is_long: bool) -> bool:
    """Return True if the work shows that something was learned, or words do: plain ones, or enough of them."""
    told = [finding for finding in findings if finding.category != SESSION_SUMMARY]
    if len(told) >= (1 if is_long else _FEWEST_CATEGORIES):
        return True
    plain = (text for finding in told for text in finding.snippets if is_plain(text, finding.category))
    return any(finding.evidence for finding in told) or any(plain)


def keep_plain(findings: Iterable[Finding]) -> None:
    """Keep only the plainest sentences as hints: the agent has heard all of them, and noise would mislead it."""
    for finding in findings:
        if finding.category != SESSION_SUMMARY:
            finding.snippets = [
                text
                for text in finding.snippets
                if is_plain(text, finding.category) or (text in finding.by_human and is_standing(text))
            ]


def statements(said: Iterable[Said]) -> dict[str, str]:
    """Return the sentences to judge by their meaning, each with its message: the user's newest, without questions."""
    found: dict[str, str] = {}
    for each in said:
        if each.role == "human" and _is_short(each):
            for line, masked in spoken_lines(each.text):
                if is_prose(line, pasted=False):
                    found |= {text.strip(): each.text for text, words in sentences(line, masked) if may_last(words)}
    return dict(list(found.items())[-_MOST_STATEMENTS:])


def _is_short(message: Said) -> bool:
    return len(message.text) <= LONGEST_STATEMENT and message.text.count("\n") < _MOST_LINES


def category_of(statement: str, open_to: Set[str]) -> str:
    """Return the category of a user's lasting statement, or an empty string if that may be one that is not open.

    Its words tell, by those of all categories. Without any it is called a decision, as most are; it may be of any
    category, so all have to be open.
    """
    found = find([Said("human", statement)], _NO_ACTIVITY, dict.fromkeys(_STATED, 0.0))
    if found:
        return found[0].category if found[0].category in open_to else ""
    return DECISION if open_to >= _STATED else ""


def may_last(sentence: str) -> bool:
    """Return True unless a sentence is too short, a question, or a request."""
    words = words_of(sentence)[1:-1]
    while words and words[0] in OPENERS:
        words = words[1:]
    text = f" {' '.join(words)} "
    is_asking = sentence.rstrip().endswith("?") or any(phrase in text for phrase in _REQUESTS)
    return len(words) >= _FEWEST_WORDS and words[0] not in _NOW and not is_asking and not is_request(sentence)


def unstored(said: Sequence[Said], steps: Sequence[Step]) -> list[Said]:
    """Return the messages without those of the user of which the agent has stored most words by itself."""
    stored = [step.given for step in steps if step.tool.endswith(_STORE) and step.error is None]
    told = {word for given in stored for value in given.values() for word in words_of(str(value))}
    return [each for each in said if not (told and each.role == "human" and _is_among(each.text, told))]


def _is_among(text: str, told: Set[str]) -> bool:
    words = {word for word in words_of(text) if len(word) > _SHORT}
    return bool(words) and 2 * len(words & told) >= len(words)


def is_open(answer: str) -> bool:
    """Return True if an answer ends by asking the user something."""
    end = answer.rstrip()[-_END:].lower()
    return end.endswith("?") or "? " in end or "?\n" in end or any(offer in end for offer in _OFFERS)
