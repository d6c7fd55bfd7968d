# hot
"""Shortcomings of a search or a choice: codes with data, put into words for people and for models."""

from __future__ import annotations

# The search or the choice was worse than it could be.
LOADING = "loading"  # the local model is not in memory yet
NO_VECTOR = "no_vector"  # the query could not be embedded
NO_FULL_TEXT = "no_full_text"
STALE = "stale"  # the store could not be written
READING = "reading"  # a bank of the repository is being read
MARKDOWN_ONLY = "markdown_only"  # the store could not be used
PENDING = "pending"  # entries without a vector are found by their words
UNFOUND = "unfound"  # entries without a vector are not found at all
SKIPPED = "skipped"  # vectors of the wrong size

# Nothing was found.
EMPTY_QUERY = "empty_query"
NO_WORDS = "no_words"
NOTHING_STORED = "nothing_stored"
NOT_SEARCHED = "not_searched"
SWITCHED_OFF = "switched_off"
ELSEWHERE = "elsewhere"  # other projects or categories have matches
NO_MATCH = "no_match"
WITHHELD = "withheld"

_SENTENCES = {
    LOADING: "{error}",
    NO_VECTOR: "{error}",
    NO_FULL_TEXT: "fts5 unavailable in this Python's SQLite",
    STALE: "the newest changes to files are missing, the store could not be written",
    READING: "{error}",
    MARKDOWN_ONLY: "{error}",
    PENDING: "{pending} of {total} entries have no vector yet and are found by their words only; {reembed}",
    UNFOUND: "{pending} of {total} entries have no vector yet and are not found; {reembed}",
    SKIPPED: "{skipped} vectors have the wrong size and were skipped; {reembed}",
    EMPTY_QUERY: "the query is empty",
    NO_WORDS: "nothing matched: the query has no words",
    NOTHING_STORED: "nothing is stored yet; {store} adds an entry, and knowledge banks are read by themselves",
    NOT_SEARCHED: "nothing was searched: {causes}",
    SWITCHED_OFF: "both ways of searching are switched off",
    ELSEWHERE: "filtered out: {outside} of {total} {noun} match, all of other projects or categories; {everywhere}",
    NO_MATCH: "nothing matched: none of {total} {noun} is about this",
    WITHHELD: "what matches best is withheld ({count}); `recollect doctor` names it",
}
_REEMBED = "`recollect reembed` makes them all"
_PEOPLE = {"store": "`recollect add`", "everywhere": "--all-projects searches them all"}
_MODELS = {"store": "store_memory", "everywhere": 'project "all" searches them all'}

# The remaining way of searching. Models are told, to judge the results.
_FOUND_BY = {LOADING: "words", NO_VECTOR: "words", NO_FULL_TEXT: "meaning"}


class Degradation:
    """A shortcoming: its code, and the data for its sentence."""

    def __init__(self, code: str, **data: object) -> None:
        self.code = code
        self.data = data

    def __str__(self) -> str:
        """Return the sentence for people."""
        return self._said(_PEOPLE)

    def for_models(self) -> str:
        """Return the sentence for models: tools instead of commands, and how the results were found."""
        found = f"found by {_FOUND_BY[self.code]} only: " if self.code in _FOUND_BY else ""
        return found + self._said(_MODELS)

    def _said(self, words: dict[str, str]) -> str:
        noun = "entry" if self.data.get("total") == 1 else "entries"
        return _SENTENCES[self.code].format(noun=noun, reembed=_REEMBED, **words, **self.data)
