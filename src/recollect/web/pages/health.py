"""Health: what the doctor finds and can mend, growth, the time of hooks, and the settings."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import Response

from recollect.config.settings import DEFAULT, Settings
from recollect.config.settings_edit import complaints, known_key
from recollect.config.settings_keys import KEYS, Key, as_text
from recollect.doctor.run import CHECKS, ERROR, OK, WARNING, Finding, examine, examine_each, repair
from recollect.domain.text import counted
from recollect.errors import InvalidSetting
from recollect.overview.latency import latency
from recollect.plugin.change_setting import change_setting
from recollect.sessions.stats import stats_of
from recollect.web.call import Call
from recollect.web.charts import charts_of

_LEVELS = (ERROR, WARNING, OK)
_GROUPS = {
    "memory": "Memory",
    "retrieval": "Recall at prompts",
    "triage": "Capture at a stop",
    "categories": "Categories",
    "": "Others",
}


@dataclass(frozen=True)
class Setting:
    """A setting as it is shown, and whether it can be changed here."""

    key: Key
    value: str
    source: str
    is_editable: bool

    @property
    def is_default(self) -> bool:
        return self.source == DEFAULT

    @property
    def options(self) -> Sequence[str]:
        """Return the values to choose from; none if it is written."""
        if self.key.kind is bool:
            return ("true", "false")
        return () if self.key.kind is tuple else self.key.choices


def show(call: Call) -> Response:
    """Show the settings; findings and charts take longer and come after the page."""
    settings = call.site.workspace().settings
    shown = [_setting(settings, key) for key in KEYS]
    groups = {label: [each for each in shown if _group_of(each) == name] for name, label in _GROUPS.items()}
    changed = [each for each in shown if not each.is_default]
    return call.page(
        "health.html", groups=groups, changed=changed, problems=complaints(settings), after=call.asked("after")[:20]
    )


def findings(call: Call) -> Response:
    """Examine the installation, and show the findings, the worst first."""
    found = examine_each(call.site.workspace(), os.environ, lambda _step: None)
    each = [(name, finding) for name, those in found.items() for finding in those]
    by_level = {level: [pair for pair in each if pair[1].level == level] for level in _LEVELS}
    return call.page("findings.html", by_level=by_level, mended=sum(pair[1].repair is not None for pair in each))


def mend(call: Call) -> Response:
    """Apply the repairs of a check, or of all, and say what was done."""
    name = call.given("check")
    only = (name,) if name in CHECKS else ()
    done = repair(examine(call.site.workspace(), os.environ, lambda _step: None, only))
    failed = [finding for finding in done if finding.level == ERROR]
    if done and len(failed) == len(done):
        return call.failed(" ".join(map(_told, failed)))
    mended = counted(len(done) - len(failed), "thing", "things")
    said = f"Mended {mended}." if done else "There was nothing to mend any more."
    return call.done(said, more=[*map(_told, done)], to=f"/health?after={secrets.token_hex(4)}")  # examined again


def charts(call: Call) -> Response:
    """Show how much sessions were given, how the store grows, and how long hooks take."""
    with call.engine() as engine:
        stats = stats_of(engine, all_projects=True)
    times = latency(call.site.workspace().global_store)
    return call.page("charts.html", charts=charts_of(stats, times), times=[each.total for each in times], stats=stats)


def change(call: Call) -> Response:
    """Set a setting, or take it out of its file."""
    name, text = call.given("key"), None if call.given("unset") else call.given("value")
    workspace = call.site.workspace()
    before = _setting(workspace.settings, known_key(name))
    if not before.is_editable:
        raise InvalidSetting(f"{before.source} sets {name} in the environment; change it there")
    done = change_setting(workspace.project_root, name, text, os.environ)
    earlier = None if before.is_default else before.value

    def undo() -> str:
        edit = change_setting(workspace.project_root, name, earlier, os.environ).edit
        return f"{name} is {as_text(edit.value)} again."

    path = os.path.relpath(done.edit.path, workspace.project_root)
    more = [*done.warnings, *([done.news] if done.news else [])]
    return call.done(f"{name} is {as_text(done.edit.value)} now, by {path}.", more=more, undo=undo)


def _setting(settings: Settings, key: Key) -> Setting:
    source = settings.source(key.name)
    return Setting(key, as_text(settings.value(key.name)), source, not source.startswith("RECOLLECT_"))


def _group_of(setting: Setting) -> str:
    top, dot, _ = setting.key.name.partition(".")
    group = top if dot else "memory"
    return group if group in _GROUPS else ""


def _told(finding: Finding) -> str:
    return f"{finding.subject}: {finding.sentence}."


ROUTES = (
    ("GET", "/health", show),
    ("GET", "/health/findings", findings),
    ("GET", "/health/charts", charts),
    ("POST", "/health/mend", mend),
    ("POST", "/health/setting", change),
)
