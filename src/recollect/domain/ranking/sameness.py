"""Tell whether two texts say the same but for case, punctuation, formatting and the article "the".

A merge is never asked about, so the rule is strict: what it does not know makes a difference. Words and their order,
numbers, signs, paths and anything in code stay as they are.
"""

from __future__ import annotations

import re
import unicodedata

# A pause between parts of a sentence. Which sign marks it means nothing, but that there is one does: "No, retry".
_PAUSE = ","

_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+)(.+?)\1")
_STRONG = re.compile(r"(?<![\w*\\])(\*\*|\*)(?=[^\s*])([^*\n]*[^\s*])\1(?![\w*])")
_ITEM = re.compile(r"(?m)^[ \t]*(?:[-*+\u2022][ \t]+(?=[^\W\d_]|`|\*)|#{1,6}[ \t]+)")
_BREAK = re.compile(r"\n[ \t]*\n\s*")
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " "})
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00ab": '"', "\u00bb": '"'})

# Signs at the end of a word that mark a pause, and those around words that mean nothing.
_ENDS = ".,;:!"
_DASHES = ("-", "--", "\u2013", "\u2014")

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
    text = unicodedata.normalize("NFC", text).translate(_SPACES).replace("\r\n", "\n")
    found: list[str] = []
    place = 0
    for fence in _FENCE.finditer(text):
        found += [*_prose(text[place : fence.start()]), f"\n{fence[2].rstrip()}"]
        place = fence.end()
    found += _prose(text[place:])
    return tuple(_without_idle_pauses(_without_articles(found)))


def _prose(text: str) -> list[str]:
    """Return the words and pauses of a text without code blocks. A word in code has a mark before it."""
    text = _BREAK.sub(" \x00 ", _ITEM.sub(" \x00 ", text))
    found: list[str] = []
    place = 0
    for code in _CODE.finditer(text):
        before, after = text[place : code.start()], text[code.end() : code.end() + 1]
        glued = (before and not before[-1].isspace() and before[-1] not in "(\"'*") or (
            after and not after.isspace() and after not in ".,;:!?)\"'*"
        )
        found += _words(before)
        found += [f"\x01{word}" for word in code[2].split()]
        if glued:  # `run`ning is neither of the two
            found.append("\x02")
        place = code.end()
    return found + _words(text[place:])


def _words(text: str) -> list[str]:
    text = _STRONG.sub(r"\2", text).translate(_QUOTES)
    found: list[str] = []
    raw = text.replace("\u2014", " \u2014 ").split()
    for at, word in enumerate(raw):
        if word == "\x00":
            found.append(_PAUSE)
        elif word in _DASHES:
            around = [*raw[max(0, at - 1) : at], *raw[at + 1 : at + 2]]
            found.append(_PAUSE if all(_is_word(each) for each in around) else word)
        else:
            found += _word(word)
    return found


def _is_word(text: str) -> bool:
    bare = text.strip("\"'()" + _ENDS)
    return len(bare) > 1 and bare.isalpha()


def _word(word: str) -> list[str]:
    """Return a word with the pauses before and after it."""
    before: list[str] = []
    after: list[str] = []
    while len(word) > 1:
        if word.strip("\"'") not in ("", word):
            word = word.strip("\"'")
        elif word[0] == "(" and word.count("(") > word.count(")"):
            word, before = word[1:], [*before, _PAUSE]
        elif word[0] + word[-1] == "()" and word[1:-1].isalpha():
            word, before, after = word[1:-1], [*before, _PAUSE], [_PAUSE, *after]
        elif word.endswith("...") and word[:-3].isalpha():
            word, after = word[:-3], [_PAUSE, *after]
        elif word[-1] == ")" and word.count(")") > word.count("("):
            word, after = word[:-1], [_PAUSE, *after]
        elif word[-1] == "?" and word[:-1].strip("'\")").isalpha():
            word, after = word[:-1], ["?", *after]
        elif word[-1] in _ENDS and _ends(word):
            word, after = word[:-1], [_PAUSE, *after]
        else:
            break
    said = word.lower()
    if said in ("...", "\u2026", *_ENDS, '"', "'", "(", ")"):
        return [*before, _PAUSE, *after]
    return [*before, *_CONTRACTED.get(said, (said,)), *after]


def _ends(word: str) -> bool:
    """Return True if the last sign of a word is one of the sentence, not of the word: in "n!" and "std::" it is not."""
    if word[-1] == "!":
        return len(word) > 2 and word[:-1].isalpha()
    return word[-2:] not in ("::", "..") and word not in _DASHES


def _without_articles(words: list[str]) -> list[str]:
    """Leave out "the" where it only leads to a noun, and unmark words in code."""
    found: list[str] = []
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        before = words[at - 1] if at else ""
        if word == "the" and following.isalpha() and not {following, before} & _THE_TELLS and before != "at":
            continue
        found.append(word.removeprefix("\x01").lower() if word.startswith("\x01") else word)
    return found


def _without_idle_pauses(words: list[str]) -> list[str]:
    """Return words without pauses at the beginning and at the end, and with one where several follow each other."""
    found: list[str] = []
    for word in words:
        if word != _PAUSE or (found and found[-1] not in (_PAUSE, "?")):
            found.append(word)
    while found and found[-1] == _PAUSE:
        found.pop()
    return found
