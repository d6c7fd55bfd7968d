"""No secret is kept: it is refused by every way in, and taken out of what is kept without being asked for.

The secrets are put together here, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from types import ModuleType

import pytest
from mcp import ClientSession
from tests.conftest import World
from tests.e2e.test_stop import DECISION, NAME, PLACE, STAGE, Session, remove_contexts
from tests.integration.mcp_server.talk import LESSON, refused, said, with_client

from recollect.domain.secrets.detect import find_secret, redact
from recollect.files.log import log

TOP = Path(__file__).parents[2]
LETTERS = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"

# What is in a text, and the part of it that must be nowhere.
SECRETS = {
    "a PyPI token": ("pypi-" + "AgEIcHlwaS5vcmc" + LETTERS, LETTERS),
    "a password": ("the password is " + "copper-velvet", "copper-velvet"),
    "a password in a URL": ("redis://:" + "copperVelvet@cache:6379", "copperVelvet"),
    "a part marked as private": ("<private>" + "the door code is 1234</private>", "door code"),
}
KINDS = list(SECRETS)
ENTRY = {"name": "Deploys", "description": "Deploy from the main branch.", "category": "patterns"}
MEMORY = {
    "title": "Deploys go through the queue",
    "tags": ["deploy"],
    "content": {"status": "accepted", "context": "c", "decision": "d", "rationale": ["r"]},
}


def formats() -> ModuleType:
    """The formats that are measured, which are no part of the package."""
    spec = importlib.util.spec_from_file_location("formats", TOP / "bench" / "secrets" / "formats.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def everything_under(*folders: Path) -> str:
    """The text of every file, the database's included."""
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in files)


def assert_refused(done: CompletedProcess[str], world: World, kind: str, field: str) -> None:
    secret = SECRETS[kind][1]
    assert done.returncode == 1
    assert f"seems to hold {kind}" in done.stderr
    assert field in done.stderr
    assert secret not in done.stdout + done.stderr
    assert secret not in everything_under(world.home, world.store)


# The formats


def test_every_format_is_found(tried: Callable[[int], None]) -> None:
    missed = [name for seed in (1, 2, 3) for name, line in formats().lines(seed).items() if not find_secret(line)]
    assert missed == []
    tried(3 * len(formats().lines()))


def test_no_format_is_found_again_once_it_is_redacted() -> None:
    left = [name for name, line in formats().lines().items() if find_secret(redact(line))]
    assert left == []


def test_ordinary_code_and_prose_raise_no_alarm() -> None:
    library = Path(sysconfig.get_paths()["stdlib"])
    folders = [
        TOP / "src",
        TOP / "docs",
        TOP / "plugin" / "skills",
        *(library / name for name in ("json", "http", "email")),
    ]
    files = [path for folder in folders for end in ("*.py", "*.md") for path in folder.rglob(end)]
    lines = [(path, line) for path in files for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    alarms = [f"{path.name}: {line}" for path, line in lines if find_secret(line)]
    assert len(lines) > 30_000
    assert alarms == []


# The ways in


FIELDS = ["name", "reasoning", "references", "triggers", "category", "confidence", "feature"]


@pytest.mark.parametrize(
    ("kind", "field"), [*((kind, "description") for kind in KINDS), *((KINDS[0], f) for f in FIELDS)]
)
def test_upsert_refuses_a_secret_in_any_field_and_does_not_repeat_it(world: World, kind: str, field: str) -> None:
    text = f"See {SECRETS[kind][0]}"
    given = {**ENTRY, field: [text] if field in ("references", "triggers") else text}
    done = world.run("upsert", "--entry-json", json.dumps(given))
    assert_refused(done, world, kind, field)


def test_upsert_refuses_a_secret_as_the_name_of_a_field(world: World) -> None:
    done = world.run("upsert", "--json", "--entry-json", json.dumps({**ENTRY, SECRETS["a PyPI token"][0]: "x"}))
    assert_refused(done, world, "a PyPI token", "the name of a field")


@pytest.mark.parametrize("kind", KINDS)
def test_triggers_refuses_a_secret_and_does_not_repeat_it(world: World, kind: str) -> None:
    world.write_decision("queue")
    done = world.run("triggers", "queue", "a full queue", f"see {SECRETS[kind][0]}")
    assert_refused(done, world, kind, "triggers")


@pytest.mark.parametrize("kind", KINDS)
def test_write_refuses_a_secret_and_does_not_repeat_it(world: World, kind: str) -> None:
    draft = Path("/tmp") / f".memory-draft-{world.home.parent.name}-{KINDS.index(kind)}.json"
    draft.write_text(json.dumps({**MEMORY, "content": {**MEMORY["content"], "context": SECRETS[kind][0]}}), "utf-8")
    target = ("--target", "decisions/a.json")
    try:
        done = world.run("write", "--action", "create", "--category", "decision", *target, "--input", str(draft))
    finally:
        draft.unlink(missing_ok=True)
    assert_refused(done, world, kind, "field: content")


def test_write_refuses_a_password_that_only_its_name_tells(world: World) -> None:
    draft = Path("/tmp") / f".memory-draft-{world.home.parent.name}-n.json"
    draft.write_text(json.dumps({**MEMORY, "content": {**MEMORY["content"], "password": "copperVelvet"}}), "utf-8")
    target = ("--target", "decisions/a.json")
    try:
        done = world.run("write", "--action", "create", "--category", "decision", *target, "--input", str(draft))
    finally:
        draft.unlink(missing_ok=True)
    assert done.returncode == 1
    assert "seems to hold a password" in done.stderr
    assert "copperVelvet" not in done.stdout + done.stderr + everything_under(world.home, world.store)


@pytest.mark.parametrize("kind", KINDS)
def test_edit_refuses_a_secret_and_does_not_repeat_it(world: World, kind: str) -> None:
    path = world.write_decision("queue")
    secret = SECRETS[kind][0]
    editor = world.home / "editor"
    editor.write_text(
        f"#!{sys.executable}\nimport sys\npath = sys.argv[1]\ntext = open(path, encoding='utf-8').read()\n"
        f"open(path, 'w', encoding='utf-8').write(text.replace('Title of queue', {secret!r}))\n",
        encoding="utf-8",
    )
    editor.chmod(0o700)
    done = world.run("edit", "queue", EDITOR=str(editor), TMPDIR=str(world.home))
    assert done.returncode == 1
    assert f"seems to hold {kind}" in done.stderr
    assert SECRETS[kind][1] not in done.stdout + done.stderr
    assert SECRETS[kind][1] not in everything_under(world.project, world.store), path


@pytest.mark.parametrize("kind", KINDS)
def test_promote_keeps_a_secret_in_its_project(world: World, kind: str) -> None:
    world.write_bank("patterns", f"### Pattern: Deploys\nDeploy with {SECRETS[kind][0]} there.\n")
    done = world.run("promote", "--as", "universal")
    assert kind in done.stdout + done.stderr
    assert SECRETS[kind][1] not in done.stderr
    assert not (world.store / "patterns.md").exists()


def test_a_reason_with_a_secret_is_refused(world: World) -> None:
    world.write_decision("queue")
    done = world.run("retire", "queue", "--reason", SECRETS["a password"][0])
    assert_refused(done, world, "a password", "reason")


def test_store_memory_refuses_a_secret_in_any_argument_and_does_not_repeat_it(world: World) -> None:
    async def use(session: ClientSession) -> None:
        for kind, (text, secret) in SECRETS.items():
            for field in ("name", "description", "reasoning", "category", "references"):
                value = [f"See {text}"] if field == "references" else f"See {text}"
                answer = await refused(session, "store_memory", **{**LESSON, field: value})
                assert f"{field} seems to hold {kind}" in answer
                assert secret not in answer

    with_client(world, use)
    written = said(world) + everything_under(world.home, world.store)
    assert [secret for _, secret in SECRETS.values() if secret in written] == []


def test_a_memory_file_with_a_secret_is_not_restored_from_a_backup(world: World) -> None:
    path = world.write_decision("queue", title=f"Use {SECRETS['a PyPI token'][0]}")
    archive = str(world.home / "backup.tar.gz")
    assert world.run("backup", "create", archive).returncode == 0
    path.unlink()
    done = world.run("backup", "restore", archive)
    assert "seems to hold a PyPI token" in done.stdout + done.stderr
    assert LETTERS not in done.stdout + done.stderr
    assert not path.exists()


# What is kept without being asked for


@pytest.fixture
def session(world: World) -> Iterator[Session]:
    session = Session(world)
    yield session
    remove_contexts(session.id)


def contexts_of(session: Session) -> str:
    paths = [path for path in Path(PLACE).glob(f"{NAME}*") if f"Session: {session.id}" in path.read_text("utf-8")]
    return "\n".join(path.read_text("utf-8") for path in paths)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["block", "stage"])
def test_a_stop_keeps_what_was_said_without_its_secrets(session: Session, kind: str, mode: str) -> None:
    text, secret = SECRETS[kind]
    session.says(f"{DECISION} It is {text} that it uses.")
    done = session.stops(STAGE if mode == "stage" else None)
    kept = contexts_of(session) + everything_under(session.world.store, session.world.project / ".claude")
    assert ("[private]" if "private" in kind else f"[redacted: {kind}]") in kept
    assert "readers never wait" in kept
    assert secret not in kept + done.stdout + done.stderr


def test_a_private_part_over_several_lines_reaches_no_context_file(session: Session) -> None:
    session.says(
        f"Look.\n<private>\n{DECISION}\nThe door code is 1234.\n</private>\n{DECISION.replace('SQLite', 'Redis')}"
    )
    session.stops()
    kept = contexts_of(session)
    assert "Redis" in kept
    assert "door code" not in kept
    assert "SQLite" not in kept


def test_the_log_holds_no_secret_and_no_escape_code(world: World) -> None:
    text, secret = SECRETS["a PyPI token"]
    log(str(world.store), "stop", f"\x1b[31mcannot read\x1b[0m \u202e{text}\nnext\x07")
    written = (world.store / "recollect.log").read_text(encoding="utf-8")
    assert " stop: cannot read [redacted: a PyPI token] next" in written
    assert secret not in written


def test_a_hook_that_fails_on_a_path_with_a_secret_repeats_it_nowhere(world: World) -> None:
    text, secret = SECRETS["a PyPI token"]
    done = world.run_hook(
        "stop", {"transcript_path": f"/elsewhere/{text}\x1b[31m", "session_id": "s", "cwd": str(world.project)}
    )
    assert done.returncode == 0
    assert secret not in done.stdout + done.stderr + everything_under(world.store)
    assert "\x1b" not in done.stderr + everything_under(world.store)


def test_the_record_of_the_last_injection_holds_no_secret(world: World) -> None:
    text, secret = SECRETS["a PyPI token"]
    world.write_bank(
        "patterns", f"### Pattern: Deploy with {text}\nA lesson.\n\n### Pattern: Other\nAnother.\n", shared=True
    )
    assert world.run_bare("--event", "startup").returncode == 0
    record = (world.store / ".last-injection.json").read_text(encoding="utf-8")
    assert "Other" in record
    assert secret not in record
