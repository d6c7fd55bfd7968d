"""Read real texts and their vectors, which the local model makes once and a folder keeps."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy
from bench.retrieval.run import folders_of

from recollect.config.settings import load_settings
from recollect.doctor.bench import load_folder
from recollect.domain.stored import StoredEntry
from recollect.embedding.registry import create_embedder

WRITTEN = "2026-01-01T00:00:00Z"
PORTION = 500


@dataclass
class Corpus:
    """The judged questions of a BEIR folder, its documents as entries, and a row of `vectors` for each."""

    name: str
    questions: list[str]
    entries: list[StoredEntry]
    vectors: Any


def corpora(given: Sequence[str], kept: str) -> list[Corpus]:
    """Return the BEIR folders below the given ones. Vectors that are in the folder `kept` are not made again."""
    paths = [path for each in given for path in folders_of(each)]
    return [_corpus(path, kept) for path in paths]


def _corpus(path: str, kept: str) -> Corpus:
    folder = load_folder(path)
    # Documents that say the same are one entry, as in any store.
    entries = list({entry.id: entry for entry in map(entry_of, folder.documents.values())}.values())
    return Corpus(
        os.path.basename(path), [folder.queries[id] for id in folder.relevant], entries, _vectors(entries, kept)
    )


def entry_of(document: tuple[str, str]) -> StoredEntry:
    """Return a document as an entry. Its id is a hash, as those of all entries are."""
    title, text = document
    return StoredEntry(
        id=sha256(f"{title}\n{text}".encode()).hexdigest()[:16],
        category="patterns",
        name=title,
        description=text,
        created_at=WRITTEN,
        updated_at=WRITTEN,
    )


def _vectors(entries: Sequence[StoredEntry], kept: str) -> Any:
    mark = sha256("".join(entry.id for entry in entries).encode()).hexdigest()[:12]
    path = os.path.join(kept, f"{mark}.npy")
    if os.path.exists(path):
        return numpy.load(path)
    settings = load_settings("", {})
    model = create_embedder(settings.text("memory_embedding_provider"), settings.text("memory_embedding_model"))
    made: list[bytes] = []
    for start in range(0, len(entries), PORTION):
        made += model.embed([entry.embedded_text for entry in entries[start : start + PORTION]], "document")
        print(f"  embedded {len(made):,} of {len(entries):,}", flush=True)
    found = numpy.frombuffer(b"".join(made), dtype="<f4").reshape(len(made), -1)
    os.makedirs(kept, exist_ok=True)
    numpy.save(path, found)
    return found
