"""Values for finding signs of use: the lines of a transcript, and the memories that its session was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from recollect.domain.triage.signs import Step

# Where the words of a line come from: a person, the model, or something else that the model reads, a tool for example.
HUMAN = "human"
MODEL = "model"
OUTSIDE = "outside"


@dataclass(frozen=True)
class Line:
    """A line of a transcript: its number, its time, where it comes from, its text, and the model's tool uses."""

    number: int
    at: str
    source: str
    text: str
    steps: Sequence[Step] = ()


@dataclass(frozen=True)
class Shown:
    """A memory as a session was given it: at a time, for the known words of a prompt, with a title and a text.

    Without `query` it was not given for a prompt. The text is empty if only the title was given. `names` are its id,
    its slug and its path; `files` are those that it refers to, relative to the project.
    """

    id: str
    at: str
    title: str
    text: str = ""
    names: Sequence[str] = ()
    files: Sequence[str] = ()
    query: str = ""


@dataclass
class Sign:
    """A sign of the use of a memory: its kind, the line of the prompt that began the turn, and the lines that show it.

    `at` is the time of the first of these lines.
    """

    id: str
    kind: str
    turn: int
    at: str
    lines: list[int] = field(default_factory=list[int])
