"""The client's summary of a compacted conversation: which sections are read, and how much of them."""

from __future__ import annotations

import gzip
import json
from dataclasses import astuple
from pathlib import Path

import pytest
from tests.conftest import cpu_seconds

from recollect.domain.triage.compaction import (
    LONGEST_GOAL,
    LONGEST_ITEM,
    LONGEST_TITLE,
    Compaction,
    read_compaction,
)
from recollect.domain.triage.quoted import marks

DATA = Path(__file__).parents[2] / "data"

PLAIN = """1. Primary Request and Intent:
   The user asked to move the order queue to Postgres. Orders got lost in Redis.

2. Key Technical Concepts:
   - LISTEN and NOTIFY

3. Files and Code Sections:
   - src/queue.py (new)
     - Takes orders with SKIP LOCKED
   - docs/queue.md

4. Errors and fixes:
   - Deadlock in the importer: fixed by taking locks in the order of ids.
   - Flaky restart test (UNRESOLVED): it fails one time in ten.

6. All user messages:
   - "move the queue"

7. Pending Tasks:
   - Remove Redis from the deployment

8. Current Work:
   The migration runs in staging.

9. Optional Next Step:
   Run the load test.

   The user said: "then measure it".
"""


def read(text: str) -> Compaction:
    found = read_compaction(text)
    assert found
    return found


def test_sections_become_the_parts_of_a_summary() -> None:
    assert read(PLAIN) == Compaction(
        title="Move the order queue to Postgres",
        goal="The user asked to move the order queue to Postgres. Orders got lost in Redis.",
        completed=["Deadlock in the importer: fixed by taking locks in the order of ids."],
        in_progress=["The migration runs in staging."],
        blockers=["Flaky restart test (UNRESOLVED): it fails one time in ten."],
        next_actions=["Run the load test.", "Remove Redis from the deployment"],
        key_changes=["src/queue.py (new); Takes orders with SKIP LOCKED", "docs/queue.md"],
        files=["src/queue.py", "docs/queue.md"],
    )


def test_a_real_summary_is_read() -> None:
    with gzip.open(DATA / "transcripts" / "long-2.1.39.jsonl.gz", "rt", encoding="utf-8") as lines:
        [row] = [row for row in map(json.loads, lines) if row.get("isCompactSummary")]
    found = read(row["message"]["content"])
    assert found.title.startswith('"Implement spotter-gqc"')
    assert found.goal.endswith("The user wants all tasks in the dependency chain completed, committed, and pushed.")
    assert (len(found.completed), len(found.in_progress), len(found.next_actions)) == (10, 2, 3)
    assert found.next_actions[0].startswith("Complete gqc.6 by adding LiveView tests")
    assert found.next_actions[2].startswith("spotter-gqc.7 (open, blocked by gqc.5): Launch project review")
    assert found.files[0] == "lib/spotter/transcripts/annotation.ex"
    assert "User's initial request" not in str(astuple(found)), "the analysis before it is left out"
    assert "full transcript" not in str(astuple(found)), "the client's words after it are left out"
    assert "defmodule" not in str(astuple(found)), "code is left out"


@pytest.mark.parametrize(
    "text",
    [
        f"<analysis>\n1. Primary Request and Intent:\n   Nonsense.\n</analysis>\n\n<summary>\n{PLAIN}</summary>",
        f"Analysis:\n1. **Initial Request**: something\n8. Current Work:\n   Nonsense.\n\nSummary:\n{PLAIN}",
        f"This session is being continued from a previous conversation.\n\n{PLAIN}\nPlease continue the conversation.",
        PLAIN.replace("\n", "\r\n").replace("\r", ""),
        "\n".join(f"**{line}**" if line[:1].isdigit() else line for line in PLAIN.split("\n")),
        "\n".join(f"## {line.rstrip(':')}" if line[:1].isdigit() else line for line in PLAIN.split("\n")),
        "\n".join(f"### **{line[3:-1]}**" if line[:1].isdigit() else line for line in PLAIN.split("\n")),
        "\n".join(line[3:] if line[:1].isdigit() else line for line in PLAIN.split("\n")),
        PLAIN.replace("Optional Next Step:", "Optional Next Step (if any):").replace(
            "Errors and fixes", "Errors and Fixes"
        ),
        PLAIN.replace("7. Pending Tasks", "7. Remaining work").replace("Optional Next Step", "Next Steps"),
        PLAIN.replace("6. All user messages", "5. Words of the user"),
    ],
    ids=["tags", "analysis", "client", "lines", "bold", "headings", "deep", "plain", "brackets", "names", "unknown"],
)
def test_variants_are_read_alike(text: str) -> None:
    assert read(text) == read(PLAIN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Summary.",
        "We moved the queue to Postgres and everything works.",
        "1. Primary Request and Intent:\n   Move the queue.\n",
        "7. Pending Tasks:\n   - Remove Redis\n",
        "1. Primary Request and Intent:\n   Move the queue.\n7. Pending Tasks:\n   None.\n8. Current Work:\n   N/A\n",
        "My goal is that: no. Next steps are unclear.\nCurrent work goes on.",
        "```\n" + PLAIN + "```\n",
        f"<memory-context>\n{PLAIN}</memory-context>",
    ],
)
def test_a_text_without_these_sections_is_left_alone(text: str) -> None:
    assert read_compaction(text) is None


def test_what_the_session_was_given_is_not_repeated() -> None:
    memory = "Orders of the partner shops are polled every ten minutes by the importer."
    text = PLAIN.replace("   - Remove Redis", f"   - {memory}\n   - Remove Redis")
    text = text.replace("in staging.", "in staging.\n\n<memory-context>\n- [DECISION] A title\n</memory-context>")
    assert memory in read(text).next_actions
    found = read_compaction(text, marks(memory))
    assert found == read(PLAIN)


def test_texts_and_lists_are_bounded() -> None:
    word = "migration " * 400
    text = PLAIN.replace("Orders got lost", word)
    for item in ("src/queue.py (new)", "Deadlock in the importer", "Remove Redis", "The migration runs"):
        text = text.replace(f"   - {item}", f"   - {item} {word}\n" * 50 + f"   - {item}")
    found = read(text)
    assert len(found.goal) <= LONGEST_GOAL
    assert len(found.title) <= LONGEST_TITLE
    lists = (found.completed, found.in_progress, found.blockers, found.next_actions, found.key_changes)
    assert max(map(len, lists)) <= 12
    assert max(len(item) for items in lists for item in items) <= LONGEST_ITEM


@pytest.mark.parametrize(
    "text",
    [
        "<analysis>" * 20_000,
        "<summary>" * 20_000,
        "1. " * 60_000,
        "1. Primary Request and Intent:\n- a\n" * 5_000,
        "`" * 200_000,
        "**" * 100_000,
        " \n" * 100_000,
        ("A" * 60 + " (") * 3_000,
        "Goal: x\nNext steps:\n" + "none " * 40_000,
        "Goal: x\nNext steps:\n" + ("\n" + " " * 1_999) * 100,
        "Goal: x\nKey files:\n" + "a/" * 90_000,
        "Goal: x\nKey files:\n" + "- " + "a." * 90_000,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    assert cpu_seconds(lambda: read_compaction(text)) < 1
