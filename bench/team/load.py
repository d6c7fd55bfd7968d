"""Load many entries into many scopes of a server by COPY, drawn around real texts and their real vectors."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import psycopg
from bench.team.corpus import WRITTEN, Corpus
from tests.postgres import Server

from recollect.embedding.identity import LOCAL_IDENTITY, LOCAL_MODEL
from recollect.store.open import prepare_team
from recollect.store.postgres import words

ORGANISATION = "organisation:acme"
NOISE = 0.6  # the length of what is added to a real vector; the cosine with it is .86 then
DIMENSIONS = 384
PORTION = 20_000
HEAD, TAIL = 32, 12  # words of a text: the first ones of one document and the last ones of another

_ENTRIES = "number, id, name, description, category, created_at, updated_at, source, scope, words, length"
_VECTORS = "model, kind, number, vector, scale, scope"


@dataclass
class Loaded:
    """The size of each loaded scope, largest first, and the seconds of each step."""

    sizes: dict[str, int]
    seconds: dict[str, float]


def sizes_of(entries: int, scopes: int) -> dict[str, int]:
    """Return the names of scopes and their sizes: the second has half as many as the first, the third a third."""
    shares = 1 / numpy.arange(1, scopes + 1)
    counts = numpy.maximum(1, numpy.floor(entries * shares / shares.sum())).astype(int)
    counts[0] += entries - counts.sum()
    return {f"team:s{number:04}": int(count) for number, count in enumerate(counts)}


def load(server: Server, corpora: Sequence[Corpus], entries: int, scopes: int) -> Loaded:
    """Fill a server. Indexes of words and vectors are made when all rows are there."""
    prepare_team(server.url(), organisation=ORGANISATION)
    loaded = Loaded(sizes_of(entries, scopes), {})
    texts = _Texts(server, corpora)
    bases = numpy.concatenate([corpus.vectors for corpus in corpora])
    with psycopg.connect(server.url("recollect,public"), autocommit=True) as connection:
        run = connection.execute
        run("SET session_replication_role = replica")  # no check of each row
        run("SET maintenance_work_mem = '3GB'; SET max_parallel_maintenance_workers = 2")
        run("DROP INDEX entry_words_words")
        _scopes(connection, loaded.sizes)
        started = time.perf_counter()
        counts = _copy(connection, loaded.sizes, texts, bases)
        loaded.seconds["rows"] = time.perf_counter() - started
        for name, statements in _FINISH.items():
            started = time.perf_counter()
            for statement in statements:
                run(statement.encode())
            loaded.seconds[name] = time.perf_counter() - started
        with connection.cursor().copy("COPY word_counts (scope, word, entries) FROM STDIN") as copy:
            for scope, held in counts.items():
                copy.write("".join(f"{scope}\t{word}\t{count}\n" for word, count in held.items()))
        run("VACUUM ANALYZE")
    return loaded


def _scopes(connection: psycopg.Connection[Any], sizes: dict[str, int]) -> None:
    for name in sizes:
        connection.execute("INSERT INTO scopes (name, created_by) VALUES (%s, 'recollect')", (name,))
        connection.execute("INSERT INTO turns VALUES (%s)", (name,))
        connection.execute("INSERT INTO changes (scope, number) VALUES (%s, 1)", (name,))
        index = (name, words.VERSION)
        connection.execute("INSERT INTO _metadata (scope, key, value) VALUES (%s, 'index_version', %s)", index)
        connection.execute(
            "INSERT INTO models (scope, number, identity, provider, name, dimensions, used)"
            " VALUES (%s, 0, %s, 'local', %s, %s, to_char(now(), 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'))",
            (name, LOCAL_IDENTITY, LOCAL_MODEL, DIMENSIONS),
        )
    connection.execute("INSERT INTO model_numbers VALUES (0, %s, %s)", (LOCAL_IDENTITY, DIMENSIONS))


_FINISH = {
    "origins": [
        'INSERT INTO sources (path, kind, size, modified, hash, "offset", scope)'
        " SELECT 'scope:' || name, 'bank', 0, 0, '', 0, name FROM scopes WHERE kind = 'team'",
        "INSERT INTO origins (entry, source, project, observation_count, scope)"
        " SELECT e.number, s.number, '', 1, e.scope FROM entries e JOIN sources s ON s.scope = e.scope",
        "INSERT INTO corpus (scope, entries, length) SELECT scope, count(*), sum(length) FROM entries GROUP BY 1",
        "SELECT setval(pg_get_serial_sequence('entries', 'number'), (SELECT max(number) FROM entries))",
    ],
    "words": [
        "INSERT INTO entry_words (number, scope, words) SELECT number, scope, words FROM entries",
        "CREATE INDEX entry_words_words ON entry_words USING gin (words)",
    ],
    "hnsw": ["SELECT index_vectors(0, 0)", "SELECT index_vectors(0, 1)"],
}


class _Texts:
    """Parts of real texts with their stems, and new texts made of them."""

    def __init__(self, server: Server, corpora: Sequence[Corpus]) -> None:
        plain = [words.words(f"{each.name} {each.description}") for corpus in corpora for each in corpus.entries]
        stems = _stems(server, {word for text in plain for word in text})
        self.heads = [(" ".join(text[:HEAD]), [stems[word] for word in text[:HEAD]]) for text in plain]
        self.tails = [(" ".join(text[-TAIL:]), [stems[word] for word in text[-TAIL:]]) for text in plain]

    def made(self, one: int, other: int) -> tuple[str, str, list[str]]:
        """Return a name, a description and the stems of both."""
        (head, head_stems), (tail, tail_stems) = self.heads[one], self.tails[other]
        return " ".join(head.split(" ", 6)[:6]), f"{head} {tail}", [*head_stems, *tail_stems]


def _stems(server: Server, vocabulary: set[str]) -> dict[str, str]:
    with psycopg.connect(server.url("recollect,public")) as connection:
        rows = connection.execute(
            "SELECT w, coalesce((ts_lexize('stems', w))[1], w) FROM unnest(%s::text[]) w", [sorted(vocabulary)]
        ).fetchall()
    return {word: word if len(word) <= 2 else stem for word, stem in rows}


def _copy(
    connection: psycopg.Connection[Any], sizes: dict[str, int], texts: _Texts, bases: Any
) -> dict[str, Counter[str]]:
    """Copy entries and vectors, and return how many entries of each scope have each word."""
    chance = numpy.random.default_rng(19)
    counts: dict[str, Counter[str]] = {}
    number = 1
    for scope, size in sizes.items():
        held = counts[scope] = Counter()
        for start in range(0, size, PORTION):
            count = min(PORTION, size - start)
            near = chance.integers(0, len(bases), count)
            others = chance.integers(0, len(bases), count)
            with connection.cursor().copy(f"COPY entries ({_ENTRIES}) FROM STDIN") as copy:
                copy.write("".join(_lines(chance, number, scope, zip(near, others, strict=True), texts, held)))
            with connection.cursor().copy(f"COPY vectors ({_VECTORS}) FROM STDIN (FORMAT binary)") as copy:
                copy.write(_binary(drawn(chance, bases[near]), number, scope))
            number += count
        if size > PORTION:
            print(f"  {number - 1:,} entries", flush=True)
    return counts


def _lines(  # noqa: PLR0917 (what a line is made of)
    chance: Any, number: int, scope: str, pairs: Iterator[tuple[Any, Any]], texts: _Texts, held: Counter[str]
) -> Iterator[str]:
    for place, (one, other) in enumerate(pairs):
        name, description, stems = texts.made(int(one), int(other))
        id = chance.bytes(8).hex()
        index, length = words.indexed([[], stems])
        held.update(set(stems))
        yield (
            f"{number + place}\t{id}\t{name}\t{description}\tpatterns\t{WRITTEN}\t{WRITTEN}\timport\t{scope}\t"
            f"{index}\t{length}\n"
        )


def drawn(chance: Any, bases: Any) -> Any:
    """Return unit vectors around others."""
    noise = chance.standard_normal(bases.shape, dtype=numpy.float32)
    noise *= NOISE / numpy.linalg.norm(noise, axis=1, keepdims=True)
    found = bases + noise
    return found / numpy.linalg.norm(found, axis=1, keepdims=True)


def _binary(vectors: Any, number: int, scope: str) -> bytes:
    """Return rows in the binary form of COPY: each field has its length before it."""
    size = vectors.shape[1]
    fields = [("model", ">i4"), ("kind", ">i2"), ("number", ">i8")]
    fields += [("vector", [("dim", ">i2"), ("unused", ">i2"), ("values", ">f2", (size,))])]  # type: ignore[list-item]
    fields += [("scale", ">f4"), ("scope", f"S{len(scope)}")]
    layout: list[Any] = [("count", ">i2")]
    for name, kind in fields:
        layout += [(f"{name}_length", ">i4"), (name, kind)]
    rows = numpy.zeros(len(vectors), dtype=layout)
    rows["count"] = len(fields)
    for name, kind in fields:
        rows[f"{name}_length"] = numpy.dtype(kind).itemsize
    scales = numpy.abs(vectors).max(axis=1, keepdims=True) / 127
    rows["number"] = numpy.arange(number, number + len(vectors))
    rows["vector"]["dim"] = size
    rows["vector"]["values"] = numpy.rint(vectors / scales)
    rows["scale"] = scales[:, 0]
    rows["scope"] = scope.encode()
    return b"PGCOPY\n\xff\r\n\0" + bytes(8) + rows.tobytes() + b"\xff\xff"
