"""`recollect write` and `recollect schema` as agents call them: options, output, exit codes, places."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.domain.categories import FOLDER

DECISION = {
    "status": "accepted",
    "context": "Two stores were possible.",
    "decision": "SQLite holds everything.",
    "rationale": ["one file"],
}
CONTENT = {
    "decision": DECISION,
    "session_summary": {"goal": "g", "outcome": "success", "completed": ["c"], "next_actions": ["n"]},
    "runbook": {"trigger": "the queue is full", "steps": ["drain it"], "verification": "it is empty"},
    "constraint": {"kind": "policy", "rule": "no cloud", "impact": ["slow"], "severity": "high", "active": True},
    "tech_debt": {"status": "open", "priority": "low", "description": "old API", "reason_deferred": "time"},
    "preference": {"topic": "tabs", "value": "spaces", "reason": "habit", "strength": "soft"},
}
LINE = {"date": "2026-01-02", "summary": "Looked at again"}
TARGET = ".claude/memory/decisions/use-sqlite.json"


class Agent:
    """Calls `recollect write` in a world, with its input in a temporary directory."""

    def __init__(self, world, temporary):
        self.world = world
        self.temporary = temporary
        self.memories = world.project / ".claude" / "memory"

    def input(self, record, name="input.json"):
        path = self.temporary / name
        path.write_text(record if isinstance(record, str) else json.dumps(record), encoding="utf-8")
        return str(path)

    def write(self, action, *arguments, cwd=None, stdin="", **variables):
        options = {"TMPDIR": str(self.temporary), **variables}
        return self.world.run("write", "--action", action, *arguments, cwd=cwd, stdin=stdin, **options)

    def create(self, *arguments, category="decision", cwd=None, variables=None, **fields):
        given = self.input(record(category, **fields))
        return self.write("create", "--category", category, "--input", given, *arguments, cwd=cwd, **(variables or {}))

    def update(self, *arguments, target=TARGET, cwd=None, **fields):
        given = self.input({**self.read(target), **fields})
        return self.write("update", "--target", target, "--input", given, *arguments, cwd=cwd)

    def read(self, target=TARGET):
        return json.loads((self.world.project / target).read_text(encoding="utf-8"))

    def everything(self):
        """All files and folders of the project, the store and the temporary directory, with their bytes."""
        found = {}
        for top in (self.world.home, self.world.store, self.temporary):
            for path in sorted(top.rglob("*")):
                found[str(path)] = (
                    os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
                )
        return found


def record(category="decision", /, **fields):
    made = {"title": "Use SQLite", "tags": ["storage"], "content": CONTENT[category], **fields}
    return {key: value for key, value in made.items() if value is not None}


def done(result):
    """The JSON of a change that was made, without the keys that test_vocabulary.py is about."""
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    told = json.loads(result.stdout)
    assert (told["outcome"], told["path"]) == (told["status"], told["target"])
    return {key: value for key, value in told.items() if key not in ("id", "outcome", "category", "path")}


def refusal(result, code=1):
    """The kind and the facts of a refusal: one block on standard error, nothing else anywhere."""
    assert result.returncode == code, (result.stdout, result.stderr)
    assert result.stdout == ""
    kind, *lines = result.stderr.rstrip("\n").split("\n")
    assert kind.isupper(), result.stderr
    assert all(": " in line for line in lines), result.stderr
    return kind, [line.partition(": ")[::2] for line in lines]


def refused(agent, kind, call, *arguments, **options):
    """Make a call that must be refused with this kind and change nothing; its facts by name."""
    before = agent.everything()
    result = call(*arguments, **options)
    found, facts = refusal(result)
    assert found == kind, result.stderr
    after = agent.everything()
    handed = str(agent.temporary / "input.json")
    before.pop(handed, None)
    after.pop(handed, None)
    assert after == before
    return dict(facts)


@pytest.fixture
def agent(world, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    return Agent(world, temporary)


# ---- create


@pytest.mark.parametrize("category", CONTENT)
def test_create_prints_what_was_made_and_takes_the_input_away(agent, category):
    result = agent.create(category=category)
    target = f".claude/memory/{FOLDER[category]}/use-sqlite.json"
    assert done(result) == {"status": "created", "target": target, "slug": "use-sqlite", "title": "Use SQLite"}
    assert json.loads(result.stdout)["category"] == category
    assert (result.returncode, result.stderr) == (0, "")
    assert os.listdir(agent.temporary) == []
    assert agent.read(target)["category"] == category
    index = (agent.memories / "index.md").read_text(encoding="utf-8")
    assert index.startswith("# Memory Index\n")
    assert f"- [{category.upper()}] Use SQLite -> {target} #tags:storage\n" in index


def test_create_reads_standard_input(agent):
    assert done(agent.write("create", "--category", "decision", "--input", "-", stdin=json.dumps(record())))
    assert agent.read()["title"] == "Use SQLite"


def test_create_puts_right_what_it_can_and_warns_of_it(agent):
    result = agent.create(title="  Use -> SQLite #tags:x ", tags="Storage", confidence=4)
    assert done(result)["title"] == "Use - SQLite x"
    warnings = {tuple(line.split(": ")[:2]) for line in result.stderr.splitlines()}
    assert warnings == {("Warning", "title"), ("Warning", "tags"), ("Warning", "confidence")}
    assert agent.read(".claude/memory/decisions/use-sqlite-x.json")["confidence"] == 1.0


@pytest.mark.parametrize(
    "target",
    [
        "decisions/why-sqlite.json",
        ".claude/memory/decisions/why-sqlite.json",
        "./.claude/memory/decisions/why-sqlite.json",
        "ABSOLUTE/.claude/memory/decisions/why-sqlite.json",
    ],
)
def test_target_may_be_given_in_each_way(agent, target):
    shown = done(agent.create("--target", target.replace("ABSOLUTE", str(agent.world.project))))
    assert (shown["target"], shown["slug"]) == (".claude/memory/decisions/why-sqlite.json", "why-sqlite")
    assert agent.read(shown["target"])["id"] == "why-sqlite"


def test_absolute_target_finds_its_project_from_anywhere(agent, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = str(agent.world.project / TARGET)
    assert done(agent.create("--target", target, cwd=elsewhere))["target"] == TARGET
    assert done(agent.write("delete", "--target", target, cwd=elsewhere))["status"] == "retired"
    assert list(elsewhere.iterdir()) == []


def test_subfolder_of_a_project_means_the_project(agent):
    (agent.world.project / ".git").mkdir()
    deep = agent.world.project / "src" / "cart"
    deep.mkdir(parents=True)
    assert done(agent.create(cwd=deep))["target"] == TARGET
    assert agent.read()["id"] == "use-sqlite"
    assert list(deep.iterdir()) == []


def test_worktree_writes_to_the_main_checkout(agent, tmp_path):
    project = agent.world.project
    git = ["git", "-c", "user.name=dev", "-c", "user.email=dev@example.com", "-C", str(project)]
    for arguments in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "first"],
        ["worktree", "add", "-q", str(tmp_path / "work tree"), "-b", "side"],
    ):
        subprocess.run([*git, *arguments], check=True, capture_output=True, env={"PATH": os.environ["PATH"]})
    worktree = tmp_path / "work tree"
    assert done(agent.create(cwd=worktree))["target"] == TARGET
    assert done(agent.create("--target", str(worktree / ".claude/memory/decisions/two.json")))["slug"] == "two"
    assert done(agent.write("archive", "--target", "decisions/two.json", cwd=worktree))["status"] == "archived"
    assert sorted(os.listdir(agent.memories / "decisions")) == ["two.json", "use-sqlite.json"]
    assert os.listdir(worktree) == [".git"]


@pytest.mark.parametrize("name", ["shop front", "läden-購物", 'quo\'te "$HOME" `x`'])
def test_project_path_may_hold_anything(agent, name):
    project = agent.world.home / name
    (project / ".claude").mkdir(parents=True)
    assert done(agent.create(cwd=project))["target"] == TARGET
    absolute = str(project / ".claude/memory/decisions/two.json")
    assert done(agent.create("--target", absolute))["target"] == ".claude/memory/decisions/two.json"
    assert sorted(os.listdir(project / ".claude" / "memory" / "decisions")) == ["two.json", "use-sqlite.json"]


def test_project_behind_a_link_is_the_project_itself(agent):
    (agent.world.project / ".claude").mkdir()
    link = agent.world.home / "link"
    link.symlink_to(agent.world.project)
    assert done(agent.create(cwd=link))["target"] == TARGET
    assert (
        done(agent.create("--target", str(link / ".claude/memory/decisions/two.json"), cwd=Path("/")))["slug"] == "two"
    )
    assert sorted(os.listdir(agent.memories / "decisions")) == ["two.json", "use-sqlite.json"]


def test_root_may_be_named(agent, tmp_path):
    root = tmp_path / "other" / ".claude" / "memory"
    assert done(agent.create("--root", str(root)))["target"] == TARGET
    assert (root / "decisions" / "use-sqlite.json").is_file()
    assert (root / "index.md").is_file()
    assert not agent.memories.exists()


def test_project_root_may_be_named(agent, tmp_path):
    project = tmp_path / "other"
    project.mkdir()
    assert done(agent.create("--project-root", str(project)))["target"] == TARGET
    assert (project / TARGET).is_file()


# ---- the life of a memory


def test_life_of_a_memory(agent):
    done(agent.create())
    digest = hashlib.md5((agent.world.project / TARGET).read_bytes(), usedforsecurity=False).hexdigest()
    updated = agent.update("--hash", digest, changes=[LINE])
    assert done(updated) == {
        "status": "updated",
        "target": TARGET,
        "slug": "use-sqlite",
        "title": "Use SQLite",
        "times_updated": 1,
    }
    named = {"target": TARGET, "slug": "use-sqlite", "title": "Use SQLite"}
    assert updated.stderr == ""
    assert os.listdir(agent.temporary) == []
    index = agent.memories / "index.md"
    assert done(agent.write("archive", "--target", TARGET, "--reason", "for later")) == {
        "status": "archived",
        **named,
        "reason": "for later",
    }
    assert "use-sqlite" not in index.read_text(encoding="utf-8")
    assert done(agent.write("archive", "--target", TARGET)) == {"status": "already_archived", **named}
    assert refused(agent, "DELETE_ERROR", agent.write, "delete", "--target", TARGET)["record_status"] == "archived"
    assert done(agent.write("unarchive", "--target", TARGET)) == {"status": "unarchived", **named}
    assert "use-sqlite" in index.read_text(encoding="utf-8")
    assert done(agent.write("delete", "--target", TARGET)) == {
        "status": "retired",
        **named,
        "reason": "No reason provided",
    }
    assert done(agent.write("delete", "--target", TARGET)) == {"status": "already_retired", **named}
    refused(agent, "ARCHIVE_ERROR", agent.write, "archive", "--target", TARGET)
    refused(agent, "UNARCHIVE_ERROR", agent.write, "unarchive", "--target", TARGET)
    facts = refused(agent, "ANTI_RESURRECTION_ERROR", agent.create)
    assert list(facts) == ["target", "retired_at", "fix"]
    assert done(agent.write("restore", "--target", TARGET)) == {"status": "restored", **named}
    refused(agent, "RESTORE_ERROR", agent.write, "restore", "--target", TARGET)
    summaries = [line["summary"] for line in agent.read()["changes"]]
    assert summaries == [
        "Looked at again",
        "Archived: for later",
        "Unarchived",
        "Retired: No reason provided",
        "Restored",
    ]


def test_renamed_memory_says_where_it_was(agent):
    done(agent.create())
    result = agent.update(title="Keep all rows in DuckDB", changes=[LINE])
    shown = done(result)
    assert shown["target"] == ".claude/memory/decisions/keep-all-rows-in-duckdb.json"
    assert shown["renamed_from"] == TARGET
    assert os.listdir(agent.memories / "decisions") == ["keep-all-rows-in-duckdb.json"]
    assert "--hash" in result.stderr


def test_rename_onto_another_memory_keeps_both(agent):
    done(agent.create())
    done(agent.create(title="Use Redis"))
    other = agent.read(".claude/memory/decisions/use-redis.json")
    result = agent.update(title="Use Redis", changes=[LINE])
    assert done(result)["target"] == TARGET
    assert "use-redis, which is taken" in result.stderr
    assert agent.read()["title"] == "Use Redis"
    assert agent.read(".claude/memory/decisions/use-redis.json") == other


# ---- refusals: one block, nothing written, the input kept


def test_refusal_keeps_the_input(agent):
    refused(agent, "VALIDATION_ERROR", agent.create, content=None)
    assert os.listdir(agent.temporary) == ["input.json"]


def test_validation_error_names_field_expected_got_and_fix(agent):
    given = agent.input(record(content={**DECISION, "status": "maybe"}))
    result = agent.write("create", "--category", "decision", "--input", given)
    kind, facts = refusal(result)
    assert kind == "VALIDATION_ERROR"
    assert [name for name, _ in facts] == ["field", "expected", "got", "fix"]
    assert dict(facts)["field"] == "content.status"
    assert dict(facts)["got"] == '"maybe"'
    assert "accepted" in dict(facts)["expected"]


def test_without_a_title_there_is_no_default_target(agent):
    for title in ("", "決定", "#tags:", "->", "\u200b", None, 5, ["x"]):
        facts = refused(agent, "PATH_ERROR", agent.create, title=title)
        assert "--target" in facts["fix"]


def test_merge_error_names_field_rule_and_what_was_removed(agent):
    done(agent.create(tags=["a", "b"]))
    facts = refused(agent, "MERGE_ERROR", agent.update, tags=["a"], changes=[LINE])
    assert list(facts) == ["field", "rule", "removed", "fix"]
    assert (facts["field"], facts["removed"]) == ("tags", "['b']")


def test_conflict_names_both_hashes(agent):
    done(agent.create())
    facts = refused(agent, "OCC_CONFLICT", agent.update, "--hash", "f" * 32, changes=[LINE])
    assert list(facts) == ["target", "expected_hash", "current_hash", "fix"]
    assert facts["expected_hash"] == "f" * 32


def test_what_show_prints_can_be_sent_back_as_it_is_or_changed(agent):
    (agent.world.project / "queue.py").write_text("pass\n", encoding="utf-8")
    agent.create(tags=["db", "queue"], related_files=["queue.py"])
    agent.update(changes=[LINE])
    before = agent.read()
    shown = agent.world.run("show", "use-sqlite", "--json").stdout
    sent = agent.write("update", "--input", "-", stdin=shown)
    assert (sent.returncode, sent.stderr, json.loads(sent.stdout)["status"]) == (0, "", "unchanged")
    assert agent.read() == before
    document = json.loads(shown)
    document["record"]["content"]["decision"] = "PostgreSQL holds everything."
    changed = agent.write("update", "--target", TARGET, "--input", agent.input(document))
    assert (changed.returncode, json.loads(changed.stdout)["status"]) == (0, "updated")
    assert agent.read()["content"]["decision"] == "PostgreSQL holds everything."
    again = agent.write("update", "--target", TARGET, "--input", "-", stdin=json.dumps(document))
    assert again.returncode == 1
    assert again.stderr.startswith("OCC_CONFLICT\n"), "the hash that was shown is checked"
    bare = agent.write("update", "--input", "-", stdin=json.dumps(document["record"]))
    assert (bare.returncode, "--action update needs --target" in bare.stderr) == (2, True)


@pytest.mark.parametrize("action", ["delete", "archive", "unarchive", "restore", "update"])
def test_change_of_nothing_is_refused_and_makes_no_folder(agent, action):
    given = ("--input", agent.input(record())) if action == "update" else ()
    facts = refused(agent, f"{action.upper()}_ERROR", agent.write, action, "--target", TARGET, *given)
    assert facts["target"] == TARGET
    assert ("--action create" in facts["fix"]) == (action == "update")


@pytest.mark.parametrize(
    "target",
    [
        "../x.json",
        "decisions/../../x.json",
        ".claude/memory/../x.json",
        "/etc/x.json",
        "x.json",
        ".claude/memory/x.json",
        ".claude/memory/index.md",
        ".claude/memory/memory-config.json",
        ".claude/memory/other/x.json",
        "decisions/deeper/x.json",
        "decisions/x",
        "decisions/x.md",
        "decisions/.json",
        "decisions/X.json",
        "decisions/-x.json",
        "decisions/x-.json",
        "decisions/x y.json",
        "decisions/" + "x" * 81 + ".json",
        "decisions/ä.json",
        "decisions/x\n.json",
        "decisions/x\x1b[31m.json",
        "decisions/\udcff.json",
        "decisions/",
        "decisions",
        "",
        " ",
        "-x",
        "--auto",
        "~/x.json",
        "..\\x.json",
        "C:\\x.json",
    ],
)
def test_target_that_is_no_place_for_a_memory_is_refused(agent, target):
    result_facts = refused(agent, "PATH_ERROR", agent.create, "--target", target)
    assert list(result_facts) == ["target", "expected", "fix"]
    assert result_facts["target"].isascii()


def test_target_of_eighty_characters_is_accepted(agent):
    assert done(agent.create("--target", f"decisions/{'x' * 80}.json"))["slug"] == "x" * 80


def test_long_title_makes_a_name_of_eighty_characters_at_most(agent):
    shown = done(agent.create(title="word " * 23))
    assert len(shown["slug"]) <= 80
    assert shown["slug"].endswith("word")


def test_target_in_the_folder_of_another_category_is_refused(agent):
    facts = refused(agent, "PATH_ERROR", agent.create, "--target", "runbooks/x.json")
    assert "--category runbook" in facts["fix"]
    done(agent.create())
    refused(agent, "PATH_ERROR", agent.write, "delete", "--target", TARGET, "--category", "runbook")
    assert done(agent.write("delete", "--target", TARGET, "--category", "decision"))["status"] == "retired"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--action"),
        (("--action", "destroy"), "destroy"),
        (("--action", "create", "--input", "-"), "--category"),
        (("--action", "create", "--category", "decision"), "--input"),
        (("--action", "create", "--category", "anti-patterns", "--input", "-"), "anti-patterns"),
        (("--action", "update", "--target", TARGET), "--input"),
        (("--action", "delete"), "--target"),
        (("--action", "archive"), "--target"),
        (("--action", "unarchive"), "--target"),
        (("--action", "restore"), "--target"),
        (("--action", "delete", "--target", TARGET, "--force"), "--force"),
        (("--action", "delete", "--target", TARGET, "--project-root", "/nowhere/at/all"), "--project-root"),
    ],
)
def test_wrong_usage_exits_with_two_and_writes_nothing(agent, arguments, says):
    before = agent.everything()
    result = agent.world.run("write", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert says in result.stderr
    assert agent.everything() == before


def test_broken_memory_is_refused_and_left_alone(agent):
    done(agent.create())
    (agent.world.project / TARGET).write_text('{"title": "half', encoding="utf-8")
    for action in ("delete", "archive", "unarchive", "restore"):
        facts = refused(agent, "READ_ERROR", agent.write, action, "--target", TARGET)
        assert "use-sqlite.json" in facts["target"]
    refused(agent, "READ_ERROR", agent.create)
    given = agent.input(record(changes=[LINE]))
    refused(agent, "READ_ERROR", agent.write, "update", "--target", TARGET, "--input", given)


def test_lock_held_by_another_tool_stops_the_write_after_its_patience(agent):
    (agent.memories / ".index.lockdir").mkdir(parents=True)
    facts = refused(agent, "LOCK_ERROR", agent.create)
    assert ".index.lockdir" in facts["error"]
    assert (agent.temporary / "input.json").exists()


@pytest.mark.parametrize("action", ["delete", "archive"])
def test_input_that_no_action_has_read_is_not_removed(agent, action):
    done(agent.create())
    precious = agent.input("precious", "precious.json")
    agent.write(action, "--target", TARGET, "--input", precious)
    assert Path(precious).exists()


def test_folder_that_is_gone_is_wrong_usage(agent):
    gone = agent.world.home / "gone"
    gone.mkdir()
    command = f'cd "{gone}" && rmdir "{gone}" && exec "$0" "$@"'
    recollect = str(Path(sys.executable).parent / "recollect")
    result = subprocess.run(
        ["sh", "-c", command, recollect, "write", "--action", "delete", "--target", TARGET],
        env={"PATH": os.environ["PATH"], "HOME": str(agent.world.home)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert result.returncode == 2
    assert "--project-root" in result.stderr


# ---- settings


def configure(agent, **document):
    agent.memories.mkdir(parents=True, exist_ok=True)
    (agent.memories / "memory-config.json").write_text(json.dumps(document), encoding="utf-8")


def test_category_that_is_switched_off_refuses_new_memories(agent):
    configure(agent, categories={"decision": {"enabled": False}})
    facts = refused(agent, "CATEGORY_ERROR", agent.create)
    assert "recollect config set categories.decision.enabled true" in facts["fix"]
    assert done(agent.create(category="runbook"))["status"] == "created"


def test_auto_is_refused_where_nothing_is_captured(agent):
    configure(agent, categories={"decision": {"auto_capture": False}})
    refused(agent, "CATEGORY_ERROR", agent.create, "--auto")
    assert done(agent.create())["status"] == "created"
    assert done(agent.create("--auto", category="runbook"))["status"] == "created"


def test_full_category_names_what_could_be_retired(agent):
    configure(agent, max_memories_per_category=2)
    done(agent.create(title="Older", updated_at="2026-01-01T00:00:00Z"))
    done(agent.create(title="Newer", updated_at="2026-02-01T00:00:00Z"))
    facts = refused(agent, "LIMIT_ERROR", agent.create)
    assert facts["oldest"] == "older, newer"
    assert "recollect retire" in facts["fix"]


def test_sessions_roll_and_what_only_the_oldest_knew_is_told(agent):
    configure(agent, categories={"session_summary": {"max_retained": 1}})
    content = {**CONTENT["session_summary"], "completed": ["Moved the zebra stripes to the left"]}
    done(agent.create(category="session_summary", title="First", content=content, created_at="2026-01-01T00:00:00Z"))
    result = agent.create(category="session_summary", title="Second")
    assert done(result)["status"] == "created"
    assert "sessions/first.json is retired" in result.stderr
    assert "Moved the zebra stripes to the left" in result.stderr
    assert agent.read(".claude/memory/sessions/first.json")["record_status"] == "retired"


def test_old_memories_are_retired_by_age(agent):
    configure(agent, categories={"decision": {"retention_days": 30}})
    done(agent.create(title="Ancient", updated_at="2020-01-01T00:00:00Z"))
    result = agent.create()
    assert done(result)["status"] == "created"
    assert "decisions/ancient.json is retired" in result.stderr
    assert agent.read(".claude/memory/decisions/ancient.json")["record_status"] == "retired"


def test_memory_root_and_folders_are_where_the_settings_say(agent):
    agent.world.make_repository()
    configure(agent, memory_root="docs/memories", categories={"decision": {"folder": "adr"}})
    assert done(agent.create())["target"] == "docs/memories/adr/use-sqlite.json"
    for target in ("adr/two.json", "docs/memories/adr/three.json"):
        assert done(agent.create("--target", target))["status"] == "created"
    absolute = str(agent.world.project / "docs/memories/adr/use-sqlite.json")
    assert done(agent.write("delete", "--target", absolute))["status"] == "retired"
    refused(agent, "PATH_ERROR", agent.create, "--target", "decisions/four.json")
    assert sorted(os.listdir(agent.memories)) == ["memory-config.json"]


@pytest.mark.parametrize("root", ["../outside", "/outside", "~/outside", "a b", "..", "."])
def test_memory_root_outside_the_project_is_not_obeyed(agent, root):
    configure(agent, memory_root=root)
    result = agent.create()
    assert done(result)["target"] == TARGET
    assert "memory_root" in result.stderr
    assert not (agent.world.home / "outside").exists()


def test_folder_of_two_categories_is_refused(agent):
    configure(agent, categories={"decision": {"folder": "notes"}, "runbook": {"folder": "notes"}})
    refused(agent, "SETTINGS_ERROR", agent.create)


def test_written_memory_is_found_at_once(semantic_world, tmp_path):
    agent = Agent(semantic_world, tmp_path / "temporary")
    agent.temporary.mkdir()
    done(agent.create(content={**DECISION, "decision": "The xylophone service owns refunds."}))
    found = semantic_world.run("search", "xylophone refunds")
    assert found.returncode == 0
    assert "Use SQLite" in found.stdout
    done(agent.write("delete", "--target", TARGET))
    assert "Use SQLite" not in semantic_world.run("search", "xylophone refunds").stdout


@pytest.mark.parametrize("store", ["file", "folder", "noise"])
def test_store_that_cannot_be_used_costs_a_warning_and_not_the_memory(semantic_world, tmp_path, store):
    agent = Agent(semantic_world, tmp_path / "temporary")
    agent.temporary.mkdir()
    if store == "file":
        semantic_world.store.write_text("precious", encoding="utf-8")
    elif store == "folder":
        (semantic_world.store / "memory.db").mkdir(parents=True)
    else:
        semantic_world.store.mkdir()
        (semantic_world.store / "memory.db").write_bytes(b"no database at all" * 500)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    result = agent.create()
    assert done(result)["status"] == "created"
    assert "Warning: the search index is not updated yet" in result.stderr
    assert agent.read()["title"] == "Use SQLite"
    assert all(path.read_bytes() == data for path, data in before.items())


# ---- schema


@pytest.mark.parametrize("category", [*CONTENT, "base"])
def test_schema_is_one_json_document_that_forbids_unknown_fields(world, category):
    result = world.run("schema", category)
    assert (result.returncode, result.stderr) == (0, "")
    schema = json.loads(result.stdout)
    assert schema["additionalProperties"] is False
    fields = schema["properties"]
    assert set(fields) == {
        *("schema_version", "category", "id", "title", "record_status", "created_at", "updated_at", "tags"),
        *("related_files", "anchors", "triggers", "confidence", "content", "changes", "times_updated"),
        *("supersedes", "superseded_by"),
        *("retired_at", "retired_reason", "archived_at", "archived_reason"),
    }
    assert fields["schema_version"]["const"] == "1.0"
    assert fields["id"]["pattern"] == "^[a-z0-9]([a-z0-9-]{0,78}[a-z0-9])?$"
    assert fields["title"]["maxLength"] == 120
    assert fields["tags"]["minItems"] == 1
    assert (fields["confidence"]["minimum"], fields["confidence"]["maximum"]) == (0.0, 1.0)
    assert fields["record_status"]["enum"] == ["active", "retired", "archived"]
    assert fields["changes"]["maxItems"] == 50
    assert fields["changes"]["items"]["additionalProperties"] is False
    assert fields["changes"]["items"]["properties"]["summary"]["maxLength"] == 300
    assert fields["times_updated"]["type"] == "integer"
    assert fields["retired_reason"]["maxLength"] == fields["archived_reason"]["maxLength"] == 300
    assert "$ref" not in result.stdout
    if category != "base":
        assert fields["category"]["const"] == category
        assert fields["content"]["additionalProperties"] is False


@pytest.mark.parametrize(
    ("category", "field", "values"),
    [
        ("decision", "status", ["proposed", "accepted", "deprecated", "superseded"]),
        ("session_summary", "outcome", ["success", "partial", "blocked", "abandoned"]),
        ("constraint", "kind", ["limitation", "gap", "policy", "technical"]),
        ("constraint", "severity", ["high", "medium", "low"]),
        ("tech_debt", "status", ["open", "in_progress", "resolved", "wont_fix"]),
        ("tech_debt", "priority", ["critical", "high", "medium", "low"]),
        ("preference", "strength", ["strong", "default", "soft"]),
    ],
)
def test_schema_lists_the_values_of_each_choice(world, category, field, values):
    content = json.loads(world.run("schema", category).stdout)["properties"]["content"]
    assert content["properties"][field]["enum"] == values


@pytest.mark.parametrize(
    ("category", "required", "optional"),
    [
        ("decision", "status context decision rationale", "alternatives consequences"),
        ("session_summary", "goal outcome completed next_actions", "in_progress blockers key_changes"),
        ("runbook", "trigger steps verification", "symptoms root_cause environment"),
        ("constraint", "kind rule impact severity active", "workarounds expires"),
        ("tech_debt", "status priority description reason_deferred", "impact suggested_fix acceptance_criteria"),
        ("preference", "topic value reason strength", "examples"),
    ],
)
def test_schema_of_a_category_has_its_fields_and_no_others(world, category, required, optional):
    content = json.loads(world.run("schema", category).stdout)["properties"]["content"]
    assert set(content["required"]) == set(required.split())
    assert set(content["properties"]) == set(f"{required} {optional}".split())
    at_least_one = {"decision": ["rationale"], "runbook": ["steps"], "constraint": ["impact"]}
    found = [field for field, described in content["properties"].items() if described.get("minItems") == 1]
    assert found == at_least_one.get(category, [])


@pytest.mark.parametrize("category", ["", "choices", "anti-patterns", "../base"])
def test_schema_of_no_category_is_wrong_usage(world, category):
    result = world.run("schema", category)
    assert (result.returncode, result.stdout) == (2, "")
    assert "tech_debt" in result.stderr


def tree(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_check_says_that_a_memory_could_be_created_and_writes_nothing(agent):
    before = tree(agent.world.home)
    checked = done(agent.create("--check", title="Use SQLite"))
    assert checked == {"status": "valid", "target": TARGET, "slug": "use-sqlite", "title": "Use SQLite"}
    assert (agent.temporary / "input.json").exists(), "it is needed again for the write itself"
    assert not agent.memories.exists()
    assert tree(agent.world.home) == before
    assert not agent.world.store.exists()


def test_check_refuses_what_a_create_would_refuse(agent):
    assert agent.create(title="Use SQLite").returncode == 0
    before = tree(agent.memories)
    for arguments in ({"title": "Use SQLite"}, {"title": "Other", "content": {"status": "accepted"}}):
        assert agent.create("--check", **arguments).stderr == agent.create(**arguments).stderr != ""
    assert tree(agent.memories) == before


def test_check_of_an_update_writes_nothing(agent):
    assert agent.create(title="Use SQLite").returncode == 0
    before = tree(agent.memories)
    done = agent.update("--check", changes=[LINE], title="Use SQLite")
    assert json.loads(done.stdout)["status"] == "valid"
    assert "VALIDATION_ERROR" in agent.update("--check", changes=[LINE], content={}).stderr
    assert tree(agent.memories) == before


def test_check_goes_with_create_and_update_only(agent):
    assert agent.write("delete", "--check", "--target", TARGET).returncode == 2
