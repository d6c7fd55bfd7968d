"""Where memories are, and which file a path means: never one outside the folders of the memory root."""

import json
import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.config.memory_root import memory_root, memory_root_at, project_of, target_file
from recollect.config.settings import load_settings
from recollect.domain.categories import FOLDER, PROJECT
from recollect.errors import WriteRefused
from recollect.files.memory.memories import MemoryRoot, is_file_name


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own, so that no folder above the test's counts as a project."""
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "shop"
    (path / ".claude" / "memory").mkdir(parents=True)
    return path


def git(*arguments, cwd):
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd), "GIT_CONFIG_NOSYSTEM": "1"}
    options = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    subprocess.run(["git", *options, *map(str, arguments)], cwd=cwd, env=environment, check=True, capture_output=True)


def settings(project, **values):
    if values:
        path = project / ".claude" / "memory" / "memory-config.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")
    return load_settings(str(project), {})


def root_of(project, **values):
    return memory_root(str(project), settings(project, **values))


def refusal(*arguments):
    with pytest.raises(WriteRefused) as caught:
        target_file(*arguments)
    facts = dict(caught.value.facts)
    assert caught.value.kind == "PATH_ERROR"
    assert facts["fix"]
    assert len(str(caught.value).split("\n")) == 4
    assert str(caught.value).replace("\n", "").isprintable()
    return facts


# ---- the root


def test_root_is_below_the_project_and_has_a_folder_for_each_category(project):
    root = root_of(project)
    real = os.path.realpath(project)
    assert (root.project, root.path) == (real, os.path.join(real, ".claude", "memory"))
    assert root.folders == FOLDER


def test_root_need_not_be_there_yet(tmp_path):
    (tmp_path / "new").mkdir()
    assert root_of(tmp_path / "new").path == os.path.realpath(tmp_path / "new" / ".claude" / "memory")
    assert os.listdir(tmp_path / "new") == []


@pytest.mark.parametrize("name", ["with space", "grün 😀", "-rf", "*", "a -> b", "quo'te\"s", "$HOME", "x\ny"])
def test_project_may_have_any_name(tmp_path, name):
    (tmp_path / name).mkdir()
    root = root_of(tmp_path / name)
    path, category = target_file(root, ".claude/memory/decisions/x.json")
    assert (path, category) == (
        os.path.realpath(tmp_path / name / ".claude" / "memory" / "decisions" / "x.json"),
        "decision",
    )
    assert root.shown(path) == ".claude/memory/decisions/x.json"


def test_root_of_a_project_behind_a_link_is_the_real_one(project, tmp_path):
    (tmp_path / "link").symlink_to(project)
    assert root_of(tmp_path / "link").path == root_of(project).path


def test_root_can_be_another_folder(project):
    (project / ".git").mkdir()
    root = root_of(project, memory_root="docs/memories")
    assert root.shown(root.path) == "docs/memories"
    assert target_file(root, "docs/memories/decisions/x.json")[1] == "decision"


def test_folder_of_a_category_can_be_another(project):
    root = root_of(project, categories={"decision": {"folder": "adr"}})
    assert target_file(root, "adr/x.json") == (os.path.join(root.path, "adr", "x.json"), "decision")
    refusal(root, "decisions/x.json")


@pytest.mark.parametrize(
    "value",
    [
        "",
        ".",
        "..",
        "../other",
        "a/../..",
        "a/../b",
        "/etc",
        "/",
        "~",
        "a//b",
        "a/",
        "./a",
        "a\\..\\b",
        "a\nb",
        "a\0b",
        7,
        None,
    ],
)
def test_root_that_tries_to_escape_is_passed_over_for_the_default(project, value):
    loaded = settings(project, memory_root=value)
    assert [problem.key for problem in loaded.problems] == ["memory_root"]
    assert memory_root(str(project), loaded).path == os.path.realpath(project / ".claude" / "memory")


@pytest.mark.parametrize("value", ["", ".", "..", "../x", "a/b", "/etc", ".hidden", "a\\b", "a b", "a\0", 7, ["a"]])
def test_folder_that_tries_to_escape_is_passed_over_for_the_default(project, value):
    loaded = settings(project, categories={"decision": {"folder": value}})
    assert [problem.key for problem in loaded.problems] == ["categories.decision.folder"]
    assert memory_root(str(project), loaded).folders == FOLDER


def test_two_categories_in_one_folder_are_refused(project):
    with pytest.raises(WriteRefused) as caught:
        root_of(project, categories={"decision": {"folder": "runbooks"}})
    assert caught.value.kind == "SETTINGS_ERROR"
    assert "folder of its own" in str(caught.value)


@pytest.mark.parametrize(
    ("link", "target"),
    [
        (".claude", "../other"),
        (".claude", "../shop-2"),  # its name begins as the project's does
        (".claude/memory", "../../other"),
        (".claude/memory", "../../shop-2"),
        (".claude/memory", ".."),
        (".claude/memory", "../.."),
        (".claude/memory", "/"),
    ],
)
def test_root_that_a_link_leads_out_of_the_project_is_refused(tmp_path, link, target):
    for name in ("other", "shop-2"):
        (tmp_path / name).mkdir()
    project = tmp_path / "shop"
    (project / link).parent.mkdir(parents=True)
    (project / link).symlink_to(target)
    with pytest.raises(WriteRefused) as caught:
        memory_root(str(project), load_settings(str(tmp_path), {}))
    assert caught.value.kind == "SECURITY_ERROR"
    assert dict(caught.value.facts)["fix"]


def test_root_that_a_link_leads_elsewhere_in_the_project_is_the_real_one(project):
    (project / ".claude" / "kept").mkdir()
    (project / ".claude" / "memory").rmdir()
    (project / ".claude" / "memory").symlink_to(project / ".claude" / "kept")
    root = root_of(project)
    assert root.path == os.path.realpath(project / ".claude" / "kept")
    assert target_file(root, ".claude/memory/decisions/x.json")[0] == os.path.join(root.path, "decisions", "x.json")


@pytest.mark.parametrize("place", ["docs", ".git", ".git/hooks", ".claude/commands", ".claude/settings.json"])
def test_root_that_a_link_leads_to_what_is_not_ours_is_refused(project, place):
    (project / place).mkdir(parents=True, exist_ok=True)
    (project / ".claude" / "memory").rmdir()
    (project / ".claude" / "memory").symlink_to(project / place)
    with pytest.raises(WriteRefused, match="SECURITY_ERROR"):
        root_of(project)


# ---- worktrees


@pytest.fixture
def worktree(project, tmp_path):
    git("init", "-q", "-b", "main", ".", cwd=project)
    (project / ".claude" / "memory" / "decisions").mkdir()
    (project / ".claude" / "memory" / "decisions" / "x.json").write_text("{}", encoding="utf-8")
    git("add", "-A", cwd=project)
    git("commit", "-q", "-m", "start", cwd=project)
    git("worktree", "add", "-q", "-b", "side", tmp_path / "side tree", cwd=project)
    return tmp_path / "side tree"


def shared_root_of(worktree):
    return memory_root(str(worktree), load_settings(str(worktree), {"RECOLLECT_WORKTREE_MEMORIES": "shared"}))


def test_worktree_with_memories_has_a_root_of_its_own(project, worktree):
    assert root_of(worktree).project == os.path.realpath(worktree)
    assert root_of(project).project == os.path.realpath(project)


def test_worktree_without_memories_uses_the_root_of_the_main_checkout(project, worktree):
    (worktree / ".claude" / "memory" / "decisions" / "x.json").unlink()
    (worktree / ".claude" / "memory" / "decisions").rmdir()
    (worktree / ".claude" / "memory" / "memory-config.json").write_text("{}", encoding="utf-8")
    assert root_of(worktree).path == root_of(project).path


def test_worktrees_that_share_memories_have_the_root_of_the_main_checkout(project, worktree):
    assert (worktree / ".claude" / "memory" / "decisions" / "x.json").exists()
    assert shared_root_of(worktree).path == root_of(project).path
    assert shared_root_of(worktree).project == os.path.realpath(project)


def test_path_below_the_worktrees_copy_means_the_shared_file(project, worktree):
    root = shared_root_of(worktree)
    expected = (root.file("decision", "x"), "decision")
    for target in (worktree / ".claude/memory/decisions/x.json", project / ".claude/memory/decisions/x.json"):
        assert target_file(root, str(target), str(worktree)) == expected
    assert target_file(root, ".claude/memory/decisions/x.json", str(worktree)) == expected


def test_path_below_the_worktree_through_a_link_means_the_shared_file(worktree, tmp_path):
    (tmp_path / "link").symlink_to(worktree)
    root = root_of(tmp_path / "link")
    target = str(tmp_path / "link" / ".claude/memory/decisions/x.json")
    assert target_file(root, target, str(tmp_path / "link")) == (root.file("decision", "x"), "decision")


def test_path_below_another_worktree_is_refused(project, worktree, tmp_path):
    git("worktree", "add", "-q", "-b", "third", tmp_path / "third", cwd=project)
    refusal(root_of(worktree), str(tmp_path / "third" / ".claude/memory/decisions/x.json"), str(worktree))


def test_worktree_of_a_bare_repository_has_a_root_that_exists(project, tmp_path):
    git("init", "-q", "-b", "main", ".", cwd=project)
    git("commit", "-q", "--allow-empty", "-m", "start", cwd=project)
    git("clone", "-q", "--bare", project, tmp_path / "bare.git", cwd=tmp_path)
    git("worktree", "add", "-q", "-b", "other", tmp_path / "other", cwd=tmp_path / "bare.git")
    root = root_of(tmp_path / "other")
    assert os.path.isdir(root.project)


# ---- a root that somebody has named


def test_named_root_of_the_project_is_shown_from_the_project_on(project):
    root = memory_root_at(str(project / ".claude" / "memory"), settings(project))
    assert root.shown(root.index) == ".claude/memory/index.md"
    assert root.path == root_of(project).path


def test_named_root_elsewhere_is_shown_from_two_folders_above(project, tmp_path):
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    root = memory_root_at(str(tmp_path / "a" / "b" / "c"), settings(project))
    assert root.shown(root.index) == "b/c/index.md"


def test_named_root_behind_a_link_is_the_real_one(project, tmp_path):
    (tmp_path / "link").symlink_to(project / ".claude" / "memory")
    assert memory_root_at(str(tmp_path / "link"), settings(project)).path == root_of(project).path


def test_named_root_with_two_categories_in_one_folder_is_refused(project):
    with pytest.raises(WriteRefused, match="SETTINGS_ERROR"):
        memory_root_at(str(project), settings(project, categories={"decision": {"folder": "runbooks"}}))


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("/p/shop/.claude/memory/decisions/x.json", "/p/shop"),
        ("/p/shop//.claude/./memory/decisions/x.json", "/p/shop"),
        ("/.claude/memory/decisions/x.json", "/"),
        ("/p/.claude/memory/.claude/memory/x.json", "/p"),
    ],
)
def test_project_of_a_path_is_what_stands_before_the_usual_root(target, found):
    assert project_of(target) == found


def test_project_of_another_path_is_the_project_around_it(project):
    (project / ".git").mkdir()
    assert project_of(str(project / "docs" / "memories" / "decisions" / "x.json")) == str(project)


# ---- a file


@pytest.mark.parametrize("category", PROJECT)
def test_path_means_a_file_of_its_folders_category(project, category):
    root = root_of(project)
    expected = (root.file(category, "a-slug"), category)
    folder = FOLDER[category]
    for target in (
        f".claude/memory/{folder}/a-slug.json",
        f"./.claude//memory/{folder}/a-slug.json",
        f"{folder}/a-slug.json",
        f"./{folder}/a-slug.json",
        root.file(category, "a-slug"),
    ):
        assert target_file(root, target) == expected


def test_absolute_path_through_a_link_to_the_project_is_the_real_file(project, tmp_path):
    (tmp_path / "link").symlink_to(project)
    root = root_of(project)
    assert target_file(root, str(tmp_path / "link" / ".claude/memory/decisions/x.json"))[0] == root.file(
        "decision", "x"
    )


@pytest.mark.parametrize(
    "target",
    [
        "../x.json",
        ".claude/memory/decisions/../../../../etc/x.json",
        ".claude/memory/decisions/../runbooks/x.json",
        "decisions/..",
        "decisions/../x.json",
        "..\\x.json",
        "decisions\\..\\x.json",
        "decisions/x.json\0",
        "decisions/\0/x.json",
        "/etc/passwd",
        "/etc/x.json",
        "/",
        "",
        ".",
        "x.json",
        "decisions",
        "decisions/",
        ".claude/memory",
        ".claude/memory/index.md",
        ".claude/memory/x.json",
        ".claude/memory/memory-config.json",
        ".claude/memory/other/x.json",
        ".claude/memory/decisions/deep/x.json",
        ".claude/memory/decisions.json",
        "src/decisions/x.json",
        "decisions/X.json",
        "decisions/x.JSON",
        "decisions/x.md",
        "decisions/x",
        "decisions/.json",
        "decisions/-x.json",
        "decisions/x y.json",
        "decisions/é.json",
        "decisions/x.json\n",
        "decisions/\x1b[31m.json",
        "decisions/\u202ex.json",
        "decisions/\udcff.json",
        "decisions/" + "a" * 81 + ".json",
        "decisions/" + "a" * 5000 + ".json",
        "DECISIONS/x.json",
        "~/x.json",
        "$HOME/x.json",
        "file:///etc/x.json",
        "%2e%2e/x.json",
    ],
)
def test_path_to_anywhere_else_is_refused(project, target):
    refusal(root_of(project), target)


@pytest.mark.parametrize("inside", [True, False])
def test_folder_of_a_category_that_is_a_link_is_refused(project, tmp_path, inside):
    elsewhere = project / "docs" if inside else tmp_path / "outside"
    elsewhere.mkdir()
    (project / ".claude" / "memory" / "decisions").symlink_to(elsewhere)
    root = root_of(project)
    refusal(root, "decisions/x.json")
    refusal(root, str(project / ".claude/memory/decisions/x.json"))


def test_file_that_is_a_link_out_of_the_root_is_refused(project, tmp_path):
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    (project / ".claude" / "memory" / "decisions").mkdir()
    (project / ".claude" / "memory" / "decisions" / "x.json").symlink_to(tmp_path / "x.json")
    refusal(root_of(project), "decisions/x.json")


def test_file_that_is_a_link_to_another_memory_means_that_one(project):
    (project / ".claude" / "memory" / "decisions").mkdir()
    (project / ".claude" / "memory" / "decisions" / "alias.json").symlink_to("real.json")
    root = root_of(project)
    assert target_file(root, "decisions/alias.json")[0] == root.file("decision", "real")


def test_link_that_leads_to_itself_is_no_error_of_another_kind(project):
    folder = project / ".claude" / "memory" / "decisions"
    folder.mkdir()
    (folder / "x.json").symlink_to("x.json")
    root = root_of(project)
    assert target_file(root, "decisions/x.json") == (root.file("decision", "x"), "decision")


def test_refusal_names_the_folders(project):
    facts = refusal(root_of(project), "x.json")
    assert ".claude/memory/FOLDER/SLUG.json" in facts["fix"]
    assert all(folder in facts["fix"] for folder in FOLDER.values())


parts = st.lists(
    st.sampled_from(["..", ".", "", "a", "x.json", "decisions", ".claude", "memory", "\\", "é", " ", "~", "\n", "/"]),
    max_size=7,
)


@given(parts.map("/".join) | st.text(max_size=30), st.booleans())
def test_any_path_is_refused_or_means_a_file_in_a_folder_of_a_category(target, absolute):
    root = MemoryRoot("/nowhere/shop", "/nowhere/shop/.claude/memory", FOLDER)
    target = f"/nowhere/shop/{target}" if absolute else target
    try:
        path, category = target_file(root, target)
    except WriteRefused as error:
        assert error.kind == "PATH_ERROR"  # noqa: PT017 (either outcome is right)
    else:
        assert os.path.dirname(path) == root.folder(category)
        assert is_file_name(os.path.basename(path))
