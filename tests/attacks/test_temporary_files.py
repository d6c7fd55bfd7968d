"""Files that look temporary: tidying removes only what recollect made, and drafts are taken only from their owner."""

from __future__ import annotations

from tests.conftest import World

THEIRS = (".patterns.md.4711.tmp", ".index.md.1.tmp", ".use-sqlite.json.99.tmp", ".notes.20261116.tmp")
OURS = ".{}.recollect-4711.tmp"


def test_tidying_leaves_what_a_user_calls_temporary(world: World) -> None:
    memory = world.write_decision("use-sqlite")
    world.write_bank("patterns", "### Pattern: P\nRead a real file before you write its parser.\n")
    shared = world.write_bank("patterns", "### Pattern: Q\nClose what you open.\n", shared=True)
    folders = (memory.parent, memory.parents[1], shared.parent)
    theirs = [folder / name for folder in folders for name in THEIRS]
    ours = [memory.parent / OURS.format("use-sqlite.json"), shared.parent / OURS.format("patterns.md")]
    for path in (*theirs, *ours):
        path.write_text("mine", encoding="utf-8")
    assert world.run("index", "--rebuild").returncode == 0
    assert world.run("promote", "--as", "universal").returncode == 0
    assert [path.read_text(encoding="utf-8") for path in theirs] == ["mine"] * len(theirs)
    assert [path for path in ours if path.exists()] == [], "what a killed writer of ours left is tidied up"
    assert world.run("uninstall", "--yes").returncode == 0
    assert [path for path in theirs if not path.exists()] == []
