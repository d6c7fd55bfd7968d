"""The status of a project while the packages are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.plugin.environment_status import bare_status


@pytest.mark.parametrize(("is_link", "told"), [(False, "1 entry in the project's bank"), (True, "0 entries in the")])
def test_a_bank_behind_a_link_out_of_the_project_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_link: bool, told: str
) -> None:
    docs = tmp_path / "project" / "docs"
    bank = (tmp_path / "elsewhere" if is_link else docs) / "knowledge-bank"
    bank.mkdir(parents=True)
    (bank / "patterns.md").write_text("### Pattern: One\nThe lesson.\n", encoding="utf-8")
    if is_link:
        docs.parent.mkdir()
        docs.symlink_to(bank.parent)
    (docs.parent / ".git").mkdir()
    monkeypatch.chdir(docs.parent)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "store"))
    assert told in bare_status(str(tmp_path / "data"), "")
