"""Arguments of calls: what is used, what is refused, and with which words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import InvalidEntry
from recollect.mcp.arguments import Arguments
from recollect.mcp.schemas import GET, LIST, SEARCH, STORE

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def search(**more: Any) -> Arguments:
    return Arguments(SEARCH, {"query": "x", **more})


@pytest.mark.parametrize(("value", "number"), [(5, 5), ("5", 5), (" 7 ", 7), (5.0, 5), (None, 10)])
def test_numbers_are_understood_in_the_forms_that_clients_send(value: object, number: int) -> None:
    assert search(limit=value).number("limit", 1, 50, 10) == number


@pytest.mark.parametrize("value", [0, 51, "5.5", "five", True, [], {}, -1, "9" * 5000, float("nan"), "²"])
def test_numbers_that_are_none_or_out_of_bounds_are_refused(value: object) -> None:
    with pytest.raises(InvalidEntry, match=r"^limit must be "):
        search(limit=value).number("limit", 1, 50, 10)


def test_number_that_is_too_long_to_be_shown_is_refused() -> None:
    with pytest.raises(InvalidEntry, match="limit must be between 1 and 50, not a number"):
        search(limit=10**5000).number("limit", 1, 50, 10)


def test_half_characters_do_not_get_through() -> None:
    assert Arguments(SEARCH, {"query": "a\ud83d"}).text("query") == "a?"
    assert Arguments(GET, {"ids": ["a\ud83d"]}).texts("ids", 20) == ["a?"]


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (["a", "b"], ["a", "b"]),
        ("a", ["a"]),
        (' ["a", "b"]', ["a", "b"]),
        ("[]", []),
        ("[ ] write tests", ["[ ] write tests"]),
        ("[" * 100_000, ["[" * 100_000]),
        (f"[{'9' * 5000}]", [f"[{'9' * 5000}]"]),
        (None, []),
    ],
)
def test_lists_are_understood_in_the_forms_that_models_send(value: object, texts: list[str]) -> None:
    assert Arguments(STORE, {"triggers": value}).texts("triggers", 5) == texts


def test_list_of_other_things_in_a_text_is_refused_like_any_other() -> None:
    with pytest.raises(InvalidEntry, match="triggers must be a list of texts"):
        Arguments(STORE, {"triggers": '[1, {"a": "b"}]'}).texts("triggers", 5)


def test_text_in_a_list_that_is_far_too_long_is_refused_for_its_length() -> None:
    with pytest.raises(InvalidEntry, match="ids has a text of more than 100,000 characters"):
        Arguments(GET, {"ids": ["a" * 100_001]}).texts("ids", 20)
    with pytest.raises(InvalidEntry, match="ids must be a list of texts"):
        Arguments(GET, {"ids": [1]}).texts("ids", 20)


def test_choice_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(InvalidEntry, match="did you mean 'archived'"):
        Arguments(LIST, {"status": "Archive"}).choice("status", ("active", "retired", "archived"), "active")


def test_what_is_repeated_of_a_wrong_argument_is_short_and_on_one_line() -> None:
    with pytest.raises(InvalidEntry) as failure:
        Arguments(SEARCH, {"query": "x", "evil\n" * 1000: 1})
    assert len(str(failure.value)) < 200
    assert "\n" not in str(failure.value)


@given(st.dictionaries(st.sampled_from(["name", "description", "references", "category", "x"]), JSON))
def test_anything_is_either_used_or_refused(given: dict[str, Any]) -> None:
    said = ""
    try:
        arguments = Arguments(STORE, {"reasoning": "r", **given})
        texts = [arguments.text(name) for name in ("name", "description", "category")]
        assert all(isinstance(text, str) for text in [*texts, *arguments.texts("references", 50)])
    except InvalidEntry as refusal:
        said = str(refusal)
    assert len(said) < 300
