"""The two ways to read a block: as plain text where nothing is unusual, line by line everywhere else."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.conftest import examples

from recollect.files.bank.entry import parse_entry, parts_of

LINES = st.sampled_from(
    [
        "",
        " ",
        "text",
        "  indented: text",
        "- Confidence: high",
        "- confidence: low\r",
        "- **Confidence:** low",
        "-  Observation-count : 4",
        "- Observation count:",
        "  7",
        "- Observation count: 3 (of 5)",
        "- Last observed: 2026-02-17",
        "- Last observed: Feature #3",
        "- Content-Hash: sha256:0123456789abcdef",
        "- a bullet",
        "- " + "x" * 50 + ": y",
        "- ",
        "-",
        "---",
        "----",
        "## Section",
        "# Patterns",
        "# a comment",
        "#### deeper",
        "```",
        "~~~",
        "inline ``` text",
        "Confidence: high",
        "* Confidence: high",
        "\t- Confidence: high",
        ": x",
    ]
)


@settings(deadline=None, max_examples=examples(500))
@given(st.lists(LINES, max_size=8), st.booleans())
@example(["- a bullet", "Confidence: high", "- Confidence: low"], True)
@example(["- Observation count:", "", "7"], True)
def test_an_entry_is_the_same_read_as_plain_text_or_line_by_line(lines: list[str], ended: bool) -> None:
    block = "\n".join(["### Pattern: Any", *lines]) + ("\n" if ended else "")
    entry = parse_entry(block, "patterns", "local", 0)
    # A section after the entry has no influence on it, but makes the reader go line by line.
    slow = parse_entry(block + "\n## Next", "patterns", "local", 0)
    assert entry.description == slow.description
    for name in ("name", "heading", "observation_count", "confidence", "last_observed", "stored_hash"):
        assert getattr(entry, name) == getattr(slow, name), name
    parts = parts_of(block)
    assert entry.description == "\n".join(line.rstrip() for line in parts[0].lines).strip()
    stored = next((part.value for part in parts if part.key == "content hash"), "")
    assert entry.stored_hash == stored.removeprefix("sha256:")
