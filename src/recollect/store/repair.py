"""Checks and repairs of a store, past its protocol: for rebuild, uninstall and doctor."""

from recollect.store.sqlite.earlier import (
    EarlierDatabase,
    count_earlier,
    is_own,
    kept_copies,
    read_earlier,
    rescued_takeover,
)
from recollect.store.sqlite.look import StoreCopy, take_turn
from recollect.store.sqlite.rescue import is_damaged, read_sources, set_aside

__all__ = [
    "EarlierDatabase",
    "StoreCopy",
    "count_earlier",
    "is_damaged",
    "is_own",
    "kept_copies",
    "read_earlier",
    "read_sources",
    "rescued_takeover",
    "set_aside",
    "take_turn",
]
