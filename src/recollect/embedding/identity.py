"""The identity of the local model, which its vectors share. A session's start waits for this module."""

from __future__ import annotations

AUTO = "auto"
LOCAL_MODEL = "all-MiniLM-L6-v2"
LOCAL_IDENTITY = f"local/{LOCAL_MODEL}-int8-words"


def local_identity(model: str = AUTO) -> str:
    """Return the identity for a model of the local provider, also for one that does not exist."""
    return LOCAL_IDENTITY if model in (AUTO, "", LOCAL_MODEL) else f"local/{model}"
