"""`recollect search` as people type it: what is found, in which order, with which explanation, and why nothing is."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RECOLLECT, World

from recollect.embedding.registry import identity_of

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}

PATTERNS = """# Patterns

### Pattern: Growing pauses
Retry with a longer wait each time when a remote service is flaky.
- Observation count: 1

### Pattern: Parser samples
Open genuine input documents before writing a parser for them.
- Keywords: grammar, tokenizer
- Reasoning: The invoice importer was written against an imagined layout.
- References: src/importer.py

### Pattern: Small commits
Commit after each green test run so that a mistake is cheap to undo.
- Observation count: 9
- Confidence: high
"""
ANTI_PATTERNS = """### Anti-Pattern: Shared fixtures
Tests that write to the same database row fail in another order.
- Cost: a week

### Anti-Pattern: parse_config_file twice
Calling parseConfigFile in src/recollect/settings_loader.py for every request is slow.
"""
HEURISTICS = """### Heuristic: 日本語のログ
文字化けを避けるために、エンコーディングを必ず指定する。

### Heuristic: Ask before deleting
Never remove somebody's data without a question first.
"""


@pytest.fixture
def library(semantic_world: World) -> World:
    semantic_world.write_bank("patterns", PATTERNS)
    semantic_world.write_bank("anti-patterns", ANTI_PATTERNS)
    semantic_world.write_bank("heuristics", HEURISTICS)
    return semantic_world


def searched(world: World, query: str, *arguments: str, cwd: Path | None = None, **variables: str) -> dict[str, Any]:
    done = world.run("search", "--json", *arguments, "--", query, cwd=cwd, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def names(world: World, query: str, *arguments: str, cwd: Path | None = None, **variables: str) -> list[str]:
    return [hit["name"] for hit in searched(world, query, *arguments, cwd=cwd, **variables)["hits"]]


def by_words(world: World, query: str, *arguments: str, cwd: Path | None = None) -> list[str]:
    return names(world, query, *arguments, cwd=cwd, **BY_WORDS)


def test_a_paraphrase_without_a_shared_word_is_found_by_meaning(library: World) -> None:
    result = searched(library, "backing off exponentially after network failures")
    best = result["hits"][0]
    assert best["name"] == "Growing pauses"
    assert best["keyword"] is None
    assert best["vector"] > 0.2
    assert result["pending_embedding"] == 0
    assert result["warnings"] == []
    assert result["model"]


def test_relevance_goes_before_prominence_and_the_explanation_shows_both(library: World) -> None:
    shown = library.run("search", "parser", "for", "documents", "--explain").stdout
    assert shown.startswith("1. Pattern: Parser samples  ")
    parts = re.findall(
        r"vector (-?\d\.\d{3}|none) · keyword (-?\d+\.\d{3}|none) · prominence (\d\.\d{3}) · score (\d\.\d{3})", shown
    )
    assert len(parts) == shown.count("\n   vector ")
    assert float(parts[0][1]) > 0
    scores = [float(score) for *_, score in parts]
    assert scores == sorted(scores, reverse=True)
    prominent = [float(prominence) for _, _, prominence, _ in parts]
    assert all(0 < value <= 1 for value in prominent)
    plain = library.run("search", "parser", "for", "documents").stdout
    assert "prominence" not in plain
    assert plain.splitlines()[0] == shown.splitlines()[0]


def test_keywords_of_a_bank_in_json_form_are_labels(semantic_world: World) -> None:
    semantic_world.write_bank(
        "patterns",
        "### Pattern: Ask for the lock early\nA writer asks for the lock before it reads.\n"
        '- Keywords: ["write-lock", "SQLite", "code", "naïve", "begin immediate"]\n\n'
        '### Pattern: Count retries\nWorking with the appropriate retries enables a breaker.\n- Keywords: ["?"]\n',
    )
    hits = {hit["name"]: hit for hit in searched(semantic_world, "writer lock retries breaker", **BY_WORDS)["hits"]}
    assert hits["Ask for the lock early"]["keywords"] == ["write-lock", "sqlite", "begin-immediate"]
    by_rules = set(hits["Count retries"]["keywords"])
    assert "breaker" in by_rules
    assert by_rules.isdisjoint(["working", "appropriate", "enables"])


def test_json_holds_the_query_the_counts_and_each_part_of_each_hit(library: World) -> None:
    result = searched(library, "tokenizer", **BY_WORDS)
    assert result["query"] == "tokenizer"
    assert (result["reason"], result["entries"], result["vector_candidates"]) == ("", 7, 0)
    assert result["fts5_candidates"] == len(result["hits"]) == 1
    (hit,) = result["hits"]
    assert re.fullmatch("[0-9a-f]{16}", hit["id"])
    assert hit["category"] == "patterns"
    assert hit["keywords"] == ["grammar", "tokenizer"]
    assert hit["references"] == ["src/importer.py"]
    assert hit["reasoning"] == "The invoice importer was written against an imagined layout."
    assert (hit["observation_count"], hit["confidence"], hit["recall_count"]) == (1, "medium", 0)
    assert (hit["source"], hit["source_project"]) == ("import", "shop-front")
    assert hit["vector"] is None
    assert hit["keyword"] > 0
    assert 0 <= hit["prominence"] <= 1
    assert 0 <= hit["score"] <= 1


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("importing", "Parser samples"),  # the stem of a word of its reasoning
        ("grammar", "Parser samples"),
        ("parse_config_file", "parse_config_file twice"),
        ("parseConfigFile", "parse_config_file twice"),
        ("settings loader", "parse_config_file twice"),
        ("settings_loader.py", "parse_config_file twice"),
        ("エンコーディング", "日本語のログ"),
        ("文字化け", "日本語のログ"),
    ],
)
def test_words_identifiers_and_characters_are_found_by_their_parts(library: World, query: str, name: str) -> None:
    assert by_words(library, query)[0] == name


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "'; DROP TABLE entries; --",
        "name:parser AND NOT (x OR y*",
        "NEAR(parser samples, 2)",
        "^parser - + * : {} [] \\ / ~",
        "the of and a is",
        "\U0001f680\U0001f9e8",
        "漢" * 50,
        "--explain",
        "\x1b[31m\t\n\x07",
    ],
)
def test_no_query_is_a_traceback(library: World, query: str) -> None:
    done = library.run("search", "--", query, **BY_WORDS)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_a_query_as_long_as_a_file_is_answered(library: World) -> None:
    query = "unrelated filler words " * 4_300 + "parser"
    assert len(query) > 98_000
    assert library.run("search", query).returncode == 0
    assert by_words(library, "parser " + query)[:1] == ["Parser samples"]


def test_categories_and_the_limit_narrow_the_result(library: World) -> None:
    everything = by_words(library, "parser tests commit")
    assert {"Parser samples", "Shared fixtures", "Small commits"} <= set(everything)
    assert by_words(library, "parser tests commit", "--category", "anti-patterns") == ["Shared fixtures"]
    both = by_words(library, "parser tests commit", "--category", "anti-patterns", "--category", "patterns")
    assert set(both) == set(everything)
    assert by_words(library, "parser tests commit", "--limit", "1") == everything[:1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("x", "--category", "lessons"), "'lessons' is not one of"),
        (("x", "--limit", "0"), "--limit"),
        ((), "QUERY"),
        (("x", "--project", "p", "--all-projects"), "either --project or --all-projects"),
    ],
)
def test_wrong_options_are_told_and_exit_2(world: World, arguments: tuple[str, ...], said: str) -> None:
    done = world.run("search", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_an_empty_result_says_why(library: World) -> None:
    empty = library.home / "empty-store"
    nothing = library.run("search", "parser", "--global-store", str(empty), cwd=library.home, **BY_WORDS)
    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert nothing.stderr.startswith("Nothing found: nothing is stored yet; `recollect add` adds an entry")
    unmatched = library.run("search", "xylophone", **BY_WORDS)
    assert (unmatched.returncode, unmatched.stdout) == (0, "")
    assert "Nothing found: nothing matched: none of 7 entries" in unmatched.stderr
    other_category = library.run("search", "parser", "--category", "decision", **BY_WORDS)
    assert "Nothing found: filtered out: 1 of 7 entries match" in other_category.stderr
    elsewhere = library.home / "elsewhere"
    elsewhere.mkdir()
    other_project = library.run("search", "parser", cwd=elsewhere, **BY_WORDS)
    assert "Nothing found: filtered out: 1 of 7 entries match" in other_project.stderr
    blank = library.run("search", "  ", **BY_WORDS)
    assert "Nothing found: the query is empty" in blank.stderr
    assert "filtered out" in searched(library, "parser", cwd=elsewhere, **BY_WORDS)["reason"]


def test_a_query_that_is_about_nothing_stored_finds_nothing(library: World) -> None:
    result = searched(library, '"')
    assert result["hits"] == []
    assert result["reason"].startswith("nothing matched")


def test_other_projects_are_searched_by_name_by_folder_or_all_at_once(library: World) -> None:
    other = library.home / "billing"
    bank = other / "docs" / "knowledge-bank"
    bank.mkdir(parents=True)
    (bank / "patterns.md").write_text("### Pattern: Zebra\nPaint the zebra in stripes.\n", encoding="utf-8")
    assert by_words(library, "zebra", cwd=other) == ["Zebra"]
    assert by_words(library, "zebra") == []
    assert by_words(library, "zebra", "--project", "billing") == ["Zebra"]
    assert by_words(library, "zebra", "--project", "../billing") == ["Zebra"]
    assert by_words(library, "zebra", "--project", str(bank)) == ["Zebra"]
    assert by_words(library, "zebra parser", "--all-projects") == ["Zebra", "Parser samples"]
    assert by_words(library, "parser", "--project", "billing") == []
    unknown = library.run("search", "zebra", "--project", "biling", **BY_WORDS)
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "no project is called 'biling'" in unknown.stderr
    assert "billing" in unknown.stderr


@pytest.mark.parametrize("known", [True, False])
def test_searching_as_if_in_another_project_reads_its_bank(library: World, known: bool) -> None:
    bank = library.home / "billing" / "docs" / "knowledge-bank"
    bank.mkdir(parents=True)
    if known:
        (bank / "patterns.md").write_text("### Pattern: Old\nAn old one.\n", encoding="utf-8")
        assert by_words(library, "old", cwd=bank.parent.parent) == ["Old"]
    (bank / "patterns.md").write_text("### Pattern: Zebra\nPaint the zebra in stripes.\n", encoding="utf-8")
    assert by_words(library, "zebra", "--project", "../billing") == ["Zebra"]


def test_a_project_is_found_by_its_name_also_where_a_folder_has_that_name(library: World) -> None:
    bank = library.home / "api" / "docs" / "knowledge-bank"
    bank.mkdir(parents=True)
    (bank / "patterns.md").write_text("### Pattern: Zebra\nPaint the zebra in stripes.\n", encoding="utf-8")
    assert by_words(library, "zebra", cwd=bank.parent.parent) == ["Zebra"]
    (library.project / "api").mkdir()
    assert by_words(library, "zebra", "--project", "api") == ["Zebra"]


def test_two_projects_of_one_name_are_told_apart_by_their_folders(library: World) -> None:
    for parent in ("one", "two"):
        bank = library.home / parent / "api" / "docs" / "knowledge-bank"
        bank.mkdir(parents=True)
        (bank / "patterns.md").write_text(f"### Pattern: Zebra {parent}\nA zebra, {parent}.\n", encoding="utf-8")
        assert by_words(library, "zebra", cwd=bank.parent.parent) == [f"Zebra {parent}"]
    done = library.run("search", "zebra", "--project", "api", **BY_WORDS)
    assert (done.returncode, done.stdout) == (1, "")
    assert str(library.home / "one" / "api") in done.stderr
    assert by_words(library, "zebra", "--project", "../two/api") == ["Zebra two"]


def test_a_worktree_finds_what_its_repository_has_learnt(library: World) -> None:
    for command in (
        ("git", "init", "-q", "."),
        ("git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "x"),
        ("git", "worktree", "add", "-q", "../wt"),
    ):
        subprocess.run(command, cwd=library.project, check=True, capture_output=True)
    assert by_words(library, "tokenizer") == ["Parser samples"]
    assert by_words(library, "tokenizer", cwd=library.home / "wt") == ["Parser samples"]


def test_edits_by_hand_are_found_at_once_and_what_comes_back_has_its_recalls(library: World) -> None:
    library.run("inject", **BY_WORDS)
    library.run("inject", **BY_WORDS)
    bank = library.project / "docs" / "knowledge-bank" / "patterns.md"
    bank.write_text(PATTERNS + "\n### Pattern: Kettle\nDescale the kettle monthly.\n", encoding="utf-8")
    assert by_words(library, "kettle") == ["Kettle"]
    bank.write_text(PATTERNS.replace("### Pattern: Small commits", "### Pattern: Tiny commits"), encoding="utf-8")
    assert by_words(library, "kettle") == []
    assert by_words(library, "undo") == ["Tiny commits"]
    without = PATTERNS[: PATTERNS.index("### Pattern: Small commits")]
    bank.write_text(without, encoding="utf-8")
    assert by_words(library, "undo") == []
    bank.write_text(PATTERNS, encoding="utf-8")
    (hit,) = searched(library, "undo", **BY_WORDS)["hits"]
    assert (hit["name"], hit["recall_count"], hit["observation_count"]) == ("Small commits", 2, 9)
    bank.unlink()
    assert by_words(library, "undo") == []


def test_an_entry_whose_text_is_edited_keeps_what_it_has_earned(library: World) -> None:
    library.run("inject", **BY_WORDS)
    library.write_bank("patterns", PATTERNS.replace("cheap to undo", "cheap to revert"))
    (hit,) = searched(library, "revert", **BY_WORDS)["hits"]
    assert hit["recall_count"] == 1
    assert by_words(library, "undo") == []


def test_an_index_emptied_behind_its_back_heals_and_says_so_once(library: World) -> None:
    assert by_words(library, "tokenizer")
    database = sqlite3.connect(library.store / "memory.db", isolation_level=None)
    database.execute("INSERT INTO entries_fts (entries_fts) VALUES ('delete-all')")
    database.close()
    healed = library.run("search", "tokenizer", **BY_WORDS)
    assert "Parser samples" in healed.stdout
    assert "the full-text index was empty; it was made again" in healed.stderr
    assert "index" not in library.run("search", "tokenizer", **BY_WORDS).stderr


def test_vectors_of_the_wrong_size_are_skipped_counted_and_shown(library: World) -> None:
    assert names(library, "parser")
    database = sqlite3.connect(library.store / "memory.db", isolation_level=None)
    database.execute("UPDATE vectors SET code = substr(code, 1, 99) WHERE number <= 2")
    database.execute("UPDATE models SET identity = ?", (identity_of("gemini"),))
    done = library.run("search", "parser", RECOLLECT_MEMORY_EMBEDDING_PROVIDER="gemini")
    database.execute("UPDATE models SET identity = ?", (identity_of("local"),))
    database.close()
    assert done.returncode == 0
    assert "2 vectors have the wrong size and were skipped" in done.stderr
    # The model of this machine repairs them before it searches.
    assert searched(library, "parser")["pending_embedding"] == 0
    assert "wrong size" not in library.run("search", "parser", RECOLLECT_MEMORY_EMBEDDING_PROVIDER="gemini").stderr


def test_a_provider_without_its_key_is_searched_by_words_and_named(library: World) -> None:
    done = library.run("search", "tokenizer", RECOLLECT_MEMORY_EMBEDDING_PROVIDER="gemini")
    assert done.returncode == 0
    assert done.stdout.startswith("1. Pattern: Parser samples")
    assert "GEMINI_API_KEY" in done.stderr
    assert "degraded" in done.stderr


def test_vectors_that_were_switched_off_are_not_asked_for(library: World) -> None:
    assert library.run("search", "tokenizer", **BY_WORDS).stderr == ""


def test_a_search_that_could_not_be_made_does_not_say_that_nothing_matched(library: World) -> None:
    result = searched(
        library,
        "tokenizer",
        RECOLLECT_MEMORY_EMBEDDING_PROVIDER="gemini",
        RECOLLECT_MEMORY_EMBEDDING_FALLBACK="none",
    )
    assert result["hits"] == []
    assert "nothing matched" not in result["reason"]


def test_a_damaged_database_is_exit_1_and_names_what_repairs_it(library: World) -> None:
    library.store.mkdir()
    (library.store / "memory.db").write_bytes(b"no database " * 999)
    done = library.run("search", "tokenizer", **BY_WORDS)
    assert (done.returncode, done.stdout) == (1, "")
    assert "`recollect rebuild`" in done.stderr
    assert "Traceback" not in done.stderr


def test_colours_are_for_terminals_and_respect_no_color(library: World) -> None:
    assert b"\x1b[" in library.on_a_terminal("search", "tokenizer", "--explain")
    assert b"\x1b[" not in library.on_a_terminal("search", "tokenizer", "--explain", NO_COLOR="1")
    assert b"Nothing found: nothing matched" in library.on_a_terminal("search", "xylophone")


@pytest.mark.parametrize("redirection", [">&-", "2>&-", "| true", "| head -c 1"])
def test_a_closed_stream_is_no_traceback(library: World, redirection: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" search parser tests commit --json {redirection}', RECOLLECT],
        cwd=library.project,
        env=environment(library),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def environment(world: World) -> dict[str, str]:
    variables = {"PATH": os.environ["PATH"], "HOME": str(world.home), "RECOLLECT_HOME": str(world.store)}
    return {**variables, "LANG": "C.UTF-8", **BY_WORDS}
