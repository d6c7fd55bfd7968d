"""A form made from a schema: what it shows is read back as it was, and refusals name its fields."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import WriteRefused
from recollect.files.memory.schemas import CONTENT, validated
from recollect.memories.edit import Field, form_fields, read_fields, refused_fields

LINE = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1).map(str.strip)
TEXT = LINE.filter(bool)
TEXTS = st.lists(TEXT, min_size=1, max_size=4)


def sent(fields: list[Field]) -> dict[str, list[str]]:
    """The fields of a form as a browser sends them."""
    found: dict[str, list[str]] = {}
    for each in fields:
        for name, values in sent(each.below).items():
            found.setdefault(name, []).extend(values)
        if each.kind == "texts":
            found[each.name] = [*each.value, ""]
        elif each.kind == "yes_no":
            found[each.name] = ["yes" if each.value else "no"]
        elif each.kind not in ("group", "groups"):
            found[each.name] = ["" if each.value is None else str(each.value)]
    return found


@given(title=TEXT, texts=TEXTS, option=TEXT, reason=TEXT, confidence=st.floats(0, 1))
def test_form_is_read_back_as_it_was(title: str, texts: list[str], option: str, reason: str, confidence: float) -> None:
    content = {"status": "accepted", "context": title, "decision": reason, "rationale": texts}
    content["alternatives"] = [{"option": option, "rejected_reason": reason}, {"option": reason}]
    record = {"title": title, "tags": texts, "confidence": confidence, "triggers": texts, "content": content}
    assert read_fields("decision", sent(form_fields("decision", record))) == record


@pytest.mark.parametrize("category", CONTENT)
def test_every_category_has_a_form_and_an_empty_one_says_nothing(category: str) -> None:
    fields = form_fields(category, {})
    assert {"title", "tags", "triggers", "related_files", "confidence"} <= {each.name for each in fields}
    assert all(each.label for each in fields)
    read = read_fields(category, sent(fields))
    assert {key: value for key, value in read.pop("content", {}).items() if value is not False} == {}
    assert read == {}


def test_nested_group_is_read_back() -> None:
    content: dict[str, Any] = {"topic": "tests", "value": "real parts", "reason": "r", "strength": "strong"}
    content["examples"] = {"prefer": ["a\nb", "c"], "avoid": ["d"]}
    record = {"content": content}
    assert read_fields("preference", sent(form_fields("preference", record))) == record


def test_refusal_of_a_schema_is_parted_by_its_fields() -> None:
    with pytest.raises(WriteRefused) as refused:
        validated({"title": "x" * 500, "content": {"rationale": []}}, "decision", authored=True)
    found = refused_fields(refused.value)
    assert any("at most 120" in words for words in found["title"])
    assert any("at least 1" in words for words in found["content.rationale"])
    assert "" not in found
