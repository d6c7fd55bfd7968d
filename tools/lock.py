"""Pin the packages that each extra adds to the plugin's environment, with hashes, in plugin/locked.

All files come from one resolution, together with the plugin's own requirements, so any of them fit each other. What
the plugin needs anyway is not in them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from recollect.extras import EXTRAS

TOP = Path(__file__).parents[1]
LOCKED = TOP / "plugin" / "locked"
_OLDEST_PYTHON = "3.11"
_HEADER = "# Made by `make lock`; do not edit.\n"


def main() -> int:
    """Write the files, or say why that is not possible."""
    uv = shutil.which("uv")
    if not uv:
        print("`make lock` needs uv on the path.", file=sys.stderr)
        return 1
    base = (TOP / "plugin" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {extra: project["optional-dependencies"][extra] for extra in EXTRAS}
    everything = _resolved(uv, [*base, *(line for lines in extras.values() for line in lines)])
    shared = _resolved(uv, base, everything)
    for extra, lines in extras.items():
        _write(extra, [block for block in _resolved(uv, [*base, *lines], everything) if block not in shared])
    return 0


def _resolved(uv: str, requirements: list[str], pinned: list[str] | None = None) -> list[str]:
    """Return a block of text for each package, all that `requirements` need, in the versions that are `pinned`."""
    with tempfile.TemporaryDirectory() as folder:
        asked, known, found = (Path(folder) / name for name in ("asked.in", "known.txt", "found.txt"))
        asked.write_text("\n".join(requirements), encoding="utf-8")
        known.write_text("".join(pinned or ()), encoding="utf-8")
        options = ["--quiet", "--universal", "--generate-hashes", "--no-header", "--no-annotate"]
        options += ["--python-version", _OLDEST_PYTHON, "--constraint", str(known), "--output-file", str(found)]
        subprocess.run([uv, "pip", "compile", *options, str(asked)], check=True)
        text = found.read_text(encoding="utf-8")
    blocks: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.startswith(" "):
            blocks[-1] += line
        else:
            blocks.append(line)
    return blocks


def _write(name: str, blocks: list[str]) -> None:
    LOCKED.mkdir(exist_ok=True)
    (LOCKED / f"{name}.txt").write_text(_HEADER + "".join(blocks), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
