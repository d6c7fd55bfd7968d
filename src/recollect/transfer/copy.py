"""A store copied to another place, named as the command line names it."""

from __future__ import annotations

from recollect.config.settings import has_password
from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import find_secret, redact
from recollect.domain.stored import STATUSES, StoredEntry
from recollect.domain.text import counted, cut, few
from recollect.engine.withhold import entry_texts
from recollect.errors import StoreError
from recollect.store.base import Store
from recollect.store.copy import Copy, Progress, copy_store, place_named, plan
from recollect.store.open import is_server
from recollect.store.values import Scope

__all__ = ["Copy", "Progress", "copy"]

_PAGE = 1_000
_MOST_NAMED = 5
_LONGEST_NAME = 60


def copy(
    workspace: Workspace, source: str, target: str, *, scope: str, anew: bool, dry_run: bool, progress: Progress
) -> Copy:
    """Copy a store to another place, there to a scope if one is named, or say what would be copied.

    Raises:
        StoreError: a place is no store, an entry with a credential would leave the machine, or the copy cannot be made.
    """
    if has_password(source) or has_password(target):
        raise StoreError("an address with a password is refused; give it by PGPASSWORD or ~/.pgpass")
    one, other = (place_named(name, workspace.store_place) for name in (source, target))
    if one.partition("#")[0] == other.partition("#")[0]:
        raise StoreError(f"{source} and {target} are the same store; name two")
    one = one.partition("#")[0]  # whoever's files it follows
    if scope and not is_server(other):
        raise StoreError(f"{target} has no scopes; leave --scope out")
    check = _check_secrets if is_server(other) and not is_server(one) else None
    if dry_run:
        return plan(one, other, check=check, scope=scope)
    return copy_store(one, other, anew=anew, progress=progress, check=check, scope=scope)


def _check_secrets(store: Store) -> None:
    """Raise StoreError if entries seem to hold credentials."""
    found: list[StoredEntry] = []
    seen, total = 0, 1
    while seen < total:
        page, total = store.page(Scope(None, (), STATUSES), _PAGE, seen)
        if not page:
            break
        found += [entry for entry in page if find_secret("\n".join(entry_texts(entry)))]
        seen += len(page)
    if found:
        entries = counted(len(found), "entry seems to hold a credential", "entries seem to hold credentials")
        named = ", ".join(few([f"{entry.id} {cut(redact(entry.name), _LONGEST_NAME)}" for entry in found], _MOST_NAMED))
        raise StoreError(
            f"{entries}, which must not leave this machine: {named};"
            " `recollect doctor --secrets` says where: take it out there, `recollect rebuild`, then copy again"
        )
