"""Talking to carriers: one HTTP client, and the poll that feeds the store."""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request

from .config import CarrierConfig
from .retry import backoff_delays, is_transient, retry_after_seconds
from .store import EventStore


class CarrierError(Exception):
    def __init__(self, message: str, transient: bool, retry_after: float = 0.0):
        super().__init__(message)
        self.transient = transient
        self.retry_after = retry_after


class CarrierClient:
    def __init__(self, config: CarrierConfig, timeout: float = 10.0):
        self.config = config
        self.timeout = timeout

    def fetch_events(self, since: str) -> list[dict]:
        name, query = self.config.name, urllib.parse.urlencode({"since": since})
        headers = {"Authorization": f"Bearer {os.environ[self.config.token_env]}"}
        request = urllib.request.Request(f"{self.config.base_url}/events?{query}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                payload = json.load(response)
        except urllib.error.HTTPError as err:
            wait = retry_after_seconds(err.headers.get("Retry-After"))
            raise CarrierError(f"{name}: HTTP {err.code}", is_transient(err.code), wait) from err
        except (OSError, http.client.HTTPException, ValueError) as err:
            raise CarrierError(f"{name}: {err!r}", transient=True) from err
        # An error reported with status 200 must not pass for "nothing new".
        if not isinstance(payload, dict) or self.config.events_key not in payload:
            raise CarrierError(f"{name}: no {self.config.events_key!r} in answer", transient=True)
        try:
            return [self.config.normalise_event(raw) for raw in payload[self.config.events_key]]
        except (KeyError, TypeError, ValueError) as err:
            raise CarrierError(f"{name}: malformed event: {err!r}", transient=False) from err


def poll_carrier(
    client: CarrierClient, store: EventStore, attempts: int = 4, sleep=time.sleep
) -> list[dict]:
    """Fetch what the carrier has, store it, and return only the events that were new."""
    name, delays = client.config.name, backoff_delays(attempts)
    while True:
        try:
            return store.append_events(name, client.fetch_events(store.poll_since(name)))
        except CarrierError as err:
            delay = next(delays, None)
            if delay is None or not err.transient:
                raise
            sleep(max(delay, err.retry_after))
