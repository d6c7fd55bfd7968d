# hot
"""A session begins: what it is given, what its user is told, and what is left to do once that is out."""

from __future__ import annotations

import os
import time

from recollect.config import locations, project
from recollect.config.settings import load_settings
from recollect.engine.deferred import Notes
from recollect.errors import StoreError
from recollect.files.session.record import add_given, add_words, read_record, reset_given, sweep_records
from recollect.recall.start_block import Injection, inject
from recollect.sessions import attention

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from recollect.config.settings import Settings
    from recollect.engine.engine import Engine
    from recollect.engine.warm import Warm

# Sessions that begin with what was said before; all others have forgotten it, or have nothing to forget.
_AGAIN = ("resume", "fork")

# Sessions that go on, in the middle of things.
_QUIET = ("compact", "fork")

# In seconds, of the time after the answer: to wait for other writers, to read what has changed, to make vectors.
_PATIENCE = 1.0
_SYNCING = 3.0
_EMBEDDING = 1.5

_MOST_TRANSCRIPTS = 5_000
_ENDING = ".jsonl"
_CLOCK = 2.0  # by how many seconds what a client says of time may be off


class Start:
    """Which session begins, how and where; what is wrong with the settings there, in sentences.

    `transcript` is where its transcript will be, `idle` how many seconds ago it was last answered.
    """

    __slots__ = (
        "global_store",
        "idle",
        "notes",
        "problems",
        "project_root",
        "session",
        "settings",
        "source",
        "transcript",
        "warm",
    )

    def __init__(  # noqa: PLR0917 (what a session's start is told)
        self,
        source: str,
        session: str,
        project_root: str,
        global_store: str,
        settings: Settings,
        warm: Warm | None = None,
    ) -> None:
        self.source = source
        self.session = session
        self.project_root = project_root
        self.global_store = global_store
        self.settings = settings
        self.warm = warm
        self.notes = Notes(wait=True)  # until the user was told what they are about
        self.problems = attention.settings_problems(settings, global_store, self.notes)
        self.transcript = ""
        self.idle: float | None = None


def load(source: str, session: str, folder: str) -> Start:
    """The start of a session in a folder, with the settings of the project that the folder belongs to."""
    root = project.find_root(folder)
    return Start(source or "startup", session, root, locations.global_store(), load_settings(root))


def begin(start: Start, *, markdown: str = "") -> Injection:
    """What a session is given that begins: what it has not had, recorded as given.

    `markdown` is a reason not to ask the store.
    """
    without = _had(start)
    if without is None:
        return Injection("a fork has had what its session had")
    injection = inject(
        start.project_root,
        start.global_store,
        start.settings,
        event=start.source,
        session=start.session,
        without=without,
        markdown=markdown,
        notes=start.notes,
        warm=start.warm,
    )
    start.notes.do(lambda: add_given(start.global_store, start.session, injection.keys))
    if start.warm is None:
        injection.warnings += start.notes.problems
    return injection


def notices(start: Start) -> list[str]:
    """What needs the user's attention as a session starts; in the middle of things, nobody is reminded of it."""
    if start.source in _QUIET:
        return []
    store = start.global_store
    found = [
        _noticed(start.problems, lambda: attention.newcomer(start.project_root, store, start.settings, start.notes)),
        attention.settings_not_used(start.problems),
        _noticed(start.problems, lambda: attention.captures(start.project_root, store)),
        _noticed(start.problems, lambda: attention.log_notes(store, start.notes)),
    ]
    return [notice for notice in found if notice]


def _noticed(problems: list[str], notice: Callable[[], str]) -> str:
    """What there is to notice; that it could not be found out is no reason to give nothing."""
    try:
        return notice()
    except Exception as error:  # whatever it is, the block is worth more
        problems.append(f"{type(error).__name__}: {error}")
        return ""


def weakness(start: Start, injection: Injection) -> str:
    """Return that memories were not chosen as well as they could be, for the user."""
    return attention.weakness(start.global_store, injection.degraded, start.notes)


def withheld(start: Start, injection: Injection) -> str:
    """Return which entries and memory files are withheld, for the user."""
    return _noticed(start.problems, lambda: _withheld(start, injection))


def _withheld(start: Start, injection: Injection) -> str:
    """Return which entries and memory files are withheld, as far as the store knows them now."""
    files: list[str] = []
    has_store = os.path.exists(locations.database(start.global_store))
    if has_store and start.settings.flag("memory_semantic_enabled") and not injection.degraded:
        from recollect.engine.engine import Engine
        from recollect.sync.if_changed import catch_up
        from recollect.sync.memories import withheld_memories

        def named(engine: Engine) -> list[str]:
            injection.warnings += catch_up(engine, start.project_root)
            return withheld_memories(engine.store, start.project_root)

        if injection.engine:
            files = named(injection.engine)
        else:
            place = start.project_root
            with Engine(
                start.global_store, start.settings, project_root=place, patience=0.5, warm=start.warm
            ) as engine:
                files = named(engine)
    return attention.withheld(start.global_store, injection.withheld + files, start.notes)


def follow(start: Start, injection: Injection, *, can_embed: bool = True) -> list[str]:
    """What can wait until a session has been served: the store follows the files, and what is out of date goes.

    Vectors are made only with the model that is on this machine. What went wrong, in sentences.
    """
    warnings = note_words(start, injection)
    sweep_records(start.global_store)
    if not start.settings.flag("memory_semantic_enabled"):
        return warnings
    engine, injection.engine = injection.engine, None
    try:
        from recollect.engine.engine import Engine
        from recollect.sync.if_changed import catch_up

        engine = engine or Engine(
            start.global_store, start.settings, project_root=start.project_root, patience=_PATIENCE, warm=start.warm
        )
        with engine:
            warnings += catch_up(engine, start.project_root, seconds=_SYNCING, thorough=True)
            warnings += _embed(engine) if can_embed else []
    except (StoreError, ImportError) as error:
        warnings.append(f"the store does not follow yet: {error}")
    return warnings


def note_words(start: Start, injection: Injection) -> list[str]:
    """Note the words of the block, so that nobody who repeats them is taken for somebody with news; what went wrong."""
    from recollect.domain.triage.quoted import marks

    notes = Notes()
    found = marks(injection.text)
    if found:
        notes.do(lambda: add_words(start.global_store, start.session, found))
    return notes.problems


def _embed(engine: Engine) -> list[str]:
    from recollect.engine.embed import embed_pending, is_behind

    done = embed_pending(engine, most=-1, seconds=_EMBEDDING) if is_behind(engine) else None
    return [f"{done.pending} of the entries are without a vector: {done.reason}"] if done and done.reason else []


def _had(start: Start) -> Set[str] | None:
    """The keys of what is in a session's context already; None if there is much in it that nobody knows."""
    if start.source not in _AGAIN:
        start.notes.do(lambda: reset_given(start.global_store, start.session))
        return frozenset()
    record = read_record(start.global_store, start.session)
    if start.source == "fork" and not record.known:
        record = read_record(start.global_store, _forked_from(start))
        if not record.known:
            return None
        start.notes.do(lambda: add_given(start.global_store, start.session, record.given))
        if record.words:
            start.notes.do(lambda: add_words(start.global_store, start.session, record.words))
    return record.given


def _forked_from(start: Start) -> str:
    """The id of the session that a fork continues; nothing if that cannot be told.

    The client does not say which it was, but how long ago it was last answered: its transcript is the one that was
    written then, or soon after that.
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
