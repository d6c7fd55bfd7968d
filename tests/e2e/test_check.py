"""`recollect check` as CI runs it: in a clone, with nothing else there."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RECOLLECT, World

SHARING = Path(__file__).parents[2] / "docs" / "sharing.md"
FOLDER = ".claude/memory/decisions"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def git(world: World, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=world.project, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


def commit(world: World) -> None:
    git(world, "add", "-A")
    git(world, "commit", "-q", "-m", "change")


def findings(world: World, *arguments: str) -> list[tuple[str, str, int]]:
    done = world.run("check", "--json", *arguments)
    found = json.loads(done.stdout)["findings"]
    assert done.returncode == int(bool(found))
    return [(each["kind"], each["path"], each["line"]) for each in found]


def write(world: World, slug: str, **fields: Any) -> Path:
    """Write a memory as it is in files: one field a line."""
    path = world.write_decision(slug, **fields)
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")), indent=2), encoding="utf-8")
    return path


def test_valid_memories_pass(world: World) -> None:
    write(world, "use-redis", superseded_by="decision/use-postgres", record_status="retired")
    write(world, "use-postgres", supersedes=["decision/use-redis", "0123456789abcdef"], related_files=["src"])
    (world.project / "src").mkdir()
    done = world.run("check")
    assert (done.returncode, done.stdout) == (0, "")
    assert "2 files checked, nothing found." in done.stderr


def test_project_without_memories_passes(world: World) -> None:
    assert world.run("check").returncode == 0


def test_each_fault_is_one_line_with_its_place(world: World) -> None:
    write(world, "a-schema", content={"status": "maybe", "context": "c", "decision": "d", "rationale": ["r"]})
    write(world, "b-id", id="another")
    write(world, "c-secret", title=f"The token is {TOKEN}")
    write(world, "d-file", related_files=["src/gone.py"])
    write(world, "e-pointer", supersedes=["decision/nowhere", "decision/../../../etc/passwd"])
    write(world, "f-json").write_text('{\n"title": }', encoding="utf-8")
    write(world, "g-marks").write_text('{\n<<<<<<< ours\n"a": 1\n=======\n"a": 2\n>>>>>>> theirs\n}', encoding="utf-8")
    assert findings(world) == [
        ("schema", f"{FOLDER}/a-schema.json", 13),
        ("schema", f"{FOLDER}/b-id.json", 4),
        ("credential", f"{FOLDER}/c-secret.json", 5),
        ("reference", f"{FOLDER}/d-file.json", 20),
        ("reference", f"{FOLDER}/e-pointer.json", 20),
        ("reference", f"{FOLDER}/e-pointer.json", 20),
        ("form", f"{FOLDER}/f-json.json", 2),
        ("form", f"{FOLDER}/g-marks.json", 2),
    ]
    lines = world.run("check").stdout.splitlines()
    assert len(lines) == 8
    assert lines[0].startswith(f"{FOLDER}/a-schema.json:13: schema: content.status: ")
    assert "has conflict markers" in lines[-1]
    assert TOKEN not in "".join(lines)


def test_file_that_cannot_be_a_memory_is_named(world: World) -> None:
    write(world, "good").rename(world.project / FOLDER / "Not A Slug.json")
    assert findings(world) == [("place", "", 0)]


def test_tracked_index_must_be_true(world: World) -> None:
    write(world, "one")
    world.run("index", "--rebuild")
    git(world, "init", "-q")
    commit(world)
    assert findings(world) == []
    write(world, "two")
    (world.project / FOLDER / "one.json").unlink()
    found = json.loads(world.run("check", "--json").stdout)["findings"]
    assert [each["kind"] for each in found] == ["index", "index"]
    assert "does not list .claude/memory/decisions/two.json" in found[0]["message"]
    assert "recollect index --rebuild" in found[0]["message"]


def test_index_that_is_not_shared_is_nobodys_business(world: World) -> None:
    git(world, "init", "-q")
    write(world, "one")
    world.run("index", "--rebuild")
    (world.project / ".gitignore").write_text("index.md\n", encoding="utf-8")
    commit(world)
    write(world, "two")
    assert findings(world) == []


def test_lessons_of_the_bank_are_searched_for_credentials_and_conflict_markers(world: World) -> None:
    world.write_bank("patterns", f"### Pattern: a\nUse {TOKEN} here.\n")
    world.write_bank("heuristics", "<<<<<<< ours\n### Heuristic: a\n=======\n### Heuristic: b\n>>>>>>> theirs\n")
    assert sorted(findings(world)) == [
        ("credential", "docs/knowledge-bank/patterns.md", 2),
        ("form", "docs/knowledge-bank/heuristics.md", 1),
    ]


def test_github_annotations_are_escaped(world: World) -> None:
    write(world, "one", related_files=["100%\nsure::error file=x::y"], id="a,b:c%")
    lines = world.run("check", "--format", "github").stdout.splitlines()
    assert len(lines) == 3  # the schema of the id, the id, the file
    assert lines[-1] == (
        f"::error file={FOLDER}/one.json,line=20,title=recollect%3A reference::"
        "related_files names 100%25 sure::error file=x::y, and there is no such file"
    )


def test_base_looks_at_changed_files_only(world: World) -> None:
    git(world, "init", "-q", "-b", "main")
    write(world, "old-fault", id="other")
    write(world, "user", related_files=["src/cart.py"])
    (world.project / "src").mkdir()
    (world.project / "src" / "cart.py").touch()
    commit(world)
    git(world, "checkout", "-q", "-b", "side")
    write(world, "new-fault", id="other")
    commit(world)
    write(world, "not-committed", id="other")
    assert findings(world, "--base", "main") == [
        ("schema", f"{FOLDER}/new-fault.json", 4),
        ("schema", f"{FOLDER}/not-committed.json", 4),
    ]
    git(world, "checkout", "-q", "main")
    (world.project / FOLDER / "not-committed.json").unlink()
    write(world, "old-fault", id="another")
    commit(world)
    git(world, "checkout", "-q", "side")
    assert len(findings(world, "--base", "main")) == 1, "what only main has changed is not this branch's"


def test_base_finds_a_memory_whose_file_the_change_removes(world: World) -> None:
    git(world, "init", "-q", "-b", "main")
    write(world, "user", related_files=["src/cart.py", "src/never.py"])
    (world.project / "src").mkdir()
    (world.project / "src" / "cart.py").touch()
    commit(world)
    git(world, "checkout", "-q", "-b", "side")
    (world.project / "src" / "cart.py").unlink()
    commit(world)
    done = world.run("check", "--base", "main")
    assert "src/cart.py" in done.stdout
    assert "src/never.py" not in done.stdout


@pytest.mark.parametrize("revision", ["nothing", "--upload-pack=x", "HEAD^{tree}"])
def test_base_that_is_no_commit_is_a_usage_error(world: World, revision: str) -> None:
    git(world, "init", "-q", "-b", "main")
    write(world, "one")
    commit(world)
    done = world.run("check", f"--base={revision}")
    assert done.returncode == 2
    assert "fetch-depth: 0" in done.stderr


def test_the_example_workflow_finds_what_a_pull_request_brings(world: World, tmp_path: Path) -> None:
    (step,) = re.findall(r"- run: (recollect check .*)", SHARING.read_text(encoding="utf-8"))
    git(world, "init", "-q", "-b", "main")
    write(world, "one")
    commit(world)
    git(world, "checkout", "-q", "-b", "side")
    (world.project / FOLDER / "two.json").write_text("{", encoding="utf-8")
    commit(world)
    clone = tmp_path / "clone"
    git(world, "clone", "-q", str(world.project), str(clone))
    path = f"{Path(RECOLLECT).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(tmp_path), "GITHUB_BASE_REF": "main"}
    done = subprocess.run(
        ["bash", "-c", step], cwd=clone, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(f"::error file={FOLDER}/two.json,line=1,")


def test_base_outside_a_repository_says_so(world: World) -> None:
    done = world.run("check", "--base", "main")
    assert done.returncode == 1
    assert "no git repository" in done.stderr


def test_check_writes_nothing_and_needs_no_store(world: World) -> None:
    git(world, "init", "-q")
    write(world, "one")
    commit(world)
    before = sorted(world.home.rglob("*"))
    assert world.run("check", RECOLLECT_HOME=str(world.home / "nowhere")).returncode == 0
    assert sorted(world.home.rglob("*")) == before
    assert not (world.home / "nowhere").exists()


def test_two_formats_at_once_are_a_usage_error(world: World) -> None:
    assert world.run("check", "--json", "--format", "github").returncode == 2


@pytest.mark.parametrize("linked", ["docs", "docs/knowledge-bank", "docs/knowledge-bank/patterns.md"])
def test_a_bank_behind_a_link_out_of_the_project_is_not_read(world: World, tmp_path: Path, linked: str) -> None:
    world.write_bank("patterns", f"### Pattern: a\nUse {TOKEN} here.\n")
    place = world.project / linked
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    assert findings(world) == [("place", "docs/knowledge-bank/patterns.md", 0)]


def test_bank_that_is_too_large_to_be_checked_is_a_finding(world: World) -> None:
    line = "Nothing to see in this line of a lesson.\n"
    world.write_bank("patterns", line * (4 * 1024 * 1024 // len(line) + 1) + TOKEN)
    assert ("form", "docs/knowledge-bank/patterns.md", 1) in findings(world)


def test_findings_of_a_file_are_limited_and_the_rest_is_counted(world: World) -> None:
    write(world, "queue", **{f"unknown_{n}": n for n in range(300)})
    done = json.loads(world.run("check", "--json").stdout)["findings"]
    assert len(done) == 101
    assert "200 more faults" in done[-1]["message"]
