"""Checks and repairs of a store, past its protocol: for rebuild, uninstall and doctor."""

from recollect.store.sqlite.earlier import EarlierDatabase, count_earlier, is_own, read_earlier
from recollect.store.sqlite.look import StoreCopy, take_turn
from recollect.store.sqlite.rescue import is_damaged, read_sources, set_aside

__all__ = [
    "EarlierDatabase",
    "StoreCopy",
    "count_earlier",
    "is_damaged",
    "is_own",
    "read_earlier",
    "read_sources",
    "set_aside",
    "take_turn",
]
