"""index.md as real life leaves it: after slow disks, merges, and roots that other tools have filled."""

import json
import os
import subprocess
import time

from recollect.config.memory_root import memory_root
from recollect.config.settings import load_settings
from recollect.files.memory.index_md import trusted_index
from recollect.files.memory.memories import record_text, scan
from recollect.memories import write

DECISION = {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]}
SESSION = {"goal": "g", "outcome": "success", "completed": ["a"], "next_actions": ["b"]}


def create(root, settings, slug, title, category="decision"):
    content = DECISION if category == "decision" else SESSION
    record = {"title": title, "tags": ["t"], "content": content}
    return write.create(root, settings, root.file(category, slug), category, record)


def test_index_is_believed_after_a_write_however_slow_the_disk(world, monkeypatch):
    settings = load_settings(str(world.project), {})
    root = memory_root(str(world.project), settings)
    create(root, settings, "first", "First")
    synced = os.fsync

    def slow(descriptor):
        time.sleep(0.02)  # longer than a tick of the clock that files are dated by
        synced(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    create(root, settings, "second", "Second")
    monkeypatch.undo()
    entries = trusted_index(root)
    assert entries is not None
    assert [entry.title for entry in entries] == ["First", "Second"]


def test_memory_that_a_merge_has_left_out_of_the_index_is_a_candidate(world):
    def git(*arguments):
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main")
        subprocess.run(["git", *identity, *arguments], cwd=world.project, check=False, capture_output=True)

    def keep(title):
        record = {"title": title, "tags": ["t"], "content": DECISION}
        arguments = ("write", "--action", "create", "--category", "decision", "--input", "-")
        assert world.run(*arguments, stdin=json.dumps(record)).returncode == 0
        git("add", "--all")
        git("commit", "-qm", title)

    git("init", "-q")
    keep("Zone everything")
    git("checkout", "-qb", "theirs")
    keep("Deploy with Helm")
    git("checkout", "-q", "main")
    keep("Cache in Redis")
    git("merge", "-q", "theirs")
    git("checkout", "--ours", ".claude/memory/index.md")
    index = (world.project / ".claude" / "memory" / "index.md").read_text(encoding="utf-8")
    assert "Helm" not in index
    done = world.run("candidate", "--category", "decision", "--new-info", "deploy with helm charts")
    assert json.loads(done.stdout)["candidate"]["title"] == "Deploy with Helm"


def test_root_full_of_old_sessions_is_brought_to_the_window_at_once_and_in_few_words(world):
    settings = load_settings(str(world.project), {})
    root = memory_root(str(world.project), settings)
    for number in range(60):
        path = root.file("session_summary", f"session-{number}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        record = {
            "schema_version": "1.0",
            "category": "session_summary",
            "id": f"session-{number}",
            "title": f"Session {number}",
            "record_status": "active",
            "created_at": f"2026-11-{number // 24 + 1:02}T{number % 24:02}:00:00Z",
            "updated_at": "2026-11-10T10:00:00Z",
            "tags": ["t"],
            "content": {**SESSION, "completed": [f"Took the {number}th step of the migration"]},
            "times_updated": 0,
        }
        with open(path, "w", encoding="utf-8") as file:
            file.write(record_text(record))
    result = create(root, settings, "new", "New", "session_summary")
    assert len(result.warnings) < 15
    assert result.warnings[-1].startswith("and ")
    active = [memory.slug for memory in scan(root, []) if memory.status == "active"]
    assert sorted(active) == ["new", "session-56", "session-57", "session-58", "session-59"]
    entries = trusted_index(root)
    assert entries is not None
    assert len(entries) == 5


def test_session_that_cannot_be_retired_is_told_as_that_and_stays(world):
    config = world.project / ".claude" / "memory" / "memory-config.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"categories": {"session_summary": {"max_retained": 1}}}', encoding="utf-8")
    settings = load_settings(str(world.project), {})
    root = memory_root(str(world.project), settings)
    create(root, settings, "old", "Old", "session_summary")
    path = root.file("session_summary", "old")
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**record, "unknown": 1}, file)
    result = create(root, settings, "new", "New", "session_summary")
    assert [warning for warning in result.warnings if "could not be retired" in warning] != []
    assert [warning for warning in result.warnings if "in no other memory" in warning] == []
    assert result.paths == [root.file("session_summary", "new")]
    entries = trusted_index(root)
    assert entries is not None
    assert [entry.slug for entry in entries] == ["new", "old"]
