"""A store copied to another place, named as the command line names it."""

from __future__ import annotations

from recollect.config.settings import has_password
from recollect.config.workspace import Workspace
from recollect.errors import StoreError
from recollect.store.copy import Copy, Progress, copy_store, place_named, plan
from recollect.store.open import is_server

__all__ = ["Copy", "Progress", "copy"]


def copy(
    workspace: Workspace, source: str, target: str, *, scope: str, anew: bool, dry_run: bool, progress: Progress
) -> Copy:
    """Copy a store to another place, there to a scope if one is named, or say what would be copied.

    Raises:
        StoreError: a place is no store, or the copy cannot be made.
    """
    if has_password(source) or has_password(target):
        raise StoreError("an address with a password is refused; give it by PGPASSWORD or ~/.pgpass")
    one, other = (place_named(name, workspace.store_place) for name in (source, target))
    if one.partition("#")[0] == other.partition("#")[0]:
        raise StoreError(f"{source} and {target} are the same store; name two")
    one = one.partition("#")[0]  # whoever's files it follows
    if scope and not is_server(other):
        raise StoreError(f"{target} has no scopes; leave --scope out")
    if dry_run:
        return plan(one, other, scope=scope)
    return copy_store(one, other, anew=anew, progress=progress, scope=scope)
