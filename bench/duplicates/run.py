"""How often the other account of a thing is among an entry's three likeliest, as `recollect dedupe` proposes them.

    python -m bench.duplicates.run [--entries 500] [--json FILE]

The labelled paraphrases of tests/unit/memories/test_resolve.py are entries beside the memories that they tell again,
beside near misses of the same projects and beside the memories, lessons and prompts of tests/data and examples.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from tests.unit.memories.test_resolve import PIPELINE, SHOP, memories, other_things

from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.hashing import content_hash
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine
from recollect.files.bank.bank import BankFile
from recollect.learn.duplicates import LEAST, LIKELIEST, likeliest
from recollect.learn.input import title_of
from recollect.sync.sync import sync

DATA = Path(__file__).parents[2] / "tests" / "data"
SAMPLE = Path(__file__).parents[2] / "examples" / "sample-project"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=500)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    known = [memory for project in (SHOP, PIPELINE) for memory in memories(project)]
    originals = {memory.title: (memory.title, " ".join(memory.content.values())) for memory in known}
    labelled = [(title_of(text), text, memory.title) for memory in known for text in memory.reworded]
    entries = [*originals.values(), *((name, text) for name, text, _ in labelled), *_others()]
    entries = list({content_hash(text): (name, text) for name, text in entries}.values())[: options.entries]
    with tempfile.TemporaryDirectory() as folder:
        results = {
            "words": _measured(Path(folder) / "words", entries, labelled, originals, meaning=False),
            "words and meaning": _measured(Path(folder) / "both", entries, labelled, originals, meaning=True),
        }
    print(f"{len(labelled)} paraphrases among {len(entries)} entries")
    print("| compared by | first | among three | among three of either | proposed | pairs proposed in all |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, row in results.items():
        rates = " | ".join(f"{row[rate]:.3f}" for rate in ("first", "three", "either", "proposed"))
        print(f"| {name} | {rates} | {row['pairs']:.0f} |")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1), encoding="utf-8")


def _others() -> list[tuple[str, str]]:
    """Return what else is stored: near misses, lessons, memories, and prompts to fill up."""
    found = [(title_of(text), text) for project in (SHOP, PIPELINE) for text in other_things(project)]
    for line in (DATA / "prompts" / "knowledge.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        found.append((entry["name"], entry["description"]))
    for line in (DATA / "prompts" / "memories.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        texts = [value for value in record["content"].values() if isinstance(value, str)]
        found.append((record["title"], " ".join(texts)))
    for path in sorted([*SAMPLE.rglob("knowledge-bank/*.md"), *DATA.rglob("knowledge-bank/*.md")]):
        bank = BankFile(path.read_text(encoding="utf-8"), path.stem, "local")
        found += [(entry.name, entry.description) for entry in bank.entries]
    for name in ("about.tsv", "paraphrased.tsv"):
        for line in (DATA / "prompts" / name).read_text(encoding="utf-8").splitlines():
            found.append((title_of(line.split("\t")[-1]), line.split("\t")[-1]))
    return found


def _measured(
    folder: Path,
    entries: list[tuple[str, str]],
    labelled: list[tuple[str, str, str]],
    originals: dict[str, tuple[str, str]],
    *,
    meaning: bool,
) -> dict[str, float]:
    bank = folder / "project" / "docs" / "knowledge-bank"
    bank.mkdir(parents=True)
    text = "".join(f"### Heuristic: {name}\n{body}\n\n" for name, body in entries)
    (bank / "heuristics.md").write_text(f"# Heuristics\n\n{text}", encoding="utf-8")
    variables = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": str(meaning).lower()}
    project = str(folder / "project")
    first = three = either = proposed = 0
    pairs: set[frozenset[str]] = set()
    with Engine(Workspace(project, str(folder / "store"), load_settings(project, variables))) as engine:
        sync(engine.store, engine.workspace, engine.labels())
        if meaning:
            embed_pending(engine, most=-1, seconds=600)
        near = likeliest(engine, engine.store.page(engine.scope(engine.project), 10_000)[0], LIKELIEST)
        for id, found in near.items():
            pairs |= {frozenset((id, other)) for other, likeness in found.items() if likeness >= LEAST}
        for _, text, title in labelled:
            own, right = content_hash(text), content_hash(originals[title][1])
            found = near[own]
            first += next(iter(found), "") == right
            three += right in found
            either += right in found or own in near[right]
            proposed += frozenset((own, right)) in pairs
    count = len(labelled)
    return {
        "first": first / count,
        "three": three / count,
        "either": either / count,
        "proposed": proposed / count,
        "pairs": len(pairs),
    }


if __name__ == "__main__":
    main()
