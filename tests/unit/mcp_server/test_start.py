"""What is imported before the first answer: the SDK, and nothing else that takes long."""

from __future__ import annotations

import subprocess
import sys

# Whatever of these is loaded, a client waits for it at the start of each session.
HEAVY = (
    "numpy",
    "onnxruntime",
    "tokenizers",
    "sqlite3",
    "_sqlite3",
    "recollect.store",
    "recollect.files.memory.schemas",
)

CODE = """
import sys
import recollect.cli.main, recollect.cli.mcp
import recollect.mcp.serve, recollect.mcp.stdio, recollect.mcp.wire, recollect.mcp.worker
print(*sorted(sys.modules))
"""


def test_nothing_heavy_is_imported_before_the_handshake() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, encoding="utf-8", check=True)
    loaded = set(done.stdout.split())
    assert "mcp.server.lowlevel" in loaded
    assert {name for name in HEAVY if name in loaded} == set()
