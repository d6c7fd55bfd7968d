"""Tell whether two texts say the same but for punctuation, formatting, the article "the" and a sentence's capital.

A merge is never asked about, so the rule is strict: what it does not know makes a difference. Words, their case and
their order, numbers, signs, quotation marks, paths and anything in code stay as they are.
"""

from __future__ import annotations

import re

from recollect.domain.ranking.common_words import is_common
from recollect.domain.ranking.terms import STOP_WORDS

# A pause between parts of a sentence, and the end of one. Which sign marks it means nothing, but that there is one
# does: "No, retry". They are compared as one, because a list has no full stops.
_PAUSE = ","
_END = "."

_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+)(.+?)\1")
_STRONG = re.compile(r"(?<![\w*\\])(\*\*|\*)(?=\w)([^*\n]*\w[.?!]?)\1(?![\w*])")
# A star before a small letter may be a pattern instead of a bullet, and a line below "# " makes it a comment.
_ITEM = re.compile(
    r"(?m)^[ \t]*(?:[-+\u2022][ \t]+(?=[^\W\d_]|`|\*)|\*[ \t]+(?=[A-Z]|`|\*)"
    r"|#{1,6}[ \t]+(?=[^\n]*(?:\n[ \t]*\n|\s*\Z)))"
)
_BREAK = re.compile(r"\n[ \t]*\n\s*")
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " "})
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00ab": '"', "\u00bb": '"'})

# Signs at the end of a word that mark a pause or the end of a sentence.
_PAUSES = ",;"
_ENDS = ".:"

# After these, or before them, "the" is part of what is said: "the few", "out of the question".
_THE_TELLS = frozenset("few little least last most first number question same one other only who future".split())
_CONTRACTED = {
    "don't": ("do", "not"),
    "doesn't": ("does", "not"),
    "didn't": ("did", "not"),
    "isn't": ("is", "not"),
    "aren't": ("are", "not"),
    "wasn't": ("was", "not"),
    "weren't": ("were", "not"),
    "won't": ("will", "not"),
    "shouldn't": ("should", "not"),
    "mustn't": ("must", "not"),
    "can't": ("cannot",),
}


def same_text(one: str, other: str) -> bool:
    """Return True if two texts say the same, word for word."""
    return normal_form(one) == normal_form(other)


def normal_form(text: str) -> tuple[str, ...]:
    """Return a text as its words, pauses and pieces of code: equal results say the same."""
    text = text.replace("\r\n", "\n")
    found: list[str] = []
    place = 0
    for fence in _FENCE.finditer(text):
        found += [*_prose(text[place : fence.start()]), f"\n{fence[2].rstrip()}"]
        place = fence.end()
    found += _prose(text[place:])
    return tuple(_without_idle_pauses(_without_articles(_without_capitals(found))))


def _prose(text: str) -> list[str]:
    """Return the words and pauses of a text without code blocks.

    A word or a space in code has a mark before it, because outside it may mean something else.
    """
    text = _BREAK.sub(" \x00 ", _ITEM.sub(" \x00 ", text))
    found: list[str] = []
    place = 0
    for code in _CODE.finditer(text):
        before, after = text[place : code.start()], text[code.end() : code.end() + 1]
        glued = (before and not before[-1].isspace() and before[-1] not in "(*") or (
            after and not after.isspace() and after not in ".,;:!?)*"
        )
        is_plain = code[2].isalpha() or len(code[2].split()) != 1 or code[2] != code[2].strip()
        found += [*_words(before), f"\x01{code[2]}" if is_plain else code[2]]
        if glued:  # `run`ning is neither of the two
            found.append("\x02")
        place = code.end()
    return found + _words(text[place:])


def _words(text: str) -> list[str]:
    text = _STRONG.sub(r"\2", text).translate(_SPACES).translate(_QUOTES)
    return [part for word in text.split() for part in ((_END,) if word == "\x00" else _word(word))]


def _word(word: str) -> list[str]:
    """Return a word with the pauses before and after it. A sign that stands alone is a word."""
    before: list[str] = []
    after: list[str] = []
    while len(word) > 1:
        if word[0] == "(" and word.count("(") > word.count(")"):
            word, before = word[1:], [*before, "("]
        elif word[0] + word[-1] == "()" and word[1:-1].isalpha():
            word, before, after = word[1:-1], [*before, "("], [")", *after]
        elif word.endswith("...") and word[:-3].isalpha():
            word, after = word[:-3], [_PAUSE, *after]
        elif word[-1] == ")" and word.count(")") > word.count("("):
            word, after = word[:-1], [")", *after]
        elif word[-1] == "?" and word[:-1].strip("'\")").isalpha():
            word, after = word[:-1], ["?", *after]
        elif word[-1] in _PAUSES + _ENDS and _ends(word):
            word, after = word[:-1], [_PAUSE if word[-1] in _PAUSES else _END, *after]
        else:
            break
    alone = word in (_PAUSE, _END)  # a sign that is spoken of
    return [*before, f"\x01{word}" if alone else word, *after]


def _ends(word: str) -> bool:
    """Return True if the last sign of a word is one of the sentence, not of the word: in "std::" it is not."""
    return word[-2:] not in ("::", "..") and any(map(str.isalnum, word))


def _without_capitals(words: list[str]) -> list[str]:
    """Write the first word of each sentence small, if it is an everyday word and no name, and contractions in full."""
    found: list[str] = []
    for at, word in enumerate(words):
        begins = not at or words[at - 1] in (_END, "?")
        if begins and word[1:] == word[1:].lower() and _is_everyday(word.lower()):
            word = word.lower()  # noqa: PLW2901
        found += _CONTRACTED.get(word, (word,))
    return found


def _is_everyday(word: str) -> bool:
    return word in STOP_WORDS or word in _CONTRACTED or is_common(word) or is_common(word.removesuffix("s"))


def _without_articles(words: list[str]) -> list[str]:
    """Leave out "the" where it only leads to a noun."""
    found: list[str] = []
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        before = words[at - 1] if at else ""
        tells = {following.lower(), before.lower()} & _THE_TELLS
        if word == "the" and following.isalpha() and not tells and before != "at":
            continue
        found.append(word)
    return found


def _without_idle_pauses(words: list[str]) -> list[str]:
    """Return words without the pauses at the beginning, a full stop at the end, and pauses that follow another."""
    while words and words[-1] == _END:
        words = words[:-1]
    found: list[str] = []
    for word in (_PAUSE if word == _END else word for word in words):
        if word != _PAUSE or (found and found[-1] not in (_PAUSE, "?")):
            found.append(word)
    return found
