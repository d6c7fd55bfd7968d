"""Measure how many sentences of real sessions are worth keeping: those found, shown as hints, and staged for review.

    python bench/triage/sentences.py --transcripts FOLDER ... [--part "held out"] [--json]

`bench/triage/published.py` makes the folder. The labels (tests/data/triage/sentences.json) know a sentence by a hash of
its first letters; one without a label is counted as such. Facts of the work ("pytest failed, and passes now") are no
sentences. The second table has the labelled dialogues, written to be found: what is staged of them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run import DATA, THRESHOLDS
from sessions import PARTS, judged, read

from recollect.config.workspace import load_workspace
from recollect.domain.categories import SESSION_SUMMARY
from recollect.domain.triage.score import Activity, Said, bounded, find
from recollect.files.journal.tail import awaiting
from recollect.files.session.transcript import read_end
from recollect.sessions.stop import Stop, capture

CATEGORIES = {name: least for name, least in THRESHOLDS.items() if name != SESSION_SUMMARY}
FACTS = ("passes now", "finished after it", "was finished")
MOST_MESSAGES = 1000
LETTERS = 60

Seen = dict[str, set[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--transcripts", nargs="*", default=[], type=Path, help="folders with sessions")
    parser.add_argument("--part", choices=PARTS, help="only this part")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    labels = labelled("sentences.json")
    parts = {name: label["part"] for name, label in labelled("sessions.json").items()}
    results: list[dict[str, Any]] = []
    for part in [options.part] if options.part else PARTS:
        seen: dict[str, Seen] = {}
        for name in labels:
            for lines in read(options.transcripts, name) if parts[name] == part else ():
                for kind, texts in shown(lines, labelled("sessions.json")[name]["turn_ends"]).items():
                    seen.setdefault(kind, {})[name] = texts
        results += [{"part": part, "sentences": kind, **counted(texts, labels)} for kind, texts in seen.items()]
    results += list(staged_dialogues())
    print(json.dumps(results, indent=2) if options.json else "\n".join(map(str, results)))


def labelled(name: str) -> dict[str, Any]:
    return json.loads(Path(DATA, name).read_text(encoding="utf-8"))


def shown(lines: list[str], ends: list[int]) -> Seen:
    """Return the sentences of a session by what is done with them."""
    return {
        "found by words": set(found(lines, ends)),
        "shown as hints": set(hints(lines, ends, has_model=False)),
        "shown as hints, with the resident": set(hints(lines, ends, has_model=True)),
        "staged": set(staged(lines, ends, has_model=False)),
        "staged, with the resident": set(staged(lines, ends, has_model=True)),
    }


def found(lines: list[str], ends: list[int]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        for begin, end in zip([0, *ends], ends, strict=False):
            transcript = Path(folder, "turn.jsonl")
            transcript.write_text("".join(lines[begin:end]), encoding="utf-8")
            said = bounded(read_end(str(transcript), MOST_MESSAGES, 0).said)
            for finding in find(said, Activity(0, 0, 0), CATEGORIES):
                yield from finding.snippets


def hints(lines: list[str], ends: list[int], *, has_model: bool) -> Iterator[str]:
    """Yield what held stops quote, without facts of the work."""
    for done, _ in stops(lines, ends, free=True, has_model=has_model):
        for finding, _path in done.held:
            if finding.category != SESSION_SUMMARY:
                told = finding.evidence or finding.snippets[:1]
                yield from [text for text in told if not text.endswith(FACTS)]


def staged(lines: list[str], ends: list[int], *, has_model: bool) -> Iterator[str]:
    for _, workspace in stops(lines, ends, free=False, has_model=has_model):
        for each in awaiting(workspace.journal, workspace.identity):
            if each.category != SESSION_SUMMARY:
                yield from each.snippets


def stops(lines: list[str], ends: list[int], *, free: bool, has_model: bool) -> Iterator[tuple[Any, Any]]:
    """Yield the outcome of each stop of a session, with its workspace."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "project", ".git").mkdir(parents=True)
        os.environ |= {"HOME": folder, "RECOLLECT_HOME": str(Path(folder, "store"))}
        workspace = load_workspace(str(Path(folder, "project")))
        transcript = Path(folder, "session.jsonl")
        for end in ends:
            transcript.write_text("".join(lines[:end]), encoding="utf-8")
            stop = Stop(str(transcript), "session", "", continued=False, free=free)
            done = capture(stop, workspace, judged if has_model else None)
            yield done, workspace
            if done.held:
                capture(Stop(str(transcript), "session", "", continued=True), workspace)


def counted(texts: Seen, labels: dict[str, Any]) -> dict[str, Any]:
    marks = [(name, mark(text)) for name, each in texts.items() for text in each]
    worth = sum(each in labels[name]["worth"] for name, each in marks)
    known = sum(each in labels[name]["worth"] + labels[name]["not"] for name, each in marks)
    return {"number": len(marks), "labelled": known, "worth": worth, "share": round(worth / max(known, 1), 2)}


def mark(text: str) -> str:
    """Return what a sentence is known by: a hash of its first letters, whatever its marks and its length."""
    letters = "".join(re.findall(r"[a-z0-9]+", re.sub(r"&\w+;", " ", text.lower())))
    return sha256(letters[:LETTERS].encode()).hexdigest()[:10]


def staged_dialogues() -> Iterator[dict[str, Any]]:
    """Yield for the held-out dialogues how many have something staged."""
    for has_model in (False, True):
        kept = {True: 0, False: 0}
        everything = {True: 0, False: 0}
        for worth, said in dialogues():
            everything[worth] += 1
            kept[worth] += any(True for _ in staged(as_lines(said), [len(said)], has_model=has_model))
        yield {"dialogues": "others", "resident": has_model, "worth it": everything, "staged": kept}


def dialogues() -> Iterator[tuple[bool, Sequence[Said]]]:
    for name in (*CATEGORIES, "quiet"):
        for line in Path(DATA, f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            each = json.loads(line)
            if each["half"] == "others":
                yield each["remember"], [Said(*said) for said in each["said"]]


def as_lines(said: Sequence[Said]) -> list[str]:
    roles = {"human": "user", "assistant": "assistant"}
    return [
        json.dumps({"type": roles[each.role], "message": {"role": roles[each.role], "content": each.text}}) + "\n"
        for each in said
    ]


if __name__ == "__main__":
    main()
