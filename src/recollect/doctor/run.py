"""Run all checks of the installation, including a test of its real work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib import import_module

from recollect.config.workspace import Workspace
from recollect.doctor.case import ERROR, OK, WARNING, Case, Finding
from recollect.domain.text import one_line
from recollect.errors import RecollectError
from recollect.extras import AGAIN
from recollect.store.open import DRIVER

__all__ = ["CHECKS", "ERROR", "OK", "WARNING", "Finding", "examine", "examine_each", "repair", "within"]

# The checks: subject, module, function and timeout in seconds, on a quiet machine. Modules are imported one by one,
# because one of them may need a broken package.
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
    ("Team", "team", "team", 15.0),
)


# Checks that wait for a process of their own run beside the others. One that measures a time comes last, alone.
_BESIDE, _ALONE = 1, 2
_TURN = {"Packages": _BESIDE, "MCP server": _BESIDE, "Prompt hook": _ALONE}

# The names of the checks for `--only`.
CHECKS = {subject.lower().replace(" ", "-"): subject for subject, *_ in _CHECKS}


def examine(
    workspace: Workspace, environ: Mapping[str, str], progress: Callable[[str], None], only: Collection[str] = ()
) -> list[Finding]:
    """Run the checks, or `only` those of some names, and return findings in a fixed order. Nothing is changed.

    No exception is raised.
    """
    return [finding for found in examine_each(workspace, environ, progress, only).values() for finding in found]


def examine_each(
    workspace: Workspace, environ: Mapping[str, str], progress: Callable[[str], None], only: Collection[str] = ()
) -> dict[str, Sequence[Finding]]:
    """Run the checks as `examine` does, and return the findings of each by its name."""
    case = Case(workspace, environ, progress)
    chosen = {CHECKS[name] for name in only or CHECKS}
    checks = [check for check in _CHECKS if check[0] in chosen]
    running = {check[0]: _Running(*check[:3], case) for check in checks if _TURN.get(check[0]) == _BESIDE}
    found: dict[str, Sequence[Finding]] = {}
    for subject, module, name, seconds in sorted(checks, key=lambda check: _TURN.get(check[0], 0)):
        case.progress(subject)
        check = running.get(subject) or _Running(subject, module, name, case)
        found[subject] = check.findings(case.patience(seconds))
    return {name: found[subject] for name, subject in CHECKS.items() if subject in found}


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
    """Run a check and return its findings before the timeout."""
    return _Running(subject, module, name, case).findings(seconds)


class _Running:
    """A check in a thread. It is abandoned at the timeout, because a disk or a model may never answer."""

    def __init__(self, subject: str, module: str, name: str, case: Case) -> None:
        self._subject = subject
        self._findings: list[Finding] = []
        self._thread = threading.Thread(target=self._run, args=(module, name, case), daemon=True)
        self._thread.start()

    def _run(self, module: str, name: str, case: Case) -> None:
        try:
            check: Callable[[Case], Iterable[Finding]] = getattr(import_module(f"recollect.doctor.{module}"), name)
            for finding in check(case):  # one by one, to keep the findings before a failure
                self._findings.append(finding)
        except (Exception, SystemExit) as error:
            said = f"could not be examined: {_said(error)}"
            self._findings.append(Finding(ERROR, self._subject, said, _advice(error)))

    def findings(self, seconds: float) -> Sequence[Finding]:
        """Wait for the check, and return what it has found."""
        self._thread.join(seconds)
        found = list(self._findings)
        if self._thread.is_alive():
            said = f"was not examined to its end within {seconds:g} seconds"
            found.append(Finding(ERROR, self._subject, said))
        return found


def _said(error: BaseException) -> str:
    text = one_line(str(error))
    return text if isinstance(error, RecollectError) else f"{type(error).__name__}: {text}"


def _advice(error: BaseException) -> str:
    if isinstance(error, ImportError):
        return AGAIN
    return "if this goes on, report it with what `recollect doctor --json` prints"
