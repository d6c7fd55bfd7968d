"""Measure when a stop is held: on real sessions that two readers have labelled, with the stop hook's own use case.

    python bench/triage/sessions.py [--transcripts FOLDER ...] [--json]

Each session is played turn by turn. A held stop is justified if a reader found something worth keeping that was settled
since the last held stop. A turn that both readers would hold for is covered if a stop is held at it or later in the
session, because the agent is asked about everything since the last time. The baseline (`triage.after_prompts 0`) holds
at every turn with a finding.

The labels (tests/data/triage/sessions.json) are numbers of lines. Sessions without a licence are not part of this
repository; give the folders that have them. Missing ones are named.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from recollect.config.workspace import load_workspace
from recollect.domain.categories import SESSION_SUMMARY
from recollect.domain.triage.lasting import lasting
from recollect.embedding.base import Embedder
from recollect.embedding.registry import create_embedder
from recollect.sessions.stop import Stop, capture

DATA = Path(__file__).parents[2] / "tests" / "data"
VARIABLE = "RECOLLECT_TRIAGE_AFTER_PROMPTS"
PARTS = ("chosen on", "held out")
RULES = {
    "at every turn with a finding": ("0", False),
    "at the right moment": ("5", False),
    "at the right moment, with the resident's model": ("5", True),
}

Label = Mapping[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--transcripts", nargs="*", default=[], type=Path, help="more folders with sessions")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    labels: dict[str, Label] = json.loads((DATA / "triage" / "sessions.json").read_text(encoding="utf-8"))
    found = {name: lines for name in labels for lines in read([DATA / "transcripts", *options.transcripts], name)}
    for name in sorted(set(labels) - set(found)):
        print(f"{name}: not here, so it is left out", file=sys.stderr)
    results = [
        {"part": part, "rule": rule, **total([play(found[name], labels[name], rule) for name in chosen])}
        for part in PARTS
        for rule in RULES
        for chosen in [[name for name in found if labels[name]["part"] == part]]
        if chosen
    ]
    print(json.dumps(results, indent=2) if options.json else table(results))


def read(folders: list[Path], name: str) -> Iterator[list[str]]:
    """The lines of a session, from the first folder that has it."""
    for folder in folders:
        for path, opened in ((folder / f"{name}.jsonl", open), (folder / f"{name}.jsonl.gz", gzip.open)):
            if path.exists():
                with opened(path, "rt", encoding="utf-8") as file:
                    yield file.readlines()
                return


def play(lines: list[str], label: Label, rule: str) -> dict[str, int]:
    """Stop at the end of each turn of a session, and count."""
    ends: list[int] = label["turn_ends"]
    held = list(holds(lines, ends, *RULES[rule]))
    deserving = [[end in reader for reader in label["deserve"]] for end in ends]
    justified, last = 0, -1
    for at, is_held in enumerate(held):
        if is_held:
            justified += any(any(each) for each in deserving[last + 1 : at + 1])
            last = at
    needed = [at for at, each in enumerate(deserving) if all(each)]
    covered = sum(any(held[at:]) for at in needed)
    return {
        "turn_ends": len(ends),
        "held": sum(held),
        "justified": justified,
        "deserving": len(needed),
        "covered": covered,
    }


def holds(lines: list[str], ends: list[int], enough: str, has_model: bool) -> Iterator[bool]:
    """Yield for each stop True if it is held for something other than a summary."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "project" / ".git").mkdir(parents=True)
        os.environ |= {"HOME": folder, "RECOLLECT_HOME": str(place / "store"), VARIABLE: enough}
        workspace = load_workspace(str(place / "project"))
        transcript = place / "session.jsonl"
        for end in ends:
            transcript.write_text("".join(lines[:end]), encoding="utf-8")
            done = capture(
                Stop(str(transcript), "session", "", continued=False), workspace, judged if has_model else None
            )
            yield any(finding.category != SESSION_SUMMARY for finding, _ in done.held)
            if done.held:
                capture(Stop(str(transcript), "session", "", continued=True), workspace)


def judged(texts: Sequence[str]) -> list[float]:
    """Score sentences as the resident does."""
    return list(map(lasting, model().embed(texts, "document"), texts))


@cache
def model() -> Embedder:
    return create_embedder("local", "auto", timeout=60)


def total(counts: list[dict[str, int]]) -> dict[str, int]:
    return {"sessions": len(counts), **{key: sum(each[key] for each in counts) for key in counts[0]}}


def table(results: list[dict[str, Any]]) -> str:
    lines = [
        "| sessions | held | turn ends held | of them justified | turns that deserve it | of them covered |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for each in results:
        lines.append(
            f"| {each['part']}: {each['sessions']} | {each['rule']} | {each['held']} of {each['turn_ends']} |"
            f" {each['justified']} ({each['justified'] / max(each['held'], 1):.2f}) | {each['deserving']} |"
            f" {each['covered']} ({each['covered'] / max(each['deserving'], 1):.2f}) |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
