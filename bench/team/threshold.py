"""Measure from which size of a scope on an index of vectors is quicker than to compare all of its vectors.

    python -m bench.team.threshold [--under FOLDER]

A server of its own is filled with 100,000 entries in five scopes and removed again. Vectors are drawn around random
ones of few dimensions, so times carry over to real ones, and the recall does not. Both ways answer the same questions,
one after the other; each time is a ratio to a bare SELECT 1 on the same connection.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import Any

import numpy
from bench.team import load as loading
from bench.team.corpus import WRITTEN, Corpus
from bench.team.run import EVERYTHING, Question, member, questions_of, select_one
from bench.team.server import running
from tests.postgres import Server

from recollect.domain.shared.acting import Acting
from recollect.domain.stored import StoredEntry
from recollect.store.open import open_store
from recollect.store.sql.vectors import TEXTS

SIZES = {"team:s0000": 55_000, "team:s0001": 25_000, "team:s0002": 12_000, "team:s0003": 6_000, "team:s0004": 2_000}
QUESTIONS = 30
NEAREST = 100
INNER, TEXT = 48, 40  # dimensions that vectors really have; words of a text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--under", default=None)
    options = parser.parse_args()
    corpus = made()
    loading.sizes_of = lambda _entries, _scopes: SIZES
    with running(under=options.under) as server:
        loading.load(server, [corpus], sum(SIZES.values()), len(SIZES))
        questions = questions_of([corpus])[:QUESTIONS]
        print("| entries in scope | by index | all compared | first ten the same | chosen |")
        print("| --- | --- | --- | --- | --- |")
        for scope, size in SIZES.items():
            print(f"| {size:,} | {' | '.join(measured(server, scope, questions))} |", flush=True)


def made() -> Corpus:
    """Return texts of random words, with vectors that are random in few dimensions."""
    chance = numpy.random.default_rng(3)
    vectors = chance.standard_normal((4_000, INNER)) @ chance.standard_normal((INNER, loading.DIMENSIONS))
    vectors = (vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)).astype("f4")
    vocabulary = [f"word{number}" for number in range(5_000)]
    texts = [" ".join(chance.choice(vocabulary, TEXT)) for _ in vectors]
    entries = [
        StoredEntry(id=f"{n:016x}", category="patterns", name="", description=text, created_at=WRITTEN)
        for n, text in enumerate(texts)
    ]
    return Corpus("made", [" ".join(chance.choice(vocabulary, 6)) for _ in range(60)], entries, vectors)


def measured(server: Server, scope: str, questions: list[Question]) -> tuple[str, str, str, str]:
    """Return the times of both ways, how many of the first ten both find, and which way a search takes."""
    with open_store(member(server, f"only-{scope[5:]}", [scope]), acting=Acting("", scope)) as store:
        vectors: Any = store._vectors  # type: ignore[attr-defined]
        model = vectors._models.current()
        times: dict[str, list[float]] = {"bare": [], "index": [], "compared": []}
        same: list[float] = []

        def timed(name: str, work: Any, *given: object) -> Any:
            started = time.perf_counter()
            found = work(*given)
            times[name].append(time.perf_counter() - started)
            return found

        for question in questions:
            asked = (model, TEXTS, question.vector, EVERYTHING, NEAREST)
            timed("bare", select_one, store)
            near = _first(timed("index", vectors._by_index, *asked))
            same.append(len(near & _first(timed("compared", vectors._by_comparison, *asked))) / 10)
        bare, index, compared = (statistics.median(taken) for taken in times.values())
        chosen = "index" if vectors._is_large(EVERYTHING) else "compared"
    return f"{index / bare:.0f}", f"{compared / bare:.0f}", f"{statistics.fmean(same):.3f}", chosen


def _first(rows: list[tuple[str, float]]) -> set[str]:
    return {id for id, _ in sorted(rows, key=lambda row: -row[1])[:10]}


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
