"""The project and the global store of a server."""

from __future__ import annotations


class Workspace:
    """A project's root, and the global store shared by all projects."""

    __slots__ = ("global_store", "project_root")

    def __init__(self, project_root: str, global_store: str) -> None:
        self.project_root = project_root
        self.global_store = global_store
