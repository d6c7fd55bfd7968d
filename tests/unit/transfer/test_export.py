"""What is gathered for an export, and that no text in it can break its lines or pose as a heading."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.hashing import content_hash
from recollect.domain.stored import StoredEntry
from recollect.domain.text import fenced_lines
from recollect.files.memory.memories import MemoryFile, MemoryRoot
from recollect.sync.memories import entry_id
from recollect.transfer.export import Export, ExportedEntry, gather, json_lines
from recollect.transfer.export_markdown import markdown

_CONTAINER = re.compile(r"^(\s*(([-+*]|\d+[.)])\s+|>\s?))*\s*")

ROOT = MemoryRoot("/home/dev/shop", "/home/dev/shop/.claude/memory", {"decision": "decisions"})
CAPTURE = {"category": "patterns", "name": "Cache", "description": "Cache  things.", "at": "2026-03-04T05:06:07Z"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "shop" / "docs" / "knowledge-bank").mkdir(parents=True)
    (tmp_path / "store").mkdir()
    return tmp_path / "shop"


def gathered(project: Path, *categories: str, include_retired: bool = False) -> Export:
    workspace = Workspace(str(project), str(project.parent / "store"), load_settings(str(project), {}))
    return gather(workspace, categories=categories, include_retired=include_retired)


def write_memory(project: Path, slug: str, **fields: object) -> dict[str, Any]:
    path = project / ".claude" / "memory" / "decisions" / f"{slug}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"id": slug, "title": slug.title(), "category": "decision", **fields}
    path.write_text(json.dumps(record), encoding="utf-8")
    return record


def write_bank(project: Path, text: str, *, shared: bool = False) -> None:
    folder = project.parent / "store" if shared else project / "docs" / "knowledge-bank"
    (folder / "patterns.md").write_text(text, encoding="utf-8", errors="surrogateescape")


def write_journal(project: Path, *lines: str) -> None:
    (project.parent / "store" / "session-captures.jsonl").write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")


def export_of(record: dict[str, Any]) -> Export:
    path = "/home/dev/shop/.claude/memory/decisions/x.json"
    return Export("shop", ROOT, [MemoryFile(path, "decision", record, "")])


def objects(export: Export) -> list[dict[str, Any]]:
    return [json.loads(line) for line in json_lines(export)]


def headings(text: str) -> list[str]:
    """Every line that a reader of markdown may take for a heading, or that makes the line above one."""
    lines = [_CONTAINER.sub("", line) for line in text.split("\n")]
    return [line for line in lines if re.match(r"#{1,6}(\s|$)|=+$|-+$", line)]


def without_code(document: str) -> Iterator[str]:
    """The lines of a document that are not code; a quotation ends whatever was begun in it."""
    for quoted, group in groupby(document.split("\n"), lambda line: line.startswith(">")):
        lines = [line.removeprefix(">").removeprefix(" ") for line in group]
        code = fenced_lines(lines) if quoted else ()
        yield from (line for at, line in enumerate(lines) if at not in code)


def test_memories_are_exported_as_their_files_have_them(project: Path) -> None:
    record = write_memory(project, "use-jwt", content={"decision": "JWT"}, own_field=[1, {"a": None}])
    [item] = objects(gathered(project))
    assert item["id"] == entry_id(str(project), "decision", "use-jwt")
    told = {"kind": "memory", "path": ".claude/memory/decisions/use-jwt.json", "slug": "use-jwt", "status": "active"}
    assert item == {**record, **told, "id": item["id"]}


def test_retired_and_archived_memories_are_exported_when_asked_for(project: Path) -> None:
    write_memory(project, "active")
    write_memory(project, "archived", record_status="archived")
    write_memory(project, "retired", record_status="retired")
    assert [item["slug"] for item in objects(gathered(project))] == ["active"]
    everything = objects(gathered(project, include_retired=True))
    assert [item["slug"] for item in everything] == ["active", "archived", "retired"]
    assert [item["status"] for item in everything] == ["active", "archived", "retired"]


def test_a_text_that_three_places_have_is_exported_once(project: Path) -> None:
    write_bank(project, "### Pattern: Cache\nCache things.\n- Observation count: 2\n- Keywords: speed, memory\n")
    write_bank(project, "### Pattern: Cache\ncache THINGS.\n- Observation count: 3\n", shared=True)
    write_journal(project, json.dumps(CAPTURE), json.dumps(CAPTURE))
    (item,) = objects(gathered(project))
    assert item["id"] == content_hash("Cache things.")
    assert item["observation_count"] == 5  # the most that a bank says, and each line of the journal
    assert item["found_in"] == ["project", "global", "journal"]


def test_each_kind_of_knowledge_has_the_same_keys(project: Path) -> None:
    write_bank(
        project,
        "### Pattern: Cache\nCache things.\n- Keywords: speed\n- When: it is slow; a b\n- Last observed: 2026-01-02\n",
    )
    write_bank(project, "### Pattern: Bare\n", shared=True)
    write_journal(
        project, json.dumps({**CAPTURE, "description": "Another.", "references": ["a.py"], "triggers": ["c"]})
    )
    local, bare, captured = objects(gathered(project))
    assert list(local) == list(bare) == list(captured)
    assert (local["keywords"], local["last_observed"], local["found_in"]) == (["speed"], "2026-01-02", ["project"])
    assert (local["triggers"], bare["triggers"], captured["triggers"]) == (["it is slow", "a b"], [], ["c"])
    assert (bare["name"], bare["description"], bare["found_in"]) == ("Bare", "", ["global"])
    assert (captured["references"], captured["last_observed"]) == (["a.py"], "2026-03-04")
    assert (captured["observation_count"], captured["confidence"]) == (1, "medium")


def test_only_the_categories_asked_for_are_read(project: Path) -> None:
    write_memory(project, "use-jwt")
    write_bank(project, "### Pattern: Cache\nCache things.\n")
    write_journal(project, "no json")
    assert [item["kind"] for item in objects(gathered(project, "patterns"))] == ["knowledge"]
    only = gathered(project, "decision")
    assert ([item["kind"] for item in objects(only)], only.warnings) == (["memory"], [])


def test_nothing_to_export_says_why(project: Path) -> None:
    empty = gathered(project)
    assert empty.count == 0
    assert "no active entries" in empty.reason
    assert str(project / "docs" / "knowledge-bank") in empty.reason
    write_memory(project, "gone", record_status="retired")
    assert "1 retired or archived" in gathered(project, "decision").reason


def test_what_cannot_be_used_is_passed_over_with_a_warning(project: Path) -> None:
    write_memory(project, "good")
    (project / ".claude" / "memory" / "decisions" / "bad.json").write_text("{", encoding="utf-8")
    write_journal(project, "no json", json.dumps({"name": "no description"}))
    export = gathered(project)
    assert len(export.warnings) == 3
    assert export.count == 1


def test_what_no_parser_takes_is_told_otherwise(project: Path) -> None:
    write_bank(project, "### Pattern: Odd\nByte \udcff here.\n")
    write_memory(project, "odd", title="\ud800 half")
    memory, knowledge = objects(gathered(project))
    assert memory["title"] == "? half"
    assert knowledge["description"] == "Byte ? here."


def test_a_record_cannot_name_its_own_kind_or_path() -> None:
    (item,) = objects(export_of({"kind": "knowledge", "path": "/etc/passwd", "title": "x"}))
    assert (item["kind"], item["path"]) == ("memory", ".claude/memory/decisions/x.json")


@given(st.text(), st.text(), st.lists(st.text()))
def test_every_entry_is_one_line_of_ascii(title: str, text: str, tags: list[str]) -> None:
    lines = list(json_lines(export_of({"title": title, "content": {"decision": text}, "tags": tags})))
    assert len(lines) == len(lines[0].splitlines()) == 1
    assert lines[0].isascii()
    told = json.loads(lines[0])
    assert (told["title"], told["content"]["decision"], told["tags"]) == (title, text, tags)


_LINES = st.sampled_from(
    [
        "# Fake",
        "### Fake",
        "#",
        "===",
        "---",
        "-",
        "```",
        "~~~",
        "<h1>",
        "text",
        "",
        " ## Fake",
        "\t# Fake",
        "- # Fake",
        "> 1. # Fake",
    ]
)
_TEXTS = st.lists(_LINES, max_size=8).flatmap(
    lambda lines: st.sampled_from("\n\r\v\u2028").map(lambda by: by.join(lines))
)


@given(_TEXTS, _TEXTS, st.lists(_TEXTS, max_size=3))
def test_no_text_of_an_entry_passes_for_a_heading(title: str, text: str, items: list[str]) -> None:
    record = {
        "title": title,
        "content": {"context": text, "rationale": items, text: {text: items}},
        "changes": [{"date": text, "summary": title}],
        "tags": items,
        text: text,
    }
    stored = StoredEntry(id="1" * 16, category="patterns", name=title, description=text, details=text, keywords=items)
    export = export_of(record)
    export.knowledge = [ExportedEntry(stored, ["project"])]
    document = markdown(export)
    shown = "\n".join(without_code(document))
    assert [line.split(" ")[0] for line in headings(shown)] == ["#", "##", "###", "##", "###"]
    assert "<h1>" not in shown.replace("\\<h1>", "")


def test_headings_in_a_quoted_text_are_escaped_but_code_is_left_alone() -> None:
    text = "before\n# Fake\n===\n```\n# comment\n```\nafter"
    document = markdown(export_of({"title": "x", "content": {"context": text}}))
    assert "> before\n> \\# Fake\n> \\===\n> ```\n> # comment\n> ```\n> after\n" in document


def test_the_document_has_a_section_for_each_category_and_every_field_by_name(project: Path) -> None:
    write_memory(
        project,
        "use-jwt",
        tags=["auth", "login"],
        triggers=["keep people signed in", "a"],
        content={"decision": "JWT", "rationale": ["no state", "fast"], "alternatives": [{"option": "cookies"}]},
        changes=[{"date": "2026-01-01", "summary": "made"}],
    )
    write_bank(
        project, "### Pattern: Cache\nCache things.\n- Keywords: speed\n- When: it is slow\n- Source: Feature #007\n"
    )
    assert markdown(gathered(project)).split("\n\n") == [
        "# Memories of shop",
        "## Decisions",
        "### Use-Jwt",
        "- **Path:** .claude/memory/decisions/use-jwt.json\n- **Record status:** active\n- **Id:** use-jwt\n"
        "- **Tags:** auth, login\n- **Triggers:** keep people signed in, a",
        "**Decision:** JWT",
        "**Rationale:**",
        "- no state\n- fast",
        "**Alternatives:**",
        "- Option: cookies",
        "**History:**",
        "- 2026-01-01: made",
        "## Patterns",
        "### Cache",
        f"- **Id:** {content_hash('Cache things.')}\n- **Confidence:** medium\n- **Observed:** once\n"
        "- **Found in:** project\n- **Keywords:** speed\n- **Triggers:** it is slow",
        "**Description:** Cache things.",
        "**Details:**",
        "> - Source: Feature #007\n",
    ]
