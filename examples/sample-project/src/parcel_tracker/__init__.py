"""parcel-tracker: carrier events in, a JSON API and signed webhooks out."""

from .carriers import CarrierClient, CarrierError, poll_carrier
from .config import CarrierConfig, load_carriers
from .retry import backoff_delays, is_transient
from .store import EventStore
from .webhooks import WebhookDispatcher, sign_payload, verify_signature

__all__ = [
    "CarrierClient",
    "CarrierConfig",
    "CarrierError",
    "EventStore",
    "WebhookDispatcher",
    "backoff_delays",
    "is_transient",
    "load_carriers",
    "poll_carrier",
    "sign_payload",
    "verify_signature",
]
