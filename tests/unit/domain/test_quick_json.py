"""JSON without the json module: the same values, the same refusals."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import SOURCE

from recollect.domain.quick_json import dump, parse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.sampled_from([None, 2]), st.booleans())
def test_parse_reads_what_json_writes(value: object, indent: int | None, ascii: bool) -> None:
    assert parse(f" \n{json.dumps(value, indent=indent, ensure_ascii=ascii)}\t\n") == value


@given(VALUES)
def test_what_is_dumped_can_be_read_by_json(value: object) -> None:
    assert json.dumps(json.loads(dump(value))) == json.dumps(json.loads(dump(json.loads(dump(value)))))


def test_dump_keeps_values_and_order() -> None:
    value = {"b": [1, 2.5, True, False, None], "a": 'x"\\\n\té漢', "c": {}}
    assert json.loads(dump(value)) == value
    assert list(json.loads(dump(value))) == ["b", "a", "c"]


@pytest.mark.parametrize(
    "text", ["", " ", "{", '{"a":', '{"a" 1}', "[1,]", "nul", "{} {}", '"\ud800', "[" * 100_000, "1" * 5000]
)
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (the kind is all that callers look at)
        parse(text)


def test_numbers_that_are_none_are_nothing() -> None:
    assert parse('{"a": NaN, "b": -Infinity}') == {"a": None, "b": None}


def test_neither_json_nor_regular_expressions_are_imported() -> None:
    code = (
        f"import sys; sys.path.insert(0, {SOURCE!r}); from recollect.domain.quick_json import parse;"
        "parse('{\"a\": [1, 2.5, null]}'); print(sorted({'re', 'json', 'enum'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"
