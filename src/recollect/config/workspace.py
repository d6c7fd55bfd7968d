# hot
"""The common argument of the use cases: a project with its settings, and the global store."""

from __future__ import annotations

import os

from recollect.config import locations, project
from recollect.config.settings import load_settings
from recollect.errors import WriteRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recollect.config.settings import Settings
    from recollect.domain.shared.acting import Acting
    from recollect.files.memory.memories import MemoryRoot


class Workspace:
    """A project's root and settings, and the global store shared by all projects.

    Everything is computed on first use and kept, so a server makes a new workspace for each call.
    """

    def __init__(
        self,
        project_root: str,
        global_store: str,
        settings: Settings | None = None,
        *,
        load: Callable[[str], Settings] = load_settings,
        environment: Mapping[str, str] | None = None,
        folder: str = "",
    ) -> None:
        """Make a workspace with the given settings; without them, `load` is called when they are needed.

        `environment` has the variables of the session's process; without it, they are those of this process. `folder`
        is the session's own, at or below the project's root.
        """
        self.project_root = project_root
        self.global_store = global_store
        self._settings = settings
        self._load = load
        self.environment = environment
        self.folder = folder
        self._acting: Acting | None = None
        self._identity = ""
        self._package: str | None = None
        self._vouched: dict[str, bool] = {}
        self._memory_root: MemoryRoot | None = None

    @property
    def settings(self) -> Settings:
        if self._settings is None:
            self._settings = self._load(self.project_root)
        return self._settings

    @property
    def identity(self) -> str:
        """Return the folder identifying the project, the same for all its worktrees; empty without a project."""
        if not self._identity and self.project_root:
            self._identity = project.identity(self.project_root)
        return self._identity

    @property
    def memories(self) -> str:
        """Return the owner of the project's memories in the store: its identity, or a worktree with its own."""
        if self.identity in ("", os.path.realpath(self.project_root)) or not project.is_checkout(self.identity):
            return self.identity
        try:
            return self.memory_root().project
        except WriteRefused:
            return self.identity

    @property
    def name(self) -> str:
        """Return the project's name, the same for all its worktrees."""
        return project.name(self.identity)

    @property
    def package(self) -> str:
        """Return the package of a monorepo that the session works in, relative to the root; empty at the root."""
        if self._package is None:
            has_both = self.folder and self.project_root
            self._package = project.package(self.project_root, self.folder) if has_both else ""
        return self._package

    @property
    def is_vouched(self) -> bool:
        """Return True if the user has vouched for the project's repository, so that its text is given as it is."""
        return self._vouches_for(os.path.realpath(self.project_root)) if self.project_root else False

    @property
    def trust(self) -> str:
        """Return the user's answer about the project's repository, as `config.trust` names it."""
        from recollect.config import trust

        return trust.trust_of(os.path.realpath(self.project_root), self.global_store, self.environment)

    def vouches_for(self, owner: str) -> bool:
        """Return True if the user has vouched for the repository that an entry of the store belongs to."""
        if self.acting:
            return False
        return self.is_vouched if owner == self.identity else self._vouches_for(owner)

    def _vouches_for(self, folder: str) -> bool:
        if folder not in self._vouched:
            from recollect.config import trust  # imported late: most prompts get nothing

            self._vouched[folder] = trust.is_vouched(folder, self.global_store, self.environment)
        return self._vouched[folder]

    def vouch(self) -> None:
        """Take the project's repository for vouched for: somebody has named its folder to have it read."""
        self._vouched[os.path.realpath(self.project_root)] = True

    @property
    def bank(self) -> str:
        """Return the folder of the project's knowledge bank."""
        return locations.bank(self.project_root)

    @property
    def is_on_server(self) -> bool:
        """Return True if the store is on a server, so that several may use it at once."""
        return not self.settings.is_default("memory_store")

    @property
    def acting(self) -> Acting | None:
        """Return for whom a store on a server is used, and in which scope; None if it may follow files."""
        if self._acting is None and self.is_on_server and not self.settings.is_default("memory_scope"):
            from recollect.domain.shared.acting import Acting

            scope = self.settings.text("memory_scope")
            self._acting = Acting("", "" if scope == "personal" else scope)
        return self._acting

    @property
    def store_place(self) -> str:
        """Return the place of the store, as store/open takes it: the global store, or the address of a server.

        After marks, the address names a replica, and the global store if the store may follow its files.
        """
        if not self.is_on_server:
            return self.global_store
        name = "memory_store_replica"
        replica = "" if self.settings.is_default(name) else f"#{self.settings.text(name)}"
        files = "" if self.acting else f"#{os.path.realpath(self.global_store)}"
        return f"{self.settings.text('memory_store')}{replica}{files}"

    @property
    def journal(self) -> str:
        return locations.journal(self.global_store)

    def memory_root(self) -> MemoryRoot:
        """Return the project's memory root.

        Raises:
            WriteRefused: its place is not allowed, or two categories share a folder.
        """
        if self._memory_root is None:
            from recollect.config.memory_root import memory_root  # imported late: not every hook needs it
            from recollect.files.memory.written import WrittenHere

            written = WrittenHere(self.global_store)
            self._memory_root = memory_root(self.project_root, self.settings, written, lambda: self.is_vouched)
        return self._memory_root

    def acting_for(self, acting: Acting) -> Workspace:
        """Return a workspace for a user of this process: without a project, and without files of this machine."""
        other = Workspace("", self.global_store, self.settings)
        other._acting = acting
        return other

    def reloaded(self) -> Workspace:
        """Return a new workspace for the same places, to see changed settings."""
        return Workspace(self.project_root, self.global_store)


def load_workspace(folder: str, global_store: str = "", environment: Mapping[str, str] | None = None) -> Workspace:
    """Return the workspace of the project around a folder; `environment` takes the place of this process's."""
    root = project.find_root(folder)
    settings = None if environment is None else load_settings(root, environment)
    store = global_store or locations.global_store()
    return Workspace(root, store, settings, environment=environment, folder=folder)
