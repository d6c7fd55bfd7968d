import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.conftest import PATIENCE, examples

from recollect.domain.entry import Entry
from recollect.domain.hashing import content_hash
from recollect.domain.start_block import entry_text
from recollect.domain.text import fenced_lines, one_line, unclosed_fence
from recollect.errors import StorageError, UnsafeEdit
from recollect.files.bank.bank import BankFile, files_without_entries, read_bank, read_bank_file
from recollect.files.bank.entry import bare_name, with_count
from recollect.files.bank.write import global_entry, local_entry
from recollect.files.textfile import write_text
from recollect.promote.candidates import clean

LINES = [
    "### Pattern: A",
    "### Anti-Pattern: B",
    "### C",
    "### ",
    "###",
    "#### D",
    "## Section",
    "# Patterns",
    "# Global Patterns",
    "---",
    "",
    "   ",
    "Some text.",
    "- Confidence: high",
    "- **Observation count:** 3",
    "- *Last observed*: *2026-01-02*",
    "- Last observed: Feature #12",
    "- Source: one, Feature #1",
    "- Keywords: a, b",
    "- plain bullet",
    "-",
    "  - nested: bullet",
    "  continued",
    "```",
    "```python",
    "   ```",
    "````",
    "~~~",
    "`code`",
    "\ufeff",
    "\ufeff### E",
    "\x00\x1b",
    "caf\udce9",
    "😀",
]

line_texts = st.one_of(
    st.sampled_from(LINES),
    st.sampled_from(LINES),
    st.text(max_size=12),
    st.binary(max_size=6).map(lambda data: data.decode("utf-8", "surrogateescape")),
)


@st.composite
def any_file(draw: st.DrawFn) -> str:
    ending = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    pieces = draw(st.lists(line_texts, max_size=25))
    if draw(st.booleans()):
        return ending.join(pieces)
    return "".join(piece + draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"])) for piece in pieces)


def only(text: str, category: str = "patterns", origin: str = "local") -> Entry:
    (entry,) = BankFile(text, category, origin).entries
    return entry


def names(file: BankFile) -> list[str]:
    return [entry.name for entry in file.entries]


def blocks(text: str) -> list[str]:
    """What stands before the first heading, and then the text of each entry up to the next heading."""
    lines = text.split("\n")
    fenced = fenced_lines(lines)
    found = [""]
    for index, line in enumerate(lines):
        heading = line if index else line.removeprefix("\ufeff")
        if heading.startswith("### ") and index not in fenced:
            found.append("")
        found[-1] += line + ("\n" if index < len(lines) - 1 else "")
    return found


def seen(entry: Entry) -> tuple[object, ...]:
    """All that is known of an entry."""
    parts = [(part.key, part.value, tuple(part.lines)) for part in entry.parts]
    known = (entry.observation_count, entry.confidence, entry.last_observed, entry.position)
    return (entry.heading, entry.name, entry.description, entry.content_hash, *known, parts)


@pytest.fixture
def forbidden(tmp_path: Path) -> Iterator[str]:
    """A folder that may not be read. Permissions do not bind root, so the test runs as somebody else then."""
    folder = tmp_path / "forbidden"
    folder.mkdir(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield str(folder)
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o700)


# Boundary, name and description


def test_an_entry_has_a_name_a_description_and_metadata() -> None:
    entry = only(
        "# Anti-Patterns\n\n## Known Anti-Patterns\n\n"
        "### Anti-Pattern: Working in Wrong Worktree\n"
        "Making changes in main worktree when a feature\n"
        "worktree exists.\n"
        "- Observed in: Feature #002\n"
        "- Cost: Had to stash\n"
        "- Last observed: Feature #002\n"
        "- Observation count: 2\n",
        "anti-patterns",
    )
    assert entry.name == "Working in Wrong Worktree"
    assert entry.title == "Anti-Pattern: Working in Wrong Worktree"
    assert entry.description == "Making changes in main worktree when a feature\nworktree exists."
    assert entry.metadata("observed in") == "Feature #002"
    assert entry.metadata("cost") == "Had to stash"
    assert entry.metadata("nothing of the kind") == ""
    assert (entry.observation_count, entry.confidence, entry.last_observed) == (2, "medium", "")
    assert (entry.category, entry.origin, entry.position) == ("anti-patterns", "local", 0)


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("### Pattern: Thin Orchestrator", "Thin Orchestrator"),
        ("### Anti-Pattern: Big Bang", "Big Bang"),
        ("### Heuristic: Read First", "Read First"),
        ("### Line Budget Management", "Line Budget Management"),
        ("### pattern:  lower case ", "lower case"),
        ("### ANTI-PATTERN:tight", "tight"),
        ("### Pattern", "Pattern"),
        ("### Pattern matching: how", "Pattern matching: how"),
        ("### Note: not a type", "Note: not a type"),
        ("### Pattern: Pattern: twice", "Pattern: twice"),
        ("### ", ""),
    ],
)
def test_a_name_is_its_heading_without_the_optional_type(heading: str, name: str) -> None:
    assert only(f"{heading}\ntext\n").name == name


@pytest.mark.parametrize("line", ["###", "###No space", " ### Indented", "#### Four", "## Two", "\t### Tab", "> ### Q"])
def test_only_three_hashes_and_a_space_begin_an_entry(line: str) -> None:
    assert BankFile(f"{line}\ntext\n", "patterns").entries == []


def test_entries_have_positions_in_the_order_of_the_file() -> None:
    file = BankFile("### A\na\n### B\nb\n\n### C\nc", "patterns")
    assert [(entry.name, entry.description, entry.position) for entry in file.entries] == [
        ("A", "a", 0),
        ("B", "b", 1),
        ("C", "c", 2),
    ]


@pytest.mark.parametrize("text", ["", "\n", "# Patterns\n", "prose only", "- Confidence: high\n"])
def test_a_file_without_headings_has_no_entries(text: str) -> None:
    file = BankFile(text, "patterns")
    assert file.entries == []
    assert file.text == text


@pytest.mark.parametrize(
    "text", ["### A\n- Source: x\n", "### A\n\n\n- Source: x\n", "### A\n", "### A", "### A\n---\n", "### A\n## Next\n"]
)
def test_an_entry_may_have_no_description(text: str) -> None:
    entry = only(text)
    assert (entry.name, entry.description) == ("A", "")
    assert entry.content_hash == "e3b0c44298fc1c14"


def test_a_heading_at_the_end_of_the_file_without_a_newline_is_an_entry() -> None:
    file = BankFile("### A\ntext\n\n### Pattern: Last", "patterns")
    assert names(file) == ["A", "Last"]
    assert file.text == "### A\ntext\n\n### Pattern: Last"


def test_a_description_may_have_paragraphs_and_ends_at_the_first_bullet() -> None:
    entry = only("### A\n\nFirst.\n\nSecond.\n\n- Source: x\n\nNot description.\n")
    assert entry.description == "First.\n\nSecond."


@pytest.mark.parametrize(
    "line", ["* star", "+ plus", " - indented", "-no space", "1. one", "> quote", "--- x", "#hash"]
)
def test_only_a_hyphen_and_a_space_end_a_description(line: str) -> None:
    assert only(f"### A\nfirst\n{line}\nlast\n- Source: x\n").description == f"first\n{line}\nlast"


def test_the_hash_covers_the_description_alone() -> None:
    one = only("### A\nSame text.\n- Source: x\n")
    two = only("### Pattern: B\n  same   TEXT.\n\n- Cost: y\n")
    assert one.content_hash == two.content_hash == hashlib.sha256(b"same text.").hexdigest()[:16]


# Sections and dividers


def test_section_headings_and_dividers_between_entries_belong_to_none() -> None:
    file = BankFile(
        "# Patterns\n\n## Development Patterns\n\n### A\na\n- Source: x\n\n"
        "---\n\n### B\nb\n\n## Other\n\n### C\nc\n\n---\n",
        "patterns",
    )
    assert [(entry.name, entry_text(entry)) for entry in file.entries] == [
        ("A", "### A\na\n- Source: x"),
        ("B", "### B\nb"),
        ("C", "### C\nc"),
    ]


@pytest.mark.parametrize(
    "title",
    ["## Section", "# Anti-Patterns", "# Patterns", "# Heuristics", "# Global Heuristics", "## Known Anti-Patterns"],
)
def test_the_introduction_of_a_section_does_not_belong_to_the_entry_before(title: str) -> None:
    file = BankFile(
        f"### A\na\n- Source: x\n\n{title}\nAbout what follows.\n- Confidence: high\n\n### B\nb\n", "patterns"
    )
    first = file.entries[0]
    assert entry_text(first) == "### A\na\n- Source: x"
    assert first.confidence == "medium"
    assert names(file) == ["A", "B"]


def test_a_divider_inside_a_description_is_skipped() -> None:
    entry = only("### A\nbefore\n---\nafter\n- Source: x\n")
    assert entry.description.split() == ["before", "after"]
    assert entry.metadata("source") == "x"


def test_text_after_a_divider_is_no_continuation_of_metadata() -> None:
    entry = only("### A\na\n- Source: x\n---\ny\n")
    assert entry.metadata("source") == "x"
    assert entry.description == "a"


# Metadata


@pytest.mark.parametrize(
    "line",
    [
        "- Confidence: high",
        "- Confidence:high",
        "- Confidence : high",
        "-   Confidence:   high  ",
        "- CONFIDENCE: HIGH",
        "- **Confidence:** high",
        "- **Confidence**: high",
        "- **Confidence** : high",
        "- **Confidence: high**",
        "- **Confidence:** **high**",
        "- **Confidence**: **high**",
        "- *Confidence:* high",
        "- *Confidence*: high",
        "- ***Confidence:*** high",
        "- __Confidence:__ high",
        "- _Confidence_: high",
        "- `Confidence`: `high`",
        "-   **Confidence:** high",
        "- Confidence: **high**",
        "- Confidence: `high`",
    ],
)
def test_confidence_is_read_in_every_spelling(line: str) -> None:
    assert only(f"### A\ntext\n{line}\n").confidence == "high"


@pytest.mark.parametrize(
    "line",
    [
        "- Last observed: 2026-02-17",
        "- last-observed: 2026-02-17",
        "- Last_Observed: 2026-02-17",
        "- **Last observed:** 2026-02-17",
        "- **Last observed**: 2026-02-17",
        "- **Last observed: 2026-02-17**",
        "- __Last observed:__ 2026-02-17",
        "- _Last observed_: _2026-02-17_",
        "- `Last observed`: `2026-02-17`",
        "-   **Last observed:** 2026-02-17",
        "- **Last observed:** **2026-02-17**",
        "- Last observed: **2026-02-17**",
        "- Last observed: 2026-02-17T03:45:00Z",
        "- Last observed: 2026-02-17 (Feature #12)",
        "- Last observed:\n  2026-02-17",
    ],
)
def test_the_date_last_observed_is_read_in_every_spelling(line: str) -> None:
    assert only(f"### A\ntext\n{line}\n").last_observed == "2026-02-17"


@pytest.mark.parametrize("value", ["Feature #12", "", "17.02.2026", "2026/02/17", "2026-2-17", "yesterday", "2026-02"])
def test_what_is_no_iso_date_is_no_date(value: str) -> None:
    entry = only(f"### A\ntext\n- Last observed: {value}\n")
    assert entry.last_observed == ""
    assert entry.metadata("last observed") == value


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("3", 3),
        ("3 (since spring)", 3),
        ("**3**", 3),
        ("`12`", 12),
        ("x4", 4),
        ("about 5, maybe 6", 5),
        ("007", 7),
        ("0", 0),
        ("none", 1),
        ("", 1),
        ("٣", 1),
        ("²", 1),
    ],
)
def test_the_observation_count_is_the_first_number_or_one(value: str, count: int) -> None:
    assert only(f"### A\ntext\n- Observation count: {value}\n").observation_count == count


def test_the_observation_count_of_an_entry_that_has_none_is_one() -> None:
    assert only("### A\ntext\n").observation_count == 1


def test_an_absurdly_long_observation_count_is_a_large_number() -> None:
    assert only(f"### A\ntext\n- Observation count: {'9' * 100_000}\n").observation_count == 999_999_999


@pytest.mark.parametrize(
    ("value", "level"),
    [
        ("high", "high"),
        ("High", "high"),
        ("LOW", "low"),
        ("medium", "medium"),
        ("low (needs more evidence)", "low"),
        ("high, seen twice", "high"),
        ("medium-high", "medium"),
        ("high-ish", "high"),
        ("highly", "medium"),
        ("lower", "medium"),
        ("very high", "medium"),
        ("0.9", "medium"),
        ("unknown", "medium"),
        ("", "medium"),
    ],
)
def test_confidence_is_the_first_word_if_it_is_a_level(value: str, level: str) -> None:
    assert only(f"### A\ntext\n- Confidence: {value}\n").confidence == level


def test_confidence_of_an_entry_that_has_none_is_medium() -> None:
    assert only("### A\ntext\n").confidence == "medium"


def test_the_first_of_repeated_metadata_counts() -> None:
    entry = only("### A\ntext\n- Confidence: low\n- Confidence: high\n- Source: a\n- Source: b\n")
    assert (entry.confidence, entry.metadata("source")) == ("low", "a")


@pytest.mark.parametrize("continuation", ["  and more", "\tand more", "and more", "      and more"])
def test_metadata_continues_on_the_next_line(continuation: str) -> None:
    entry = only(f"### A\ntext\n- Cost: much\n{continuation}\n- Confidence: high\n")
    assert entry.metadata("cost") == "much and more"
    assert entry.confidence == "high"
    assert entry.description == "text"


def test_metadata_whose_value_stands_on_the_next_line_is_read() -> None:
    entry = only("### A\ntext\n- Confidence:\n  high\n- Observation count:\n  4\n- Source:\n  x,\n  y\n")
    assert (entry.confidence, entry.observation_count, entry.metadata("source")) == ("high", 4, "x, y")


def test_nested_bullets_belong_to_the_item_above_them() -> None:
    entry = only("### A\ntext\n- Example: one\n  - Confidence: low\n  - second\n- Confidence: high\n")
    assert entry.confidence == "high"
    assert entry.metadata("example") == "one - Confidence: low - second"


def test_text_after_a_blank_line_is_no_continuation_unless_it_is_indented() -> None:
    entry = only("### A\ntext\n- Source: x\n\n  more of it\n\nSomething else.\n- Cost: y\n")
    assert entry.metadata("source") == "x"
    assert entry.metadata("cost") == "y"
    assert [part.lines[0] for part in entry.parts if part.key == ""][1:] == ["Something else."]


def test_a_later_paragraph_of_an_item_is_in_its_value_as_a_whole_or_not_at_all() -> None:
    entry = only("### A\ntext\n- Source: x\n\n  first line\n  second line\n- Cost: y\n")
    assert entry.metadata("source") in ("x", "x first line second line")


def test_a_bullet_that_is_no_metadata_is_kept_and_ends_the_description() -> None:
    entry = only(f"### A\ntext\n- just a bullet\n- {'long ' * 20}: not a key\n- Source: x\n")
    assert entry.description == "text"
    assert entry.metadata("source") == "x"
    assert "- just a bullet\n" in entry_text(entry)


def test_unknown_metadata_is_kept_verbatim() -> None:
    text = "### A\ntext\n- Challenged: by `x`: twice\n- Zeta_Key: **v**"
    entry = only(text)
    assert entry.metadata("challenged") == "by `x`: twice"
    assert entry.metadata("zeta key") == "**v**"
    assert entry_text(entry) == text


def test_keywords_references_and_reasoning_are_read() -> None:
    entry = only(
        "### A\ntext\n"
        "- Keywords: parsing, files,, error-handling\n"
        "- References: plugins/hooks/lib/memory.py, docs/features/024-*/spec.md\n"
        "- Reasoning: Discovered during the parser feature,\n  twice.\n"
    )
    assert entry.keywords == ["parsing", "files", "error-handling"]
    assert entry.references == ["plugins/hooks/lib/memory.py", "docs/features/024-*/spec.md"]
    assert entry.reasoning == "Discovered during the parser feature, twice."


def test_triggers_are_read_and_a_sentence_is_none() -> None:
    assert only("### A\ntext\n- When: adding a column; money\n  is returned\n").triggers == [
        "adding a column",
        "money is returned",
    ]
    assert only("### A\ntext\n- When: a; b; c; d; e; f; g\n").triggers == []
    assert only("### A\ntext\n").triggers == []


def test_keywords_references_and_reasoning_may_be_missing() -> None:
    entry = only("### A\ntext\n")
    assert (entry.keywords, entry.references, entry.reasoning) == ([], [], "")


def test_the_stored_hash_is_read_without_its_prefix() -> None:
    assert only("### A\ntext\n- Content-Hash: sha256:0123456789abcdef\n").stored_hash == "0123456789abcdef"


# Fenced code


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("```", "```"),
        ("```markdown", "```"),
        ("~~~", "~~~"),
        ("~~~ md", "~~~~"),
        ("````", "````"),
        ("```", "``````"),
        ("  ```", "  ```"),
        ("   ```", "```"),
    ],
)
def test_headings_and_bullets_in_fenced_code_are_text(opening: str, closing: str) -> None:
    code = f"{opening}\n### Not an entry\n- Confidence: low\n## Not a section\n---\n{closing}"
    file = BankFile(f"### A\nbefore\n{code}\nafter\n- Confidence: high\n\n### B\nb\n", "patterns")
    assert names(file) == ["A", "B"]
    assert file.entries[0].description == f"before\n{code}\nafter"
    assert file.entries[0].confidence == "high"


@pytest.mark.parametrize("fence", ["    ```", "\t~~~", " \t```"])
def test_fence_that_is_indented_as_code_hides_no_heading(fence: str) -> None:
    file = BankFile(f"### A\nbefore\n{fence}\n### B\nb\n{fence}\n", "patterns")
    assert names(file) == ["A", "B"]


def test_a_longer_fence_holds_shorter_ones() -> None:
    file = BankFile("### A\n````\n```\n### x\n```\n### y\n````\n### B\nb\n", "patterns")
    assert names(file) == ["A", "B"]


def test_a_fence_of_one_kind_holds_the_other() -> None:
    assert names(BankFile("### A\n~~~\n```\n### x\n~~~\n### B\nb\n", "patterns")) == ["A", "B"]


def test_fenced_code_under_metadata_belongs_to_it() -> None:
    file = BankFile("### A\na\n- Example:\n  ```\n- Confidence: low\n### x\n  ```\n- Confidence: high\n", "patterns")
    assert names(file) == ["A"]
    assert file.entries[0].confidence == "high"


@pytest.mark.parametrize("fence", ["```", "~~~", "```python", "  ```", "````"])
def test_a_fence_that_is_never_closed_does_not_swallow_what_follows(fence: str) -> None:
    text = f"### A\na\n{fence}\ncode\n- Confidence: high\n\n### B\nb\n\n### C\nc\n"
    file = BankFile(text, "patterns")
    assert names(file) == ["A", "B", "C"]
    assert file.entries[0].confidence == "high"
    assert file.text == text


def test_code_in_an_introduction_holds_no_entries() -> None:
    assert names(
        BankFile("# Patterns\n\n```\n### Pattern: Name\n- Confidence: low\n```\n\n### A\na\n", "patterns")
    ) == ["A"]


# Encodings


def test_a_file_with_carriage_returns_reads_like_one_without() -> None:
    text = (
        "# Patterns\n\n### Pattern: A\nfirst\nsecond\n- **Confidence:** high\n  really\n\n---\n\n## Next\n\n### B\nb\n"
    )
    plain, windows = BankFile(text, "patterns"), BankFile(text.replace("\n", "\r\n"), "patterns")
    assert names(windows) == names(plain)
    for one, other in zip(plain.entries, windows.entries, strict=True):
        assert (other.description, other.confidence, other.content_hash) == (
            one.description,
            one.confidence,
            one.content_hash,
        )
        assert entry_text(other) == entry_text(one)
    assert windows.text == text.replace("\n", "\r\n")


def test_a_byte_order_mark_before_the_title_is_kept() -> None:
    file = BankFile("\ufeff# Patterns\n\n### A\na\n", "patterns")
    assert names(file) == ["A"]
    assert file.text == "\ufeff# Patterns\n\n### A\na\n"


def test_a_byte_order_mark_before_the_first_heading_does_not_hide_the_entry() -> None:
    file = BankFile("\ufeff### Pattern: A\na\n\n### B\nb\n", "patterns")
    assert names(file) == ["A", "B"]
    assert file.text == "\ufeff### Pattern: A\na\n\n### B\nb\n"


def test_invalid_utf8_is_read_and_written_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "patterns.md"
    data = b"# Patterns\n\n### Pattern: Caf\xe9\nbad \xff\xfe bytes\n- Source: \x80\n"
    path.write_bytes(data)
    file = read_bank_file(str(path), "local")
    assert file.entries[0].name == "Caf\udce9"
    write_text(str(path), file.text)
    assert path.read_bytes() == data


def test_a_file_of_five_megabytes_is_parsed_and_written_back(tmp_path: Path) -> None:
    entry = "### Pattern: Number {}\n{}\n```\n### not an entry\n```\n- Confidence: high\n- Observation count: {}\n\n"
    text = "# Patterns\n\n" + "".join(entry.format(n, "Some words. " * 40, n) for n in range(9_000))
    assert len(text) > 5_000_000
    (tmp_path / "patterns.md").write_text(text, encoding="utf-8")
    file = read_bank_file(str(tmp_path / "patterns.md"), "local")
    assert len(file.entries) == 9_000
    assert (file.entries[-1].name, file.entries[-1].observation_count) == ("Number 8999", 8999)
    assert file.text == text


@pytest.mark.parametrize(
    "text", ["### " + "x" * 5_000_000, "### A\n" + "- k: v\n" * 700_000, "### A\n" + "```\n" * 99_999]
)
def test_a_huge_entry_is_parsed_and_written_back(text: str) -> None:
    file = BankFile(text, "patterns")
    assert len(file.entries) == 1
    assert file.text == text


@settings(deadline=None, max_examples=examples(300))
@given(any_file())
def test_parse_then_write_gives_the_same_text(text: str) -> None:
    assert BankFile(text, "patterns").text == text


@settings(deadline=None)
@given(st.one_of(st.binary(max_size=300), any_file().map(lambda text: text.encode("utf-8", "surrogateescape"))))
def test_read_then_write_gives_the_same_bytes(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "patterns.md")
        path.write_bytes(data)
        write_text(str(path), read_bank_file(str(path), "local").text, durable=False)
        assert path.read_bytes() == data


@settings(deadline=None)
@given(any_file())
@example("\ufeff### A\na\n")
def test_an_entry_begins_at_every_heading_outside_of_code(text: str) -> None:
    found = [block.split("\n")[0].removeprefix("\ufeff").rstrip() for block in blocks(text)[1:]]
    assert [entry.heading for entry in BankFile(text, "patterns").entries] == found


# Changing metadata


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- Observation count: 3", "- Observation count: 4"),
        ("- observation-count: 3", "- observation-count: 4"),
        ("- **Observation count:** 3", "- **Observation count:** 4"),
        ("- **Observation count**: 3", "- **Observation count**: 4"),
        ("- **Observation count: 3**", "- **Observation count: 4**"),
        ("- *Observation count:* 3", "- *Observation count:* 4"),
        ("- __Observation count:__ 3", "- __Observation count:__ 4"),
        ("- `Observation count`: 3", "- `Observation count`: 4"),
        ("- Observation count: 3 (x)", "- Observation count: 4 (x)"),
        ("- Observation count: **3**", "- Observation count: **4**"),
        ("- Observation count:\n  3", "- Observation count: 4"),
        ("- Observation count:", "- Observation count: 4"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_set_metadata_keeps_the_place_and_the_style_of_an_item(before: str, after: str, ending: str) -> None:
    source = "# T\n### A\ntext\n- Source: x\n{}\n- Cost: y\n\n### B\nb\n"
    file = BankFile(source.format(before).replace("\n", ending), "patterns")
    value = with_count(file.entries[0].metadata("observation count"), 4)
    entry = file.set_metadata(0, {"Observation count": value})
    assert file.text == source.format(after).replace("\n", ending)
    assert entry.observation_count == 4
    assert file.entries[0] is entry


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- **Observation count**: **3**", ["- **Observation count**: **4**", "- **Observation count**: 4"]),
        ("- **Observation count:** **3**", ["- **Observation count:** **4**", "- **Observation count:** 4"]),
        ("- *Observation count*: *3*", ["- *Observation count*: *4*", "- *Observation count*: 4"]),
        ("- `Observation count`: `3`", ["- `Observation count`: `4`", "- `Observation count`: 4"]),
    ],
)
def test_set_metadata_leaves_no_emphasis_open(before: str, after: list[str]) -> None:
    file = BankFile(f"### A\ntext\n{before}\n", "patterns")
    file.set_metadata(0, {"Observation count": with_count(file.entries[0].metadata("observation count"), 4)})
    assert file.text.split("\n")[2] in after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("### A\ntext\n", "### A\ntext\n- Source: x\n"),
        ("### A\ntext", "### A\ntext\n- Source: x\n"),
        ("### A\r\ntext", "### A\r\ntext\r\n- Source: x\r\n"),
        ("### A\n", "### A\n- Source: x\n"),
        ("### A", "### A\n- Source: x\n"),
        ("### A\n\ntext\n\n\n", "### A\n\ntext\n- Source: x\n\n\n"),
        ("### A\ntext\n- Cost: y\n\n### B\nb\n", "### A\ntext\n- Cost: y\n- Source: x\n\n### B\nb\n"),
        ("### A\ntext\n- Cost: y\n  more\n### B\n", "### A\ntext\n- Cost: y\n  more\n- Source: x\n### B\n"),
        ("### A\ntext\n- Cost: y\n\nprose\n", "### A\ntext\n- Cost: y\n- Source: x\n\nprose\n"),
        ("### A\ntext\n\n---\n\n### B\n", "### A\ntext\n- Source: x\n\n---\n\n### B\n"),
        ("### A\nabove\n---\nbelow\n", "### A\nabove\n---\nbelow\n- Source: x\n"),
        ("### A\ntext\n\n## Next\n### B\n", "### A\ntext\n- Source: x\n\n## Next\n### B\n"),
        ("### A\n## Next\n### B\n", "### A\n- Source: x\n## Next\n### B\n"),
        ("### A\n\n## Next\n### B\n", "### A\n- Source: x\n\n## Next\n### B\n"),
    ],
)
def test_set_metadata_adds_a_missing_item_after_the_last_one(before: str, after: str) -> None:
    file = BankFile(before, "patterns")
    entry = file.set_metadata(0, {"Source": "x"})
    assert file.text == after
    assert entry.metadata("source") == "x"
    assert BankFile(file.text, "patterns").entries[0].metadata("source") == "x"


def test_set_metadata_replaces_a_value_with_all_its_lines() -> None:
    file = BankFile("### A\ntext\n- Source: one,\n  two\nthree\n- Cost: y\n", "patterns")
    file.set_metadata(0, {"Source": "four"})
    assert file.text == "### A\ntext\n- Source: four\n- Cost: y\n"


def test_set_metadata_ignores_a_bullet_of_that_name_in_code() -> None:
    text = "### A\n```\n- Source: code\n```\n- Source: x\n"
    file = BankFile(text, "patterns")
    file.set_metadata(0, {"Source": "y"})
    assert file.text == text.replace("Source: x", "Source: y")


def test_set_metadata_takes_no_half_of_a_code_block_away() -> None:
    text = "### A\na\n- Source: x\n  ```\n  code\n\n  more code\n  ```\n\n### B\n```\nb\n```\n"
    file = BankFile(text, "patterns")
    assert names(file) == ["A", "B"]
    file.set_metadata(0, {"Source": "y"})
    assert names(BankFile(file.text, "patterns")) == ["A", "B"]


def test_set_metadata_adds_no_item_inside_a_code_block() -> None:
    file = BankFile("### A\na\n- Example: this\n```\none\n\ntwo\n```\n\n### B\nb\n", "patterns")
    assert file.set_metadata(0, {"Source": "y"}).metadata("source") == "y"
    assert BankFile(file.text, "patterns").entries[0].metadata("source") == "y"


@pytest.mark.parametrize(
    "text",
    [
        "### A\na\n- Confidence: high\n\n  a later paragraph\nand free text right below\n",
        "### A\na\n- Example: this\n```\ncode\n```\nand free text right below\n",
    ],
)
def test_set_metadata_adds_an_item_that_does_not_run_into_the_text_below(text: str) -> None:
    file = BankFile(text, "patterns")
    assert file.set_metadata(0, {"Source": "y"}).metadata("source") == "y"
    assert BankFile(file.text, "patterns").entries[0].metadata("source") == "y"


@settings(deadline=None, max_examples=examples(300))
@given(
    any_file(),
    st.integers(0, 30),
    st.dictionaries(
        st.sampled_from(["Observation count", "Last observed", "Source", "Confidence", "Something new"]),
        st.sampled_from(["4", "2026-05-06", "one, Feature #1, two, Feature #2", "high", "4 (x)"]),
        min_size=1,
    ),
)
@example("### A", 0, {"Source": "high"})
@example("### A\n## Next", 0, {"Source": "high"})
@example("### A\nabove\n---\nbelow\n", 0, {"Source": "high"})
@example("### A\n- Source: x\n\n  first line\n  second line\n", 0, {"Source": "high"})
@example("### A\n- Example:\n```\na\n\nb\n```\n", 0, {"Source": "high"})
@example("### A\n- Example:\n\n  a\nb\n", 0, {"Source": "high"})
@example("### A\n- Source: x\n```\na\n\nb\n```\n### B\n```\nb\n```\n", 0, {"Source": "high"})
def test_set_metadata_changes_the_named_entry_only(text: str, index: int, values: dict[str, str]) -> None:
    file = BankFile(text, "patterns")
    if not file.entries:
        return
    position = index % len(file.entries)
    before, around = [seen(entry) for entry in file.entries], blocks(text)
    changed = file.set_metadata(position, values)
    again = BankFile(file.text, "patterns")

    for label, value in values.items():
        assert changed.metadata(label.lower()) == value
    assert [seen(entry) for entry in again.entries] == [seen(entry) for entry in file.entries]
    assert (changed.heading, changed.content_hash) == (before[position][0], before[position][3])
    assert len(again.entries) == len(before)
    for place, entry in enumerate(again.entries):
        assert place == position or seen(entry) == before[place]
    assert file.text.startswith("".join(around[: position + 1]))
    assert file.text.endswith("".join(around[position + 2 :]))


# Appending


def test_append_adds_an_entry_after_a_blank_line() -> None:
    file = BankFile("# Patterns\n", "patterns")
    entry = file.append(["### Pattern: A", "text", "- Source: x"])
    assert file.text == "# Patterns\n\n### Pattern: A\ntext\n- Source: x\n"
    assert (entry.name, entry.description, entry.position) == ("A", "text", 0)
    file.append(["### Pattern: B", "more"])
    assert file.text.endswith("- Source: x\n\n### Pattern: B\nmore\n")
    assert names(file) == ["A", "B"]


def test_append_ends_a_last_line_that_has_no_newline() -> None:
    file = BankFile("### A\na\n- Source: x", "patterns")
    file.append(["### B", "b"])
    assert file.text == "### A\na\n- Source: x\n\n### B\nb\n"


def test_append_writes_carriage_returns_where_the_file_has_them() -> None:
    file = BankFile("# Patterns\r\n\r\n### A\r\na\r\n", "patterns")
    file.append(["### B", "b"])
    assert file.text == "# Patterns\r\n\r\n### A\r\na\r\n\r\n### B\r\nb\r\n"


@pytest.mark.parametrize("text", ["# Patterns\n\n### A\na\r", "a\n\r", "a\r", "a\r\nb\r"])
def test_append_keeps_a_carriage_return_at_the_end_of_the_file(text: str) -> None:
    file = BankFile(text, "patterns")
    file.append(["### B", "b"])
    assert file.text.startswith(text)


def test_append_refuses_a_file_whose_open_code_block_would_swallow_the_entry() -> None:
    file = BankFile("### A\n```\nnever closed\n", "patterns")
    with pytest.raises(UnsafeEdit, match=r"it has a code fence that is never closed"):
        file.append(["### B", "```", "code", "```"])


def test_append_to_a_file_with_an_open_code_block_works_when_nothing_closes_it() -> None:
    file = BankFile("### A\n```\nnever closed\n", "patterns")
    file.append(["### B", "b"])
    assert names(BankFile(file.text, "patterns")) == ["A", "B"]


descriptions = (
    st.one_of(st.lists(line_texts, min_size=1, max_size=10).map("\n".join), st.text(min_size=1, max_size=80))
    .map(clean)
    .filter(bool)
)
entry_names = st.one_of(st.text(max_size=30), st.sampled_from(LINES)).map(one_line).map(bare_name).filter(bool)


@settings(deadline=None, max_examples=examples(300))
@given(any_file(), entry_names, descriptions, st.sampled_from(["anti-patterns", "heuristics", "patterns"]))
@example("a\nb\r", "A", "text", "patterns")
def test_append_keeps_all_earlier_bytes_and_the_entry_reads_back(
    text: str, name: str, description: str, category: str
) -> None:
    file = BankFile(text, category, "global")
    before = [(entry.heading, entry.content_hash) for entry in file.entries]
    lines = global_entry(
        category,
        name,
        description,
        source="p, Feature #1",
        observed_on="2026-05-06",
        confidence="high",
        content_hash=content_hash(description),
    )
    try:
        added = file.append(lines)
    except UnsafeEdit:
        assert unclosed_fence(text.split("\n"))
        return
    again = BankFile(file.text, category, "global")
    assert file.text.encode("utf-8", "surrogateescape").startswith(text.encode("utf-8", "surrogateescape"))
    assert [(entry.heading, entry.content_hash) for entry in again.entries[:-1]] == before
    assert seen(again.entries[-1]) == seen(added)
    assert (added.name, added.content_hash) == (name, content_hash(description))
    assert added.stored_hash == added.content_hash
    assert (added.observation_count, added.confidence, added.last_observed) == (1, "high", "2026-05-06")


@settings(deadline=None)
@given(entry_names, descriptions, st.sampled_from(["anti-patterns", "patterns"]))
def test_append_of_a_local_entry_reads_back(name: str, description: str, category: str) -> None:
    file = BankFile("# Title\n", category)
    file.append(local_entry(category, name, description, provenance="Feature #1", confidence="low"))
    entry = only(file.text, category)
    assert (entry.name, entry.confidence) == (name, "low")
    assert entry.description.split() == description.split()


# Counts as text


@pytest.mark.parametrize(
    ("value", "count", "text"),
    [("3", 4, "4"), ("3 (of 3)", 4, "4 (of 3)"), ("**9**", 10, "**10**"), ("", 2, "2"), ("none", 2, "2")],
)
def test_with_count_changes_the_number_and_nothing_around_it(value: str, count: int, text: str) -> None:
    assert with_count(value, count) == text


# Folders


@pytest.fixture
def bank(tmp_path: Path) -> Callable[..., tuple[list[str], list[str]]]:
    """Reads tmp_path as a bank: the entries' names and the warnings, without the folder's own path."""

    def read(origin: str = "local") -> tuple[list[str], list[str]]:
        entries, warnings = read_bank(str(tmp_path), origin)
        return [entry.name for entry in entries], [text.replace(str(tmp_path) + os.sep, "") for text in warnings]

    return read


Bank = Callable[..., tuple[list[str], list[str]]]


def test_read_bank_reads_the_three_files_with_their_categories_and_origin(tmp_path: Path) -> None:
    for category in ("patterns", "anti-patterns", "heuristics"):
        (tmp_path / f"{category}.md").write_text(f"### In {category}\ntext\n", encoding="utf-8")
    entries, warnings = read_bank(str(tmp_path), "global")
    assert {(entry.name, entry.category, entry.origin) for entry in entries} == {
        (f"In {category}", category, "global") for category in ("patterns", "anti-patterns", "heuristics")
    }
    assert warnings == []


def test_read_bank_of_a_missing_folder_is_empty(tmp_path: Path) -> None:
    assert read_bank(str(tmp_path / "nowhere" / "bank"), "local") == ([], [])


def test_read_bank_of_an_empty_folder_or_empty_files_is_empty(tmp_path: Path, bank: Bank) -> None:
    assert bank() == ([], [])
    (tmp_path / "patterns.md").touch()
    assert bank() == ([], [])


def test_read_bank_of_something_that_is_no_folder_warns(tmp_path: Path) -> None:
    path = tmp_path / "bank"
    path.write_text("### A\na\n", encoding="utf-8")
    assert read_bank(str(path), "local") == ([], [f"cannot read {path}: Not a directory"])


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_read_bank_of_a_folder_without_permission_warns(forbidden: str) -> None:
    assert read_bank(forbidden, "local") == ([], [f"cannot read {forbidden}: Permission denied"])


def test_read_bank_leaves_constitution_out_without_a_word(tmp_path: Path, bank: Bank) -> None:
    (tmp_path / "constitution.md").write_text("### 1. KISS\nKeep it simple.\n", encoding="utf-8")
    assert bank("local") == ([], [])
    assert bank("global") == ([], [])


def test_read_bank_warns_about_unknown_files_in_a_project(tmp_path: Path, bank: Bank) -> None:
    for name in ("notes.md", "data.txt", "patterns.MD", "patterns"):
        (tmp_path / name).write_text("### X\nx\n", encoding="utf-8")
    (tmp_path / "patterns.md").write_text("### A\na\n", encoding="utf-8")
    found, warnings = bank("local")
    assert found == ["A"]
    assert sorted(warnings) == [
        f"{name} is not a knowledge-bank file; skipped" for name in ("data.txt", "notes.md", "patterns", "patterns.MD")
    ]


def test_read_bank_warns_only_about_unknown_markdown_in_the_global_store(tmp_path: Path, bank: Bank) -> None:
    for name in ("notes.md", "recollect.log", "memory.db"):
        (tmp_path / name).write_text("### X\nx\n", encoding="utf-8")
    assert bank("global") == ([], ["notes.md is not a knowledge-bank file; skipped"])


@pytest.mark.parametrize("origin", ["local", "global"])
def test_read_bank_ignores_hidden_files(tmp_path: Path, bank: Bank, origin: str) -> None:
    for name in (".lock", ".patterns.md", ".patterns.md.123.tmp", ".DS_Store", ".last-injection.json"):
        (tmp_path / name).write_text("### X\nx\n", encoding="utf-8")
    assert bank(origin) == ([], [])


def test_read_bank_skips_a_folder_with_the_name_of_a_file(tmp_path: Path, bank: Bank) -> None:
    (tmp_path / "patterns.md").mkdir()
    (tmp_path / "heuristics.md").write_text("### A\na\n", encoding="utf-8")
    assert bank() == (["A"], ["patterns.md is not a regular file; skipped"])


def test_read_bank_skips_a_file_that_is_far_too_large(tmp_path: Path, bank: Bank) -> None:
    with (tmp_path / "patterns.md").open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    (tmp_path / "heuristics.md").write_text("### A\na\n", encoding="utf-8")
    assert bank() == (["A"], ["patterns.md is larger than 65,536 KiB; skipped"])


def test_read_bank_follows_a_symbolic_link_to_a_file(tmp_path: Path, bank: Bank) -> None:
    (tmp_path / ".real").write_text("### A\na\n", encoding="utf-8")
    (tmp_path / "patterns.md").symlink_to(tmp_path / ".real")
    assert bank() == (["A"], [])


def test_read_bank_skips_links_that_lead_in_a_circle(tmp_path: Path, bank: Bank) -> None:
    (tmp_path / "patterns.md").symlink_to(tmp_path / "patterns.md")
    (tmp_path / "heuristics.md").write_text("### A\na\n", encoding="utf-8")
    found, warnings = bank()
    assert found == ["A"]
    assert len(warnings) == 1
    assert warnings[0].startswith("cannot read patterns.md: ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_read_bank_does_not_wait_for_a_pipe_or_an_endless_device(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "patterns.md")
    (tmp_path / "anti-patterns.md").symlink_to("/dev/zero")
    (tmp_path / "heuristics.md").write_text("### A\na\n", encoding="utf-8")
    code = (
        "import sys; from recollect.files.bank.bank import read_bank; "
        "entries, warnings = read_bank(sys.argv[1], 'local'); print(len(entries), len(warnings))"
    )
    # In a process of its own: a read that waits for the pipe would wait forever.
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, encoding="utf-8", check=True, timeout=PATIENCE
    )
    assert done.stdout.split() == ["1", "2"]


def test_read_bank_file_raises_on_what_is_no_regular_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is not a regular file"):
        read_bank_file(str(tmp_path), "local")


def test_a_file_without_entries_is_read_no_further_than_its_beginning_and_not_at_all_if_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[int] = []

    def lessons(text: str) -> tuple[list[str], list[str]]:
        lengths.append(len(text))
        return [text], []

    monkeypatch.setattr("recollect.files.bank.loose.loose_lessons", lessons)
    path = tmp_path / "patterns.md"
    path.write_text("Close every handle.\n" * 100_000, encoding="utf-8")
    assert files_without_entries(str(tmp_path), "global", lambda told: told == str(path)) == []
    assert lengths == []
    assert files_without_entries(str(tmp_path), "global") == [str(path)]
    assert lengths == [64 * 1024]
