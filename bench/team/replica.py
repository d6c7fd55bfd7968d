"""Measure a read replica: where searches are read, how far it lags, and that an own write is found at once.

    python -m bench.team.replica FOLDER... [--entries 10000] [--agents 8] [--kept FOLDER] [--under FOLDER]

FOLDERs are those of bench/retrieval (BEIR), and entries are drawn as in bench.team.run, into one scope. A server and a
streaming replica of it are started on this machine and removed again. The same questions are asked of the server alone
and with the replica (`memory_store_replica`), in turn. Times are ratios to a bare SELECT 1 on the same connections.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import statistics
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy
import psycopg
from bench.team.corpus import WRITTEN, corpora
from bench.team.load import load
from bench.team.run import QUESTIONS, WARM, Question, local_model, member, questions_of, search, select_one, timed
from bench.team.server import SMALL, following, running
from tests.postgres import Server

from recollect.domain.shared.acting import Acting
from recollect.domain.stored import StoredEntry
from recollect.store.base import Store
from recollect.store.open import open_store
from recollect.store.values import BANK, Source

BURSTS = 5
BURST = 200  # entries, each in a transaction of its own with its vector
AT_ONCE = 40  # own writes that are searched for at once
SECONDS = 15.0


@dataclass
class Place:
    """A scope on a server and on its replica, and the address of a member of it."""

    server: Server
    replica: Server
    scope: str
    login: str

    @property
    def alone(self) -> str:
        return self.server.url(user=self.login)

    @property
    def with_replica(self) -> str:
        return f"{self.alone}#{self.replica.url(user=self.login)}"

    def open(self, url: str) -> Store:
        """Open the store of the scope by an address. Its model is that of the loaded vectors."""
        store = open_store(url, patience=60.0, acting=Acting("", self.scope))
        store.use_model(local_model())
        return store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--kept", default="/tmp/recollect-bench")  # noqa: S108
    parser.add_argument("--under", default=None)
    options = parser.parse_args()
    sets = corpora(options.folders, options.kept)
    questions = questions_of(sets)
    with running(SMALL, under=options.under) as server:
        (scope,) = load(server, sets, options.entries, 1).sizes
        member(server, "reader", [scope])
        with following(server, under=options.under) as replica:
            place = Place(server, replica, scope, "reader")
            begun(place, questions[0])
            for told in (searches, bursts, own_writes):
                print(f"{told(place, questions)}\n", flush=True)
            print(together(place, questions, options.agents))


def begun(place: Place, question: Question) -> None:
    """Wait until searches are read from the replica: a new one says how far it is behind once it replayed a write."""
    with place.open(place.alone) as store:
        stored(store, random.Random(1))  # noqa: S311
    waited(place)
    with place.open(place.with_replica) as store:
        _until_near(store, question)


def waited(place: Place) -> None:
    """Wait until the replica shows all that the server has."""
    with looking(place) as behind:
        behind()


@contextmanager
def looking(place: Place) -> Generator[Callable[[], float]]:
    """Connect to both, and give a function that waits for the replica and returns the seconds."""
    with (
        psycopg.connect(place.server.url(), autocommit=True) as server,
        psycopg.connect(place.replica.url(), autocommit=True) as replica,
    ):

        def behind() -> float:
            started = time.perf_counter()
            until = server.execute("SELECT pg_current_wal_insert_lsn()::text").fetchall()[0]
            while replica.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", until).fetchall() != [(True,)]:
                if time.perf_counter() - started > 60:
                    raise SystemExit("the replica does not follow")
            return time.perf_counter() - started

        yield behind


def is_from_replica(store: Store) -> bool:
    """Return True if the last search was read from the replica."""
    return bool(store._database._is_near)  # type: ignore[attr-defined]


def searches(place: Place, questions: Sequence[Question]) -> str:
    """Return a table of searches on the server alone and with its replica."""
    taken: dict[str, list[float]] = {place.alone: [], place.with_replica: []}
    bare: list[float] = []
    near = same = 0
    with place.open(place.alone) as alone, place.open(place.with_replica) as both:
        _until_near(both, questions[0])
        for number, question in enumerate(questions[: QUESTIONS + WARM]):
            found: list[list[str]] = []
            # In turn, so that neither is always the one whose question the other has just asked.
            turns = ((alone, place.alone), (both, place.with_replica))[:: 1 if number % 2 else -1]
            for store, url in turns:
                one = timed(lambda s=store: select_one(s))
                seconds = timed(lambda s=store, q=question, f=found: f.append(search(s, q)))
                if number >= WARM:
                    bare.append(one)
                    taken[url].append(seconds)
            if number >= WARM:
                near += is_from_replica(both)
                same += found[0] == found[1]
    one = statistics.median(bare)
    lines = [f"A SELECT 1 took {one * 1000:.2f} ms.", "", "| | search p50 | p95 | searches a second |"]
    lines.append("| --- | ---: | ---: | ---: |")
    for name, url in (("the server alone", place.alone), ("with its replica", place.with_replica)):
        mid, late = statistics.median(taken[url]), numpy.percentile(taken[url], 95)
        lines.append(f"| {name} | {mid / one:.0f} | {late / one:.0f} | {1 / statistics.mean(taken[url]):.1f} |")
    lines += ["", f"{near} of {QUESTIONS} were read from the replica, and {same} found the same ten in the same order."]
    return "\n".join(lines)


def stored(store: Store, chance: random.Random) -> Question:
    """Store an entry with a vector of its own; return the question that it answers best."""
    id = f"{chance.getrandbits(64):016x}"
    vector = numpy.random.default_rng(chance.getrandbits(32)).standard_normal(384).astype("<f4")
    vector /= numpy.linalg.norm(vector)
    entry = StoredEntry(
        id=id, category="patterns", name=id, description=f"Entry {id}.", created_at=WRITTEN, updated_at=WRITTEN
    )

    def put() -> None:
        store.put(Source("/bank.md", BANK), [entry], anew=False)
        store.put_vectors([(id, vector.tobytes())])

    store.write(put)
    return Question([id], vector.tobytes())


def bursts(place: Place, _questions: Sequence[Question]) -> str:
    """Return a sentence on how far the replica is behind after many writes."""
    chance = random.Random(3)  # noqa: S311
    rates: list[float] = []
    behind: list[float] = []
    bare: list[float] = []
    with place.open(place.alone) as store, looking(place) as behind_now:
        for _ in range(BURSTS):
            behind_now()
            rates.append(BURST / timed(lambda: [stored(store, chance) for _ in range(BURST)]))
            behind.append(behind_now())
            bare += [timed(lambda: select_one(store)) for _ in range(20)]
    one = statistics.median(bare)
    mid, most = statistics.median(behind), max(behind)
    return (
        f"{BURSTS} bursts of {BURST:,} entries with vectors, {statistics.median(rates):.0f} entries a second: the"
        f" replica had all of a burst {mid / one:.1f} SELECT 1 after its end in the middle ({mid * 1000:.1f} ms), and"
        f" {most / one:.1f} at most ({most * 1000:.1f} ms). A SELECT 1 took {one * 1000:.2f} ms."
    )


def own_writes(place: Place, questions: Sequence[Question]) -> str:
    """Return a sentence on searches for what was just written, while the replica follows and while it stands still."""
    chance = random.Random(5)  # noqa: S311
    told: list[str] = []
    with place.open(place.with_replica) as store:
        for state, pause in (("follows", ""), ("stands still", "SELECT pg_wal_replay_pause()")):
            waited(place)
            if pause:
                place.replica.run(pause)
            try:
                told.append(f"while the replica {state}: {_at_once(store, chance)}")
            finally:
                place.replica.run("SELECT pg_wal_replay_resume()")
        waited(place)
        since = timed(lambda: _until_near(store, questions[0]))
    return f"Own writes, searched for at once, {'; '.join(told)}. Then it was read again after {since * 1000:.0f} ms."


def _at_once(store: Store, chance: random.Random) -> str:
    """Return how many entries were found directly after they were stored, and what that took."""
    taken: list[float] = []
    bare: list[float] = []
    right = near = 0
    for _ in range(AT_ONCE):
        question = stored(store, chance)
        found: list[str] = []
        taken.append(timed(lambda q=question, f=found: f.extend(search(store, q))))
        right += question.terms[0] in found
        near += is_from_replica(store)
        bare.append(timed(lambda: select_one(store)))
    mid = statistics.median(taken) / statistics.median(bare)
    return f"{right} of {AT_ONCE} found, {near} of them on the replica, {mid:.0f} SELECT 1 each"


def _until_near(store: Store, question: Question) -> None:
    """Search until the replica is read."""
    end = time.monotonic() + 60
    search(store, question)
    while not is_from_replica(store):
        if time.monotonic() > end:
            raise SystemExit("no search is read from the replica")
        search(store, question)


def together(place: Place, questions: Sequence[Question], agents: int) -> str:
    """Return sentences about agents at once on the server alone, and with its replica."""
    told: list[str] = []
    for name, url in (("alone", place.alone), ("with its replica", place.with_replica)):
        with multiprocessing.get_context("fork").Pool(agents) as pool:
            done = pool.starmap(_work, [(place, url, number, list(questions)) for number in range(agents)])
        asked, put, near = (sum(each[part] for each in done) for part in range(3))
        told.append(f"{name} {(asked + put) / SECONDS:.0f} calls a second, {near / asked:.2f} of searches on a replica")
    return f"{agents} agents at once for {SECONDS:.0f} s, four of five calls searches: {'; '.join(told)}."


def _work(place: Place, url: str, number: int, questions: list[Question]) -> tuple[int, int, int]:
    """Search and store until the time is up. Return the number of searches, of stores, and of searches on a replica."""
    chance = random.Random(number)  # noqa: S311
    asked = put = near = 0
    with place.open(url) as store:
        search(store, questions[number])
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if chance.random() < 0.8:
                search(store, chance.choice(questions))
                asked += 1
                near += is_from_replica(store)
            else:
                stored(store, chance)
                put += 1
    return asked, put, near


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
