"""Lines on a server as the record: said, and made into entries there at once.

A store is used directly if it does not follow the files of this machine. Then what is stored goes to the log of one
scope, its write scope, and entries are made from the log, by whoever comes next.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.domain.shared.acting import Acting
from recollect.domain.shared.fold import RULES, hash_of
from recollect.domain.shared.line_ids import LineClock
from recollect.domain.shared.lines import WRITER, TeamLine, TeamScope, can
from recollect.domain.stored import SCOPE_SOURCE
from recollect.domain.text import few
from recollect.engine.embed import embed_pending
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, StoreError
from recollect.store.team import TeamLog
from recollect.store.values import BANK, Source
from recollect.sync.scopes import entries_of, fold_lessons

# Lines made into entries in one transaction.
_PORTION = 500
_NAMED = 3

# In milliseconds: a line may be so far ahead of this machine's clock and still be counted as seen.
_AHEAD = 600_000

# In seconds: the time for the vectors of another scope's entries, each time that it has new lines.
_EMBEDDING = 1.0

# The hash of a source: how the lines were read of which its entries were made.
_CURATED, _OPEN = f"curated {RULES}", f"open {RULES}"

# By store and scope: the rule and the last line that this process has seen in entries.
_seen: dict[tuple[str, str], tuple[str, int]] = {}
_clock = LineClock(secrets.token_hex(4))
_telling = threading.Lock()


def is_direct(engine: Engine) -> bool:
    """Return True if lines on the server are the record, instead of files of this machine."""
    return not engine.store.follows_files


def write_scope(engine: Engine) -> str:
    """Return the name of the scope that takes what is stored.

    Raises:
        StoreError: the server cannot be used.
    """
    acting = engine.workspace.acting
    return (acting.scope if acting else "") or _team(engine).personal_scope()


def say(engine: Engine, bodies: Sequence[Mapping[str, Any]]) -> list[str]:
    """Append lines to the log of the write scope, make entries of them, and return warnings.

    Raises:
        InvalidEntry: the server does not take one of them; the message says why.
        StoreError: the server cannot be used.
    """
    team, scope = _team(engine), write_scope(engine)
    hashes = [hash_of(TeamLine("", body)) for body in bodies]
    with _telling:
        for seen in team.related(scope, hashes):
            _clock.merge(seen.id, _now() + _AHEAD)
        lines = [TeamLine(_clock.next_id(_now()), body) for body in bodies]
    refused = team.append(scope, lines)
    if refused:
        raise InvalidEntry(f"{scope} does not take it: {refused[0].reason}")
    return catch_up(engine)


def catch_up(engine: Engine) -> list[str]:
    """Make entries of the lines of the write scope that have none yet, and return warnings.

    Raises:
        StoreError: the server cannot be used.
    """
    return _catch_up_own(engine, _team(engine).scopes())


def _catch_up_own(engine: Engine, scopes: Sequence[TeamScope]) -> list[str]:
    own = write_scope(engine)
    return _catch_up(engine, own, next((_rule(each) for each in scopes if each.name == own), _OPEN))


def _catch_up(engine: Engine, scope: str, rule: str) -> list[str]:
    """Make entries of new lines; of all lines, if the scope was made curated meanwhile, or is no more."""
    store, team, path = engine.store, _team(engine), SCOPE_SOURCE + scope
    problems: list[str] = []

    def take() -> list[str] | None:
        lines = team.read(scope, _read_until(engine, path, rule), _PORTION)
        return _take(engine, scope, rule, lines) if lines else None

    while not store.read_only and team.read(scope, _read_until(engine, path, rule), 1):
        taken = store.write(take)
        if taken is None:
            break  # another process was quicker
        problems += taken
    return [f"{scope}: a line was left out: {problem}" for problem in few(problems, _NAMED)]


def caught_up(engine: Engine) -> list[str]:
    """Make entries of new lines before a search, and return warnings. A failure costs only the newest lines."""
    try:
        scopes = _team(engine).scopes()
        return [*_catch_up_own(engine, scopes), *_catch_up_others(engine, scopes)]
    except StoreError as error:
        return [f"the newest lessons may not be found: {error}"]


def _catch_up_others(engine: Engine, scopes: Sequence[TeamScope]) -> list[str]:
    """Catch up the other scopes that are read, as far as this user may write there.

    Laptops send lines and make no entries on the server. Without this, a scope that nobody writes to directly would
    stay empty there.
    """
    store, acting = engine.store, engine.workspace.acting
    own, warnings = write_scope(engine), list[str]()
    for each in scopes:
        key = (engine.workspace.store_place, each.name)
        is_read = not acting or not acting.read or each.name in acting.read
        rule, seen = _seen.get(key, (_rule(each), 0))
        is_seen = each.last_seq <= seen and rule == _rule(each)
        if each.name == own or not is_read or not can(each.role, WRITER) or is_seen:
            continue
        store.act_as(replace(acting or Acting(""), scope=each.name))
        try:
            warnings += _catch_up(engine, each.name, _rule(each))
            warnings += embed_pending(engine, seconds=_EMBEDDING).warnings
        finally:
            store.act_as(acting)
        _seen[key] = _rule(each), each.last_seq
    return warnings


def is_held(engine: Engine, id: str) -> bool:
    """Return True if the write scope holds an entry.

    Raises:
        StoreError: the server cannot be used.
    """
    path = SCOPE_SOURCE + write_scope(engine)
    return any(source.path == path for source in engine.store.sources_of(id))


def is_told(engine: Engine, id: str) -> bool:
    """Return True if the log of the write scope speaks of a lesson, retired or not.

    Raises:
        StoreError: the server cannot be used.
    """
    return bool(_team(engine).related(write_scope(engine), [id]))


def _take(engine: Engine, scope: str, rule: str, new: Sequence[TeamLine]) -> list[str]:
    """Make entries of lines, with all others about the same lessons; return what is wrong with them."""
    team = _team(engine)
    related = team.related(scope, list(dict.fromkeys(filter(None, map(hash_of, new)))))
    found = fold_lessons(related, curated=rule == _CURATED)
    entries = entries_of(found, scope, engine.labels())
    gone = {hash_of(line) for line in related} - {entry.id for entry in entries} - {""}
    source = Source(SCOPE_SOURCE + scope, BANK, hash=rule, offset=new[-1].seq)
    engine.store.put(source, entries, anew=False, without=gone)
    ids = {line.id for line in new}
    return [problem for id, problem in found.problems.items() if id in ids]


def _rule(scope: TeamScope) -> str:
    return _CURATED if scope.curated else _OPEN


def _read_until(engine: Engine, path: str, rule: str) -> int:
    source = engine.store.sources(BANK).get(path)
    return source.offset if source and source.hash == rule else 0


def _team(engine: Engine) -> TeamLog:
    if engine.store.team is None:
        raise StoreError("the store is no server's, so it has no log of lines; name one in memory_store")
    return engine.store.team


def _now() -> int:
    return time.time_ns() // 1_000_000
