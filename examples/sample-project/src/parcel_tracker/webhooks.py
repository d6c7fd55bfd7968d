"""Signed webhooks. Delivery is a single attempt for now; see docs/features/012-webhook-retries."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import logging
import queue
import time
import urllib.request

log = logging.getLogger(__name__)


def sign_payload(secret: bytes, timestamp: int, body: bytes) -> str:
    return "v1=" + hmac.new(secret, b"%d." % timestamp + body, hashlib.sha256).hexdigest()


def verify_signature(
    secret: bytes, timestamp: int, body: bytes, signature: str, now: float, tolerance: float = 300.0
) -> bool:
    """What a receiver runs: the signature must match and the timestamp must be recent."""
    expected = sign_payload(secret, timestamp, body)
    return abs(now - timestamp) <= tolerance and hmac.compare_digest(expected, signature)


class WebhookDispatcher:
    def __init__(self, url: str, secret: bytes, max_pending: int = 1000, timeout: float = 5.0):
        self.url, self.timeout, self._secret = url, timeout, secret
        self._pending: queue.Queue[dict] = queue.Queue(max_pending)

    def submit_event(self, event: dict) -> bool:
        """Queue an event; False if the queue is full. The event stays readable over the API."""
        try:
            self._pending.put_nowait(event)
        except queue.Full:
            log.warning("webhook queue full, not notifying event %s", event["event_id"])
            return False
        return True

    def deliver_event(self, event: dict) -> None:
        body, timestamp = json.dumps(event).encode(), int(time.time())
        headers = {
            "Content-Type": "application/json",
            "X-Parcel-Timestamp": str(timestamp),
            "X-Parcel-Signature": sign_payload(self._secret, timestamp, body),
        }
        request = urllib.request.Request(self.url, data=body, headers=headers, method="POST")
        urllib.request.urlopen(request, timeout=self.timeout).close()

    def deliver_forever(self) -> None:
        while True:
            event = self._pending.get()
            try:
                self.deliver_event(event)
            except (OSError, http.client.HTTPException) as err:  # HTTPError is an OSError
                log.warning("webhook for event %s failed: %r", event["event_id"], err)
