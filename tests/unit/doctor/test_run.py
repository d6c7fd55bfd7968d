"""What each examination finds, where things are as they should be and where they are not."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import LOCK, PATIENCE, Start, heard

from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.doctor import database as doctor_database
from recollect.doctor import hooks as doctor_hooks
from recollect.doctor import machine as doctor_machine
from recollect.doctor import proof as doctor_proof
from recollect.doctor import run as doctor
from recollect.doctor import store as doctor_store
from recollect.doctor.case import ERROR, OK, WARNING, Case, Finding
from recollect.doctor.resident import resident
from recollect.domain.ranking.terms import query_terms
from recollect.engine.engine import Engine
from recollect.files.log import log
from recollect.resident.client import folders, socket_in
from recollect.resident.server import Resident
from recollect.sync.rebuild import sync_and_embed
from recollect.version import VERSION

BANK = "### Pattern: Lesson {0}\nWhat lesson {0} taught us.\n\n"
BY_WORDS = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return case_of(tmp_path)


def case_of(folder: Path, **variables: str) -> Case:
    project, store = folder / "project", folder / "store"
    (project / "docs" / "knowledge-bank").mkdir(parents=True, exist_ok=True)
    store.mkdir(mode=0o700, exist_ok=True)
    return Case(Workspace(str(project), str(store), load_settings(str(project), variables)), variables)


def write_bank(case: Case, count: int) -> None:
    path = Path(case.workspace.project_root, "docs", "knowledge-bank", "patterns.md")
    path.write_text("".join(BANK.format(number) for number in range(count)), encoding="utf-8")


def read_files(case: Case) -> None:
    assert sync_and_embed(case.workspace) == []


def of(level: str, findings: Iterable[Finding]) -> list[str]:
    return [finding.sentence for finding in findings if finding.level == level]


def only(findings: Iterable[Finding]) -> Finding:
    (finding,) = findings
    return finding


def by_subject(findings: Iterable[Finding]) -> dict[str, Finding]:
    return {finding.subject: finding for finding in findings}


# The whole


def test_check_that_raises_is_an_error_among_the_findings(case: Case) -> None:
    case = replace(case, workspace=Workspace(case.workspace.project_root, case.workspace.global_store + "\0"))
    finding = only(doctor.within(5.0, "Sessions", "store", "sessions", case))
    assert (finding.level, finding.subject) == (ERROR, "Sessions")
    assert "could not be examined: ValueError" in finding.sentence
    assert finding.fix


def test_check_that_never_ends_is_left_behind(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr(doctor_store, "journal", lambda _case: [ended.wait()])  # pyright: ignore
    finding = only(doctor.within(0.2, "Journal", "store", "journal", case))
    assert (finding.level, finding.sentence) == (ERROR, "was not examined to its end within 0.2 seconds")
    ended.set()


def test_repair_that_fails_does_not_keep_the_next_from_being_done() -> None:
    def fail() -> str:
        raise OSError("no room")

    done = doctor.repair(
        [
            Finding(ERROR, "A", "broken", "try", fail),
            Finding(ERROR, "B", "broken"),
            Finding(ERROR, "C", "broken", "", lambda: "mended"),
        ]
    )
    assert [(finding.level, finding.subject) for finding in done] == [(ERROR, "A"), (OK, "C")]
    assert "no room" in done[0].sentence
    assert done[1].sentence == "mended"


def test_check_has_more_time_on_a_slower_machine(case: Case) -> None:
    assert 1.0 <= case.pace <= 20.0
    slow = replace(case, pace=4.0)
    assert slow.patience(5.0) == 20.0
    failures = [finding for finding in doctor_machine.packages(replace(case, pace=1e-9)) if finding.level == ERROR]
    assert "did not end within" in failures[0].sentence, "a limit that nothing can keep"


# The machine


def test_packages_are_named_with_their_versions(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_machine, "_TIMEOUT", 600.0)  # a busy machine imports slowly
    finding = only(doctor_machine.packages(case))
    assert finding.level == OK
    assert all(f"{name} " in finding.sentence for name in doctor_machine.SHOWN)
    assert "(no version)" not in finding.sentence


def test_sqlite_is_told_with_full_text_search(case: Case) -> None:
    finding = only(doctor_machine.driver(case))
    assert (finding.level, finding.sentence) == (OK, f"{sqlite3.sqlite_version}, with full-text search (FTS5)")


def test_setting_that_nothing_obeys_is_a_warning(tmp_path: Path) -> None:
    case = case_of(tmp_path, RECOLLECT_MEMORY_INJECTION_LIMT="5", RECOLLECT_MEMORY_INJECTION_ENABLED="false")
    findings = list(doctor_machine.settings(case))
    assert "did you mean RECOLLECT_MEMORY_INJECTION_LIMIT?" in only(f for f in findings if f.level == WARNING).sentence
    assert of(OK, findings) == ["memory_injection_enabled is switched off"]


def test_keywords_without_the_key_they_need_are_a_warning(tmp_path: Path) -> None:
    asked = case_of(tmp_path, RECOLLECT_MEMORY_KEYWORD_PROVIDER="anthropic")
    assert of(WARNING, doctor_machine.keywords(asked)) == ["there is no key for Anthropic"]
    assert of(OK, doctor_machine.keywords(asked)) == ["anthropic: by anthropic, then by rules"]
    off = case_of(tmp_path, RECOLLECT_MEMORY_KEYWORD_PROVIDER="off")
    assert only(doctor_machine.keywords(off)).sentence.startswith("switched off")


# The store's folder


def test_missing_store_is_no_fault_and_is_made_only_by_a_repair(case: Case) -> None:
    os.rmdir(case.workspace.global_store)
    finding = only(doctor_store.folder(case))
    assert finding.level == OK
    assert not os.path.exists(case.workspace.global_store)
    assert doctor.repair([finding])[0].sentence == f"made {case.workspace.global_store}"
    assert os.path.exists(os.path.join(case.workspace.global_store, "memory.db"))
    assert os.stat(case.workspace.global_store).st_mode & 0o077 == 0


def test_file_in_the_place_of_the_store_is_an_error(case: Case) -> None:
    os.rmdir(case.workspace.global_store)
    Path(case.workspace.global_store).write_text("", encoding="utf-8")
    finding = only(doctor_store.folder(case))
    assert (finding.level, finding.sentence) == (ERROR, f"{case.workspace.global_store} is no folder")


def test_what_is_open_to_others_is_told_and_closed_by_a_repair(case: Case) -> None:
    write_bank(case, 1)
    read_files(case)
    database = os.path.join(case.workspace.global_store, "memory.db")
    assert of(OK, doctor_store.permissions(case))
    Path(database).chmod(0o644)
    Path(case.workspace.global_store).chmod(0o777)
    findings = list(doctor_store.permissions(case))
    assert of(WARNING, findings) == [
        f"others may write {case.workspace.global_store} (mode 777)",
        f"others may read {database} (mode 644)",
    ]
    doctor.repair(findings)
    assert [oct(os.stat(path).st_mode & 0o777) for path in (case.workspace.global_store, database)] == [
        "0o700",
        "0o600",
    ]
    assert of(WARNING, doctor_store.permissions(case)) == []


def test_room_on_the_disk_is_told(case: Case) -> None:
    assert case.workspace.global_store in only(doctor_store.disk(case)).sentence


def test_database_that_another_process_writes_to_is_a_warning(case: Case, start: Start) -> None:
    write_bank(case, 1)
    read_files(case)
    assert of(OK, doctor_store.locks(case)) == ["the database can be written at once"]
    database = os.path.join(case.workspace.global_store, "memory.db")
    assert heard(start(LOCK, database, "IMMEDIATE")) == "locked"
    assert f"another process has been writing to {database}" in only(doctor_store.locks(case)).sentence


def test_lines_of_the_journal_that_cannot_be_used_are_counted(case: Case) -> None:
    good = {"name": "One", "description": "A lesson.", "category": "patterns", "at": "2026-01-01T00:00:00Z"}
    lines = [json.dumps(good), "nonsense", json.dumps({"name": "Two"}), json.dumps(good)]
    path = Path(case.workspace.global_store, "session-captures.jsonl")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    finding = only(doctor_store.journal(case))
    assert finding.level == WARNING
    assert finding.sentence.startswith("2 of 4 lines cannot be used: ")
    path.write_text(json.dumps(good) + "\n", encoding="utf-8")
    assert only(doctor_store.journal(case)).sentence.startswith("1 line, ")


def test_bank_that_cannot_be_read_is_a_warning(case: Case) -> None:
    write_bank(case, 2)
    Path(case.workspace.global_store, "heuristics.md").mkdir()
    findings = list(doctor_store.banks(case))
    assert of(OK, findings) == ["2 entries in the project's, 0 in the global one"]
    assert "heuristics.md" in of(WARNING, findings)[0]


def test_records_of_sessions_are_counted(case: Case) -> None:
    assert only(doctor_store.sessions(case)).level == OK
    folder = Path(case.workspace.global_store, ".sessions")
    folder.mkdir()
    (folder / "s-1").write_text("+a\n", encoding="utf-8")
    assert only(doctor_store.sessions(case)).sentence == "1 record of sessions, 3 bytes"
    (folder / "s-1").unlink()
    folder.rmdir()
    folder.write_text("", encoding="utf-8")
    assert only(doctor_store.sessions(case)).level == WARNING


# The database


def test_whole_database_is_told_with_its_facts(case: Case) -> None:
    write_bank(case, 3)
    read_files(case)
    found = by_subject(doctor_database.database(case))
    assert {finding.level for finding in found.values()} == {OK}
    assert found["Database"].sentence.startswith("3 active entries, ")
    assert found["Database"].sentence.endswith("whole, its full-text index complete")
    assert found["Vectors"].sentence == "every entry has one by local/all-MiniLM-L6-v2-int8-words (49.1 KiB)"
    assert found["Files"].sentence == "the store has read 1 file as they are"


def test_empty_index_is_an_error_until_it_is_repaired(case: Case) -> None:
    write_bank(case, 3)
    read_files(case)
    path = os.path.join(case.workspace.global_store, "memory.db")
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("INSERT INTO entries_fts (entries_fts) VALUES ('delete-all')")
    database.close()
    before = Path(path).read_bytes()
    findings = list(doctor_database.database(case))
    assert of(ERROR, findings) == ["the full-text index was empty, so words found nothing or not all"]
    assert Path(path).read_bytes() == before
    assert "it was made again from the entries" in doctor.repair(findings)[0].sentence
    assert of(ERROR, doctor_database.database(case)) == []


def test_damaged_database_is_an_error_with_the_command_that_mends_it(case: Case) -> None:
    path = Path(case.workspace.global_store, "memory.db")
    path.write_bytes(b"no database" * 500)
    finding = only(doctor_database.database(case))
    assert finding.level == ERROR
    assert finding.fix == "`recollect rebuild` makes it again from your files"
    assert path.read_bytes() == b"no database" * 500


def test_entries_without_vectors_are_a_warning_when_they_are_many(tmp_path: Path) -> None:
    words = case_of(tmp_path, **BY_WORDS)
    write_bank(words, 60)
    read_files(words)
    assert "Vectors" not in by_subject(doctor_database.database(words))
    case = case_of(tmp_path)
    finding = by_subject(doctor_database.database(case))["Vectors"]
    assert finding.level == WARNING
    assert finding.sentence == "60 of 60 entries await one and are found by their words alone"
    assert doctor.repair([finding])[0].sentence == "60 entries were given a vector"
    assert by_subject(doctor_database.database(case))["Vectors"].level == OK


def test_vectors_of_another_model_are_a_warning(case: Case, tmp_path: Path) -> None:
    write_bank(case, 2)
    read_files(case)
    other = case_of(
        tmp_path,
        RECOLLECT_MEMORY_EMBEDDING_PROVIDER="openai",
        OPENAI_API_KEY="none",
    )
    kept, missing = [each for each in doctor_database.database(other) if each.subject == "Vectors"]
    assert "local/all-MiniLM-L6-v2-int8-words (" in kept.sentence
    assert (missing.level, missing.fix) == (WARNING, "`recollect reembed`")
    assert "there are none by openai/text-embedding-3-small-1536" in missing.sentence


def test_files_that_were_not_read_yet_are_counted_and_stay_unread(case: Case) -> None:
    write_bank(case, 2)
    read_files(case)
    write_bank(case, 3)
    Path(case.workspace.global_store, "heuristics.md").write_text("### Heuristic: New\nText.\n", encoding="utf-8")
    for _ in range(2):
        finding = by_subject(doctor_database.database(case))["Files"]
        assert finding.level == OK
        assert finding.sentence.startswith("2 files have changed since the store read them")
    doctor.repair([finding])
    assert by_subject(doctor_database.database(case))["Files"].sentence.startswith("the store has read 2 files")


# The proof


def test_question_of_the_self_test_shares_no_word_with_its_lesson() -> None:
    with (
        doctor_proof.Workshop() as shop,
        Engine(shop.workspace(load_settings(shop.project, BY_WORDS))) as engine,
    ):
        shop.fill(engine)
        _, total = engine.store.document_frequencies(["retry"])
        known, _ = engine.store.document_frequencies(query_terms(doctor_proof._MEANT))
    assert total == 3
    assert set(known.values()) == {0}
    assert not os.path.exists(shop.top)


def test_self_test_finds_by_words_and_by_meaning(case: Case) -> None:
    findings = list(doctor_proof.self_test(case))
    assert [(finding.level, finding.subject) for finding in findings] == [(OK, "Self-test"), (OK, "Embeddings")]
    assert os.listdir(case.workspace.global_store) == []


def test_self_test_says_why_nothing_is_found_by_meaning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    case = case_of(tmp_path, RECOLLECT_MEMORY_EMBEDDING_PROVIDER="openai")
    found = by_subject(doctor_proof.self_test(case))
    assert found["Self-test"].level == OK
    assert found["Embeddings"].level == ERROR
    assert "OPENAI_API_KEY" in found["Embeddings"].sentence + found["Embeddings"].fix


# The plugin


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Writes the files in which Claude Code remembers a plugin."""
    folder = tmp_path / "claude"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    monkeypatch.delenv("CLAUDE_PLUGIN_DATA", raising=False)

    def write(version: str = VERSION, enabled: bool = True) -> None:
        (folder / "plugins").mkdir(parents=True, exist_ok=True)
        item = {"scope": "user", "version": version, "installPath": str(folder / "plugins" / "cache")}
        listed = {"version": 2, "plugins": {"memory@recollect": [item]}}
        (folder / "plugins" / "installed_plugins.json").write_text(json.dumps(listed), encoding="utf-8")
        settings = {"enabledPlugins": {"memory@recollect": enabled}}
        (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")

    return write


@pytest.mark.usefixtures("client")
def test_client_that_does_not_have_the_plugin_is_a_warning(case: Case, tmp_path: Path) -> None:
    (tmp_path / "claude" / "plugins").mkdir(parents=True)
    finding = only(doctor_hooks.plugin(case))
    assert (finding.level, finding.fix) == (WARNING, "`recollect init` installs it")
    assert list(doctor_hooks.environment(case)) == []


def test_installed_plugin_is_told_with_its_version_and_whether_it_is_on(
    case: Case, client: Callable[..., None]
) -> None:
    client()
    assert only(doctor_hooks.plugin(case)).sentence == (
        f"memory@recollect {VERSION} is installed in Claude Code (scope user)"
    )
    client(version="0.0.1")
    assert only(doctor_hooks.plugin(case)).sentence.endswith(f"and this is {VERSION}")
    client(enabled=False)
    assert "settings.json switches it off" in only(doctor_hooks.plugin(case)).sentence
    local = Path(case.workspace.project_root, ".claude", "settings.local.json")
    local.parent.mkdir()
    local.write_text('{"enabledPlugins": {"memory@recollect": true}}', encoding="utf-8")
    assert only(doctor_hooks.plugin(case)).level == OK


def test_environment_that_could_not_be_built_is_an_error_with_the_reason(
    case: Case, client: Callable[..., None], tmp_path: Path
) -> None:
    client()
    assert only(doctor_hooks.environment(case)).level == WARNING
    data = tmp_path / "claude" / "plugins" / "data" / "memory-recollect"
    data.mkdir(parents=True)
    (data / "build.outcome").write_text(f"2\n{time.time()}\nno network\n", encoding="utf-8")
    finding = only(doctor_hooks.environment(case))
    assert finding.level == ERROR
    assert "could not be installed (2 times): no network; the next session does not try yet" in finding.sentence


def test_notes_of_hooks_are_counted_by_hook(case: Case) -> None:
    assert only(doctor_hooks.notes(case)).level == OK
    for hook, sentence in (("prompt", "the store is locked"), ("stop", "no room"), ("prompt", "it is damaged")):
        log(case.workspace.global_store, hook, sentence)
    finding = only(doctor_hooks.notes(case))
    assert finding.level == WARNING
    assert finding.sentence == ("they left 3 notes in the last day (prompt 2, stop 1); the last: prompt: it is damaged")


# The resident engine


@pytest.fixture
def place(case: Case, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the engine of the store listens: a socket's address has little room, so not in the folder of the test."""
    with tempfile.TemporaryDirectory(prefix="run-") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        folder = Path(next(iter(folders(case.workspace.global_store))))
        folder.mkdir(parents=True, mode=0o700)
        folder.parent.chmod(0o700)
        yield folder


def listening(place: Path) -> socket.socket:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(socket_in(str(place)))
    os.chmod(socket_in(str(place)), 0o600)
    server.listen()
    return server


@pytest.mark.usefixtures("place")
def test_no_engine_is_no_fault(case: Case) -> None:
    assert only(resident(case)).sentence.startswith("no resident is running")


@pytest.mark.parametrize("mode", [0o600, 0o755])  # the second is that of a resident killed as soon as it has begun
def test_socket_that_was_left_behind_is_removed_only_by_a_repair(case: Case, place: Path, mode: int) -> None:
    listening(place).close()
    os.chmod(socket_in(str(place)), mode)
    finding = only(resident(case))
    assert finding.level == WARNING
    assert "was left behind" in finding.sentence
    assert place.exists()
    assert doctor.repair([finding])[0].sentence == f"removed {place}"
    assert not place.exists()


def test_socket_that_others_can_use_is_an_error(case: Case, place: Path) -> None:
    server = listening(place)
    place.chmod(0o755)
    finding = only(resident(case))
    server.close()
    assert finding.level == ERROR
    assert "open to others" in finding.sentence


def test_engine_that_does_not_answer_is_a_warning(case: Case, place: Path) -> None:
    server = listening(place)
    finding = only(resident(case))
    server.close()
    assert finding.level == WARNING
    assert "took too long" in finding.sentence


def test_engine_of_another_version_is_a_warning(case: Case, place: Path) -> None:
    other = place.parent / place.name.replace(VERSION, "0.1.2")
    other.mkdir(mode=0o700)
    server = listening(other)
    findings = list(resident(case))
    server.close()
    assert [finding.level for finding in findings] == [WARNING, OK]
    assert "one of version 0.1.2 is running" in findings[0].sentence


def test_engine_that_answers_is_told_with_its_process(case: Case, place: Path) -> None:
    ready = threading.Event()
    engine = Resident(case.workspace.global_store)
    engine.start(ready.set)
    assert ready.wait(PATIENCE)
    finding = only(resident(case))
    engine.close()
    assert (finding.level, finding.sentence.split(",")[0]) == (OK, f"process {os.getpid()}")
    assert f"version {VERSION}" in finding.sentence
    assert "0 entries, no model loaded" in finding.sentence
    assert not place.exists()
