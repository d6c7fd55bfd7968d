"""Record two sessions of the real Claude Code on a terminal, and draw them: docs/sessions.svg.

The client, the plugin and all that they show are real. A script answers in place of the model.

make picture
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from pyte.screens import Char
from tests.e2e.claude.api import Request, Turn, calls, says
from tests.e2e.claude.client import REPOSITORY, Client, namespace_command
from tests.e2e.claude.terminal import Session

import claude_client

PICTURE = REPOSITORY / "docs" / "sessions.svg"

COLUMNS = 96
LINE, WIDTH = 19, 8.4  # of a row and of a character, in pixels
MARGIN, TITLE = 20, 44
BACKGROUND, TEXT, DIM, LIT = "#15202b", "#d9e2ec", "#8295a8", "#f6c458"

SAID = (
    "Orders got lost again when Redis restarted. From now on the order queue lives in PostgreSQL:"
    " one system to back up is enough."
)
DONE = "Done. Orders are rows of `order_queue` now, and workers take them with `FOR UPDATE SKIP LOCKED`."
STORED = {
    "category": "decision",
    "name": "The order queue lives in PostgreSQL",
    "description": "The order queue is the table order_queue in PostgreSQL, not a list in Redis.",
    "reasoning": "Redis lost orders when it restarted, and one system to back up is enough.",
    "triggers": ["adding a background job", "where do jobs go", "a message broker"],
}
KEPT = "Kept for the next session."
ASKED = "Add a nightly job for invoices. Which broker do we use for orders?"
KNOWN = (
    "None: orders are rows of `order_queue` in PostgreSQL, because Redis lost orders when it restarted."
    " I will add the invoices there."
)


def answered(request: Request) -> Turn:
    """Answer the second session's question, if recollect has given the decision to it."""
    given = "\n".join(request.context_of("UserPromptSubmit") + request.context_of("SessionStart"))
    return says(KNOWN if STORED["name"] in given else "I do not know.")


def recorded(folder: Path) -> Iterator[tuple[str, list[list[Char]]]]:
    """Yield a title and the rows of the screen for each session."""
    release = claude_client.newest()
    program = claude_client.install(release)
    client = Client(program, release, namespace_command(), folder / "home", folder / "shop", folder / "store")
    client.variables["RECOLLECT_RETRIEVAL_SHOW"] = "always"
    for arguments in (("marketplace", "add", str(REPOSITORY)), ("install", "memory@recollect")):
        done = client.manage(*arguments)
        if done.code:
            raise SystemExit(done.stdout + done.stderr)
    client.name_interpreter()
    stored = calls("mcp__plugin_memory_recollect__store_memory", **STORED)
    with client.session(says(DONE), stored, says(KEPT), columns=COLUMNS) as first:
        first.say(SAID)
        yield "Monday", rows_of(first)
    with client.session(answered, columns=COLUMNS) as second:
        second.say(ASKED)
        second.wait_for("Redis lost orders")
        yield "Thursday, in a new session", rows_of(second)


def rows_of(session: Session) -> list[list[Char]]:
    """Return the conversation on a screen: from the first prompt to the last answer, without empty rows at its ends."""
    rows = session.screen.rows
    texts = ["".join(char.data for char in row).strip() for row in rows]
    first = next(place for place, text in enumerate(texts) if text.startswith("❯"))
    last = max(place for place, text in enumerate(texts) if text.startswith("●"))
    while texts[last + 1]:
        last += 1
    notice = [place for place, text in enumerate(texts[:first]) if "recollect: " in text]
    shown = [place for place in range(first, last + 1) if not texts[place].startswith("✻")]  # how long it took
    return [rows[place] for place in (*notice, *shown)]


def drawn(parts: Sequence[tuple[str, list[list[Char]]]]) -> str:
    """Draw the sessions one below the other."""
    lines: list[str] = []
    top = MARGIN
    for title, rows in parts:
        top += TITLE
        lines.append(f'<text class="t" x="{MARGIN}" y="{top - 16}">{escape(title)}</text>')
        for row in rows:
            top += LINE
            lines += row_of(row, top)
    width, height = int(COLUMNS * WIDTH + 2 * MARGIN), top + 2 * MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" role="img" aria-label="{escape(text_of(parts))}">',
            "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;"
            f"fill:{TEXT}}}.t{{font:bold 16px system-ui,sans-serif;fill:{LIT}}}"
            f".d{{fill:{DIM}}}.b{{font-weight:bold}}.r{{fill:{LIT}}}</style>",
            f'<rect width="{width}" height="{height}" rx="10" fill="{BACKGROUND}"/>',
            *lines,
            "</svg>\n",
        ]
    )


def row_of(row: Sequence[Char], y: int) -> Iterator[str]:
    """Yield the runs of equal style of a row. Lines about recollect are lit."""
    text = "".join(char.data for char in row)
    is_ours = "recollect" in text
    place = 0
    for style, run in groupby(row, key=lambda char: style_of(char, is_ours)):
        told = "".join(char.data for char in run)
        if told.strip():
            left = place + len(told) - len(told.lstrip())
            x = MARGIN + left * WIDTH
            length = len(told.strip()) * WIDTH
            name = f' class="{style}"' if style else ""
            yield f'<text{name} x="{x:.1f}" y="{y}" textLength="{length:.1f}">{escape(told.strip())}</text>'
        place += len(told)


def style_of(char: Char, is_ours: bool) -> str:
    if is_ours:
        return "r"
    is_grey = len(char.fg) == 6 and len({char.fg[:2], char.fg[2:4], char.fg[4:]}) == 1 and char.fg < "b0b0b0"
    return "d" if is_grey else "b" if char.bold else ""


def text_of(parts: Sequence[tuple[str, list[list[Char]]]]) -> str:
    """Return all that is shown, for those who hear the picture."""
    told = [
        title + ". " + " ".join("".join(char.data for char in row).strip() for row in rows) for title, rows in parts
    ]
    return " ".join(" ".join(told).split())


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    with tempfile.TemporaryDirectory() as folder:
        parts = list(recorded(Path(folder)))
    target.write_text(drawn(parts), encoding="utf-8")
    print(f"{os.path.relpath(target)}: {len(parts)} sessions")


if __name__ == "__main__":
    main()
