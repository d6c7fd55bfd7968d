# hot
"""The extras of this package: what a server for the store, and providers of embeddings and of keywords need."""

from __future__ import annotations

import os

# For each extra the folder of its package among the installed ones, without its version, and its module.
EXTRAS = {
    "anthropic": ("anthropic", "anthropic"),
    "gemini": ("google_genai", "google.genai"),
    "ollama": ("httpx", "httpx"),
    "openai": ("openai", "openai"),
    "postgres": ("psycopg", "psycopg"),
    "voyage": ("voyageai", "voyageai"),
}

# No index of packages is named: what has our name there may be somebody else's.
AGAIN = "install recollect again from where you got it, in a clone of it by `pipx install --force .`"


def way_to_add(extra: str) -> str:
    """Return the advice for a missing extra. The plugin has an environment of its own, where pip adds nothing."""
    if os.environ.get("CLAUDE_PLUGIN_DATA"):
        return "the plugin adds it in the background; `recollect doctor --fix` does it now, if you are online"
    return f"pip install 'recollect[{extra}]'"
