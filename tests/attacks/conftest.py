"""The table that `make attack` ends with, and SECURITY.md publishes."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line for each file of attacks: its tests, how often they tried, and how many failed."""
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for outcome in ("passed", "failed", "error"):
        for report in terminalreporter.getreports(outcome):
            if not hasattr(report, "user_properties"):
                continue  # a file that could not be read
            row = rows[Path(report.nodeid.partition("::")[0]).stem.removeprefix("test_").replace("_", " ")]
            row[0] += 1
            row[1] += sum(value for name, value in report.user_properties if name == "tried") or 1
            row[2] += outcome != "passed"
    terminalreporter.section("attack | tests | tries | failed")
    for name, (tests, tries, failed) in sorted(rows.items()):
        terminalreporter.write_line(f"| {name} | {tests:,} | {tries:,} | {failed:,} |")
    total = [sum(column) for column in zip(*rows.values(), strict=True)] or [0, 0, 0]
    terminalreporter.write_line("| **all** | {:,} | {:,} | {:,} |".format(*total))
