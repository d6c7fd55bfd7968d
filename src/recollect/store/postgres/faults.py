"""Errors of the PostgreSQL driver as sentences with advice. All of them are translated here."""

from __future__ import annotations

import psycopg
from psycopg import errors

from recollect.domain.text import one_line
from recollect.errors import StoreConflict, StoreError
from recollect.store.postgres.raw import Hanging

# What tells that a transaction was undone for another one, and may be run again.
_CONFLICTS = (errors.DeadlockDetected, errors.SerializationFailure)

REFUSED = "RC001"  # the state of what our own functions refuse, with their sentence
_UNREACHABLE = ("08", "28", "3D", "53", "57")  # the beginnings of states: connection, login, database, server

# What libpq says about encryption, which has no state of its own.
_ENCRYPTION = (
    ("does not support SSL", "turn TLS on there, or ask for less with sslmode in the address if you trust the network"),
    *(
        (
            word,
            "the server does not prove that it is the one in the address, so nothing was sent; name the file of its"
            " authority with sslrootcert and the host of its certificate in the address, or let it be renewed",
        )
        for word in ("certificate verify failed", "does not match host name", "root certificate file")
    ),
)


# What a server says that runs, and does not let somebody in so. The driver knows no state of it.
_NOT_LET_IN = (
    "authentication failed",
    "no password supplied",
    "does not exist",
    "no pg_hba.conf entry",
    "not permitted",
)


def explained(
    error: Exception, name: str, *, limit: float, patience: float = 0.0, user: str = "USER", group: str = ""
) -> StoreError:
    """Return a StoreError with advice for an error of the server `name`."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, psycopg.Error) and error.sqlstate == REFUSED:
        return StoreError(f"{error.diag.message_primary}; {error.diag.message_hint}")
    hints = (
        (
            errors.LockNotAvailable,
            f"another process has been writing to it for all of {patience:g} s; try again",
        ),
        (
            (errors.QueryCanceled, Hanging),
            f"it did not answer in {limit:g} s; try again, or see what the server does (pg_stat_activity)",
        ),
        (
            errors.ReadOnlySqlTransaction,
            "the server takes no writes now; try again later, or name the primary server in the address",
        ),
        (errors.DiskFull, "make room on the disk of the server"),
        (
            errors.InsufficientPrivilege,
            f"its owner lets you in with: GRANT {group or 'recollect_member'} TO {user}"
            " (`recollect team init` makes the group)",
        ),
    )
    told = f"cannot use {name}: {_first_line(error)}"
    if isinstance(error, _CONFLICTS):
        return StoreConflict(f"{told}: another client was in the way")
    for kinds, hint in hints:
        if isinstance(error, kinds):
            return StoreError(f"{told}; {hint}")
    for word, hint in _ENCRYPTION:
        if word in told:
            return StoreError(f"{told}; {hint}")
    return StoreError(f"{told}; {_lost(error, told) or '`recollect doctor` says more'}")


def _lost(error: Exception, told: str) -> str:
    """Return what to do about a server that cannot be reached, or does not let somebody in; empty for other errors."""
    is_lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    if not is_lost or (error.sqlstate is not None and error.sqlstate[:2] not in _UNREACHABLE):
        return ""
    if any(word in told for word in _NOT_LET_IN):
        return "the server runs; check the login in the address, and the password in PGPASSWORD or ~/.pgpass"
    return "check that the server runs, and its name and port in the address"


def _first_line(error: Exception) -> str:
    return one_line((str(error).strip().splitlines() or [type(error).__name__])[0])
