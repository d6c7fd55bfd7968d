"""The acceptance criteria of the knowledge bank, each as a test that carries its number.

AC-1.1, AC-3.5 and the skill's part of AC-3.1 belong to the plugin.
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import BARE_ENTRY, PATIENCE, World

from recollect.api import content_hash
from recollect.config.settings_edit import TEMPLATE
from recollect.files.bank.bank import BankFile


@pytest.fixture
def world(world: World) -> World:
    """A world where the installed command is run, as people run it."""
    return replace(world, forked=False)


THREE_CATEGORIES = (("anti-patterns", "Anti-Pattern"), ("heuristics", "Heuristic"), ("patterns", "Pattern"))
LESSON = {
    "name": "Read Before Write",
    "description": "Always read the target file before writing a parser.",
    "category": "heuristics",
    "reasoning": "A parser was written against an imagined file.",
    "keywords": ["parsing", "files"],
    "references": [],
    "source": "retro",
    "source_project": "shop-front",
}


def fill(world: World, bank_text: Callable[..., str], count: int, **metadata: str) -> None:
    for category, label in THREE_CATEGORIES:
        world.write_bank(category, bank_text(label, count, **metadata))


def entries_in(block: str) -> list[str]:
    return re.findall(r"^### (?:Anti-Pattern|Heuristic|Pattern): (.+?)(?: \[repository\])?$", block, re.MULTILINE)


def test_ac_1_2_disabled_injection_prints_nothing(world: World, bank_text: Callable[..., str]) -> None:
    fill(world, bank_text, 2)
    assert world.run("inject").stdout
    world.write_local_settings("memory_injection_enabled: false\n")
    for result in (world.run("inject"), world.run_bare()):
        assert (result.returncode, result.stdout) == (0, "")


@pytest.mark.parametrize("limit", [1, 5, 9, 12])
def test_ac_1_3_entry_count_never_exceeds_the_limit(world: World, bank_text: Callable[..., str], limit: int) -> None:
    fill(world, bank_text, 10)
    world.write_local_settings(f"memory_injection_limit: {limit}\n")
    assert len(entries_in(world.run("inject").stdout)) == limit
    assert len(entries_in(world.run_bare("--limit", str(limit)).stdout)) == limit


def test_token_budget_gives_three_of_each_category_and_the_rest_by_priority(
    world: World, bank_text: Callable[..., str]
) -> None:
    for (category, label), count in zip(THREE_CATEGORIES, (14, 12, 16), strict=True):
        world.write_bank(category, bank_text(label, count))
    started = world.run_hook("session-start", {"source": "startup", "session_id": "s1", "cwd": str(world.project)})
    hooked = json.loads(started.stdout)["hookSpecificOutput"]["additionalContext"]
    for block in (world.run_bare().stdout, world.run("inject").stdout, hooked):
        counts = [len(re.findall(rf"^### {label}: Lesson", block, re.MULTILINE)) for _, label in THREE_CATEGORIES]
        assert counts == [14, 3, 3]


def test_ac_1_4_anti_patterns_come_before_heuristics_and_those_before_patterns(
    world: World, bank_text: Callable[..., str]
) -> None:
    fill(world, bank_text, 2)
    block = world.run_bare().stdout
    places = [
        block.index(title) for title in ("### Anti-Patterns to Avoid", "### Heuristics", "### Patterns to Follow")
    ]
    assert places == sorted(places)
    assert block.index("### Anti-Pattern: ") < block.index("### Heuristic: ") < block.index("### Pattern: ")


def test_ac_1_5_entries_are_sorted_by_observations_then_confidence(world: World) -> None:
    ranks = [("b", 2, "high"), ("a", 5, "low"), ("d", 1, "low"), ("c", 2, "medium"), ("e", 1, "high")]
    text = "\n".join(
        f"### Pattern: {name}\nLesson {name}.\n- Observation count: {count}\n- Confidence: {level}\n"
        for name, count, level in ranks
    )
    world.write_bank("patterns", text)
    assert entries_in(world.run_bare().stdout) == ["a", "b", "c", "e", "d"]


def test_ac_1_6_no_injection_on_clear_when_the_events_leave_it_out(world: World, bank_text: Callable[..., str]) -> None:
    fill(world, bank_text, 1)
    assert world.run_bare("--event", "clear").stdout, "the default events include clear"
    assert not world.run_bare("--event", "compact").stdout, "the default events leave compact out"
    world.write_local_settings("memory_injection_events: startup, resume\n")
    assert world.run_bare("--event", "startup").stdout
    assert not world.run_bare("--event", "clear").stdout
    assert not world.run("inject", "--event", "clear").stdout


@pytest.mark.parametrize("text", [None, "", "# Patterns\n\n## Development Patterns\n"])
def test_ac_1_7_an_empty_bank_gives_no_injection_and_no_errors(world: World, text: str | None) -> None:
    if text is not None:
        world.write_bank("patterns", text)
    for result in (world.run("inject"), world.run_bare("--event", "startup")):
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_ac_1_8_500_entries_are_injected_within_3_seconds(world: World, bank_text: Callable[..., str]) -> None:
    for category, label in THREE_CATEGORIES:
        world.write_bank(category, bank_text(label, 167))
    command = [*BARE_ENTRY, "inject", "--project-root", str(world.project), "--global-store", str(world.store)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True, encoding="utf-8")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert len(entries_in(done.stdout)) == 20
    # Of a busy machine's time, that which was its own.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3


def test_ac_2_1_global_files_follow_the_entry_format(world: World) -> None:
    world.run("promote", "--as", "universal", "--feature", "042", "--entry-json", json.dumps(LESSON))
    assert re.fullmatch(
        r"# Global Heuristics\n\n.+\n.+\n\n"
        r"### Heuristic: Read Before Write\n"
        r"Always read the target file before writing a parser\.\n"
        rf"- Content-Hash: sha256:{content_hash(str(LESSON['description']))}\n"
        r"- Source: shop-front, Feature #042\n"
        r"- Observation count: 1\n"
        r"- Last observed: \d{4}-\d{2}-\d{2}\n"
        r"- Tags: universal\n"
        r"- Confidence: medium\n"
        r"- Keywords: parsing, files\n"
        r"- Reasoning: A parser was written against an imagined file\.\n"
        r"- Recorded by: retro\n",
        (world.store / "heuristics.md").read_text(encoding="utf-8"),
    )


def test_ac_2_2_same_text_always_has_the_same_hash(world: World) -> None:
    spellings = ["One  lesson.\nTwo lines.", "one lesson. two lines.", "  ONE LESSON.\tTWO\nLINES. "]
    for text in spellings:
        world.run("promote", "--as", "universal", "--entry-json", json.dumps({**LESSON, "description": text}))
    (entry,) = BankFile((world.store / "heuristics.md").read_text(encoding="utf-8"), "heuristics").entries
    assert entry.stored_hash == entry.content_hash == content_hash(spellings[0])
    assert entry.observation_count == 3


def test_ac_2_3_the_store_is_markdown_that_people_can_read(world: World) -> None:
    world.run("promote", "--as", "universal", "--entry-json", json.dumps(LESSON))
    text = (world.store / "heuristics.md").read_text(encoding="utf-8")
    assert text.startswith("# Global Heuristics\n\nCross-project learnings")
    assert all(line.isprintable() for line in text.split("\n"))


def test_ac_2_4_missing_folder_and_files_are_made_on_the_first_write(world: World) -> None:
    store = world.store / "not" / "there" / "yet"
    done = world.run("promote", "--as", "universal", "--entry-json", json.dumps(LESSON), "--global-store", str(store))
    assert (done.returncode, done.stderr) == (0, "")
    assert (store / "heuristics.md").is_file()


def test_ac_3_1_universal_entries_reach_the_store_and_a_second_project(world: World) -> None:
    world.write_bank(
        "heuristics", "### Read First\nAlways read the target file before writing a parser.\n- Source: F\n"
    )
    done = world.run("promote")
    assert done.stdout.endswith(
        "Memory promotion: 1 universal entries promoted to global store, 0 project-specific entries kept local.\n"
    )
    other = world.home / "other-project"
    other.mkdir()
    assert "### Heuristic: Read First" in world.run("inject", cwd=other).stdout


def test_ac_3_2_project_specific_entries_do_not_reach_the_store(world: World) -> None:
    (world.project / "session-start.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    world.write_bank(
        "patterns", "### Pattern: Slow\nThe session-start.sh subprocess adds 200 ms per call.\n- Used in: F\n"
    )
    done = world.run("promote")
    assert done.stdout.endswith(
        "Memory promotion: 0 universal entries promoted to global store, 1 project-specific entries kept local.\n"
    )
    assert not (world.store / "patterns.md").exists()


def test_ac_3_3_a_duplicate_adds_an_observation_instead_of_a_copy(world: World) -> None:
    for project in ("project-a", "project-b"):
        lesson = {**LESSON, "name": f"Said by {project}", "source_project": project}
        world.run("promote", "--as", "universal", "--entry-json", json.dumps(lesson), "--feature", "7")
    (entry,) = BankFile((world.store / "heuristics.md").read_text(encoding="utf-8"), "heuristics").entries
    assert entry.observation_count == 2
    assert entry.metadata("source") == "project-a, Feature #7, project-b, Feature #7"


def test_ac_3_4_provenance_names_the_project_and_the_feature(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n- Used in: Feature #012\n")
    world.run("promote")
    assert "- Source: shop-front, Feature #012\n" in (world.store / "patterns.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "given", "expected"),
    [
        ((), {}, "shop-front, Feature #042"),
        (("--feature", "7"), {}, "shop-front, Feature #7"),
        ((), {"feature": "9"}, "shop-front, Feature #9"),
        ((), {"source_project": "another"}, "another"),
    ],
)
def test_ac_3_4_json_entries_without_a_feature_take_the_active_one(
    world: World, options: tuple[str, ...], given: dict[str, str], expected: str
) -> None:
    for name, status in (("042-checkout", "active"), ("041-cart", "active"), ("043-later", "planned")):
        folder = world.project / "docs" / "features" / name
        folder.mkdir(parents=True)
        (folder / ".meta.json").write_text(json.dumps({"status": status, "slug": name}), encoding="utf-8")
    world.run("promote", "--as", "universal", "--entry-json", json.dumps({**LESSON, **given}), *options)
    assert f"- Source: {expected}\n" in (world.store / "heuristics.md").read_text(encoding="utf-8")


def test_ac_3_6_the_reason_of_each_judgement_is_printed(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n\n### Pattern: Q\nOnly shop-front does this.\n")
    out = world.run("promote").stdout
    assert "Universal because: it names no file, identifier, service or name of this project" in out
    assert "Project-specific because: it names shop-front, this project" in out


def test_ac_4_1_without_settings_20_entries_are_injected(world: World, bank_text: Callable[..., str]) -> None:
    fill(world, bank_text, 30)
    assert len(entries_in(world.run_bare().stdout)) == 20


def test_ac_4_2_disabled_in_the_settings_file_suppresses_local_and_global_entries(
    world: World, bank_text: Callable[..., str]
) -> None:
    fill(world, bank_text, 1)
    world.write_bank("patterns", bank_text("Pattern", 1, start=50), shared=True)
    world.write_local_settings("---\nyolo_mode: true\nmemory_injection_enabled: false\n---\n")
    assert not world.run_bare().stdout


@pytest.mark.parametrize(("limit", "expected"), [("4", 4), ("0", 0), ("-1", 90)])
def test_ac_4_3_a_custom_limit_is_respected(
    world: World, bank_text: Callable[..., str], limit: str, expected: int
) -> None:
    fill(world, bank_text, 30)
    world.write_local_settings(f"memory_injection_limit: {limit}\n")
    assert len(entries_in(world.run_bare().stdout)) == expected


def test_ac_4_4_the_template_documents_the_fields(world: World) -> None:
    template = Path(TEMPLATE).read_text(encoding="utf-8")
    assert "# memory_injection_enabled: true" in template
    assert "# memory_injection_limit: 20" in template
    world.run("config", "set", "memory_injection_limit", "3")
    written = (world.project / ".claude" / "iflow-dev.local.md").read_text(encoding="utf-8")
    assert written.replace("memory_injection_limit: 3\n", "", 1) == template


def test_ac_5_1_each_injection_writes_the_tracking_file(world: World, bank_text: Callable[..., str]) -> None:
    fill(world, bank_text, 1)
    for run in (world.run_bare, lambda: world.run("inject")):
        shutil.rmtree(world.store, ignore_errors=True)
        assert run().returncode == 0
        assert (world.store / ".last-injection.json").is_file()


def test_ac_5_2_the_tracking_file_names_project_count_and_entries(world: World, bank_text: Callable[..., str]) -> None:
    fill(world, bank_text, 1)
    world.write_bank("patterns", bank_text("Pattern", 2, start=8), shared=True)
    world.run_bare()
    record = json.loads((world.store / ".last-injection.json").read_text(encoding="utf-8"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record.pop("timestamp"))
    names = record.pop("entry_names")
    assert record == {"project": "shop-front", "entries_injected": 5, "sources": {"local": 3, "global": 2}}
    assert sorted(names) == [
        "Anti-Pattern: Lesson 1",
        "Heuristic: Lesson 1",
        "Pattern: Lesson 1",
        "Pattern: Lesson 8",
        "Pattern: Lesson 9",
    ]


def test_ac_5_3_the_tracking_file_holds_only_the_last_injection(world: World, bank_text: Callable[..., str]) -> None:
    fill(world, bank_text, 5)
    world.run_bare("--limit", "15")
    world.run_bare("--limit", "1")
    record = json.loads((world.store / ".last-injection.json").read_text(encoding="utf-8"))
    assert record["entries_injected"] == len(record["entry_names"]) == 1
    assert sorted(path.name for path in world.store.iterdir()) == [".last-injection.json", ".looked"]
