"""Fill in the address of the project, and check what a release must not lack.

    python tools/release.py [--home-page https://...]

`HOME_PAGE` in src/recollect/version.py is the one place for the address; the plugin's manifest repeats it as homepage,
repository and the author's url. A release without an address fails.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

TOP = Path(__file__).resolve().parents[1]
CONSTANT = re.compile(r'^HOME_PAGE = "(.*)"$', re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--home-page", default="", help="the address to fill in")
    parser.add_argument("--top", type=Path, default=TOP, help="the project's folder")
    options = parser.parse_args()
    version, manifest = (
        options.top / "src" / "recollect" / "version.py",
        options.top / "plugin" / ".claude-plugin" / "plugin.json",
    )
    before = home_page(version)
    wanted = options.home_page or before
    if not is_address(wanted):
        print(
            f"Error: {wanted!r} is no address of the project; give it: make release HOME_PAGE=https://...",
            file=sys.stderr,
        )
        return 1
    for path in (version, manifest):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f'"{before}"', f'"{wanted}"'), encoding="utf-8")
    told = addresses(manifest)
    if told != [wanted] * 3:
        print(f"Error: {manifest} says {told}; each must be {wanted!r}, the HOME_PAGE of {version}", file=sys.stderr)
        return 1
    print(f"The project is at home at {wanted}.")
    return 0


def home_page(version: Path) -> str:
    found = CONSTANT.search(version.read_text(encoding="utf-8"))
    return found[1] if found else ""


def addresses(manifest: Path) -> list[str]:
    """Return the addresses in a manifest: its homepage, its repository and its author's."""
    said = json.loads(manifest.read_text(encoding="utf-8"))
    return [said.get("homepage", ""), said.get("repository", ""), said.get("author", {}).get("url", "")]


def is_address(text: str) -> bool:
    """Return True for an https address of a host that can exist, without anything that JSON or Python would quote."""
    host = urlsplit(text).hostname or ""
    is_real = "." in host and not host.endswith((".invalid", ".example", ".test", ".localhost"))
    return is_real and re.fullmatch(r"https://[A-Za-z0-9./_~-]+", text) is not None


if __name__ == "__main__":
    sys.exit(main())
