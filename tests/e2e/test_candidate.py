"""`recollect candidate` as agents call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import World

KEYS = ["candidate", "lifecycle_event", "delete_allowed", "pre_action", "structural_cud", "vetoes", "hints"]
CANDIDATE_KEYS = ["path", "title", "tags", "excerpt", "hash", "match", "score"]
WEBHOOK = {
    "trigger": "Stripe shows webhooks pending for more than ten minutes.",
    "root_cause": "The signature secret was rotated but the deployment still has the old one.",
}
PARAPHRASE = "Webhook deliveries from Stripe hang because the secret was changed."


def keep(world: World, folder: str, slug: str, title: str, content: dict[str, Any], *tags: str) -> Path:
    path = world.project / ".claude" / "memory" / folder / f"{slug}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    category = {"decisions": "decision", "runbooks": "runbook"}.get(folder, folder)
    record = {"schema_version": "1.0", "category": category, "id": slug, "title": title, "tags": list(tags) or ["kept"]}
    record |= {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z"}
    record |= {"record_status": "active", "content": content}
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def answer(world: World, *options: str, **more: Any) -> dict[str, Any]:
    done = world.run("candidate", *options, **more)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_candidate_prints_what_an_update_needs(world: World) -> None:
    path = keep(world, "decisions", "login", "Login with cookies", {"decision": "use cookies"}, "auth")
    document = answer(world, "--category", "decision", "--new-info", "cookies for the login")
    assert list(document) == KEYS
    assert list(document["candidate"]) == CANDIDATE_KEYS
    assert document["candidate"]["path"] == ".claude/memory/decisions/login.json"
    assert document["candidate"]["hash"] == md5(path.read_bytes(), usedforsecurity=False).hexdigest()
    assert (document["pre_action"], document["structural_cud"]) == (None, "UPDATE")


def test_candidate_of_a_project_without_memories_is_none_and_leaves_nothing_behind(world: World) -> None:
    document = answer(world, "--category", "decision", "--new-info", "cookies for the login")
    assert (document["candidate"], document["structural_cud"]) == (None, "CREATE")
    ended = answer(world, "--category", "runbook", "--new-info", "it is gone", "--lifecycle-event", "removed")
    assert (ended["lifecycle_event"], ended["structural_cud"]) == ("removed", "NOOP")
    assert list(world.project.iterdir()) == []


def test_candidate_of_a_root_that_does_not_exist_is_an_error(world: World) -> None:
    done = world.run("candidate", "--category", "decision", "--new-info", "login", "--root", ".claude/memory")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: there is no memory root ")


def test_candidate_finds_the_memories_of_a_named_root(world: World, tmp_path: Path) -> None:
    keep(world, "decisions", "login", "Login with cookies", {})
    where = str(world.project / ".claude" / "memory")
    document = answer(world, "--category", "decision", "--new-info", "login cookies", "--root", where, cwd=tmp_path)
    assert document["candidate"]["path"] == ".claude/memory/decisions/login.json"


def test_candidate_with_an_index_that_is_a_folder_is_an_error(world: World) -> None:
    keep(world, "decisions", "login", "Login with cookies", {})
    (world.project / ".claude" / "memory" / "index.md").mkdir()
    done = world.run("candidate", "--category", "decision", "--new-info", "login")
    assert (done.returncode, done.stdout) == (1, "")
    assert "index.md is not a regular file" in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        ["--new-info", "login"],
        ["--category", "decision"],
        ["--category", "patterns", "--new-info", "login"],
        ["--category", "decision", "--new-info", " \n\u200b "],
        ["--category", "decision", "--new-info", "x" * 20_001],
        ["--category", "decision", "--new-info", "login", "--new-info-file", "-"],
        ["--category", "decision", "--new-info-file", "missing.txt"],
        ["--category", "decision", "--new-info", "login", "--lifecycle-event", "finished"],
    ],
)
def test_candidate_called_wrongly_is_a_usage_error(world: World, options: list[str]) -> None:
    done = world.run("candidate", *options)
    assert (done.returncode, done.stdout) == (2, "")


def test_candidate_takes_new_information_from_a_file_or_standard_input(world: World) -> None:
    keep(world, "decisions", "login", "Login with cookies", {})
    given = world.project / "new.txt"
    given.write_text("cookies for the login", encoding="utf-8")
    from_file = answer(world, "--category", "decision", "--new-info-file", "new.txt")
    piped = answer(world, "--category", "decision", "--new-info-file", "-", stdin="cookies for the login")
    assert from_file == piped == answer(world, "--category", "decision", "--new-info", "cookies for the login")
    assert from_file["candidate"]


def test_candidate_survives_anything_as_new_information(world: World) -> None:
    keep(world, "decisions", "login", "Login with cookies", {})
    hostile = "$(rm -rf /) -> x.json #tags:a,b\x1b[31m \u202e 大小 \\ \" ' " + "login cookies " * 1_400
    document = answer(world, "--category", "decision", "--new-info-file", "-", stdin=hostile)
    assert document["candidate"]["score"] == 4


def test_candidate_of_a_category_that_is_switched_off_is_refused(world: World) -> None:
    keep(world, "decisions", "login", "Login with cookies", {})
    call = ["--category", "decision", "--new-info", "cookies for the login"]
    off = answer(world, *call, RECOLLECT_CATEGORIES_DECISION_ENABLED="false")
    assert (off["candidate"], off["pre_action"], off["structural_cud"]) == (None, "NOOP", "NOOP")
    assert "categories.decision.enabled is false" in off["vetoes"][0]
    asked = answer(world, *call, RECOLLECT_CATEGORIES_DECISION_AUTO_CAPTURE="false")
    assert asked["candidate"]
    unasked = answer(world, *call, "--auto", RECOLLECT_CATEGORIES_DECISION_AUTO_CAPTURE="false")
    assert unasked["structural_cud"] == "NOOP"


def test_candidate_in_a_worktree_is_that_of_the_main_checkout(world: World, tmp_path: Path) -> None:
    keep(world, "decisions", "login", "Login with cookies", {})
    git = ["git", "-c", "user.name=dev", "-c", "user.email=dev@example.org", "-C", str(world.project)]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "start"]):
        subprocess.run([*git, *command], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "other")], check=True)
    document = answer(world, "--category", "decision", "--new-info", "login cookies", cwd=tmp_path / "other")
    assert document["candidate"]["path"] == ".claude/memory/decisions/login.json"


def test_paraphrase_is_a_semantic_candidate(semantic_world: World) -> None:
    keep(semantic_world, "runbooks", "webhook", "Clear a stuck payment webhook", WEBHOOK)
    call = ["--category", "runbook", "--new-info", PARAPHRASE]
    document = answer(semantic_world, *call)
    assert document["candidate"]["match"] == "semantic"
    assert document["candidate"]["path"] == ".claude/memory/runbooks/webhook.json"
    assert document["hints"] == [f"1 semantic candidate found (score={document['candidate']['score']:.2f})"]
    assert (document["delete_allowed"], document["structural_cud"]) == (False, "UPDATE")
    ended = answer(semantic_world, *call, "--lifecycle-event", "resolved")
    assert (ended["delete_allowed"], ended["structural_cud"]) == (True, "UPDATE_OR_DELETE")
    assert answer(semantic_world, *call, "--no-semantic")["structural_cud"] == "CREATE"
    where = str(semantic_world.project / ".claude" / "memory")
    assert answer(semantic_world, *call, "--root", where)["candidate"] == document["candidate"]


def test_store_that_is_damaged_beyond_use_leaves_what_titles_tell(semantic_world: World) -> None:
    keep(semantic_world, "runbooks", "webhook", "Clear a stuck payment webhook", WEBHOOK)
    semantic_world.store.write_text("no folder", encoding="utf-8")
    done = semantic_world.run("candidate", "--category", "runbook", "--new-info", PARAPHRASE)
    assert done.returncode == 0
    assert json.loads(done.stdout)["structural_cud"] == "CREATE"
    assert done.stderr.startswith("Warning: memories were not compared by meaning: ")


def test_model_is_loaded_only_for_what_titles_do_not_tell(semantic_world: World) -> None:
    keep(semantic_world, "runbooks", "webhook", "Clear a stuck payment webhook", WEBHOOK)
    assert (
        packages_after(semantic_world, "a stuck payment") & {"numpy", "onnxruntime", "tokenizers", "pydantic"} == set()
    )
    assert not semantic_world.store.exists()
    assert {"numpy", "onnxruntime"} <= packages_after(semantic_world, PARAPHRASE)


def packages_after(world: World, new_info: str) -> set[str]:
    """All packages that the command has loaded, measured in the process that did it."""
    call = ["candidate", "--category", "runbook", "--new-info", new_info]
    program = "from recollect.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program, *call],
        cwd=world.project,
        env={"PATH": os.environ["PATH"], "HOME": str(world.home), "RECOLLECT_HOME": str(world.store)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert json.loads(done.stdout)["candidate"]
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_candidate_is_not_found_by_a_common_verb(world: World) -> None:
    keep(world, "decisions", "use-postgresql", "Use PostgreSQL, see what we need", {"decision": "PostgreSQL"}, "use")
    for new_info in ("We use Kafka", "We use Kafka; see what you need, and think of what else may help"):
        assert answer(world, "--category", "decision", "--new-info", new_info)["candidate"] is None
    assert answer(world, "--category", "decision", "--new-info", "PostgreSQL 17 is what we need")["candidate"] is None
    keep(world, "decisions", "use-postgresql", "Use PostgreSQL", {"decision": "PostgreSQL"}, "postgresql")
    assert answer(world, "--category", "decision", "--new-info", "PostgreSQL 17 now")["candidate"]
