"""Measure the signs of use on labelled sessions: precision and recall of each kind, and of "used".

    python bench/feedback/signs.py [--held-out] [--misses] [--json]

Each session of tests/data/feedback is played with a store of its own. It is looked at after every turn and once more
at its end, as the stop hook does it. A memory counts as used if the store counts it as used.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.feedback.cases import KINDS, Case, Label, load_cases, play

from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.sessions.look import look

FIRST, HELD_OUT = "first", "held out"
USED = "used"
IN_VAIN = "in vain"  # there is no evidence, not even a mention: enough of these put an entry to rest
OPENED, CITED = "opened", "cited"  # who opens a memory has named it


@dataclass(frozen=True)
class Verdict:
    """A memory of a session: its label, and what was found."""

    session: str
    memory: str
    part: str
    is_real: bool
    label: Label
    found: frozenset[str]
    used: bool

    def pair(self, kind: str) -> tuple[bool, bool]:
        """Whether something was found, and whether it is labelled."""
        if kind == IN_VAIN:
            return not self.found, not self.label.used
        return (self.used, self.label.used) if kind == USED else (kind in self.found, kind in self.label.signs)


def judged(cases: Sequence[Case], folder: str) -> Iterator[Verdict]:
    """Play each session, look at it, and compare."""
    for case in cases:
        place = Path(folder) / case.name
        root = place / "project"
        (root / ".git").mkdir(parents=True)
        workspace = Workspace(str(root), str(place / "store"), load_settings(str(root), {}))
        played = play(case, workspace, place)
        for end in played.turn_ends:
            if end < played.given_at:
                continue  # nothing was given yet
            played.transcript.write_text("".join(played.lines[:end]), encoding="utf-8")
            problems = look(workspace, played.session, str(played.transcript))
            if problems:
                raise SystemExit("\n".join(problems))
        with Engine(workspace) as engine:
            used = {usage.id for usage in engine.store.usages() if usage.influence_count}
            for name, id in played.ids.items():
                kinds = {CITED if each.kind == OPENED else each.kind for each in engine.store.evidence(id)}
                yield Verdict(case.name, name, case.part, case.is_real, case.labels[name], frozenset(kinds), id in used)


def rates(verdicts: Sequence[Verdict], kind: str) -> dict[str, Any]:
    pairs = [verdict.pair(kind) for verdict in verdicts]
    both = sum(found and labelled for found, labelled in pairs)
    found, labelled = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    return {
        "sign": kind,
        "labelled": labelled,
        "found": found,
        "right": both,
        "precision": both / found if found else 1.0,
        "recall": both / labelled if labelled else 1.0,
    }


def misses(verdicts: Sequence[Verdict]) -> Iterator[str]:
    for kind in (USED, *KINDS, IN_VAIN):
        for each in verdicts:
            found, labelled = each.pair(kind)
            if found != labelled:
                why = f"found: {', '.join(sorted(each.found)) or 'nothing'}"
                yield f"{kind}: {'not labelled' if found else 'not found'}: {each.session} / {each.memory} ({why})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--held-out", action="store_true", help="also what no rule was chosen on; do not do it often")
    parser.add_argument("--misses", action="store_true", help="name what was found or missed wrongly")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as made:
        chosen = [case for case in load_cases() if options.held_out or case.part == FIRST]
        verdicts = list(judged(chosen, os.path.realpath(made)))
    parts = {
        "first": [each for each in verdicts if each.part == FIRST],
        "first, real sessions": [each for each in verdicts if each.part == FIRST and each.is_real],
        "held out": [each for each in verdicts if each.part == HELD_OUT],
    }
    if not options.held_out:
        del parts["held out"]
    results = {name: [rates(part, kind) for kind in (USED, *KINDS, IN_VAIN)] for name, part in parts.items()}
    print(json.dumps(results, indent=2) if options.json else table(results, parts))
    if options.misses:
        print("\n".join(misses(verdicts)))


def table(results: dict[str, list[dict[str, Any]]], parts: dict[str, list[Verdict]]) -> str:
    lines = ["| pairs | sign | labelled | precision | recall |", "| --- | --- | ---: | ---: | ---: |"]
    for name, found in results.items():
        for each in found:
            precision = f"{each['precision']:.2f} ({each['right']} of {each['found']})"
            row = (f"{name}: {len(parts[name])}", each["sign"], each["labelled"], precision, f"{each['recall']:.2f}")
            lines.append(f"| {' | '.join(map(str, row))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
