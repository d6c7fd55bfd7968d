"""Where things live. Nothing else in the package spells these paths."""

from __future__ import annotations

import os

BANK = os.path.join("docs", "knowledge-bank")
LOCAL_SETTINGS = os.path.join(".claude", "iflow-dev.local.md")
PROJECT_SETTINGS = os.path.join(".claude", "memory", "memory-config.json")

HOME_VARIABLE = "RECOLLECT_HOME"


def global_store() -> str:
    """The folder of what is known in every project: RECOLLECT_HOME, or the place where banks have always been.

    A relative one is relative to the home folder, because it must be the same everywhere.
    """
    place = os.environ.get(HOME_VARIABLE, "").strip() or os.path.join(".claude", "iflow", "memory")
    return os.path.normpath(os.path.join(home(), os.path.expanduser(place)))


def home() -> str:
    """The user's home, also when HOME is set to nothing."""
    if os.environ.get("HOME") == "":
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    return os.path.expanduser("~")


def bank(project_root: str) -> str:
    return os.path.join(project_root, BANK)


def database(store: str) -> str:
    return os.path.join(store, "memory.db")


def journal(store: str) -> str:
    return os.path.join(store, "session-captures.jsonl")
