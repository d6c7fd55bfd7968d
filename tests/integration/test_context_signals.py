"""What git says about the session: real repositories of every kind, and a git that does not answer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import recollect.errors
from recollect.recall.context import collect


@pytest.fixture
def git(tmp_path):
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    options = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"]

    def run(*arguments, cwd):
        command = ["git", *options, *map(str, arguments)]
        subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True)

    return run


@pytest.fixture
def make(tmp_path, git):
    """A repository with a number of commits, each of a file of its own."""

    def repository(commits, branch="main", place="shop"):
        path = tmp_path / place
        path.mkdir()
        git("init", "-q", "-b", branch, ".", cwd=path)
        for number in range(1, commits + 1):
            commit(path, git, f"file{number}.py")
        return path

    return repository


def commit(path, git, *names):
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(os.fsencode(name))
    git("add", "--", *names, cwd=path)
    git("commit", "-q", "-m", names[0], cwd=path)


def signals(path, seconds=60.0, *, commits=False):
    """The signals of a project; what the last commits say, only if a test is about them."""
    context = collect(str(path), seconds)
    assert context.warnings == []
    return [signal for signal in context.signals if commits or not signal.startswith("Commits: ")]


def test_files_of_the_last_three_commits_are_listed(make):
    assert signals(make(6)) == ["Files: file4.py file5.py file6.py"]


@pytest.mark.parametrize(("commits", "listed"), [(2, ["Files: file2.py"]), (3, ["Files: file3.py"]), (1, []), (0, [])])
def test_with_fewer_commits_those_of_the_last_one(make, commits, listed):
    assert signals(make(commits)) == listed


def test_at_most_twenty_files_are_listed(make, git):
    path = make(1)
    commit(path, git, *[f"many/file{number:03}.py" for number in range(100)])
    (path / "many").rename(path / "moved")
    uncommitted, files, folders = signals(path)
    assert folders == "Folders: moved"
    assert len(files.removeprefix("Files: ").split()) == 20
    assert len(uncommitted.removeprefix("Uncommitted: ").split()) == 20


def test_branch_that_says_something_is_named(make):
    assert signals(make(1, "feat/webhook-retries")) == ["Branch: feat/webhook-retries"]


@pytest.mark.parametrize("branch", ["main", "master", "trunk", "develop"])
def test_branch_that_every_project_has_is_not_named(make, branch):
    assert signals(make(1, branch)) == []


def test_branch_without_a_commit_is_named(make):
    assert signals(make(0, "idea")) == ["Branch: idea"]


def test_detached_head_has_no_branch(make, git):
    path = make(4, "feat")
    git("checkout", "-q", "--detach", cwd=path)
    assert signals(path) == ["Files: file2.py file3.py file4.py"]


def test_work_that_is_not_committed_is_listed(make, git):
    path = make(2)
    (path / "file1.py").write_text("changed", encoding="utf-8")
    (path / "staged.py").write_text("", encoding="utf-8")
    git("add", "staged.py", cwd=path)
    (path / "new.py").write_text("", encoding="utf-8")
    (path / "folder").mkdir()
    (path / "folder" / "other.py").write_text("", encoding="utf-8")
    assert signals(path) == ["Uncommitted: file1.py staged.py folder/ new.py", "Files: file2.py"]


def test_signals_stand_in_their_order(make):
    path = make(4, "feat")
    folder = path / "docs" / "features" / "001-a"
    folder.mkdir(parents=True)
    (folder / ".meta.json").write_text('{"slug": "a", "status": "active"}', encoding="utf-8")
    (folder / "spec.md").write_text("What it is", encoding="utf-8")
    (folder / "plan.md").write_text("How it is done", encoding="utf-8")
    (path / "file5.py").write_text("", encoding="utf-8")
    assert collect(str(path), 60, last_session="Before").signals == [
        "a",
        "What it is",
        "Phase: unknown",
        "Branch: feat",
        "Plan: How it is done",
        "Last session: Before",
        "Commits: file4.py; file3.py; file2.py; file1.py",
        "Uncommitted: file5.py",
        "Files: file2.py file3.py file4.py",
    ]


def test_last_five_commits_are_told_by_their_subjects(make, git):
    path = make(7)
    git("commit", "-q", "--allow-empty", "-m", "Retry webhooks\n\nWith a body.", cwd=path)
    git("commit", "-q", "--allow-empty", "-m", "memory: create decision use-queue", cwd=path)
    git("commit", "-q", "--allow-empty", "-m", "x" * 500, cwd=path)
    expected = f"Commits: {'x' * 120}; Retry webhooks; file7.py; file6.py; file5.py"
    assert signals(path, commits=True)[0] == expected


def test_merges_are_no_subjects(make, git):
    path = make(2)
    git("checkout", "-q", "-b", "side", "HEAD~1", cwd=path)
    commit(path, git, "side.py")
    git("checkout", "-q", "main", cwd=path)
    git("merge", "-q", "--no-edit", "side", cwd=path)
    assert "Merge" not in signals(path, commits=True)[0]
    assert "side.py" in signals(path, commits=True)[0]


def test_files_of_recollect_are_no_signals(make, git):
    path = make(4)
    own = ".claude/memory/decisions/a.json", "docs/knowledge-bank/patterns.md", ".claude/iflow-dev.local.md"
    commit(path, git, *own, "src/real.py")
    for name in own:
        (path / name).write_text("changed", encoding="utf-8")
    assert signals(path) == ["Files: file3.py file4.py src/real.py"]
    nested = path / "sub" / "docs" / "knowledge-bank" / "patterns.md"
    nested.parent.mkdir(parents=True)
    nested.write_text("x", encoding="utf-8")
    git("add", "sub", cwd=path)
    assert signals(path) == ["Files: file3.py file4.py src/real.py"]


def test_untracked_folders_of_recollect_are_no_signals(make):
    path = make(2)
    (path / ".claude" / "memory").mkdir(parents=True)
    (path / ".claude" / "memory" / "index.md").write_text("x", encoding="utf-8")
    (path / "docs" / "knowledge-bank").mkdir(parents=True)
    (path / "docs" / "knowledge-bank" / "patterns.md").write_text("x", encoding="utf-8")
    assert signals(path) == ["Files: file2.py"]


def test_another_memory_root_is_no_signal(make, git):
    path = make(2)
    (path / ".claude" / "notes").mkdir(parents=True)
    (path / ".claude" / "notes" / "a.json").write_text("x", encoding="utf-8")
    (path / ".claude" / "settings.json").write_text("x", encoding="utf-8")
    git("add", ".claude", cwd=path)
    context = collect(str(path), 60, memory_root=".claude/notes")
    assert "Uncommitted: .claude/settings.json" in context.signals


def test_folders_of_files_beyond_the_listed_ones_are_named(make, git):
    path = make(1)
    names = [f"first/f{n:02}.py" for n in range(20)] + [f"web/views/f{n}.py" for n in range(3)] + ["zoo/f.py"]
    commit(path, git, *names)
    assert signals(path)[-1] == "Folders: web/views zoo"


def test_names_of_every_kind_are_shown_on_one_line(make, git):
    path = make(1)
    commit(path, git, "grün.py", "two\nlines.py", "a b.py", os.fsdecode(b"\xff.py"))
    [files] = signals(path)
    assert "grün.py" in files
    assert "a b.py" in files
    assert "two lines.py" in files
    assert "\n" not in files
    files.encode("utf-8")


def test_folder_inside_a_repository_has_its_signals(make):
    path = make(4) / "src"
    path.mkdir()
    assert signals(path) == ["Files: file2.py file3.py file4.py"]


@pytest.mark.parametrize("depth", [1, 2])
def test_shallow_clone_is_no_error(make, git, tmp_path, depth):
    url = f"file://{make(6)}"
    git("clone", "-q", "--depth", depth, url, "clone", cwd=tmp_path)
    assert signals(tmp_path / "clone") == (["Files: file6.py"] if depth == 2 else [])


def test_worktree_has_its_own_branch(make, git, tmp_path):
    git("worktree", "add", "-q", "-b", "side", tmp_path / "side", cwd=make(4))
    assert signals(tmp_path / "side") == ["Branch: side", "Files: file2.py file3.py file4.py"]


def test_worktree_of_a_bare_repository_has_its_signals(make, git, tmp_path):
    git("clone", "-q", "--bare", make(4), tmp_path / "w" / ".bare", cwd=tmp_path)
    git("worktree", "add", "-q", "-b", "side", tmp_path / "w" / "side", cwd=tmp_path / "w" / ".bare")
    assert signals(tmp_path / "w" / "side") == ["Branch: side", "Files: file2.py file3.py file4.py"]


def test_bare_repository_is_no_error(make, git, tmp_path):
    git("clone", "-q", "--bare", make(4), tmp_path / "bare.git", cwd=tmp_path)
    assert signals(tmp_path / "bare.git") == []
    git("clone", "-q", "--bare", tmp_path / "shop", tmp_path / "odd" / ".git", cwd=tmp_path)
    assert signals(tmp_path / "odd") == []


def test_submodule_has_its_own_signals(make, git):
    outer = make(1)
    git("submodule", "add", "-q", f"file://{make(4, place='inner')}", "vendor/inner", cwd=outer)
    assert signals(outer / "vendor" / "inner") == ["Files: file2.py file3.py file4.py"]


def test_merge_in_progress_is_no_error(make, git):
    path = make(2)
    git("checkout", "-q", "-b", "side", "HEAD~1", cwd=path)
    (path / "file1.py").write_text("theirs", encoding="utf-8")
    git("commit", "-q", "-a", "-m", "theirs", cwd=path)
    git("checkout", "-q", "main", cwd=path)
    (path / "file1.py").write_text("ours", encoding="utf-8")
    git("commit", "-q", "-a", "-m", "ours", cwd=path)
    with pytest.raises(subprocess.CalledProcessError):
        git("merge", "side", cwd=path)
    assert signals(path)[0] == "Uncommitted: file1.py"


def test_output_without_end_is_cut(make):
    path = make(2)
    for number in range(700):
        (path / f"{number:03}-{'x' * 200}").write_text("", encoding="utf-8")
    uncommitted = signals(path)[0]
    assert uncommitted.startswith("Uncommitted: 000-xxx")
    assert len(uncommitted) < 20 * 202 + 20


@pytest.mark.parametrize("content", ["", "gitdir: nowhere\n", "gitdir: a\0b\n", "gitdir:\n", "nonsense"])
def test_git_file_that_leads_nowhere_is_no_repository(tmp_path, content):
    (tmp_path / ".git").write_text(content, encoding="utf-8")
    assert signals(tmp_path) == []


def test_damaged_repository_is_no_error_and_not_the_one_around_it(make):
    outer = make(4, "feat")
    inner = outer / "inner"
    (inner / ".git").mkdir(parents=True)
    (inner / ".git" / "HEAD").write_bytes(b"\xff\xfe")
    assert signals(inner) == []


def test_repository_is_left_as_it_is(make):
    path = make(4)
    (path / "file1.py").touch()
    index = (path / ".git" / "index").read_bytes()
    signals(path)
    assert (path / ".git" / "index").read_bytes() == index
    assert not list((path / ".git").glob("*.lock"))


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"])
def test_variables_of_a_git_hook_do_not_mislead(make, tmp_path, monkeypatch, variable):
    path = make(4)
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    assert signals(path) == ["Files: file2.py file3.py file4.py"]


def test_no_configuration_of_a_repository_runs_a_program(make, git, tmp_path):
    path = make(4)
    commit(path, git, ".gitattributes")
    (path / ".gitattributes").write_text("* filter=evil diff=evil\n", encoding="utf-8")
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n", encoding="utf-8")
    program.chmod(0o755)
    for key in (
        *("core.fsmonitor", "core.pager", "pager.diff", "pager.status", "diff.external", "core.sshCommand"),
        *("diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.process", "alias.diff"),
        *("gpg.program", "gpg.ssh.program", "gpg.x509.program", "alias.log", "pager.log"),
    ):
        git("config", key, program, cwd=path)
    git("config", "log.showSignature", "true", cwd=path)
    hooks = path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-index-change").symlink_to(program)
    (path / "file1.py").write_text("FILE1.PY", encoding="utf-8")
    (path / "staged.py").symlink_to("file1.py")
    (tmp_path / "ran").unlink(missing_ok=True)
    assert signals(path)[-1].startswith("Files: ")
    assert not (tmp_path / "ran").exists()


def test_partial_clone_fetches_nothing(make, git, tmp_path):
    source = make(6)
    git("config", "uploadpack.allowFilter", "true", cwd=source)
    git("clone", "-q", "--filter=tree:0", f"file://{source}", "clone", cwd=tmp_path)
    clone = tmp_path / "clone"
    program = tmp_path / "ssh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    program.chmod(0o755)
    git("config", "core.sshCommand", program, cwd=clone)
    git("remote", "set-url", "origin", "ssh://example.invalid/x", cwd=clone)
    collect(str(clone), 60)
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def fake_git(tmp_path, monkeypatch):
    """Replaces git on the PATH by a shell script."""

    def install(script):
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "git").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return install


def test_git_that_does_not_answer_is_ended_with_its_children_and_told(make, fake_git, tmp_path):
    path = make(4, "feat")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    fake_git(f"exec 3>{pipe}; (sleep 100; echo survived >&3) & wait")
    context = collect(str(path), 0.5)
    os.set_blocking(reading, True)
    assert os.read(reading, 100) == b""
    os.close(reading)
    assert context.signals == ["Branch: feat"]
    [warning] = context.warnings
    assert str(path) in warning


def test_git_that_closes_its_output_and_stays_is_ended(make, fake_git):
    path = make(4, "feat")
    fake_git("exec >&-; sleep 100")
    context = collect(str(path), 0.5)
    assert context.signals == ["Branch: feat"]
    assert len(context.warnings) == 1


def test_git_that_never_stops_talking_is_cut_off(make, fake_git):
    path = make(4)
    fake_git("case \"$*\" in *get-regexp*) exit 1;; esac; while :; do printf 'XX name\\0'; done")
    uncommitted, files = signals(path)
    assert files == "Files: " + " ".join(["XX name"] * 20)
    assert uncommitted == "Uncommitted: " + " ".join(["name"] * 20)


def test_git_that_fails_is_no_error(make, fake_git):
    path = make(4, "feat")
    fake_git("printf 'name\\0'; exit 128")
    assert signals(path) == ["Branch: feat"]


def test_missing_git_is_no_error(make, tmp_path, monkeypatch):
    path = make(4, "feat")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert signals(path) == ["Branch: feat"]


def test_git_is_not_started_outside_a_repository(tmp_path, fake_git):
    fake_git(f"touch {tmp_path}/ran")
    assert signals(tmp_path) == []
    assert not (tmp_path / "ran").exists()


def test_nothing_is_left_open(make):
    path = make(4)
    before = os.listdir("/dev/fd")
    signals(path)
    assert len(os.listdir("/dev/fd")) == len(before)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_process_with_closed_streams_has_its_signals(make, tmp_path, closed):
    path = make(4)
    source = str(Path(recollect.errors.__file__).parents[1])
    program = (
        f"import sys; sys.path.insert(0, {source!r})\n"
        "from recollect.recall.context import collect\n"
        f"query = collect({str(path)!r}, 60).query\n"
        f"open({str(tmp_path / 'query')!r}, 'w', encoding='utf-8').write(query)"
    )
    shell = ["sh", "-c", f'"$0" -I -S -c "$1" {closed}', sys.executable, program]
    subprocess.run(shell, check=True)
    expected = "Commits: file4.py; file3.py; file2.py; file1.py. Files: file2.py file3.py file4.py"
    assert (tmp_path / "query").read_text(encoding="utf-8") == expected
