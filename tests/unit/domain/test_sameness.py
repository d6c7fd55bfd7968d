"""What is merged by itself: nothing but the same words in the same order."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from recollect.domain.ranking.sameness import normal_form, same_text
from recollect.files.bank.bank import BankFile

DATA = Path(__file__).parents[2] / "data"
SAMPLE = Path(__file__).parents[3] / "examples" / "sample-project"


def pairs(name: str) -> list[tuple[str, str]]:
    lines = (DATA / "duplicates" / name).read_text(encoding="utf-8").splitlines()
    return [tuple(line.replace("\\n", "\n").split("\t")) for line in lines]  # type: ignore[misc]


def stored_texts() -> list[str]:
    """The descriptions of lessons and memories that tests and examples have."""
    found = [
        json.loads(line)["description"]
        for line in (DATA / "prompts" / "knowledge.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    for line in (DATA / "prompts" / "memories.jsonl").read_text(encoding="utf-8").splitlines():
        found += [text for text in json.loads(line)["content"].values() if isinstance(text, str)]
    for path in sorted([*SAMPLE.rglob("knowledge-bank/*.md"), *DATA.rglob("knowledge-bank/*.md")]):
        found += [entry.description for entry in BankFile(path.read_text(encoding="utf-8"), path.stem, "local").entries]
    return [text for text in found if text]


def test_there_are_enough_hard_pairs() -> None:
    assert len(set(pairs("different.tsv"))) >= 480


@pytest.mark.parametrize(("one", "other"), pairs("different.tsv"))
def test_texts_that_say_something_else_are_different(one: str, other: str) -> None:
    assert not same_text(one, other)
    assert not same_text(other, one)


@pytest.mark.parametrize(("one", "other"), pairs("same.tsv"))
def test_texts_that_differ_in_spelling_alone_are_the_same(one: str, other: str) -> None:
    assert same_text(one, other)


def test_stored_text_is_the_same_in_another_dress_and_no_other_is() -> None:
    texts = stored_texts()
    assert len(texts) > 100
    forms = {normal_form(text) for text in texts}
    assert len(forms) == len({" ".join(text.split()) for text in texts})
    for text in texts:
        assert same_text(text, f"{text} ")
        is_everyday = text.startswith(("The ", "A ", "Use ", "Never ", "Always ", "When ", "If ", "Do "))
        assert not is_everyday or same_text(text, text[:1].lower() + text[1:])
        assert same_text(text, "\n".join(line.rstrip() for line in text.split("\n")) + "\n\n")


def test_change_of_a_word_a_number_or_the_order_makes_another_text() -> None:
    chance = random.Random(18)
    compared = 0
    for text in stored_texts():
        words = text.split()
        for place in chance.sample(range(len(words)), min(12, len(words))):
            word = words[place]
            letters = re.sub(r"\W", "", word)
            if letters.lower() in ("", "the") or "`" in text:
                continue
            others = [
                [*words[:place], "not", *words[place:]],
                [*words[:place], *words[place + 1 :]],
                [*words[:place], word, word, *words[place + 1 :]],
                [*words[:place], re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), word), *words[place + 1 :]],
            ]
            following = words[place + 1 : place + 2]
            if following and re.sub(r"\W", "", following[0]).lower() not in ("", "the", letters.lower()):
                others.append([*words[:place], *following, word, *words[place + 2 :]])
            for other in others:
                if other != words:
                    compared += 1
                    assert not same_text(" ".join(words), " ".join(other)), (text, other)
    assert compared > 2_000


@pytest.mark.parametrize(
    "text", ["", " ", "...", "the", "`", "```\n", "**", "((((", "\x00", "\x01the", "'" * 500, "a\n```\nb\n```"]
)
def test_odd_text_has_a_form(text: str) -> None:
    assert normal_form(text) == normal_form(text + " ")
    assert same_text(text, text)


def test_code_block_is_compared_letter_by_letter() -> None:
    one = "Do:\n```python\nif a:\n    b()\nc()\n```"
    assert same_text(one, one.replace("Do:", "do."))
    assert not same_text(one, one.replace("c()", "    c()"))
