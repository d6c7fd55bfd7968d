from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.ranking.terms import STOP_WORDS
from recollect.domain.ranking.title_match import Wording

WORDS = st.sampled_from("auth authentication authority log login the cat cats caterpillar x9 über api apis".split())
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("text", "title", "tags", "score"),
    [
        ("the login", "Login with cookies", [], 2),
        ("login by cookies", "Login with cookies", [], 4),
        ("login", "Something else", ["login"], 3),
        ("login", "Login with cookies", ["login"], 5),
        ("auth", "Authentication by token", [], 1),
        ("auth", "Something else", ["authentication"], 1),
        ("auth", "Authentication and authority", ["authors"], 1),
        ("auth", "Auth and authentication", [], 2),
        ("aut", "Authentication by token", [], 0),
        ("authentication", "Auth by token", [], 0),
        ("LOGIN!", "log-in, login?", [], 2),
        ("login login login", "Login", [], 2),
        ("with and the", "With and the", ["with"], 0),
        ("go db ci", "Go db ci", ["go", "db"], 0),
        ("", "Login", ["login"], 0),
        ("naïve", "na ve", [], 0),
    ],
)
def test_score_counts_title_words_tags_and_beginnings(text: str, title: str, tags: list[str], score: int) -> None:
    assert Wording(text).score(title, tags) == score


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("our rate limit", 3),
        ("our rate-limit", 3),
        ("a limit of the rate", 1),  # "rate" begins the tag
        ("a limit", 0),
    ],
)
def test_tag_of_several_words_is_matched_by_them_in_a_row(text: str, score: int) -> None:
    assert Wording(text).score("Something else", ["rate-limit"]) == score


def test_tag_without_ascii_letters_matches_nothing() -> None:
    assert Wording("größe 大小").score("大小", ["大小", "-", ""]) == 0


def test_text_with_bytes_that_were_no_utf8_is_compared_by_the_rest() -> None:
    assert Wording("login \udcff cookies").score("Login with cookies", []) == 4


@pytest.mark.parametrize("word", "use get go make need want like see know help let please think may yes else".split())
def test_common_verb_matches_no_title(word: str) -> None:
    assert Wording(f"we {word} Kafka").score(f"{word} PostgreSQL", [word]) == 0
    assert Wording(f"we {word} Kafka").score(f"{word} Kafka", []) == 2
    assert word not in STOP_WORDS, "a question may be about it"


def test_stop_words_are_more_than_seventy() -> None:
    assert len(STOP_WORDS) > 70


@given(TEXTS, TEXTS, st.lists(WORDS, max_size=3))
def test_score_is_that_of_the_plain_definition(text: str, title: str, tags: list[str]) -> None:
    def tokens(given: str) -> set[str]:
        return {word for word in re.findall("[a-z0-9]+", given.lower()) if len(word) > 2 and word not in STOP_WORDS}

    tags = [tag for tag in tags if tag.isascii()]
    words, titled = tokens(text), tokens(title)
    exact = words & (titled | set(tags))
    begun = [word for word in words - exact if len(word) > 3 and any(t.startswith(word) for t in titled | set(tags))]
    expected = 2 * len(words & titled) + 3 * len(words & set(tags)) + len(begun)
    assert Wording(text).score(title, tags) == expected
