"""Charts as bars in percent, drawn on the server, each with a table of the same figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.domain.text import counted
from recollect.overview.latency import HookTimes
from recollect.sessions.stats import Stats


@dataclass(frozen=True)
class Bar:
    """A bar of a chart in percent of its height, a second one inside it, and what both say."""

    label: str
    height: float
    inner: float
    told: str


@dataclass(frozen=True)
class Chart:
    """A chart as bars, and the same as a table: each row begins with the label of its bar."""

    name: str
    title: str
    summary: str
    most: str  # the figure at the top of the scale
    bars: list[Bar]
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def is_empty(self) -> bool:
        return not any(bar.height for bar in self.bars)

    @property
    def has_inner(self) -> bool:
        return any(bar.inner for bar in self.bars)


def charts_of(stats: Stats, times: Sequence[HookTimes]) -> list[Chart]:
    """Return the charts: tokens a day, new entries by week, and the times of each hook."""
    given = sum(day.tokens for day in stats.days)
    made = sum(week.entries for week in stats.growth)
    return [
        _chart(
            "tokens",
            "Tokens given a day",
            f"About {given:,} tokens in the last {len(stats.days)} days, four characters each.",
            ("Day", "Tokens", "Sessions"),
            [(day.day, day.tokens, 0, day.sessions) for day in stats.days],
        ),
        _chart(
            "growth",
            "New entries by week",
            f"{counted(made, 'entry', 'entries')} in {len(stats.growth)} weeks, {stats.total.entries:,} in all.",
            ("Week from", "Entries"),
            [(week.name, week.entries, 0) for week in stats.growth],
        ),
        *(_hook_chart(each) for each in times),
    ]


def _hook_chart(hook: HookTimes) -> Chart:
    total = hook.total
    return _chart(
        f"hook-{total.name}",
        f"Time of the hook {total.name}",
        f"Half of {counted(total.count, 'call', 'calls')} took {total.median:,} ms or less, 95 % {total.most:,} ms or"
        " less, without the start of Python.",
        ("Day", "95 % within, ms", "Median, ms", "Calls"),
        [(day.name, day.most, day.median, day.median, day.count) for day in hook.days],
    )


def _chart(name: str, title: str, summary: str, head: Sequence[str], rows: Sequence[tuple[str | int, ...]]) -> Chart:
    """Return a chart of rows: a label, the height of the bar, that of the bar inside, and further cells."""
    most = max((int(row[1]) for row in rows), default=0)
    scale = 100 / most if most else 0.0
    table = [[str(row[0]), f"{row[1]:,}", *(f"{cell:,}" for cell in row[3:])] for row in rows]
    bars = [
        Bar(str(row[0]), int(row[1]) * scale, int(row[2]) * scale, f"{row[0]}: {', '.join(cells[1:])}")
        for row, cells in zip(rows, table, strict=True)
    ]
    return Chart(name, title, summary, f"{most:,}", bars, head, table)
