"""`recollect upsert` as people and agents call it: what it answers, what it leaves behind, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RECOLLECT, World

from recollect.api import content_hash

BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
GENERIC = set(
    "code development software system application implementation feature project function method file data error bug"
    " fix update change".split()
)
LESSON = {
    "name": "Read Before Write",
    "description": "Open a real sample before you write a parser for it.",
    "category": "heuristics",
    "keywords": ["parsing", "samples"],
}


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder that a process without rights can reach."""
    folder = Path(tempfile.mkdtemp(prefix="recollect-test-"))
    folder.chmod(0o755)
    yield folder
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


# Root may write anywhere, so it gives its rights away once everything is imported.
WITHOUT_RIGHTS = """
import importlib, os, pkgutil, sys
import recollect
for module in pkgutil.walk_packages(recollect.__path__, "recollect."):
    if module.name.split(".")[1] != "hooks":
        importlib.import_module(module.name)
from recollect.cli.main import main
if os.geteuid() == 0:
    os.setgroups([])
    os.setegid(65534)
    os.seteuid(65534)
sys.argv[0] = "recollect"
main()
"""


def upsert(world: World, entry: object, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return world.run("upsert", "--entry-json", json.dumps(entry), *arguments, **{**BY_WORDS, **variables})


def upserted(world: World, entry: object, **variables: str) -> Any:
    done = upsert(world, entry, "--json", **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def found(world: World, query: str, *arguments: str, **variables: str) -> list[dict[str, Any]]:
    done = world.run("search", query, "--json", *arguments, **{**BY_WORDS, **variables})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["hits"]


def journal(world: World) -> list[dict[str, Any]]:
    text = (world.store / "session-captures.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_first_line_is_the_stated_confirmation_and_the_id_is_the_hash_of_the_description(semantic_world: World) -> None:
    done = upsert(semantic_world, LESSON, "--action", "upsert", "--global-store", str(semantic_world.store))
    assert done.returncode == 0
    assert done.stdout == f"Stored: Read Before Write (id: {content_hash(LESSON['description'])})\n"
    again = upsert(semantic_world, LESSON)
    assert again.returncode == 0
    assert again.stdout.splitlines()[0] == done.stdout.rstrip("\n")
    assert "seen 2 times" in again.stdout


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ({**LESSON, "name": None}, "name"),
        ({**LESSON, "name": "  \n"}, "name"),
        ({**LESSON, "description": None}, "description"),
        ({**LESSON, "description": "\u200b\u200b"}, "description"),
        ({**LESSON, "description": "d" * 20_000}, "description"),
        ({**LESSON, "category": "rule"}, "category"),
        ({**LESSON, "confidence": "certain"}, "confidence must be one of high, medium, low, not 'certain'"),
        ({**LESSON, "confidence": "High"}, "confidence must be one of"),
        ({**LESSON, "source": "model"}, "source must be one of retro, session-capture, manual, import, not 'model'"),
        ([LESSON, {**LESSON, "source": "Retro"}], "entry 2: source must be one of"),
        ({**LESSON, "keywords": "a, b"}, "keywords"),
        ({**LESSON, "reasoning": 1.5}, "reasoning"),
        ({**LESSON, "keyword": ["a"]}, "keywords"),
        ([LESSON, {**LESSON, "category": "x"}], "entry 2: category"),
        ([], "no entry"),
        (17, "name, description and category"),
    ],
)
def test_what_cannot_be_stored_is_exit_1_and_names_the_field(semantic_world: World, entry: object, named: str) -> None:
    done = upsert(semantic_world, entry)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: ")
    assert named in done.stderr
    assert len(done.stderr) < 500
    assert not (semantic_world.store / "session-captures.jsonl").exists()


@pytest.mark.parametrize("text", ["", "{'name': 'x'}", "[" * 100_000, '"\\ud800"', "{}\n{}"])
def test_text_that_is_no_entry_is_exit_1_in_words(semantic_world: World, text: str) -> None:
    done = semantic_world.run("upsert", "--entry-file", "-", stdin=text)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr


def test_an_entry_must_be_given_in_one_way(semantic_world: World) -> None:
    both = semantic_world.run("upsert", "--entry-json", "{}", "--entry-file", "x.json")
    neither = semantic_world.run("upsert")
    assert semantic_world.run("upsert", "--action", "delete").returncode == 1
    nowhere = semantic_world.run("upsert", "--entry-file", "no-such.json")
    folder = semantic_world.run("upsert", "--entry-file", ".")
    for done in (both, neither, nowhere, folder):
        assert (done.returncode, done.stdout) == (1, "")
    assert "--entry-json" in neither.stderr
    assert "no-such.json" in nowhere.stderr


@pytest.mark.parametrize("given", [LESSON, [LESSON]])
def test_upsert_exits_2_where_neither_journal_nor_database_can_keep_the_entry(
    semantic_world: World, given: object
) -> None:
    semantic_world.store.write_text("no folder", encoding="utf-8")
    done = semantic_world.run("upsert", "--entry-file", "-", stdin=json.dumps(given))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")


def test_upsert_exits_0_where_the_journal_alone_keeps_the_entry(semantic_world: World) -> None:
    (semantic_world.store / "memory.db").mkdir(parents=True)
    done = upsert(semantic_world, LESSON)
    assert (done.returncode, done.stdout.partition(":")[0]) == (0, "Journalled")


@pytest.mark.parametrize("field", ["description", "reasoning", "keywords", "references", "triggers"])
def test_a_credential_is_refused_wherever_it_stands_and_never_repeated(semantic_world: World, field: str) -> None:
    secret = "ghp_" + "a1B2" * 9
    text = f"Push with {secret} from now on."
    done = upsert(
        semantic_world, {**LESSON, field: [text] if field in ("keywords", "references", "triggers") else text}
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "GitHub token" in done.stderr
    assert secret not in done.stderr
    assert not (semantic_world.store / "session-captures.jsonl").exists()


def test_entries_come_from_a_file_from_standard_input_and_several_at_once(semantic_world: World) -> None:
    lessons = [{**LESSON, "name": f"Lesson {n}", "description": f"Description number {n}."} for n in range(3)]
    path = semantic_world.project / "entries.json"
    path.write_text("\ufeff" + json.dumps(lessons[:2], indent=2), encoding="utf-8")
    from_file = semantic_world.run("upsert", "--entry-file", "entries.json", **BY_WORDS)
    assert [line.split(" (")[0] for line in from_file.stdout.splitlines()] == ["Stored: Lesson 0", "Stored: Lesson 1"]
    piped = semantic_world.run("upsert", "--entry-file", "-", stdin=json.dumps(lessons[2]), **BY_WORDS)
    assert piped.stdout.startswith("Stored: Lesson 2 (id: ")
    assert {hit["name"] for hit in found(semantic_world, "description")} == {"Lesson 0", "Lesson 1", "Lesson 2"}


def batch(world: World, count: int = 250) -> tuple[str, list[dict[str, Any]]]:
    """A file of lessons, one of them twice."""
    lessons = [{**LESSON, "name": f"Lesson {n}", "description": f"Description number {n}."} for n in range(count - 1)]
    lessons.append(lessons[0])
    path = world.project / "entries.json"
    path.write_text(json.dumps(lessons), encoding="utf-8")
    return str(path), lessons


def test_the_same_file_of_entries_twice_changes_nothing(semantic_world: World) -> None:
    path, _ = batch(semantic_world)
    first = semantic_world.run("upsert", "--entry-file", path, **BY_WORDS)
    assert (first.returncode, first.stdout) == (0, "250 entries: 249 stored, 1 seen again.\n")
    lines = journal(semantic_world)
    assert len(lines) == 250
    for again in (("upsert", "--entry-file", path), ("upsert", "--entry-file", "-")):
        stdin = Path(path).read_text(encoding="utf-8") if again[-1] == "-" else ""
        done = semantic_world.run(*again, stdin=stdin, **BY_WORDS)
        assert (done.returncode, done.stdout) == (0, "250 entries: 250 there already.\n")
        assert journal(semantic_world) == lines
    counts = {hit["name"]: hit["observation_count"] for hit in found(semantic_world, "number 0")}
    assert counts["Lesson 0"] == 2


def test_more_of_a_file_adds_only_what_is_new(semantic_world: World) -> None:
    path, lessons = batch(semantic_world, 5)
    semantic_world.run("upsert", "--entry-file", path, **BY_WORDS)
    lessons.insert(2, {**LESSON, "name": "New", "description": "A lesson in between."})
    Path(path).write_text(json.dumps(lessons), encoding="utf-8")
    done = semantic_world.run("upsert", "--entry-file", path, "--json", **BY_WORDS)
    outcomes = {item["name"]: (item["outcome"], item["added"]) for item in json.loads(done.stdout)}
    assert outcomes.pop("New") == ("stored", True)
    assert set(outcomes.values()) == {("unchanged", False)}
    assert len(journal(semantic_world)) == 6


def test_two_processes_with_one_file_store_it_once(semantic_world: World) -> None:
    path, _ = batch(semantic_world)
    running = [semantic_world.start("upsert", "--entry-file", path, encoding="utf-8", **BY_WORDS) for _ in range(2)]
    assert ["Traceback" in process.communicate()[1] for process in running] == [False, False]
    assert [process.returncode for process in running] == [0, 0]
    assert len(journal(semantic_world)) == 250


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_file_of_thousands_goes_on_after_an_interruption(semantic_world: World, how: signal.Signals) -> None:
    path, _ = batch(semantic_world, 5_000)
    world = replace(semantic_world, forked=False)
    process = world.start("upsert", "--entry-file", path, encoding="utf-8", **BY_WORDS)
    kept = semantic_world.store / "session-captures.jsonl"
    while not kept.exists() or not kept.stat().st_size:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
    process.send_signal(how)
    _, stderr = process.communicate()
    written = len(journal(semantic_world))
    assert 100 <= written < 5_000
    if how == signal.SIGINT:
        assert process.returncode == 1
        assert f"Error: interrupted; {written:,} of 5,000 entries are in the journal" in stderr
    done = semantic_world.run("upsert", "--entry-file", path, **BY_WORDS)
    assert done.returncode == 0
    assert f"{written:,} there already" in done.stdout
    assert len(journal(semantic_world)) == 5_000


def test_a_file_of_entries_shows_its_progress_on_a_terminal(semantic_world: World) -> None:
    path, _ = batch(semantic_world)
    shown = semantic_world.on_a_terminal("upsert", "--entry-file", path, **BY_WORDS).decode()
    assert re.search(r"Storing.* 250/250", shown)


def test_json_is_an_object_for_one_entry_and_an_array_for_an_array(semantic_world: World) -> None:
    one = upserted(semantic_world, LESSON)
    assert one["id"] == content_hash(LESSON["description"])
    assert (one["added"], one["observation_count"], one["keywords"]) == (True, 1, ["parsing", "samples"])
    several = upserted(semantic_world, [LESSON])
    assert [(item["added"], item["observation_count"]) for item in several] == [(False, 2)]


def test_the_same_text_in_other_case_and_spacing_is_the_same_entry(semantic_world: World) -> None:
    first = upserted(semantic_world, LESSON)
    other = {**LESSON, "description": "  OPEN a real\n\tsample before you write a PARSER for it. "}
    second = upserted(semantic_world, other)
    assert second["id"] == first["id"]
    assert (second["added"], second["observation_count"]) == (False, 2)
    assert len(found(semantic_world, "sample parser")) == 1
    assert [line["id"] for line in journal(semantic_world)] == [first["id"]] * 2


def test_keywords_are_merged_in_order_and_capped_at_ten(semantic_world: World) -> None:
    upserted(semantic_world, {**LESSON, "keywords": [f"first-{n}" for n in range(6)]})
    merged = upserted(semantic_world, {**LESSON, "keywords": ["first-0", *(f"second-{n}" for n in range(8))]})
    assert merged["keywords"] == [*(f"first-{n}" for n in range(6)), *(f"second-{n}" for n in range(4))]
    assert found(semantic_world, "second-3")[0]["keywords"] == merged["keywords"]


@pytest.mark.parametrize(
    "given", [["adding a column", " a  new\ntable "], "adding a column; a new table;"], ids=["list", "text"]
)
def test_triggers_are_kept_in_the_journal_and_found_and_shown(semantic_world: World, given: object) -> None:
    stored = upserted(semantic_world, {**LESSON, "triggers": given})
    triggers = ["adding a column", "a new table"]
    assert [line["triggers"] for line in journal(semantic_world)] == [triggers]
    [hit] = found(semantic_world, "column")
    assert (hit["id"], hit["triggers"]) == (stored["id"], triggers)
    shown = json.loads(semantic_world.run("show", stored["id"], "--json").stdout)
    assert shown["triggers"] == triggers
    assert "adding a column" in semantic_world.run("show", stored["id"]).stdout


def test_journal_names_no_triggers_where_none_are_given(semantic_world: World) -> None:
    for none in ({}, {"triggers": []}, {"triggers": None}, {"triggers": " ; "}):
        upserted(semantic_world, {**LESSON, **none})
    assert [line for line in journal(semantic_world) if "triggers" in line] == []
    assert found(semantic_world, "parser")[0]["triggers"] == []


def test_triggers_are_merged_newest_first_and_capped_at_six(semantic_world: World) -> None:
    upserted(semantic_world, {**LESSON, "triggers": [f"first {n}" for n in range(5)]})
    upserted(semantic_world, {**LESSON, "triggers": ["first 4", "second 0"]})
    upserted(semantic_world, LESSON)
    assert found(semantic_world, "parser")[0]["triggers"] == [
        *("first 4", "second 0"),
        *(f"first {n}" for n in range(4)),
    ]


@pytest.mark.parametrize(
    ("triggers", "reason"),
    [
        ([f"case {n}" for n in range(7)], "there are 7 triggers; at most 6 are allowed"),
        ("a;b;c;d;e;f;g", "there are 7 triggers; at most 6 are allowed"),
        (["x" * 121], "a trigger has at most 120 characters: a phrase, not a sentence"),
        ([7], 'triggers must be a list of texts, such as ["adding a column to checkout data"]'),
        ({"a": "b"}, 'triggers must be a list of texts, such as ["adding a column to checkout data"]'),
        (True, 'triggers must be a list of texts, such as ["adding a column to checkout data"]'),
    ],
)
def test_triggers_that_cannot_be_kept_are_refused_with_the_reason(
    semantic_world: World, triggers: object, reason: str
) -> None:
    done = upsert(semantic_world, {**LESSON, "triggers": triggers})
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Error: {reason}\n")
    done = upsert(semantic_world, [LESSON, {**LESSON, "triggers": triggers}])
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Error: entry 2: {reason}\n")
    assert not (semantic_world.store / "session-captures.jsonl").exists()


def test_each_keyword_is_checked_by_itself(semantic_world: World) -> None:
    given = ["sqlite", 'a"b', "[x]", "software", "Full Text", "fts5", "sqlite"]
    assert upserted(semantic_world, {**LESSON, "keywords": given})["keywords"] == ["sqlite", "full-text", "fts5"]


def test_keyword_with_a_comma_is_discarded_and_the_others_are_kept(semantic_world: World) -> None:
    assert upserted(semantic_world, {**LESSON, "keywords": ["x,y", "sqlite"]})["keywords"] == ["sqlite"]


def test_an_entry_without_keywords_is_given_some_by_rules(semantic_world: World) -> None:
    lesson = {
        "name": "Keep the WAL small",
        "description": "A long-lived reader of an SQLite database keeps the write-ahead log from being checkpointed.",
        "category": "patterns",
    }
    stored = upserted(semantic_world, lesson)
    assert stored["keywords_from"] == "rules"
    assert 3 <= len(stored["keywords"]) <= 10
    assert all(re.fullmatch("[a-z0-9][a-z0-9-]*", label) for label in stored["keywords"])
    assert not GENERIC & set(stored["keywords"])
    assert any("sqlite" in label for label in stored["keywords"])


@pytest.mark.parametrize(
    "off",
    [{"RECOLLECT_MEMORY_KEYWORD_PROVIDER": "off"}, {"RECOLLECT_MEMORY_KEYWORD_GENERATION": "false"}],
)
def test_keywords_can_be_switched_off_and_given_ones_are_kept(semantic_world: World, off: dict[str, str]) -> None:
    bare = {name: value for name, value in LESSON.items() if name != "keywords"}
    assert upserted(semantic_world, bare, **off)["keywords"] == []
    assert upserted(semantic_world, {**LESSON, "description": "Another."}, **off)["keywords"] == ["parsing", "samples"]


def test_the_journal_has_a_line_with_everything_that_was_given(semantic_world: World) -> None:
    entry = {
        **LESSON,
        "reasoning": "A parser was written against an imagined file.",
        "references": ["src/parser.py"],
        "confidence": "high",
        "source": "retro",
        "source_project": "/home/dev/shop-front/",
        "feature": "#018",
    }
    done = upsert(semantic_world, entry)
    assert done.returncode == 0
    (line,) = journal(semantic_world)
    at = line.pop("at")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", at)
    expected = {**entry, "id": content_hash(entry["description"]), "source_project": "shop-front"}
    assert line == expected
    (hit,) = found(semantic_world, "imagined file")
    assert {name: hit[name] for name in expected if name not in ("id", "feature")} == {
        name: value for name, value in expected.items() if name not in ("id", "feature")
    }
    assert hit["id"] == expected["id"]
    assert hit["updated_at"] == at


def test_what_was_learnt_in_one_project_is_found_in_every_other(semantic_world: World) -> None:
    upserted(semantic_world, {**LESSON, "source_project": "shop-front"})
    elsewhere = semantic_world.home / "elsewhere"
    elsewhere.mkdir()
    done = semantic_world.run("search", "parser sample", "--json", cwd=elsewhere, **BY_WORDS)
    (hit,) = json.loads(done.stdout)["hits"]
    assert (hit["source_project"], hit["project"]) == ("shop-front", "")


def test_observations_are_those_of_the_bank_and_one_for_each_line_of_the_journal(semantic_world: World) -> None:
    for shared in (True, False):
        count = 3 if shared else 2
        text = f"### Heuristic: Read Before Write\n{LESSON['description']}\n- Observation count: {count}\n"
        semantic_world.write_bank("heuristics", text, shared=shared)
    assert upserted(semantic_world, LESSON)["observation_count"] == 4
    assert upserted(semantic_world, LESSON)["observation_count"] == 5


def test_two_processes_at_once_lose_nothing(semantic_world: World) -> None:
    lessons = json.dumps([LESSON, {**LESSON, "name": "Other", "description": "Another lesson altogether."}])
    variables = {"PATH": os.environ["PATH"], "HOME": str(semantic_world.home), **BY_WORDS}
    running = [
        subprocess.Popen(
            [RECOLLECT, "upsert", "--entry-json", lessons],
            cwd=semantic_world.project,
            env={**variables, "RECOLLECT_HOME": str(semantic_world.store)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for _ in range(2)
    ]
    assert ["Traceback" in process.communicate()[1] for process in running] == [False, False]
    assert [process.returncode for process in running] == [0, 0]
    assert len(journal(semantic_world)) == 4
    assert {hit["observation_count"] for hit in found(semantic_world, "lesson parser")} == {2}


def test_a_store_that_cannot_be_written_is_exit_2_and_says_so(unprivileged: Path) -> None:
    store = unprivileged / "store"
    project = unprivileged / "project"
    project.mkdir()
    store.mkdir()
    store.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_RIGHTS, "upsert", "--entry-json", json.dumps(LESSON)],
        cwd=project,
        env={"PATH": os.environ["PATH"], "HOME": str(project), "RECOLLECT_HOME": str(store), **BY_WORDS},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert str(store) in done.stderr
    assert re.search("permission|denied|can be written|cannot be written", done.stderr, re.IGNORECASE)
    assert "is safe" not in done.stderr
    assert list(store.iterdir()) == []


def test_an_entry_is_kept_while_the_database_is_locked_and_appears_once_it_is_free(semantic_world: World) -> None:
    upserted(semantic_world, {**LESSON, "name": "First", "description": "The first lesson of all."})
    other = sqlite3.connect(semantic_world.store / "memory.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    done = upsert(semantic_world, LESSON)
    other.execute("ROLLBACK")
    other.close()
    assert (done.returncode, done.stdout) == (
        0,
        f"Journalled: Read Before Write (id: {content_hash(LESSON['description'])})\n",
    )
    assert "another process has been writing to it" in done.stderr
    assert "safe in " in done.stderr
    assert "do not repeat" in done.stderr
    (hit,) = found(semantic_world, "parser")
    assert (hit["name"], hit["observation_count"]) == ("Read Before Write", 1)


def test_a_locked_database_loses_no_entry_when_a_bank_has_changed_too(semantic_world: World) -> None:
    upserted(semantic_world, {**LESSON, "name": "First", "description": "The first lesson of all."})
    semantic_world.write_bank("patterns", "### Pattern: By hand\nWritten by hand.\n")
    other = sqlite3.connect(semantic_world.store / "memory.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    done = upsert(semantic_world, LESSON)
    other.execute("ROLLBACK")
    other.close()
    assert done.returncode == 0
    assert [hit["name"] for hit in found(semantic_world, "parser")] == ["Read Before Write"]


def test_an_entry_is_kept_when_the_database_is_damaged_and_a_warning_names_what_repairs_it(
    semantic_world: World,
) -> None:
    upserted(semantic_world, LESSON)
    (semantic_world.store / "memory.db").write_bytes(b"This is no database at all. " * 400)
    for ending in ("-wal", "-shm"):
        (semantic_world.store / f"memory.db{ending}").unlink(missing_ok=True)
    done = upsert(semantic_world, {**LESSON, "description": "Something else."})
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "Journalled")
    assert "damaged" in done.stderr
    assert "`recollect rebuild`" in done.stderr
    rebuilt = semantic_world.run("rebuild", **BY_WORDS)
    assert rebuilt.returncode == 0
    assert found(semantic_world, "parser")[0]["name"] == "Read Before Write"


def test_everything_comes_back_from_the_journal_when_the_database_is_gone(semantic_world: World) -> None:
    upserted(semantic_world, LESSON)
    upserted(semantic_world, {**LESSON, "keywords": ["grammar"], "confidence": "high"})
    upserted(semantic_world, {**LESSON, "description": "An unlabelled one.", "keywords": []})
    before = found(semantic_world, "parser unlabelled")
    for path in semantic_world.store.glob("memory.db*"):
        path.unlink()
    after = found(semantic_world, "parser unlabelled")
    assert after == before
    assert {hit["observation_count"] for hit in after} == {1, 2}


def test_a_half_written_line_is_passed_over_and_told(semantic_world: World) -> None:
    upserted(semantic_world, LESSON)
    with (semantic_world.store / "session-captures.jsonl").open("ab") as file:
        file.write(b'{"name": "Half')
    done = upsert(semantic_world, {**LESSON, "description": "After the crash."})
    assert done.returncode == 0
    assert "session-captures.jsonl" in done.stderr
    assert {hit["description"] for hit in found(semantic_world, "parser crash")} == {
        LESSON["description"],
        "After the crash.",
    }


@pytest.mark.parametrize(
    "text",
    [
        "Emoji \U0001f680 and 漢字 in one, a NUL \u0000 and an escape \u001b[31m red.",
        pytest.param(
            "Half a pair \ud800.",
        ),
    ],
)
def test_any_text_can_be_stored_and_found_again(semantic_world: World, text: str) -> None:
    done = upsert(semantic_world, {**LESSON, "description": text})
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    (hit,) = found(semantic_world, "parsing")
    assert "\x1b" not in hit["description"]
    assert "\x00" not in hit["description"]


def test_an_entry_is_embedded_as_it_is_stored_and_so_are_some_that_waited(
    semantic_world: World, bank_text: Any
) -> None:
    semantic_world.write_bank("patterns", bank_text("Pattern", 55))
    assert found(semantic_world, "lesson")
    stored = json.loads(semantic_world.run("upsert", "--entry-json", json.dumps(LESSON), "--json").stdout)
    assert stored["pending_embedding"] == 56 - 50
    assert stored["warnings"] == []
    (hit, *_) = found(
        semantic_world,
        "inspect genuine input documents prior to implementing a reader",
        RECOLLECT_MEMORY_EMBEDDING_ENABLED="true",
    )
    assert hit["name"] == "Read Before Write"
    assert hit["keyword"] is None


def test_nobody_reading_the_answer_is_no_reason_to_lose_the_entry(semantic_world: World) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" upsert --entry-json "$1" >&-', RECOLLECT, json.dumps(LESSON)],
        cwd=semantic_world.project,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(semantic_world.home),
            "RECOLLECT_HOME": str(semantic_world.store),
            **BY_WORDS,
        },
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert len(journal(semantic_world)) == 1
