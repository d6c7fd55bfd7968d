"""How search and import behave as a store grows: time, memory and disk, as ratios to their parts in the same run.

    python bench/scale/run.py [--sizes 1000 10000 100000] [--huge] [--json FILE]

Entries are synthetic (Zipf words, 40 to 80 a document; clustered vectors), questions are embedded by the real model.
Each size runs in a process of its own. `--huge` adds 1,000,000 entries, for full text and vectors.
"""

from __future__ import annotations

import argparse
import array
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.api import Engine
from recollect.config.settings import load_settings
from recollect.domain.ranking.terms import query_terms
from recollect.domain.stored import StoredEntry
from recollect.engine.embed import embed_pending
from recollect.recall.search import search
from recollect.store.values import BANK, Model, Scope, Source

WORDS = 30_000
QUESTIONS = 60
IMPORTED = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[1_000, 10_000, 100_000])
    parser.add_argument("--huge", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    rows = [_in_a_process(size) for size in [*options.sizes, *([1_000_000] if options.huge else [])]]
    print(_table(rows))
    print()
    print(_import_sentence(import_ratio()))
    print(f"10,000 vectors of 768 dimensions: the nearest 100 in {wide_vectors():.1f} ms.")
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=2), encoding="utf-8")


def _in_a_process(size: int) -> dict[str, Any]:
    print(f"measuring {size:,} entries ...", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, __file__, "--one", str(size)], check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    return json.loads(done.stdout)


def measure(size: int) -> dict[str, Any]:
    """One size: how long putting takes, what it weighs, and what a warm search costs beside its parts."""
    chance = random.Random(size)  # noqa: S311
    vocabulary = [f"w{n:x}" for n in range(WORDS)]
    weights = [1 / (n + 10) for n in range(WORDS)]
    with tempfile.TemporaryDirectory() as home, Engine(home, load_settings(home, {})) as engine:
        model = engine.embedder()
        engine.store.use_model(Model(model.identity, model.provider, model.model, model.dimensions))
        started = time.perf_counter()
        ids: list[str] = []
        for at in range(0, size, 10_000):
            entries = list(_entries(chance, vocabulary, weights, at, min(at + 10_000, size)))
            ids += [entry.id for entry in entries]
            engine.store.put(Source(f"corpus-{at}", BANK), entries)
        put_seconds = time.perf_counter() - started
        started = time.perf_counter()
        vectors = _vectors(size, model.dimensions)
        for at in range(0, size, 10_000):
            batch = ids[at : at + 10_000]
            engine.store.put_vectors(list(zip(batch, vectors(at, len(batch)), strict=True)))
        vector_seconds = time.perf_counter() - started
        questions = [" ".join(chance.choices(vocabulary, weights, k=10)) for _ in range(QUESTIONS)]
        parts = _parts(engine, questions)
        size_on_disk = sum(file.stat().st_size for file in Path(home).iterdir())
        return {
            "entries": size,
            "put_per_second": size / put_seconds,
            "vectors_per_second": size / vector_seconds,
            **parts,
            "ratio": parts["hybrid_ms"] / (parts["embed_ms"] + parts["fts5_ms"]),
            "disk_mb": size_on_disk / 1e6,
            "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        }


def _parts(engine: Engine, questions: list[str]) -> dict[str, float]:
    """Median milliseconds of a whole search and of its parts, interleaved so that noise hits all alike."""
    scope = Scope("")
    times: dict[str, list[float]] = {"hybrid_ms": [], "embed_ms": [], "fts5_ms": [], "vector_ms": []}
    for warm_up in (True, False):
        for question in questions[: 5 if warm_up else None]:
            vector = engine.embedder().embed([question], "query")[0]
            terms = query_terms(question)
            for name, work in (
                ("embed_ms", lambda q=question: engine.embedder().embed([q], "query")),
                ("fts5_ms", lambda t=terms: engine.store.text_matches(t, scope, 100)),
                ("vector_ms", lambda v=vector: engine.store.vector_matches(v, scope, 100)),
                ("hybrid_ms", lambda q=question: search(engine, q, project="", limit=10)),
            ):
                started = time.perf_counter()
                work()
                if not warm_up:
                    times[name].append((time.perf_counter() - started) * 1000)
    return {name: statistics.median(values) for name, values in times.items()}


def import_ratio() -> dict[str, float]:
    """How fast a bank is imported, vectors included, against the embedder alone on the same texts."""
    chance = random.Random(7)  # noqa: S311
    vocabulary = [f"w{n:x}" for n in range(WORDS)]
    weights = [1 / (n + 10) for n in range(WORDS)]
    entries = list(_entries(chance, vocabulary, weights, 0, IMPORTED))
    with tempfile.TemporaryDirectory() as home, Engine(home, load_settings(home, {})) as engine:
        engine.embedder().embed(["warm up"], "document")
        texts = [entry.embedded_text for entry in entries]
        alone = imported = 0.0
        step = 50
        for at in range(0, IMPORTED, step):  # in turns, so that noise hits both alike
            started = time.perf_counter()
            engine.embedder().embed(texts[at : at + step], "document")
            alone += time.perf_counter() - started
            started = time.perf_counter()
            engine.store.put(Source(f"bank-{at}", BANK), entries[at : at + step])
            embed_pending(engine, most=-1)
            imported += time.perf_counter() - started
    return {
        "embedder_per_second": IMPORTED / alone,
        "import_per_second": IMPORTED / imported,
        "ratio": alone / imported,
    }


def wide_vectors() -> float:
    """Median milliseconds for the nearest of 10,000 vectors of 768 dimensions, the store's own work only."""
    size, dimensions = 10_000, 768
    chance = random.Random(3)  # noqa: S311
    with tempfile.TemporaryDirectory() as home, Engine(home, load_settings(home, {})) as engine:
        store = engine.store
        store.use_model(Model("bench/768", "bench", "768", dimensions))
        entries = list(_entries(chance, ["word"], [1.0], 0, size))
        store.put(Source("corpus", BANK), entries)
        vectors = _vectors(size, dimensions)(0, size)
        store.put_vectors(list(zip([entry.id for entry in entries], vectors, strict=True)))
        times: list[float] = []
        for vector in vectors[: QUESTIONS + 5]:
            started = time.perf_counter()
            store.vector_matches(vector, Scope(""), 100)
            times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times[5:])


def _entries(
    chance: random.Random, vocabulary: list[str], weights: list[float], start: int, end: int
) -> Iterator[StoredEntry]:
    for number in range(start, end):
        words = chance.choices(vocabulary, weights, k=chance.randint(40, 80))
        yield StoredEntry(
            id=f"{number:016x}",
            category=("patterns", "heuristics", "anti-patterns")[number % 3],
            name=" ".join(words[:4]),
            description=" ".join(words),
            keywords=words[:5],
            created_at="2026-01-01T00:00:00Z",
        )


def _vectors(size: int, dimensions: int) -> Any:
    """Unit vectors in clusters, as texts about the same things are."""
    import numpy

    chance = numpy.random.default_rng(size)
    centres = chance.standard_normal((max(10, size // 25), dimensions)).astype("<f4")

    def some(_start: int, count: int) -> list[bytes]:
        chosen = centres[chance.integers(0, len(centres), count)]
        table = chosen + 0.7 * chance.standard_normal((count, dimensions)).astype("<f4")
        table /= numpy.linalg.norm(table, axis=1, keepdims=True)
        return [array.array("f", row).tobytes() for row in table.astype("<f4")]

    return some


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| entries | search, ms | embed | FTS5 | vectors | / (embed + FTS5) | put a second | disk, MB | RSS, MB |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        lines.append(
            f"| {row['entries']:,} | {row['hybrid_ms']:.1f} | {row['embed_ms']:.1f} | {row['fts5_ms']:.1f} |"
            f" {row['vector_ms']:.1f} | **{row['ratio']:.2f}** | {row['put_per_second']:,.0f} |"
            f" {row['disk_mb']:.0f} | {row['rss_mb']:.0f} |"
        )
    return "\n".join(lines)


def _import_sentence(found: dict[str, float]) -> str:
    return (
        f"Import with vectors: {found['import_per_second']:.0f} entries a second, the embedder alone"
        f" {found['embedder_per_second']:.0f}: ratio {found['ratio']:.2f}."
    )


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
