"""How well search finds what it should, on every BEIR folder below the given ones, one table for each.

    python bench/retrieval/run.py FOLDER...

A folder with corpus.jsonl is a set by itself; a folder of such folders is one set, each searched by itself and all
their questions counted together. The same as `recollect bench retrieval`, called once for each set.
"""

from __future__ import annotations

import os
import subprocess
import sys

RECOLLECT = os.path.join(os.path.dirname(sys.executable), "recollect")


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for folder in sys.argv[1:]:
        print(f"\n### {os.path.basename(os.path.normpath(folder))}\n", flush=True)
        subprocess.run([RECOLLECT, "bench", "retrieval", *folders_of(folder)], check=True)


def folders_of(folder: str) -> list[str]:
    if os.path.exists(os.path.join(folder, "corpus.jsonl")):
        return [folder]
    inner = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())
    return [path for path in inner if os.path.exists(os.path.join(path, "corpus.jsonl"))]


if __name__ == "__main__":
    main()
