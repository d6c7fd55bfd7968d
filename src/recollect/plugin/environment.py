# hot
"""The plugin's own Python environment: check for its packages, and start to build it."""

from __future__ import annotations

import os
import sys
import time

from recollect.config import locations
from recollect.plugin.environment_state import (
    INTERPRETER,
    installed_in,
    interpreter_of,
    is_being_built,
    missing_extras,
    read_outcome,
    site_packages,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Collection, Mapping

_SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Set for the process replacing this one, so that it happens only once.
_AGAIN = "RECOLLECT_RUN_AGAIN"
_again = os.environ.pop(_AGAIN, "")

_BY_WORDS = "Memories are found by their words"

_BUILD = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from recollect.plugin.environment_build import build_in_background; build_in_background(*sys.argv[2:])"
)


def prepare(environ: Mapping[str, str], extras: Collection[str] = (), *, asked: bool = False) -> str:
    """Start to install packages in the background, also those of `extras`; return news for the user, or nothing.

    After a failure it waits, unless a person has `asked` for the extras just now.
    """
    data = environ.get("CLAUDE_PLUGIN_DATA", "")
    requirements = requirements_file()
    if not os.path.isabs(data) or not requirements:
        return ""
    from recollect.errors import StorageError

    is_met = not unmet(requirements)
    try:
        if not is_met:
            return _begin(data, requirements, extras)
        if not os.path.exists(os.path.join(data, INTERPRETER)):
            _point(data, sys.executable)
        lacking = missing_extras(extras, interpreter_of(data))
        return _add(data, requirements, lacking, asked=asked) if lacking else ""
    except (OSError, StorageError) as error:
        # Hooks work without packages, too.
        return "" if is_met else _once_a_day(f"recollect cannot set itself up: {error}. {_BY_WORDS}")


def complete(damage: str = "") -> None:
    """Make sure of the packages for commands; exit with 1 if they cannot be installed.

    This may take a minute, and another interpreter may replace this process. `damage` describes the fault in packages
    with a folder of the right name but broken content.
    """
    requirements = requirements_file()
    missing = [damage] if damage else unmet(requirements)
    if not missing:
        return
    data = locations.plugin_data()
    named = interpreter_of(data)
    if named and named != sys.executable and not _again:
        _run_again(named)
    if _again == "built" or not requirements:
        _fail(f"{sys.executable} lacks what it needs: {', '.join(missing)}")
    if sys.argv[2:3] == ["merge-driver"]:  # git waits for it, and can do without
        _fail("its packages are not installed; `recollect status` installs them")
    from recollect.errors import RecollectError

    if sys.argv[2:] == ["status"] and not damage:  # a person's first question, while packages are installed
        _print_status(data, requirements)
    try:
        _run_again(_built(data, requirements), "built")
    except KeyboardInterrupt:
        _fail("interrupted; the next command begins again")
    except RecollectError as error:
        way_out = ""
        if sys.argv[2:3] == ["uninstall"]:
            way_out = " `claude plugin uninstall memory@recollect` removes the plugin without them."
        _fail(f"its packages could not be installed: {error}. Commands need them; sessions go on without.{way_out}")


def unmet(requirements: str, site: str = "") -> list[str]:
    """Return the unmet lines of a requirements file, for this interpreter's packages or those in `site`.

    Only the names of folders are read, because a session waits for the result.
    """
    installed = installed_in(site or site_packages())
    return [line for line in requirements_in(requirements) if not _is_met(line, installed)]


def requirements_in(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return [line for line in map(str.strip, file) if line and not line.startswith("#")]
    except OSError:
        return []


def name_of(requirement: str) -> str:
    """Return the package's name in a line of requirements, spelled as in its folder's name."""
    for place, character in enumerate(requirement):
        if character in "<>=!~;[ ":
            requirement = requirement[:place]
            break
    return requirement.lower().replace("-", "_").replace(".", "_")


def requirements_file() -> str:
    """Return the path of the plugin's requirements, or nothing.

    It is in an installed package, in the repository, or in an installed plugin.
    """
    package = os.path.join(_SOURCE, "recollect")
    top = os.path.dirname(_SOURCE)
    for folder in (os.path.join(package, "marketplace", "plugin"), os.path.join(top, "plugin"), top):
        if os.path.exists(os.path.join(folder, ".claude-plugin", "plugin.json")):
            return os.path.join(folder, "requirements.txt")
    return ""


def _built(data: str, requirements: str) -> str:
    """Return the interpreter of a complete environment.

    A command builds it. A server leaves the build to a separate process: the client may give up on the server before
    the packages are there, and its next session then finds them. Without an environment in time, a server answers the
    client without tools until it is gone, then exits.
    """
    if not _serves_client():
        from recollect.plugin.environment_build import build

        return build(data, requirements, _say)
    import signal

    from recollect.errors import InstallError
    from recollect.plugin.environment_standin import stand_in
    from recollect.plugin.environment_wait import ClientGone, patience_of_client, wait_for_environment

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # clients end a server this way; nothing is half done
    patience = patience_of_client(os.environ)
    try:
        os.makedirs(data, exist_ok=True)
        return wait_for_environment(data, lambda: _build_apart(data, requirements), patience=patience)
    except ClientGone:
        pass
    except (InstallError, OSError) as error:
        _say(f"there are no tools in this session; its packages: {error}")
        stand_in(f"recollect's packages: {error}")
    sys.exit(0)


def _print_status(data: str, requirements: str) -> None:
    """Print a status that needs no packages, have them installed in the background, and exit."""
    from recollect.errors import StorageError
    from recollect.plugin.environment_status import bare_status

    reason = "" if is_being_built(data) else read_outcome(data).reason
    try:
        os.makedirs(data, exist_ok=True)
        if not is_being_built(data):
            _build_apart(data, requirements)
    except (OSError, StorageError) as error:
        reason = str(error)
    print(bare_status(data, reason))
    sys.exit(0)


def _serves_client() -> bool:
    """Return True if this process is a server started by a client, over pipes."""
    is_server = sys.argv[2:3] == ["mcp"] and not os.isatty(0)
    return is_server and not any(word.startswith(("--http", "--help", "-h")) for word in sys.argv[3:])


def _begin(data: str, requirements: str, extras: Collection[str]) -> str:
    old = interpreter_of(data)
    if not old:
        _point(data, os.path.realpath(sys.executable))
    if is_being_built(data):
        return _news(old)
    outcome = read_outcome(data)
    if not outcome.is_due(time.time()):
        why = outcome.reason or "it was interrupted again and again"
        return _once_a_day(
            f"recollect could not set itself up: {why}. Memories are found by their words; /memory:status tries again."
        )
    _build_apart(data, requirements, extras)
    return _news(old)


def _add(data: str, requirements: str, extras: Collection[str], *, asked: bool) -> str:
    """Start to build an environment with the packages of more providers; return news for the user."""
    named = " and ".join(extras)
    if not is_being_built(data):
        outcome = read_outcome(data)
        if not asked and not outcome.is_due(time.time()):
            why = outcome.reason or "it was interrupted again and again"
            told = f"recollect could not add the packages for {named}: {why}. {_BY_WORDS}"
            return _once_a_day(f"{told}; when you are online, `recollect doctor --fix` adds them.")
        _build_apart(data, requirements, extras)
    return (
        f"recollect is adding the packages for {named} in the background, for the next session; until then memories"
        " are found by their words alone."
    )


def _build_apart(data: str, requirements: str, extras: Collection[str] = ()) -> subprocess.Popen[bytes]:
    """Start the build in a process of its own session, to survive the end of this one."""
    import subprocess

    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _BUILD, _SOURCE, data, requirements, *extras],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=data,
        start_new_session=True,
    )


def _news(old: str) -> str:
    if old and "/environments/" in old:
        return "recollect is updating its packages in the background; nothing changes until they are there."
    return "recollect is setting itself up in the background; until then memories are found by their words alone."


def _once_a_day(sentence: str) -> str:
    from recollect.files.notices_today import is_news

    return sentence if is_news(locations.global_store(), sentence) else ""


def _point(data: str, interpreter: str) -> None:
    """Make the launcher run this interpreter from now on; otherwise it searches for one each time."""
    from recollect.files.textfile import write_text

    write_text(os.path.join(data, INTERPRETER), interpreter + "\n", durable=False)


def _is_met(requirement: str, installed: Mapping[str, str]) -> bool:
    name = name_of(requirement)
    version = installed.get(name)
    if version is None:
        return False
    has = _release(version)
    for bound in requirement[len(name) :].split(","):
        if bound.startswith(">=") and has < _release(bound[2:]):
            return False
        if bound.startswith("<") and not bound.startswith("<=") and has >= _release(bound[1:]):
            return False
    return True


def _release(version: str) -> list[int]:
    """Return the leading numbers of a version, without trailing zeros."""
    numbers: list[int] = []
    for part in version.strip().split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits[:9]))
        if digits != part:
            break
    while numbers and not numbers[-1]:
        numbers.pop()  # 2.0 is 2
    return numbers


def _run_again(interpreter: str, how: str = "named") -> None:
    """Replace this process by another interpreter with the same arguments."""
    os.environ[_AGAIN] = how
    script = os.path.join(_SOURCE, "recollect", "hooks", "bare.py")
    sys.stderr.flush()
    try:
        os.execv(interpreter, [interpreter, "-I", "-S", script, *sys.argv[1:]])  # noqa: S606
    except OSError as error:
        _fail(f"cannot run {interpreter}: {error.strerror or error}")


def _say(sentence: str) -> None:
    print(f"recollect: {sentence}", file=sys.stderr, flush=True)


def _fail(sentence: str) -> None:
    _say(sentence)
    if "--json" in sys.argv:
        import json

        fix = "run it again where the package index can be reached"
        print(json.dumps({"error": sentence, "code": "not_installed", "fix": fix}, indent=2))
    sys.exit(1)
