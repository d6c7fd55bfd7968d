"""`recollect edit` as people call it: with editors that are real processes, and saves that go wrong in every way."""

from __future__ import annotations

import json
import os
import pty
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import PATIENCE, RECOLLECT, World, read_terminal

from recollect.files.memory.lock import FOLDER as LOCK

CONTENT = {
    "status": "accepted",
    "context": "Orders must not be lost.\nNot one.",
    "decision": "Postgres holds the orders.",
    "rationale": ["Transactions."],
}


@pytest.fixture
def memory(world: World) -> Path:
    """A memory file in the project."""
    record = {
        "schema_version": "1.0",
        "category": "decision",
        "id": "use-postgres",
        "title": "Use Postgres",
        "record_status": "active",
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
        "tags": ["database"],
        "content": CONTENT,
        "times_updated": 0,
    }
    path = world.project / ".claude" / "memory" / "decisions" / "use-postgres.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


class Desk:
    """Where texts are edited: a folder for temporary files, and editors that do as they are told."""

    def __init__(self, world: World, memory: Path, folder: Path) -> None:
        self.world = world
        self.slug = memory.stem
        self.temporary = folder / "temporary files"
        self.temporary.mkdir()
        self.scripts = folder / "my editors"
        self.scripts.mkdir()

    def editor(self, *lines: str) -> str:
        """The command of an editor that runs these lines of Python on `path` and its `text`."""
        script = self.scripts / f"editor {len(list(self.scripts.iterdir()))}.py"
        head = ["import os, sys", "path = sys.argv[-1]", "text = open(path, encoding='utf-8').read()"]
        script.write_text("\n".join([*head, *lines]), encoding="utf-8")
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} --wait"

    def replacing(self, old: str, new: str) -> str:
        return self.editor(f"open(path, 'w', encoding='utf-8').write(text.replace({old!r}, {new!r}))")

    def edit(self, editor: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.world.run("edit", self.slug, *arguments, EDITOR=editor, TMPDIR=str(self.temporary), **variables)

    def edit_on_a_terminal(self, **variables: str) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        environment = self.world.environment({"TMPDIR": str(self.temporary), **variables})
        process = subprocess.Popen(
            [sys.executable, RECOLLECT, "edit", self.slug],
            cwd=self.world.project,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        shown = read_terminal(ours).decode().replace("\r\n", "\n")
        return process.wait(), shown

    def kept(self) -> list[Path]:
        return sorted(self.temporary.iterdir())


@pytest.fixture
def desk(world: World, memory: Path, tmp_path: Path) -> Desk:
    return Desk(world, memory, tmp_path)


def record_of(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def kept_text(desk: Desk, done: subprocess.CompletedProcess[str]) -> Path:
    """The one text that a refused edit has kept; checks that it is private, and that the error says how to go on."""
    assert (done.returncode, done.stdout) == (1, "")
    [path] = desk.kept()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"recollect edit use-postgres --from '{path}'" in done.stderr
    assert "othing was written" in done.stderr
    return path


def test_edit_saves_what_was_changed_with_a_line_of_history(memory: Path, desk: Desk) -> None:
    before = record_of(memory)
    done = desk.edit(desk.replacing("Not one.", 'Not "one".'))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Updated .claude/memory/decisions/use-postgres.json.\n"
    record = record_of(memory)
    assert record["content"] == {**CONTENT, "context": 'Orders must not be lost.\nNot "one".'}
    assert [line["summary"] for line in record["changes"]] == ["content.context changed"]
    assert record["times_updated"] == 1
    assert {field: record[field] for field in ("title", "tags", "created_at")} == {
        field: before[field] for field in ("title", "tags", "created_at")
    }
    assert desk.kept() == []


def test_edit_by_prefix_as_json_follows_a_rename(memory: Path, desk: Desk) -> None:
    editor = desk.replacing('title = "Use Postgres"', 'title = "Keep orders in files"')
    done = desk.edit(editor, "--json")
    document = json.loads(done.stdout)
    assert document["target"] == ".claude/memory/decisions/keep-orders-in-files.json"
    assert document["renamed_from"] == ".claude/memory/decisions/use-postgres.json"
    assert not memory.exists()
    back = desk.replacing('title = "Keep orders in files"', 'title = "Use Postgres"')
    done = desk.world.run("edit", "keep", EDITOR=back, TMPDIR=str(desk.temporary))
    assert done.stdout == (
        "Updated .claude/memory/decisions/use-postgres.json, which was keep-orders-in-files until now.\n"
    )


def test_edit_of_a_memory_with_the_most_history_still_works(memory: Path, desk: Desk) -> None:
    record = record_of(memory)
    record["changes"] = [{"date": "2026-01-02T03:04:05Z", "summary": f"Change {number}"} for number in range(50)]
    memory.write_text(json.dumps(record), encoding="utf-8")
    assert desk.edit(desk.replacing("Transactions.", "Tests.")).returncode == 0
    changes = record_of(memory)["changes"]
    assert len(changes) == 50
    assert changes[-1]["summary"] == "Edited by hand: content.rationale"


@pytest.mark.parametrize("lines", ["", "open(path, 'a', encoding='utf-8').write('# a comment')", "os.unlink(path)"])
def test_edit_that_changes_nothing_writes_nothing(memory: Path, desk: Desk, lines: str) -> None:
    before = memory.read_bytes()
    done = desk.edit(desk.editor(lines))
    assert (done.returncode, done.stdout, done.stderr) == (0, "Nothing changed.\n", "")
    assert memory.read_bytes() == before
    assert desk.kept() == []
    told = json.loads(desk.edit(desk.editor(lines), "--json").stdout)
    assert (told["outcome"], told["path"]) == ("unchanged", ".claude/memory/decisions/use-postgres.json")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('title = "Use Postgres"', "title = Use Postgres", "INPUT_ERROR\nerror: Invalid"),
        ('status = "accepted"', 'status = "perhaps"', "VALIDATION_ERROR\nfield: content.status"),
        ("\n[content]", '\ncategory = "runbook"\n[content]', "INPUT_ERROR\nfield: category"),
        ('"database"', '"storage"', "MERGE_ERROR\nfield: tags"),
        ("Transactions.", "x" * 5_000_000, "VALIDATION_ERROR\nfield: content"),
        ("Transactions.", "\x1b[2J", "INPUT_ERROR\nerror: "),
        ('"Transactions."', "[" * 200 + "]" * 200, "ERROR\n"),
    ],
)
def test_edit_that_is_refused_keeps_the_text_and_the_memory(
    memory: Path, desk: Desk, old: str, new: str, says: str
) -> None:
    before = memory.read_bytes()
    done = desk.edit(desk.replacing(old, new))
    assert says in done.stderr
    assert done.stderr.replace("\n", "").isprintable()
    assert new in kept_text(desk, done).read_text(encoding="utf-8")
    assert memory.read_bytes() == before


def test_edit_goes_on_with_a_kept_text_and_removes_it_when_it_is_saved(memory: Path, desk: Desk) -> None:
    path = kept_text(desk, desk.edit(desk.replacing('status = "accepted"', 'status = "perhaps"')))
    again = desk.edit(desk.replacing("Not one.", "None."), "--from", str(path))
    assert kept_text(desk, again) == path
    done = desk.edit(desk.replacing("perhaps", "superseded"), "--from", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert record_of(memory)["content"]["status"] == "superseded"
    assert record_of(memory)["content"]["context"].endswith("None.")
    assert desk.kept() == []


def test_edit_leaves_a_file_of_yours_alone(desk: Desk, tmp_path: Path) -> None:
    yours = tmp_path / "my text.toml"
    yours.write_text('title = "Use Postgres"\ntags = ["database"]\n[content]\nstatus = "perhaps"\n', encoding="utf-8")
    text = yours.read_bytes()
    done = desk.edit(desk.editor(), "--from", str(yours))
    assert done.returncode == 1
    assert f"--from '{yours}'" in done.stderr
    assert desk.kept() == []
    copy = kept_text(desk, desk.edit(desk.replacing("perhaps", "maybe"), "--from", str(yours)))
    assert "maybe" in copy.read_text(encoding="utf-8")
    assert yours.read_bytes() == text


def test_edit_without_an_editor_takes_the_text_as_it_is(memory: Path, desk: Desk, tmp_path: Path) -> None:
    yours = tmp_path / "text.toml"
    desk.edit(desk.editor(f"open({str(yours)!r}, 'w', encoding='utf-8').write(text)"))
    form = yours.read_text(encoding="utf-8")
    yours.write_text(form.replace("Not one.", "None."), encoding="utf-8")
    done = desk.edit("/nonexistent", "--from", str(yours), "--no-editor")
    assert (done.returncode, done.stderr) == (0, "")
    assert record_of(memory)["content"]["context"].endswith("None.")
    assert yours.exists()
    # The text was made from what the file said before, so it must not undo what was said since.
    stale = desk.edit("/nonexistent", "--from", str(yours), "--no-editor")
    assert (stale.returncode, stale.stdout) == (0, "Nothing changed.\n")
    yours.write_text(form.replace("Not one.", "Not two."), encoding="utf-8")
    stale = desk.edit("/nonexistent", "--from", str(yours), "--no-editor")
    assert stale.returncode == 1
    assert stale.stderr.startswith("OCC_CONFLICT\n")
    assert str(yours) in stale.stderr
    assert record_of(memory)["content"]["context"].endswith("None.")


def test_edit_of_what_somebody_else_has_changed_is_refused_and_can_go_on(memory: Path, desk: Desk) -> None:
    other = record_of(memory)
    other["content"]["decision"] = "SQLite holds the orders."
    editor = desk.editor(
        f"open({str(memory)!r}, 'w', encoding='utf-8').write({json.dumps(other)!r})",
        "open(path, 'w', encoding='utf-8').write(text.replace('Not one.', 'None.'))",
    )
    done = desk.edit(editor)
    path = kept_text(desk, done)
    assert done.stderr.startswith("OCC_CONFLICT\n")
    assert record_of(memory) == other
    done = desk.edit(desk.replacing("Postgres holds", "SQLite holds"), "--from", str(path))
    assert done.returncode == 0
    assert "use-postgres was changed since this text was made" in done.stderr
    assert record_of(memory)["content"]["decision"] == "SQLite holds the orders."
    assert record_of(memory)["changes"][0]["summary"] == "content.context changed"


def test_edit_of_a_memory_that_has_gone_meanwhile_keeps_the_text(memory: Path, desk: Desk) -> None:
    editor = desk.editor(
        f"os.unlink({str(memory)!r})", "open(path, 'w', encoding='utf-8').write(text.replace('Not one.', 'None.'))"
    )
    done = desk.edit(editor)
    assert "None." in kept_text(desk, done).read_text(encoding="utf-8")
    assert done.stderr.startswith("UPDATE_ERROR\n")
    assert not memory.exists()


def test_edit_while_another_tool_holds_the_lock_keeps_the_text(memory: Path, desk: Desk, world: World) -> None:
    before = memory.read_bytes()
    lock = world.project / ".claude" / "memory" / LOCK
    done = desk.edit(
        desk.editor(
            f"os.mkdir({str(lock)!r})",
            "open(path, 'w', encoding='utf-8').write(text.replace('Not one.', 'None.'))",
        )
    )
    assert "None." in kept_text(desk, done).read_text(encoding="utf-8")
    assert "another tool has held" in done.stderr
    assert memory.read_bytes() == before


@pytest.mark.parametrize(
    ("ending", "says"),
    [("sys.exit(3)", "it ended with exit code 3"), ("os.kill(os.getpid(), 9)", "it was ended by signal 9")],
)
def test_edit_with_an_editor_that_fails_keeps_what_it_has_saved(
    memory: Path, desk: Desk, ending: str, says: str
) -> None:
    before = memory.read_bytes()
    saving = (
        "os.unlink(path)",
        "with open(path, 'w', encoding='utf-8') as file: file.write(text.replace('Not one.', 'None.'))",
        "os.chmod(path, 0o644)",
    )
    done = desk.edit(desk.editor(*saving, ending))
    assert says in done.stderr
    assert "None." in kept_text(desk, done).read_text(encoding="utf-8")
    assert memory.read_bytes() == before
    [path] = desk.kept()
    path.unlink()
    done = desk.edit(desk.editor(ending))
    assert (done.returncode, says in done.stderr) == (1, True)
    assert desk.kept() == []


def test_edit_text_that_is_not_utf8_is_refused_and_kept_byte_by_byte(desk: Desk) -> None:
    done = desk.edit(desk.editor("open(path, 'ab').write(b'# caf\\xe9')"))
    assert "it is not UTF-8" in done.stderr
    assert kept_text(desk, done).read_bytes().endswith(b"# caf\xe9")


def test_edit_prefers_visual_and_runs_no_shell(desk: Desk, tmp_path: Path) -> None:
    done = desk.edit("/nonexistent", VISUAL=desk.replacing("Not one.", "None."))
    assert done.returncode == 0
    mark = tmp_path / "mark"
    desk.edit(f"{desk.editor()} ; touch {shlex.quote(str(mark))}", VISUAL=" ")
    assert not mark.exists()


@pytest.mark.parametrize(
    ("editor", "says"),
    [
        ("/nonexistent/editor", "No such file or directory"),
        ("'unclosed", "No closing quotation"),
        ("''", "EDITOR_ERROR"),
    ],
)
def test_edit_with_an_editor_that_cannot_run_says_what_to_set(desk: Desk, editor: str, says: str) -> None:
    done = desk.edit(editor)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("EDITOR_ERROR\n")
    assert says in done.stderr
    assert "set EDITOR to " in done.stderr
    assert desk.kept() == []


def test_edit_without_any_editor_says_to_set_one(desk: Desk, tmp_path: Path) -> None:
    code, shown = desk.edit_on_a_terminal(PATH=str(tmp_path))
    assert code == 1
    assert "no editor was found" in shown
    assert "set EDITOR to the command of your editor" in shown


def test_edit_takes_an_editor_that_is_there(desk: Desk, tmp_path: Path) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name in ("vi", "nano"):
        script = bin_folder / name
        script.write_text(f"#!/bin/sh\necho '# by {name}' > {shlex.quote(str(tmp_path / 'used'))}\n", encoding="utf-8")
        script.chmod(0o755)
    assert desk.edit_on_a_terminal(PATH=str(bin_folder)) == (0, "Nothing changed.\n")
    assert (tmp_path / "used").read_text(encoding="utf-8") == "# by nano\n"


def test_edit_of_wrong_usage_exits_with_2(desk: Desk) -> None:
    assert desk.edit("true", "--no-editor").returncode == 2
    assert desk.edit("true", "--from", "/nonexistent").returncode == 2


def test_edit_survives_an_interrupt_that_is_meant_for_the_editor(memory: Path, desk: Desk) -> None:
    editor = desk.editor(
        "import signal",
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler",
        "signal.signal(signal.SIGINT, lambda *_: None)",
        "os.killpg(0, signal.SIGINT)",
        "open(path, 'w', encoding='utf-8').write(text.replace('Not one.', 'None.'))",
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(desk.world.home), "LANG": "C.UTF-8", "EDITOR": editor}
    done = subprocess.run(
        [RECOLLECT, "edit", "use-postgres"],
        cwd=desk.world.project,
        env={**environment, "TMPDIR": str(desk.temporary), "RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        start_new_session=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert record_of(memory)["content"]["context"].endswith("None.")


@pytest.mark.parametrize(("answer", "saved"), [(b"\n", True), (b"y\n", True), (b"n\n", False), (b"\x04", False)])
def test_edit_on_a_terminal_asks_before_it_gives_up(memory: Path, desk: Desk, answer: bytes, saved: bool) -> None:
    editor = desk.editor(
        "old, new = ('perhaps', 'superseded') if 'perhaps' in text else ('\"accepted', '\"perhaps')",
        "text = text.replace(old, new)",
        "open(path, 'w', encoding='utf-8').write(text)",
    )
    code, shown = at_a_terminal(desk, editor, answer)
    assert "VALIDATION_ERROR" in shown
    assert shown.count("Edit again? [Y/n]") == 1
    assert code == (0 if saved else 1)
    assert record_of(memory)["content"]["status"] == ("superseded" if saved else "accepted")
    assert len(desk.kept()) == (0 if saved else 1)
    if not saved:
        assert f"recollect edit use-postgres --from '{desk.kept()[0]}'" in shown.replace("\n", "")


def test_edit_again_after_a_conflict_is_based_on_what_the_file_says_now(memory: Path, desk: Desk) -> None:
    other = record_of(memory)
    other["content"]["rationale"].append("We know it.")
    editor = desk.editor(
        f"memory = {str(memory)!r}",
        "if 'None.' not in text:",
        f"    open(memory, 'w', encoding='utf-8').write({json.dumps(other)!r})",
        "open(path, 'w', encoding='utf-8').write(text.replace('Not one.', 'None.'))",
    )
    code, shown = at_a_terminal(desk, editor, b"y\n")
    assert code == 0
    assert shown.index("OCC_CONFLICT") < shown.index("was changed since this text was made") < shown.index("Updated")
    assert record_of(memory)["content"]["context"].endswith("None.")


def at_a_terminal(desk: Desk, editor: str, answer: bytes) -> tuple[int, str]:
    """Edit at a terminal, and answer when asked."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(desk.world.home), "LANG": "C.UTF-8", "NO_COLOR": "1"}
    environment |= {"EDITOR": editor, "TMPDIR": str(desk.temporary), "RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"}
    main, other = pty.openpty()
    process = subprocess.Popen(
        [RECOLLECT, "edit", "use-postgres"],
        cwd=desk.world.project,
        env=environment,
        stdin=other,
        stdout=other,
        stderr=other,
        start_new_session=True,
    )
    os.close(other)
    shown = b""
    try:
        while chunk := os.read(main, 4096):
            asked = shown.count(b"[Y/n]")
            shown += chunk
            if shown.count(b"[Y/n]") > asked:
                os.write(main, answer)
    except OSError:  # the terminal is closed on the other side
        pass
    os.close(main)
    return process.wait(timeout=PATIENCE), shown.decode("utf-8").replace("\r\n", "\n")


# Lessons


def test_edited_lesson_takes_the_place_of_the_old_one(semantic_world: World) -> None:
    world = semantic_world
    world.write_bank(
        "patterns", "### Pattern: Read First\nRead the file before its parser.\n- Reasoning: It holds more.\n"
    )
    script = world.home / "change.py"
    script.write_text(
        "import sys\ntext = open(sys.argv[1]).read()\n"
        "open(sys.argv[1], 'w').write(text.replace('Read the file before', 'Read the whole file before'))\n",
        encoding="utf-8",
    )
    old = json.loads(world.run("show", "read-first", "--json").stdout)["id"]
    done = world.run("edit", "read-f", "--json", EDITOR=f"python3 {script}")
    assert done.returncode == 0, done.stderr
    new = json.loads(done.stdout)
    assert (new["title"], new["category"], new["outcome"]) == ("Read First", "patterns", "stored")
    shown = json.loads(world.run("show", new["id"], "--json").stdout)
    assert (shown["description"], shown["reasoning"]) == ("Read the whole file before its parser.", "It holds more.")
    assert json.loads(world.run("show", old, "--json").stdout)["status"] == "retired"
    unchanged = world.run("edit", new["id"], EDITOR="true")
    assert (unchanged.returncode, unchanged.stdout) == (0, "Nothing changed.\n")


@pytest.mark.parametrize("mark", [("pin",), ("mute",), ("mute", "--everywhere")])
def test_edited_lesson_stays_pinned_or_muted(semantic_world: World, mark: tuple[str, ...]) -> None:
    world = semantic_world
    text = "Read the file before its parser."
    world.write_bank("patterns", f"### Pattern: Read First\n{text}\n")
    assert world.run(mark[0], "read-first", *mark[1:]).returncode == 0
    form = world.home / "form.toml"
    form.write_text(f'text = "{text} Twice."\ncategory = "patterns"\ntitle = "Read First"\n', encoding="utf-8")
    done = world.run("edit", "read-first", "--from", str(form), "--no-editor", "--json")
    assert done.returncode == 0, done.stderr
    new = json.loads(done.stdout)["id"]
    again = json.loads(world.run(*mark, new, "--json").stdout)
    assert (again["id"], again["outcome"]) == (new, {"pin": "already_pinned", "mute": "already_muted"}[mark[0]])
    assert again["everywhere"] == ("--everywhere" in mark)


@pytest.mark.parametrize("chosen", ["", "vim", "/usr/bin/nano -w"])
def test_edit_without_a_terminal_starts_no_editor_that_needs_one(desk: Desk, chosen: str) -> None:
    world = desk.world
    done = desk.edit(chosen)
    assert done.returncode == 2
    why = f"{chosen.split(maxsplit=1)[0]} needs a terminal, and there is none" if chosen else "there is no terminal"
    assert f"no editor can be opened, because {why}; `recollect write --action update`" in done.stderr
    lesson = world.run(
        "add", "pattern", "Retries need jitter, always.", "--json", RECOLLECT_MEMORY_SEMANTIC_ENABLED="true"
    )
    id = json.loads(lesson.stdout)["id"]
    done = world.run("edit", id, EDITOR=chosen, RECOLLECT_MEMORY_SEMANTIC_ENABLED="true")
    assert done.returncode == 2
    assert "; `recollect add CATEGORY TEXT` keeps the new text, and `recollect retire ID`" in done.stderr
