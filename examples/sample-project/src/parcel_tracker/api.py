"""Read-only JSON API: GET /v2/events and GET /healthz."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from .store import EventStore

MAX_PAGE = 500


class EventsHandler(BaseHTTPRequestHandler):
    db_path: str

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/healthz":
            self._send_json(200, {"ok": True})
        elif url.path == "/v2/events":
            self._send_events(dict(parse_qsl(url.query)))
        else:
            self._send_json(404, {"error": "not found"})

    def _send_events(self, query: dict[str, str]) -> None:
        try:
            after = int(query.get("after", "0"))
            limit = max(1, min(MAX_PAGE, int(query.get("limit", "100"))))
        except ValueError:
            self._send_json(400, {"error": "after and limit must be integers"})
            return
        with EventStore(self.db_path) as store:  # a connection per request thread
            events = store.events_after(after, query.get("tracking_number"), limit)
        self._send_json(200, {"events": events, "next": events[-1]["seq"] if events else after})

    def _send_json(self, status: int, value: dict) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def build_server(db_path: str, host: str = "127.0.0.1", port: int = 8080) -> ThreadingHTTPServer:
    handler = type("BoundEventsHandler", (EventsHandler,), {"db_path": db_path})
    return ThreadingHTTPServer((host, port), handler)
