"""Databases of the memory system before recollect, made by its own schema, for tests."""

from __future__ import annotations

import json
import re
import sqlite3
from array import array
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from recollect.domain.hashing import content_hash

_FTS_KEYWORDS = "REPLACE(REPLACE(REPLACE(REPLACE({0}.keywords, '[\"', ''), '\"]', ''), '\",\"', ' '), '\"', '')"
_NEW, _OLD = _FTS_KEYWORDS.format("new"), _FTS_KEYWORDS.format("old")
_ADD = f"""INSERT INTO entries_fts(rowid, name, description, keywords, reasoning)
    VALUES (new.rowid, new.name, new.description, {_NEW}, new.reasoning);"""
_REMOVE = f"""INSERT INTO entries_fts(entries_fts, rowid, name, description, keywords, reasoning)
    VALUES ('delete', old.rowid, old.name, old.description, {_OLD}, old.reasoning);"""
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS entries (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    reasoning TEXT,
    category TEXT NOT NULL CHECK(category IN ('anti-patterns', 'patterns', 'heuristics')),
    keywords TEXT,
    "references" TEXT,
    observation_count INTEGER DEFAULT 1,
    confidence TEXT DEFAULT 'medium' CHECK(confidence IN ('high', 'medium', 'low')),
    recall_count INTEGER DEFAULT 0,
    last_recalled_at TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    source TEXT NOT NULL CHECK(source IN ('retro', 'session-capture', 'manual', 'import')),
    source_project TEXT,
    embedding BLOB
);
CREATE VIRTUAL TABLE IF NOT EXISTS entries_fts USING fts5(
    name, description, keywords, reasoning, content='entries', content_rowid='rowid'
);
CREATE TRIGGER IF NOT EXISTS entries_ai AFTER INSERT ON entries BEGIN {_ADD} END;
CREATE TRIGGER IF NOT EXISTS entries_ad AFTER DELETE ON entries BEGIN {_REMOVE} END;
CREATE TRIGGER IF NOT EXISTS entries_au AFTER UPDATE ON entries BEGIN {_REMOVE} {_ADD} END;
CREATE TABLE IF NOT EXISTS _metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
ODD = re.sub(r" NOT NULL| CHECK\(.*?\)\)", "", SCHEMA)
GEMINI = {"embedding_provider": "gemini", "embedding_model": "gemini-embedding-001", "embedding_dimensions": "768"}


def row(name: str, description: str, **fields: Any) -> dict[str, Any]:
    """Return a row as that system wrote it."""
    return {
        "id": content_hash(description),
        "name": name,
        "description": description,
        "reasoning": "It cost us a day.",
        "category": "patterns",
        "keywords": json.dumps(["fts5", "sqlite"]),
        "references": json.dumps(["src/index.py"]),
        "observation_count": 3,
        "confidence": "high",
        "recall_count": 7,
        "last_recalled_at": "2026-03-01T10:00:00Z",
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-02-03T04:05:06Z",
        "source": "retro",
        "source_project": "shop-front",
        **fields,
    }


def vector(*numbers: float, dimensions: int = 768) -> bytes:
    return array("f", [*numbers, *[0.0] * (dimensions - len(numbers))]).tobytes()


def write_earlier(
    path: Path, rows: Iterable[Mapping[str, Any]], *, schema: str = SCHEMA, journal_mode: str = "WAL", **about: str
) -> Path:
    """Write a database by that system's schema, with the connection set up as it did."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode={journal_mode}")
        connection.executescript(schema)
        for each in rows:
            names = ", ".join(f'"{name}"' for name in each)
            marks = ", ".join("?" * len(each))
            connection.execute(f"INSERT INTO entries ({names}) VALUES ({marks})", list(each.values()))
        for key, value in {"schema_version": "1", **about}.items():
            connection.execute("INSERT INTO _metadata VALUES (?, ?)", (key, value))
        connection.commit()
    return path
