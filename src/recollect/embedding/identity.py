# hot
"""The identity of the local model, which its vectors share. A session's start waits for this module."""

from __future__ import annotations

import os
import sys

# The packages that the local model needs.
PACKAGES = ("numpy", "onnxruntime", "tokenizers")

AUTO = "auto"
LOCAL_MODEL = "all-MiniLM-L6-v2"
LOCAL_IDENTITY = f"local/{LOCAL_MODEL}-int8-words"


def local_identity(model: str = AUTO) -> str:
    """Return the identity for a model of the local provider, also for one that does not exist."""
    return LOCAL_IDENTITY if model in (AUTO, "", LOCAL_MODEL) else f"local/{model}"


def lacks_package() -> bool:
    """Return True if a package of the local model may be missing: it is in no folder that modules come from."""
    return not all(map(_is_there, PACKAGES))


def _is_there(package: str) -> bool:
    if package in sys.modules:
        return bool(sys.modules[package])
    return any(os.path.isdir(os.path.join(folder, package)) for folder in sys.path)
