"""Secrets that are written so as to be missed, to be found in part, or to be slow to find.

The secrets are put together here, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import time

import pytest

from recollect.domain.secrets import find_secret, redact


def seconds(text: str) -> float:
    """Return the least time of three in which a text is looked through and redacted."""
    times: list[float] = []
    for _ in range(3):
        start = time.process_time()
        find_secret(text)
        redact(text)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        ("<private>", " "),
        ("", "<private "),
        ("", "< private"),
        ("", "&lt;private "),
        ("", "<private>`"),
        ("", "api-key:"),
        ("", "password="),
        ("", "password:\n"),
        ("", "password='"),
        ("", 'password="\\'),
        ("", "| password |\n|---|\n"),
        ("", "://a:b@c"),
        ("", "password "),
    ],
)
def test_twice_the_text_takes_about_twice_the_time(begin: str, piece: str) -> None:
    n = 40_000 // len(piece)
    once = seconds(begin + piece * n + "x")
    assert seconds(begin + piece * 2 * n + "x") < 3 * once + 0.01


def test_a_text_that_names_secrets_too_often_is_neither_kept_nor_looked_through() -> None:
    secret = "hunter" + "2x"
    text = "api-key:" * 20_000 + f" password={secret}"
    assert find_secret(text)
    assert redact(text).endswith("[redacted: too much to look through]")
    assert secret not in redact(text)
    assert find_secret(redact(text)) == ""


# What is written, and what is left of it.
PRIVATE = {
    "<private>`door` code 12</private> b": "[private] b",
    "< private>door</private> b": "[private] b",
    f"<private why='{'x' * 300}'>door</private> b": "[private] b",
    "\uff1cprivate\uff1edoor\uff1c/private\uff1e b": "[private] b",
    "&lt;private&gt;door&lt;/private&gt; b": "[private] b",
    "a <private>door<private>b</private>tail</private> b": "a [private] b",
    "a <private>door</private> b <private>c</private> d": "a [private] b [private] d",
    "a <private>door `</private>` tail</private> b": "a [private] b",
}


@pytest.mark.parametrize(("text", "left"), PRIVATE.items())
def test_a_private_part_is_taken_out_however_its_tag_is_written(text: str, left: str) -> None:
    assert find_secret(text) == "a part marked as private"
    assert redact(text) == left


@pytest.mark.parametrize(
    "text", ["Write `<private>` and `</private>` around it.", "<private>...</private>", "a private < b"]
)
def test_a_tag_that_is_only_mentioned_marks_nothing(text: str) -> None:
    assert find_secret(text) == ""
