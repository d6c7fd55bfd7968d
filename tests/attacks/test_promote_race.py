"""A person edits a bank in the very moment in which a promotion writes it: nothing of either is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import PATIENCE, World

from recollect.api import candidates_of, promote
from recollect.errors import Overtaken
from recollect.files import textfile
from recollect.files.textfile import write_texts
from recollect.promote.promote import NOT_WRITTEN

LOCAL = "### Pattern: Close the pool\nClose the pool before the process forks.\n"
SHARED = "### Pattern: Old\nAn old lesson.\n- Observation count: 1\n"
EDIT = "\n### Pattern: By hand\nA person wrote this at that moment.\n"

# An editor that adds a line time and again: it reads, and writes either in place or by a rename.
EDITOR = """
import os, sys, time
path, count, way = sys.argv[1], int(sys.argv[2]), sys.argv[3]
print("ready", flush=True)
for number in range(count):
    text = open(path, encoding="utf-8").read()
    line = f"- Edit: {number}\\n"
    if way == "append":
        with open(path, "a", encoding="utf-8") as file:
            file.write(line)
    else:
        # What an editor loses by itself, because the file has changed since it was read, it takes up again.
        while True:
            text = open(path, encoding="utf-8").read()
            with open(path + ".swp", "w", encoding="utf-8") as file:
                file.write(text + line)
            if open(path, encoding="utf-8").read() == text:
                os.replace(path + ".swp", path)
                break
    time.sleep(0.002)
"""


@pytest.fixture
def shared_bank(world: World) -> Path:
    world.write_bank("patterns", LOCAL)
    return world.write_bank("patterns", SHARED, shared=True)


def edit_once(monkeypatch: pytest.MonkeyPatch, name: str, edit: Callable[[], None], times: int = 1) -> None:
    """Have an edit happen just before a function of os is called for a bank, so many times."""
    real = getattr(os, name)
    left = [times]

    def called(source: str, target: str) -> None:
        if str(target).endswith("patterns.md") and left[0]:
            left[0] -= 1
            edit()
        real(source, target)

    monkeypatch.setattr(textfile.os, name, called)


def promoted(world: World) -> list[str]:
    chosen, _ = candidates_of(str(world.project), str(world.store))
    done = promote(str(world.project), str(world.store), chosen, judgement="universal")
    return [*(outcome.action for outcome in done.outcomes), *done.warnings]


def in_place(bank: Path) -> Callable[[], None]:
    def edit() -> None:
        with bank.open("a", encoding="utf-8") as file:
            file.write(EDIT)

    return edit


def test_edit_between_reading_and_replacing_is_kept(
    world: World, shared_bank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, edits = textfile._stage, [in_place(shared_bank)]  # pyright: ignore[reportPrivateUsage]

    def staged(target: str, *rest: object) -> str:
        if target.endswith("patterns.md") and edits:
            edits.pop()()
        return real(target, *rest)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(textfile, "_stage", staged)
    assert promoted(world) == ["added"]
    text = shared_bank.read_text(encoding="utf-8")
    assert EDIT in text
    assert "Close the pool before" in text


def test_edit_in_the_moment_of_the_rename_is_kept(
    world: World, shared_bank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit_once(monkeypatch, "replace", in_place(shared_bank))
    assert promoted(world) == ["added"]
    text = shared_bank.read_text(encoding="utf-8")
    assert EDIT in text
    assert "Close the pool before" in text


def test_bank_that_is_edited_without_end_is_left_alone_and_the_promotion_says_so(
    world: World, shared_bank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit_once(monkeypatch, "replace", in_place(shared_bank), times=1000)
    action, warning = promoted(world)
    assert action == NOT_WRITTEN
    assert str(shared_bank) in warning
    assert "was changed by somebody else" in warning
    text = shared_bank.read_text(encoding="utf-8")
    assert text.startswith(SHARED)
    assert "Close the pool before" not in text
    assert not (world.store / ".promoted.json").exists()
    assert [path.name for path in world.store.iterdir() if path.name.endswith(".tmp")] == []


def test_files_that_were_replaced_before_are_put_back_when_a_later_one_was_edited(tmp_path: Path) -> None:
    one, other = tmp_path / "one.md", tmp_path / "other.md"
    one.write_text("1", encoding="utf-8")
    other.write_text("edited", encoding="utf-8")
    with pytest.raises(Overtaken, match=r"other\.md"):
        write_texts({str(one): "new", str(other): "new"}, read_as={str(one): "1", str(other): "as it was read"})
    assert (one.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")) == ("1", "edited")


def test_file_that_was_made_or_removed_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    made = tmp_path / "made.md"
    made.write_text("somebody's", encoding="utf-8")
    with pytest.raises(Overtaken):
        write_texts({str(made): "new"}, read_as={str(made): ""})
    assert made.read_text(encoding="utf-8") == "somebody's"
    with pytest.raises(Overtaken):
        write_texts({str(tmp_path / "gone.md"): "new"}, read_as={str(tmp_path / "gone.md"): "old"})
    assert not (tmp_path / "gone.md").exists()


@pytest.mark.attack
@pytest.mark.parametrize("way", ["append", "rename"])
def test_no_edit_is_lost_to_a_hundred_promotions(
    world: World, shared_bank: Path, way: str, tried: Callable[[int], None]
) -> None:
    world.write_bank("patterns", "".join(f"### Pattern: P{n}\nLesson number {n} of many.\n\n" for n in range(100)))
    chosen, _ = candidates_of(str(world.project), str(world.store))
    editor = subprocess.Popen(
        [sys.executable, "-c", EDITOR, str(shared_bank), "400", way], stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert editor.stdout
    editor.stdout.readline()
    done = [promote(str(world.project), str(world.store), [each], judgement="universal") for each in chosen]
    assert editor.wait(PATIENCE) == 0
    editor.stdout.close()
    text = shared_bank.read_text(encoding="utf-8")
    assert [number for number in range(400) if f"- Edit: {number}\n" not in text] == []
    written = [each for each in done if each.promoted]
    assert len(written) > 50
    for each in written:
        assert each.outcomes[0].candidate.description in text
    tried(400)
