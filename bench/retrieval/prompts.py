"""Measure how often a prompt gets the memory it is about, and the noise that other prompts get.

    python bench/retrieval/prompts.py [--vectors] [--curve | --small] [--among FOLDER...] [--elsewhere FOLDER...]

A memory reaches a prompt as text, where recollect is sure, or by its title, where it is not. The table has the share of
prompts that get a right one as text, and as either; for prompts about nothing stored, the share that gets text, and
titles and tokens on average (four characters are a token). All of it without triggers and with them.

The prompts and the store are those of tests/data/prompts, and the sample project; README.md there says who wrote what.
Constants were chosen on one half of our prompts, on those in other words, and on the first of three young projects.
Documents of BEIR folders can be added as knowledge that is shared (--among) or that belongs to another project
(--elsewhere): a rate must hold in a small store and in a large one. `--curve` measures the other two young projects
with 1 to 50 entries, and with documents of --among as entries of the same project up to 3,000. `--small` measures three
projects of twelve memories, half of them with triggers, and short prompts in other words. Nothing was chosen on them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from recollect.config import project
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.doctor.bench import load_folder
from recollect.domain.categories import FOLDER, LABEL
from recollect.domain.ranking.fusion import TermStatistics
from recollect.domain.stored import StoredEntry
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine
from recollect.files.bank.entry import bare_name
from recollect.recall.prompt_request import PromptRequest
from recollect.recall.prompt_store import choose
from recollect.recall.prompt_titles import from_titles
from recollect.store.values import BANK, Source
from recollect.sync.memories import sync_memories
from recollect.sync.sync import sync

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(TOP, "tests", "data", "prompts")
SAMPLE = os.path.join(TOP, "examples", "sample-project", "docs")
SAMPLE_PROJECT = "parcel-tracker"
CHOSEN_ON, PARAPHRASED = "chosen on", "chosen on, in other words"
HELD_OUT, ANOTHER = "held out", "another author's"
OTHER, YOUNG, SMALL = "other", "young", "small"
YOUNG_HELD_OUT = ("choir-desk", "bus-delays")  # constants were chosen on the third, hive-scale
SIZES = (1, 5, 12, 50, 300, 3000)
WRITTEN = "2026-10-01T00:00:00Z"
CHARACTERS_A_TOKEN = 4


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
class Given:
    """The block for a prompt: the slugs or names of its texts and of its titles, and the block itself."""

    told: list[str]
    maybes: list[str]
    text: str


System = Callable[[Prompt], Given]


@dataclass(frozen=True)
class Rates:
    """The shares of prompts that get something right as text or at all, and how many wrong texts stand beside it.

    For prompts about nothing that is stored: the share that gets no text, and titles and tokens on average.
    """

    right: float
    either: float
    beside: float
    silent: float
    titles: float
    tokens: float
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


def load_young(name: str = YOUNG) -> list[Prompt]:
    folder = os.path.join(DATA, name)
    read = _about(folder, "about.tsv") + _about(folder, "unrelated.tsv")
    return [Prompt(text, owner, right, name) for owner, right, text in read]


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


def make_world(folder: str, *, triggers: bool = False) -> tuple[str, dict[str, str]]:
    """The projects with their memories and banks, as files, and a store that has read them: where these are."""
    store = os.path.join(folder, "store")
    os.makedirs(store)
    when = _triggers(DATA) | _triggers(os.path.join(DATA, OTHER)) if triggers else {}
    roots = _write_memories(folder, (*_lines("memories.jsonl"), *_lines(os.path.join(OTHER, "memories.jsonl"))), when)
    copied = shutil.copytree(SAMPLE, os.path.join(roots[SAMPLE_PROJECT], "docs"))
    for category in LABEL:
        _add_lines(os.path.join(copied, "knowledge-bank", f"{category}.md"), when)
    for entry in _lines("knowledge.jsonl"):
        path = os.path.join(store, f"{entry['category']}.md")
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"### {LABEL[entry['category']]}: {entry['name']}\n{entry['description']}\n\n")
    for category in LABEL:
        _add_lines(os.path.join(store, f"{category}.md"), when)
    _read(store, roots.values())
    return store, roots


def _write_memories(folder: str, records: Iterable[dict[str, Any]], when: Mapping[str, list[str]]) -> dict[str, str]:
    roots: dict[str, str] = {}
    for record in records:
        root = roots.setdefault(record["project"], os.path.join(folder, record.pop("project")))
        path = os.path.join(root, ".claude", "memory", FOLDER[record["category"]], f"{record['id']}.json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        whole = {"schema_version": "1.0", "record_status": "active", "created_at": WRITTEN, "updated_at": WRITTEN}
        if record["id"] in when:
            whole["triggers"] = when[record["id"]]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(whole | record, file)
    return roots


def _add_lines(path: str, when: Mapping[str, list[str]]) -> None:
    """Give the entries of a bank the triggers in `when`, and take away those that they have."""
    lines: list[str] = []
    name = ""
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            is_next = line.startswith(("### ", "- ")) or (not line and lines[-1:] != [""])
            if name in when and is_next and not line.startswith("### "):
                lines.append(f"- When: {'; '.join(when[name])}")
                name = ""
            if line.startswith("### "):
                name = bare_name(line[4:])
            if not line.startswith("- When:"):
                lines.append(line)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def _triggers(folder: str) -> dict[str, list[str]]:
    with open(os.path.join(folder, "triggers.jsonl"), encoding="utf-8") as file:
        return {line["of"]: line["triggers"] for line in map(json.loads, file)}


def _read(store: str, roots: Iterable[str]) -> None:
    for root in roots:
        with Engine(Workspace(root, store, load_settings(root, {}))) as engine:
            problems = sync(engine.store, engine.workspace, engine.labels())
            problems += sync_memories(engine.store, engine.workspace)
            if problems:
                raise SystemExit("\n".join(problems))


def documents_of(folders: Iterable[str]) -> Iterator[StoredEntry]:
    """The documents of BEIR folders as entries."""
    for folder in folders:
        for number, (title, text) in enumerate(load_folder(folder).documents.values()):
            yield StoredEntry(
                id=f"{sha256(folder.encode()).hexdigest()[:6]}-{number}",
                category="patterns",
                name=title or " ".join(text.split()[:8]),
                description=text,
                created_at=WRITTEN,
            )


def by_words(engine: Engine, roots: dict[str, str]) -> System:
    return lambda prompt: _given(engine, prompt, roots, None)


def by_meaning(engine: Engine, roots: dict[str, str]) -> System:
    def embed(text: str, statistics: TermStatistics) -> bytes:
        return engine.embedder().embed([text], "query", statistics.telling())[0]

    return lambda prompt: _given(engine, prompt, roots, embed)


def by_titles(roots: dict[str, str], least: int) -> System:
    def system(prompt: Prompt) -> Given:
        place = roots[prompt.project]
        asked = _asked(prompt, place, os.path.join(place, "no-store"))
        assert asked.root  # noqa: S101 (it was just set)
        asked.take(from_titles(asked, asked.root, least=least))
        return Given([_slug(each.path) for each in asked.told], [], asked.text)

    return system


def _asked(prompt: Prompt, root: str, store: str) -> PromptRequest:
    asked = PromptRequest(prompt.text, Workspace(root, store, load_settings(root, {})), "", None)
    asked.root = asked.workspace.memory_root()
    return asked


def _given(
    engine: Engine, prompt: Prompt, roots: dict[str, str], embed: Callable[[str, TermStatistics], bytes] | None
) -> Given:
    asked = _asked(prompt, roots[prompt.project], engine.workspace.global_store)
    with Engine(asked.workspace) as own:  # of the prompt's project, as in the hook
        choose(asked, own, embed)
    return Given(
        [_slug(each.path) if each.path else each.title for each in asked.told],
        [_slug(each.path) if each.path else each.title for each in asked.maybes],
        asked.text,
    )


def _slug(path: str) -> str:
    return os.path.basename(path).removesuffix(".json")


def measure(system: System, prompts: Sequence[Prompt]) -> Rates:
    about = [(prompt, system(prompt)) for prompt in prompts if prompt.right]
    unrelated = [system(prompt) for prompt in prompts if not prompt.right]
    return Rates(
        right=_mean(not prompt.right.isdisjoint(given.told) for prompt, given in about),
        either=_mean(not prompt.right.isdisjoint((*given.told, *given.maybes)) for prompt, given in about),
        beside=_mean(len(set(given.told) - prompt.right) for prompt, given in about),
        silent=_mean(not given.told for given in unrelated),
        titles=_mean(len(given.maybes) for given in unrelated),
        tokens=_mean(len(given.text) / CHARACTERS_A_TOKEN for given in unrelated),
        about=len(about),
        unrelated=len(unrelated),
    )


def _mean(figures: Iterable[float]) -> float:
    found = list(figures)
    return sum(found) / max(1, len(found))


def _lines(name: str) -> Iterator[dict[str, Any]]:
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def curve(size: int, filler: Sequence[StoredEntry], *, triggers: bool, vectors: bool) -> Rates | None:
    """The rates of young projects with so many entries; None if there are not enough to fill one up."""
    found: list[Rates] = []
    for name in YOUNG_HELD_OUT:
        records = [record for record in _lines(os.path.join(YOUNG, "memories.jsonl")) if record["project"] == name]
        step = min(size, len(records))
        if size > len(records) + len(filler):
            return None
        for start in range(0, len(records) - step + 1, step):
            found.append(_young(records[start : start + step], filler[: size - step], triggers, vectors))
    return _together(found)


def small(*, triggers: bool, vectors: bool) -> Rates:
    """The rates of the three small projects, each with all its memories."""
    records = list(_lines(os.path.join(SMALL, "memories.jsonl")))
    owned = ([each for each in records if each["project"] == name] for name in sorted({r["project"] for r in records}))
    return _together([_young(each, (), triggers, vectors, SMALL) for each in owned])


def _together(found: Sequence[Rates]) -> Rates:
    whole = sum(rates.about for rates in found), sum(rates.unrelated for rates in found)
    names = ("right", "either", "beside"), ("silent", "titles", "tokens")
    means = {
        name: sum(getattr(rates, name) * count for rates, count in zip(found, counts, strict=True)) / sum(counts)
        for group, counts in zip(names, ([r.about for r in found], [r.unrelated for r in found]), strict=True)
        for name in group
    }
    return Rates(**means, about=whole[0], unrelated=whole[1])


def _young(
    records: list[dict[str, Any]], filler: Sequence[StoredEntry], triggers: bool, vectors: bool, kept: str = YOUNG
) -> Rates:
    slugs, name = {record["id"] for record in records}, records[0]["project"]
    prompts = [each for each in load_young(kept) if each.project == name and (not each.right or each.right & slugs)]
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as made:
        folder = os.path.realpath(made)
        store = os.path.join(folder, "store")
        when = _triggers(os.path.join(DATA, kept)) if triggers else {}
        roots = _write_memories(folder, [dict(record) for record in records], when)
        _read(store, roots.values())
        with Engine(Workspace("", store, load_settings(folder, {}))) as engine:
            engine.store.put(Source("/filler", BANK, project=project.identity(roots[name])), filler)
            if vectors:
                embed_pending(engine, most=-1)
            return measure((by_meaning if vectors else by_words)(engine, roots), prompts)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--vectors", action="store_true", help="also by meaning, with the local model")
    arguments.add_argument("--curve", action="store_true", help="young projects of several sizes instead")
    arguments.add_argument("--small", action="store_true", help="three small projects and short prompts instead")
    arguments.add_argument("--among", nargs="*", default=[], metavar="FOLDER", help="documents to be shared knowledge")
    arguments.add_argument("--elsewhere", nargs="*", default=[], metavar="FOLDER", help="those of another project")
    options = arguments.parse_args()
    print(
        "| | prompts | right | at either tier | wrong beside | no text where nothing is | titles there | tokens there |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for triggers in (False, True):
        if options.small:
            for vectors in (False, True) if options.vectors else (False,):
                name = _named("full text and vectors" if vectors else "full text", triggers)
                _print_row(name, "small projects", small(triggers=triggers, vectors=vectors))
        elif options.curve:
            _print_curve(options.among, triggers, vectors=options.vectors)
        else:
            _print_table(options, triggers)


def _print_curve(among: Sequence[str], triggers: bool, *, vectors: bool) -> None:
    ours = [record for name in ("memories.jsonl", os.path.join(OTHER, "memories.jsonl")) for record in _lines(name)]
    filler = [
        StoredEntry(
            id=sha256(record["id"].encode()).hexdigest()[:16],
            category="patterns",
            name=record["title"],
            description=" ".join(str(value) for value in record["content"].values()),
            created_at=WRITTEN,
        )
        for record in ours
    ]
    filler += documents_of(among)
    for with_vectors in (False, True) if vectors else (False,):
        for size in SIZES:
            rates = curve(size, filler, triggers=triggers, vectors=with_vectors)
            if rates:
                _print_row(
                    _named("full text and vectors" if with_vectors else "full text", triggers),
                    f"{size:,} entries",
                    rates,
                )


def _print_table(options: argparse.Namespace, triggers: bool) -> None:
    prompts = load_prompts()
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as made:
        folder = os.path.realpath(made)
        store, roots = make_world(folder, triggers=triggers)
        with Engine(Workspace("", store, load_settings(folder, {}))) as engine:
            for owner, paths in (("", options.among), ("/elsewhere", options.elsewhere)):
                if paths:
                    engine.store.put(Source(f"/documents{owner}", BANK, project=owner), list(documents_of(paths)))
            systems = {"full text": by_words(engine, roots)}
            if options.vectors:
                embed_pending(engine, most=-1)
                systems["full text and vectors"] = by_meaning(engine, roots)
            if not triggers:
                systems["title_tags"] = by_titles(roots, 1)
                systems["title_tags, standing in"] = by_titles(roots, 5)
            for name, system in systems.items():
                for part in (CHOSEN_ON, PARAPHRASED, HELD_OUT, ANOTHER):
                    _print_row(_named(name, triggers), part, measure(system, [p for p in prompts if p.part == part]))


def _named(system: str, triggers: bool) -> str:
    return f"{system}, triggers" if triggers else system


def _print_row(name: str, part: str, rates: Rates) -> None:
    counts = f"{part}: {rates.about} and {rates.unrelated}"
    figures = f"{rates.right:.3f} | {rates.either:.3f} | {rates.beside:.2f} | {rates.silent:.3f}"
    print(f"| {name} | {counts} | {figures} | {rates.titles:.2f} | {rates.tokens:.1f} |", flush=True)


if __name__ == "__main__":
    main()
