"""What a backup holds, what an unsound one is refused for, and what a restore writes, keeps and refuses."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import link_worktree

from recollect.config.workspace import Workspace
from recollect.errors import StorageError, WriteRefused
from recollect.files import archive as archive_format
from recollect.files.archive import Archive, Member, kind_of, read_archive, write_archive
from recollect.files.locks import locked
from recollect.files.memory.lock import memories_locked
from recollect.store.sqlite.store import SqliteStore
from recollect.store.values import Usage
from recollect.sync.memories import entry_id
from recollect.transfer import backup_restore
from recollect.transfer.backup import Created, create, verify
from recollect.transfer.backup_restore import KEPT, REFUSED, REPLACED, SAME, WRITTEN, Restored, restore

CAPTURE = '{"name":"One","description":"First lesson.","category":"patterns"}\n'
LATER_CAPTURE = '{"name":"Two","description":"Second lesson.","category":"patterns"}\n'


class Place:
    """A project and a global store, as backup and restore are given them."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.store = folder / "store"
        self.project.mkdir(parents=True)
        self.store.mkdir()
        self.memories = self.project / ".claude" / "memory"
        self.journal = self.store / "session-captures.jsonl"

    def memory(
        self, slug: str, *, updated_at: str = "2026-03-01T10:00:00Z", title: str = "Use JWT", times_updated: int = 0
    ) -> Path:
        path = self.memories / "decisions" / f"{slug}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "schema_version": "1.0",
            "category": "decision",
            "id": slug,
            "title": title,
            "record_status": "active",
            "created_at": "2026-03-01T10:00:00Z",
            "updated_at": updated_at,
            "tags": ["auth"],
            "content": {"status": "accepted", "context": "Login", "decision": "JWT", "rationale": ["no state"]},
            "times_updated": times_updated,
        }
        path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        return path

    def bank(self, text: str = "### Pattern: Cache\nCache things.\n", *, shared: bool = False) -> Path:
        folder = self.store if shared else self.project / "docs" / "knowledge-bank"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "patterns.md"
        path.write_text(text, encoding="utf-8")
        return path

    def create(self, path: Path, *, replace: bool = False) -> Created:
        return create(Workspace(str(self.project), str(self.store)), str(path), replace=replace)

    def restore(self, path: Path, **options: bool) -> Restored:
        return restore(str(path), Workspace(str(self.project), str(self.store)), **options)

    def filled(self) -> Place:
        self.memory("use-jwt")
        self.memory("drop-xml", title="Drop XML")
        (self.memories / "memory-config.json").write_text('{"delete": {"grace_period_days": 20}}', encoding="utf-8")
        (self.project / ".claude" / "iflow-dev.local.md").write_text("memory_injection_limit: 9\n", encoding="utf-8")
        self.bank()
        self.bank("### Pattern: Everywhere\nHolds everywhere.\n", shared=True)
        self.journal.write_text(CAPTURE, encoding="utf-8")
        return self

    def files(self) -> dict[str, bytes]:
        """Every file of the project and the store, by name, but for what is derived or locks."""
        found = [path for top in (self.project, self.store) for path in top.rglob("*") if path.is_file()]
        top = self.project.parent
        return {
            str(path.relative_to(top)): path.read_bytes()
            for path in found
            if path.name not in ("index.md", ".lock", ".met") and not path.name.startswith("memory.db")
        }


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("RECOLLECT_MEMORY_SEMANTIC_ENABLED", "false")
    return Place(tmp_path / "here")


@pytest.fixture
def there(tmp_path: Path) -> Place:
    """Another machine, with nothing on it yet."""
    return Place(tmp_path / "there")


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    return tmp_path / "backup.tar.gz"


def actions(result: Restored) -> dict[str, str]:
    return {outcome.member.name: outcome.action for outcome in result.outcomes}


def packed(path: Path, members: list[tuple[tarfile.TarInfo, bytes]]) -> Path:
    """An archive of any members, as somebody else might have made it."""
    with tarfile.open(path, "w:gz", format=tarfile.USTAR_FORMAT) as tar:
        for info, data in members:
            info.size = len(data) if info.type == tarfile.REGTYPE else 0
            tar.addfile(info, io.BytesIO(data))
    return path


def plain(name: str, data: bytes) -> tuple[tarfile.TarInfo, bytes]:
    return tarfile.TarInfo(name), data


def manifest(*files: dict[str, Any], **changes: Any) -> tuple[tarfile.TarInfo, bytes]:
    document = {
        "format": "recollect-backup",
        "format_version": 1,
        "recollect_version": "0.3.0",
        "created_at": "2026-03-01T10:00:00Z",
        "project": {"name": "shop", "identity": "/home/dev/shop"},
        "files": list(files),
        **changes,
    }
    return plain("manifest.json", json.dumps(document).encode())


def told(name: str, data: bytes, **changes: Any) -> dict[str, Any]:
    digest = sha256(data).hexdigest()
    kind = kind_of(name) or "memory"
    return {"name": name, "kind": kind, "size": len(data), "sha256": digest, "modified_ns": 1, **changes}


def refusal(path: Path) -> str:
    with pytest.raises(StorageError) as error:
        verify(str(path))
    return str(error.value)


# What is in a backup


def test_backup_holds_every_file_and_nothing_derived(here: Place, backup: Path) -> None:
    here.filled()
    (here.memories / "index.md").write_text("# Memory Index\n", encoding="utf-8")
    (here.store / ".lock").touch()
    result = here.create(backup)
    assert [member.name for member in read_archive(str(backup)).members] == [
        "memories/decision/drop-xml.json",
        "memories/decision/use-jwt.json",
        "settings/memory-config.json",
        "settings/iflow-dev.local.md",
        "bank/patterns.md",
        "global/patterns.md",
        "global/session-captures.jsonl",
    ]
    assert result.counts == {"memory": 2, "settings": 2, "bank": 1, "global": 1, "journal": 1}
    assert result.size == backup.stat().st_size
    assert (result.left_out, result.warnings) == ([], [])


def test_backup_is_readable_by_its_owner_alone(here: Place, backup: Path) -> None:
    here.filled().create(backup)
    assert backup.stat().st_mode & 0o777 == 0o600


def test_backup_never_replaces_a_file_unasked(here: Place, backup: Path) -> None:
    here.filled()
    backup.write_bytes(b"precious")
    with pytest.raises(StorageError, match="--force"):
        here.create(backup)
    assert backup.read_bytes() == b"precious"
    backup.chmod(0o644)
    here.create(backup, replace=True)
    verify(str(backup))
    assert backup.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in backup.parent.iterdir() if path.name.endswith(".tmp")] == []


def test_nothing_to_back_up_is_an_error_and_leaves_no_file(here: Place, backup: Path) -> None:
    with pytest.raises(StorageError, match="nothing to back up"):
        here.create(backup)
    assert not backup.exists()


def test_backup_of_a_folder_that_is_not_there_is_an_error(here: Place, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot write"):
        here.filled().create(tmp_path / "no" / "such" / "backup.tar.gz")


def test_backup_takes_what_people_broke_and_verify_warns_of_it(here: Place, backup: Path) -> None:
    here.filled()
    (here.memories / "decisions" / "broken.json").write_bytes(b"{not json \xff")
    (here.memories / "decisions" / "misfit.json").write_text('{"title": "x"}', encoding="utf-8")
    here.journal.write_text(CAPTURE + "torn {\n", encoding="utf-8")
    here.create(backup)
    warnings = verify(str(backup)).warnings
    assert len(warnings) == 3
    assert any("decision/broken.json is not valid JSON" in warning for warning in warnings)
    assert any("decision/misfit.json does not fit its schema" in warning for warning in warnings)
    assert any("1 of 2 lines" in warning for warning in warnings)


def test_links_among_memories_are_not_followed(here: Place, backup: Path, tmp_path: Path) -> None:
    here.filled()
    secret = tmp_path / "secret.json"
    secret.write_text('{"key": "s3cret"}', encoding="utf-8")
    (here.memories / "decisions" / "stolen.json").symlink_to(secret)
    result = here.create(backup)
    assert "stolen" in " ".join(result.warnings)
    assert all("stolen" not in member.name for member in read_archive(str(backup)).members)


def test_a_bank_that_cannot_be_read_is_said_to_be_left_out(here: Place, backup: Path) -> None:
    here.filled()
    (here.project / "docs" / "knowledge-bank" / "heuristics.md").mkdir()
    result = here.create(backup)
    assert len(result.left_out) == 1
    assert "heuristics.md is not a regular file" in result.left_out[0]
    verify(str(backup))


def test_locks_are_held_one_after_the_other_and_let_go(here: Place, backup: Path) -> None:
    here.filled().create(backup)
    with memories_locked(str(here.memories), 0), locked(str(here.journal), 0):
        pass


def test_too_much_for_a_backup_is_refused(monkeypatch: pytest.MonkeyPatch, backup: Path) -> None:
    monkeypatch.setattr(archive_format, "_LARGEST_TOTAL", 10)
    whole = Archive("shop", "/home/dev/shop", "0.3.0", "now", [Member("bank/patterns.md", b"eleven byte")])
    with pytest.raises(StorageError, match="too much for a backup"):
        write_archive(str(backup), whole)
    assert not backup.exists()


# What is refused


def test_cut_short_anywhere_is_refused(here: Place, backup: Path, tmp_path: Path) -> None:
    here.filled().create(backup)
    data = backup.read_bytes()
    cut = tmp_path / "cut.tar.gz"
    for end in range(0, len(data), 7):
        cut.write_bytes(data[:end])
        assert "no sound backup" in refusal(cut)


def test_a_flipped_bit_is_refused_or_changes_nothing(
    here: Place, backup: Path, tmp_path: Path, chance: random.Random
) -> None:
    here.filled().create(backup)
    data = backup.read_bytes()
    whole = read_archive(str(backup))
    flipped = tmp_path / "flipped.tar.gz"
    refused = 0
    for bit in chance.sample(range(8 * len(data)), 600):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        flipped.write_bytes(damaged)
        try:
            assert read_archive(str(flipped)) == whole  # in gzip's header some bits have no meaning
        except StorageError:
            refused += 1
    assert refused > 500


def test_what_is_no_backup_is_refused_with_its_reason(tmp_path: Path) -> None:
    other = tmp_path / "other"
    for data, why in (
        (b"", "empty"),
        (b"not gzip at all", "no gzip file"),
        (gzip.compress(b""), "cut short"),
        (gzip.compress(b"x" * 2000), "no tar file"),
        (gzip.compress(b"\0" * 20_000), "no tar file"),
    ):
        other.write_bytes(data)
        assert why in refusal(other)
    assert "cannot read" in refusal(tmp_path / "missing")
    assert "not a regular file" in refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refusal(tmp_path / "pipe")


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "memories/../../x.json",
        "memories/decision/../x.json",
        "memories/decision/UPPER.json",
        "memories/secrets/x.json",
        "memories/decision/x.json/y.json",
        "memories/decision/.hidden.json",
        "bank/constitution.md",
        "global/memory.db",
        "",
    ],
)
def test_a_name_that_no_backup_has_is_refused(tmp_path: Path, name: str) -> None:
    hostile = packed(tmp_path / "hostile", [manifest(told(name, b"{}")), plain(name, b"{}")])
    assert "is not the name of a file in a backup" in refusal(hostile)


def test_a_member_that_the_manifest_does_not_name_is_refused(tmp_path: Path) -> None:
    extra = packed(tmp_path / "extra", [manifest(), plain("../../.bashrc", b"echo")])
    assert "more follows than the manifest names" in refusal(extra)
    bank = told("bank/patterns.md", b"x")
    other = packed(tmp_path / "other", [manifest(bank), plain("bank/heuristics.md", b"x")])
    assert "bank/patterns.md: 'bank/heuristics.md' stands in its place" in refusal(other)
    missing = packed(tmp_path / "missing", [manifest(bank)])
    assert "bank/patterns.md: it is missing" in refusal(missing)
    assert "twice" in refusal(packed(tmp_path / "twice", [manifest(bank, bank), plain("bank/patterns.md", b"x")]))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_links_folders_and_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo("bank/patterns.md")
    info.type, info.linkname = kind, "/etc/passwd"
    hostile = packed(tmp_path / "hostile", [manifest(told("bank/patterns.md", b"")), (info, b"")])
    assert "bank/patterns.md: it is no plain file" in refusal(hostile)


def test_wrong_size_and_wrong_hash_name_the_member(tmp_path: Path) -> None:
    name = "bank/patterns.md"
    longer = packed(tmp_path / "longer", [manifest(told(name, b"x")), plain(name, b"xyz")])
    shorter = packed(tmp_path / "shorter", [manifest(told(name, b"xyz")), plain(name, b"x")])
    other = packed(tmp_path / "other", [manifest(told(name, b"xyz")), plain(name, b"abc")])
    assert f"{name}: it has 3 bytes" in refusal(longer)
    assert f"{name}: it has 1 bytes instead of 3" in refusal(shorter)
    assert f"{name}: its content is not what the manifest tells" in refusal(other)


def test_sizes_out_of_bounds_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    memory = "memories/decision/x.json"
    for size in (-1, 5 * 1024 * 1024, 1 << 80, True, 1.5, "12", None):
        told_so = manifest(told(memory, b"{}", size=size))
        assert "out of bounds" in refusal(packed(tmp_path / "bomb", [told_so]))
    banks = [f"{kind}/{name}.md" for kind in ("bank", "global") for name in ("heuristics", "patterns")]
    journal = told("global/session-captures.jsonl", b"", size=256 << 20)
    total = manifest(journal, *(told(name, b"", size=64 << 20) for name in (*banks, "usage.jsonl")))
    assert "together" in refusal(packed(tmp_path / "bomb", [total]))


def test_a_bomb_after_the_last_member_is_not_unpacked(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb"
    packed(bomb, [manifest()])
    with bomb.open("ab") as file, gzip.GzipFile(fileobj=file, mode="wb") as more:
        for _ in range(64):
            more.write(b"\0" * (1 << 20))
    assert "more follows" in refusal(bomb)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"format": "other"}, "not that of a recollect-backup"),
        ({"format_version": 2}, "update recollect"),
        ({"format_version": [[1]] * 9}, "update recollect"),
        ({"project": None}, "does not tell project"),
        ({"created_at": 5}, "does not tell project"),
        ({"created_at": "x" * 5000}, "does not tell project"),
        ({"files": {}}, "must be a list"),
        ({"files": [None]}, "not the name of a file"),
    ],
)
def test_an_invalid_manifest_is_refused(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    assert why in refusal(packed(tmp_path / "bad", [manifest(**changes)]))


def test_a_manifest_that_is_no_object_is_refused(tmp_path: Path) -> None:
    for data in (b"[" * 100_000, b"[]", b"\xff\xfe", b"null", b'{"format": ' + b"9" * 5000 + b"}"):
        assert "manifest.json" in refusal(packed(tmp_path / "bad", [plain("manifest.json", data)]))


def test_usage_that_no_store_has_written_is_refused(tmp_path: Path) -> None:
    for line in (b"[]", b"{}", b'{"id":1,"recall_count":1,"influence_count":0,"last_recalled_at":""}', b"\xff"):
        made = packed(tmp_path / "bad", [manifest(told("usage.jsonl", line)), plain("usage.jsonl", line)])
        assert "usage.jsonl: line 1 tells no usage" in refusal(made)


# What a restore does


def test_restore_brings_everything_back_elsewhere(here: Place, there: Place, backup: Path) -> None:
    here.filled().create(backup)
    result = there.restore(backup)
    assert there.files() == here.files()
    assert set(actions(result).values()) == {WRITTEN}
    assert result.complete
    assert "Use JWT" in (there.memories / "index.md").read_text(encoding="utf-8")
    assert there.journal.stat().st_mode & 0o777 == 0o600
    again = there.restore(backup)
    assert set(actions(again).values()) == {SAME}


def test_restored_files_have_the_time_they_had(here: Place, there: Place, backup: Path) -> None:
    here.filled()
    os.utime(here.bank(), ns=(5, 1_700_000_000_000_000_000))
    here.create(backup)
    there.restore(backup)
    restored = there.project / "docs" / "knowledge-bank" / "patterns.md"
    assert restored.stat().st_mtime_ns == 1_700_000_000_000_000_000


def test_bytes_that_are_no_text_come_back_as_they_were(here: Place, there: Place, backup: Path) -> None:
    here.filled()
    here.bank().write_bytes(b"### Pattern: Odd\r\n\xff\xfe\x00 bytes\r")
    here.create(backup)
    there.restore(backup)
    assert there.files() == here.files()


def test_a_dry_run_tells_the_same_and_writes_nothing(here: Place, there: Place, backup: Path) -> None:
    here.filled().create(backup)
    foreseen = there.restore(backup, dry_run=True)
    assert list(there.project.iterdir()) == list(there.store.iterdir()) == []
    done = there.restore(backup)
    assert actions(foreseen) == actions(done)
    told = f"the backup is of {here.project}, not of {there.project}"
    assert [any(sentence.startswith(told) for sentence in each.warnings) for each in (foreseen, done)] == [True, True]


def test_a_dry_run_says_when_settings_would_change_before_memories_are_placed(
    here: Place, there: Place, backup: Path
) -> None:
    here.filled()
    (here.memories / "memory-config.json").write_text('{"memory_root": ".claude/elsewhere"}', encoding="utf-8")
    here.memory("use-jwt").parent.rename(here.project / ".claude" / "decisions")
    (here.project / ".claude" / "elsewhere").mkdir()
    (here.project / ".claude" / "decisions").rename(here.project / ".claude" / "elsewhere" / "decisions")
    here.create(backup)
    assert any("restored settings may move them" in warning for warning in there.restore(backup, dry_run=True).warnings)
    assert not any("restored settings may move them" in warning for warning in there.restore(backup).warnings)
    assert there.files() == here.files()
    assert not any(
        "restored settings may move them" in warning for warning in there.restore(backup, dry_run=True).warnings
    )


def test_a_memory_that_says_it_is_newer_is_kept_unless_given_up(here: Place, backup: Path) -> None:
    here.filled().create(backup)
    path = here.memory("use-jwt", updated_at="2026-04-01T10:00:00Z", title="Newer")
    os.utime(path, ns=(1, 1))  # what the record says counts, not what a checkout made of the file's time
    newer = path.read_bytes()
    result = here.restore(backup)
    assert actions(result)["memories/decision/use-jwt.json"] == KEPT
    assert not result.complete
    assert "2026-04-01" in next(o.reason for o in result.outcomes if o.action == KEPT)
    assert path.read_bytes() == newer
    assert actions(here.restore(backup, overwrite=True))["memories/decision/use-jwt.json"] == REPLACED
    assert b"Use JWT" in path.read_bytes()


def test_a_memory_that_says_it_is_older_is_replaced(here: Place, backup: Path) -> None:
    here.filled().create(backup)
    path = here.memory("use-jwt", updated_at="2025-04-01T10:00:00Z", title="Older")
    result = here.restore(backup)
    assert actions(result)["memories/decision/use-jwt.json"] == REPLACED
    assert "Older" not in path.read_text(encoding="utf-8")
    assert "Older" not in (here.memories / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("seconds", "action"), [(-10, REPLACED), (0, KEPT), (10, KEPT)])
def test_other_files_are_compared_by_their_time(here: Place, backup: Path, seconds: int, action: str) -> None:
    here.filled()
    path = here.bank()
    os.utime(path, ns=(0, 1_700_000_000_000_000_000))
    here.create(backup)
    here.bank("### Pattern: Other\nAnother text.\n")
    os.utime(path, ns=(0, (1_700_000_000 + seconds) * 1_000_000_000))
    assert actions(here.restore(backup))["bank/patterns.md"] == action


def test_a_file_that_differs_and_is_as_new_is_kept_and_said_to_be(here: Place, backup: Path) -> None:
    here.filled()
    path = here.bank()
    here.create(backup)
    when = path.stat().st_mtime_ns
    os.utime(here.bank("### Pattern: Other\nAnother text.\n"), ns=(when, when))
    (kept,) = here.restore(backup).of(KEPT)
    assert kept.reason == "it differs, and is as new as the one in the backup"


def test_a_memory_that_was_renamed_since_is_not_written_twice(here: Place, backup: Path) -> None:
    path = here.filled().memory("use-jwt")
    here.create(backup)
    path.rename(path.with_name("use-tokens.json"))
    here.memory("use-tokens", updated_at="2026-04-01T10:00:00Z", title="Use tokens", times_updated=9)
    for options in ({"dry_run": True}, {}):
        result = here.restore(backup, **options)
        (kept,) = result.of(KEPT)
        assert (kept.member.name, kept.reason) == (
            "memories/decision/use-jwt.json",
            "it is called use-tokens here now",
        )
        assert not result.complete
        assert not path.exists()
    assert actions(here.restore(backup, overwrite=True))["memories/decision/use-jwt.json"] == WRITTEN
    assert path.exists()


def test_a_memory_made_at_the_same_time_is_not_taken_for_a_renamed_one(here: Place, backup: Path) -> None:
    path = here.filled().memory("use-jwt")
    here.create(backup)
    path.unlink()
    here.memory("something-else", title="Something else")
    assert actions(here.restore(backup))["memories/decision/use-jwt.json"] == WRITTEN


@pytest.mark.parametrize("change", [{"created_at": "2026-03-02T10:00:00Z"}, {"created_at": None}, {"created_at": [1]}])
def test_a_memory_made_at_another_time_is_not_taken_for_a_renamed_one(
    here: Place, backup: Path, change: dict[str, Any]
) -> None:
    path = here.filled().memory("use-jwt")
    here.create(backup)
    record = json.loads(path.read_text(encoding="utf-8"))
    path.unlink()
    path.with_name("other.json").write_text(json.dumps({**record, **change}), encoding="utf-8")
    assert actions(here.restore(backup))["memories/decision/use-jwt.json"] == WRITTEN


def test_the_memory_root_is_let_go_between_portions(
    here: Place, there: Place, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        here.memory(f"m-{number}")
    here.create(backup)
    there_by_then: list[int] = []

    @contextmanager
    def watched(root: str) -> Iterator[list[str]]:
        with memories_locked(root) as warnings:
            yield warnings
        there_by_then.append(len(list(there.memories.glob("decisions/*.json"))))

    monkeypatch.setattr(backup_restore, "_PORTION", 2)
    monkeypatch.setattr(backup_restore, "memories_locked", watched)
    there.restore(backup)
    assert there_by_then == [2, 4, 5, 5]  # and once more for the index
    assert there.files() == here.files()


@pytest.mark.parametrize("updated_at", ["", "yesterday", 5, None, "9999-99-99"])
def test_a_memory_without_a_usable_time_is_compared_by_its_files(here: Place, backup: Path, updated_at: object) -> None:
    here.filled().create(backup)
    path = here.memory("use-jwt")
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, "updated_at": updated_at}), encoding="utf-8")
    assert actions(here.restore(backup))["memories/decision/use-jwt.json"] == KEPT
    os.utime(path, ns=(0, 1))
    assert actions(here.restore(backup))["memories/decision/use-jwt.json"] == REPLACED


def test_of_two_journals_the_longer_wins_if_it_has_all_of_the_other(here: Place, backup: Path) -> None:
    name = "global/session-captures.jsonl"
    here.filled().create(backup)
    here.journal.write_text(CAPTURE + LATER_CAPTURE, encoding="utf-8")
    os.utime(here.journal, ns=(0, 1))
    assert actions(here.restore(backup))[name] == SAME
    assert here.journal.read_text(encoding="utf-8") == CAPTURE + LATER_CAPTURE
    here.create(backup, replace=True)
    here.journal.write_text(CAPTURE, encoding="utf-8")  # later, but shorter
    assert actions(here.restore(backup))[name] == REPLACED
    assert here.journal.read_text(encoding="utf-8") == CAPTURE + LATER_CAPTURE
    here.journal.write_text(LATER_CAPTURE, encoding="utf-8")
    assert actions(here.restore(backup))[name] == KEPT


def test_an_unsound_backup_restores_nothing(there: Place, tmp_path: Path) -> None:
    good, bad = b"### Pattern: Good\nText.\n", "usage.jsonl"
    files = [told("bank/patterns.md", good), told(bad, b"{}")]
    made = packed(tmp_path / "bad", [manifest(*files), plain("bank/patterns.md", good), plain(bad, b"{}")])
    with pytest.raises(StorageError, match=bad):
        there.restore(made)
    assert there.files() == {}


def test_links_where_memories_go_are_refused(here: Place, there: Place, backup: Path, tmp_path: Path) -> None:
    here.filled().create(backup)
    outside = tmp_path / "outside"
    outside.mkdir()
    there.memories.mkdir(parents=True)
    (there.memories / "decisions").symlink_to(outside)
    result = there.restore(backup, overwrite=True)
    assert actions(result)["memories/decision/use-jwt.json"] == REFUSED
    assert not result.complete
    assert list(outside.iterdir()) == []


def test_a_link_in_place_of_a_memory_is_refused(here: Place, there: Place, backup: Path, tmp_path: Path) -> None:
    here.filled().create(backup)
    victim = tmp_path / "victim.json"
    victim.write_text("{}", encoding="utf-8")
    there.memory("use-jwt").unlink()
    (there.memories / "decisions" / "use-jwt.json").symlink_to(victim)
    result = there.restore(backup, overwrite=True)
    assert actions(result)["memories/decision/use-jwt.json"] == REFUSED
    assert actions(result)["memories/decision/drop-xml.json"] == WRITTEN
    assert victim.read_text(encoding="utf-8") == "{}"


def test_a_link_out_of_the_project_is_refused(here: Place, there: Place, backup: Path, tmp_path: Path) -> None:
    here.filled().create(backup)
    victim = tmp_path / "bashrc"
    victim.write_text("alias", encoding="utf-8")
    os.utime(victim, ns=(0, 1))
    (there.project / ".claude").mkdir()
    (there.project / ".claude" / "iflow-dev.local.md").symlink_to(victim)
    result = there.restore(backup, overwrite=True)
    assert actions(result)["settings/iflow-dev.local.md"] == REFUSED
    assert victim.read_text(encoding="utf-8") == "alias"


def test_a_memory_root_that_leads_out_of_the_project_is_refused(here: Place, there: Place, backup: Path) -> None:
    here.filled().create(backup)
    there.memories.parent.mkdir()
    there.memories.symlink_to(there.store)
    with pytest.raises(WriteRefused, match="SECURITY_ERROR"):
        there.restore(backup)
    assert not list(there.store.rglob("*.json"))


def test_what_a_killed_restore_left_is_removed(here: Place, there: Place, backup: Path) -> None:
    here.filled().create(backup)
    folder = there.memory("use-jwt", updated_at="2020-01-01T00:00:00Z").parent
    (folder / ".use-jwt.json.recollect-99999.tmp").write_text("half", encoding="utf-8")
    there.restore(backup)
    assert sorted(path.name for path in folder.iterdir()) == ["drop-xml.json", "use-jwt.json"]


def test_an_index_that_a_killed_restore_left_behind_is_made_again(here: Place, there: Place, backup: Path) -> None:
    here.filled().create(backup)
    there.restore(backup)
    (there.memories / "index.md").unlink()
    assert set(actions(there.restore(backup)).values()) == {SAME}
    assert "Use JWT" in (there.memories / "index.md").read_text(encoding="utf-8")


# Usage


def used(place: Place) -> dict[str, tuple[int, int, str]]:
    with SqliteStore(str(place.store / "memory.db")) as store:
        return {u.id: (u.recall_count, u.influence_count, u.last_recalled_at) for u in store.usages()}


def use(place: Place, *usages: Usage) -> None:
    with SqliteStore(str(place.store / "memory.db")) as store:
        store.put_usages(usages)


def test_usage_comes_back_merged_and_never_goes_down(here: Place, backup: Path) -> None:
    here.filled()
    use(here, Usage("a" * 16, 5, 1, "2026-03-01T00:00:00Z"), Usage("b" * 16, 2, 0, "2026-03-02T00:00:00Z"))
    assert here.create(backup).counts["usage"] == 1
    (here.store / "memory.db").unlink()
    use(here, Usage("a" * 16, 3, 2, "2026-04-01T00:00:00Z"))
    result = here.restore(backup)
    assert (result.usages, result.complete) == (2, True)
    assert used(here) == {"a" * 16: (5, 2, "2026-04-01T00:00:00Z"), "b" * 16: (2, 0, "2026-03-02T00:00:00Z")}


def test_usage_of_memories_follows_them_into_another_project(here: Place, there: Place, backup: Path) -> None:
    here.filled()
    old = [entry_id(str(here.project), "decision", slug) for slug in ("use-jwt", "drop-xml")]
    new = [entry_id(str(there.project), "decision", slug) for slug in ("use-jwt", "drop-xml")]
    use(here, Usage(old[0], 5, 1, ""), Usage(old[1], 7, 0, ""), Usage("c" * 16, 1, 0, ""))
    here.create(backup)
    there.memory("drop-xml", updated_at="2027-01-01T00:00:00Z", title="Another thing of the same name")
    result = there.restore(backup)
    taken = used(there)
    assert taken[new[0]] == (5, 1, "")
    assert new[1] not in taken  # what was kept is not what the backup counted
    assert taken["c" * 16] == (1, 0, "")
    assert any(f"of {here.project}, not of {there.project}" in warning for warning in result.warnings)


@pytest.mark.parametrize("is_new", [False, True])
def test_usage_of_memories_of_a_worktree_stays_theirs(here: Place, there: Place, backup: Path, is_new: bool) -> None:
    main = here.project.parent / "main"
    link_worktree(main, here.project)
    here.filled()
    owner = str(here.project)
    use(here, Usage(entry_id(owner, "decision", "use-jwt"), 5, 1, ""))
    here.create(backup)
    assert verify(str(backup)).archive.identity == owner
    if is_new:
        link_worktree(there.project.parent / "main", there.project)
        there.memory("drop-xml")
        here, owner = there, str(there.project)
    else:
        (here.store / "memory.db").unlink()
    result = here.restore(backup)
    assert used(here)[entry_id(owner, "decision", "use-jwt")] == (5, 1, "")
    assert any("the backup is of" in warning for warning in result.warnings) == is_new


def test_a_damaged_store_is_said_and_does_not_stop_the_files(here: Place, there: Place, backup: Path) -> None:
    here.filled()
    use(here, Usage("a" * 16, 5, 1, ""))
    here.create(backup)
    (there.store / "memory.db").write_bytes(b"no database " * 1000)
    result = there.restore(backup)
    assert not result.complete
    assert "not restored" in result.usage_problem
    assert (there.memories / "decisions" / "use-jwt.json").exists()
    lost = there.create(backup, replace=True)
    assert "how entries were used" in lost.left_out[0]
