# hot
"""The extras that the settings need."""

from __future__ import annotations

import os

from recollect.config.locations import team_state
from recollect.extras import EXTRAS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.config.settings import Settings

# The values of memory_keyword_provider for one provider. `auto` uses what is there.
_LABELLING = {"anthropic": "anthropic", "claude-api": "anthropic", "haiku": "anthropic", "ollama": "ollama"}


def needed_extras(settings: Settings, global_store: str = "") -> list[str]:
    """Return the extras for the store, for a team, and for the providers of embeddings and of keywords."""
    providers: set[str] = set()
    if settings.flag("memory_semantic_enabled") and settings.flag("memory_embedding_enabled"):
        providers.add(settings.text("memory_embedding_provider"))
    if settings.flag("memory_keyword_generation"):
        providers.add(_LABELLING.get(settings.text("memory_keyword_provider"), ""))
    is_joined = bool(global_store) and os.path.exists(team_state(global_store))
    if is_joined or not settings.is_default("memory_store"):
        providers.add("postgres")
    return sorted(providers.intersection(EXTRAS))
