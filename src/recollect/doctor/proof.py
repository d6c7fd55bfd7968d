"""Test storing, searching and the prompt hook for real, in a temporary folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence

from recollect.config import locations
from recollect.config.settings import Settings, load_settings
from recollect.config.settings_keys import BY_NAME
from recollect.config.workspace import Workspace
from recollect.doctor.case import ERROR, OK, WARNING, Case, Finding
from recollect.doctor.hooks import installed_launcher
from recollect.domain.text import cut, one_line
from recollect.engine.engine import Engine
from recollect.errors import RecollectError
from recollect.plugin import environment
from recollect.plugin.environment_state import interpreter_of

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_TIMEOUT = 5.0
_ROUNDS = 3
_MAX_CHARS = 300
_AGAIN = "see what else is wrong here; if nothing is, install the plugin again: `recollect init`"

_LESSON = "Draw the delay before a retry at random"
_LESSONS = (
    {
        "name": _LESSON,
        "description": "Clients that failed together come back together; jitter spreads them out.",
        "category": "patterns",
        "keywords": ["retry", "jitter"],
    },
    {
        "name": "Pin the base image by its digest",
        "description": "A tag moves, and with it every build that names it.",
        "category": "patterns",
        "keywords": ["docker"],
    },
    {
        "name": "Read a sample file first",
        "description": "What a manual says of a format is seldom what stands on the disk.",
        "category": "heuristics",
        "keywords": ["parser"],
    },
)
_MEANT = "everybody reconnecting simultaneously overloads a recovering server"  # has no word of the lesson
_WORDS = "retry jitter"
_PROMPT = "How should a client choose its delay before a retry, with jitter or without?"


class Workshop:
    """A temporary project and store, removed at the end."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="recollect-doctor-", ignore_cleanup_errors=True)
        self.top = self._folder.name
        self.project = os.path.join(self.top, "project")
        self.store = os.path.join(self.top, "store")
        os.mkdir(self.project)

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def workspace(self, settings: Settings) -> Workspace:
        return Workspace(self.project, self.store, settings.without("memory_store"))

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return the variables for a process here, so that it does not touch the user's store and resident."""
        ours = {locations.HOME_VARIABLE: self.store, "XDG_RUNTIME_DIR": self.top}
        return {name: text for name, text in environ.items() if name != BY_NAME["memory_store"].variable} | ours

    def fill(self, engine: Engine) -> None:
        """Store the lessons, as a session does."""
        from recollect.learn.remember import remember
        from recollect.sync.entry_input import parse_entry_input

        for lesson in _LESSONS:
            remember(engine, parse_entry_input(lesson))


def self_test(case: Case) -> Iterator[Finding]:
    """Store some lessons, and find one of them by its words and by its meaning."""
    from recollect.recall.search import search

    settings = case.workspace.settings
    by_meaning = settings.flag("memory_embedding_enabled")
    with Workshop() as shop:
        begun = time.monotonic()
        try:
            with Engine(shop.workspace(settings), answer_within=case.patience(_TIMEOUT)) as engine:
                shop.fill(engine)
                worded = search(engine, _WORDS, project=engine.project)
                meant = search(engine, _MEANT, project=engine.project)
                has_full_text = engine.store.full_text
        except RecollectError as error:
            yield Finding(ERROR, "Self-test", f"nothing can be stored and found: {one_line(str(error))}")
            return
        took = time.monotonic() - begun
    if has_full_text:  # otherwise the check of the driver reports it
        found = bool(worded.hits) and worded.hits[0].entry.name == _LESSON and worded.hits[0].keyword is not None
        told = f"stored {len(_LESSONS)} lessons in a temporary store, and found one by its words"
        if found:
            yield Finding(OK, "Self-test", f"{told} (all in {took:.1f} s)")
        else:
            yield Finding(ERROR, "Self-test", f"stored {len(_LESSONS)} lessons; none was found by its words")
    if not by_meaning:
        return
    best = meant.hits[0] if meant.hits else None
    if best is not None and best.entry.name == _LESSON and best.vector is not None:
        told = f"found one that shares no word with the question, by {settings.text('memory_embedding_provider')}"
        yield Finding(OK, "Embeddings", f"{told}/{meant.retrieval.model} (cosine {best.vector:.2f})")
        return
    why = "; ".join(map(str, meant.retrieval.degraded)) or "the wrong one came first"
    sentence, _, fix = one_line(why).partition("; ")
    told = f"nothing is found by its meaning, words alone count: {sentence}"
    yield Finding(ERROR, "Embeddings", told, fix or "see memory_embedding_provider in `recollect config`")


def prompt_hook(case: Case) -> Iterator[Finding]:
    """Serve a prompt as the plugin does, and compare its time with a bare interpreter's."""
    with Workshop() as shop:
        variables = shop.environment(case.environ)
        settings = load_settings(shop.project, variables)
        words_alone = {**variables, "RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
        with Engine(shop.workspace(load_settings(shop.project, words_alone))) as engine:
            shop.fill(engine)
        python = interpreter_of(case.plugin_data) or sys.executable
        limit = case.patience(_TIMEOUT)
        times: list[float] = []
        bare: list[float] = []
        done: subprocess.CompletedProcess[str] | None = None
        for number in range(_ROUNDS):
            _, seconds = _timed([python, "-I", "-S", "-c", "pass"], "", variables, shop.project, limit)
            bare.append(seconds)
            event = {"prompt": _PROMPT, "cwd": shop.project, "session_id": f"doctor-{number}"}
            event["hook_event_name"] = "UserPromptSubmit"
            done, seconds = _timed(
                [*_hook(python), "hook", "prompt"], json.dumps(event), variables, shop.project, limit
            )
            times.append(seconds)
    assert done is not None  # noqa: S101 (there is at least one round)
    taken = f"{min(times) * 1000:.0f} ms, {min(times) / min(bare):.1f} times as long as a bare interpreter"
    said = cut(one_line(done.stderr), _MAX_CHARS)
    if done.returncode:
        yield Finding(ERROR, "Prompt hook", f"failed with exit code {done.returncode}: {said}", _AGAIN)
    elif _LESSON in done.stdout:
        yield Finding(OK, "Prompt hook", f"a prompt was given the lesson that it is about; {taken}")
    elif not _is_by_store(settings):
        yield Finding(OK, "Prompt hook", f"it was served; by the settings it asks no store; {taken}")
    else:
        told = "a prompt was not given the lesson that it is about"
        level = WARNING if case.pace > 1 else ERROR  # a hook does not wait longer because the machine is busy
        yield Finding(level, "Prompt hook", f"{told}: {said or 'the hook did not say why'}; {taken}", _AGAIN)


def _is_by_store(settings: Settings) -> bool:
    by_titles = settings.text("retrieval.match_strategy") == "title_tags"
    return settings.flag("retrieval.enabled") and settings.flag("memory_semantic_enabled") and not by_titles


def _hook(python: str) -> list[str]:
    """Return the hook command: the installed plugin's launcher, the one beside this code, or bare.py."""
    beside = os.path.join(os.path.dirname(environment.requirements_file() or os.sep), "bin", "recollect")
    for launcher in (installed_launcher(), beside):
        if launcher and os.access(launcher, os.X_OK) and os.path.isfile(launcher):
            return [launcher]
    return [python, "-I", "-S", os.path.join(_PACKAGE, "hooks", "bare.py")]


def _timed(
    called: Sequence[str], stdin: str, variables: Mapping[str, str], folder: str, limit: float
) -> tuple[subprocess.CompletedProcess[str], float]:
    begun = time.monotonic()
    done = subprocess.run(
        called,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env=dict(variables),
        cwd=folder,
        timeout=limit,
        check=False,
    )
    return done, time.monotonic() - begun
