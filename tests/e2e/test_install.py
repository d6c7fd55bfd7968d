"""`recollect init` with a client that does not do as it is told, and its settings file."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import World

from recollect.config.settings import load_settings
from recollect.config.settings_keys import KEYS, as_text


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


def test_init_writes_every_setting_with_its_default_as_a_comment_and_changes_nothing(world: World) -> None:
    world.make_repository()
    path = world.project / ".claude" / "iflow-dev.local.md"
    shown = world.run("init", "--settings", "--dry-run")
    assert (shown.returncode, path.exists()) == (0, False)
    before = world.run("config", "--json").stdout
    done = world.run("init", "--settings")
    assert (done.returncode, done.stderr) == (0, "")
    text = path.read_text(encoding="utf-8")
    assert text == shown.stdout
    for key in KEYS:
        assert text.count(f"\n# {key.name}: {as_text(key.default)}\n") == 1
    assert world.run("config", "--json").stdout == before
    assert "nothing was changed" in world.run("init", "--settings").stdout
    assert path.read_text(encoding="utf-8") == text
    path.write_text(text.replace("\n# ", "\n"), encoding="utf-8")
    settings = load_settings(str(world.project))
    assert [key.name for key in KEYS if not settings.is_default(key.name)] == []
    assert [str(problem) for problem in settings.problems if not problem.doubtful] == []


def test_init_settings_keeps_what_the_file_says(world: World) -> None:
    path = world.write_local_settings("yolo_mode: true\nretrieval.max_inject: 2\nNotes.\n")
    assert world.run("init", "--settings").returncode == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith("yolo_mode: true\nretrieval.max_inject: 2\nNotes.\n")
    assert text.count("retrieval.max_inject:") == 1
    assert world.run("config", "get", "retrieval.max_inject").stdout == "2\n"
    assert world.run("init", "--settings", "--git").returncode == 2
