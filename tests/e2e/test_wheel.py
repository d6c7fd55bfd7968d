"""The package as it is distributed: the plugin is part of it, and works from where it is installed."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import PATIENCE

from recollect.version import VERSION

TOP = Path(__file__).parents[2]


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path / "dist"), str(TOP)], check=True, timeout=PATIENCE)
    (built,) = (tmp_path / "dist").iterdir()
    return built


def plugin_files() -> Iterator[str]:
    for path in (TOP / "plugin").rglob("*"):
        name = path.relative_to(TOP).as_posix()
        if path.is_file() and not name.startswith("plugin/src/"):
            yield name


def test_wheel_holds_the_plugin_and_works_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    inside = {name.removeprefix("recollect/marketplace/") for name in names if "/marketplace/" in name}
    assert inside == {".claude-plugin/marketplace.json", *plugin_files()}
    assert sum(name.endswith("model_quantized.onnx") for name in names) == 1

    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", venv], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin" / "python"), "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--disable-pip-version-check", str(wheel)], check=True, timeout=PATIENCE)
    (site,) = venv.glob("lib/python3.*/site-packages")
    # Its dependencies are those of these tests, by a reference; that they suffice is shown where they are built.
    (own,) = {path for path in sys.path if path.endswith("site-packages") and path.startswith(sys.prefix)}
    (site / "dependencies.pth").write_text(own, encoding="utf-8")

    project = tmp_path / "shop-front"
    (project / "docs" / "knowledge-bank").mkdir(parents=True)
    bank = project / "docs" / "knowledge-bank" / "patterns.md"
    bank.write_text("### Pattern: Close what you open\nAlways.\n", encoding="utf-8")
    data = tmp_path / "home" / ".claude" / "plugins" / "data" / "memory-recollect"
    data.mkdir(parents=True)
    (data / "interpreter").write_text(sys.executable, encoding="utf-8")

    def run(*command: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=project,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home"), "CLAUDE_PLUGIN_DATA": str(data)},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=PATIENCE,
        )

    assert run(venv / "bin" / "recollect", "--version").stdout == f"recollect {VERSION}\n"
    where = run(venv / "bin" / "python", "-c", "from recollect.plugin.install import *; print(marketplace_folder())")
    assert where.stdout == f"{site}/recollect/marketplace\n"
    launcher = site / "recollect" / "marketplace" / "plugin" / "bin" / "recollect"
    event = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "s-1", "cwd": str(project)}
    started = run(launcher, "hook", "session-start", stdin=json.dumps(event))
    assert (started.returncode, started.stderr) == (0, "")
    assert "Close what you open" in json.loads(started.stdout)["hookSpecificOutput"]["additionalContext"]
