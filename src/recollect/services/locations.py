"""Where things live. Nothing else in the package spells these paths."""

from __future__ import annotations

import os

BANK = os.path.join("docs", "knowledge-bank")
LOCAL_SETTINGS = os.path.join(".claude", "iflow-dev.local.md")
PROJECT_SETTINGS = os.path.join(".claude", "memory", "memory-config.json")

HOME_VARIABLE = "RECOLLECT_HOME"


def global_store() -> str:
    """The folder of what is known in every project: RECOLLECT_HOME, or the place where banks have always been."""
    home = os.environ.get(HOME_VARIABLE, "").strip()
    return os.path.abspath(os.path.expanduser(home or os.path.join("~", ".claude", "iflow", "memory")))


def bank(project_root: str) -> str:
    return os.path.join(project_root, BANK)
