"""How often a prompt gets what it is about, and how often a prompt about nothing that is stored gets nothing.

    python bench/retrieval/prompts.py [--vectors] [--among FOLDER...] [--elsewhere FOLDER...]

The prompts and the store are those of tests/data/prompts, and the sample project. The documents of BEIR folders can be
added as knowledge that is shared (--among) or that belongs to another project (--elsewhere): a rate must hold in a
small store and in a large one. Constants were chosen on one half of the prompts, and the other half was held out. Those
that weigh meaning were also chosen on prompts in other words (paraphrased.tsv), and these are all hard: hardly one
shares a word with what it needs, and those about nothing use the project's own words.

The prompts of tests/data/prompts/other, and the project that they are about, are by somebody who knew neither the code
nor any other prompt: half of them share no word with what they need, and those about nothing use the project's own.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from recollect.config import project
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.doctor.bench import load_folder
from recollect.domain.categories import FOLDER, LABEL
from recollect.domain.ranking.fusion import TermStatistics
from recollect.domain.stored import StoredEntry
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine
from recollect.recall.prompt_request import PromptRequest
from recollect.recall.prompt_store import ask
from recollect.recall.prompt_titles import from_titles
from recollect.store.values import BANK, Scope, Source
from recollect.sync.memories import sync_memories
from recollect.sync.sync import sync

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(TOP, "tests", "data", "prompts")
SAMPLE = os.path.join(TOP, "examples", "sample-project", "docs")
SAMPLE_PROJECT = "parcel-tracker"
MOST = 5  # retrieval.max_inject, as it comes
CHOSEN_ON, PARAPHRASED = "chosen on", "chosen on, in other words"
HELD_OUT, ANOTHER = "held out", "another author's"
OTHER = "other"
WRITTEN = "2026-10-01T00:00:00Z"

# The slugs or names that a system gives for a prompt, the best first.
System = Callable[["Prompt"], list[str]]


@dataclass(frozen=True)
class Prompt:
    """A prompt in a project, with the slugs or names of what it is about; none for one about nothing that is stored.

    Its part says whether constants were chosen on it, or it was held out, or somebody wrote it who did not know them.
    """

    text: str
    project: str
    right: frozenset[str]
    part: str


@dataclass(frozen=True)
class Rates:
    """The share of prompts that get something right, of those that get nothing when there is nothing, and how many
    wrong ones a prompt gets beside a right one.
    """

    right: float
    silent: float
    beside: float
    about: int
    unrelated: int


def load_prompts() -> list[Prompt]:
    ours = _about(DATA, "about.tsv") + _unrelated(DATA)
    paraphrased = _about(DATA, "paraphrased.tsv")
    other = os.path.join(DATA, OTHER)
    by_another = _about(other, "about.tsv") + _unrelated(other)
    return [
        *(Prompt(text, owner, right, _half(text)) for owner, right, text in ours),
        *(Prompt(text, owner, right, PARAPHRASED) for owner, right, text in paraphrased),
        *(Prompt(text, owner, right, ANOTHER) for owner, right, text in by_another),
    ]


def _half(text: str) -> str:
    return HELD_OUT if sha256(text.encode("utf-8")).digest()[0] % 2 == 0 else CHOSEN_ON


def _about(folder: str, name: str) -> list[tuple[str, frozenset[str], str]]:
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        fields = [line.rstrip("\n").split("\t") for line in file]
    return [(owner, frozenset(filter(None, right.split("|"))), text) for owner, right, text in fields]


def _unrelated(folder: str) -> list[tuple[str, frozenset[str], str]]:
    """Prompts about nothing that is stored, each in one of the folder's projects, whichever."""
    names = sorted({owner for owner, _, _ in _about(folder, "about.tsv")})
    with open(os.path.join(folder, "unrelated.txt"), encoding="utf-8") as file:
        texts = [line.strip() for line in file]
    return [(names[sha256(text[::-1].encode()).digest()[0] % len(names)], frozenset(), text) for text in texts]


def make_world(folder: str) -> tuple[str, dict[str, str]]:
    """The projects with their memories and banks, as files, and a store that has read them: where these are."""
    store = os.path.join(folder, "store")
    os.makedirs(store)
    roots: dict[str, str] = {}
    for record in (*_lines("memories.jsonl"), *_lines(os.path.join(OTHER, "memories.jsonl"))):
        root = roots.setdefault(record["project"], os.path.join(folder, record.pop("project")))
        path = os.path.join(root, ".claude", "memory", FOLDER[record["category"]], f"{record['id']}.json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        whole = {"schema_version": "1.0", "record_status": "active", "created_at": WRITTEN, "updated_at": WRITTEN}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(whole | record, file)
    shutil.copytree(SAMPLE, os.path.join(roots[SAMPLE_PROJECT], "docs"))
    for entry in _lines("knowledge.jsonl"):
        with open(os.path.join(store, f"{entry['category']}.md"), "a", encoding="utf-8") as file:
            file.write(f"### {LABEL[entry['category']]}: {entry['name']}\n{entry['description']}\n\n")
    for root in roots.values():
        with Engine(Workspace(root, store, load_settings(root, {}))) as engine:
            problems = sync(engine.store, engine.workspace, engine.labels())
            problems += sync_memories(engine.store, engine.workspace)
            if problems:
                raise SystemExit("\n".join(problems))
    return store, roots


def add_documents(engine: Engine, folder: str, owner: str) -> None:
    """Let the store hold the documents of a BEIR folder, for everybody or for one project."""
    entries = [
        StoredEntry(
            id=f"{sha256(folder.encode()).hexdigest()[:6]}-{number}",
            category="patterns",
            name=title or " ".join(text.split()[:8]),
            description=text,
            created_at=WRITTEN,
        )
        for number, (title, text) in enumerate(load_folder(folder).documents.values())
    ]
    engine.store.put(Source(os.path.abspath(folder), BANK, project=owner), entries)


def by_words(engine: Engine, roots: dict[str, str]) -> System:
    return lambda prompt: _names(engine, prompt, roots, None)


def by_meaning(engine: Engine, roots: dict[str, str]) -> System:
    def embed(text: str, statistics: TermStatistics) -> bytes:
        return engine.embedder().embed([text], "query", statistics.telling())[0]

    return lambda prompt: _names(engine, prompt, roots, embed)


def by_titles(roots: dict[str, str], least: int) -> System:
    def system(prompt: Prompt) -> list[str]:
        place = roots[prompt.project]
        workspace = Workspace(place, os.path.join(place, "no-store"), load_settings(place, {}))
        asked = PromptRequest(prompt.text, workspace, "", None)
        asked.root = workspace.memory_root()
        told = from_titles(asked, asked.root, least=least)
        return [os.path.basename(each.path).removesuffix(".json") for each in told]

    return system


def measure(system: System, prompts: Sequence[Prompt]) -> Rates:
    right = silent = beside = 0
    about = [prompt for prompt in prompts if prompt.right]
    unrelated = [prompt for prompt in prompts if not prompt.right]
    for prompt in about:
        names = system(prompt)
        right += not prompt.right.isdisjoint(names)
        beside += len(set(names) - prompt.right)
    for prompt in unrelated:
        silent += not system(prompt)
    return Rates(right / len(about), silent / len(unrelated), beside / len(about), len(about), len(unrelated))


def _names(
    engine: Engine, prompt: Prompt, roots: dict[str, str], embed: Callable[[str, TermStatistics], bytes] | None
) -> list[str]:
    hits = ask(engine.store, prompt.text, Scope(project.identity(roots[prompt.project])), embed).hits[:MOST]
    paths = engine.store.memory_paths(hit.entry.id for hit in hits)
    named = [(paths.get(hit.entry.id), hit.entry.name) for hit in hits]
    return [os.path.basename(path).removesuffix(".json") if path else name for path, name in named]


def _lines(name: str) -> Iterator[dict[str, str]]:
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--vectors", action="store_true", help="also by meaning, with the local model")
    arguments.add_argument("--among", nargs="*", default=[], metavar="FOLDER", help="documents to be shared knowledge")
    arguments.add_argument("--elsewhere", nargs="*", default=[], metavar="FOLDER", help="those of another project")
    options = arguments.parse_args()
    prompts = load_prompts()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as made:
        folder = os.path.realpath(made)
        store, roots = make_world(folder)
        with Engine(Workspace("", store, load_settings(folder, {}))) as engine:
            for owner, paths in (("", options.among), ("/elsewhere", options.elsewhere)):
                for path in paths:
                    add_documents(engine, path, owner)
            systems = {"full text": by_words(engine, roots)}
            if options.vectors:
                embed_pending(engine, most=-1)
                systems["full text and vectors"] = by_meaning(engine, roots)
            systems["title_tags"] = by_titles(roots, 1)
            systems["title_tags, standing in"] = by_titles(roots, 5)
            print(f"{engine.store.coverage().entries:,} entries\n")
            _print_table(systems, prompts)


def _print_table(systems: dict[str, System], prompts: Sequence[Prompt]) -> None:
    print("| | prompts | right memory | nothing where nothing is | wrong beside |")
    print("| --- | --- | ---: | ---: | ---: |")
    for name, system in systems.items():
        for part in (CHOSEN_ON, PARAPHRASED, HELD_OUT, ANOTHER):
            rates = measure(system, [prompt for prompt in prompts if prompt.part == part])
            counts = f"{part}: {rates.about} and {rates.unrelated}"
            print(f"| {name} | {counts} | {rates.right:.3f} | {rates.silent:.3f} | {rates.beside:.2f} |")


if __name__ == "__main__":
    main()
