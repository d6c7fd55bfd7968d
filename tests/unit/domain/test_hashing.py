import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.hashing import content_hash, normalize


@settings(deadline=None)
@given(st.text())
def test_content_hash_is_the_formula_of_the_specification(text: str) -> None:
    normalized = " ".join(text.lower().strip().split())
    assert content_hash(text) == hashlib.sha256(normalized.encode()).hexdigest()[:16]


def test_content_hash_of_known_texts_never_changes() -> None:
    assert content_hash("") == "e3b0c44298fc1c14"
    assert content_hash("abc") == "ba7816bf8f01cfea"
    assert content_hash("Making changes in main worktree when a feature worktree exists.") == "1c123aa2533f3d04"


@pytest.mark.parametrize(
    "variant",
    ["  Read the file first.  ", "READ THE FILE FIRST.", "read\tthe\nfile\r\nfirst.", "Read  the   file\n\n first."],
)
def test_content_hash_ignores_case_and_the_amount_of_whitespace(variant: str) -> None:
    assert content_hash(variant) == content_hash("Read the file first.")


@pytest.mark.parametrize("other", ["Read the file first", "Readthe file first.", "Read the file, first."])
def test_content_hash_sees_every_other_difference(other: str) -> None:
    assert content_hash(other) != content_hash("Read the file first.")


def test_content_hash_tells_invalid_bytes_apart() -> None:
    texts = [bytes([65, byte]).decode("utf-8", "surrogateescape") for byte in range(128, 256)]
    assert len({content_hash(text) for text in texts}) == 128


def test_normalize_puts_one_space_between_lowercase_words() -> None:
    assert normalize("  Read\tthe\n\n  FILE\u3000first. ") == "read the file first."
