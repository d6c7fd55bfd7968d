"""Exchange lines with the server of a team: pull what is new, send what the journal has, and pull again.

Everything can be cut off at any moment and is continued the next time: a pulled line is in its file before the next is
asked for, and the outbox moves on only after the server has answered. What is sent twice is the same line there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from recollect.config import locations
from recollect.config.workspace import Workspace
from recollect.domain.shared.line_ids import LineClock, milliseconds_of
from recollect.domain.shared.lines import PERSONAL, WRITER, TeamLine, can, is_scope, kind_of_scope
from recollect.domain.text import counted, cut, few, one_line, utc_text
from recollect.engine.engine import Engine
from recollect.errors import InvalidEntry, StorageError, StoreError, TeamError
from recollect.files.journal.kinds import CAPTURE
from recollect.files.journal.log import append_chosen, fingerprint, read_lines
from recollect.files.locks import locked
from recollect.files.team.lines import LOCK, append_pulled, bounded_body, last_pulled, refuse_unordered
from recollect.files.team.state import Invited, JoinedScope, Outbox, RefusedLine, TeamState
from recollect.store.open import open_team
from recollect.store.team import TeamLog
from recollect.sync.journal import identified
from recollect.sync.scopes import sync_scopes
from recollect.sync.sync import sync
from recollect.team.joined import clock_of, joined_team, lines_in, renew_machine, update_team
from recollect.team.names import lesson_named
from recollect.team.outbox import Outgoings, checked_box, own_line
from recollect.team.say import unsendable

PULLING, SENDING = "Pulling", "Sending"

# Lines of one question, and lines of the journal between two notes of how far it was sent.
_PULLED_AT_ONCE = 1_000
_SENT_AT_ONCE = 500

_MOST_TOLD = 5  # invitations

# In milliseconds: the server takes lines from ten minutes ahead of its clock; one that is more ahead gets another id.
_AHEAD = 5 * 60 * 1000

Progress = Callable[[str, int, int], None]


@dataclass
class Exchanged:
    """What an exchange did: lines pulled and sent, those refused, and warnings."""

    pulled: int = 0
    sent: int = 0
    refused: list[RefusedLine] = field(default_factory=list[RefusedLine])
    warnings: list[str] = field(default_factory=list[str])
    scopes: dict[str, int] = field(default_factory=dict[str, int])  # lines of each

    @property
    def sentence(self) -> str:
        """Return what was done in words."""
        return f"Sent {counted(self.sent, 'line', 'lines')}, pulled {counted(self.pulled, 'line', 'lines')}."


def exchange(
    workspace: Workspace,
    *,
    patience: float = 10.0,
    wait: float = 10.0,
    again: bool = False,
    progress: Progress = lambda _stage, _done, _all: None,
    now: Callable[[], float] = time.time,
) -> Exchanged:
    """Exchange lines with the server, then bring the store up to date.

    Wait up to `wait` seconds for another exchange on this machine. With `again`, everything in the journal is sent once
    more: the server knows what it has, and may take now what it has refused.

    Raises:
        TeamError: no team is joined, or the server knows the user by another name.
        LockTimeout: another exchange took too long.
        StoreError: the server cannot be reached, or failed; what was done by then is kept.
        StorageError: a file cannot be read or written.
    """
    global_store = workspace.global_store
    joined_team(global_store)
    with exchange_lock(global_store, wait):
        try:
            with open_team(joined_team(global_store).address, patience=patience) as log:
                done = _Exchange(workspace, log, progress, now).run(again)
        except StoreError as error:
            _note_failure(global_store, str(error), now)
            raise
    done.warnings += follow(workspace)
    return done


def exchange_lock(global_store: str, seconds: float = 10.0) -> AbstractContextManager[None]:
    """Keep other exchanges of this machine out. Raises as `locked` does."""
    return locked(os.path.join(locations.team_folder(global_store), LOCK), seconds)


def follow(workspace: Workspace) -> list[str]:
    """Bring the store up to date with pulled lines; return warnings."""
    if not workspace.settings.flag("memory_semantic_enabled"):
        return []
    try:
        with Engine(workspace) as engine:
            warnings = sync(engine.store, workspace, engine.labels())
            # Lines mean something else, too, if a scope is curated by now, or linked.
            return warnings + sync_scopes(engine.store, workspace.global_store, engine.labels())
    except StoreError as error:
        return [f"the lines are pulled, but searches do not find them yet; the next command tries again: {error}"]


def _note_failure(global_store: str, reason: str, now: Callable[[], float]) -> None:
    def failed(state: TeamState) -> None:
        state.tried_at, state.error = utc_text(time.gmtime(now())), reason

    update_team(global_store, failed)


class _Exchange:
    """One exchange with an open log."""

    def __init__(self, workspace: Workspace, log: TeamLog, progress: Progress, now: Callable[[], float]) -> None:
        self._workspace = workspace
        self._store = workspace.global_store
        self._log = log
        self._progress = progress
        self._now = now
        self._result = Exchanged()
        self._server_ms = 0
        self._sent: set[str] = set()  # the ids of the lines of this machine that were just sent

    def run(self, again: bool) -> Exchanged:
        self._meet(again)
        self._pull()
        if self._send():
            self._pull()
        result = self._result
        contact = utc_text(time.gmtime(self._now()))

        def contacted(state: TeamState) -> None:
            state.contacted_at = state.tried_at = contact
            state.error = ""

        update_team(self._store, contacted)
        return result

    # Meeting

    def _meet(self, again: bool) -> None:
        """Ask the server who this is and which scopes there are, and compare clocks."""
        user = self._log.user()
        asked, at, answered = self._now(), self._log.server_time(), self._now()
        state = joined_team(self._store)
        if user != state.user:
            raise TeamError(
                f"the server knows you as {user}, but {state.user} has joined here;"
                " `recollect team leave` first, then join again"
            )
        if state.personal:
            self._log.personal_scope()
        invited = invited_to(self._log)
        scopes = {scope.name: JoinedScope(scope.role, scope.curated, scope.last_seq) for scope in self._log.scopes()}
        if not state.personal:
            scopes = {name: scope for name, scope in scopes.items() if kind_of_scope(name) != PERSONAL}
        self._server_ms = int(at * 1000)

        def met(state: TeamState) -> list[str]:
            renewed = renew_machine(state)
            state.skew = _skew(at, asked, answered)
            gone = [scope for scope in state.scopes if scope not in scopes]
            new = [scope for scope in invited if scope not in state.invited]
            state.scopes, state.invited = scopes, invited
            if again:
                state.outbox, state.refused = Outbox(), []
            told = [invitation_told(scope, invited[scope]) for scope in new if scope not in gone]
            return [*([renewed] if renewed else []), *few(told, _MOST_TOLD), *self._dropped(gone, invited)]

        self._result.warnings += update_team(self._store, met)
        self._result.scopes = {name: scope.last_seq for name, scope in scopes.items()}

    def _dropped(self, gone: Sequence[str], invited: Mapping[str, Invited]) -> list[str]:
        """Remove the lines of scopes that this user has not, or not any more; return a sentence on each."""
        for scope in gone:
            _remove(locations.team_lines(self._store, scope))
        return [
            f"{scope} waits for your yes, and nothing of it is found here before; `recollect team accept {scope}`"
            if scope in invited
            else f"you are no member of {scope} any more, so its lessons are removed here"
            for scope in gone
        ]

    # Pulling

    def _pull(self) -> None:
        state = joined_team(self._store)
        begun = {scope: last_pulled(locations.team_lines(self._store, scope)) for scope in state.scopes}
        total = sum(scope.last_seq - _place(begun[name]) for name, scope in state.scopes.items())
        done = 0
        for scope, last in begun.items():
            for lines in self._portions(scope, last):
                append_pulled(locations.team_lines(self._store, scope), lines)
                self._see(lines)
                done += len(lines)
                self._progress(PULLING, done, max(done, total))
                if kind_of_scope(scope) == PERSONAL:
                    self._take_home(lines, state.user)
        self._result.pulled += done

    def _portions(self, scope: str, last: TeamLine | None) -> Iterator[list[TeamLine]]:
        """Yield the lines of a scope after the last one pulled. If the server has another one there, begin anew."""
        if last:
            found = self._read(scope, last.seq - 1, _PULLED_AT_ONCE + 1)
            if found and _is_same(found[0], last):
                if found[1:]:
                    yield found[1:]
                if len(found) <= _PULLED_AT_ONCE:
                    return
                last = found[-1]
            else:
                self._begin_anew(scope)
                last = None
        while lines := self._read(scope, _place(last), _PULLED_AT_ONCE):
            yield lines
            last = lines[-1]

    def _read(self, scope: str, after: int, limit: int) -> list[TeamLine]:
        lines = [replace(line, body=bounded_body(line.body)) for line in self._log.read(scope, after, limit)]
        try:
            refuse_unordered(lines, after)
        except InvalidEntry as error:
            raise StoreError(f"the log of {scope} on the server cannot be used: {error}; ask its admin") from error
        return lines

    def _begin_anew(self, scope: str) -> None:
        """Pull a log again: the server was restored, or is another one. What it has lost may be here alone.

        What this user had said there is sent first, in the order in which the server had numbered it.
        """
        state = joined_team(self._store)
        mine = [line for line in lines_in(self._store, scope) if line.author == state.user]
        if can(state.scopes[scope].role, WRITER):
            for start in range(0, len(mine), _SENT_AT_ONCE):
                self._append([(scope, TeamLine(line.id, line.body)) for line in mine[start : start + _SENT_AT_ONCE]])
        self._sent.clear()  # lines of other machines of this user are among them
        _remove(locations.team_lines(self._store, scope))
        update_team(self._store, _send_again)
        told = f"the log of {scope} on the server is not the one that was pulled before, perhaps it was restored"
        self._result.warnings.append(f"{told}; it is pulled anew, and your own lines are sent again")

    def _see(self, lines: Sequence[TeamLine]) -> None:
        """Let this machine's clock be later than lines, but for those that claim a time to come."""
        latest = self._server_ms + 2 * _AHEAD

        def seen(state: TeamState) -> None:
            clock = clock_of(state)
            for line in lines:
                clock.merge(line.id, latest)
            state.clock = clock.last

        update_team(self._store, seen)

    def _take_home(self, lines: Sequence[TeamLine], user: str) -> None:
        """Append lines of the user's other machines to the journal, each once."""
        others = (line for line in lines if line.id not in self._sent)
        own = [line for line in (own_line(each, user) for each in others) if line]

        def unknown() -> list[dict[str, object]]:
            renamed = joined_team(self._store).renamed
            known = {id for id, _ in identified(read_lines(self._workspace.journal, 0).lines)}
            known |= {renamed[id] for id in known if id in renamed}
            return [line for line in own if line["line"] not in known]

        if own:
            append_chosen(self._workspace.journal, CAPTURE, unknown)

    # Sending

    def _send(self) -> int:
        """Send the lines of the journal after the outbox's offset; return the number of lines sent."""
        state = joined_team(self._store)
        box = checked_box(state.outbox, self._workspace.journal)
        rest = read_lines(self._workspace.journal, box.offset).lines
        if not rest:
            return 0
        outgoings = Outgoings(self._store, state, rest, box.ordinal)
        total = len(outgoings.of(rest, box.ordinal))
        sent = 0
        while True:
            found = read_lines(self._workspace.journal, box.offset, _SENT_AT_ONCE)
            if found.end == box.offset:
                return sent
            lines = outgoings.of(found.lines, box.ordinal)
            sent += self._append(lines)
            box = Outbox(found.end, box.ordinal + len(found.lines), fingerprint(self._workspace.journal, found.end))
            self._acknowledge(box)
            if lines:
                self._progress(SENDING, sent, max(sent, total))

    def _append(self, lines: Sequence[tuple[str, TeamLine]]) -> int:
        """Send lines to their scopes, and note those refused; return how many were sent."""
        by_scope: dict[str, list[TeamLine]] = {}
        refused: dict[tuple[str, str], str] = {}
        given = self._in_time(lines)
        for scope, line in given:
            fault = unsendable(line.body)
            if fault:
                refused[scope, line.id] = fault
            else:
                by_scope.setdefault(scope, []).append(line)
        known = joined_team(self._store).scopes
        for scope, some in by_scope.items():
            if scope in known:
                refused |= {(scope, id): reason for id, reason in self._append_to(scope, some).items()}
            else:
                refused |= {(scope, line.id): f"you are no member of {scope}" for line in some}
        at = utc_text(time.gmtime(self._now()))
        bodies = {(scope, line.id): line.body for scope, line in given}
        new = [
            RefusedLine(id, scope, reason, at, lesson_named(self._store, scope, bodies[scope, id]))
            for (scope, id), reason in refused.items()
        ]
        if new:
            self._result.refused += new

            def noted(state: TeamState) -> None:
                before = {(line.to, line.id): line for line in state.refused}
                state.refused = list((before | {(line.to, line.id): line for line in new}).values())

            update_team(self._store, noted)
        done = sum(map(len, by_scope.values())) - sum(scope in by_scope for scope, _ in refused)
        self._result.sent += max(0, done)
        return done

    def _append_to(self, scope: str, lines: Sequence[TeamLine]) -> dict[str, str]:
        """Send lines to a scope; return those refused with the reasons. One whose id was taken gets another id."""
        refused = self._log.append(scope, lines)
        self._sent.update(line.id for line in lines)
        taken = [each.id for each in refused if each.is_taken]
        if not taken:
            return {each.id: each.reason for each in refused}
        renamed = self._renamed(taken)
        ids = {renamed[line.id] if line.id in taken else line.id: line.id for line in lines}
        self._sent.update(ids)
        bodies = {line.id: line.body for line in lines}
        again = self._log.append(scope, [TeamLine(new, bodies[old]) for new, old in ids.items()])
        return {ids[each.id]: each.reason for each in again}

    def _in_time(self, lines: Sequence[tuple[str, TeamLine]]) -> list[tuple[str, TeamLine]]:
        """Return the lines, those from a clock that was ahead under ids of now, which are kept for the next time."""
        latest = self._server_ms + _AHEAD
        ahead = [line.id for _, line in lines if milliseconds_of(line.id) > latest]
        if not ahead:
            return list(lines)
        renamed = self._renamed(ahead)
        told = f"the clock of this machine was ahead; {counted(len(ahead), 'line has', 'lines have')} the server's time"
        self._result.warnings.append(told)
        return [(scope, TeamLine(renamed.get(line.id, line.id), line.body)) for scope, line in lines]

    def _renamed(self, ids: Sequence[str]) -> dict[str, str]:
        """Give lines other ids, of now by the server's clock, and return all that were given."""
        latest = self._server_ms + _AHEAD

        def rename(state: TeamState) -> dict[str, str]:
            given = [*state.renamed.values(), *([state.clock] if milliseconds_of(state.clock) <= latest else [])]
            clock = LineClock(state.machine, max(given, default=""))
            for id in ids:
                if id not in state.renamed:
                    state.renamed[id] = clock.next_id(self._server_ms)
            state.clock = clock.last
            return state.renamed

        return update_team(self._store, rename)

    def _acknowledge(self, box: Outbox) -> None:
        def sent(state: TeamState) -> None:
            state.outbox = box

        update_team(self._store, sent)


def invited_to(log: TeamLog) -> dict[str, Invited]:
    """Return the scopes that wait for a yes of this user. Raises StoreError if the server cannot be asked."""
    found = [each for each in log.invitations() if is_scope(each.scope) and not each.declined]
    return {each.scope: Invited(each.role, each.by, each.at) for each in found}


def invitation_told(scope: str, invited: Invited) -> str:
    """Return the sentence about an invitation, with what to do."""
    by = f"{cut(one_line(invited.by), 63)} invites you" if invited.by else "you are invited"
    return (
        f"{by} to {scope} as a {invited.role}; `recollect team accept {scope}` takes its lessons in, `decline` does not"
    )


def _is_same(found: TeamLine, known: TeamLine) -> bool:
    """Return True for a line that was pulled before, and not sent again since to a server that had lost it.

    Versions before had its time in seconds.
    """
    return found.id == known.id and found.received.startswith(known.received.removesuffix("Z"))


def _send_again(state: TeamState) -> None:
    state.outbox = Outbox()


def _place(line: TeamLine | None) -> int:
    return line.seq if line else 0


def _skew(at: float, asked: float, answered: float) -> float:
    """Return how far a clock that told a time is ahead at least, by when it was asked and had answered."""
    return min(at - asked, 0.0) + max(at - answered, 0.0)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"cannot remove {path}: {error.strerror or error}") from error
