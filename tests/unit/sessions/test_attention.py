"""Notices of the log: the kind of a line decides, and no wording."""

from __future__ import annotations

from pathlib import Path

from recollect.files.log import NAME, WITHOUT_RESIDENT, log
from recollect.recall.deferred import DeferredWrites
from recollect.sessions.attention import log_notes


def test_lines_about_a_session_start_and_a_slow_resident_are_not_noted(tmp_path: Path) -> None:
    log(str(tmp_path), "session-start", "markdown alone has to do")
    log(str(tmp_path), WITHOUT_RESIDENT, "prompt: the resident took too long")
    assert log_notes(str(tmp_path), DeferredWrites()) == ""
    log(str(tmp_path), "stop", f"{WITHOUT_RESIDENT}: no room")
    assert f"(stop: {WITHOUT_RESIDENT}: no room)" in log_notes(str(tmp_path), DeferredWrites())


def test_lines_of_another_form_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("garbage\n2999-01-01T00:00:00Z no kind\n2999-01-01T00:00:00Z \n", encoding="utf-8")
    assert "no kind" in log_notes(str(tmp_path), DeferredWrites())
