"""Answers of the resident to hooks, and to other servers without a model in memory."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from recollect.config import locations
from recollect.config.needed_extras import needed_extras
from recollect.config.workspace import Workspace, load_workspace
from recollect.engine.embed import embed_pending, is_behind
from recollect.engine.engine import Engine
from recollect.engine.warm import Warm
from recollect.errors import EmbeddingError, ModelLoading, StoreError
from recollect.recall.degradation import LOADING
from recollect.recall.prompt import memories_for
from recollect.sessions import attention
from recollect.sessions.start import Start, begin, follow, notices, said, withheld
from recollect.store.open import store_exists
from recollect.version import VERSION

_MOST_TEXTS = 50

# In seconds: how long a new resident embeds entries without a vector; the next one continues.
_EMBEDDING = 60.0


class Declined(Exception):
    """A refusal to answer, with the reason. The client then does without the resident."""


@dataclass
class Answered:
    """An answer, with work for after its use: `settle` at once, `afterwards` later. Both return warnings."""

    fields: dict[str, object]
    settle: Callable[[], Sequence[str]] | None = None
    afterwards: Callable[[], Sequence[str]] | None = None


def answer(kind: str, question: Mapping[str, Any], warm: Warm) -> Answered:
    """Answer a question of the given kind.

    Raises:
        Declined: the question is for another store or home, of an unknown kind, or better answered by the client.
        RecollectError: answering failed.
    """
    is_ours = os.path.realpath(_text(question, "store")) == os.path.realpath(warm.global_store)
    if not is_ours or question.get("home") != locations.home():
        raise Declined("this resident is for another store, or another home")
    if kind == "prompt":
        return _prompt(question, warm)
    if kind == "session-start":
        return _session_start(question, warm)
    if kind == "embed":
        return _embed(question, warm)
    if kind == "judge":
        return _judge(question, warm)
    raise Declined(f"there is no answer to {kind!r}")


def prepare(warm: Warm, workspace: Workspace) -> list[str]:
    """Load the local model, and embed entries without a vector; return warnings.

    With another provider, do nothing.
    """
    settings = workspace.settings
    if not settings.flag("memory_embedding_enabled") or settings.text("memory_embedding_provider") != "local":
        return []
    try:
        warm.embedders.load(settings.text("memory_embedding_model"))
        with Engine(workspace, warm=warm) as engine:
            return embed_pending(engine, most=-1, seconds=_EMBEDDING).warnings if is_behind(engine) else []
    except (EmbeddingError, StoreError) as error:
        return [str(error)]


def _prompt(question: Mapping[str, Any], warm: Warm) -> Answered:
    workspace = _workspace(question, warm)
    found = memories_for(_text(question, "prompt"), workspace, _text(question, "session"), warm=warm)
    attention.log_settings_problems(workspace, found.notes)
    fields: dict[str, object] = {"text": found.text, "said": found.said, "warnings": found.warnings}
    fields["unusable"] = attention.unusable_settings(workspace)
    return Answered(fields, found.notes.write, found.afterwards)


def _session_start(question: Mapping[str, Any], warm: Warm) -> Answered:
    workspace = _workspace(question, warm)
    settings = workspace.settings
    if settings.flag("memory_embedding_enabled") and settings.text("memory_embedding_provider") != "local":
        raise Declined("its provider takes longer than a hook waits, and may know only whoever asks")
    start = Start(workspace, _text(question, "source"), _text(question, "session"), warm)
    start.transcript, idle = _text(question, "transcript"), question.get("idle")
    start.idle = idle if isinstance(idle, float) else None
    found = notices(start)
    injection = begin(start)
    if any(each.code == LOADING for each in injection.degraded):
        raise ModelLoading
    fields: dict[str, object] = {
        "text": injection.text,
        "said": said(start, injection),
        "notices": [withheld(start, injection), *found],
        "extras": needed_extras(settings, warm.global_store),
        "weakness": attention.weakness(warm.global_store, injection.degraded, start.notes),
        "warnings": start.problems + injection.warnings,
    }
    return Answered(fields, start.notes.write, lambda: follow(start, injection))


def _embed(question: Mapping[str, Any], warm: Warm) -> Answered:
    """Return vectors of the local model, for another server of the same user."""
    texts, kind, weights = question.get("texts"), question.get("as"), question.get("weights")
    if not isinstance(texts, list) or not 0 < len(texts) <= _MOST_TEXTS or kind not in ("query", "document"):  # pyright: ignore
        raise Declined("there are no texts to embed")
    if not all(isinstance(text, str) for text in texts):  # pyright: ignore[reportUnknownVariableType]
        raise Declined("a text to embed is none")
    embedder = warm.embedders.get("local", "auto", 0)
    if embedder.identity != question.get("identity"):
        raise Declined("this resident has another model")
    telling = _telling(cast("dict[str, object]", weights)) if isinstance(weights, dict) else None
    try:
        vectors = embedder.embed(texts, kind, telling)  # pyright: ignore[reportUnknownArgumentType]
    except ModelLoading:
        return Answered({"loading": True})
    return Answered({"vectors": [b64encode(vector).decode("ascii") for vector in vectors]})


def _judge(question: Mapping[str, Any], warm: Warm) -> Answered:
    """Return for each sentence of a session how much it says that will last."""
    from recollect.domain.triage.lasting import MODEL, lasting  # imported late: most residents are never asked

    texts: Any = question.get("texts")
    if not isinstance(texts, list) or not 0 < len(texts) <= _MOST_TEXTS:  # pyright: ignore[reportUnknownArgumentType]
        raise Declined("there are no sentences to judge")
    settings = _workspace(question, warm).settings
    if not settings.flag("memory_embedding_enabled"):
        return Answered({})  # nobody wants the model to be loaded
    embedder = warm.embedders.get("local", "auto", 0)
    if embedder.identity != MODEL:
        return Answered({})
    sentences = [str(text) for text in cast("list[object]", texts)]
    try:
        vectors = embedder.embed(sentences, "document")
    except ModelLoading:
        return Answered({"loading": True})  # in a short session that is no failure
    scores = map(lasting, vectors, sentences)
    return Answered({"scores": list(scores)})


def _telling(weights: Mapping[str, object]) -> Callable[[str], float]:
    """Return a function from a word to its weight as sent by the client, 1.0 for a word without one."""

    def weight(word: str) -> float:
        value = weights.get(word)
        return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else 1.0

    return weight


def _workspace(question: Mapping[str, Any], warm: Warm) -> Workspace:
    """Return the workspace of a question, with the settings in the client's environment."""
    folder = _text(question, "folder")
    if not os.path.isabs(folder) or "\0" in folder:
        raise Declined("it says not from where")
    variables: Any = question.get("settings")
    if not isinstance(variables, dict):
        raise Declined("it has no settings")
    known = {str(name): value for name, value in variables.items() if isinstance(value, str)}  # pyright: ignore
    return load_workspace(folder, warm.global_store, known)


def _text(question: Mapping[str, Any], name: str) -> str:
    value = question.get(name)
    return value if isinstance(value, str) else ""


def status(warm: Warm, **facts: object) -> dict[str, object]:
    """Return the resident's status."""
    entries = warm.store().coverage().entries if store_exists(warm.global_store) else 0
    return {"version": VERSION, "pid": os.getpid(), "entries": entries, "model": warm.embedders.is_loaded, **facts}
