"""Records of memories: slugs, titles and tags as they may stand in files and in the index, and what is put right."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.memory import (
    MOST_TAGS,
    auto_fix,
    clean_tags,
    clean_title,
    difference,
    is_slug,
    seen,
    slugify,
    texts,
    without_state,
)

NOW = "2026-03-01T10:00:00Z"

# Texts of what has a meaning in the index, and of what might hide it.
PIECES = [
    *("a", "B", " ", "->", " -> ", "-", ">", "#tags:", "#TAGS:", "#tag", "s:", "#", ":", ",", "\n", "\t", "\r", "\x00"),
    *("\x1b", "\u200b", "\u202e", "\ufeff", "\u2028", "\xa0", "\x85", "é", "İ", "ſ", "😀", "\ud800", "\udcff", ".json"),
]
hostile = st.one_of(st.text(st.characters()), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | hostile,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(hostile, inner, max_size=4),
    max_leaves=10,
)


def fixed(record, *, new=True, **options):
    notes = auto_fix(record, now=NOW, new=new, **options)
    return record, notes


# ---- slugs


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Use Postgres", "use-postgres"),
        ("  Grüße, Jürgen!  ", "grue-jurgen"),
        ("Ｆｕｌｌ ｗｉｄｔｈ", "full-width"),
        ("../../etc/passwd", "etc-passwd"),
        ("--a--b--", "a-b"),
        ("日本語", ""),
        ("", ""),
        ("-", ""),
        ("a" * 200, "a" * 80),
        ("a" * 79 + " b", "a" * 79),
        ("x.json", "x-json"),
        ("nul\0byte", "nul-byte"),
    ],
)
def test_slug_is_made_of_a_text(text, slug):
    assert slugify(text) == slug


@given(hostile)
def test_slug_is_valid_or_empty_and_stays_as_it_is(text):
    slug = slugify(text)
    assert slug == "" or is_slug(slug)
    assert slugify(slug) == slug


@pytest.mark.parametrize("text", ["a", "7", "a-b", "a--b", "a" * 80, "0-0"])
def test_slug_is_known(text):
    assert is_slug(text)


@pytest.mark.parametrize(
    "text", ["", "-", "-a", "a-", "A", "a_b", "a.b", "a/b", "a b", "é", "a" * 81, "a\n", "\na", "a\0", "²", "٣"]
)
def test_what_is_no_slug_is_known(text):
    assert not is_slug(text)


# ---- titles


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("  Use \t Postgres \n", "Use Postgres"),
        ("from MySQL -> Postgres", "from MySQL - Postgres"),
        ("a -> b -> c", "a - b - c"),
        ("a -> -> b", "a - - b"),
        ("a->b", "a->b"),
        ("ends with ->", "ends with -"),
        ("use #tags:x here", "use x here"),
        ("#TAGS:x", "x"),
        ("#ta#tags:gs:x", "x"),
        ("#ta\u200bgs:x", "x"),
        ("a -\u200b> b", "a - b"),
        ("a\u2028->\u2029b", "a - b"),
        ("a\x00\x1b[31mb", "a[31mb"),
        ("\u202egnirts\u202c", "gnirts"),
        ("[DECISION] x", "[DECISION] x"),
        (" \n\t ", ""),
        ("\udcff", "?"),
    ],
)
def test_title_is_cleaned(text, title):
    assert clean_title(text) == title


@given(hostile)
def test_title_never_has_a_marker_of_the_index_and_is_clean_at_once(text):
    title = clean_title(text)
    assert " -> " not in title
    assert not title.endswith(" ->")
    assert not title.startswith("-> ")
    assert "#tags:" not in title.lower()
    assert title == " ".join(title.split())
    assert clean_title(title) == title
    title.encode("utf-8")


# ---- tags


@pytest.mark.parametrize(
    ("tags", "cleaned"),
    [
        (["B", "a", "A "], ["a", "b"]),
        (["a,b"], ["a b"]),
        (["x -> y"], ["x y"]),
        (["#tags:a"], ["a"]),
        (["#tags:", ",", "\u200b", " "], ["untagged"]),
        ([], ["untagged"]),
        ([1, None, ["a"], {"b": 1}, True], ["untagged"]),
        (["two\nlines"], ["two lines"]),
        (["GRÜN"], ["grün"]),
    ],
)
def test_tags_are_cleaned(tags, cleaned):
    assert clean_tags(tags) == cleaned


def test_of_too_many_tags_twelve_are_left():
    assert clean_tags([f"t{number:02}" for number in range(20, 0, -1)]) == [f"t{number:02}" for number in range(1, 13)]


def test_of_too_many_tags_those_that_were_there_stay():
    had = ["x", "y", "z"]
    tags = clean_tags([*(f"a{number:02}" for number in range(20)), *had], had)
    assert len(tags) == MOST_TAGS
    assert set(had) <= set(tags)
    assert tags == sorted(tags)


@given(st.lists(hostile | st.none() | st.integers(), max_size=20))
def test_tags_never_have_a_marker_of_the_index_and_are_clean_at_once(found):
    tags = clean_tags(found)
    assert 1 <= len(tags) <= MOST_TAGS
    assert tags == sorted(set(tags))
    for tag in tags:
        assert tag
        assert "," not in tag
        assert " -> " not in f"{tag} "
        assert "#tags:" not in tag
        assert tag == " ".join(tag.split())
    assert clean_tags(tags) == tags


@given(st.lists(hostile, max_size=6))
def test_tags_joined_as_in_the_index_come_apart_again(found):
    tags = clean_tags(found)
    assert ",".join(tags).split(",") == tags
    assert re.search("#tags:", ",".join(tags), re.IGNORECASE) is None


# ---- what is put right


def test_missing_version_and_times_are_filled_in_without_a_word():
    record, notes = fixed({})
    assert record == {"schema_version": "1.0", "updated_at": NOW, "created_at": NOW}
    assert notes == []


@pytest.mark.parametrize("empty", [None, ""])
def test_empty_version_and_times_are_filled_in(empty):
    record, _ = fixed({"schema_version": empty, "updated_at": empty, "created_at": empty})
    assert record == {"schema_version": "1.0", "updated_at": NOW, "created_at": NOW}


def test_version_and_times_that_are_there_stay():
    given = {"schema_version": "0.9", "updated_at": "u", "created_at": "c"}
    assert fixed(dict(given))[0] == given


def test_time_of_creation_is_filled_in_for_new_records_alone():
    assert "created_at" not in fixed({}, new=False)[0]


def test_tags_as_one_text_become_a_list():
    record, notes = fixed({"tags": " Auth "})
    assert record["tags"] == ["auth"]
    assert notes == ["tags: a list, cleaned, each once, at most 12"]


def test_id_becomes_a_slug():
    record, notes = fixed({"id": "  My Decision!  "})
    assert record["id"] == "my-decision"
    assert notes == ["id: made a slug"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [(1.5, 1.0), (-3, 0.0), (7, 1.0), (math.inf, 1.0), (-math.inf, 0.0), (math.nan, 0.0), (10**400, 1.0)],
)
def test_confidence_out_of_range_is_moved_into_it(given, kept):
    record, notes = fixed({"confidence": given})
    assert record["confidence"] == kept
    assert notes == ["confidence: moved into 0.0 to 1.0"]


@pytest.mark.parametrize("given", [0, 1, 0.0, 1.0, 0.7, "high", None, [2], True])
def test_other_confidence_is_left_to_the_schema(given):
    assert fixed({"confidence": given}) == (
        {"confidence": given, "schema_version": "1.0", "updated_at": NOW, "created_at": NOW},
        [],
    )


def test_title_and_tags_are_cleaned_with_a_note_for_each():
    record, notes = fixed({"title": " a -> b ", "tags": ["B", "a"]})
    assert (record["title"], record["tags"]) == ("a - b", ["a", "b"])
    assert [note.partition(":")[0] for note in notes] == ["title", "tags"]


def test_tags_of_an_update_keep_those_that_were_there():
    record, _ = fixed({"tags": [*(f"a{number:02}" for number in range(12)), "old"]}, new=False, had=["old"])
    assert "old" in record["tags"]
    assert len(record["tags"]) == MOST_TAGS


@pytest.mark.parametrize("field", ["title", "tags", "id", "confidence"])
@pytest.mark.parametrize("value", [None, 7, {"a": 1}, False])
def test_value_of_another_kind_is_left_to_the_schema(field, value):
    given = {field: value if field != "confidence" else str(value)}
    record, notes = fixed(dict(given))
    assert record[field] == given[field]
    assert notes == []


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "title": values,
            "tags": values | st.lists(hostile, max_size=20),
            "id": values,
            "confidence": values,
            "schema_version": values,
            "updated_at": values,
            "created_at": values,
            "content": values,
        },
    ),
    st.booleans(),
)
def test_putting_right_twice_is_the_same_as_once(record, new):
    once, _ = fixed(record, new=new)
    before = repr(once)
    again, notes = fixed(once, new=new)
    assert notes == []
    assert repr(again) == before


# ---- texts


def test_state_fields_are_taken_out_and_nothing_else():
    record = {"title": "t", "retired_at": 1, "retired_reason": 2, "archived_at": 3, "archived_reason": 4, "tags": []}
    assert without_state(record) == {"title": "t", "tags": []}
    assert len(record) == 6


@given(values)
def test_nothing_unseen_is_left_in_any_text_or_name(value):
    once = seen(value)
    assert repr(seen(once)) == repr(once)
    for text in texts(once):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]", text)


def test_texts_are_found_at_any_depth_in_order():
    assert texts({"a": "1", "b": ["2", {"c": "3", "d": [4, None, True, 0.5]}], "e": "5"}) == ["1", "2", "3", "5"]


def test_other_values_are_seen_as_they_are():
    assert seen({"a\u200b": [1, None, True, 0.5, "b\x00"]}) == {"a": [1, None, True, 0.5, "b"]}


@pytest.mark.parametrize(
    ("old", "new", "share"),
    [
        ("Use Postgres", "use  POSTGRES", 0.0),
        ("Use Postgres", "Use MySQL", 2 / 3),
        ("a b c", "a b d", 0.5),
        ("a b", "c d", 1.0),
        ("", "", 0.0),
        ("", "a", 1.0),
        ("a a a", "a", 0.0),
    ],
)
def test_difference_of_titles_is_the_share_of_words_in_only_one(old, new, share):
    assert difference(old, new) == pytest.approx(share)


@given(hostile, hostile)
def test_difference_is_a_share_and_has_no_direction(old, new):
    assert 0.0 <= difference(old, new) <= 1.0
    assert difference(old, new) == difference(new, old)
    assert difference(old, old) == 0.0
