"""Run all checks of the installation, including a test of its real work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib import import_module

from recollect.config.workspace import Workspace
from recollect.doctor.case import ERROR, OK, WARNING, Case, Finding
from recollect.domain.text import one_line
from recollect.errors import RecollectError
from recollect.store.open import DRIVER

__all__ = ["CHECKS", "ERROR", "OK", "WARNING", "Finding", "examine", "repair", "within"]

# The checks: subject, module, function and timeout in seconds. Modules are imported one by one, because one of them may
# need a broken package.
_CHECKS = (
    ("Python", "machine", "python", 5.0),
    ("Packages", "machine", "packages", 30.0),
    (DRIVER, "machine", "driver", 5.0),
    ("Settings", "machine", "settings", 5.0),
    ("Store", "store", "folder", 5.0),
    ("Permissions", "store", "permissions", 5.0),
    ("Disk", "store", "disk", 5.0),
    ("Database", "database", "database", 30.0),
    ("Locks", "store", "locks", 5.0),
    ("Journal", "store", "journal", 10.0),
    ("Banks", "store", "banks", 10.0),
    ("Withheld", "store", "withheld", 30.0),
    ("Stale", "store", "stale", 30.0),
    ("Sessions", "store", "sessions", 5.0),
    ("Records", "records", "records", 5.0),
    ("Clock", "records", "clock", 5.0),
    ("Self-test", "proof", "self_test", 30.0),
    ("Keywords", "machine", "keywords", 5.0),
    ("Plugin", "hooks", "plugin", 5.0),
    ("Environment", "hooks", "environment", 5.0),
    ("Hooks", "hooks", "notes", 5.0),
    ("Prompt hook", "proof", "prompt_hook", 20.0),
    ("MCP server", "mcp", "mcp_server", 30.0),
    ("Resident", "resident", "resident", 5.0),
)


# The names of the checks for `--only`.
CHECKS = {subject.lower().replace(" ", "-"): subject for subject, *_ in _CHECKS}


def examine(
    workspace: Workspace, environ: Mapping[str, str], progress: Callable[[str], None], only: Collection[str] = ()
) -> list[Finding]:
    """Run the checks, or `only` those of some names, in a fixed order. Nothing is changed, no exception is raised."""
    case = Case(workspace, environ, progress)
    findings: list[Finding] = []
    chosen = {CHECKS[name] for name in only or CHECKS}
    for subject, module, name, seconds in _CHECKS:
        if subject not in chosen:
            continue
        case.progress(subject)
        findings += within(seconds, subject, module, name, case)
    return findings


def repair(findings: Iterable[Finding]) -> list[Finding]:
    """Apply all repairs and return a finding on each. No repair loses data."""
    done: list[Finding] = []
    for finding in findings:
        if finding.repair is None:
            continue
        try:
            done.append(Finding(OK, finding.subject, finding.repair()))
        except Exception as error:  # a failed repair must not prevent the next one
            done.append(Finding(ERROR, finding.subject, f"could not be repaired: {_said(error)}", finding.fix))
    return done


def within(seconds: float, subject: str, module: str, name: str, case: Case) -> Sequence[Finding]:
    """Run a check in a thread and return its findings before the timeout.

    The thread is abandoned at the timeout, because a disk or a model may never answer.
    """
    findings: list[Finding] = []

    def run() -> None:
        try:
            check: Callable[[Case], Iterable[Finding]] = getattr(import_module(f"recollect.doctor.{module}"), name)
            for finding in check(case):  # one by one, to keep the findings before a failure
                findings.append(finding)
        except (Exception, SystemExit) as error:
            findings.append(Finding(ERROR, subject, f"could not be examined: {_said(error)}", _advice(error)))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    found = list(findings)
    if thread.is_alive():
        found.append(Finding(ERROR, subject, f"was not examined to its end within {seconds:g} seconds"))
    return found


def _said(error: BaseException) -> str:
    text = one_line(str(error))
    return text if isinstance(error, RecollectError) else f"{type(error).__name__}: {text}"


def _advice(error: BaseException) -> str:
    if isinstance(error, ImportError):
        return "install recollect again, with all that it needs: pip install --force-reinstall recollect"
    return "if this goes on, report it with what `recollect doctor --json` prints"
