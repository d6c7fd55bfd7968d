"""Carrier configuration. Everything that differs between carriers is data, not code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

EVENT_FIELDS = frozenset({"event_id", "tracking_number", "status", "occurred_at"})


@dataclass(frozen=True)
class CarrierConfig:
    name: str
    base_url: str
    token_env: str  # name of the environment variable, never the token itself
    poll_seconds: int
    events_key: str
    fields: dict[str, str]  # our field name -> the carrier's

    def normalise_event(self, raw: dict) -> dict:
        event = {ours: str(raw[theirs]) for ours, theirs in self.fields.items()}
        moment = datetime.fromisoformat(event["occurred_at"])
        if moment.tzinfo is None:
            raise ValueError("timestamp without an offset")
        event["occurred_at"] = moment.astimezone(timezone.utc).isoformat(timespec="seconds")
        return event


def load_carriers(path: str | Path) -> list[CarrierConfig]:
    """Read carriers.json; a wrong key, an incomplete mapping or a duplicate name is an error."""
    carriers = [CarrierConfig(**entry) for entry in json.loads(Path(path).read_text("utf-8"))]
    for carrier in carriers:
        if carrier.fields.keys() != EVENT_FIELDS:
            raise ValueError(f"{carrier.name}: fields must map exactly {sorted(EVENT_FIELDS)}")
    if len({carrier.name for carrier in carriers}) != len(carriers):
        raise ValueError("carrier names must be unique")
    return carriers
