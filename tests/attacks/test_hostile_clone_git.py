"""A plain clone makes nothing run: no embedded repository, attribute, hook or driver does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.attacks.hostile import Hostile, ask, clone_into, hostile_of, remember, start_session
from tests.conftest import World

ON = {"RECOLLECT_AUTO_COMMIT": "true"}  # what a user may have chosen, so that git is really called


@pytest.fixture
def hostile(world: World) -> Hostile:
    return hostile_of(world)


def use(world: World, **variables: str) -> None:
    """Do what a user does in a first session."""
    assert start_session(world, RECOLLECT_MEMORY_SEMANTIC_ENABLED="true", **variables).returncode == 0
    assert ask(world, "where do queued jobs go", **variables).returncode == 0
    done = remember(world, **variables)
    assert done.returncode == 0, done.stderr
    world.write_bank("patterns", "### Pattern: Retry\nRetry what may fail.\n- Observation count: 3\n")
    assert world.run("promote", **variables).returncode == 0
    assert world.run("retire", "queue-in-the-database", "--reason", "test", **variables).returncode in (0, 2)


@pytest.mark.parametrize("variables", [{}, ON], ids=["settings of the clone", "auto_commit chosen by the user"])
def test_an_embedded_bare_repository_runs_nothing(world: World, hostile: Hostile, variables: dict[str, str]) -> None:
    hostile.embed_bare_repository(".claude/memory")
    hostile.settings(auto_commit=True)
    clone_into(world, hostile)
    use(world, **variables)
    assert not hostile.marker.exists()


def test_attributes_of_a_clone_run_no_filter_that_the_user_has_for_other_repositories(
    world: World, hostile: Hostile
) -> None:
    hostile.write(".gitattributes", "* filter=mine diff=mine merge=mine\n")
    hostile.write("src/main.py", "print()\n")
    clone_into(world, hostile)
    program = hostile.program()
    lines = [f'[filter "mine"]\n\tclean = {program}\n\tprocess = {program}', f'[diff "mine"]\n\tcommand = {program}']
    lines += [f"[diff]\n\texternal = {program}\n[core]\n\tpager = {program}\n\tfsmonitor = {program}"]
    with (world.home / ".gitconfig").open("a", encoding="utf-8") as file:
        file.write("\n".join(lines) + f"\n\ttextconv = {program}\n")
    os.utime(world.project / "src" / "main.py", (1, 1))  # git has to compare it, through the filter
    use(world, **ON)
    assert not hostile.marker.exists()


def test_hooks_of_a_repository_are_not_run(world: World, hostile: Hostile) -> None:
    """As in a clone for which the user has set up hooks: a commit that nobody asked for runs none."""
    hostile.write("src/main.py", "print()\n")
    clone_into(world, hostile)
    program = hostile.program()
    for name in ("pre-commit", "post-commit", "post-index-change", "reference-transaction", "commit-msg"):
        (world.project / ".git" / "hooks" / name).symlink_to(program)
    use(world, **ON)
    assert not hostile.marker.exists()
    log = hostile.git("log", "--format=%s", cwd=world.project)
    assert log.count("memory:") >= 1, "the hooks are left out, not the commit"


def test_a_submodule_of_a_clone_runs_nothing(world: World, hostile: Hostile) -> None:
    inner = hostile_of(world, "inner")
    inner.write("README.md", "x\n")
    inner.clone(world.home.parent / "inner-copy")
    hostile.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "vendor")
    clone_into(world, hostile)
    hostile.git(
        "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init", "--recursive", cwd=world.project
    )
    program = hostile.program()
    for name in ("core.fsmonitor", "filter.evil.clean"):
        hostile.git("config", name, program, cwd=world.project / "vendor")
    (world.project / "vendor" / "README.md").write_text("y\n", encoding="utf-8")
    (world.project / "vendor" / ".gitattributes").write_text("* filter=evil\n", encoding="utf-8")
    use(world, **ON)
    assert not hostile.marker.exists()


def test_git_is_called_by_one_module_only() -> None:
    import recollect

    top = Path(recollect.__file__).parent
    callers = [str(path.relative_to(top)) for path in top.rglob("*.py") if '"git",' in path.read_text(encoding="utf-8")]
    assert callers == ["config/git.py"]
