import unittest

from parcel_tracker.webhooks import WebhookDispatcher, sign_payload, verify_signature

SECRET, BODY, AT = b"test-secret", '{"city": "Malmö"}'.encode(), 1_790_000_000


class SignatureTests(unittest.TestCase):
    def test_accepts_its_own_signature_and_no_other_body(self):
        signature = sign_payload(SECRET, AT, BODY)
        self.assertTrue(verify_signature(SECRET, AT, BODY, signature, now=AT + 10))
        self.assertFalse(verify_signature(SECRET, AT, BODY + b" ", signature, now=AT + 10))

    def test_rejects_a_replay(self):
        signature = sign_payload(SECRET, AT, BODY)
        self.assertFalse(verify_signature(SECRET, AT, BODY, signature, now=AT + 301))


class QueueTests(unittest.TestCase):
    def test_full_queue_refuses_instead_of_growing(self):
        dispatcher = WebhookDispatcher("http://127.0.0.1:9/", SECRET, max_pending=1)
        self.assertTrue(dispatcher.submit_event({"event_id": "1"}))
        with self.assertLogs("parcel_tracker.webhooks", "WARNING"):
            self.assertFalse(dispatcher.submit_event({"event_id": "2"}))


if __name__ == "__main__":
    unittest.main()
