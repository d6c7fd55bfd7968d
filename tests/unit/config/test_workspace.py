"""A workspace computes what it is asked for, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.config import project
from recollect.config.settings import Settings, load_settings
from recollect.config.workspace import Workspace, load_workspace


def test_settings_are_loaded_when_they_are_needed_and_once(tmp_path: Path) -> None:
    loaded: list[str] = []

    def load(root: str) -> Settings:
        loaded.append(root)
        return load_settings(root, {})

    workspace = Workspace(str(tmp_path), "store", load=load)
    assert loaded == []
    assert workspace.settings is workspace.settings
    assert loaded == [str(tmp_path)]


def test_identity_and_memory_root_are_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(str(tmp_path), "store", load_settings(str(tmp_path), {}))
    first, root = workspace.identity, workspace.memory_root()
    monkeypatch.setattr(project, "identity", lambda _root: pytest.fail("it is known"))
    assert (workspace.identity, workspace.name) == (first, tmp_path.name)
    assert workspace.memory_root() is root


def test_without_a_project_there_is_no_identity() -> None:
    assert Workspace("", "store").identity == ""


def test_reloaded_workspace_sees_changed_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = load_workspace(str(tmp_path), "store")
    assert workspace.settings.whole("memory_injection_limit") != 3
    monkeypatch.setenv("RECOLLECT_MEMORY_INJECTION_LIMIT", "3")
    assert workspace.settings.whole("memory_injection_limit") != 3
    assert workspace.reloaded().settings.whole("memory_injection_limit") == 3


def test_environment_of_a_client_takes_the_place_of_ours(tmp_path: Path) -> None:
    workspace = load_workspace(str(tmp_path), "store", {"RECOLLECT_MEMORY_INJECTION_LIMIT": "4"})
    assert workspace.settings.whole("memory_injection_limit") == 4
