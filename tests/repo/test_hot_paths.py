"""What a hook may import: the start of a session waits for every module."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import BARE_ENTRY, World

# Each of these costs a tenth of a bare interpreter start or more.
FORBIDDEN = {
    "argparse",
    "asyncio",
    "click",
    "collections",
    "contextlib",
    "dataclasses",
    "datetime",
    "difflib",
    "enum",
    "functools",
    "inspect",
    "json",
    "logging",
    "pathlib",
    "random",
    "re",
    "shutil",
    "socket",
    "sqlite3",
    "subprocess",
    "tempfile",
    "threading",
    "typing",
    "urllib",
}

OWN_MODULES = {
    "recollect",
    "recollect.domain",
    "recollect.domain.categories",
    "recollect.domain.entry",
    "recollect.domain.hashing",
    "recollect.domain.ranking",
    "recollect.domain.render",
    "recollect.domain.selection",
    "recollect.domain.text",
    "recollect.errors",
    "recollect.files",
    "recollect.files.bank",
    "recollect.files.bank_entry",
    "recollect.files.last_injection",
    "recollect.files.log",
    "recollect.files.textfile",
    "recollect.hooks",
    "recollect.hooks.inject",
    "recollect.services",
    "recollect.services.inject",
    "recollect.services.locations",
    "recollect.services.project",
    "recollect.services.settings",
    "recollect.services.settings_keys",
}


# Each of these costs more than all the rest of a session's start.
HEAVY = {"numpy", "onnxruntime", "tokenizers", "click", "subprocess", "dataclasses", "urllib", "asyncio"}


def modules_after(world: World, *options: str, semantic: str = "false") -> set[str]:
    """All modules that an injection has loaded, measured in the process that did it."""
    where = ["--project-root", str(world.project), "--global-store", str(world.store)]
    world.write_local_settings(f"memory_semantic_enabled: {semantic}\nyolo_mode: true\nmemory_injection_limit: 5\n")
    probe = [sys.executable, "-I", "-S", "-X", "importtime", BARE_ENTRY[-1], "inject", *where, *options]
    done = subprocess.run(probe, capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout, "the injection must have done its work"
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_injection_loads_no_costly_module(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n- Keywords: a\n")
    world.write_bank("patterns", "### Pattern: Q\nAnother.\n- Content-Hash: sha256:0123456789abcdef\n", shared=True)
    assert modules_after(world, "--event", "startup") & FORBIDDEN == set()


def test_injection_loads_only_the_modules_marked_hot(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n")
    loaded = {name for name in modules_after(world) if name.partition(".")[0] == "recollect"}
    assert loaded == OWN_MODULES


def test_injection_loads_json_only_for_a_settings_file_that_is_json(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n")
    settings = world.project / ".claude" / "memory" / "memory-config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"retrieval": {"max_inject": 3}}', encoding="utf-8")
    assert "json" in modules_after(world)


def test_a_question_that_was_asked_before_needs_no_model(world: World) -> None:
    world.write_bank("patterns", "### Pattern: P\nRead a real file before you write its parser.\n")
    feature = world.project / "docs" / "features" / "001-parser"
    feature.mkdir(parents=True)
    (feature / ".meta.json").write_text('{"status": "active", "slug": "file-parser"}', encoding="utf-8")
    assert {"numpy", "onnxruntime"} <= packages_after(world), "the first start gives the entry its vector"
    assert {"numpy", "onnxruntime"} <= packages_after(world), "the second one asks by meaning"
    assert packages_after(world) & HEAVY == set()


def packages_after(world: World) -> set[str]:
    return {name.partition(".")[0] for name in modules_after(world, semantic="true")}
