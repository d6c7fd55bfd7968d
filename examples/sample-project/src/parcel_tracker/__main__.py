"""python -m parcel_tracker CARRIERS_JSON DATABASE"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time

from .api import build_server
from .carriers import CarrierClient, CarrierError, poll_carrier
from .config import load_carriers
from .store import EventStore
from .webhooks import WebhookDispatcher

log = logging.getLogger("parcel_tracker")


def main() -> None:
    logging.basicConfig(level=logging.INFO)
    if len(sys.argv) != 3:
        sys.exit(f"usage: {__doc__}")
    clients = [CarrierClient(config) for config in load_carriers(sys.argv[1])]
    dispatcher = WebhookDispatcher(os.environ["WEBHOOK_URL"], os.environ["WEBHOOK_SECRET"].encode())
    with EventStore(sys.argv[2]) as store:
        for target in (build_server(sys.argv[2]).serve_forever, dispatcher.deliver_forever):
            threading.Thread(target=target, daemon=True).start()
        due = dict.fromkeys(clients, 0.0)
        while True:
            for client in clients:
                if time.monotonic() < due[client]:
                    continue
                try:
                    for event in poll_carrier(client, store):
                        dispatcher.submit_event(event)
                except CarrierError as err:
                    log.error("poll failed: %s", err)
                due[client] = time.monotonic() + client.config.poll_seconds
            time.sleep(1.0)


if __name__ == "__main__":
    main()
