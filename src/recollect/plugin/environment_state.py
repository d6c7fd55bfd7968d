# hot
"""The state of the plugin's environment in its data folder: interpreter, packages, and the outcome of builds."""

from __future__ import annotations

import os
import sys

from recollect.extras import EXTRAS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

INTERPRETER = "interpreter"  # one line, the path of the Python that the launcher runs
LOCK = "build.lock"
OUTCOME = "build.outcome"
LOG = "build.log"
ENVIRONMENTS = "environments"
SCRATCH = "scratch"
BYTECODE = "bytecode"  # for a plugin in a read-only folder; made by bare.py

LOCKED = "locked"  # beside the plugin's requirements: what each extra adds, in exact versions with hashes

MADE = (INTERPRETER, LOCK, OUTCOME, LOG, ENVIRONMENTS, SCRATCH, BYTECODE)  # everything we create there

_FIRST_COOLDOWN = 3_600
_LONGEST_COOLDOWN = 86_400


def interpreter_of(data: str) -> str:
    """Return the interpreter named in a data folder; empty if it cannot be run."""
    try:
        with open(os.path.join(data, INTERPRETER), encoding="utf-8", errors="surrogateescape") as file:
            path = file.readline(4096).rstrip("\n")
    except OSError:
        return ""
    return path if os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK) else ""


def missing_extras(extras: Collection[str], python: str) -> list[str]:
    """Return the extras whose package an interpreter lacks. Only the names of folders are read."""
    installed = installed_in(site_packages(python)) if extras else {}
    return [extra for extra in extras if EXTRAS[extra][0] not in installed]


def site_packages(python: str = "") -> str:
    """Return the folder of an interpreter's packages; by default of this one, even if started without them (-S)."""
    lib = (python or sys.executable).rpartition("/bin/")[0] + "/lib"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    if python and os.path.isdir(lib) and not os.path.isdir(f"{lib}/{version}"):  # it is of another version
        version = max((name for name in os.listdir(lib) if name.startswith("python3")), default=version)
    return f"{lib}/{version}/site-packages"


def installed_in(site: str) -> dict[str, str]:
    """Return the versions of the packages in a folder."""
    found: dict[str, str] = {}
    try:
        for name in os.listdir(site):
            if name.endswith(".dist-info"):
                package, _, version = name[: -len(".dist-info")].rpartition("-")
                found[package.lower().replace(".", "_")] = version
    except OSError:
        pass  # none are installed
    return found


def new_interpreter(data: str) -> str:
    """Return the interpreter of a built environment other than this one's; empty if there is none."""
    named = interpreter_of(data)
    is_new = named != sys.executable and named.startswith(os.path.join(data, ENVIRONMENTS) + os.sep)
    return named if is_new and not read_outcome(data).failures else ""


def is_being_built(data: str) -> bool:
    """Return True if a process holds the build lock."""
    import fcntl

    try:
        descriptor = os.open(os.path.join(data, LOCK), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


class Outcome:
    """The outcome of recent builds: the number without success, the last one's start, and its reason if it failed."""

    def __init__(self, failures: int = 0, began: float = 0.0, reason: str = "") -> None:
        self.failures = failures
        self.began = began
        self.reason = reason

    def is_due(self, now: float) -> bool:
        """Return True if it is time to build again.

        After a failure, wait an hour, twice as long each time up to a day. After an interruption, do not wait, unless
        three builds in a row were without success.
        """
        interrupted = not self.reason and self.failures < 3
        cooldown = min(_FIRST_COOLDOWN * 2 ** min(self.failures - 1, 10), _LONGEST_COOLDOWN)
        return self.failures == 0 or interrupted or not self.began <= now < self.began + cooldown


def read_outcome(data: str) -> Outcome:
    try:
        with open(os.path.join(data, OUTCOME), encoding="utf-8", errors="replace") as file:
            failures, began, reason = file.read(4096).split("\n")[:3]
        return Outcome(int(failures), float(began), reason)
    except (OSError, ValueError):
        return Outcome()
