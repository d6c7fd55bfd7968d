"""The store follows memory files: what is read, when it is read again, what becomes of what is gone."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.config import project
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.stored import ACTIVE, ARCHIVED, RETIRED, StoredEntry
from recollect.errors import StoreError
from recollect.store.open import database_name
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import MEMORY, Scope, Usage
from recollect.sync.memories import entry_id, sync_all_memories, sync_memories
from recollect.sync.rebuild import rebuild, sync_and_embed
from recollect.sync.sync import known_roots

LONG_AGO = 1_600_000_000
EVERYTHING = Scope(None, statuses=(ACTIVE, RETIRED, ARCHIVED))


def record(slug: str = "cache-prices", **known: Any) -> dict[str, Any]:
    return {
        "schema_version": "1.0",
        "category": "decision",
        "id": slug,
        "title": "Cache prices",
        "record_status": "active",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-02T00:00:00Z",
        "tags": ["cache", "prices"],
        "content": {"status": "accepted", "context": "Slow.", "decision": "Cache.", "rationale": ["Fast."]},
        **known,
    }


class Shop:
    """A project with memories and a store that follows them."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "shop-front"
        (self.root / ".git").mkdir(parents=True)
        self.store_folder = str(folder / "store")
        self.store = SqliteStore(database_name(self.store_folder))

    def path(self, slug: str = "cache-prices", folder: str = "decisions") -> Path:
        return self.root / ".claude" / "memory" / folder / f"{slug}.json"

    def write(self, slug: str = "cache-prices", folder: str = "decisions", *, late: bool = False, **known: Any) -> Path:
        path = self.path(slug, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        category = {"sessions": "session_summary", "runbooks": "runbook"}.get(folder, "decision")
        path.write_text(json.dumps(record(slug, **{"category": category, **known})), encoding="utf-8")
        if not late:
            os.utime(path, (LONG_AGO, LONG_AGO))
        return path

    def sync(self, *, anew: bool = False, **variables: str) -> list[str]:
        root = str(self.root)
        return sync_memories(self.store, Workspace(root, self.store_folder, load_settings(root, variables)), anew=anew)

    def id(self, slug: str = "cache-prices", category: str = "decision") -> str:
        return entry_id(project.identity(str(self.root)), category, slug)

    def entry(self, slug: str = "cache-prices", category: str = "decision") -> StoredEntry:
        (found,) = self.store.entries([self.id(slug, category)])
        return found

    def statuses(self) -> dict[str, str]:
        ids = [standing.id for standing in self.store.standings(EVERYTHING)]
        return {entry.name: entry.status for entry in self.store.entries(ids)}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    yield made
    made.store.close()


def test_memory_becomes_an_entry_with_all_that_its_file_says(shop: Shop) -> None:
    when = ["choosing how fresh a price is"]
    shop.write(related_files=["src/price.py"], confidence=0.95, times_updated=2, triggers=when)
    assert shop.sync() == []
    entry = shop.entry()
    assert len(entry.id) == 16
    assert {name: value for name, value in vars(entry).items() if name != "id"} == {
        "category": "decision",
        "name": "Cache prices",
        "description": "Slow.\nDecision: Cache.",
        "reasoning": "Fast.",
        "keywords": ["cache", "prices"],
        "triggers": ["choosing how fresh a price is"],
        "references": ["src/price.py"],
        "details": "- Status: accepted",
        "observation_count": 3,
        "confidence": "high",
        "source": "manual",
        "source_project": "shop-front",
        "project": str(shop.root.resolve()),
        "unproven": False,
        "status": ACTIVE,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-02T00:00:00Z",
        "recall_count": 0,
        "influence_count": 0,
        "last_recalled_at": "",
    }


def test_summary_of_a_session_is_a_session_capture(shop: Shop) -> None:
    shop.write("s", "sessions")
    shop.sync()
    assert shop.entry("s", "session_summary").source == "session-capture"


@pytest.mark.parametrize(
    ("confidence", "told"),
    [(1, "high"), (0.9, "high"), (0.89, "medium"), (0.5, "medium"), (0.49, "low"), (None, "medium"), ("x", "medium")],
)
def test_confidence_is_told_in_words(shop: Shop, confidence: object, told: str) -> None:
    shop.write(confidence=confidence)
    shop.sync()
    assert shop.entry().confidence == told


@pytest.mark.parametrize(
    "odd",
    [
        {"record_status": "exploded"},
        {"record_status": 7, "tags": [None], "related_files": {}, "content": {}, "created_at": 5},
        {"title": "\u202e\x1b[31m\n", "tags": ["\ud800", "t" * 10_000, "", 3] * 50, "updated_at": "u" * 10_000},
        {"times_updated": 10**30, "confidence": -(10**30), "related_files": ["f" * 10_000] * 100},
        {"times_updated": -5, "confidence": True, "content": {"context": {"deep": [[[[[[[["x"]]]]]]]]}}},
        {"title": "t" * 10**6, "content": {"k\n" * 1_000: "v\n" * 10_000}},
    ],
    ids=range(6),
)
def test_no_record_that_is_json_stops_the_others(shop: Shop, odd: dict[str, Any]) -> None:
    shop.write("odd", **odd)
    shop.write()
    assert shop.sync() == []
    assert shop.entry().status == ACTIVE
    kept = shop.entry("odd")
    assert 1 <= kept.observation_count <= 1_000_001
    assert len(kept.name) <= 120
    assert "\n" not in kept.name
    assert len(kept.updated_at) <= 40
    assert len(kept.keywords) <= 12
    assert shop.store.check() == []


def test_state_that_there_is_none_of_is_not_active(shop: Shop) -> None:
    shop.write(record_status="exploded")
    shop.sync()
    assert shop.entry().status == RETIRED


@pytest.mark.parametrize("status", [ACTIVE, RETIRED, ARCHIVED])
def test_status_is_that_of_the_file(shop: Shop, status: str) -> None:
    shop.write()
    shop.sync()
    shop.write(record_status=status, retired_reason="x")
    shop.sync()
    assert shop.entry().status == status


# What is read again


def places(store: SqliteStore) -> list[Workspace]:
    return [Workspace(root, "") for root in known_roots(store)]


def rewritten(path: Path, old: str, new: str, modified: int) -> None:
    """Change a file's text and set its time."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    os.utime(path, (modified, modified))


def test_file_that_looks_as_it_did_long_ago_is_not_read(shop: Shop) -> None:
    path = shop.write()
    shop.sync()
    rewritten(path, "Cache prices", "Cache prizes", LONG_AGO)
    assert shop.sync() == []
    assert shop.entry().name == "Cache prices"


def test_file_written_lately_is_read_though_it_looks_the_same(shop: Shop) -> None:
    path = shop.write(late=True)
    status = path.stat()
    shop.sync()
    path.write_text(path.read_text(encoding="utf-8").replace("Cache prices", "Cache prizes"), encoding="utf-8")
    os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns))
    shop.sync()
    assert shop.entry().name == "Cache prizes"


@pytest.mark.parametrize("modified", [LONG_AGO - 1_000, LONG_AGO + 1_000, 4_000_000_000])
def test_file_of_the_same_size_is_read_when_its_time_goes_either_way(shop: Shop, modified: int) -> None:
    path = shop.write()
    shop.sync()
    rewritten(path, "Cache prices", "Cache prizes", modified)
    shop.sync()
    assert shop.entry().name == "Cache prizes"


def test_file_that_was_only_touched_changes_nothing_and_is_not_read_again(shop: Shop) -> None:
    path = shop.write()
    shop.sync()
    os.utime(path, (LONG_AGO + 5, LONG_AGO + 5))
    shop.sync()
    assert shop.store.sources(MEMORY)[str(path)].modified == (LONG_AGO + 5) * 10**9
    rewritten(path, "Cache prices", "Cache prizes", LONG_AGO + 5)
    shop.sync()
    assert shop.entry().name == "Cache prices"


def test_nothing_is_written_when_nothing_has_changed(shop: Shop) -> None:
    shop.write()
    shop.write("lately", late=True)
    shop.sync()
    with SqliteStore(database_name(shop.store_folder)) as other:
        before = other.coverage()
        shop.sync()
        assert other.coverage() is before, "a write by somebody else would have had it counted again"


def test_all_files_are_read_anew_on_demand(shop: Shop) -> None:
    path = shop.write()
    shop.sync()
    rewritten(path, "Cache prices", "Cache prizes", LONG_AGO)
    shop.sync(anew=True)
    assert shop.entry().name == "Cache prizes"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": NaN}', "\udcff", "[" * 100_000])
def test_file_that_cannot_be_parsed_is_withheld_and_reported_until_it_can(shop: Shop, text: str) -> None:
    path = shop.write()
    shop.sync()
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    shop.write("other", title="Another")
    for _ in range(2):
        (problem,) = shop.sync()
        assert "cache-prices.json" in problem
        assert "is withheld until it is mended" in problem
    assert shop.statuses() == {"Cache prices": RETIRED, "Another": ACTIVE}
    shop.write(title="Repaired")
    assert shop.sync() == []
    assert shop.entry().name == "Repaired"


def test_entries_are_put_together_or_not_at_all(shop: Shop) -> None:
    class Failing(SqliteStore):
        """Has room for one memory."""

        left = 1

        def put(self, *arguments: Any, **options: Any) -> None:
            if not self.left:
                raise StoreError("no room")
            self.left -= 1
            super().put(*arguments, **options)

    shop.write("one", title="One")
    shop.write("two", title="Two")
    with Failing(database_name(shop.store_folder)) as store, pytest.raises(StoreError, match="no room"):
        sync_memories(store, Workspace(str(shop.root), shop.store_folder))
    assert (shop.statuses(), shop.store.sources()) == ({}, {})


# What is gone


def test_memory_whose_file_is_gone_is_retired_until_it_is_there_again(shop: Shop) -> None:
    path = shop.write(record_status="archived")
    shop.sync()
    path.unlink()
    assert shop.sync() == []
    assert shop.entry().status == RETIRED
    shop.write(record_status="archived")
    shop.sync()
    assert shop.entry().status == ARCHIVED


def test_memory_that_has_become_a_link_or_is_behind_one_is_gone(shop: Shop) -> None:
    one, two = shop.write(title="One"), shop.write("x", "runbooks", title="Two")
    shop.sync()
    one.rename(shop.root / "elsewhere.json")
    one.symlink_to(shop.root / "elsewhere.json")
    two.parent.rename(shop.root / "runbooks")
    two.parent.symlink_to(shop.root / "runbooks")
    assert len(shop.sync()) == 2
    assert shop.statuses() == {"One": RETIRED, "Two": RETIRED}


def test_category_that_is_switched_off_is_as_if_it_had_no_files(shop: Shop) -> None:
    shop.write()
    shop.write("r", "runbooks", title="Runbook")
    shop.sync()
    settings = shop.root / ".claude" / "memory" / "memory-config.json"
    settings.write_text('{"categories": {"decision": {"enabled": false}}}', encoding="utf-8")
    assert shop.sync() == []
    assert shop.statuses() == {"Cache prices": RETIRED, "Runbook": ACTIVE}
    settings.write_text("{}", encoding="utf-8")
    shop.sync()
    assert shop.statuses() == {"Cache prices": ACTIVE, "Runbook": ACTIVE}


def test_category_whose_folder_is_called_something_else_keeps_its_entries(shop: Shop) -> None:
    path = shop.write()
    shop.sync()
    settings = shop.root / ".claude" / "memory" / "memory-config.json"
    settings.write_text('{"categories": {"decision": {"folder": "choices"}}}', encoding="utf-8")
    path.parent.rename(shop.path(folder="choices").parent)
    assert shop.sync() == []
    assert shop.entry().status == ACTIVE
    assert shop.store.memory_paths([shop.id()]) == {shop.id(): str(shop.path(folder="choices"))}


# A memory that is renamed


def test_renamed_memory_keeps_what_it_has_earned(shop: Shop) -> None:
    old = shop.write()
    shop.sync()
    shop.store.put_usages([Usage(shop.id(), 3, 1, "2026-02-01T00:00:00Z")])
    old.unlink()
    shop.write("prices-in-redis", title="Keep prices in Redis")
    shop.sync()
    heir = shop.entry("prices-in-redis")
    assert (heir.recall_count, heir.influence_count, heir.last_recalled_at) == (3, 1, "2026-02-01T00:00:00Z")
    assert shop.entry().status == RETIRED


@pytest.mark.parametrize(
    ("slug", "folder", "category", "created"),
    [("other", "decisions", "decision", "2026-01-01T00:00:01Z"), ("cache", "runbooks", "runbook", "")],
)
def test_new_memory_of_another_birth_or_category_inherits_nothing(
    shop: Shop, slug: str, folder: str, category: str, created: str
) -> None:
    old = shop.write()
    shop.sync()
    shop.store.put_usages([Usage(shop.id(), 3, 1, "")])
    old.unlink()
    shop.write(slug, folder, **({"created_at": created} if created else {}))
    shop.sync()
    assert shop.entry(slug, category).recall_count == 0


def test_nobody_inherits_when_it_is_not_clear_who(shop: Shop) -> None:
    old = shop.write()
    shop.sync()
    shop.store.put_usages([Usage(shop.id(), 3, 1, "")])
    old.unlink()
    shop.write("one")
    shop.write("two")
    shop.sync()
    assert [shop.entry(slug).recall_count for slug in ("one", "two")] == [0, 0]


def test_memory_that_stays_inherits_nothing_when_all_are_read_anew(shop: Shop) -> None:
    old = shop.write()
    shop.write("stays", title="Stays")
    shop.sync()
    shop.store.put_usages([Usage(shop.id(), 3, 1, "")])
    old.unlink()
    shop.sync(anew=True)
    assert shop.entry("stays").recall_count == 0


# Where memories are


def test_root_that_leads_out_of_the_project_is_a_warning_and_changes_nothing(shop: Shop, tmp_path: Path) -> None:
    shop.write()
    shop.sync()
    (shop.root / ".claude").rename(tmp_path / "outside")
    (shop.root / ".claude").symlink_to(tmp_path / "outside")
    (problem,) = shop.sync()
    assert "were not read" in problem
    assert "\n" not in problem
    assert shop.entry().status == ACTIVE


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Dev", "-c", "user.email=dev@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("is_shared", [False, True])
def test_worktree_has_its_own_sources_unless_it_shares_those_of_its_repository(tmp_path: Path, is_shared: bool) -> None:
    main, tree = tmp_path / "main", tmp_path / "tree"
    main.mkdir()
    git(main, "init", "-q")
    path = main / ".claude" / "memory" / "decisions" / "x.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(record("x")), encoding="utf-8")
    git(main, "add", ".")
    git(main, "commit", "-qm", "one")
    git(main, "worktree", "add", "-q", str(tree))
    variables = {"RECOLLECT_WORKTREE_MEMORIES": "shared"} if is_shared else {}
    with SqliteStore(str(tmp_path / "memory.db")) as store:
        for root in (main, tree, main):
            assert sync_memories(store, Workspace(str(root), "", load_settings(str(root), variables))) == []
        roots = [str(main.resolve())] if is_shared else [str(main.resolve()), str(tree.resolve())]
        assert sorted(store.sources(MEMORY)) == [f"{root}/.claude/memory/decisions/x.json" for root in roots]
        assert all(source.hash != "gone" for source in store.sources(MEMORY).values())
        for root in roots:
            assert len(store.standings(Scope(str(main.resolve()), memories=root))) == 1
        assert known_roots(store) == roots


def test_worktree_of_a_bare_repository_is_found_by_its_own_memories(tmp_path: Path) -> None:
    seed, bare = tmp_path / "seed", tmp_path / "shop.git"
    seed.mkdir()
    git(seed, "init", "-q")
    git(seed, "commit", "-q", "--allow-empty", "-m", "one")
    git(tmp_path, "clone", "-q", "--bare", str(seed), str(bare))
    trees = [tmp_path / "one", tmp_path / "two"]
    for tree in trees:
        git(bare, "worktree", "add", "-q", "--detach", str(tree))
        path = tree / ".claude" / "memory" / "decisions" / "x.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(record("x", title=f"Memory of {tree.name}")), encoding="utf-8")
    with SqliteStore(str(tmp_path / "memory.db")) as store:
        for tree in [*trees, *trees]:
            sync_memories(store, Workspace(str(tree), ""))
            (standing,) = store.standings(Scope(None))
            assert store.entries([standing.id])[0].name == f"Memory of {tree.name}"
        assert known_roots(store) == [str(tree.resolve()) for tree in trees]
        assert sync_all_memories(store, places(store)) == []
        assert len(store.standings(Scope(None))) == 1


def test_project_that_is_known_only_by_its_memories_is_known(shop: Shop) -> None:
    shop.write()
    shop.sync()
    assert known_roots(shop.store) == [str(shop.root.resolve())]
    rewritten(shop.path(), "Cache prices", "Cache all prices", LONG_AGO)
    assert sync_all_memories(shop.store, places(shop.store), project.identity(str(shop.root))) == []
    assert shop.entry().name == "Cache prices"
    assert sync_all_memories(shop.store, places(shop.store)) == []
    assert shop.entry().name == "Cache all prices"


# After a change, and when a store is made again


def test_store_follows_a_memory_that_was_just_written(shop: Shop) -> None:
    shop.write(late=True)
    settings = load_settings(str(shop.root), {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"})
    assert sync_and_embed(Workspace(str(shop.root), shop.store_folder, settings)) == []
    assert shop.entry().name == "Cache prices"


def test_rebuild_loses_no_memory_no_state_and_no_usage(shop: Shop, tmp_path: Path) -> None:
    for status in (ACTIVE, RETIRED, ARCHIVED):
        shop.write(status, title=status, record_status=status)
    broken = shop.write("broken", title="broken")
    old = shop.write("old-name", title="old name", created_at="2025-01-01T00:00:00Z")
    shop.sync()
    ids = [shop.id(slug) for slug in (ACTIVE, RETIRED, ARCHIVED, "broken", "old-name")]
    shop.store.put_usages([Usage(id, 2, 1, "2026-02-01T00:00:00Z") for id in ids])
    broken.write_text("{", encoding="utf-8")
    old.rename(shop.path("new-name"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    result = rebuild(Workspace(str(elsewhere), shop.store_folder))
    assert len(result.warnings) == 1
    assert result.active == 2
    names = {"active": ACTIVE, "retired": RETIRED, "archived": ARCHIVED, "broken": RETIRED}
    for slug, status in names.items():
        assert (shop.entry(slug).status, shop.entry(slug).recall_count) == (status, 2)
    assert (shop.entry("new-name").status, shop.entry("new-name").recall_count) == (ACTIVE, 2)
    assert shop.entry("old-name").status == RETIRED


def test_damaged_store_is_made_again_with_the_memories_of_all_projects_it_knew(shop: Shop, tmp_path: Path) -> None:
    shop.write()
    shop.sync()
    shop.store.put_usages([Usage(shop.id(), 2, 1, "")])
    shop.store.close()
    path = Path(database_name(shop.store_folder))
    data = bytearray(path.read_bytes())
    data[-4096:] = b"\xff" * 4096
    path.write_bytes(data)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    result = rebuild(Workspace(str(elsewhere), shop.store_folder))
    shop.store = SqliteStore(str(path))
    assert (shop.entry().status, shop.entry().recall_count) == (ACTIVE, 2)
    assert (result.active, bool(result.set_aside)) == (1, True)


def test_memory_without_a_time_has_that_of_its_file(shop: Shop) -> None:
    shop.write(created_at=None, updated_at=None)
    shop.sync()
    written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(LONG_AGO))
    assert (shop.entry().created_at, shop.entry().updated_at) == (written, written)
