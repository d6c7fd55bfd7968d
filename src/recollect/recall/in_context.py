# hot
"""Find out whether a session has a text in its context anyway, from its client's instructions or memory."""

from __future__ import annotations

from recollect.config import locations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from recollect.config.workspace import Workspace
    from recollect.domain.entry import Entry
    from recollect.domain.triage.quoted import Known

# Limits: choices made again, and entries of one that are compared; no more of them fit into a block.
_ROUNDS = 4
_MOST_COMPARED = 400


class InContext:
    """The files that a client shows to each session of a workspace. They are read when first asked about."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: list[Known] | None = None
        self.left_out = 0  # how many entries the last choice was made without

    def has(self, text: str) -> bool:
        """Return True if one of the files has nearly all of a text, word for word."""
        from recollect.domain.triage.quoted import is_repeated  # imported late: most prompts find nothing

        if self._known is None:
            self._known = self._read()
        return is_repeated(text, self._known)

    def choose(
        self, chosen_without: Callable[[Collection[str]], list[Entry]], key: Callable[[Entry], str]
    ) -> list[Entry]:
        """Return the chosen entries that are not in the context.

        `chosen_without` makes the choice without some keys, so that others take the place of entries left out.
        """
        known: set[str] = set()
        chosen: list[Entry] = []
        for _ in range(_ROUNDS):
            chosen = chosen_without(known)
            repeated = {key(entry) for entry in chosen[:_MOST_COMPARED] if self.has(entry.description)}
            if not repeated:
                break
            known |= repeated
        self.left_out = len(known)
        return [entry for entry in chosen if key(entry) not in known]

    @property
    def status(self) -> str:
        """Return the part of the diagnostic line about entries left out; empty without any."""
        return f" | {self.left_out} left out, in context already" if self.left_out else ""

    def _read(self) -> list[Known]:
        from recollect.files.client.instructions import client_memory, project_instructions, user_instructions

        workspace = self._workspace
        folder = locations.claude_config(workspace.environment)
        found = [*project_instructions(workspace.project_root), *user_instructions(folder)]
        if locations.has_client_memory(workspace.environment):
            found += client_memory(folder, (workspace.identity, workspace.project_root))
        return found
