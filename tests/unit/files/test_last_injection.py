import json
import os
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.entry import Entry
from recollect.domain.text import visible
from recollect.errors import StorageError
from recollect.files.session.last_injection import NAME, write_last_injection


def make(name: str, category: str = "patterns", origin: str = "local") -> Entry:
    return Entry(category=category, name=name, description="text", origin=origin)


def test_the_record_has_the_form_of_the_specification(tmp_path: Path) -> None:
    write_last_injection(
        str(tmp_path),
        "my-ai-setup",
        [
            make("Over-Granular Tasks", "anti-patterns"),
            make("Read Before Write", "heuristics", "global"),
            make("Thin Orchestrator"),
        ],
    )
    record = json.loads((tmp_path / ".last-injection.json").read_text(encoding="utf-8"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record.pop("timestamp"))
    assert record == {
        "project": "my-ai-setup",
        "entries_injected": 3,
        "sources": {"local": 2, "global": 1},
        "entry_names": [
            "Anti-Pattern: Over-Granular Tasks",
            "Heuristic: Read Before Write",
            "Pattern: Thin Orchestrator",
        ],
    }


def test_the_record_replaces_the_one_before_and_leaves_nothing_else(tmp_path: Path) -> None:
    write_last_injection(str(tmp_path), "first", [make("A"), make("B")])
    write_last_injection(str(tmp_path), "second", [make("C")])
    record = json.loads((tmp_path / NAME).read_text(encoding="utf-8"))
    assert (record["project"], record["entry_names"]) == ("second", ["Pattern: C"])
    assert os.listdir(tmp_path) == [NAME]


def test_the_record_of_nothing_is_valid(tmp_path: Path) -> None:
    write_last_injection(str(tmp_path), "p", [])
    record = json.loads((tmp_path / NAME).read_text(encoding="utf-8"))
    assert (record["entries_injected"], record["entry_names"]) == (0, [])


def test_the_folder_is_made_when_it_is_missing(tmp_path: Path) -> None:
    write_last_injection(str(tmp_path / "a" / "b"), "p", [make("A")])
    assert os.listdir(tmp_path / "a" / "b") == [NAME]


@settings(deadline=None)
@given(st.text(st.characters()), st.lists(st.text(st.characters()), max_size=4))
def test_the_record_is_valid_for_any_names(project: str, names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_last_injection(folder, project, [make(name) for name in names])
        record = json.loads(Path(folder, NAME).read_text(encoding="utf-8"))
    assert record["project"] == visible(project)
    assert record["entry_names"] == [visible(f"Pattern: {name}") for name in names]


def test_a_record_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept", encoding="utf-8")
    with pytest.raises(StorageError, match=re.escape(NAME)):
        write_last_injection(str(tmp_path / "file"), "p", [make("A")])
    assert (tmp_path / "file").read_text(encoding="utf-8") == "kept"
