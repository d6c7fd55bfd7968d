"""`recollect init` with a client that does not do as it is told."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import World


def test_a_client_that_installs_nothing_is_not_believed(world: World, tmp_path: Path) -> None:
    claude = tmp_path / "claude"
    claude.write_text("#!/bin/sh\necho '[]'\n", encoding="utf-8")
    claude.chmod(0o755)
    done = world.run("init", "--claude", str(claude))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{claude} installed nothing" in done.stderr
    assert not (world.home / ".claude").exists()


def obedient(folder: Path) -> Path:
    """A client that lists the plugin once it was told to install it."""
    claude, state = folder / "claude", folder / "installed"
    listed = '[{"id": "memory@recollect", "scope": "user"}]'
    claude.write_text(
        f"""#!/bin/sh
case "$*" in
*marketplace*) echo '[]' ;;
*"plugin list"*) if [ -e '{state}' ]; then echo '{listed}'; else echo '[]'; fi ;;
*"plugin install"*) : >'{state}' ;;
esac
""",
        encoding="utf-8",
    )
    claude.chmod(0o755)
    return claude


def test_a_client_that_lists_the_plugin_after_its_installation_is(world: World, tmp_path: Path) -> None:
    done = world.run("init", "--claude", str(obedient(tmp_path)))
    assert done.returncode == 0, done.stderr
    assert "memory@recollect" in done.stdout
    assert "init --git" not in done.stdout, "there is no repository"


def test_init_in_a_repository_offers_to_keep_the_index_out_of_it(world: World, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=world.project, check=True)
    offer = "To share this project's memories through git: `recollect init --git`."
    assert offer in world.run("init", "--claude", str(obedient(tmp_path))).stdout
    assert world.run("init", "--git").returncode == 0
    assert (world.project / ".gitignore").read_text(encoding="utf-8") == "/.claude/memory/index.md\n"
    assert offer not in world.run("init", "--claude", str(obedient(tmp_path))).stdout
