"""Numbers about a server's calls, in the text format that Prometheus reads."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping

from recollect.version import VERSION

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# The outcomes of a call: answered; refused for what it asks; failed here; given up; left by the client.
ANSWERED = "answered"
REFUSED = "refused"
FAILED = "failed"
LATE = "late"
CANCELLED = "cancelled"

# In seconds: the upper bounds of the histogram of times.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_Labels = Mapping[str, str]


class Metrics:
    """Counters of a process, from its start on. Any thread may count."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = time.time()
        self._calls: Counter[tuple[str, str]] = Counter()
        self._buckets: dict[str, list[int]] = {}  # by tool, one for each bound and one for all beyond
        self._seconds: dict[str, float] = {}
        self._store_errors = 0
        self._unknown_tokens = 0

    def count_call(self, tool: str, outcome: str, seconds: float) -> None:
        """Count a call of one of our tools. Names that clients make up would be labels without end."""
        with self._lock:
            self._calls[tool, outcome] += 1
            self._buckets.setdefault(tool, [0] * (len(BOUNDS) + 1))[bisect_left(BOUNDS, seconds)] += 1
            self._seconds[tool] = self._seconds.get(tool, 0.0) + seconds

    def count_store_error(self) -> None:
        with self._lock:
            self._store_errors += 1

    def count_unknown_token(self) -> None:
        with self._lock:
            self._unknown_tokens += 1

    def text(self, *, connections: int, running: int, waiting: int, is_well: bool, pending: int | None) -> str:
        """Return all numbers, with those of this moment. `pending` is None if the store does not tell it."""
        with self._lock:
            lines = [
                *_family("build_info", "gauge", "The version of recollect.", [({"version": VERSION}, 1)]),
                *_family("start_time_seconds", "gauge", "When the server started.", [({}, self._started)]),
                *_family(
                    "tool_calls_total",
                    "counter",
                    "Calls of tools by outcome.",
                    [({"tool": tool, "outcome": outcome}, n) for (tool, outcome), n in sorted(self._calls.items())],
                ),
                *self._histogram(),
                *_family("store_errors_total", "counter", "Calls that the store failed.", [({}, self._store_errors)]),
                *_family(
                    "unknown_tokens_total",
                    "counter",
                    "Requests without a token that is valid.",
                    [({}, self._unknown_tokens)],
                ),
            ]
        lines += _family("open_connections", "gauge", "Open connections of clients.", [({}, connections)])
        lines += _family("running_calls", "gauge", "Calls that are being done.", [({}, running)])
        lines += _family("waiting_calls", "gauge", "Calls that wait for their turn.", [({}, waiting)])
        lines += _family("store_up", "gauge", "1 if the store answers in time.", [({}, int(is_well))])
        if pending is not None:
            about = "Entries found by their words alone so far."
            lines += _family("entries_awaiting_vector", "gauge", about, [({}, pending)])
        return "\n".join(lines) + "\n"

    def _histogram(self) -> Iterable[str]:
        name = "tool_call_seconds"
        yield from _family(name, "histogram", "Times of calls, from their arrival to their answer.", [])
        for tool, buckets in sorted(self._buckets.items()):
            total = 0
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), buckets, strict=True):
                total += count
                yield _sample(f"{name}_bucket", {"tool": tool, "le": bound}, total)
            yield _sample(f"{name}_sum", {"tool": tool}, self._seconds[tool])
            yield _sample(f"{name}_count", {"tool": tool}, total)


def _family(name: str, kind: str, about: str, samples: Iterable[tuple[_Labels, float]]) -> Iterable[str]:
    yield f"# HELP recollect_{name} {about}"
    yield f"# TYPE recollect_{name} {kind}"
    for labels, value in samples:
        yield _sample(name, labels, value)


def _sample(name: str, labels: _Labels, value: float) -> str:
    """Return the line of a value. Labels are names of our own, so nothing in them needs escaping."""
    told = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return f"recollect_{name}{f'{{{told}}}' if told else ''} {value}"
