"""Labels found by rules: specific, deterministic, and never an error."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.ranking.labels import GENERIC, validated
from recollect.files.bank.bank import read_bank
from recollect.keywords.rules import RulesKeywords
from recollect.keywords.words import EXTENSIONS, NUMBERS, STOP, TECHNICAL, THINGS, WEAK

SHOUTED = st.lists(st.sampled_from(sorted(GENERIC | {"api", "skip", "retries"}))).map(lambda all: " ".join(all).upper())
BANK = Path(__file__).parents[3] / "examples" / "sample-project" / "docs" / "knowledge-bank"


def labels(name="", description="", reasoning="", category="patterns"):
    return RulesKeywords().generate(name, description, reasoning, category)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Set busy_timeout on each connection.", "busy-timeout"),
        ("Clean up in `useEffect` always.", "use-effect"),
        ("The `EventStore` is opened once.", "event-store"),
        ("Never call os.path.join with it.", "os-path-join"),
        ("`EventStore.append_events` decides.", "append-events"),
        ("Read it from config/carriers.json at start.", "carriers-json"),
        ("See src/parcel_tracker/webhooks.py for that.", "webhooks-py"),
        ("Begin with `BEGIN IMMEDIATE` instead.", "begin-immediate"),
        ("The HMAC covers the body.", "hmac"),
        ("We moved it to Kubernetes later.", "kubernetes"),
        ("During maintenance QuickShip answers.", "quickship"),
        ("They store rows in SQLite there.", "sqlite"),
        ("Delivery is at-least-once there.", "at-least-once"),
        ("It needs HTTP/2 there.", "http-2"),
        ("All APIs follow.", "api"),
    ],
)
def test_technical_term_becomes_a_label(text, label):
    assert label in labels("", text)


def test_pair_of_the_name_becomes_one_label():
    assert labels("Transactional Outbox", "Write the message into a table first.")[0] == "transactional-outbox"
    assert labels("Ask the Query Planner Before Adding an Index")[:2] == ["query-planner", "index"]


def test_name_outweighs_description_and_description_outweighs_reasoning():
    found = labels("Jitter", "Backoff helps.", "Throttling is why.")
    assert found == ["jitter", "backoff", "throttling"]


def test_forms_of_a_word_are_one_label():
    assert labels("Retrying", "A retry after retries is retried.") == ["retry"]


@pytest.mark.parametrize(
    "text", ["", " ", "the of and", "fix bug update code", "1 2 3", "日本語のテスト", "¿?", "``` ```"]
)
def test_text_without_a_content_word_has_no_label(text):
    assert labels(text, text, text) == []


@pytest.mark.parametrize("text", ["walnut", "walnut table", "walnut table varnish", "Alpha beta gamma"])
def test_few_words_give_as_many_labels(text):
    assert min(3, len(text.split())) <= len(labels(text)) <= 3


# Entries in the manner of real banks, with words that the rules once took for labels.
EMPTY_WORDS = [
    (
        "Working in the Wrong Checkout",
        "Making changes in one worktree when the branch of the work has another.",
        "working wrong making",
    ),
    (
        "Shell Variables in Inline Python",
        "Putting a shell variable inside a Python string enables injection and produces remaining issues.",
        "enables produces remaining issues putting",
    ),
    (
        "Small Documents Skip the Workflow",
        "Direct commits are appropriate and sufficient for scoped files; comprehensive features justify reviews.",
        "appropriate sufficient files features comprehensive justify scoped",
    ),
    (
        "Threat Model First",
        "Conducting a review satisfies nobody; fundamental and informational findings keep reaching people.",
        "conducting satisfies fundamental informational reaching",
    ),
    ("Begin", "running quickly", "begin running quickly"),
]


@pytest.mark.parametrize(("name", "description", "empty"), EMPTY_WORDS)
def test_words_that_say_nothing_are_no_labels(name, description, empty):
    assert set(labels(name, description)).isdisjoint(empty.split())


def test_short_text_with_a_telling_word_has_three_labels_if_it_has_three_words():
    assert labels("Working in the Wrong Checkout", "") == ["checkout", "working", "wrong"]
    assert labels("Wrong checkout", "") == ["checkout", "wrong"]


def test_techniques_are_labels_in_spite_of_their_ending():
    found = labels("Cache", "Batching, connection pooling, tracing and rendering help.")
    assert {"batching", "connection-pooling", "tracing", "rendering"} <= set(found)


def test_latin_words_are_found_among_other_scripts():
    assert {"sqlite", "busy-timeout"} <= set(labels("使用SQLite数据库", "设置 busy_timeout 之前"))
    assert "dateigrosse" in labels("Dateigröße prüfen")


def test_stop_words_shouted_are_no_acronyms():
    assert {"never", "use", "always"}.isdisjoint(labels("NEVER USE FLOATS FOR MONEY", "IT IS ALWAYS WRONG"))


def test_words_that_are_no_labels_may_be_shouted_before_another():
    assert labels("", "The worker polls with FOR UPDATE SKIP LOCKED") == ["skip", "locked", "worker"]
    assert labels("", "a BUG FIX release of the API") == ["api", "release"]


def test_url_gives_no_labels():
    assert labels("", "https://api.parcel-tracker.internal/v2/events?token=abc") == []


@pytest.mark.parametrize("entry", read_bank(str(BANK), "local")[0], ids=lambda entry: entry.name)
def test_every_entry_of_the_sample_project_gets_three_to_ten_labels(entry):
    found = labels(entry.name, entry.description, entry.reasoning, entry.category)
    assert 3 <= len(found) <= 10
    assert found == validated(found)
    text = re.sub(r"[^a-z]", "", f"{entry.name} {entry.description} {entry.reasoning}".lower())
    assert all(re.sub(r"[^a-z]", "", word) in text for label in found for word in label.split("-"))


def test_sample_entries_get_the_labels_a_reader_would_give():
    found = {e.name: labels(e.name, e.description, e.reasoning, e.category) for e in read_bank(str(BANK), "local")[0]}
    assert {"retry", "jitter"} <= set(found["Retrying Without Jitter"])
    assert {"busy-timeout", "wal", "sqlite", "begin-immediate"} <= set(found["SQLite With WAL and a Busy Timeout"])
    assert {"idempotency-key", "transaction"} <= set(found["Idempotency Key Chosen by the Caller"])
    assert {"signed-timestamp", "hmac", "replay"} <= set(found["Signed Timestamp Against Replay"])


def test_word_lists_do_not_contradict_each_other():
    assert STOP.isdisjoint(WEAK | TECHNICAL)
    assert WEAK.isdisjoint(TECHNICAL)
    assert THINGS.isdisjoint(WEAK | STOP | TECHNICAL)
    assert all(word == word.lower() for word in STOP | WEAK | TECHNICAL | THINGS | EXTENSIONS | NUMBERS)


@pytest.mark.parametrize(
    "unit", ["`", "a-", "a.", "a_", "A", "aA", "'", "a/", "::", "[", "\n", "https://", "é", "ﷺ", "\ud800", "a b "]
)
def test_a_megabyte_of_anything_is_bounded(unit):
    text = unit * (2**20 // len(unit))
    found = labels(text, text, text)
    assert found == validated(found)


@settings(deadline=None)
@given(*[st.one_of(st.text(), st.text(alphabet="aB_-./`' 1é\n"), SHOUTED)] * 3)
def test_rules_are_total_and_deterministic(name, description, reasoning):
    found = labels(name, description, reasoning)
    assert found == labels(name, description, reasoning)
    assert found == validated(found)


# Words without vowels have none of the endings that make a word a quality or an action.
@given(
    st.lists(st.from_regex(r"[bcdfghjkmnp-tvwxz]{4,9}", fullmatch=True), min_size=3, unique_by=lambda word: word[:3])
)
def test_three_content_words_give_three_labels(words):
    assert 3 <= len(labels("", " ".join(words))) <= 10
