import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import UnsafeEdit
from recollect.files.json_edit import remove_value, set_value

KEYS = st.one_of(st.sampled_from(["a", "b", "memory_injection_limit", 'quo"te', "back\\slash", "é😀", ""]), st.text())
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.sampled_from(["{", "}", ",", '"', "\\", "a: {b"]),
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
objects = st.dictionaries(KEYS, values, max_size=5)


@st.composite
def written(draw: st.DrawFn, document: dict[str, Any]) -> str:
    text = json.dumps(
        document,
        indent=draw(st.sampled_from([None, 0, 2, 4, "\t"])),
        ensure_ascii=draw(st.booleans()),
        separators=draw(st.sampled_from([None, (",", ":"), (" , ", " : ")])),
    )
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\ufeff", " \n"])) + text + draw(st.sampled_from(["", "\n", "\r\n  "]))


@st.composite
def documents(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    document = draw(objects)
    return document, draw(written(document))


@st.composite
def paths(draw: st.DrawFn, document: dict[str, Any]) -> list[str]:
    """A path that may lead anywhere in the document, or nowhere."""
    path: list[str] = []
    here: Any = document
    for _ in range(draw(st.integers(1, 3))):
        known = sorted(here) if isinstance(here, dict) else []
        path.append(draw(st.one_of(st.sampled_from(known), KEYS) if known else KEYS))
        here = here.get(path[-1]) if isinstance(here, dict) else None
    return path


def load(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


def kept(before: str, after: str) -> int:
    """How many characters two texts share at their beginning and at their end."""
    start = shared(before, after)
    return start + shared(before[start:][::-1], after[start:][::-1])


def shared(one: str, other: str) -> int:
    """How many characters two texts share at their beginning."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def leads_through_a_value(document: Any, path: list[str]) -> bool:
    for name in path[:-1]:
        if not isinstance(document, dict) or name not in document:
            return not isinstance(document, dict)
        document = document[name]
    return not isinstance(document, dict)


@settings(deadline=None)
@given(documents().flatmap(lambda pair: st.tuples(st.just(pair), paths(pair[0]))), values)
def test_set_value_does_what_setting_it_in_the_document_does(
    given_: tuple[tuple[dict[str, Any], str], list[str]], value: Any
) -> None:
    (document, text), path = given_
    if leads_through_a_value(document, path):
        with pytest.raises(UnsafeEdit, match="holds no JSON object"):
            set_value(text, path, json.dumps(value))
        return
    edited = set_value(text, path, json.dumps(value))
    here = document
    for name in path[:-1]:
        here = here.setdefault(name, {})
    here[path[-1]] = value
    assert load(edited) == document


@settings(deadline=None)
@given(documents().flatmap(lambda pair: st.tuples(st.just(pair), paths(pair[0]))))
def test_remove_value_does_what_deleting_it_from_the_document_does(
    given_: tuple[tuple[dict[str, Any], str], list[str]],
) -> None:
    (document, text), path = given_
    edited = remove_value(text, path)
    here: Any = document
    for name in path[:-1]:
        here = here.get(name) if isinstance(here, dict) else None
    if isinstance(here, dict) and path[-1] in here:
        del here[path[-1]]
        assert kept(text, edited) >= len(edited)
    else:
        assert edited == text
    assert load(edited) == document


@settings(deadline=None)
@given(documents(), values, st.data())
def test_set_value_replaces_the_old_value_and_not_one_other_character(
    pair: tuple[dict[str, Any], str], value: Any, data: st.DataObject
) -> None:
    document, text = pair
    if not document:
        return
    name = data.draw(st.sampled_from(sorted(document)))
    marked = set_value(text, [name], '"mark-of-the-test"')
    before, _, after = marked.partition('"mark-of-the-test"')
    assert text.startswith(before)
    assert text.endswith(after)
    assert load(text[len(before) : len(text) - len(after)]) == document[name]
    assert set_value(text, [name], json.dumps(value)) == before + json.dumps(value) + after


@settings(deadline=None)
@given(documents(), KEYS, values)
def test_set_value_adds_a_member_and_leaves_the_others_as_they_are_written(
    pair: tuple[dict[str, Any], str], name: str, value: Any
) -> None:
    document, text = pair
    if name in document or not document:
        return
    assert kept(text, set_value(text, [name], json.dumps(value))) == len(text)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_set_value_makes_a_document_where_there_is_none(text: str) -> None:
    assert load(set_value(text, ["a", "b"], "1")) == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "new": 2\n}\n'),
        ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"new": 2\r\n}'),
        ('{"a": 1}', '{"a": 1, "new": 2}'),
        ("{}\n", '{\n  "new": 2\n}\n'),
        ('\ufeff{\n    "a": {}\n}', '\ufeff{\n    "a": {},\n    "new": 2\n}'),
    ],
)
def test_set_value_adds_a_member_in_the_style_of_the_document(before: str, after: str) -> None:
    assert set_value(before, ["new"], "2") == after


def test_set_value_changes_a_nested_value_in_place() -> None:
    text = '{ "a" :  { "b":1 , "c" : [1,  2] },\n"d": 1e3 }'
    assert set_value(text, ["a", "b"], "true") == '{ "a" :  { "b":true , "c" : [1,  2] },\n"d": 1e3 }'


# A JSON reader takes the last of several members with one name, so changing the first would change nothing.


def test_set_value_takes_effect_or_is_refused_when_a_key_is_repeated() -> None:
    try:
        edited = set_value('{"a": 1, "b": 0, "a": 2}', ["a"], "3")
    except UnsafeEdit:
        return
    assert load(edited) == {"a": 3, "b": 0}


def test_remove_value_takes_effect_or_is_refused_when_a_key_is_repeated() -> None:
    try:
        edited = remove_value('{"a": 1, "b": 0, "a": 2}', ["a"])
    except UnsafeEdit:
        return
    assert load(edited) == {"b": 0}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', '{\n  "a": 1,\n  "c": 3\n}\n'),
        ('{\n  "a": 1,\n  "b": 2\n}\n', '{\n  "a": 1\n}\n'),
        ('{"b": 2, "c": 3}', '{"c": 3}'),
        ('{"b": 2}', "{}"),
        ('{"a": {"b": 2}}', '{"a": {"b": 2}}'),
    ],
)
def test_remove_value_takes_its_comma_and_its_line_along(before: str, after: str) -> None:
    assert remove_value(before, ["b"]) == after


@pytest.mark.parametrize("text", ["{", '{"a": 1,}', "// comment\n{}", "nonsense", '{"a": 1} x', "[" * 100_000])
@pytest.mark.parametrize("edit", [lambda text: set_value(text, ["a"], "1"), lambda text: remove_value(text, ["a"])])
def test_a_text_that_is_not_json_is_refused(edit: Any, text: str) -> None:
    with pytest.raises(UnsafeEdit, match="not valid JSON"):
        edit(text)


@pytest.mark.parametrize("text", ["[]", "1", '"a"', "null", " [ {} ]"])
@pytest.mark.parametrize("edit", [lambda text: set_value(text, ["a"], "1"), lambda text: remove_value(text, ["a"])])
def test_json_that_is_no_object_is_refused(edit: Any, text: str) -> None:
    with pytest.raises(UnsafeEdit, match="must hold a JSON object"):
        edit(text)


def test_set_value_names_what_stands_in_its_way() -> None:
    with pytest.raises(UnsafeEdit, match=r"^a\.b holds no JSON object"):
        set_value('{"a": {"b": 1}}', ["a", "b", "c"], "2")
