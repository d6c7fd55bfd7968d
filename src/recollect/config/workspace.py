"""Which memories a server serves."""

from __future__ import annotations


class Workspace:
    """A project, and the folder of what is known in every project."""

    __slots__ = ("global_store", "project_root")

    def __init__(self, project_root: str, global_store: str) -> None:
        self.project_root = project_root
        self.global_store = global_store
