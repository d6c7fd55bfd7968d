# hot
"""The extras of this package: what a server for the store, and providers of embeddings and of keywords need."""

from __future__ import annotations

import os
import sys

# For each extra the folder of its package among the installed ones, without its version, its module, and what to ask
# an installer for.
EXTRAS = {
    "anthropic": ("anthropic", "anthropic", "anthropic>=0.40,<2"),
    "gemini": ("google_genai", "google.genai", "google-genai>=1.0,<3"),
    "ollama": ("httpx", "httpx", "httpx>=0.27,<1"),
    "openai": ("openai", "openai", "openai>=1.40,<4"),
    "postgres": ("psycopg", "psycopg", "psycopg[binary]>=3.2,<4"),
    "voyage": ("voyageai", "voyageai", "voyageai>=0.3,<1"),
}

# No index of packages is named: what has our name there may be somebody else's.
AGAIN = "install recollect again from where you got it, in a clone of it by `pipx install --force .`"


def way_to_add(extra: str) -> str:
    """Return the advice for a missing extra: the command that adds its package to this environment.

    The plugin has an environment of its own, where pip adds nothing. One that uv has made has no pip.
    """
    if os.environ.get("CLAUDE_PLUGIN_DATA"):
        return "the plugin adds it in the background; `recollect doctor --fix` does it now, if you are online"
    from importlib.util import find_spec

    python = sys.executable or "python3"
    installer = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    return f"{installer} '{EXTRAS[extra][2]}'"
