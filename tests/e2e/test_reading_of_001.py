"""The product and a second reading of the requirements agree on random banks, in markdown mode."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from random import Random

import pytest
from tests.conftest import World
from tests.e2e import reading_of_001 as reading

BANKS_A_SEED = 20
HEADINGS = {
    "anti-patterns": ("# Anti-Patterns\n\n## Known Anti-Patterns\n", "Anti-Pattern: "),
    "heuristics": ("# Heuristics\n\n## Decision Heuristics\n", ""),
    "patterns": ("# Patterns\n\n---\n\n## Development Patterns\n", "Pattern: "),
}
WORDS = "cache queue index lock parser retry batch".split()
LIMITS = (-1, 0, 1, 3, 5, 8, 9, 12, 20, 20, 20, 40)


def text(random: Random) -> str:
    """A lesson of one or two lines, often one that another entry has too."""
    lines = [f"Keep the {random.choice(WORDS)} away from the {random.choice(WORDS)}."]
    if random.random() < 0.3:
        lines += [""] * random.randrange(2) + [f"It once cost {random.randrange(9)} days."]
    return "\n".join(lines)


def respelled(random: Random, said: str) -> str:
    return random.choice((said, said, said.upper(), said.replace(" ", "  "), said.replace("\n", " ")))


def entry(random: Random, category: str, number: int, *, is_global: bool) -> str:
    said = text(random)
    prefix = random.choice((*[HEADINGS[category][1]] * 3, "", "Pattern: ", "Heuristic: "))
    lines = [f"### {prefix}{random.choice(WORDS).title()} {number}"]
    lines += [""] * (random.random() < 0.1)
    lines += [respelled(random, said)] if random.random() < 0.97 else []
    fields = [f"- Content-Hash: sha256:{reading.hash_of(said)}"] * is_global
    fields += [f"- Source: shop, Feature #{number:03}"]
    if random.random() < 0.7:
        count = random.choice((1, 1, 2, 2, 3, 5, 19, 21, 40))
        fields.append(f"- Observation count: {count}")
    if random.random() < 0.7:
        fields.append(f"- Confidence: {random.choice(('high', 'medium', 'low', 'unheard of'))}")
    if is_global and random.random() < 0.8:
        fields.append(f"- Last observed: 2026-0{random.randint(1, 4)}-1{random.randint(0, 2)}")
    if not is_global and random.random() < 0.5:
        fields.append(f"- Last observed: Feature #{random.randrange(99):03}")
    random.shuffle(fields)
    if random.random() < 0.3:
        fields.insert(random.randrange(len(fields)), "")
    return "\n".join([*lines, *fields]) + random.choice(("\n\n", "\n", "\n\n---\n\n", "\n\n## Later\n\n"))


def write_bank(world: World, random: Random, *, is_global: bool) -> None:
    for category, (title, _) in HEADINGS.items():
        size = random.choice((0, 0, 2, 4, 5, 6)) if is_global else random.choice((0, 1, 2, 3, 6, 10, 12))
        if size or random.random() < 0.5:
            entries = [entry(random, category, number, is_global=is_global) for number in range(size)]
            world.write_bank(category, f"{title}\n{''.join(entries)}", shared=is_global)


def given_lines(printed: str) -> list[str]:
    """The lines of a block from its title to its end, without empty ones, the diagnostic line and our marks."""
    lines = [line.removesuffix(" [repository]") for line in printed.splitlines() if line.strip()]
    if reading.TITLE not in lines:
        return lines
    inside = lines[lines.index(reading.TITLE) : lines.index("---") + 1]
    return [line for line in inside if not line.startswith("*Memory: ")]


@pytest.mark.parametrize("seed", range(10))
def test_product_and_an_independent_reading_agree_on_random_banks_in_markdown_mode(world: World, seed: int) -> None:
    for number in range(BANKS_A_SEED):
        random = Random(f"{seed}-{number}")
        case = replace_banks(world, f"{seed}-{number}")
        write_bank(case, random, is_global=False)
        write_bank(case, random, is_global=True)
        limit = random.choice(LIMITS)
        done = case.run("inject", "--project-root", str(case.project), "--limit", str(limit))
        assert (done.returncode, done.stderr) == (0, "")
        expected = reading.given(case.project, case.store, limit)
        assert given_lines(done.stdout) == reading.block(expected), f"bank {seed}-{number} with limit {limit}"
        if expected:
            assert reading.read_usage(case.store) == reading.usage(expected), f"bank {seed}-{number}"


def test_second_reading_imports_nothing_of_the_product() -> None:
    nodes = list(ast.walk(ast.parse(Path(reading.__file__).read_text(encoding="utf-8"))))
    imported = [node.module or "." for node in nodes if isinstance(node, ast.ImportFrom)]
    imported += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    assert imported
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names


def replace_banks(world: World, name: str) -> World:
    """A world with a project and a store of its own."""
    project = world.home / name / "shop-front"
    project.mkdir(parents=True)
    return World(world.home, project, Path(f"{world.store}-{name}"))
