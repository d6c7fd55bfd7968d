"""The start block: what is chosen, what suppresses it, what is recorded."""

import json
import os

import pytest

from recollect.api import inject
from recollect.config.settings import load_settings
from recollect.domain.start_block import CLOSING, OPENING
from recollect.recall.degradation import MARKDOWN_ONLY


def bank(folder, category, *entries):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{category}.md").write_text("\n".join(entries), encoding="utf-8")


def entry(name, text, **metadata):
    lines = [f"### {name}", text, *(f"- {key.replace('_', ' ')}: {value}" for key, value in metadata.items())]
    return "\n".join([*lines, ""])


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "shop-front"
    bank(root / "docs" / "knowledge-bank", "anti-patterns", entry("Anti-Pattern: Guess", "Do not guess.", Cost="a day"))
    bank(root / "docs" / "knowledge-bank", "heuristics", entry("Ask Early", "Ask on day one."))
    return root


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "store"
    bank(path, "patterns", entry("Pattern: Measure", "Measure twice.", Observation_count=4))
    return path


def run(root, store, environment=None, **options):
    markdown = {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false", **(environment or {})}
    return inject(str(root), str(store), load_settings(str(root), markdown), **options)


def test_block_holds_local_and_global_entries_in_the_stated_order(project, store):
    result = run(project, store)
    assert result.text == (
        f"{OPENING}## Engineering Memory (from knowledge bank)\n\n"
        "*Memory: 3 entries (2 local, 1 global) | semantic: disabled*\n\n"
        "### Anti-Patterns to Avoid\n### Anti-Pattern: Guess [repository]\nDo not guess.\n- Cost: a day\n\n"
        "### Heuristics\n### Ask Early [repository]\nAsk on day one.\n\n"
        "### Patterns to Follow\n### Pattern: Measure\nMeasure twice.\n- Observation count: 4\n\n"
        f"---\n{CLOSING}"
    )
    assert (result.reason, result.dropped, result.warnings) == ("", 0, [])
    assert [e.origin for e in result.entries].count("local") == 2


def test_injection_is_recorded_in_place_of_the_one_before(project, store):
    (store / ".last-injection.json").write_text('{"project": "old", "more": 1}', encoding="utf-8")
    run(project, store)
    record = json.loads((store / ".last-injection.json").read_text(encoding="utf-8"))
    assert set(record) == {"timestamp", "project", "entries_injected", "sources", "entry_names"}
    assert record["project"] == "shop-front"
    assert record["entries_injected"] == 3
    assert record["sources"] == {"local": 2, "global": 1}
    assert set(record["entry_names"]) == {"Anti-Pattern: Guess", "Heuristic: Ask Early", "Pattern: Measure"}
    assert record["timestamp"].endswith("Z")
    assert [name for name in os.listdir(store) if name.endswith(".tmp")] == []


def test_names_with_quotes_and_backslashes_are_recorded_as_valid_json(tmp_path):
    bank(tmp_path / "p" / "docs" / "knowledge-bank", "patterns", entry('Pattern: "A" \\ b\té', "Text."))
    run(tmp_path / "p", tmp_path / "store")
    record = json.loads((tmp_path / "store" / ".last-injection.json").read_text(encoding="utf-8"))
    assert record["entry_names"] == ['Pattern: "A" \\ b\té']


def test_record_makes_the_store_on_first_use(project, tmp_path):
    assert run(project, tmp_path / "new" / "store").text
    assert (tmp_path / "new" / "store" / ".last-injection.json").exists()


@pytest.mark.parametrize(
    ("environment", "options", "reason"),
    [
        ({"RECOLLECT_MEMORY_INJECTION_ENABLED": "false"}, {}, "memory_injection_enabled is false"),
        ({"RECOLLECT_MEMORY_INJECTION_LIMIT": "0"}, {}, "the limit is 0"),
        ({}, {"limit": 0}, "the limit is 0"),
        ({}, {"event": "compact"}, "memory_injection_events leaves out compact"),
        (
            {"RECOLLECT_MEMORY_INJECTION_EVENTS": "startup"},
            {"event": "clear"},
            "memory_injection_events leaves out clear",
        ),
    ],
)
def test_suppressed_injection_says_why_and_records_nothing(project, store, environment, options, reason):
    result = run(project, store, environment, **options)
    assert (result.text, result.entries) == ("", [])
    assert reason in result.reason
    assert not (store / ".last-injection.json").exists()


@pytest.mark.parametrize("event", ["startup", "resume", "clear"])
def test_default_events_get_memories(project, store, event):
    assert run(project, store, event=event).text


def test_compact_can_be_added_to_the_events(project, store):
    environment = {"RECOLLECT_MEMORY_INJECTION_EVENTS": "startup,compact"}
    assert run(project, store, environment, event="compact").text


def test_injection_without_an_event_does_not_ask_which_are_configured(project, store):
    assert run(project, store, {"RECOLLECT_MEMORY_INJECTION_EVENTS": "compact"}).text


def test_no_entries_anywhere_is_an_empty_block_with_a_reason(tmp_path):
    result = run(tmp_path, tmp_path / "store")
    assert (result.text, result.warnings) == ("", [])
    assert "no entries in" in result.reason
    assert not (tmp_path / "store").exists()


def test_project_that_is_gone_costs_a_warning_and_leaves_the_global_entries(tmp_path, store):
    result = run(tmp_path / "gone", store)
    assert "Measure twice." in result.text
    [warning] = result.warnings
    assert "gone" in warning


def test_limit_is_the_settings_unless_the_caller_gives_one(tmp_path):
    entries = [entry(f"Pattern: {n}", f"Lesson number {n}.") for n in range(30)]
    bank(tmp_path / "p" / "docs" / "knowledge-bank", "patterns", *entries)
    store = tmp_path / "store"
    assert len(run(tmp_path / "p", store).entries) == 20
    assert len(run(tmp_path / "p", store, {"RECOLLECT_MEMORY_INJECTION_LIMIT": "5"}).entries) == 5
    assert len(run(tmp_path / "p", store, {"RECOLLECT_MEMORY_INJECTION_LIMIT": "5"}, limit=7).entries) == 7
    assert len(run(tmp_path / "p", store, limit=-1).entries) == 30
    assert len(run(tmp_path / "p", store, {"RECOLLECT_MEMORY_INJECTION_LIMIT": "-1"}).entries) == 30


def test_same_text_in_both_places_is_shown_once_in_the_version_observed_more(tmp_path):
    bank(tmp_path / "p" / "docs" / "knowledge-bank", "patterns", entry("Pattern: Mine", "Measure  TWICE."))
    bank(tmp_path / "store", "patterns", entry("Pattern: Theirs", "measure twice.", Observation_count=2))
    result = run(tmp_path / "p", tmp_path / "store")
    assert [e.name for e in result.entries] == ["Theirs"]


def test_entries_beyond_the_character_limit_are_dropped_and_counted(tmp_path):
    entries = [entry(f"Pattern: {n}", f"{n} " + "word " * 200) for n in range(20)]
    bank(tmp_path / "p" / "docs" / "knowledge-bank", "patterns", *entries)
    result = run(tmp_path / "p", tmp_path / "store")
    assert len(result.text) < 9_500
    assert result.dropped == 20 - len(result.entries) > 0
    assert f"{result.dropped} dropped" in result.text


def test_entry_that_could_never_fit_gives_a_reason_instead_of_a_block(tmp_path):
    bank(tmp_path / "p" / "docs" / "knowledge-bank", "patterns", entry("Pattern: Long", "word " * 3000))
    result = run(tmp_path / "p", tmp_path / "store")
    assert result.text == ""
    assert "too long" in result.reason
    assert not (tmp_path / "store").exists()


def test_unknown_file_in_the_bank_is_warned_about_and_constitution_is_not(project, store):
    folder = project / "docs" / "knowledge-bank"
    (folder / "constitution.md").write_text("### 1. KISS\nKeep it simple.\n", encoding="utf-8")
    (folder / "musings.md").write_text("### Musing\nText.\n", encoding="utf-8")
    result = run(project, store)
    assert "KISS" not in result.text
    assert "Musing" not in result.text
    [warning] = result.warnings
    assert "musings.md" in warning


def test_files_that_the_store_holds_for_itself_are_not_warned_about(project, store):
    for name in (".promoted.json", ".lock", ".last-injection.json", "memory.db", "recollect.log"):
        (store / name).write_text("", encoding="utf-8")
    assert run(project, store).warnings == []


def test_unreadable_category_costs_a_warning_and_not_the_block(project, store):
    (project / "docs" / "knowledge-bank" / "patterns.md").mkdir()
    result = run(project, store)
    assert "Ask Early" in result.text
    [warning] = result.warnings
    assert "patterns.md" in warning


def test_store_that_is_a_file_costs_warnings_and_not_the_block(project, tmp_path):
    (tmp_path / "file").write_text("hello", encoding="utf-8")
    result = run(project, tmp_path / "file")
    assert "Ask Early" in result.text
    assert result.warnings
    assert (tmp_path / "file").read_text(encoding="utf-8") == "hello"


def test_record_that_cannot_be_written_costs_one_warning_and_not_the_block(project, store):
    (store / ".last-injection.json").mkdir()
    result = run(project, store)
    assert "Ask Early" in result.text
    [warning] = result.warnings
    assert ".last-injection.json" in warning
    assert [name for name in os.listdir(store) if name.endswith(".tmp")] == []


def test_keys_name_what_is_given_and_leave_it_out_the_next_time(project, store):
    first = run(project, store)
    assert len(set(first.keys)) == len(first.entries) == 3
    assert first.keys == [entry.content_hash for entry in first.entries]
    rest = run(project, store, without=first.keys[:2])
    assert [entry.name for entry in rest.entries] == ["Measure"]
    assert rest.text.count("*Memory: 1 entries (0 local, 1 global)") == 1
    nothing = run(project, store, without=first.keys)
    assert (nothing.text, nothing.entries, nothing.keys) == ("", [], [])
    assert nothing.reason == "there is nothing that the session has not had"


def test_what_is_left_out_makes_no_room_for_what_comes_after_it(project, store):
    [first] = run(project, store, limit=1).keys
    assert run(project, store, limit=1, without=[first]).text == ""


def test_nothing_new_leaves_the_last_injection_as_it_was(project, store):
    first = run(project, store)
    path = store / ".last-injection.json"
    before = path.read_bytes()
    run(project, store, without=first.keys)
    assert path.read_bytes() == before


def test_a_reason_to_use_markdown_alone_is_told_in_the_line(project, store):
    result = run(project, store, {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "true"}, markdown="too *late* | again")
    assert [(each.code, str(each)) for each in result.degraded] == [(MARKDOWN_ONLY, "too *late* | again")]
    assert "| semantic: degraded (markdown only: too  late    again) |" in result.text
    assert not (store / "memory.db").exists()


@pytest.mark.parametrize(("events", "given"), [("startup", False), ("resume", True)])
def test_a_fork_counts_as_resumed(project, store, events, given):
    result = run(project, store, {"RECOLLECT_MEMORY_INJECTION_EVENTS": events}, event="fork")
    assert bool(result.text) is given
