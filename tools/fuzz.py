"""Look for inputs that break the readers of hooks, guided by the code they reach: python tools/fuzz.py [SECONDS]

Needs atheris (`pip install atheris`), which exists for Linux. Events and transcripts are read from the same bytes,
because both come from outside; neither may raise anything but what its contract says.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress

try:
    import atheris
except ImportError:
    sys.exit("tools/fuzz.py needs atheris: pip install atheris")

with atheris.instrument_imports(include=["recollect"]):
    from recollect.domain.categories import PROJECT
    from recollect.domain.quick_json import dump, parse
    from recollect.domain.triage.score import Activity, find
    from recollect.files.session.transcript import read_end
    from recollect.hooks.stdin import read_event

SAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "data", "hook-stdin")
THRESHOLDS = dict.fromkeys(PROJECT, 0.1)


def attack(data: bytes) -> None:
    with suppress(ValueError):
        dump(parse(data.decode("utf-8", "replace")))
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        file.seek(0)
        with suppress(ValueError):
            read_event(file.fileno()).fields("tool_input").text("file_path")
        heard = read_end(file.name, 50)
        find(heard.said, Activity(heard.tool_uses, heard.distinct_tools, heard.exchanges), THRESHOLDS)


def main() -> None:
    seconds = sys.argv[1] if len(sys.argv) > 1 else "60"
    with tempfile.TemporaryDirectory(prefix="recollect-fuzz-") as corpus:
        atheris.Setup(
            [sys.argv[0], corpus, SAMPLES, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048"], attack
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
