"""Measure how a team's server behaves with many entries in many scopes of very different sizes.

    python -m bench.team.run FOLDER... [--entries 100000] [--scopes 1000] [--kept FOLDER] [--under FOLDER] [--explain]

FOLDERs are those of bench/retrieval (BEIR): texts and vectors are drawn around theirs. A server is started, filled and
removed again; `--kept` keeps the vectors of the texts, `--under` is where the server's files go. For each size of a
scope a login that is a member of that scope alone, besides its own, searches it. Times are ratios to a bare SELECT 1
on the same connections, asked between the searches. Then agents work at once, four of five calls are searches, and
pgbench runs on the same server.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from bench.team.corpus import WRITTEN, corpora
from bench.team.load import Loaded, drawn, load
from bench.team.server import SETTINGS, running
from tests.postgres import Server, _binaries  # pyright: ignore[reportPrivateUsage]

from recollect.domain.ranking.terms import query_terms
from recollect.domain.shared.acting import Acting
from recollect.domain.stored import StoredEntry
from recollect.recall.search import MOST_TERMS
from recollect.store.base import Store
from recollect.store.open import open_store
from recollect.store.postgres import vectors as engine
from recollect.store.values import BANK, Scope, Source

EVERYTHING = Scope(None)
QUESTIONS = 40
WARM = 5
CANDIDATES = 100
AGENTS = 50
SECONDS = 20.0


@dataclass
class Question:
    """The words of a question and its vector."""

    terms: list[str]
    vector: bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--scopes", type=int, default=1_000)
    parser.add_argument("--kept", default="/tmp/recollect-bench")  # noqa: S108
    parser.add_argument("--under", default=None)
    parser.add_argument("--agents", type=int, default=AGENTS)
    parser.add_argument("--explain", action="store_true", help="also what the planner chooses")
    options = parser.parse_args()
    sets = corpora(options.folders, options.kept)
    with running(under=options.under) as server:
        loaded = load(server, sets, options.entries, options.scopes)
        told = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in loaded.seconds.items())
        print(f"Loaded {options.entries:,} entries in {options.scopes:,} scopes: {told}.")
        print(f"Settings: {', '.join(f'{name} {value}' for name, value in SETTINGS.items() if value)}.\n")
        measure(server, loaded, questions_of(sets), options.agents, explain=options.explain)


def measure(server: Server, loaded: Loaded, questions: Sequence[Question], agents: int, *, explain: bool) -> None:
    found = [searched(server, scope, loaded.sizes[scope], questions) for scope in chosen(loaded.sizes)]
    print(table(found))
    print(f"\n{several(server, loaded, questions)}\n")
    if explain:
        for scope in chosen(loaded.sizes):
            print(plans(server, scope, questions[0]), flush=True)
    print(together(server, loaded, questions, agents))


def questions_of(sets: Sequence[Any]) -> list[Question]:
    """Return real questions, with vectors around those of real texts."""
    chance = numpy.random.default_rng(7)
    texts = [text for corpus in sets for text in corpus.questions]
    bases = numpy.concatenate([corpus.vectors for corpus in sets])
    near = drawn(chance, bases[chance.integers(0, len(bases), 2_000)])
    order = chance.permutation(len(texts))
    asked = [(query_terms(texts[place])[:MOST_TERMS], near[n % 2_000]) for n, place in enumerate(order)]
    return [Question(terms, vector.astype("<f4").tobytes()) for terms, vector in asked if terms]


def chosen(sizes: dict[str, int]) -> list[str]:
    """Return scopes of sizes that differ by about a factor of three, the smallest first."""
    found: list[str] = []
    last = 0
    for scope, size in sorted(sizes.items(), key=lambda each: each[1]):
        if size >= 3 * last or size == max(sizes.values()):
            found.append(scope)
            last = size
    return found


def member(server: Server, login: str, scopes: Sequence[str]) -> str:
    """Return the address of a login that may write to these scopes, and has accepted them."""
    server.login(login)
    server.run(f'GRANT recollect_member TO "{login}"')
    for scope in scopes:
        server.run(
            "INSERT INTO recollect.members (scope, login, role, added_by)"  # noqa: S608 (names of our own)
            f" VALUES ('{scope}', '{login}', 'writer', 'recollect') ON CONFLICT DO NOTHING;"
            " INSERT INTO recollect.consents (scope, login, accepted)"
            f" VALUES ('{scope}', '{login}', true) ON CONFLICT DO NOTHING"
        )
    return server.url(user=login)


def search(store: Store, question: Question) -> list[str]:
    """Do what a search asks of a store, and return the nearest."""
    store.document_frequencies(question.terms)
    near = store.vector_matches(question.vector, EVERYTHING, CANDIDATES)
    found = store.text_matches(question.terms, EVERYTHING, CANDIDATES)
    seen = {match.id for match in near}
    store.similarities(question.vector, [match.id for match in found if match.id not in seen])
    store.background(question.vector, EVERYTHING)
    store.entries([match.id for match in near[:10]])
    return [match.id for match in near[:10]]


@dataclass
class Searched:
    """The seconds of all searches in a scope and of their parts, those of SELECT 1 between them, and the recall."""

    size: int
    times: dict[str, list[float]]
    bare: list[float]
    recall: float


def searched(server: Server, scope: str, size: int, questions: Sequence[Question]) -> Searched:
    """Search as a member of one scope."""
    url = member(server, f"only-{scope.partition(':')[2]}", [scope])
    found = Searched(size, {name: [] for name in ("search", "vectors", "words", "background")}, [], 0.0)
    with open_store(url, acting=Acting("", scope)) as store:
        for number, question in enumerate(questions[: QUESTIONS + WARM]):
            works: dict[str, Callable[[], object]] = {
                "search": lambda q=question: search(store, q),
                "vectors": lambda q=question: store.vector_matches(q.vector, EVERYTHING, CANDIDATES - 1),
                "words": lambda q=question: store.text_matches(q.terms, EVERYTHING, CANDIDATES - 1),
                "background": lambda q=question: store.background(q.vector, EVERYTHING),
            }
            for name, work in works.items():
                bare, taken = timed(lambda: select_one(store)), timed(work)
                if number >= WARM:
                    found.bare.append(bare)
                    found.times[name].append(taken)
            if number >= WARM:
                found.recall += _right(store, question) / QUESTIONS / min(10, size)
    return found


def table(found: Sequence[Searched]) -> str:
    one = statistics.median([seconds for each in found for seconds in each.bare])
    lines = [
        f"A SELECT 1 took {one * 1000:.2f} ms.",
        "",
        "| entries in scope | search p50 | p95 | by vectors p50 | by words p50 | usual cosine p50 | recall@10 |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for each in found:
        mid = {name: statistics.median(values) / one for name, values in each.times.items()}
        late = numpy.percentile(each.times["search"], 95) / one
        lines.append(
            f"| {each.size:,} | **{mid['search']:.0f}** | {late:.0f} | {mid['vectors']:.0f} | {mid['words']:.0f} |"
            f" {mid['background']:.0f} | {each.recall:.3f} |"
        )
    return "\n".join(lines)


def select_one(store: Any) -> object:
    """Run the cheapest statement that there is, on the own connection of a store or a log."""
    return store._database._raw.execute("SELECT 1").fetchall()


def _right(store: Store, question: Question) -> int:
    """Return how many of the first ten are those of comparing all."""
    found = {match.id for match in store.vector_matches(question.vector, EVERYTHING, CANDIDATES)[:10]}
    kept, engine.MOST_COMPARED = engine.MOST_COMPARED, 10**9
    try:
        exact = {match.id for match in store.vector_matches(question.vector, EVERYTHING, 11)[:10]}
    finally:
        engine.MOST_COMPARED = kept
    return len(found & exact)


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def agent_scopes(loaded: Loaded, number: int) -> list[str]:
    """Return the scopes of an agent: a large one, two of medium size and a small one."""
    names = list(loaded.sizes)
    chance = random.Random(number)  # noqa: S311
    ranges = ((0, 5), (5, 50), (50, 300), (300, 10**6))
    return [names[chance.randrange(first, min(last, len(names)))] for first, last in ranges if first < len(names)]


def several(server: Server, loaded: Loaded, questions: Sequence[Question]) -> str:
    """Return a sentence about searches of members of several scopes."""
    taken: list[list[float]] = []
    bare: list[float] = []
    for number in range(8):
        url = member(server, f"agent{number}", agent_scopes(loaded, number))
        with open_store(url) as store:
            store.use_model(local_model())
            taken.append([])
            for question in questions[:15]:
                bare.append(timed(lambda: select_one(store)))
                taken[-1].append(timed(lambda q=question: search(store, q)))
    one = statistics.median(bare)
    ratios = sorted(statistics.median(each[3:]) / one for each in taken)
    told = f"{ratios[0]:.0f} to {ratios[-1]:.0f} times a SELECT 1, in the middle {statistics.median(ratios):.0f}"
    return f"Members of four scopes and their own: a search takes {told}."


def plans(server: Server, scope: str, question: Question) -> str:
    """Return what the planner chooses for the statements of a search."""
    told = [f"{scope}:"]
    with open_store(member(server, f"only-{scope.partition(':')[2]}", [scope]), acting=Acting("", scope)) as store:
        database: Any = store._database  # type: ignore[attr-defined]
        run = database.run

        def explained(statement: str, values: Sequence[object] = (), **named: Any) -> list[Any]:
            if statement.startswith("SELECT") and "LIMIT" in statement and "relations" not in statement:
                lines = [row[0] for row in run(f"EXPLAIN (ANALYZE, BUFFERS OFF) {statement}", values)]
                scans = [re.sub(r" +", " ", line).strip() for line in lines if "Scan" in line or "Sort" in line]
                told.append("  " + " <- ".join(line.partition("  (cost")[0].removeprefix("-> ") for line in scans))
                told.append(f"    {lines[-1]}")
            return run(statement, values, **named)

        database.run = explained
        store._run = store._vectors._run = explained  # type: ignore[attr-defined]
        store.vector_matches(question.vector, EVERYTHING, CANDIDATES - 2)
        store.text_matches(question.terms, EVERYTHING, CANDIDATES - 2)
        store.background(question.vector, EVERYTHING)
    return "\n".join(told)


def together(server: Server, loaded: Loaded, questions: Sequence[Question], agents: int) -> str:
    """Return sentences about agents that work at once, beside the server's own benchmark."""
    urls = [member(server, f"agent{number}", agent_scopes(loaded, number)) for number in range(agents)]
    bench = _pgbench(server, agents)
    with multiprocessing.get_context("fork").Pool(agents) as pool:
        done = pool.starmap(_work, [(url, number, list(questions)) for number, url in enumerate(urls)])
    searches = [seconds for found, _ in done for seconds in found]
    stored = [seconds for _, put in done for seconds in put]
    rate = (len(searches) + len(stored)) / SECONDS
    return (
        f"{agents} agents at once for {SECONDS:.0f} s: {rate:.0f} calls a second."
        f" A search took {statistics.median(searches) * 1000:.0f} ms in the middle and"
        f" {numpy.percentile(searches, 95) * 1000:.0f} ms at p95, storing an entry with its vector"
        f" {statistics.median(stored) * 1000:.0f} and {numpy.percentile(stored, 95) * 1000:.0f} ms."
        f" `pgbench -S` with as many clients on this server: {bench:.0f} transactions a second,"
        f" {bench / rate:.0f} times that."
    )


def _work(url: str, number: int, questions: list[Question]) -> tuple[list[float], list[float]]:
    """Search and store until the time is up. Return the seconds of each search and of each entry stored."""
    chance = random.Random(number)  # noqa: S311
    searches: list[float] = []
    stored: list[float] = []
    with open_store(url, patience=60.0) as store:
        model = local_model()
        store.use_model(model)
        search(store, questions[number])
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            question = chance.choice(questions)
            if chance.random() < 0.8:
                searches.append(timed(lambda q=question: search(store, q)))
            else:
                stored.append(timed(lambda q=question: _store(store, chance, q)))
    return searches, stored


def local_model() -> Any:
    """Return the model of the loaded vectors."""
    from recollect.embedding.identity import LOCAL_IDENTITY, LOCAL_MODEL
    from recollect.store.values import Model

    return Model(LOCAL_IDENTITY, "local", LOCAL_MODEL, 384)


def _store(store: Store, chance: random.Random, question: Question) -> None:
    id = f"{chance.getrandbits(64):016x}"
    entry = StoredEntry(
        id=id,
        category="patterns",
        name=id,
        description=" ".join(question.terms),
        created_at=WRITTEN,
        updated_at=WRITTEN,
    )

    def put() -> None:
        store.put(Source("/bank.md", BANK), [entry], anew=False)
        store.put_vectors([(id, question.vector)])

    store.write(put)


def _pgbench(server: Server, clients: int) -> float:
    program = str(_binaries(server.folder) / "pgbench")
    place = ["-h", str(server.folder), "-U", "recollect"]
    server.run("CREATE DATABASE pgbench")
    subprocess.run([program, *place, "-i", "-q", "-s", "10", "pgbench"], check=True, capture_output=True)
    told = subprocess.run(
        [program, *place, "-S", "-n", "-c", str(clients), "-j", "2", "-T", str(int(SECONDS)), "pgbench"],
        check=True,
        capture_output=True,
        encoding="utf-8",
    ).stdout
    server.run("DROP DATABASE pgbench")
    found = re.search(r"tps = ([0-9.]+)", told)
    return float(found[1]) if found else 0.0


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
