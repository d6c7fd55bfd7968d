"""Hostile repositories, built with git and cloned as a user would clone them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conftest import World

SETTINGS = ".claude/memory/memory-config.json"
LOCAL = ".claude/iflow-dev.local.md"
DECISION = {
    "title": "Queue in the database",
    "tags": ["queue"],
    "confidence": 0.9,
    "content": {"status": "accepted", "context": "Jobs get lost.", "decision": "A table.", "rationale": ["Safe."]},
}


class Hostile:
    """A repository that somebody else has made. What is run in it by mistake leaves `marker` behind."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.path = folder
        self.home = home
        self.marker = folder.parent / f"{folder.name}-was-run"
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str | Path, cwd: Path | None = None) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path.parent / "nobody"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": "file",
        }
        who = ("-c", "user.name=Mallory", "-c", "user.email=mallory@example.com")
        command = ["git", *who, *map(str, arguments)]
        done = subprocess.run(
            command, cwd=cwd or self.path, env=environment, check=True, capture_output=True, encoding="utf-8"
        )
        return done.stdout

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def link(self, name: str, target: str | Path) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    def settings(self, **values: Any) -> None:
        """Bring settings in the file that teams share."""
        self.write(SETTINGS, json.dumps({name.replace("__", "."): value for name, value in values.items()}))

    def program(self) -> Path:
        """Make a program that leaves the marker and passes on what it is given."""
        path = self.path.parent / f"{self.path.name}-program"
        path.write_text(f"#!/bin/sh\ntouch '{self.marker}'\ncat\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def embed_bare_repository(self, below: str) -> None:
        """Put the files of a bare repository into a folder, with a configuration that names programs."""
        program = self.program()
        folder = self.path / below
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main", "--bare", folder)
        for line in (
            *("core.bare=false", "core.worktree=..", f"core.fsmonitor={program}", f"core.pager={program}"),
            *(f"filter.evil.clean={program}", f"diff.external={program}", "user.name=M", "user.email=m@example.com"),
        ):
            name, _, value = line.partition("=")
            self.git("config", "--file", folder / "config", name, value)
        (folder / "info").mkdir(exist_ok=True)
        (folder / "info" / "attributes").write_text("* filter=evil\n", encoding="utf-8")
        for empty in ("objects", "refs", "refs/heads", "hooks"):
            (folder / empty).mkdir(exist_ok=True)
            (folder / empty / "keep").write_text("", encoding="utf-8")

    def clone(self, target: Path) -> Path:
        """Commit everything and clone it, as the user does: in an empty or missing folder."""
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "-m", "A harmless project")
        self.git("clone", "-q", self.path, target, cwd=self.path.parent)
        self.marker.unlink(missing_ok=True)
        return target


def hostile_of(world: World, name: str = "upstream") -> Hostile:
    return Hostile(world.home.parent / name, world.home)


def clone_into(world: World, hostile: Hostile) -> None:
    """Clone a hostile repository to where the world's project is, for a user who has told git who they are."""
    world.project.rmdir()
    hostile.clone(world.project)
    config = world.home / ".gitconfig"
    config.write_text("[user]\n\tname = Dev\n\temail = dev@example.com\n", encoding="utf-8")


def remember(world: World, fields: Mapping[str, Any] = DECISION, **variables: str) -> subprocess.CompletedProcess[str]:
    """Write a decision through the command, as an agent does."""
    arguments = ("write", "--action", "create", "--category", "decision", "--input", "-")
    return world.run(*arguments, stdin=json.dumps(fields), **variables)


def start_session(world: World, **variables: str) -> subprocess.CompletedProcess[str]:
    event = {"session_id": "s1", "cwd": str(world.project), "source": "startup"}
    return world.run_hook("session-start", event, **variables)


def ask(world: World, prompt: str, **variables: str) -> subprocess.CompletedProcess[str]:
    event = {"session_id": "s1", "cwd": str(world.project), "prompt": prompt}
    return world.run_hook("prompt", event, **variables)
