"""How well a session's end is judged: precision and recall on labelled dialogues, for each category.

    python bench/triage/run.py [--json] [--misses dev|seen]

The words were chosen by the dialogues of `dev`, and by those of `seen`, which other authors wrote who did not know the
words. `others` is the other half of what those wrote, parted by a hash of the text before anybody looked at it: the
figures to believe. Its texts are never shown, so that they stay unknown to whoever changes the words.

A session in which nothing is worth remembering should end in peace, so the second table counts how many of the quiet
sessions, everyday work of some twenty messages, would be held. The baseline are the words that the scoring was first
described with, by the same rules.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.domain.triage.phrases import Lexicon, Rule
from recollect.domain.triage.score import Activity, Said, find
from recollect.domain.triage.words import CLASSES, RULES

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "tests", "data", "triage")
THRESHOLDS = {
    "decision": 0.4,
    "runbook": 0.4,
    "constraint": 0.5,
    "tech_debt": 0.4,
    "preference": 0.4,
    "session_summary": 0.6,
}
BASELINE = {
    "decision": Rule(
        "decided, chose, selected, went with, picked",
        "because, due to, reason, rationale, over, instead of, rather than",
        weights=(0.3, 0.5, 1.9),
    ),
    "runbook": Rule(
        "error, exception, traceback, stack trace, failed, failure, crash",
        "fixed by, resolved, root cause, solution, workaround, the fix",
        weights=(0.2, 0.6, 1.8),
    ),
    "constraint": Rule(
        "limitation, api limit, cannot, restricted, not supported, quota, rate limit",
        "discovered, found that, turns out, permanently, enduring, platform",
        weights=(0.3, 0.5, 1.9),
    ),
    "tech_debt": Rule(
        "todo, deferred, tech debt, workaround, hack, will address later, technical debt",
        "because, for now, temporary, acknowledged, deferring, cost, risk",
        weights=(0.3, 0.5, 1.9),
    ),
    "preference": Rule(
        "always use, prefer, convention, from now on, standard, never use, established",
        "agreed, going forward, consistently, rule, practice, workflow",
        weights=(0.35, 0.5, 2.05),
    ),
}
SETS = {"baseline": BASELINE, "ours": RULES}
HALVES = ("others", "seen", "dev")
SHOWN = ("dev", "seen")

Example = dict[str, Any]


def examples(category: str) -> Iterator[Example]:
    with open(os.path.join(DATA, f"{category}.jsonl"), encoding="utf-8") as file:
        for line in file:
            yield {"half": "dev", **json.loads(line)}


def lexicon_of(rules: Mapping[str, Rule]) -> Lexicon:
    return Lexicon(rules, CLASSES if rules is RULES else None)


def said_in(example: Example) -> list[Said]:
    return [Said(role, text) for role, text in example.get("said", [])]


def is_found(category: str, example: Example, rules: Mapping[str, Rule], lexicon: Lexicon) -> bool:
    activity = Activity(*(example.get(name, 0) for name in ("tool_uses", "distinct_tools", "exchanges")))
    thresholds = {category: THRESHOLDS[category]}
    return bool(find(said_in(example), activity, thresholds, rules=rules, lexicon=lexicon))


def measured(category: str, rules: Mapping[str, Rule]) -> dict[str, dict[str, float]]:
    lexicon = lexicon_of(rules)
    counts = {half: {"right": 0, "wrong": 0, "missed": 0, "silent": 0} for half in HALVES}
    outcomes = {(True, True): "right", (True, False): "wrong", (False, True): "missed", (False, False): "silent"}
    for example in examples(category):
        found = is_found(category, example, rules, lexicon)
        counts[example["half"]][outcomes[found, example["remember"]]] += 1
    return {half: {**count, **rates(count)} for half, count in counts.items() if any(count.values())}


def rates(count: Mapping[str, int]) -> dict[str, float]:
    found, there = count["right"] + count["wrong"], count["right"] + count["missed"]
    return {
        "precision": round(count["right"] / found, 3) if found else 0.0,
        "recall": round(count["right"] / there, 3) if there else 0.0,
    }


def held(half: str, rules: Mapping[str, Rule]) -> dict[str, int]:
    """How many of the quiet sessions there are, and how many would be held, for any category and for each."""
    lexicon = lexicon_of(rules)
    thresholds = {category: THRESHOLDS[category] for category in rules}
    counts = dict.fromkeys(["sessions", "any", *rules], 0)
    for session in examples("quiet"):
        if session["half"] != half:
            continue
        findings = find(said_in(session), Activity(0, 0, 0), thresholds, rules=rules, lexicon=lexicon)
        for name in ["sessions", *(["any"] if findings else []), *(finding.category for finding in findings)]:
            counts[name] += 1
    return counts


def print_dialogues(results: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]) -> None:
    print(
        "| category | words | half | worth it | not | precision | recall |\n| --- | --- | --- | --: | --: | --: | --: |"
    )
    for category, of_sets in results.items():
        for name, halves in of_sets.items():
            for half, result in halves.items():
                worth, rest = result["right"] + result["missed"], result["wrong"] + result["silent"]
                found = result["right"] + result["wrong"]
                precision = f"{result['precision']:.2f}" if found else "-"
                print(f"| {category} | {name} | {half} | {worth} | {rest} | {precision} | {result['recall']:.2f} |")


def print_sessions(results: Mapping[str, Mapping[str, Mapping[str, int]]]) -> None:
    names = ["sessions", "any", *BASELINE]
    print(f"\n| quiet sessions held: words | half | {' | '.join(names)} |\n| --- | --- |{' --: |' * len(names)}")
    for name, halves in results.items():
        for half, counts in halves.items():
            print(f"| {name} | {half} | {' | '.join(str(counts[column]) for column in names)} |")


def print_misses(half: str) -> None:
    lexicon = lexicon_of(RULES)
    for category in THRESHOLDS:
        for example in examples(category):
            found = is_found(category, example, RULES, lexicon)
            if example["half"] == half and found != example["remember"]:
                print(f"\n{category}: {'found, but nothing is there' if found else 'missed'}")
                print("\n".join(f"  {role}: {text}" for role, text in example.get("said", [["", str(example)]])))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", choices=SHOWN)
    options = parser.parse_args()
    if options.misses:
        print_misses(options.misses)
        return
    dialogues = {category: {name: measured(category, rules) for name, rules in SETS.items()} for category in THRESHOLDS}
    sessions = {name: {half: held(half, rules) for half in ("others", "seen")} for name, rules in SETS.items()}
    if options.json:
        print(json.dumps({"dialogues": dialogues, "sessions": sessions}))
    else:
        print_dialogues(dialogues)
        print_sessions(sessions)


if __name__ == "__main__":
    main()
