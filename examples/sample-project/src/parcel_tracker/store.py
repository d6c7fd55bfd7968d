"""Event storage on SQLite. One connection per EventStore; do not share one between threads."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

_OVERLAP = timedelta(hours=6)  # carriers publish some events late; repeats are dropped on insert
_FIRST_POLL = "2026-01-01T00:00:00+00:00"  # we have no parcels older than this
_SCHEMA_STEPS = (
    """CREATE TABLE events (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, carrier TEXT NOT NULL, event_id TEXT NOT NULL,
        tracking_number TEXT NOT NULL, status TEXT NOT NULL, occurred_at TEXT NOT NULL,
        UNIQUE (carrier, event_id))""",
    "CREATE INDEX events_by_parcel ON events (tracking_number, seq)",
    "CREATE INDEX events_by_time ON events (carrier, occurred_at)",
)
_INSERT = """INSERT INTO events (carrier, event_id, tracking_number, status, occurred_at)
    VALUES (:carrier, :event_id, :tracking_number, :status, :occurred_at)
    ON CONFLICT (carrier, event_id) DO NOTHING"""


class EventStore:
    def __init__(self, path: str):
        self._db = sqlite3.connect(path, timeout=5.0, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode = WAL")
        if self._schema_version() < len(_SCHEMA_STEPS):
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")  # lock first, then look again
                for step in _SCHEMA_STEPS[self._schema_version():]:
                    self._db.execute(step)
                self._db.execute(f"PRAGMA user_version = {len(_SCHEMA_STEPS)}")

    def __enter__(self) -> EventStore:
        return self

    def __exit__(self, *exc_info) -> None:
        self._db.close()

    def _schema_version(self) -> int:
        return self._db.execute("PRAGMA user_version").fetchone()[0]

    def append_events(self, carrier: str, events: list[dict]) -> list[dict]:
        rows = [{"carrier": carrier, **event} for event in events]
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            return [row for row in rows if self._db.execute(_INSERT, row).rowcount == 1]

    def poll_since(self, carrier: str) -> str:
        query = "SELECT max(occurred_at) FROM events WHERE carrier = ?"
        latest = self._db.execute(query, (carrier,)).fetchone()[0]
        return (datetime.fromisoformat(latest or _FIRST_POLL) - _OVERLAP).isoformat()

    def events_after(self, seq: int, tracking_number: str | None, limit: int) -> list[dict]:
        where, values = "seq > ?", [seq]
        if tracking_number:
            where, values = "seq > ? AND tracking_number = ?", [seq, tracking_number]
        query = f"SELECT * FROM events WHERE {where} ORDER BY seq LIMIT ?"
        return [dict(row) for row in self._db.execute(query, [*values, limit])]
