from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.hashing import content_hash
from recollect.domain.text import one_line
from recollect.files.bank.bank import BankFile
from recollect.files.bank.write import global_entry, local_entry, new_global_file, new_local_file

CATEGORIES = {"anti-patterns": "Anti-Pattern", "heuristics": "Heuristic", "patterns": "Pattern"}


def global_lines(
    category: str = "patterns", description: str = "Read the file first.", more: Sequence[str] = ()
) -> list[str]:
    return global_entry(
        category,
        "Read First",
        description,
        source="shop, Feature #007",
        observed_on="2026-02-17",
        confidence="high",
        content_hash=content_hash(description),
        more=more,
    )


@pytest.mark.parametrize(("category", "label"), CATEGORIES.items())
def test_a_new_global_file_has_the_header_of_the_specification(category: str, label: str) -> None:
    lines = new_global_file(category).split("\n")
    assert lines[:2] == [f"# Global {label}s", ""]
    assert lines[2].startswith("Cross-project learnings promoted from retrospectives. Automatically managed by ")
    assert lines[3].startswith("Do not edit manually — entries are updated ")
    assert lines[4:] == [""]


@pytest.mark.parametrize(
    ("category", "text"),
    [
        ("anti-patterns", "# Anti-Patterns\n\n## Known Anti-Patterns\n"),
        ("heuristics", "# Heuristics\n\n## Decision Heuristics\n"),
        ("patterns", "# Patterns\n\n## Development Patterns\n"),
    ],
)
def test_a_new_local_file_has_its_title_and_its_section(category: str, text: str) -> None:
    assert new_local_file(category) == text


@pytest.mark.parametrize("category", CATEGORIES)
def test_new_files_hold_no_entries(category: str) -> None:
    assert BankFile(new_global_file(category), category).entries == []
    assert BankFile(new_local_file(category), category).entries == []


@pytest.mark.parametrize(("category", "label"), CATEGORIES.items())
def test_a_global_entry_has_the_format_of_the_specification(category: str, label: str) -> None:
    assert global_lines(category) == [
        f"### {label}: Read First",
        "Read the file first.",
        f"- Content-Hash: sha256:{content_hash('Read the file first.')}",
        "- Source: shop, Feature #007",
        "- Observation count: 1",
        "- Last observed: 2026-02-17",
        "- Tags: universal",
        "- Confidence: high",
    ]


def test_a_global_entry_carries_further_lines_after_its_own() -> None:
    lines = global_lines(more=["- Keywords: parsing, files", "- Reasoning: It failed twice."])
    assert lines[-3:] == ["- Confidence: high", "- Keywords: parsing, files", "- Reasoning: It failed twice."]


def test_an_entry_has_no_line_for_what_is_not_known() -> None:
    lines = local_entry("patterns", "A", "Text.", provenance="", confidence="low")
    assert lines == ["### Pattern: A", "Text.", "- Confidence: low", "- Observation count: 1"]


@pytest.mark.parametrize(
    ("category", "heading", "provenance"),
    [
        ("anti-patterns", "### Anti-Pattern: Read First", "- Observed in: Feature #7"),
        ("heuristics", "### Read First", "- Source: Feature #7"),
        ("patterns", "### Pattern: Read First", "- Used in: Feature #7"),
    ],
)
def test_a_local_entry_has_the_heading_and_the_provenance_of_its_file(
    category: str, heading: str, provenance: str
) -> None:
    lines = local_entry(
        category, "Read First", "Text.", provenance="Feature #7", confidence="low", more=["- Keywords: a"]
    )
    assert lines == [heading, "Text.", provenance, "- Confidence: low", "- Observation count: 1", "- Keywords: a"]


@pytest.mark.parametrize(
    "description",
    [
        "Steps:\n- one\n- Confidence: low",
        "Intro\n### Heading\nmore",
        "Intro\n## Section\nmore",
        "Intro\n# Patterns\nmore",
        "above\n---\nbelow",
        "- first line is a bullet",
        "### first line is a heading",
        "```\n### code\n- code\n```\nthen\n- a bullet",
        "~~~\n- code\n~~~",
        "    ```\n- code\n    ```",
    ],
)
def test_a_description_that_looks_like_structure_reads_back_whole(description: str) -> None:
    file = BankFile(new_global_file("patterns"), "patterns")
    file.append(global_lines(description=description))
    (entry,) = BankFile(file.text, "patterns").entries
    assert entry.description.split() == description.split()
    assert entry.content_hash == entry.stored_hash == content_hash(description)
    assert (entry.name, entry.confidence) == ("Read First", "high")


def test_fenced_code_in_a_description_is_written_as_it_is() -> None:
    code = "```\n### code\n- code\n```"
    assert global_lines(description=code)[1:5] == code.split("\n")


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["Keywords", "References", "Reasoning", "Cost"]), st.text().map(one_line)))
def test_further_metadata_reads_back_as_it_was_given(more: dict[str, str]) -> None:
    file = BankFile(new_global_file("patterns"), "patterns")
    entry = file.append(global_lines(more=[f"- {label}: {value}" for label, value in more.items()]))
    assert {label: entry.metadata(label.lower()) for label in more} == more
