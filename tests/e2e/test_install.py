"""`recollect init` with a client that does not do as it is told."""

from __future__ import annotations

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


def test_a_client_that_lists_the_plugin_after_its_installation_is(world: World, tmp_path: Path) -> None:
    claude, state = tmp_path / "claude", tmp_path / "installed"
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
    done = world.run("init", "--claude", str(claude))
    assert done.returncode == 0, done.stderr
    assert "memory@recollect" in done.stdout
