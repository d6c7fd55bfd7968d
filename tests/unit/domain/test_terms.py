from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.ranking.terms import STOP_WORDS, camel_parts, index_terms, query_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Fix the database migration", ["fix", "database", "migration"]),
        ("fix fix FIX", ["fix"]),
        ("parse_config_file", ["parse", "config", "file"]),
        ("src/store/sqlite/store.py", ["src", "store", "sqlite", "py"]),
        ("kebab-case", ["kebab", "case"]),
        ("connectionPool", ["connectionpool", "connection", "pool"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("sha256Hash", ["sha256hash", "sha256", "hash"]),
        ("don't", ["don", "t"]),
        ("isn't it?", ["isn", "t", "it"]),
        ("Port it to C#", ["port", "c", "csharp"]),
        ("c++17 or F#?", ["c", "17", "f", "cplusplus", "fsharp"]),
        ("libc++ and c++", ["libc", "c", "cplusplus"]),
        ("libc++, #c and pdf#page", ["libc", "c", "pdf", "page"]),
        ("数据库", ["数据", "据库"]),
        ("数据库migration", ["数据", "据库", "migration"]),
        ("库", ["库"]),
        ("Größe", ["größe"]),
        ("", []),
        ("🙂 — !!", []),
        ("a\0b", ["b"]),
    ],
)
def test_query_terms_are_the_telling_words_once_and_in_order(text: str, terms: list[str]) -> None:
    assert query_terms(text) == terms


def test_query_of_stop_words_alone_keeps_them() -> None:
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]


def test_query_terms_end_after_many_words() -> None:
    assert len(query_terms(" ".join(f"w{number}" for number in range(30_000)))) == 20_000


@pytest.mark.parametrize("word", ["re\u0301sume\u0301", "u\u0308ber", "Men\u0303u"])
def test_decomposed_accents_stay_within_their_word(word: str) -> None:
    [term] = query_terms(word)
    assert normalize("NFD", term).replace("\u0301", "") == normalize("NFD", word.lower()).replace("\u0301", "")


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("camelCase", ["camel", "case"]),
        ("CamelCase", ["camel", "case"]),
        ("HTTPServer", ["http", "server"]),
        ("parseJSON", ["parse", "json"]),
        ("getX", ["get", "x"]),
        ("Base64Encoder", ["base64", "encoder"]),
        ("lower", []),
        ("UPPER", []),
        ("Title", []),
        ("", []),
    ],
)
def test_camel_parts(word: str, parts: list[str]) -> None:
    assert camel_parts(word) == parts


@pytest.mark.parametrize(
    ("texts", "held"),
    [
        (("all lower case",), ""),
        (("Only Title And UPPER",), ""),
        (("The connectionPool", "and the connectionPool of HTTPServer"), "connection pool http server"),
        (("数据库",), "数 据 库 数据 据库"),
        (("use 库",), "库"),
    ],
)
def test_index_holds_what_it_cannot_split_itself(texts: tuple[str, ...], held: str) -> None:
    assert index_terms(*texts) == held


@pytest.mark.parametrize("word", ["Base64Encoder", "Http2Server", "Utf8Decoder"])
def test_index_holds_the_parts_of_camel_case_with_digits(word: str) -> None:
    assert index_terms(word).split() == camel_parts(word)


@given(st.text())
def test_query_terms_are_clean_whatever_the_text(text: str) -> None:
    terms = query_terms(text)
    assert len(set(terms)) == len(terms)
    assert all(term and not term.isspace() and '"' not in term for term in terms)
    telling = [term for term in terms if term not in STOP_WORDS]
    assert telling in ([], terms)
    assert isinstance(index_terms(text), str)


@given(st.text(alphabet="数据库迁移テスト데이터", min_size=1, max_size=12))
def test_text_without_spaces_is_indexed_by_every_term_it_is_asked_by(text: str) -> None:
    held = set(index_terms(f"前{text}後").split())
    assert set(query_terms(text)) <= held


@given(st.text(alphabet="abcXYZ019", min_size=1, max_size=12))
def test_camel_parts_make_up_their_word(word: str) -> None:
    assert "".join(camel_parts(word) or [word.lower()]) == word.lower()
