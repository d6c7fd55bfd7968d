"""The environment that the plugin builds for itself."""

from __future__ import annotations


def complete() -> None:
    """Make sure that the packages commands need are there."""
