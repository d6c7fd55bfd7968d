# hot
"""Terms for full-text search: the terms of a query, and extra terms for the index.

The index splits text at everything but letters and digits, so it finds snake_case and paths by their parts. This module
splits the rest: camelCase, and scripts without spaces between words. It also keeps what the index loses: the signs in
the names of languages, without which C# and C++ are the letter c.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Words without a meaning of their own in a question.
STOP_WORDS = frozenset(
    (
        "a about above after again all also am an and any are aren as at be because been before being below "
        "between both but by can cannot could couldn d did didn do does doesn doing don down during each "
        "either few for from further had hadn has hasn have haven having he her here hers herself him himself "
        "his how i if in into is isn it its itself just ll m me might more most must my myself no nor not now "
        "o of off on once only or other our ours ourselves out over own re s same shall she should shouldn so "
        "some such t than that the their theirs them themselves then there these they this those through to "
        "too under until up upon us ve very was wasn we were weren what when where which while who whom whose "
        "why will with won would wouldn y you your yours yourself yourselves "
    ).split()
)

_MOST_WORDS = 20_000

# Names with a sign, and the terms that stand for them.
_SIGNED = {"c#": "csharp", "c++": "cplusplus", "f#": "fsharp"}

# First and last characters of scripts written without spaces.
_UNSPACED = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Burmese
    ("\u1780", "\u17ff"),  # Khmer
    ("\u3040", "\u30ff"),  # Hiragana, Katakana
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),  # Han
    ("\uac00", "\ud7af"),  # Hangul
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003134f"),
)


def query_terms(text: str) -> list[str]:
    """Return the terms of a question, lowercase, in order, each once; stop words only if there is nothing else."""
    terms = dict.fromkeys(term for word in _words(text) for term in _terms_of(word))
    terms |= dict.fromkeys(_signed(text))
    telling = [term for term in terms if term not in STOP_WORDS]
    return telling or list(terms)


def index_terms(*texts: str) -> str:
    """Return the terms to index beside the texts: parts of camelCase, pairs of unspaced characters, signed names."""
    found: dict[str, None] = {}
    for text in texts:
        found |= dict.fromkeys(_signed(text))
        if text.isascii() and text.islower():
            continue
        glued = not text.isascii() and any(char > "\u2000" and not char.isalnum() for char in text)
        for word in _words(text):
            if glued:  # the index takes newer symbols for letters, and they hide the words beside them
                found[word.lower()] = None
            if not word.isascii() and any(map(is_unspaced, word)):
                found.update(dict.fromkeys(_grams(word, single=True)))
            elif not (word.islower() or word.isupper()):
                found.update(dict.fromkeys(camel_parts(word)))
    return " ".join(found)


def camel_parts(word: str) -> list[str]:
    """Return the lowercase parts of a camelCase word; nothing for a word with only one part."""
    starts = [0]
    for index in range(1, len(word)):
        before, char = word[index - 1], word[index]
        after = word[index + 1 : index + 2]
        if char.isupper() and (not before.isupper() or after.islower()):
            starts.append(index)
    parts = [word[start:end].lower() for start, end in zip(starts, [*starts[1:], len(word)], strict=True)]
    return parts if len(parts) > 1 else []


def _words(text: str) -> list[str]:
    # Combining accents are part of the word.
    spaced = "".join([char if char.isalnum() or "\u0300" <= char <= "\u036f" else " " for char in text])
    return spaced.split(None, _MOST_WORDS)[:_MOST_WORDS]


def _signed(text: str) -> Iterator[str]:
    """Yield the terms for the names with a sign in the text."""
    if "#" not in text and "++" not in text:
        return
    lower = f" {text.lower()}"
    for name, term in _SIGNED.items():
        at = lower.find(name)
        while at > 0 and lower[at - 1].isalnum():  # the end of another word, as in libc++
            at = lower.find(name, at + 1)
        if at > 0:
            yield term


def _terms_of(word: str) -> Iterator[str]:
    if not word.isascii() and any(map(is_unspaced, word)):
        yield from _grams(word, single=False)
        return
    yield word.lower()
    if not (word.islower() or word.isupper()):
        yield from camel_parts(word)


def _grams(word: str, *, single: bool) -> Iterator[str]:
    """Yield pairs of neighbours in the word's unspaced runs, and the parts between. With `single`, characters too."""
    start = 0
    while start < len(word):
        unspaced = is_unspaced(word[start])
        end = start + 1
        while end < len(word) and is_unspaced(word[end]) == unspaced:
            end += 1
        run = word[start:end].lower()
        if not unspaced or len(run) == 1:
            yield run
        else:
            if single:
                yield from run
            yield from (run[at : at + 2] for at in range(len(run) - 1))
        start = end


def is_unspaced(char: str) -> bool:
    """Return True if a character belongs to a script written without spaces."""
    return char >= "\u0e00" and any(first <= char <= last for first, last in _UNSPACED)
