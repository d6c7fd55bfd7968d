"""Whatever is done to memories, in whatever order: files stay valid, the index stays true, history only grows."""

import json
import os
import shutil
import tempfile
from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.conftest import examples

from recollect.config.memory_root import memory_root
from recollect.config.settings import load_settings
from recollect.errors import WriteRefused
from recollect.files.memory.index_md import index_entry, index_text
from recollect.files.memory.lock import FOLDER
from recollect.files.memory.memories import read_memory, record_text, scan
from recollect.files.memory.schemas import problems_of
from recollect.memories import upkeep, write

CONTENT = {
    "session_summary": {"goal": "g", "outcome": "success", "completed": ["a"], "next_actions": ["b"]},
    "decision": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]},
    "tech_debt": {"status": "open", "priority": "low", "description": "d", "reason_deferred": "r"},
}
WORDS = ["alpha", "beta", "gamma", "delta", "größe", "-> x", "#tags:y", "\u200bzero", "9"]

titles = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
tags = st.lists(st.sampled_from([*WORDS, "a,b", "UPPER"]), max_size=4)
categories = st.sampled_from(sorted(CONTENT))
picks = st.integers(min_value=0, max_value=1_000)


class Memories(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.project = tempfile.mkdtemp()
        os.mkdir(os.path.join(self.project, ".git"))
        os.makedirs(os.path.join(self.project, ".claude", "memory"))
        config = {"max_memories_per_category": 6, "categories": {"session_summary": {"max_retained": 2}}}
        path = os.path.join(self.project, ".claude", "memory", "memory-config.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        self.settings = load_settings(self.project, {})
        self.root = memory_root(self.project, self.settings)
        self.histories = {}

    def teardown(self):
        shutil.rmtree(self.project, ignore_errors=True)

    @rule(category=categories, title=titles, tags=tags)
    def create(self, category, title, tags):
        slug = write.slugify(title) or "unnamed"
        record = {"title": title, "tags": tags, "content": CONTENT[category]}
        self.attempt(write.create, self.settings, self.root.file(category, slug), category, record)

    @rule(pick=picks, title=titles, tags=tags, said=st.booleans(), text=st.text(max_size=20))
    def update(self, pick, title, tags, said, text):
        memory = self.some(pick)
        if memory is None:
            return
        line = {"date": "2026-01-01", "summary": text[:300], "old_value": None}
        record = {
            "title": title,
            "tags": [*memory.tags, *tags],
            "content": {**memory.content, **({"context": text} if memory.category == "decision" else {})},
            "changes": [*memory.changes, *([line] if said else [])],
        }
        self.attempt(write.update, self.settings, memory.path, memory.category, record, expected=memory.hash)

    @rule(pick=picks, reason=st.text(max_size=400))
    def retire(self, pick, reason):
        self.on(pick, write.retire, reason)

    @rule(pick=picks, reason=st.text(max_size=400))
    def archive(self, pick, reason):
        self.on(pick, write.archive, reason)

    @rule(pick=picks, action=st.sampled_from([write.unarchive, write.restore]))
    def activate(self, pick, action):
        memory = self.some(pick)
        if memory:
            self.attempt(action, self.settings, memory.path, memory.category)

    @rule(pick=picks, days=st.integers(min_value=1, max_value=400))
    def age(self, pick, days):
        """Somebody edits a file by hand: what was retired was retired long ago."""
        memory = self.some(pick)
        if memory and memory.status == "retired":
            then = (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
            with open(memory.path, "w", encoding="utf-8") as file:
                file.write(record_text({**memory.record, "retired_at": then}))

    @rule()
    def collect(self):
        upkeep.collect(self.root, self.settings, datetime.now(UTC))

    @invariant()
    def every_file_is_valid(self):
        for memory in self.memories():
            assert problems_of(memory.record, memory.category) == []
            assert memory.record["id"] == memory.slug
            assert memory.category == memory.record["category"]
            assert not any(mark in memory.title for mark in (" -> ", "#tags:", "\u200b"))

    @invariant()
    def the_index_tells_of_all_active_memories(self):
        active = [index_entry(self.root, memory) for memory in self.memories() if memory.status == "active"]
        if os.path.exists(self.root.index):
            with open(self.root.index, encoding="utf-8") as file:
                assert file.read() == index_text(active)
        else:
            assert active == []

    @invariant()
    def history_only_grows(self):
        now = {memory.record["created_at"] + memory.path: memory.changes for memory in self.memories()}
        for key, before in self.histories.items():
            after = now.get(key, before)
            grown = range(len(after) + 1)
            assert any([*before, *after[len(after) - new :]][-50:] == after for new in grown), (before, after)
        self.histories = now

    @invariant()
    def nothing_is_left_lying_about(self):
        for folder, folders, files in os.walk(self.root.path):
            assert FOLDER not in folders, folder
            assert not [name for name in files if name.endswith(".tmp")], folder

    @invariant()
    def limits_hold(self):
        active = [memory.category for memory in self.memories() if memory.status == "active"]
        assert all(active.count(category) <= 6 for category in CONTENT)

    # What the rules use

    def memories(self):
        problems = []
        found = scan(self.root, problems)
        assert problems == []
        return found

    def some(self, pick):
        found = self.memories()
        return found[pick % len(found)] if found else None

    def on(self, pick, action, reason):
        memory = self.some(pick)
        if memory:
            self.attempt(action, memory.path, memory.category, reason)

    def attempt(self, action, *arguments, **named):
        """Do it, or be refused and have changed nothing."""
        before = self.tree()
        try:
            action(self.root, *arguments, **named)
        except WriteRefused:
            assert self.tree() == before

    def tree(self):
        return {memory.path: memory.record for memory in self.memories()}


TestMemories = Memories.TestCase
TestMemories.settings = settings(
    max_examples=examples(40),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def test_a_record_reads_as_it_was_written(tmp_path):
    path = tmp_path / "x.json"
    record = {"title": 'größe \u2028 \\ "', "content": {"a": [1, 2.5, True, None]}}
    path.write_text(record_text(record), encoding="utf-8")
    assert read_memory(str(path), "decision").record == record
