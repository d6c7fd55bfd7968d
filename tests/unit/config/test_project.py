"""Which project a folder belongs to, and what the project is called in each of its worktrees."""

import os
import subprocess

import pytest
from tests.conftest import link_worktree

from recollect.config.project import find_root, identity, name, package


@pytest.fixture
def git(tmp_path):
    def run(*arguments, cwd=tmp_path):
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        options = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"]
        subprocess.run(
            ["git", *options, *map(str, arguments)], cwd=cwd, env=environment, check=True, capture_output=True
        )

    return run


@pytest.fixture
def repository(tmp_path, git):
    path = tmp_path / "shop-front"
    git("init", "-q", "-b", "main", path)
    git("commit", "-q", "--allow-empty", "-m", "start", cwd=path)
    return path


@pytest.mark.parametrize("marker", [".git", "docs/knowledge-bank", ".claude"])
def test_root_is_the_nearest_folder_with_a_marker(tmp_path, marker):
    (tmp_path / "project" / marker).mkdir(parents=True)
    inner = tmp_path / "project" / "src" / "deep"
    inner.mkdir(parents=True)
    assert find_root(str(inner)) == str(tmp_path / "project")
    assert find_root(str(tmp_path / "project")) == str(tmp_path / "project")


@pytest.mark.parametrize(
    ("marker", "root"), [(".git", "outer/inner"), (".claude", "outer"), ("docs/knowledge-bank", "outer")]
)
def test_root_is_the_nearest_repository_whatever_else_is_nearer(tmp_path, marker, root):
    (tmp_path / "outer" / ".git").mkdir(parents=True)
    (tmp_path / "outer" / "inner" / marker).mkdir(parents=True)
    assert find_root(str(tmp_path / "outer" / "inner")) == str(tmp_path / root)


def test_home_is_no_project_also_through_a_symlink(tmp_path, monkeypatch):
    (tmp_path / "real" / ".claude").mkdir(parents=True)
    (tmp_path / "real" / "notes").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    assert find_root(str(tmp_path / "real" / "notes")) == str(tmp_path / "real" / "notes")


def test_nothing_in_the_top_folder_makes_all_below_it_one_project(tmp_path, monkeypatch):
    """As in a container where something left a .claude at the top."""
    markers = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: path == "/.claude" or markers(path))
    monkeypatch.setenv("HOME", "/nowhere")
    assert find_root(str(tmp_path)) == str(tmp_path)


def test_git_file_that_is_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / ".git")
    assert identity(str(tmp_path)) == str(tmp_path)


def test_git_file_with_a_nul_in_it_makes_the_folder_its_own_project(tmp_path):
    (tmp_path / ".git").write_bytes(b"gitdir: a\0b\n")
    assert identity(str(tmp_path)) == str(tmp_path)


def test_root_of_a_worktree_is_the_folder_with_the_git_file(tmp_path):
    (tmp_path / "tree" / "src").mkdir(parents=True)
    (tmp_path / "tree" / ".git").write_text("gitdir: /elsewhere\n", encoding="utf-8")
    assert find_root(str(tmp_path / "tree" / "src")) == str(tmp_path / "tree")


def test_root_without_any_marker_is_the_start(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "plain").mkdir()
    assert find_root(str(tmp_path / "plain")) == str(tmp_path / "plain")


@pytest.mark.parametrize("ending", ["", "/"])
def test_settings_folder_of_the_home_folder_makes_it_no_project(tmp_path, monkeypatch, ending):
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "home" / "notes").mkdir()
    monkeypatch.setenv("HOME", f"{tmp_path}/home{ending}")
    assert find_root(str(tmp_path / "home" / "notes")) == str(tmp_path / "home" / "notes")


def test_root_of_a_relative_start_is_absolute(tmp_path, monkeypatch):
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    assert find_root(".") == str(tmp_path / "project")


def test_project_without_git_is_called_by_its_folder(tmp_path):
    (tmp_path / "shop-front").mkdir()
    assert name(identity(str(tmp_path / "shop-front"))) == "shop-front"
    assert name(identity(str(tmp_path / "shop-front") + "/")) == "shop-front"
    assert identity(str(tmp_path / "shop-front")) == os.path.realpath(tmp_path / "shop-front")


def test_file_system_root_has_a_name():
    assert name("/")


def test_link_to_a_project_is_the_project(tmp_path):
    (tmp_path / "shop-front").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "shop-front")
    assert identity(str(tmp_path / "alias")) == identity(str(tmp_path / "shop-front"))
    assert name(identity(str(tmp_path / "alias"))) == "shop-front"


def test_worktree_has_the_name_and_identity_of_its_main_repository(tmp_path, git, repository):
    git("worktree", "add", "-q", tmp_path / "feature-12", cwd=repository)
    assert (tmp_path / "feature-12" / ".git").is_file()
    assert name(identity(str(tmp_path / "feature-12"))) == "shop-front"
    assert identity(str(tmp_path / "feature-12")) == identity(str(repository)) == os.path.realpath(repository)


def test_worktree_inside_its_repository_has_the_repositorys_identity(git, repository):
    git("worktree", "add", "-q", repository / ".worktrees" / "fix", cwd=repository)
    assert identity(str(repository / ".worktrees" / "fix")) == identity(str(repository))


def test_moved_worktree_still_belongs_to_its_repository(tmp_path, git, repository):
    git("worktree", "add", "-q", tmp_path / "one", cwd=repository)
    git("worktree", "move", tmp_path / "one", tmp_path / "two", cwd=repository)
    assert identity(str(tmp_path / "two")) == identity(str(repository))


def test_worktrees_of_a_bare_repository_are_one_project_with_its_name(tmp_path, git, repository):
    git("clone", "-q", "--bare", repository, tmp_path / "shop.git")
    for tree in ("one", "two"):
        git("worktree", "add", "-q", "-b", tree, tmp_path / tree, cwd=tmp_path / "shop.git")
    assert name(identity(str(tmp_path / "one"))) == name(identity(str(tmp_path / "two"))) == "shop"
    assert identity(str(tmp_path / "one")) == identity(str(tmp_path / "two"))


def test_worktrees_around_a_hidden_bare_repository_are_called_by_the_folder_around_them(tmp_path, git, repository):
    around = tmp_path / "around"
    git("clone", "-q", "--bare", repository, around / ".bare")
    git("worktree", "add", "-q", "-b", "one", around / "one", cwd=around / ".bare")
    (around / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    assert name(identity(str(around / "one"))) == "around"
    assert identity(str(around / "one")) == identity(str(around)) == os.path.realpath(around)


def test_hidden_bare_repositories_side_by_side_are_projects_of_their_own(tmp_path, git, repository):
    for each in ("alpha", "beta"):
        git("clone", "-q", "--bare", repository, tmp_path / f".{each}")
        git("worktree", "add", "-q", "-b", each, tmp_path / each, cwd=tmp_path / f".{each}")
    assert identity(str(tmp_path / "alpha")) == os.path.realpath(tmp_path / ".alpha")
    assert identity(str(tmp_path / "beta")) == os.path.realpath(tmp_path / ".beta")
    (tmp_path / ".git").write_text("gitdir: .alpha\n", encoding="utf-8")
    assert identity(str(tmp_path / "alpha")) == os.path.realpath(tmp_path)
    assert identity(str(tmp_path / "beta")) == os.path.realpath(tmp_path / ".beta")


def test_submodule_is_a_project_of_its_own(tmp_path, git, repository):
    git("init", "-q", "-b", "main", tmp_path / "library")
    git("commit", "-q", "--allow-empty", "-m", "start", cwd=tmp_path / "library")
    git("submodule", "add", "-q", tmp_path / "library", "vendor/library", cwd=repository)
    submodule = repository / "vendor" / "library"
    assert (submodule / ".git").is_file()
    assert name(identity(str(submodule))) == "library"
    assert identity(str(submodule)) == os.path.realpath(submodule)


def test_worktree_of_a_submodule_has_the_submodules_identity(tmp_path, git, repository):
    git("init", "-q", "-b", "main", tmp_path / "library")
    git("commit", "-q", "--allow-empty", "-m", "start", cwd=tmp_path / "library")
    git("submodule", "add", "-q", tmp_path / "library", "vendor/library", cwd=repository)
    submodule = repository / "vendor" / "library"
    git("worktree", "add", "-q", "-b", "fix", tmp_path / "fix", cwd=submodule)
    assert name(identity(str(tmp_path / "fix"))) == "library"
    assert identity(str(tmp_path / "fix")) == identity(str(submodule))


@pytest.mark.parametrize("content", ["", "gitdir:", "gitdir: /nowhere/at/all", "nonsense", "\0\xff" * 5000])
def test_damaged_git_file_leaves_the_folder_itself(tmp_path, content):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text(content, encoding="latin-1")
    assert identity(str(tmp_path / "tree")) == os.path.realpath(tmp_path / "tree")


def test_repository_below_a_folder_called_modules_keeps_its_name_in_a_worktree(tmp_path):
    main, tree = tmp_path / "modules" / "shop", tmp_path / "tree"
    link_worktree(main, tree)
    (main / ".git" / "config").write_text("[core]\n\tbare = false\n", encoding="utf-8")
    assert identity(str(tree)) == str(main)


def test_folder_called_like_a_bare_repository_is_another_project(tmp_path, git, repository):
    git("clone", "-q", "--bare", repository, tmp_path / "shop.git")
    git("worktree", "add", "-q", "-b", "one", tmp_path / "one", cwd=tmp_path / "shop.git")
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    assert identity(str(tmp_path / "one")) != identity(str(tmp_path / "shop"))


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("", ""),
        ("..", ""),
        ("../beside", ""),
        ("packages/api", "packages/api"),
        ("packages/api/src/deep", "packages/api"),
        ("docs/guides", "docs/guides"),
        ("packages/gone/away", "packages/gone/away"),
    ],
)
def test_package_of_a_folder_is_the_nearest_with_a_manifest(tmp_path, folder, expected):
    root = tmp_path / "shop"
    (root / "packages" / "api" / "src" / "deep").mkdir(parents=True)
    (root / "docs" / "guides").mkdir(parents=True)
    (root / "package.json").touch()
    (root / "packages" / "api" / "package.json").touch()
    assert package(str(root), str(root / folder)) == expected
