"""Write what is remembered as one page that needs neither a server nor a script."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from markupsafe import Markup

from recollect.config.workspace import Workspace
from recollect.files.textfile import write_bytes
from recollect.overview.report import Report, gather_report
from recollect.web.health import charts_of
from recollect.web.render import HERE, rendered


def export_page(workspace: Workspace, path: str, *, replace: bool = False) -> Report:
    """Write the page to a file, and return what is in it.

    Raises:
        StorageError: the file cannot be written, or is there already and not to be replaced.
        StoreError: the store cannot be read.
    """
    report = gather_report(workspace)
    with open(os.path.join(HERE, "static", "style.css"), encoding="utf-8") as file:
        style = Markup(file.read())  # noqa: S704 (our own file)
    page = rendered(
        "export.html",
        report=report,
        charts=charts_of(report.stats, report.times),
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        style=style,
    )
    write_bytes(path, page.encode(), replace=replace)
    return report
