"""Measure how long the pages of `recollect ui` take as a store grows, as ratios to a static file of the same size.

    python bench/ui/run.py [--sizes 100 10000 100000] [--json FILE]

Entries are synthetic, as in bench/scale. The file is served by the same server, behind the same guard; requests for a
page and for a file of its size take turns, so that noise hits both alike. Medians of 30, after a warm-up. The weight is
that of the page with its style and scripts. What a page loads after itself counts as a part of it.
"""

from __future__ import annotations

import argparse
import html
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

sys.path.append(str(Path(__file__).parents[2]))
from bench.scale import run as scale

from recollect.config.workspace import Workspace
from recollect.engine.engine import Engine
from recollect.store.values import Model
from recollect.sync.sync import sync

ROUNDS = 30
WARM_UP = 3
_PARTS = re.compile(rb'data-load="([^"]+)"')
STATIC = ("/static/enter.html", "/static/enter.js", "/static/key.js", "/static/style.css", "/static/app.js")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 10_000, 100_000])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--serve", nargs=3, metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve)
        return
    rows = [measure(size) for size in options.sizes]
    print(_table(rows))
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=2), encoding="utf-8")


def measure(size: int) -> dict[str, Any]:
    """One size: the ratios of the first page and of a search, and the weight of the first page."""
    print(f"measuring {size:,} entries ...", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        questions = fill(folder, size)
        with _served(folder) as visitor:
            first = _ratio(visitor, ["/"] * (ROUNDS + WARM_UP))
            assert b"data-row" in visitor.whole("/memories"), "an empty page tells nothing"  # noqa: S101
            table = _ratio(visitor, ["/memories"] * (ROUNDS + WARM_UP))
            found = _ratio(visitor, [f"/memories?{urlencode({'q': question})}" for question in questions])
            weight = first["bytes"] + sum(len(visitor.get(path)) for path in STATIC)
    return {"entries": size, "first": first, "memories": table, "search": found, "weight": weight}


def fill(folder: str, size: int) -> list[str]:
    """A project and a global bank of so many entries, all with a vector; returns questions about them."""
    chance = random.Random(size)  # noqa: S311
    vocabulary = [f"w{number:x}" for number in range(scale.WORDS)]
    weights = [1 / (number + 10) for number in range(scale.WORDS)]
    project, store = os.path.join(folder, "project"), os.path.join(folder, "store")
    os.makedirs(project)
    os.makedirs(store)
    banks: dict[str, list[str]] = {}
    for entry in scale._entries(chance, vocabulary, weights, 0, size):
        lines = (f"### {entry.name}", entry.description, f"- Keywords: {', '.join(entry.keywords)}", "")
        banks.setdefault(entry.category, []).append("\n".join(lines))
    for category, entries in banks.items():
        Path(store, f"{category}.md").write_text("\n".join(entries), encoding="utf-8")
    workspace = Workspace(project, store)
    with Engine(workspace) as engine:
        sync(engine.store, workspace, engine.labels())
        model = engine.embedder()
        engine.store.use_model(Model(model.identity, model.provider, model.model, model.dimensions))
        ids = [standing.id for standing in engine.store.standings(engine.scope(engine.project))]
        assert len(ids) == size, len(ids)  # noqa: S101
        vectors = scale._vectors(size, model.dimensions)
        for at in range(0, size, 10_000):
            some = ids[at : at + 10_000]
            engine.store.put_vectors(list(zip(some, vectors(at, len(some)), strict=True)))
    return [" ".join(chance.choices(vocabulary, weights, k=6)) for _ in range(ROUNDS + WARM_UP)]


class Visitor:
    """A client with a connection that is kept, and with the key."""

    def __init__(self, url: str, files: str) -> None:
        self.files = files
        place = urlsplit(url)
        self._connection = http.client.HTTPConnection(place.netloc)
        self._asked("/enter", method="POST", body=place.fragment)
        self._key = json.loads(self._body)["key"]

    def get(self, path: str) -> bytes:
        answer = self._asked(path, {"Authorization": f"Bearer {self._key}"})
        assert answer.status == 200, (path, answer.status)  # noqa: S101
        return self._body

    def whole(self, path: str) -> bytes:
        """Return a page with the parts that it loads after itself."""
        page = self.get(path)
        return page + b"".join(self.get(html.unescape(part.decode())) for part in _PARTS.findall(page))

    def _asked(
        self, path: str, headers: Mapping[str, str] | None = None, *, method: str = "GET", body: str | None = None
    ) -> http.client.HTTPResponse:
        self._connection.request(method, path, body, dict(headers or {}))
        answer = self._connection.getresponse()
        self._body = answer.read()
        return answer


def _ratio(visitor: Visitor, paths: list[str]) -> dict[str, float]:
    """Milliseconds of pages and of files of the same size, in turns."""
    pages: list[float] = []
    files: list[float] = []
    size = 0
    for path in paths:
        started = time.perf_counter()
        size = len(visitor.whole(path))
        pages.append((time.perf_counter() - started) * 1000)
        Path(visitor.files, "page.html").write_bytes(b"x" * size)
        started = time.perf_counter()
        visitor.get("/bench/page.html")
        files.append((time.perf_counter() - started) * 1000)
    page, file = statistics.median(pages[WARM_UP:]), statistics.median(files[WARM_UP:])
    return {"ms": page, "file_ms": file, "ratio": page / file, "bytes": size}


@contextmanager
def _served(folder: str) -> Iterator[Visitor]:
    files = os.path.join(folder, "files")
    os.mkdir(files)
    command = [
        sys.executable,
        __file__,
        "--serve",
        os.path.join(folder, "project"),
        os.path.join(folder, "store"),
        files,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env={**os.environ, "HOME": folder})
    try:
        assert process.stdout  # noqa: S101
        yield Visitor(process.stdout.readline().strip(), files)
    finally:
        process.kill()
        process.communicate()


def serve(project: str, store: str, files: str) -> None:
    """Serve the pages as `recollect ui` does, with a folder of files beside them, and print the address."""
    from starlette.staticfiles import StaticFiles

    from recollect.serving.ending import Ending
    from recollect.serving.listen import Server, listen_here
    from recollect.web.app import build_app, look_with
    from recollect.web.guard import Guard
    from recollect.web.live import Live
    from recollect.web.place import Address
    from recollect.web.site import Site

    listening = listen_here(0)
    address = Address("bench.localhost", listening[0].getsockname()[1])
    ending, site = Ending(), Site(Workspace(project, store))
    app = build_app(site, Live(look_with(site)), ending.begin)
    app.mount("/bench", StaticFiles(directory=files))
    guard = Guard(app, address, "bench".__eq__)
    site.prepare()
    ending.started()
    ready = address.url("/#bench", by_number=True)
    Server(guard, guard.is_known, ending).serve(listening, lambda: print(ready, flush=True))


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| entries | first page | memories | search | first page, kB | with style and scripts, kB |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        ratios = " | ".join(f"{row[name]['ratio']:.1f}" for name in ("first", "memories", "search"))
        lines.append(
            f"| {row['entries']:,} | {ratios} | {row['first']['bytes'] / 1e3:.0f} | {row['weight'] / 1e3:.0f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
