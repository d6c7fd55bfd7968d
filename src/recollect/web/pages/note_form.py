"""The form of a note: a lesson that is edited, or a capture that is kept."""

from __future__ import annotations

from recollect.domain.secrets.detect import redact
from recollect.errors import RecollectError
from recollect.learn.by_hand import Note
from recollect.web.call import Call

_FIELDS = ("text", "category", "title", "why", "tags", "when", "files")


def note_given(call: Call) -> Note:
    """Return the note that a form has. Tags are words between commas, the other lists have a line for each."""

    def lines(name: str) -> list[str]:
        return [line.strip() for line in call.given(name).splitlines() if line.strip()]

    tags = [tag.strip() for tag in call.given("tags").split(",") if tag.strip()]
    text, category, title, why = (call.given(name).replace("\r\n", "\n").strip() for name in _FIELDS[:4])
    return Note(text, category, title, why, tags, lines("when"), lines("files"))


def note_problems(error: RecollectError | None) -> dict[str, str]:
    """Return the words of a refusal by the field that they begin with; under an empty name if that is none."""
    if error is None:
        return {}
    sentence = redact(str(error))
    name = sentence.partition(" ")[0].strip(":'\"[]0123456789")
    return {name if name in _FIELDS else "": sentence}
