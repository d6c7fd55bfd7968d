"""Measure how often PostgreSQL and SQLite stores give the same first ten for a question, in the same order.

    python -m bench.team.agreement FOLDER... [--kept FOLDER] [--most 300] [--why]

The folders are those of bench/retrieval (BEIR). Each is stored in both engines, with the same vectors of the local
model, and asked all its judged questions. `--kept` keeps the vectors for the next time, and `--why` names the parts of
each search that differ: words, vectors, or the usual cosine.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.team.corpus import Corpus, corpora
from bench.team.server import SETTINGS, running

from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.ranking.terms import query_terms
from recollect.engine.engine import Engine
from recollect.recall.search import relevance, retrieve
from recollect.store.values import BANK, Model, Scope, Source

EVERYTHING = Scope(None)
FIRST = 10
PORTION = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--kept", default="", help="a folder for vectors")
    parser.add_argument("--most", type=int, default=0, help="questions of each folder; all if 0")
    parser.add_argument("--why", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made, running(SETTINGS | {"shared_buffers": "256MB"}) as server:
        total: Counter[str] = Counter()
        server.login("dev")  # no superuser, as users are not
        server.run("GRANT CREATE ON DATABASE postgres TO dev; CREATE EXTENSION vector")
        print("| folder | questions | same first ten | same set | same first | by words | by meaning |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        for number, corpus in enumerate(corpora(options.folders, options.kept or made)):
            questions = corpus.questions[: options.most or None]
            place = Path(made) / str(number)
            place.mkdir()
            found = Counter[str]()
            with _engine(str(place), "") as one, _engine(str(place), server.place(place)) as other:
                for engine in (one, other):
                    _fill(engine, corpus)
                for question in questions:
                    found.update(_compared(one, other, question, why=options.why))
            found["questions"] = len(questions)
            _print_row(corpus.name, found)
            total += found
        _print_row("all", total)


def _engine(folder: str, url: str) -> Engine:
    settings = load_settings(folder, {"RECOLLECT_MEMORY_STORE": url} if url else {})
    return Engine(Workspace("", folder, settings))


def _fill(engine: Engine, corpus: Corpus) -> None:
    model = engine.embedder()
    engine.store.use_model(Model(model.identity, model.provider, model.model, model.dimensions))
    engine.store.put(Source("corpus", BANK), corpus.entries)
    pairs = [(entry.id, row.tobytes()) for entry, row in zip(corpus.entries, corpus.vectors, strict=True)]
    for start in range(0, len(pairs), PORTION):
        engine.store.put_vectors(pairs[start : start + PORTION])


def _compared(one: Engine, other: Engine, question: str, *, why: bool) -> Iterator[str]:
    """Yield what is the same in both engines."""
    (ours, parts), (theirs, other_parts) = _found(one, question), _found(other, question)
    if ours == theirs:
        yield "same"
    if set(ours) == set(theirs):
        yield "set"
    if ours[:1] == theirs[:1]:
        yield "first"
    apart: list[str] = []
    for name, part in parts.items():
        if part == other_parts[name]:
            yield name
        else:
            apart.append(name)
    if why and ours != theirs:
        place = next(place for place, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
        print(f"  {question[:60]!r}: from place {place + 1}; apart: {', '.join(apart) or 'nothing named'}")


def _found(engine: Engine, question: str) -> tuple[list[str], dict[str, object]]:
    """Return the first ten ids of a question, and the parts that a search is made of."""
    result = retrieve(engine, question, EVERYTHING)
    scores = relevance(engine, result, EVERYTHING)
    best = sorted(scores, key=lambda id: (-scores[id], id))[:FIRST]
    background = engine.store.background(result.query_vector, EVERYTHING)
    return best, {
        "words": [match.id for match in engine.store.text_matches(query_terms(question), EVERYTHING, FIRST)],
        "vectors": [match.id for match in engine.store.vector_matches(result.query_vector, EVERYTHING, FIRST)],
        "word scores": {id: round(score, 4) for id, score in result.fts5.items()},
        "vector candidates": set(result.vector),
        "cosines": {id: round(score, 3) for id, score in result.vector.items()},
        "background": (round(background.mean, 4), round(background.deviation, 4), background.count),
        "query": result.query_vector,
    }


def _print_row(name: str, found: Counter[str]) -> None:
    questions = found["questions"]
    shares = " | ".join(f"{found[key] / questions:.3f}" for key in ("same", "set", "first", "words", "vectors"))
    print(f"| {name} | {questions} | {shares} |", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
