"""Check the small files beside the store: that they can be read, and have no date in the future."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator

from recollect.config.locations import LEDGER
from recollect.doctor.case import OK, WARNING, Case, Finding
from recollect.errors import StorageError
from recollect.files.log import NAME as LOG
from recollect.files.session.last_injection import NAME as LAST_INJECTION
from recollect.files.textfile import read_text
from recollect.store.open import store_files

_MAX_BYTES = 16 * 1024 * 1024
_AHEAD = 86_400  # in seconds: smaller differences occur between machines with a shared folder

# The loss if each is damaged, and how it is written again.
_RECORDS = {
    LAST_INJECTION: "what the newest session was given is not known; the next session writes it again",
    LEDGER: "what was promoted is not known, and is looked at again; the next promotion writes it again",
}


def records(case: Case) -> Iterator[Finding]:
    """Check that recollect's own records can be read."""
    damaged = False
    for name, told in _RECORDS.items():
        path = os.path.join(case.workspace.global_store, name)
        try:
            text = read_text(path, _MAX_BYTES)
            if text:
                json.loads(text)
        except (StorageError, ValueError, RecursionError):
            damaged = True
            yield Finding(WARNING, "Records", f"{path} is damaged: {told}", "nothing, or remove it")
    if not damaged:
        yield Finding(OK, "Records", "those of the last session and of promotions can be read")


def clock(case: Case) -> Iterator[Finding]:
    """Check whether the clock was set back. If so, no memory expires by age until it has caught up."""
    now = time.time()
    store = case.workspace.global_store
    dated = (case.workspace.journal, *store_files(store), os.path.join(store, LOG))
    newest, path = max((_written(path), path) for path in dated)
    if newest > now + _AHEAD:
        told = f"it is {_moment(now)} by the clock, but {path} was written {_moment(newest)}: the clock was set back"
        yield Finding(WARNING, "Clock", told, "set the clock; nothing is lost, and nothing is put away until then")
    else:
        yield Finding(OK, "Clock", f"{_moment(now)}; nothing was written later")


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))
