"""`recollect search` and project memories: what is found, how it is shown, and that changes are noticed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}

CONTENT = {
    "decision": {
        "status": "accepted",
        "context": "Prices were slow to load.",
        "decision": "Keep them in a pelican cache.",
        "rationale": ["The team knows it."],
    },
    "tech_debt": {
        "status": "open",
        "priority": "low",
        "description": "Two importers read the same invoices.",
        "reason_deferred": "Nobody had the time.",
    },
}
FOLDER = {"decision": "decisions", "tech_debt": "tech-debt"}


def write_memory(root: Path, slug: str, category: str = "decision", **known: Any) -> Path:
    path = root / ".claude" / "memory" / FOLDER[category] / f"{slug}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "schema_version": "1.0",
        "category": category,
        "id": slug,
        "title": slug.replace("-", " ").capitalize(),
        "record_status": "active",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-02T00:00:00Z",
        "tags": ["shop"],
        "content": CONTENT[category],
        **known,
    }
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path


def searched(world: World, query: str, *arguments: str, cwd: Path | None = None, **variables: str) -> dict[str, Any]:
    done = world.run("search", "--json", *arguments, "--", query, cwd=cwd, **{**BY_WORDS, **variables})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def names(world: World, query: str, *arguments: str, cwd: Path | None = None) -> list[str]:
    return [hit["name"] for hit in searched(world, query, *arguments, cwd=cwd)["hits"]]


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Dev", "-c", "user.email=dev@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_memory_is_found_and_says_which_file_it_is(world: World) -> None:
    write_memory(world.project, "cache-prices")
    (hit,) = searched(world, "pelican")["hits"]
    assert (hit["category"], hit["name"], hit["status"]) == ("decision", "Cache prices", "active")
    assert hit["path"] == ".claude/memory/decisions/cache-prices.json"
    assert hit["description"] == "Prices were slow to load.\nDecision: Keep them in a pelican cache."
    assert (hit["keywords"], hit["source"], hit["source_project"]) == (["shop"], "manual", "shop-front")


def test_memory_is_shown_with_its_kind_its_file_and_its_last_change(world: World) -> None:
    write_memory(world.project, "two-importers", "tech_debt", confidence=0.95)
    shown = world.run("search", "invoices", **BY_WORDS).stdout.splitlines()
    assert shown[0].startswith("1. tech_debt: Two importers  0.")
    assert shown[1] == "   .claude/memory/tech-debt/two-importers.json · shop-front · updated 2026-01-02 · high"
    assert shown[2] == "   Two importers read the same invoices."


def test_entry_of_a_bank_has_no_path(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nAbout a pelican.\n")
    write_memory(world.project, "cache-prices")
    hits = {hit["name"]: hit for hit in searched(world, "pelican")["hits"]}
    assert (hits["P"]["path"], hits["P"]["status"]) == ("", "active")
    assert "path" in hits["Cache prices"]


def test_category_can_be_that_of_memories(world: World) -> None:
    write_memory(world.project, "cache-prices")
    write_memory(world.project, "pelican-invoices", "tech_debt")
    assert names(world, "pelican", "--category", "tech_debt") == ["Pelican invoices"]


def test_retired_and_archived_memories_are_found_only_on_demand_and_marked(world: World) -> None:
    for status in ("active", "retired", "archived"):
        write_memory(world.project, f"is-{status}", record_status=status)
    assert names(world, "pelican") == ["Is active"]
    found = {hit["name"]: hit["status"] for hit in searched(world, "pelican", "--include-retired")["hits"]}
    assert found == {"Is active": "active", "Is retired": "retired", "Is archived": "archived"}
    shown = world.run("search", "pelican", "--include-retired", **BY_WORDS).stdout
    ends = {line.split("  ")[0][3:]: line.split("  ")[-1] for line in shown.splitlines() if line[0].isdigit()}
    assert (ends["decision: Is retired"], ends["decision: Is archived"]) == ("retired", "archived")
    assert ends["decision: Is active"].startswith(("0.", "1."))


def test_memory_is_found_by_meaning(semantic_world: World) -> None:
    write_memory(semantic_world.project, "cache-prices")
    write_memory(semantic_world.project, "two-importers", "tech_debt")
    result = searched(semantic_world, "duplicated code that handles bills", RECOLLECT_MEMORY_EMBEDDING_ENABLED="true")
    assert result["hits"][0]["name"] == "Two importers"
    assert (result["pending_embedding"], result["warnings"]) == (0, [])


def test_only_memory_of_its_category_is_found_by_meaning_among_all_that_is_known(
    semantic_world: World, bank_text: Callable[..., str]
) -> None:
    """One entry cannot tell what is usual for a question; the lessons beside it can."""
    semantic_world.write_bank("patterns", bank_text("Pattern", 30))
    write_memory(semantic_world.project, "two-importers", "tech_debt")
    result = searched(
        *(semantic_world, "duplicated code that handles bills", "--category", "tech_debt"),
        RECOLLECT_MEMORY_EMBEDDING_ENABLED="true",
    )
    assert [hit["name"] for hit in result["hits"]] == ["Two importers"]
    assert result["hits"][0]["keyword"] is None


def test_retired_memory_without_a_vector_is_found_by_words_and_nothing_is_said_to_be_pending(
    semantic_world: World,
) -> None:
    write_memory(semantic_world.project, "cache-prices", record_status="retired")
    result = searched(semantic_world, "pelican", "--include-retired", RECOLLECT_MEMORY_EMBEDDING_ENABLED="true")
    assert [hit["status"] for hit in result["hits"]] == ["retired"]
    assert (result["pending_embedding"], result["warnings"]) == (0, [])


def test_hand_edit_deletion_and_return_are_noticed_at_the_next_search(world: World) -> None:
    path = write_memory(world.project, "cache-prices")
    assert names(world, "pelican") == ["Cache prices"]
    text = path.read_text(encoding="utf-8")
    before = path.stat().st_mtime_ns
    path.write_text(text.replace("pelican", "ostrich"), encoding="utf-8")
    os.utime(path, ns=(before - 10**12, before - 10**12))
    assert (names(world, "pelican"), names(world, "ostrich")) == ([], ["Cache prices"])
    path.unlink()
    assert names(world, "ostrich") == []
    path.write_text(text, encoding="utf-8")
    assert (names(world, "pelican"), names(world, "ostrich")) == (["Cache prices"], [])


def test_git_checkout_is_noticed_at_the_next_search(world: World) -> None:
    git(world.project, "init", "-q")
    path = write_memory(world.project, "cache-prices")
    git(world.project, "add", ".")
    git(world.project, "commit", "-qm", "one")
    git(world.project, "checkout", "-qb", "side")
    path.write_text(path.read_text(encoding="utf-8").replace("pelican", "ostrich"), encoding="utf-8")
    write_memory(world.project, "flamingo-only-here")
    git(world.project, "add", ".")
    git(world.project, "commit", "-qm", "two")
    assert set(names(world, "ostrich flamingo")) == {"Cache prices", "Flamingo only here"}
    git(world.project, "checkout", "-q", "main")
    assert (names(world, "ostrich flamingo"), names(world, "pelican")) == ([], ["Cache prices"])
    git(world.project, "checkout", "-q", "side")
    assert set(names(world, "ostrich flamingo")) == {"Cache prices", "Flamingo only here"}


def test_git_pull_is_noticed_at_the_next_search(world: World, tmp_path: Path) -> None:
    upstream = tmp_path / "upstream"
    upstream.mkdir()
    git(upstream, "init", "-q")
    write_memory(upstream, "cache-prices")
    git(upstream, "add", ".")
    git(upstream, "commit", "-qm", "one")
    git(world.project, "clone", "-q", str(upstream), ".")
    assert names(world, "pelican") == ["Cache prices"]
    write_memory(upstream, "cache-prices", title="Cached prices")
    git(upstream, "commit", "-qam", "two")
    git(world.project, "pull", "-q")
    assert names(world, "pelican") == ["Cached prices"]


def test_worktree_finds_the_memories_of_its_repository(world: World) -> None:
    git(world.project, "init", "-q")
    git(world.project, "commit", "-q", "--allow-empty", "-m", "one")
    tree = world.home / "tree"
    git(world.project, "worktree", "add", "-q", str(tree))
    write_memory(world.project, "cache-prices")
    (hit,) = searched(world, "pelican", cwd=tree)["hits"]
    assert hit["path"] == ".claude/memory/decisions/cache-prices.json"
    assert names(world, "pelican") == ["Cache prices"]


@pytest.fixture
def two_projects(world: World) -> World:
    """The world's project and one called desk, both known by their memories alone."""
    desk = world.home / "desk"
    (desk / ".git").mkdir(parents=True)
    write_memory(world.project, "of-the-shop")
    write_memory(desk, "of-the-desk")
    assert names(world, "pelican") == ["Of the shop"]
    assert names(world, "pelican", cwd=desk) == ["Of the desk"]
    return world


def test_memories_of_other_projects_are_found_when_asked_for_as_they_are_now(two_projects: World) -> None:
    desk = two_projects.home / "desk"
    write_memory(desk, "also-of-the-desk")
    assert names(two_projects, "pelican") == ["Of the shop"]
    assert set(names(two_projects, "pelican", "--project", "desk")) == {"Of the desk", "Also of the desk"}
    write_memory(desk, "of-the-desk", record_status="retired")
    assert set(names(two_projects, "pelican", "--all-projects")) == {"Of the shop", "Also of the desk"}


def test_other_project_is_read_by_its_own_settings(two_projects: World) -> None:
    settings = two_projects.home / "desk" / ".claude" / "memory" / "memory-config.json"
    settings.write_text('{"categories": {"decision": {"enabled": false}}}', encoding="utf-8")
    assert names(two_projects, "pelican", "--all-projects") == ["Of the shop"]


def test_rebuild_keeps_the_memories_of_all_projects(two_projects: World) -> None:
    done = two_projects.run("rebuild", "--json")
    assert (done.returncode, json.loads(done.stdout)["entries"]) == (0, 2)
    assert set(names(two_projects, "pelican", "--all-projects")) == {"Of the shop", "Of the desk"}


def test_memory_file_that_cannot_be_parsed_is_a_warning_and_the_others_are_found(world: World) -> None:
    write_memory(world.project, "cache-prices")
    (world.project / ".claude" / "memory" / "decisions" / "torn.json").write_text("{", encoding="utf-8")
    result = searched(world, "pelican")
    assert [hit["name"] for hit in result["hits"]] == ["Cache prices"]
    (warning,) = result["warnings"]
    assert "torn.json is withheld until it is mended: it is not valid JSON" in warning


@pytest.mark.parametrize("option", ["--all-projects", "--project=shop-front"])
def test_memory_root_that_leads_out_of_the_project_is_a_warning_and_the_search_goes_on(
    world: World, option: str
) -> None:
    world.write_bank("patterns", "### Pattern: P\nAbout a pelican.\n")
    outside = write_memory(world.home / "outside", "secret").parents[1]
    (world.project / ".claude").mkdir()
    (world.project / ".claude" / "memory").symlink_to(outside)
    for options in ((), (option,)):
        result = searched(world, "pelican", *options)
        assert [hit["name"] for hit in result["hits"]] == ["P"]
        (warning,) = result["warnings"]
        assert "memories were not read" in warning


def test_escape_sequences_of_a_memory_do_not_reach_the_terminal(world: World) -> None:
    write_memory(world.project, "cache-prices", title="\x1b[31mRed\u202e", updated_at="\x1b]0;x\x07")
    done = world.run("search", "pelican", **BY_WORDS)
    assert done.stdout.startswith("1. decision: [31mRed  ")
    assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout + done.stderr)


def test_session_start_gives_memories_by_their_titles_alone(semantic_world: World) -> None:
    semantic_world.write_bank("patterns", "### Pattern: P\nAbout a pelican.\n")
    write_memory(semantic_world.project, "cache-prices")
    assert names(semantic_world, "pelican cache") != []
    done = semantic_world.run("inject", **BY_WORDS)
    assert "About a pelican." in done.stdout
    lines = [line for line in done.stdout.splitlines() if "Cache prices" in line]
    assert [line.partition("] ")[2] for line in lines] == ["Cache prices"]
