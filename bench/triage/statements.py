"""Measure how many lasting statements of a user are asked about: by words, and by their meaning.

    python bench/triage/statements.py [--held-out] [--json]     measure the judge of domain/triage/lasting.py
    python bench/triage/statements.py --fit                     fit it again, and print what lasting.py holds

The statements (tests/data/triage/statements.jsonl) are what people type to an agent in the middle of work. `dialogues`
and `strangers` are the human messages of the labelled dialogues beside them, the halves that words were chosen on. The
judge is fitted to the authors of the half "chosen on". Its threshold is the one with which at most 2 % of the
other statements would be asked about, each author judged by weights that were fitted without that author.

With --held-out: the authors who were set aside, and the half `others` of the dialogues, which other people wrote. A
dialogue worth remembering counts as asked about if one of the user's messages in it is; the agent may have said the
thing instead, so not all can be. Texts of these are never shown.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy

from recollect.domain.triage import lasting
from recollect.domain.triage.moment import is_moment, statements
from recollect.domain.triage.phrases import words_of
from recollect.domain.triage.score import Said
from recollect.embedding.registry import create_embedder

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run import THRESHOLDS, examples

CATEGORIES = ("decision", "runbook", "constraint", "tech_debt", "preference")
DIMENSIONS = 384
FALSE_ASKS = 0.02
PENALTY = 1.0
FEWEST_USES = 5
MOST_WORDS = 100

# Words of a closed class, and some that say how a thing is meant. No topic is among them.
CANDIDATES = (
    "we our us i me my you your it its they their them there here this that these those the a an is are was were be has"
    " have had do does did dont doesnt didnt can cant cannot could should would will wont must may might never always"
    " only no not none any every everything everybody all each both because since so until till after before when"
    " whenever while if unless otherwise for now yet still again first next then than instead just please lets let ok"
    " yes thanks already anyway per most least more less above below under over up out actually btw by in on at to from"
    " with without of and or but nothing nobody once ever later between through need needs want use goes go stay stays"
    " keep keeps get gets make add try show run put take too also even much hm sorry good nice mind what why how whats"
    " today yesterday tomorrow morning monday turns means except everywhere anywhere instead old new same one day days"
    " year years hours minutes says say think maybe working works broken fails wrong gone done ready"
).split()

Embed = Callable[[Sequence[str]], list[bytes]]
Array = Any


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--held-out", action="store_true", help="measure those that the judge was not fitted to")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    embedder = create_embedder("local", "auto", timeout=60)

    def embed(texts: Sequence[str]) -> list[bytes]:
        return [vector for at in range(0, len(texts), 50) for vector in embedder.embed(texts[at : at + 50], "document")]

    if options.fit:
        fit(embed)
        return
    half = "held out" if options.held_out else "chosen on"
    rows = [measured(author, examples_, embed) for author, examples_ in authors(half).items()]
    if options.held_out:
        rows += [measured(f"dialogues of others: {name}", found, embed) for name, found in others().items()]
    print(json.dumps(rows, indent=2) if options.json else table(rows))


def authors(half: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for example in examples("statements"):
        if example["half"] == half:
            found.setdefault(example["author"], []).append(example)
    return found


def others() -> dict[str, list[dict[str, Any]]]:
    """Return the dialogues that other people wrote and nobody has looked at; of quiet ones, each message by itself."""
    found = {name: [each for each in examples(name) if each["half"] == "others"] for name in CATEGORIES}
    quiet = [each for each in examples("quiet") if each["half"] == "others"]
    found["quiet, by message"] = [
        {"remember": False, "said": [[role, text]]} for each in quiet for role, text in each["said"] if role == "human"
    ]
    return found


def measured(name: str, chosen: Iterable[dict[str, Any]], embed: Embed) -> dict[str, Any]:
    """Count how many examples there are, and how many are asked about, by words, by meaning and by either."""
    counts: Counter[str] = Counter()
    for example in chosen:
        said = [Said(role, text) for role, text in example["said"] if role == "human"]
        by_words = is_moment(said, 0, {each: THRESHOLDS[each] for each in CATEGORIES}, 1000)
        texts = list(statements(said))
        by_meaning = any(map(is_lasting, embed(texts), texts))
        kind = "lasting" if example["remember"] else "others"
        counts[kind] += 1
        counts[f"{kind} by words"] += by_words
        counts[f"{kind} by meaning"] += by_meaning
        counts[f"{kind} by either"] += by_words or by_meaning
    return {"name": name, **counts}


def is_lasting(vector: bytes, text: str) -> bool:
    return lasting.lasting(vector, text) >= 0


def table(rows: list[dict[str, Any]]) -> str:
    total = Counter[str]()
    lines = [
        "| by | lasting | asked: by words | by meaning | by either | others | by words | by meaning | by either |",
        "| --- |" + " ---: |" * 8,
    ]
    for row in rows:
        total.update({key: value for key, value in row.items() if key != "name"})
    for row in [*rows, {"name": "all", **total}]:
        cells = [
            str(row.get(kind + by, 0))
            for kind in ("lasting", "others")
            for by in ("", " by words", " by meaning", " by either")
        ]
        lines.append(f"| {row['name']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def fit(embed: Embed) -> None:
    """Fit the judge to the authors it is chosen on, and print its words, its weights and its threshold."""
    chosen = [(name, example) for name, found in authors("chosen on").items() for example in found]
    who = numpy.array([name for name, _ in chosen])
    truth = numpy.array([float(example["remember"]) for _, example in chosen])
    texts = [example["said"][0][1] for _, example in chosen]
    parts = [list(statements([Said("human", text)])) for text in texts]
    vectors = embed(texts)
    part_vectors = [embed(each) for each in parts]
    judged = numpy.array([bool(each) for each in parts])
    uses = Counter(word for text in texts for word in set(words_of(text)))
    lasting.WORDS = [word for word in dict.fromkeys(CANDIDATES) if uses[word] >= FEWEST_USES]
    whole = weights_for(inputs(vectors, texts)[judged], truth[judged])
    strength = dict(zip(lasting.WORDS, abs(whole[DIMENSIONS:-1]), strict=False))
    ranked = sorted(strength, key=lambda word: -strength[word] * uses[word] ** 0.5)
    lasting.WORDS = sorted(ranked[:MOST_WORDS])
    matrix = inputs(vectors, texts)
    scores = numpy.full(len(truth), -99.0)
    for name in set(who):
        weights = weights_for(matrix[judged & (who != name)], truth[judged & (who != name)])
        for at in numpy.flatnonzero(judged & (who == name)):
            scores[at] = (inputs(part_vectors[at], parts[at]) @ weights[:-1]).max() + weights[-1]
    wrong = numpy.sort(scores[truth == 0])[::-1]
    enough = wrong[int(FALSE_ASKS * len(wrong))]
    for name in dict.fromkeys(who):
        mine = who == name
        right, false = (scores[mine & (truth == 1)] > enough).mean(), (scores[mine & (truth == 0)] > enough).mean()
        print(f"# {name}, left out of the fit: {right:.2f} of the lasting ones, {false:.3f} of the others")
    print(f"# all: {(scores[truth == 1] > enough).mean():.2f}")
    final = weights_for(matrix[judged], truth[judged])
    scale = float(abs(final[:-1]).max() / 127)
    packed = struct.pack(f"{len(final) - 1}b", *[round(weight / scale) for weight in final[:-1]])
    print(f"WORDS = {' '.join(lasting.WORDS)!r}.split()")
    print(f"_WEIGHTS = {base64.b85encode(packed)!r}")
    print(f"_SCALE = {scale:.6f}\n_BIAS = {final[-1]:.4f}\n_ENOUGH = {enough:.3f}")


def inputs(vectors: Sequence[bytes], texts: Sequence[str]) -> Array:
    return numpy.array([lasting.features(vector, text) for vector, text in zip(vectors, texts, strict=True)])


def weights_for(matrix: Array, truth: Array) -> Array:
    """Return the weights of a logistic regression, and its bias at the end."""
    matrix = numpy.hstack([matrix, numpy.ones((len(matrix), 1))])
    weights = numpy.zeros(matrix.shape[1])
    penalty = numpy.eye(len(weights)) * PENALTY
    penalty[-1, -1] = 1e-6
    for _ in range(20):
        guess = 1 / (1 + numpy.exp(-matrix @ weights))
        slope = matrix.T @ (guess - truth) + penalty @ weights
        weights -= numpy.linalg.solve((matrix * (guess * (1 - guess))[:, None]).T @ matrix + penalty, slope)
    return weights


if __name__ == "__main__":
    main()
