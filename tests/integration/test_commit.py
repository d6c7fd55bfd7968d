"""auto_commit in real repositories: memory files and their index are committed, and nothing else ever is."""

import os
import shutil
import subprocess
import threading

import pytest

from recollect.domain.categories import FOLDER
from recollect.files.memory.memories import MemoryRoot
from recollect.memories.commit import commit_memories

GIT = shutil.which("git") or "git"
MEMORY = ".claude/memory/decisions/use-postgres.json"
INDEX = ".claude/memory/index.md"


class Repository:
    """A repository, and a project with memories in it."""

    def __init__(self, path, home, below=""):
        self.path = path
        self.project = path / below
        self.home = home
        self.project.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main", ".")
        self.git("config", "user.name", "Dev")
        self.git("config", "user.email", "dev@example.com")

    @property
    def root(self):
        project = os.path.realpath(self.project)
        return MemoryRoot(project, os.path.join(project, ".claude", "memory"), FOLDER)

    def git(self, *arguments, check=True, cwd=None, **options):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        command = [GIT, "-c", "core.quotepath=off", *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=cwd or self.path,
            env=environment,
            check=check,
            capture_output=True,
            encoding="utf-8",
            **options,
        )
        return done.stdout

    def write(self, name, text="{}\n"):
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def remember(self, name=MEMORY, text="{}\n"):
        """Write a memory as a change does: its file, and the index."""
        path = self.write(name, text)
        self.write(INDEX, f"# Memory Index\n{name} {text}")
        return path

    def start(self):
        self.write("app.py", "one\n" + "line\n" * 20 + "last\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "start")

    def commit(self, *paths, message="Memory: use Postgres", **options):
        return commit_memories(self.root, paths, message, **options)

    def committed(self, which="HEAD"):
        """Mark and name of each file of a commit."""
        lines = self.git("show", "--format=", "--name-status", "--no-renames", which).split("\n")
        return sorted(tuple(line.split("\t")) for line in lines if line)

    def staged(self):
        return self.git("diff", "--cached")

    def status(self):
        return self.git("status", "--porcelain", "--untracked-files=all")

    def count(self):
        return int(self.git("rev-list", "--count", "--all"))


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in [name for name in os.environ if name.startswith("GIT_") and name != "GIT_CONFIG_NOSYSTEM"]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("EMAIL", raising=False)
    return folder


@pytest.fixture
def empty(home):
    return Repository(home / "shop", home)


@pytest.fixture
def shop(empty):
    empty.start()
    return empty


# ---- what is committed


def test_new_memory_is_committed_with_the_index_and_the_message(shop):
    assert shop.commit(shop.remember()) == []
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]
    assert shop.git("log", "-1", "--format=%B") == "Memory: use Postgres\n\n"
    assert shop.git("log", "-1", "--format=%an %ae %cn %ce") == "Dev dev@example.com Dev dev@example.com\n"
    assert shop.status() == ""


def test_changed_memory_is_committed_as_it_is_in_its_file(shop):
    shop.commit(shop.remember())
    assert shop.commit(shop.remember(text='{"a": 1}\n')) == []
    assert shop.committed() == [("M", MEMORY), ("M", INDEX)]
    assert shop.git("show", f"HEAD:{MEMORY}") == '{"a": 1}\n'
    assert shop.status() == ""


def test_renamed_memory_is_one_commit(shop):
    old = shop.remember()
    shop.commit(old)
    os.unlink(old)
    new = shop.remember(".claude/memory/decisions/use-sqlite.json")
    assert shop.commit(old, new) == []
    assert shop.committed() == [("A", ".claude/memory/decisions/use-sqlite.json"), ("D", MEMORY), ("M", INDEX)]
    assert shop.status() == ""


def test_removed_memory_is_removed_by_a_commit(shop):
    path = shop.remember()
    shop.commit(path)
    os.unlink(path)
    assert shop.commit(path) == []
    assert shop.committed() == [("D", MEMORY)]
    assert shop.status() == ""


def test_memory_that_came_and_went_between_two_commits_leaves_none(shop):
    path = str(shop.project / MEMORY)
    (shop.project / ".claude/memory/decisions").mkdir(parents=True)
    assert shop.commit(path) == []
    assert shop.count() == 1


def test_memory_that_is_committed_already_makes_no_second_commit(shop):
    path = shop.remember()
    shop.commit(path)
    assert shop.commit(path) == []
    assert shop.count() == 2


def test_several_memories_are_one_commit(shop):
    paths = [shop.remember(f".claude/memory/runbooks/fix-{number}.json") for number in range(5)]
    assert shop.commit(*paths) == []
    assert [name for _, name in shop.committed()] == sorted(
        [os.path.relpath(path, shop.path) for path in paths] + [INDEX]
    )


def test_other_memories_are_left_as_they_are(shop):
    other = shop.remember(".claude/memory/decisions/other.json")
    assert shop.commit(shop.remember()) == []
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]
    assert shop.status() == f"?? {os.path.relpath(other, shop.path)}\n"


def test_nothing_is_committed_for_no_memory(shop):
    shop.remember()
    assert shop.commit() == []
    assert shop.count() == 1


def test_memory_without_an_index_is_committed_alone(shop):
    assert shop.commit(shop.write(MEMORY)) == []
    assert shop.committed() == [("A", MEMORY)]


def test_commit_has_its_line_in_the_reflog(shop):
    shop.commit(shop.remember())
    assert shop.git("reflog", "-1", "--format=%gs", "main").strip() == "commit: Memory: use Postgres"


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        ("two\nlines\r\n\nand more", "two lines and more"),
        ("grün \x1b[31m\u202e ok", "grün [31m ok"),
        ("# not a comment", "# not a comment"),
        ("-m", "-m"),
        ("--amend", "--amend"),
        (" \n ", "Update project memories"),
        ("\udcff", "?"),
    ],
)
def test_message_is_one_visible_line(shop, message, subject):
    assert shop.commit(shop.remember(), message=message) == []
    assert shop.git("log", "-1", "--format=%B").rstrip("\n") == subject


# ---- what is the user's


def test_what_is_staged_stays_staged_and_is_not_committed(shop):
    shop.write("app.py", "changed\n")
    shop.write("new.py", "new\n")
    shop.write("gone.py", "")
    shop.git("add", "-A")
    staged = shop.staged()
    assert shop.commit(shop.remember()) == []
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]
    assert shop.staged() == staged


def test_partially_staged_file_stays_as_it_was(shop):
    text = (shop.project / "app.py").read_text(encoding="utf-8")
    shop.write("app.py", text.replace("one", "ONE").replace("last", "LAST"))
    shop.git("add", "-p", "app.py", input="y\nn\n")
    staged, unstaged = shop.staged(), shop.git("diff")
    assert "+ONE" in staged
    assert "+LAST" in unstaged
    assert shop.commit(shop.remember()) == []
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]
    assert (shop.staged(), shop.git("diff")) == (staged, unstaged)


def test_removal_that_is_staged_stays_staged(shop):
    shop.git("rm", "-q", "--cached", "app.py")
    assert shop.commit(shop.remember()) == []
    assert shop.git("ls-tree", "--name-only", "HEAD", "app.py") == "app.py\n"
    assert shop.status() == "D  app.py\n?? app.py\n"


def test_file_marked_for_adding_stays_marked(shop):
    shop.write("later.py", "x\n")
    shop.git("add", "-N", "later.py")
    assert shop.commit(shop.remember()) == []
    assert shop.status() == " A later.py\n"


def test_older_version_of_the_memory_in_the_index_gives_way(shop):
    path = shop.remember(text="old\n")
    shop.git("add", "-A")
    shop.remember(text="new\n")
    assert shop.commit(path) == []
    assert shop.git("show", f"HEAD:{MEMORY}") == "new\n"
    assert shop.status() == ""


def test_stash_and_conflicts_of_other_files_are_left_alone(shop):
    shop.write("app.py", "stashed\n")
    shop.git("stash")
    shop.write("app.py", "other\n")
    shop.git("commit", "-qam", "other")
    shop.git("stash", "pop", check=False)
    before = shop.git("ls-files", "-u")
    assert before
    assert shop.commit(shop.remember()) == []
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]
    assert shop.git("ls-files", "-u") == before


def test_memory_with_a_conflict_is_not_committed(shop):
    path = shop.remember(text="one\n")
    shop.git("add", "-A")
    shop.git("commit", "-qm", "memory")
    shop.remember(text="stashed\n")
    shop.git("stash")
    shop.remember(text="other\n")
    shop.git("commit", "-qam", "other")
    shop.git("stash", "pop", check=False)
    before = shop.git("ls-files", "-u")
    [warning] = shop.commit(path)
    assert "conflicts" in warning
    assert shop.git("ls-files", "-u") == before
    assert shop.git("log", "-1", "--format=%s").strip() == "other"


def test_file_outside_the_memory_root_is_never_committed(shop):
    secret = shop.write(".env", "KEY=1\n")
    nested = shop.write(".claude/memory/decisions/deep/x.json")
    settings = shop.write(".claude/memory/memory-config.json")
    [warning] = shop.commit(secret, nested, settings, str(shop.project / "app.py"), shop.remember())
    assert warning.startswith("not committed: .env, .claude/memory/decisions/deep/x.json, ")
    assert "and 1 more" in warning
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]


def test_link_out_of_the_memory_root_is_not_followed(shop, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.json").write_text("secret\n", encoding="utf-8")
    (shop.project / ".claude/memory").mkdir(parents=True)
    (shop.project / ".claude/memory/decisions").symlink_to(tmp_path / "elsewhere")
    [warning] = shop.commit(str(shop.project / ".claude/memory/decisions/x.json"))
    assert "no file of the memory root" in warning
    assert shop.count() == 1


def test_memory_that_the_user_takes_out_of_git_is_not_put_back(shop):
    shop.commit(shop.remember())
    shop.git("rm", "-q", "--cached", MEMORY)
    shop.write(".gitignore", "*.json\n")
    staged = shop.staged()
    [warning] = shop.commit(shop.remember(text="2\n"))
    assert "ignored by git" in warning
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]
    assert shop.staged() == staged


# ---- where the repository is


def test_first_commit_of_a_repository_can_be_a_memory(empty):
    empty.write("draft.py", "x\n")
    empty.git("add", "draft.py")
    assert empty.commit(empty.remember()) == []
    assert empty.git("ls-tree", "-r", "--name-only", "HEAD").split() == [MEMORY, INDEX]
    assert empty.status() == "A  draft.py\n"
    assert empty.git("symbolic-ref", "HEAD").strip() == "refs/heads/main"


def test_memory_that_is_gone_makes_no_first_commit(empty):
    path = empty.remember()
    os.unlink(path)
    os.unlink(empty.project / INDEX)
    assert empty.commit(path) == []
    assert empty.count() == 0


def test_repository_above_the_project_is_found(home):
    repository = Repository(home / "mono", home, below="services/shop")
    repository.start()
    assert repository.commit(repository.remember()) == []
    assert repository.committed() == [("A", f"services/shop/{MEMORY}"), ("A", f"services/shop/{INDEX}")]
    assert repository.status() == ""


@pytest.mark.parametrize(
    "name", ["-rf", "--all", ":(top)", ":!x", "with space", "grün 😀", "*", "[a]", "line\nbreak", 'quo"te', "tab\there"]
)
def test_project_with_any_name_is_committed(home, name):
    repository = Repository(home / "mono", home, below=name)
    repository.write("other.py", "x\n")
    assert repository.commit(repository.remember()) == []
    names = repository.git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")[:-1]
    assert names == [f"{name}/{MEMORY}", f"{name}/{INDEX}"]


def test_folder_of_a_category_may_begin_with_a_hyphen(shop):
    root = MemoryRoot(shop.root.project, shop.root.path, {**FOLDER, "decision": "-decisions"})
    path = shop.remember(".claude/memory/-decisions/x.json")
    assert commit_memories(root, [path], "m") == []
    assert shop.committed() == [("A", ".claude/memory/-decisions/x.json"), ("A", INDEX)]


def test_main_checkout_of_a_worktree_gets_the_commit(shop, tmp_path):
    shop.git("worktree", "add", "-q", "-b", "side", tmp_path / "side")
    assert shop.commit(shop.remember()) == []
    assert shop.committed("main") == [("A", MEMORY), ("A", INDEX)]
    assert shop.git("rev-list", "--count", "side").strip() == "1"


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY"])
def test_variables_of_a_git_hook_do_not_mislead(shop, tmp_path, monkeypatch, variable):
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    assert shop.commit(shop.remember()) == []
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]


def test_path_through_a_link_means_the_file(shop, tmp_path):
    (tmp_path / "link").symlink_to(shop.path)
    shop.remember()
    assert shop.commit(str(tmp_path / "link" / MEMORY)) == []
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]


def test_submodule_gets_the_commit_and_not_the_repository_around_it(shop, home):
    inner = Repository(home / "lib", home)
    inner.start()
    shop.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.path, "lib")
    shop.git("commit", "-qm", "lib")
    lib = Repository.__new__(Repository)
    lib.path = lib.project = shop.path / "lib"
    lib.home = home
    assert lib.git("config", "user.name", "Dev") == ""
    assert lib.git("config", "user.email", "dev@example.com") == ""
    assert lib.commit(lib.remember()) == []
    assert lib.committed() == [("A", MEMORY), ("A", INDEX)]
    assert shop.git("log", "-1", "--format=%s").strip() == "lib"


def test_repository_with_sha256_names_is_fine(home):
    repository = Repository(home / "shop", home)
    shutil.rmtree(repository.path / ".git")
    repository.git("init", "-q", "-b", "main", "--object-format=sha256", ".")
    repository.git("config", "user.name", "Dev")
    repository.git("config", "user.email", "dev@example.com")
    assert repository.commit(repository.remember()) == []
    assert repository.commit(repository.remember(text="2")) == []
    assert repository.committed() == [("M", MEMORY), ("M", INDEX)]


# ---- why not


def test_folder_outside_a_repository_is_said(home):
    (home / "plain").mkdir()
    root = MemoryRoot(str(home / "plain"), str(home / "plain" / ".claude" / "memory"), FOLDER)
    os.makedirs(root.folder("decision"))
    [warning] = commit_memories(root, [root.file("decision", "x")], "m")
    assert "no git repository" in warning
    assert "git init" in warning


def test_repository_of_the_home_folder_is_not_that_of_a_project_in_it(home):
    Repository(home, home)
    project = home / "notes"
    root = MemoryRoot(str(project), str(project / ".claude" / "memory"), FOLDER)
    os.makedirs(root.folder("decision"))
    [warning] = commit_memories(root, [root.file("decision", "x")], "m")
    assert "no git repository" in warning


def test_folder_around_a_bare_repository_is_said(shop, home):
    shop.git("clone", "-q", "--bare", shop.path, home / "w" / ".bare")
    (home / "w" / ".git").write_text("gitdir: ./.bare\n", encoding="utf-8")
    root = MemoryRoot(str(home / "w"), str(home / "w" / ".claude" / "memory"), FOLDER)
    os.makedirs(root.folder("decision"))
    [warning] = commit_memories(root, [root.file("decision", "x")], "m")
    assert "no git repository" in warning


def test_missing_memory_root_leaves_nothing_to_commit(shop):
    assert shop.commit(str(shop.project / MEMORY)) == []
    assert shop.count() == 1


def test_missing_git_is_said(shop, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    [warning] = shop.commit(shop.remember())
    assert "git cannot be run" in warning


def test_damaged_repository_is_said_in_one_line(shop):
    path = shop.remember()
    (shop.path / ".git" / "index").write_bytes(b"nonsense\x1b[31m")
    [warning] = shop.commit(path)
    assert warning.startswith("the memories were not committed: git status failed (")
    assert warning.isprintable()
    assert shop.count() == 1


def test_ignored_memory_is_a_warning_and_index_alone_is_not_committed(shop):
    shop.write(".gitignore", "*.json\n")
    [warning] = shop.commit(shop.remember())
    assert warning.startswith(f"not committed: {MEMORY} (ignored by git; ")
    assert ".gitignore" in warning
    assert shop.count() == 1
    assert shop.git("ls-files", ".claude") == ""


def test_ignored_index_is_left_out_quietly(shop):
    shop.write(".gitignore", "index.md\n")
    assert shop.commit(shop.remember()) == []
    assert shop.committed() == [("A", MEMORY)]


def test_ignored_memory_does_not_keep_others_back(shop):
    shop.write(".gitignore", "sessions/\n")
    session = shop.remember(".claude/memory/sessions/today.json")
    [warning] = shop.commit(session, shop.remember())
    assert "sessions/today.json" in warning
    assert "use-postgres" not in warning
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]


def test_many_ignored_memories_are_one_warning(shop):
    shop.write(".gitignore", ".claude/\n")
    [warning] = shop.commit(*[shop.remember(f".claude/memory/decisions/d{number}.json") for number in range(9)])
    assert "d0.json" in warning
    assert "and 6 more" in warning


def test_ignored_memory_that_is_gone_is_nothing_to_warn_of(shop):
    shop.write(".gitignore", ".claude/\n")
    path = shop.remember()
    os.unlink(path)
    assert shop.commit(path) == []


def test_memory_that_is_tracked_although_ignored_is_committed(shop):
    path = shop.remember()
    shop.commit(path)
    shop.write(".gitignore", ".claude/\n")
    assert shop.commit(shop.remember(text="2\n")) == []
    assert shop.committed() == [("M", MEMORY), ("M", INDEX)]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("merge", "a merge or a cherry-pick is under way"),
        ("cherry-pick", "a merge or a cherry-pick is under way"),
        ("rebase", "on no branch, as in a rebase"),
        ("revert", "a revert is under way"),
    ],
)
def test_nothing_is_committed_in_the_middle_of_something(shop, kind, said):
    shop.git("checkout", "-qb", "side")
    shop.write("app.py", "side\n")
    shop.git("commit", "-qam", "side")
    shop.git("checkout", "-q", "main")
    shop.write("app.py", "main\n")
    shop.git("commit", "-qam", "main")
    shop.git(kind, "HEAD~1" if kind == "revert" else "side", check=False)
    before = (shop.status(), shop.git("rev-parse", "HEAD"))
    [warning] = shop.commit(shop.remember())
    assert said in warning
    assert (shop.status().replace(f"?? {MEMORY}\n?? {INDEX}\n", ""), shop.git("rev-parse", "HEAD")) == before


def test_nothing_is_committed_on_no_branch(shop):
    shop.git("checkout", "-q", "--detach")
    [warning] = shop.commit(shop.remember())
    assert "on no branch" in warning
    assert shop.count() == 1


@pytest.mark.parametrize("keys", [("user.name",), ("user.email",), ("user.name", "user.email")])
def test_unknown_author_is_said_and_nothing_is_staged(shop, keys):
    for key in keys:
        shop.git("config", "--unset", key)
    [warning] = shop.commit(shop.remember())
    assert "user.name" in warning
    assert "git config" in warning
    assert shop.status() == f"?? {MEMORY}\n?? {INDEX}\n"
    assert shop.count() == 1


def test_author_of_the_environment_counts(shop, monkeypatch):
    shop.git("config", "--unset", "user.name")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ann")
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Bob")
    assert shop.commit(shop.remember()) == []
    assert shop.git("log", "-1", "--format=%an %cn").strip() == "Ann Bob"


def test_index_that_another_process_holds_is_said_and_nothing_is_committed(shop):
    lock = shop.path / ".git" / "index.lock"
    lock.touch()
    [warning] = shop.commit(shop.remember())
    assert "index.lock" in warning
    assert lock.exists()
    lock.unlink()
    assert shop.count() == 1
    assert shop.status() == f"?? {MEMORY}\n?? {INDEX}\n"


def wrapped_git(tmp_path, monkeypatch, script):
    """Puts a script in front of git: what it does not handle goes to git itself."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\n{script}\nexec {GIT} "$@"\n', encoding="utf-8")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_index_that_is_freed_in_time_is_waited_for(shop, tmp_path, monkeypatch):
    lock = shop.path / ".git" / "index.lock"
    lock.touch()
    # The lock goes once git has met it.
    wrapped_git(tmp_path, monkeypatch, f'{GIT} "$@" && exit 0; code=$?; rm -f {lock}; exit $code')
    assert shop.commit(shop.remember()) == []
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]


def test_commit_that_fails_at_its_end_leaves_nothing_staged(shop):
    shop.remember(text="committed\n")
    shop.git("add", "-A")
    shop.git("commit", "-qm", "memory")
    path = shop.remember(text="staged\n")
    shop.git("add", "-A")
    staged = shop.staged()
    shop.remember(text="now\n")
    new = shop.remember(".claude/memory/decisions/new.json")
    (shop.path / ".git" / "refs" / "heads" / "main.lock").touch()
    [warning] = shop.commit(path, new)
    assert "git commit failed" in warning
    assert shop.staged() == staged
    assert shop.status() == f"MM {MEMORY}\nMM {INDEX}\n?? .claude/memory/decisions/new.json\n"
    assert shop.git("log", "-1", "--format=%s").strip() == "memory"
    assert (shop.project / MEMORY).read_text(encoding="utf-8") == "now\n"


def test_two_writers_at_once_both_have_their_commits(shop):
    paths = [shop.remember(f".claude/memory/decisions/d{number}.json") for number in range(4)]
    warnings = []
    threads = [threading.Thread(target=lambda path=path: warnings.extend(shop.commit(path))) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tracked = shop.git("ls-tree", "-r", "--name-only", "HEAD", ".claude/").split()
    kept = [path for path in paths if os.path.relpath(path, shop.path) in tracked]
    assert len(kept) + len(warnings) >= len(paths)
    assert shop.commit(*paths) == []
    assert shop.status() == ""


@pytest.mark.parametrize(("step", "seconds"), [("symbolic-ref", 0.5), ("commit -q", 5.0)])
def test_git_that_does_not_answer_is_ended_and_said(shop, tmp_path, monkeypatch, step, seconds):
    path = shop.remember()
    wrapped_git(tmp_path, monkeypatch, f'case "$*" in *"{step}"*) sleep 100;; esac')
    [warning] = shop.commit(path, seconds=seconds)
    assert "git took too long" in warning
    assert shop.count() == 1
    assert shop.status() == f"?? {MEMORY}\n?? {INDEX}\n"
    assert not list((shop.path / ".git").glob("*.lock"))


def test_commit_that_is_made_before_git_is_ended_is_not_undone(shop, tmp_path, monkeypatch):
    path = shop.remember()
    wrapped_git(tmp_path, monkeypatch, f'case "$*" in *"commit -q"*) {GIT} "$@"; sleep 100;; esac')
    [warning] = shop.commit(path, seconds=5.0)
    assert "git took too long" in warning
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]
    assert shop.status() == ""


# ---- what is never run


def test_no_hook_monitor_editor_or_signer_is_run(shop, tmp_path):
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\necho $0 $* >> {tmp_path}/ran\ncat\n", encoding="utf-8")
    program.chmod(0o755)
    shop.write(".gitattributes", "*.py diff=evil\n")
    shop.git("add", "-A")
    shop.git("commit", "-qm", "attributes")
    hooks = shop.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in (
        *("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-index-change"),
        *("reference-transaction", "pre-auto-gc", "post-rewrite", "pre-merge-commit"),
    ):
        (hooks / hook).unlink(missing_ok=True)
        (hooks / hook).symlink_to(program)
    shop.git("config", "commit.gpgSign", "true")
    for key in (
        *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "diff.external"),
        *("gpg.program", "gpg.ssh.program", "alias.commit", "alias.add", "alias.status"),
        *("diff.evil.textconv", "diff.evil.command", "core.gitProxy", "sequence.editor", "credential.helper"),
    ):
        shop.git("config", key, program)
    shop.write("app.py", "stat-dirty\n")
    (tmp_path / "ran").unlink(missing_ok=True)
    assert shop.commit(shop.remember()) == []
    assert not (tmp_path / "ran").exists()
    shop.git("config", "core.fsmonitor", "false")
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]


def test_hooks_folder_of_the_configuration_is_not_used(shop, tmp_path):
    folder = tmp_path / "hooks"
    folder.mkdir()
    for hook in ("pre-commit", "post-index-change", "reference-transaction", "post-commit"):
        (folder / hook).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n", encoding="utf-8")
        (folder / hook).chmod(0o755)
    shop.git("config", "core.hooksPath", folder)
    assert shop.commit(shop.remember()) == []
    assert not (tmp_path / "ran").exists()
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]


def test_memory_with_a_filter_is_left_to_the_user(shop, tmp_path):
    """Without the filter it would be wrong, with it a program would be run: one that the repository has named."""
    shop.git("config", "filter.crypt.clean", f"touch {tmp_path}/ran; tr a-z b-za")
    shop.write(".gitattributes", ".claude/** filter=crypt\n")
    [warning] = shop.commit(shop.remember(text="abc\n"))
    assert f"a filter is set for {MEMORY}" in warning
    assert "commit them yourself" in warning
    assert not (tmp_path / "ran").exists()
    assert shop.count() == 1


def test_filter_of_other_files_is_not_run(shop, tmp_path):
    shop.git("config", "filter.crypt.clean", f"touch {tmp_path}/ran; cat")
    shop.git("config", "filter.crypt.required", "true")
    shop.write(".gitattributes", "*.py filter=crypt\n")
    os.utime(shop.path / "app.py", (1, 1))  # git has to read it to know whether it was changed
    assert shop.commit(shop.remember()) == []
    assert not (tmp_path / "ran").exists()
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]


def test_filter_that_cannot_be_left_out_keeps_commits_away(shop, tmp_path):
    shop.git("config", "filter.a=b.clean", f"touch {tmp_path}/ran; cat")
    [warning] = shop.commit(shop.remember())
    assert "filters that cannot be left out" in warning
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("setting", ["core.autocrlf", "core.safecrlf", "core.splitIndex", "core.untrackedCache"])
def test_settings_of_the_index_and_of_line_ends_do_no_harm(shop, setting):
    shop.git("config", "core.autocrlf", "true")
    shop.write("app.py", "staged\n")
    shop.git("add", "app.py")
    shop.git("config", setting, "true")
    staged = shop.staged()
    assert shop.commit(shop.remember()) == []
    assert shop.committed() == [("A", MEMORY), ("A", INDEX)]
    assert shop.git("cat-file", "-p", f"HEAD:{MEMORY}") == "{}\n"
    assert shop.staged() == staged
