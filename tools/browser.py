"""Find a Chromium for the tests of pages: one on this machine, or else one from npm; and the checks of axe-core."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import npm_cache
from npm_cache import NotAvailableError

VERSION = "147.0.0"

_NAME = "chromium"
_PACKAGES = (f"@sparticuz/chromium@{VERSION}", "axe-core@4.11.0")
_MEGABYTES = 279
_ON_THE_MACHINE = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# The package holds the program compressed, and unpacks it into the folder for temporary files.
_UNPACK = 'import("%s").then((it) => it.default.executablePath()).then(console.log)'

_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>%s</dir><dir>/usr/share/fonts</dir>
<alias binding="strong"><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
<alias binding="strong"><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias></fontconfig>
"""

# For a browser inside a container, and for pictures that are the same everywhere.
ARGUMENTS = ("--no-sandbox", "--no-zygote", "--disable-gpu", "--font-render-hinting=none", "--hide-scrollbars")


def install() -> Path:
    """The folder with what is needed, which is downloaded unless the cache has it.

    Raises:
        NotAvailableError: the download failed, or what came does not run.
    """
    return npm_cache.install_folder(_NAME, VERSION, _PACKAGES, _MEGABYTES, _finish)


def program() -> Path:
    """The browser: one on this machine, or the downloaded one. Raises as `install` does."""
    found = next(filter(None, map(shutil.which, _ON_THE_MACHINE)), None)
    return Path(found) if found else install() / "unpacked" / "chromium"


def axe() -> Path:
    """The script that looks for faults in a page. Raises as `install` does."""
    return install() / "node_modules" / "axe-core" / "axe.min.js"


def environment() -> dict[str, str]:
    """The environment of the browser, with the fonts that came with it. Raises as `install` does."""
    folder = install() / "unpacked"
    settings = folder / "fonts.conf"
    if not settings.exists():  # it names the folder, which has another name while it is being made
        settings.write_text(_FONTS % (folder / "fonts"), encoding="utf-8")
    return {**os.environ, "FONTCONFIG_FILE": str(settings)}


def _finish(folder: Path) -> None:
    unpacked = folder / "unpacked"
    unpacked.mkdir()
    node = shutil.which("node") or "node"
    module = folder / "node_modules" / "@sparticuz" / "chromium" / "build" / "esm" / "index.js"
    said = npm_cache.said_by(
        [node, "--input-type=module", "-e", _UNPACK % module.as_uri()], {**os.environ, "TMPDIR": str(unpacked)}
    )
    command = unpacked / "chromium"
    version = npm_cache.said_by([command, "--version"])
    if "Chrom" not in version:
        raise NotAvailableError(f"chromium {VERSION} was downloaded but does not run: {said[-300:]} {version[-300:]}")
