"""Install packages into the interpreter that runs this, and say what is downloaded, how large it is and how far it is.

python tools/install.py "recollect and its test tools" -e '.[dev]'
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable
from typing import IO

# pip says "Downloading onnxruntime-1.24.1-cp311-….whl (17.4 MB)", and "Using cached …" for what it has already.
_DOWNLOAD = re.compile(r"^\s*(Downloading|Using cached) (?P<file>\S+)(?: \((?P<size>[\d.]+) (?P<unit>bytes|[kM]B)\))?")
_MEGABYTES = {"bytes": 1e-6, "kB": 1e-3, "MB": 1.0}
_LARGE = 5.0  # megabytes: where nobody watches, only such a file has a line of its own
_LAST_LINES = 20


class Progress:
    """The packages that were taken so far, on one line of a terminal, or on a few lines of a log."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._watched = out.isatty()
        self.packages = 0
        self.megabytes = 0.0

    def follow(self, lines: Iterable[str]) -> None:
        """Read all that pip says."""
        for line in lines:
            if found := _DOWNLOAD.match(line):
                self._take(found)
            elif line.startswith("Installing collected packages") and self.packages:
                self._show(f"Unpacking {self._so_far()} ...", ends=True)

    def _take(self, found: re.Match[str]) -> None:
        if found["file"].endswith(".metadata"):
            return
        size = float(found["size"] or 0) * _MEGABYTES[found["unit"] or "MB"]
        self.packages += 1
        self.megabytes += size
        if self._watched or size >= _LARGE:
            name = found["file"].rsplit("/", 1)[-1].split("-", 1)[0]
            self._show(f"{name} {size:.1f} MB; {self._so_far()}", ends=not self._watched)

    def _so_far(self) -> str:
        return f"{self.packages} packages, {self.megabytes:.0f} MB"

    def _show(self, text: str, *, ends: bool) -> None:
        start = "\r\x1b[K" if self._watched else ""
        self._out.write(f"{start}  {text[:100]}" + ("\n" if ends else ""))
        self._out.flush()


def main(what: str, arguments: list[str]) -> int:
    """Install, and end as pip does; what it says is shown if it fails."""
    print(f"Installing {what} ...", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", *arguments]
    last: deque[str] = deque(maxlen=_LAST_LINES)
    # Opened by itself, because warnings of pip come on the other stream and are wanted only when it fails.
    with subprocess.Popen(
        pip, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
    ) as process:
        assert process.stdout
        assert process.stderr
        errors = threading.Thread(target=last.extend, args=[process.stderr])
        errors.start()
        Progress(sys.stdout).follow(process.stdout)
        errors.join()
    if process.returncode:
        print("".join(last), file=sys.stderr, end="")
        print(f"{what} could not be installed: pip says why above. It needs a package index.", file=sys.stderr)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
