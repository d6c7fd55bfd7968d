# hot
"""Start a session: build its block, collect notices for the user, and do the remaining work afterwards."""

from __future__ import annotations

import os
import time

from recollect.config.settings_keys import EVENTS
from recollect.domain.text import memories_and_titles
from recollect.errors import StoreError
from recollect.files.session.record import add_given, add_words, read_record, reset_given, sweep_records
from recollect.recall.deferred import DeferredWrites
from recollect.recall.start_block import inject
from recollect.recall.start_request import Injection, StartRequest
from recollect.sessions import attention
from recollect.store.open import store_exists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from recollect.config.workspace import Workspace
    from recollect.engine.engine import Engine
    from recollect.engine.warm import Warm

# Sources of a session with an earlier conversation in its context; all others begin with an empty context.
_FORKS = ("fork",)
_AGAIN = ("resume", *_FORKS)

# Sources of a session in the middle of its work, where the user gets no notices.
_QUIET = ("compact", *_FORKS)

# Timeouts in seconds for the work after the answer: to wait for other writers, to sync, to make vectors.
_TIMEOUT = 1.0
_SYNCING = 3.0
_EMBEDDING = 1.5

_MOST_TRANSCRIPTS = 5_000
_ENDING = ".jsonl"
_CLOCK = 2.0  # in seconds: the tolerance for times reported by a client


class Start(StartRequest):
    """A starting session, with the problems of its settings.

    An unknown `event` counts as a startup. `transcript` is the path of its future transcript, `idle` the number of
    seconds since its last answer.
    """

    def __init__(self, workspace: Workspace, event: str, session: str, warm: Warm | None = None) -> None:
        event = event if event in (*EVENTS, *_FORKS) else EVENTS[0]
        super().__init__(workspace, event=event, session=session, warm=warm)
        self.notes = DeferredWrites(wait=True)  # written once the notices were shown
        self.problems = [] if event in _QUIET else attention.settings_problems(workspace, self.notes)
        self.transcript = ""
        self.idle: float | None = None


def begin(start: Start, *, markdown: str = "") -> Injection:
    """Build the start block, without entries already given to the session, and record it as given.

    `markdown` is a reason not to use the store; if it is empty, the store is used.
    """
    without = _had(start)
    if without is None:
        return Injection("a fork has had what its session had")
    start.without = without
    injection = inject(start, markdown=markdown)
    start.notes.do(lambda: add_given(start.workspace.global_store, start.session, injection.keys))
    if start.warm is None:
        injection.warnings += start.notes.problems
    return injection


def notices(start: Start) -> list[str]:
    """Return notices for the user; none for a session in the middle of its work."""
    if start.event in _QUIET:
        return []
    workspace, problems = start.workspace, start.problems
    found = [
        _noticed(problems, lambda: attention.newcomer(workspace, start.notes, start.warm)),
        _noticed(problems, lambda: attention.replaced(workspace, start.notes)),
        attention.settings_not_used(problems),
        _noticed(problems, lambda: attention.unread_banks(workspace, start.notes)),
        _noticed(problems, lambda: attention.captures(workspace)),
        _noticed(problems, lambda: attention.invitations(workspace, start.notes)),
        _noticed(problems, lambda: attention.log_notes(workspace.global_store, start.notes, workspace.project_root)),
    ]
    return [notice for notice in found if notice]


def _noticed(problems: list[str], notice: Callable[[], str]) -> str:
    """Return a notice; if it fails, add the error to `problems` and return an empty string."""
    try:
        return notice()
    except Exception as error:  # a failed notice must not cost the session its block
        problems.append(f"{type(error).__name__}: {error}")
        return ""


def said(start: Start, injection: Injection) -> str:
    """Return the line for the user about what was given; empty if the settings ask for none.

    Titles alone are worth a line only if the settings ask for every line: all sessions of a young project have them.
    """
    show = start.workspace.settings.text("retrieval.show")
    if injection.titles and not injection.entries and show == "always":
        return f"no memory recalled, {memories_and_titles(0, len(injection.titles))} given"
    if not injection.entries or show == "never":
        return ""
    return f"{memories_and_titles(len(injection.entries), len(injection.titles))} recalled"


def withheld(start: Start, injection: Injection) -> str:
    """Return a notice for the user about entries and files withheld or taken over; an empty string if it fails."""
    return _noticed(start.problems, lambda: _withheld(start, injection))


def _withheld(start: Start, injection: Injection) -> str:
    """Return the notice about entries and memory files withheld or taken over, after a sync of the store."""
    files: list[str] = []
    is_on = start.workspace.settings.flag("memory_semantic_enabled") and not injection.degraded
    if is_on and store_exists(start.workspace.store_place):
        from recollect.engine.engine import Engine
        from recollect.sync.if_changed import sync_if_changed
        from recollect.sync.memories import withheld_memories

        def named(engine: Engine) -> list[str]:
            # Somebody waits, so very many files are left to the work after the answer.
            warnings = sync_if_changed(engine, banks_read=injection.banks_read, unfinished=lambda _files: None)
            injection.warnings += warnings
            return withheld_memories(engine.store, engine.memories)

        if injection.engine:
            files = named(injection.engine)
        else:
            with Engine(start.workspace, patience=0.5, warm=start.warm) as engine:
                files = named(engine)
    store = start.workspace.global_store
    told = [
        attention.withheld(store, injection.withheld + files, start.notes),
        attention.taken_over(store, injection.taken_over, start.notes),
    ]
    return ". ".join(filter(None, told))


def follow(start: Start, injection: Injection, *, can_embed: bool = True) -> list[str]:
    """Sync the store, remove old session records and make vectors, after a session was served; return warnings.

    Vectors are made only with a local model, and only if `can_embed`.
    """
    warnings = note_words(start, injection)
    sweep_records(start.workspace.global_store)
    if not start.workspace.settings.flag("memory_semantic_enabled"):
        return warnings
    engine, injection.engine = injection.engine, None
    try:
        from recollect.engine.engine import Engine
        from recollect.sync.if_changed import sync_if_changed

        with engine or Engine(start.workspace, patience=_TIMEOUT, warm=start.warm) as engine:
            warnings += sync_if_changed(engine, seconds=_SYNCING, thorough=True)
            from recollect.engine.embed import embed_pending, is_behind, keep_model

            keep_model(engine)
            if start.workspace.settings.flag("memory_anchors_enabled"):
                from recollect.truth.stale import remember_histories

                remember_histories(engine)
            if can_embed:
                warnings += embed_pending(engine, most=-1, seconds=_EMBEDDING).warnings if is_behind(engine) else []
    except (StoreError, ImportError) as error:
        warnings.append(f"the search index is not updated yet; the next command tries again: {error}")
    return warnings


def note_words(start: Start, injection: Injection) -> list[str]:
    """Record the words of the block, so that triage does not take a quotation for something new; return warnings."""
    from recollect.domain.triage.quoted import marks

    notes = DeferredWrites()
    found = marks(injection.text)
    if found:
        notes.do(lambda: add_words(start.workspace.global_store, start.session, found))
    return notes.problems


def _had(start: Start) -> Set[str] | None:
    """Return the keys of the entries already in a session's context.

    None means a fork of an unknown session: its context has entries, but there is no record of them.
    """
    if start.event not in _AGAIN:
        start.notes.do(lambda: reset_given(start.workspace.global_store, start.session))
        return frozenset()
    record = read_record(start.workspace.global_store, start.session)
    if start.event == "fork" and not record.known:
        record = read_record(start.workspace.global_store, _forked_from(start))
        if not record.known:
            return None
        start.notes.do(lambda: add_given(start.workspace.global_store, start.session, record.given))
        if record.words:
            start.notes.do(lambda: add_words(start.workspace.global_store, start.session, record.words))
    return record.given


def _forked_from(start: Start) -> str:
    """Return the id of a fork's original session, or an empty string if it cannot be found.

    The client does not tell the id, only how long ago the session was last answered. So the right transcript is the
    first one written at that time or after it.
    """
    if start.idle is None:
        return ""
    answered = time.time() - start.idle - _CLOCK
    found: list[tuple[float, str]] = []
    try:
        with os.scandir(os.path.dirname(start.transcript)) as entries:
            for entry, _ in zip(entries, range(_MOST_TRANSCRIPTS), strict=False):
                name = entry.name.removesuffix(_ENDING)
                if name not in (entry.name, start.session):
                    found.append((entry.stat(follow_symlinks=False).st_mtime, name))
    except (OSError, ValueError):
        return ""
    return min((pair for pair in found if pair[0] >= answered), default=(0.0, ""))[1]
