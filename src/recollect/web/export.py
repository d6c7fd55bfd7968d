"""Write a report as one page for a file, without a server."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from markupsafe import Markup

from recollect.overview.report import Report
from recollect.web.charts import charts_of
from recollect.web.render import HERE, rendered


def export_html(report: Report) -> str:
    """Return a page with all of a report that needs neither a server nor a script."""
    with open(os.path.join(HERE, "static", "style.css"), encoding="utf-8") as file:
        style = Markup(file.read())  # noqa: S704 (our own file)
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    charts = charts_of(report.stats, report.times)
    return rendered("export.html", report=report, charts=charts, made=made, style=style)
