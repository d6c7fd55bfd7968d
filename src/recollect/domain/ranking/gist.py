# hot
"""Find the first telling paragraphs of a markdown document, for a question about its topic."""

from __future__ import annotations

from recollect.domain.text import fenced_lines, one_line

# Only the beginning of a document is read.
_MAX_CHARS = 64 * 1024
_MOST_LINES = 2_000
_LONGEST_LINE = 2_000

# Sections without a word on the topic, and names of metadata: both are compared in lower case.
_EMPTY_SECTIONS = ("table of contents", "contents", "toc", "changelog", "change log", "revision history", "metadata")
_METADATA = frozenset(
    "approved author authors branch by category created date depends epic estimate id input issue jira last link links"
    " mode modified number owner owners parent phase pr prd priority project related release reviewer reviewers"
    " reviewed spec specification sprint status story tags team ticket type updated version".split()
)
_MOST_KEY_WORDS = 3
_MOST_VALUE_WORDS = 6
_NOTHING = ("none", "n/a", "na", "tbd", "todo", "tba", "...", "-", "\u2026")

_MARKS = "-*+> \t"
_DONE = ("[x]", "[X]")
_OPEN = "[ ]"


def gist(text: str, *, enough: int, most: int) -> str:
    """Return the title of a document and its first paragraphs with content, on one line.

    Paragraphs are added up to `enough` words, and cut after `most`. Left out are front matter, metadata, tables, tables
    of contents, code, comments, finished tasks and sections without text.
    """
    title = ""
    words: list[str] = []
    for is_heading, line in _telling_lines(text[:_MAX_CHARS].split("\n", _MOST_LINES)[:_MOST_LINES]):
        if is_heading:
            title = title if title or words else line
        elif line:
            words += line.split()
        elif len(words) >= enough:
            break
        if len(words) >= most:
            break
    body = " ".join(words[:most])
    return one_line(f"{title}. {body}" if title and body else title or body)


def _telling_lines(lines: list[str]) -> list[tuple[bool, str]]:
    """Return headings and lines with content, without their marks, and an empty line between two paragraphs."""
    code = fenced_lines(lines)
    found: list[tuple[bool, str]] = []
    is_skipped = False  # inside a section without a word on the topic
    is_comment = False
    for at in range(_front_matter(lines), len(lines)):
        line = "" if at in code else lines[at][:_LONGEST_LINE].strip()
        is_comment = is_comment or line.startswith("<!--")
        if is_comment:
            is_comment = "-->" not in line
        elif line.startswith("#"):
            heading = line.strip("# \t")
            is_skipped = heading.lower().strip("*_: ") in _EMPTY_SECTIONS
            found += [(False, ""), (True, heading)]
        elif not line:
            found.append((False, ""))
        elif not is_skipped:
            found.append((False, _content(line)))
    return [each for at, each in enumerate(found) if each[1] or (at and found[at - 1][1])]


def _front_matter(lines: list[str]) -> int:
    """Return the number of the first line after the front matter; 0 without any."""
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if not lines[first:] or lines[first].strip() != "---":
        return 0
    return next((at + 1 for at in range(first + 1, len(lines)) if lines[at].strip() == "---"), 0)


def _content(line: str) -> str:
    """Return a line without marks of a list or a quote; empty if it says nothing about the topic."""
    if line.startswith(("|", "![", "[![", "===")) or not line.strip("-*_= \t"):
        return ""
    text = line.replace("**", "").lstrip(_MARKS)
    number, dot, rest = text.partition(".")
    text = rest.lstrip() if dot and number.isdecimal() else text
    if text.startswith(_DONE):
        return ""
    text = text.removeprefix(_OPEN).lstrip()
    is_link = text.startswith("[") and "](#" in text and text.rstrip("*_ ").endswith(")")
    return "" if is_link or text.lower().strip("*_.: ") in _NOTHING or _is_metadata(text) else text


def _is_metadata(text: str) -> bool:
    """Return True for a line like `**Status:** Draft`: a usual name and a few words."""
    key, colon, value = text.partition(":")
    names = key.replace("*", " ").replace("_", " ").lower().split()
    is_named = 0 < len(names) <= _MOST_KEY_WORDS and not _METADATA.isdisjoint(names)
    return bool(colon) and is_named and len(value.split()) <= _MOST_VALUE_WORDS
