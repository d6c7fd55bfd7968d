from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.word_diff import ADDED, REMOVED, SAME, word_diff

WORDS = st.lists(st.sampled_from("abcde"), max_size=12).map(" ".join)


def test_words_of_both_and_of_each_are_told_apart() -> None:
    found = word_diff("retry five times", "retry three times now")
    assert found == [(SAME, "retry"), (REMOVED, "five"), (ADDED, "three"), (SAME, "times"), (ADDED, "now")]


@given(WORDS, WORDS)
def test_both_texts_can_be_put_together_again(one: str, other: str) -> None:
    parts = word_diff(one, other)
    assert " ".join(text for op, text in parts if op != ADDED) == one
    assert " ".join(text for op, text in parts if op != REMOVED) == other
