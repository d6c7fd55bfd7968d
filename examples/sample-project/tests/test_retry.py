import unittest

from parcel_tracker.retry import backoff_delays, retry_after_seconds


class BackoffTests(unittest.TestCase):
    def test_bound_doubles_up_to_the_cap(self):
        delays = list(backoff_delays(6, base=1.0, cap=5.0, rng=lambda: 1.0))
        self.assertEqual(delays, [1.0, 2.0, 4.0, 5.0, 5.0])

    def test_one_attempt_means_no_wait(self):
        self.assertEqual(list(backoff_delays(1)), [])

    def test_retry_after_is_limited_and_tolerant(self):
        self.assertEqual(retry_after_seconds("30"), 30.0)
        self.assertEqual(retry_after_seconds("86400", limit=300.0), 300.0)
        self.assertEqual(retry_after_seconds("Wed, 28 Oct 2026 07:28:00 GMT"), 0.0)


if __name__ == "__main__":
    unittest.main()
