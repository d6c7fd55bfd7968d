"""Measure what is worth keeping of what stops stage by themselves, on real sessions played as the days of a month.

    python bench/feedback/junk.py [--json]

Four real sessions are cut into 30 where a piece of work ends. Each piece stops once at its end, by the stop hook's use
case: with nobody to be asked (`triage.mode stage`), and as it comes, where the findings are hints of a held stop. The
judge by meaning is the resident's. The same is done with everyday dialogues, in which nothing is worth keeping. What
comes up is looked up in tests/data/feedback/staged.tsv, where a reader has labelled it; what nobody has labelled is
named.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.feedback.cases import DATA, real_lines
from bench.triage.sessions import judged

from recollect.config.workspace import load_workspace
from recollect.domain.categories import SESSION_SUMMARY
from recollect.files.journal.tail import awaiting
from recollect.sessions.stop import Stop, capture

if TYPE_CHECKING:
    from recollect.sessions.stop import Judge

# The first line of each piece, and the end.
PIECES = {
    "long-2.1.39": (5, 300, 434, 549, 661, 807, 922, 1169, 1257, 1389, 1482, 1656, 1773, 1861),
    "long-2": (7, 128, 330, 486, 647, 707, 935, 1009, 1195, 1344, 1482, 1640, 1757, 1950, 2147, 2386),
    "subagent": (1, 100),
    "tool_heavy": (1, 40),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    labels = dict(line.split("\t") for line in (DATA / "feedback" / "staged.tsv").read_text("utf-8").splitlines())
    results: list[dict[str, Any]] = []
    for kind, sessions in (("real sessions", list(pieces())), ("everyday dialogues", list(dialogues()))):
        for name, mode, judge in (
            ("staged without the resident", "stage", None),
            ("staged with its judge", "stage", judged),
            ("hints of held stops", "block", judged),
        ):
            staged = [text for texts in played(sessions, mode, judge) for text in texts]
            for text in staged:
                if kind == "real sessions" and text not in labels:
                    print(f"nobody has labelled: {text}", file=sys.stderr)
            kept = sum(labels.get(text) == "keep" for text in staged)
            results.append({"of": kind, "found": name, "sessions": len(sessions), "things": len(staged), "kept": kept})
    print(json.dumps(results, indent=2) if options.json else table(results))


def pieces() -> Iterator[list[dict[str, Any]]]:
    for name, cuts in PIECES.items():
        lines = real_lines(name)
        for first, after in pairwise(cuts):
            yield lines[first - 1 : after - 1]


def dialogues() -> Iterator[list[dict[str, Any]]]:
    for line in (DATA / "triage" / "quiet.jsonl").read_text("utf-8").splitlines():
        said = json.loads(line)["said"]
        yield [_message(role, text, place) for place, (role, text) in enumerate(said)]


def _message(role: str, text: str, place: int) -> dict[str, Any]:
    if role == "human":
        return {"type": "user", "message": {"role": "user", "content": text}}
    message = {"id": f"msg_{place}", "role": "assistant", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": message}


def played(sessions: Sequence[Sequence[dict[str, Any]]], mode: str, judge: Judge | None) -> Iterator[list[str]]:
    """Yield for each session the sentences that are staged or asked about at its end, without summaries."""
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        place = Path(folder)
        (place / "project" / ".git").mkdir(parents=True)
        os.environ |= {"HOME": folder, "RECOLLECT_HOME": str(place / "store"), "RECOLLECT_TRIAGE_MODE": mode}
        for number, lines in enumerate(sessions):
            workspace = load_workspace(str(place / "project"))
            transcript = place / f"{number}.jsonl"
            transcript.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
            done = capture(Stop(str(transcript), f"day-{number}", "", continued=False), workspace, judge)
            staged = awaiting(workspace.journal, workspace.identity)
            found = [*(each for each in staged if each.session == f"day-{number}"), *(each for each, _ in done.held)]
            yield [text for each in found if each.category != SESSION_SUMMARY for text in each.snippets]


def table(results: Sequence[dict[str, Any]]) -> str:
    lines = ["| sessions | found | things | worth keeping |", "| --- | --- | ---: | ---: |"]
    lines += [
        f"| {each['of']}: {each['sessions']} | {each['found']} | {each['things']} | {each['kept']} |"
        for each in results
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
