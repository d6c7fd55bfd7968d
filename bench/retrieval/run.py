"""How well search finds what it should, on every BEIR folder below the given ones, one table for each.

    python bench/retrieval/run.py [--sessions] FOLDER...

A folder with corpus.jsonl is a set by itself; a folder of such folders is one set, each searched by itself and all
their questions counted together. The same as `recollect bench retrieval`, called once for each set. With --sessions,
the turns of a conversation's session are one document: those whose ids are alike before the colon, as LoCoMo has them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

SESSIONS = "--sessions"
RECOLLECT = os.path.join(os.path.dirname(sys.executable), "recollect")


def main() -> None:
    folders = [each for each in sys.argv[1:] if each != SESSIONS]
    if not folders:
        sys.exit(__doc__)
    for folder in folders:
        print(f"\n### {os.path.basename(os.path.normpath(folder))}\n", flush=True)
        with tempfile.TemporaryDirectory() as place:
            found = folders_of(folder)
            found = [in_sessions(each, place) for each in found] if SESSIONS in sys.argv else found
            subprocess.run([RECOLLECT, "bench", "retrieval", *found], check=True)


def folders_of(folder: str) -> list[str]:
    if os.path.exists(os.path.join(folder, "corpus.jsonl")):
        return [folder]
    inner = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())
    return [path for path in inner if os.path.exists(os.path.join(path, "corpus.jsonl"))]


def in_sessions(folder: str, place: str) -> str:
    """Write a conversation below a place again, with whole sessions as its documents, and return its folder."""
    made = os.path.join(place, os.path.basename(os.path.normpath(folder)))
    os.mkdir(made)
    sessions: dict[str, list[str]] = {}
    for line in lines_of(folder, "corpus.jsonl"):
        turn = json.loads(line)
        sessions.setdefault(turn["_id"].partition(":")[0], []).append(turn["text"])
    texts = [json.dumps({"_id": name, "title": "", "text": "\n".join(turns)}) for name, turns in sessions.items()]
    head, *answers = lines_of(folder, "qrels.tsv")
    parts = [answer.split("\t") for answer in answers]
    right = dict.fromkeys("\t".join([query, turn.partition(":")[0], score]) for query, turn, score in parts)
    queries = lines_of(folder, "queries.jsonl")
    for name, lines in (("corpus.jsonl", texts), ("queries.jsonl", queries), ("qrels.tsv", [head, *right])):
        with open(os.path.join(made, name), "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    return made


def lines_of(folder: str, name: str) -> list[str]:
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


if __name__ == "__main__":
    main()
