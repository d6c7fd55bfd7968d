"""Lessons in a text without `### ` headings: bullets, paragraphs and sections, as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.domain.text import cut, fenced_lines, one_line
from recollect.files.bank.entry import bare_name

# Anybody's text is read here, at every session start: no pattern may need more than linear time.
_LONGEST_NAME = 80
_MOST_WORDS_OF_A_LEAD = 10
_FEWEST_WORDS = 3

_BULLET = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+(?=\S)")
_BOLD_LEAD = re.compile(r"(\*\*|__)(?P<lead>.{1,200}?)\1\s*(?:[:.–—-]+\s*)?(?P<rest>.*)", re.DOTALL)
_PLAIN_LEAD = re.compile(r"(?P<lead>[^\n.:]{3,100}):\s+(?P<rest>\S.*)", re.DOTALL)
_SENTENCE = re.compile(r".+?[.!?](?=\s|$)", re.DOTALL)


@dataclass(frozen=True)
class Loose:
    """A lesson in such a text: its name, and its description with the lines as they are."""

    name: str
    description: str


def loose_lessons(text: str) -> tuple[list[Loose], list[str]]:
    """Return the lessons in a text, and the passages left out: the first words below a title, and very short ones.

    A section that begins with a paragraph is one lesson; in another, each bullet and each paragraph is one.
    """
    lines = _without_front_matter(_without_comments(text.removeprefix("\ufeff")).replace("\r\n", "\n").split("\n"))
    fenced = fenced_lines(lines)
    found: list[Loose] = []
    left_out: list[str] = []
    heading, blocks, below_title = "", list[list[str]](), False
    for index, line in enumerate([*lines, "# "]):
        level, title = (0, "") if index in fenced else _heading(line)
        if not level:
            _add_line(blocks, line, in_code=index in fenced)
            continue
        texts = [text for text in ("\n".join(block).strip() for block in blocks) if text]
        if below_title and _is_introduction(texts):
            left_out.append(texts.pop(0))
        for lesson in _lessons(heading, texts):
            if len(lesson.description.split()) < _FEWEST_WORDS:
                left_out.append(f"{lesson.name}: {lesson.description}")
            else:
                found.append(lesson)
        below_title = level == 1
        heading, blocks = "" if below_title else bare_name(title.strip("*_ ")), []
    return found, left_out


def _without_comments(text: str) -> str:
    """Return the text without HTML comments. One that is never closed stays."""
    parts: list[str] = []
    end = 0
    while (start := text.find("<!--", end)) >= 0 and (close := text.find("-->", start + 4)) >= 0:
        parts.append(text[end:start])
        end = close + 3
    return "".join([*parts, text[end:]])


def _heading(line: str) -> tuple[int, str]:
    """Return the level and the text of a heading. The level is 0 for any other line."""
    text = line.lstrip("#")
    level = len(line) - len(text)
    return (level, text.strip().rstrip("#").rstrip()) if level <= 6 and text[:1].isspace() else (0, "")


def _is_divider(line: str) -> bool:
    signs = "".join(line.split())
    return len(signs) >= 3 and not signs.strip("-*_")


def _without_front_matter(lines: list[str]) -> list[str]:
    if lines and lines[0].rstrip() == "---" and "---" in (rest := [line.rstrip() for line in lines[1:]]):
        return lines[rest.index("---") + 2 :]
    return lines


def _add_line(blocks: list[list[str]], line: str, *, in_code: bool) -> None:
    """Add a line to the blocks of a section. A block is a bullet with what belongs to it, or a paragraph."""
    if not in_code and _is_divider(line):
        blocks.append([])
    elif not in_code and _BULLET.match(line):
        blocks.append([line.rstrip()])
    elif not line.strip() and not in_code:
        if blocks and blocks[-1]:
            blocks[-1].append("")
    elif not blocks or _begins_anew(blocks[-1], line, in_code):
        blocks.append([line.rstrip()])
    else:
        blocks[-1].append(line.rstrip())


def _begins_anew(block: list[str], line: str, in_code: bool) -> bool:
    """Return True if a line after a blank one begins a paragraph of its own. Indented lines and code belong to it."""
    return not block or (block[-1] == "" and not in_code and not line[:1].isspace())


def _is_introduction(texts: list[str]) -> bool:
    """Return True if the text below a title begins by telling what the file is: no further paragraph follows."""
    is_prose = [not _BULLET.match(text) for text in texts[:2]]
    return is_prose in ([True], [True, False])


def _lessons(heading: str, texts: list[str]) -> list[Loose]:
    if heading and texts and not _BULLET.match(texts[0]):
        whole = [heading] if len(heading) > _LONGEST_NAME else []  # a name is cut; a description is not
        return [Loose(_named(heading), "\n\n".join([*whole, *texts]))]
    return [_lesson(text[bullet.end() :] if (bullet := _BULLET.match(text)) else text) for text in texts]


def _lesson(text: str) -> Loose:
    """Return the lesson of a bullet or a paragraph: its name is what stands out at the beginning."""
    bold, plain = _BOLD_LEAD.match(text), _PLAIN_LEAD.match(text)
    lead = bold or (plain if plain and len(plain["lead"].split()) <= _MOST_WORDS_OF_A_LEAD else None)
    if lead and len(lead["lead"]) <= _LONGEST_NAME and lead["rest"].strip():
        return Loose(_named(lead["lead"]), lead["rest"].strip())
    sentence = _SENTENCE.match(text)
    return Loose(_named(sentence[0] if sentence else text), text)


def _named(text: str) -> str:
    plain = one_line(text).strip("*_` ").rstrip(".:;,! ")
    return cut(bare_name(plain) or plain, _LONGEST_NAME)
