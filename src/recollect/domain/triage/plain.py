# hot
"""Plain statements: sentences that score twice by the words that the scoring was first described with."""

from __future__ import annotations

from itertools import pairwise

from recollect.domain.triage.phrases import words_of
from recollect.domain.triage.words import CLASSES

# The words that the scoring was first described with: a sign of each category, and what makes it stronger.
_FIRST_WORDS = {
    "decision": (
        "decided|chose|selected|went with|picked",
        "because|due to|reason|rationale|over|instead of|rather than",
    ),
    "runbook": (
        "error|exception|traceback|stack trace|failed|failure|crash",
        "fixed by|resolved|root cause|solution|workaround|the fix",
    ),
    "constraint": (
        "limitation|api limit|cannot|restricted|not supported|quota|rate limit",
        "discovered|found that|turns out|permanently|enduring|platform",
    ),
    "tech_debt": (
        "todo|deferred|tech debt|workaround|hack|will address later|technical debt",
        "because|for now|temporary|acknowledged|deferring|cost|risk",
    ),
    "preference": (
        "always use|prefer|convention|from now on|standard|never use|established",
        "agreed|going forward|consistently|rule|practice|workflow",
    ),
}


# Words that ask to remember a statement, or say that it holds from now on: anywhere in it, and at its beginning.
_STANDING = "from now on|from here on|going forward|as a rule|our convention|our rule|house rule|remember that"
_BEGINNINGS = (
    "for future reference|for the future|keep in mind|bear in mind|make a note|take note"
    "|you should know|be aware|remember we|remember the|remember our|remember this|we always|we never"
    "|dont ever|do not ever|never ever"
)
# The user does not want a thing ("I don't want setup.py, just pyproject.toml"); not "to" do something now.
_UNWANTED = ("i dont want", "i do not want", "we dont want", "we do not want")
_IN_FUTURE = ("in future,", "in the future,")
# Words before a statement begins.
OPENERS = frozenset("please pls ok okay and so also but btw yes no hey claude hm hmm wait well just then now".split())
_ALWAYS = ("always", "never")
_DO = frozenset(CLASSES["DO"].split())
# "This project" means more than the matter at hand, as all of these do; "this function" means just that.
_LASTING = frozenset("project repo repository codebase team company app product service monorepo".split())

# The agent's words for its next step ("Now let's run the tests again:"), after words that only lead to it.
_LEADS = OPENERS | frozenset("first next finally great perfect good excellent since that lastly again".split())
_STEPS = (
    *("let me", "lets run", "lets check", "lets see", "lets try", "lets fix", "lets look", "lets start", "lets create"),
    *("lets update", "lets test", "lets verify", "lets examine", "lets find", "lets search", "lets install"),
    *("lets make", "lets add", "lets modify", "lets continue", "lets write", "lets build", "lets do", "lets explore"),
    *("i need to", "we need to", "i see", "i understand", "i apologize", "i apologise", "youre right", "im going to"),
)

# The first word of a request of the user, who wants it done now. "Use", "keep" and "do not" may hold for longer.
_TASKS = frozenset(
    "implement analyze analyse make create add update fix move remove read check look build show change rewrite clean"
    " continue generate test try explain set replace rename delete split turn review start improve adjust fold write"
    " proceed incorporate refactor convert extend finish merge rerun".split()
)

# In a sentence with one of these, the words may say the opposite, or nothing yet.
_DOUBTS = frozenset("if whether unless yet havent hasnt didnt would could should might maybe perhaps".split())


def is_plain(sentence: str, category: str) -> bool:
    """Return True if a statement has a first word of its category and a stronger one, and nothing casts doubt on it."""
    words = words_of(sentence)
    if _is_question(sentence) or not _DOUBTS.isdisjoint(words):
        return False
    text = f" {' '.join(words)} "
    return all(
        any(f" {word} " in text for word in words.split("|")) for words in _FIRST_WORDS.get(category, ("\0", "\0"))
    )


def is_standing(sentence: str) -> bool:
    """Return True if a statement of the user asks to be remembered, or says that it holds from now on."""
    words = words_of(sentence)[1:-1]
    if _is_question(sentence):
        return False
    if words[:2] == ["please", "note"] or sentence.lower().startswith(_IN_FUTURE):
        return True
    while words and words[0] in OPENERS:
        words = words[1:]
    if any(word == "this" and after not in _LASTING for word, after in pairwise([*words, ""])):
        return False
    if len(words) > 1 and words[0] in _ALWAYS and words[1] in _DO:
        return True
    text = f" {' '.join(words)} "
    if any(text.startswith(f" {phrase} ") and not text.startswith(f" {phrase} to ") for phrase in _UNWANTED):
        return True
    return any(f" {phrase} " in text for phrase in _STANDING.split("|")) or any(
        text.startswith(f" {phrase} ") for phrase in _BEGINNINGS.split("|")
    )


def is_request(sentence: str) -> bool:
    """Return True if a sentence of the user asks for something to be done now, or is an item of a list of that."""
    if sentence.lstrip("-* ").startswith("[ ]"):
        return True
    words = words_of(" ".join(part for part in sentence.split() if not part.startswith("@")))[1:-1]
    while words and (words[0] in OPENERS or words[0] == "then"):
        words = words[1:]
    return bool(words) and words[0] in _TASKS


def is_step(sentence: str) -> bool:
    """Return True if a sentence of the agent announces its next step."""
    words = words_of(sentence)[1:-1]
    while words and words[0] in _LEADS:
        words = words[1:]
    return f"{' '.join(words[:3])} ".startswith(tuple(f"{step} " for step in _STEPS))


def _is_question(sentence: str) -> bool:
    return sentence.rstrip().endswith("?")
