"""Measure search quality with BEIR folders, using the same store and search as users."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.config.settings import Settings
from recollect.config.workspace import Workspace
from recollect.domain.ranking.terms import query_terms
from recollect.domain.stored import StoredEntry
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine
from recollect.errors import EmbeddingError, InvalidEntry
from recollect.recall.search import relevance, retrieve
from recollect.store.values import BANK, Scope, Source

SYSTEMS = ("hybrid", "fts5", "vector")
METRICS: tuple[str, ...] = ("R@5", "R@10", "R@20", "R@50", "hit@5", "hit@10", "nDCG@10", "MRR@10")
_DEPTH = 50


@dataclass
class Retrieval:
    """The mean of each metric over all queries, by system, and the size of the benchmark."""

    folders: int = 0
    documents: int = 0
    queries: int = 0
    model: str = ""
    scores: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])


@dataclass(frozen=True)
class Folder:
    """A BEIR folder: documents and queries by id, and the gain of each relevant document by query."""

    documents: dict[str, tuple[str, str]]
    queries: dict[str, str]
    relevant: dict[str, dict[str, float]]


def measure_retrieval(
    folders: Sequence[str], settings: Settings, progress: Callable[[str, int, int], object]
) -> Retrieval:
    """Search each folder separately with each system, and return the means over all queries.

    Raises:
        InvalidEntry: a folder is not a BEIR folder.
        EmbeddingError: the vectors cannot be made.
    """
    loaded = [load_folder(path) for path in folders]
    result = Retrieval(folders=len(loaded))
    sums = {system: dict.fromkeys(METRICS, 0.0) for system in SYSTEMS}
    for place, folder in enumerate(loaded, 1):
        result.documents += len(folder.documents)
        result.queries += len(folder.relevant)
        with (
            tempfile.TemporaryDirectory(prefix="recollect-bench-") as home,
            Engine(Workspace("", home, settings.without("memory_store"))) as engine,
        ):
            result.model = engine.embedder().identity
            entries = [
                StoredEntry(id=id, category="patterns", name=title, description=text, created_at="2026-01-01T00:00:00Z")
                for id, (title, text) in folder.documents.items()
            ]
            engine.store.put(Source("corpus", BANK), entries)
            done = embed_pending(engine, most=-1, progress=_reporter(progress, place, len(folder.documents)))
            if done.reason or done.pending:
                raise EmbeddingError(done.reason or f"{done.pending} documents have no vector; try again")
            for query, relevant in folder.relevant.items():
                for system, found in rankings(engine, folder.queries[query]).items():
                    for metric, value in measured(found, relevant).items():
                        sums[system][metric] += value
    queries = max(result.queries, 1)
    result.scores = {system: {m: total / queries for m, total in sums[system].items()} for system in SYSTEMS}
    return result


def rankings(engine: Engine, query: str) -> dict[str, list[str]]:
    """Return the ids found by each system for a query, the best first."""
    scope = Scope(None)
    retrieval = retrieve(engine, query, scope)
    hybrid = relevance(engine, retrieval, scope)
    plain = engine.store.text_matches(query_terms(query), scope, _DEPTH)
    return {
        "hybrid": sorted(hybrid, key=lambda id: (-hybrid[id], id))[:_DEPTH],
        "fts5": [match.id for match in plain],
        "vector": sorted(retrieval.vector, key=lambda id: (-retrieval.vector[id], id))[:_DEPTH],
    }


def measured(found: Sequence[str], relevant: dict[str, float]) -> dict[str, float]:
    """Return each metric for one query: recall and hits at a depth, nDCG with graded gains, reciprocal rank."""
    values: dict[str, float] = {}
    for depth in (5, 10, 20, 50):
        values[f"R@{depth}"] = sum(id in relevant for id in found[:depth]) / len(relevant)
    for depth in (5, 10):
        values[f"hit@{depth}"] = float(any(id in relevant for id in found[:depth]))
    best = sorted(relevant.values(), reverse=True)[:10]
    ideal = sum(gain / math.log2(place + 2) for place, gain in enumerate(best))
    gained = sum(relevant.get(id, 0.0) / math.log2(place + 2) for place, id in enumerate(found[:10]))
    values["nDCG@10"] = gained / ideal
    values["MRR@10"] = next((1 / place for place, id in enumerate(found[:10], 1) if id in relevant), 0.0)
    return values


def load_folder(path: str) -> Folder:
    """Load a BEIR folder: corpus.jsonl, queries.jsonl, and qrels.tsv or qrels/test.tsv.

    Raises:
        InvalidEntry: a file is missing or malformed, or no query has a relevant document.
    """
    documents = {
        str(line["_id"]): (str(line.get("title") or ""), str(line.get("text") or "")) for line in _lines(path, "corpus")
    }
    queries = {str(line["_id"]): str(line.get("text") or "") for line in _lines(path, "queries")}
    relevant: dict[str, dict[str, float]] = {}
    for query, document, gain in _judgements(path):
        if gain > 0 and query in queries and document in documents:
            relevant.setdefault(query, {})[document] = gain
    if not relevant:
        raise InvalidEntry(f"{path} has no judged question")
    return Folder(documents, queries, relevant)


def _reporter(progress: Callable[[str, int, int], object], place: int, total: int) -> Callable[[int], object]:
    done = 0

    def report(count: int) -> None:
        nonlocal done
        done += count
        progress(f"folder {place}", done, total)

    return report


def _lines(folder: str, name: str) -> list[dict[str, Any]]:
    path = os.path.join(folder, f"{name}.jsonl")
    try:
        with open(path, encoding="utf-8") as file:
            lines: list[Any] = [json.loads(line) for line in file if line.strip()]
    except (OSError, ValueError) as error:
        raise InvalidEntry(f"cannot read {path}: {error}; a BEIR folder has one JSON object a line there") from error
    if not all(isinstance(line, dict) and "_id" in line for line in lines):
        raise InvalidEntry(f"{path} has a line that is no JSON object with an _id")
    return lines


def _judgements(folder: str) -> list[tuple[str, str, float]]:
    path = os.path.join(folder, "qrels.tsv")
    if not os.path.exists(path):
        path = os.path.join(folder, "qrels", "test.tsv")
    found: list[tuple[str, str, float]] = []
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                parts = line.rstrip("\r\n").split("\t")
                if len(parts) >= 3 and parts[-1] != "score":
                    found.append((parts[0], parts[-2], float(parts[-1])))
    except (OSError, ValueError) as error:
        raise InvalidEntry(f"cannot read {path}: {error}; it has query-id, corpus-id and score in each line") from error
    return found
