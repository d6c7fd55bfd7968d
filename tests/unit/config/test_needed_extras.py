from __future__ import annotations

from pathlib import Path

import pytest

from recollect.config.needed_extras import needed_extras
from recollect.config.settings import load_settings


@pytest.mark.parametrize(
    ("variables", "needed"),
    [
        ({}, []),
        ({"EMBEDDING_PROVIDER": "local", "KEYWORD_PROVIDER": "rules"}, []),
        ({"EMBEDDING_PROVIDER": "gemini"}, ["gemini"]),
        ({"EMBEDDING_PROVIDER": "openai"}, ["openai"]),
        ({"EMBEDDING_PROVIDER": "voyage"}, ["voyage"]),
        ({"EMBEDDING_PROVIDER": "ollama", "KEYWORD_PROVIDER": "ollama"}, ["ollama"]),
        ({"EMBEDDING_PROVIDER": "voyage", "KEYWORD_PROVIDER": "claude-api"}, ["anthropic", "voyage"]),
        ({"EMBEDDING_PROVIDER": "ollama", "EMBEDDING_ENABLED": "false"}, []),
        ({"EMBEDDING_PROVIDER": "ollama", "SEMANTIC_ENABLED": "false"}, []),
        ({"KEYWORD_PROVIDER": "anthropic", "KEYWORD_GENERATION": "false"}, []),
    ],
)
def test_extras_are_those_of_the_providers_in_use(tmp_path: Path, variables: dict[str, str], needed: list[str]) -> None:
    environ = {f"RECOLLECT_MEMORY_{name}": value for name, value in variables.items()}
    assert needed_extras(load_settings(str(tmp_path), environ)) == needed


def test_a_team_that_was_joined_needs_the_driver_of_its_server(tmp_path: Path) -> None:
    settings = load_settings(str(tmp_path), {})
    assert needed_extras(settings, str(tmp_path)) == []
    (tmp_path / "team.json").write_text("{}", encoding="utf-8")
    assert needed_extras(settings, str(tmp_path)) == ["postgres"]
