# hot
"""Triage a session's end: find memories in the transcript, then ask for them or stage them."""

from __future__ import annotations

import os
import time
from binascii import crc32

from recollect.config import locations
from recollect.domain.categories import PROJECT, RUNBOOK, SESSION_SUMMARY
from recollect.domain.triage.moment import (
    PLAIN_SCORE,
    category_of,
    is_moment,
    is_open,
    keep_plain,
    may_last,
    statements,
    unstored,
)
from recollect.domain.triage.plain import is_plain, is_request
from recollect.domain.triage.quoted import without_quotes
from recollect.domain.triage.score import Activity, Finding, Said, bounded, clean_snippet, find
from recollect.domain.triage.signs import has_finished, is_change, mended, overcome, says_farewell, says_thanks
from recollect.errors import LockTimeout, StorageError, WriteRefused
from recollect.files.session.record import add_given, read_record, set_triaged
from recollect.files.session.stop_flag import end_turn, lower_flag, raise_flag, read_flag, take_turn
from recollect.files.session.transcript import read_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.config.settings import Settings
    from recollect.config.workspace import Workspace
    from recollect.files.session.record import SessionRecord
    from recollect.files.session.transcript import Heard
    from recollect.sessions.outdated import Outdated

    # Takes sentences; returns a score for each, or none.
    Judge = Callable[[Sequence[str]], Sequence[float]]

_LONGEST_CONTEXT = 8_000

_PARALLEL = "triage.parallel."

# The score of a fault that was mended: the work shows it, whatever was said about it.
_MENDED_SCORE = 0.6
_MOST_FAULTS = 3
# So many tool uses with an end to the work are evidence by themselves.
_LONG_WORK = 90

# A threshold that switches a category off: scores reach it, and no other threshold could say so.
_NEVER = 1.0

# The key in a session's record: it was asked about memories whose files it has changed. Once is enough.
_ASKED_ABOUT_FILES = "files?"
# The most statements of the user that one request names.
_MOST_STATED = 3

# The number of prompts before a summary is due: the first time, and since the last time.
_PROMPTS_AT_FIRST = 2
_PROMPTS_AGAIN = 8


class Stop:
    """A stop as reported by the client.

    `continued` says whether a hook held the previous stop, or is None if the client does not tell. An agent that is
    not `free` cannot save memories now: it is planning, or it works for a program that waits for its answer.
    """

    def __init__(
        self, transcript: str, session: str, answer: str, continued: bool | None, *, free: bool = True
    ) -> None:
        self.transcript = transcript
        self.session = session if session.replace("-", "").replace("_", "").isalnum() else ""
        self.answer = answer
        self.continued = continued
        self.free = free


class Capture:
    """The result of a stop: the findings to save, how to save them, and warnings."""

    def __init__(self) -> None:
        self.outdated: Sequence[Outdated] = ()  # memories whose files the session has changed
        self.held: list[tuple[Finding, str]] = []  # with the path of the context file; empty if writing failed
        self.flow = ""
        self.parallel: dict[str, object] = {}
        self.warnings: list[str] = []


def capture(stop: Stop, workspace: Workspace, judge: Judge | None = None) -> Capture:
    """Triage the messages since the last stop, then hold the stop or stage the findings.

    If several hooks serve the same stop at once, only one does the work; the others let the stop pass. `judge`
    scores sentences by their meaning, or returns none if it cannot; a lasting one has a score of zero or more.
    """
    done = Capture()
    turn = _turn(stop)
    if turn is None:
        return done
    try:
        _capture(stop, workspace, judge, done)
    except (StorageError, LockTimeout) as error:
        done.warnings.append(str(error))
    finally:
        end_turn(turn)
    return done


def _turn(stop: Stop) -> int | None:
    try:
        return take_turn(checked_transcript(stop.transcript))
    except StorageError:
        return take_turn("")  # a refused path is not read, so there is nothing to lock


def _capture(stop: Stop, workspace: Workspace, judge: Judge | None, done: Capture) -> None:
    root, global_store = workspace.project_root, workspace.global_store
    record = read_record(global_store, stop.session)
    is_ours, is_fresh = read_flag(root, stop.session)
    passes = stop.continued or (is_ours and is_fresh)
    if passes and is_ours:
        lower_flag(root)
    if not passes:
        if record.held:  # the saving was interrupted; clear the mark, as the next hold may be another hook's
            set_triaged(global_store, stop.session, record.triaged, record.said)
        _triage(stop, workspace, record, judge, done)
    elif is_ours or record.held:
        from recollect.files.session.triage_context import sweep_contexts

        sweep_contexts(stop.session)
        most = workspace.settings.whole("triage.max_messages")
        heard = read_end(checked_transcript(stop.transcript), most, record.triaged)
        if stop.continued is not False or not any(each.role == "human" for each in heard.said):
            # The hold was ours and nobody has spoken since, so the messages are only the saving, nothing new.
            set_triaged(global_store, stop.session, heard.end, _mark(stop.answer))


def checked_transcript(path: str) -> str:
    """Return a transcript's path with links resolved, if it is in an allowed folder.

    Allowed are the home folder, Claude's configuration folder and temporary folders.

    Raises:
        StorageError: the path is outside of these folders.
    """
    home = locations.home()
    claude = os.environ.get("CLAUDE_CONFIG_DIR", "")
    tops = ("/tmp", os.environ.get("TMPDIR", ""), home, os.path.join(home, ".claude"), claude)  # noqa: S108
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):
        real = ""
    for top in map(os.path.realpath, filter(None, tops)):
        if top != os.sep and real.startswith(top + os.sep):
            return real
    raise StorageError(f"{path[:200]!r} is no transcript: it is neither in the home folder nor in a temporary one")


def _triage(stop: Stop, workspace: Workspace, record: SessionRecord, judge: Judge | None, done: Capture) -> None:
    settings = workspace.settings
    _log_problems(workspace)
    mode = settings.text("triage.mode") if settings.flag("triage.enabled") else "off"
    thresholds = {
        category: least
        for category in PROJECT
        if not settings.off_switch(category, auto=True)
        and (least := settings.real(f"triage.thresholds.{category}")) < _NEVER
    }
    if mode == "off" or not thresholds:
        return
    heard = read_end(checked_transcript(stop.transcript), settings.whole("triage.max_messages"), record.triaged)
    _put_right(heard, record, stop.answer)
    last = stop.answer or next((each.text for each in reversed(heard.said) if each.role == "assistant"), "")
    if heard.compacted and _has_summary(workspace, stop.session):
        heard.compacted = False  # the client's own summary was used
    if record.words:
        heard.said = [
            Said(each.role, without_quotes(each.text, record.words, reworded=each.role == "assistant"))
            for each in heard.said
        ]
    if not _summary_is_due(heard, record):
        thresholds.pop(SESSION_SUMMARY, None)
    findings = find(bounded(heard.said), _activity(heard), thresholds)
    if mode == "stage" or not stop.free:
        if _stage(stop, workspace, _lasting(_without_secrets(findings, heard, thresholds, done), judge)):
            set_triaged(workspace.global_store, stop.session, heard.end, _mark(last))
        return
    is_urgent = _add_evidence(stop, workspace, heard, findings, thresholds)
    if not _is_time(settings, heard, judge, findings, thresholds) and not is_urgent:
        findings = [finding for finding in findings if finding.category == SESSION_SUMMARY]
    is_due = bool(findings)
    findings = _without_secrets(findings, heard, thresholds, done)
    old: Sequence[Outdated] = _outdated(workspace, record, heard) if is_due or _is_settled(heard, last) else []
    if (findings or old) and _holds(stop, workspace, heard.end, last, done):
        keep_plain(findings)
        _ask(stop, workspace.settings, findings, done)
        if old:
            done.outdated = old
            add_given(workspace.global_store, stop.session, [_ASKED_ABOUT_FILES])


def _log_problems(workspace: Workspace) -> None:
    if not workspace.settings.problems:
        return
    from recollect.recall.deferred import DeferredWrites
    from recollect.sessions.attention import log_settings_problems

    log_settings_problems(workspace, DeferredWrites())


def _is_settled(heard: Heard, last: str) -> bool:
    """Return True if a piece of work is finished, and the answer asks the user nothing."""
    return has_finished(heard.steps) and not is_open(last)


def _outdated(workspace: Workspace, record: SessionRecord, heard: Heard) -> Sequence[Outdated]:
    """Return the memories that the session was given and whose files it has changed, unless it was asked before."""
    if not record.given or _ASKED_ABOUT_FILES in record.given or not any(map(is_change, heard.steps)):
        return []
    from recollect.sessions.outdated import outdated  # imported late: it opens the store, and most stops pass

    return outdated(workspace, record.given, heard.steps)


def _without_secrets(
    findings: list[Finding], heard: Heard, thresholds: dict[str, float], done: Capture
) -> list[Finding]:
    """Return the findings as they are in redacted messages, with the same evidence."""
    if not any(finding.snippets for finding in findings if finding.category != SESSION_SUMMARY):
        return findings
    if not _redact(heard, done):
        return findings
    again = {finding.category: finding for finding in find(bounded(heard.said), _activity(heard), thresholds)}
    for finding in findings:
        if finding.evidence:  # it is redacted already
            known = again.setdefault(finding.category, Finding(finding.category, finding.score, [], finding.evidence))
            known.evidence = finding.evidence
    return list(again.values())


def _add_evidence(
    stop: Stop, workspace: Workspace, heard: Heard, findings: list[Finding], thresholds: dict[str, float]
) -> bool:
    """Add a finding for what the work shows; return True if a fault was mended that another session has met."""
    if thresholds.get(RUNBOOK, 1.0) > PLAIN_SCORE:
        return False
    told, is_known = _mended(stop, workspace, heard)
    command = "" if told else overcome(heard.steps)
    if command:
        told = [f"{command} failed, and the work was finished after it"]
    elif not told and heard.tool_uses >= _LONG_WORK and has_finished(heard.steps):
        told = ["a long piece of work was finished"]
    if told:
        runbook = next((finding for finding in findings if finding.category == RUNBOOK), None)
        if runbook is None:
            runbook = Finding(RUNBOOK, max(thresholds[RUNBOOK], _MENDED_SCORE), [], told)
            findings.append(runbook)
        runbook.evidence = told
    return is_known


def _mended(stop: Stop, workspace: Workspace, heard: Heard) -> tuple[list[str], bool]:
    """Return what to tell of commands that failed and pass now, and True if one failed like that in another session."""
    faults = mended(heard.steps)
    if not faults:
        return [], False
    from recollect.files.session.faults import met_before

    marks = {fault.mark: fault.id for fault in faults if fault.mark}
    again = met_before(workspace.global_store, workspace.identity, stop.session, marks) if marks else set[str]()
    chosen = [fault for fault in faults if fault.mark in again] or faults[-1:]
    said = "failed as in an earlier session" if again else "failed"
    # The output is left out: it may hold secrets, or words of a cloned repository, and the agent has seen it.
    return [f"{fault.command} {said}, and passes now" for fault in chosen][:_MOST_FAULTS], bool(again)


def _is_time(
    settings: Settings, heard: Heard, judge: Judge | None, findings: list[Finding], thresholds: dict[str, float]
) -> bool:
    """Return True if this is the moment to ask by words and work, or else by a lasting statement, which is added."""
    news = unstored(heard.said, heard.steps)
    if is_moment(news, heard.tool_uses, thresholds, settings.whole("triage.after_prompts"), findings):
        return True
    return _add_stated(news, judge, findings, thresholds)


def _add_stated(
    news: Sequence[Said], judge: Judge | None, findings: list[Finding], thresholds: dict[str, float]
) -> bool:
    """Add the user's statements that will last, judged by their meaning; return True if there are any."""
    open_to = {name for name, least in thresholds.items() if name != SESSION_SUMMARY and least <= PLAIN_SCORE}
    stated = statements(news) if judge and open_to else {}
    if not judge or not stated:
        return False
    scores = zip(stated, judge(list(stated)), strict=False)
    lasting = [(text, category_of(text, open_to)) for text, score in scores if score >= 0.0]
    wanted = [(text, category) for text, category in lasting if category][-_MOST_STATED:]
    if not wanted:
        return False
    from recollect.domain.secrets.detect import redact

    for text, category in wanted:
        finding = next((finding for finding in findings if finding.category == category), None)
        if finding is None:
            finding = Finding(category, PLAIN_SCORE, [], [])
            findings.append(finding)
        message = redact(stated[text])
        finding.evidence.append(clean_snippet(text if message == stated[text] else message))
        finding.windows.append(f"human: {message}")
    return True


def _lasting(findings: Sequence[Finding], judge: Judge | None) -> list[Finding]:
    """Remove what a person should not have to review, and return the findings that have sentences left.

    Kept are plain statements, the user's without requests, and the agent's that the judge says will last.
    """
    judged = [finding for finding in findings if finding.category != SESSION_SUMMARY]
    texts = [text for finding in judged for text in finding.snippets if text not in finding.by_human and may_last(text)]
    scores = dict(zip(texts, judge(texts), strict=False)) if judge and texts else {}
    for finding in judged:
        finding.snippets = [
            text
            for text in finding.snippets
            if scores.get(text, -1.0) >= 0.0
            or is_plain(text, finding.category)
            or (text in finding.by_human and not is_request(text))
        ]
    return [finding for finding in findings if finding.snippets]


def _has_summary(workspace: Workspace, session: str) -> bool:
    """Return True if there is a file with the session's summary."""
    from recollect.domain.memory import session_slug

    try:
        root = workspace.memory_root()
    except WriteRefused:
        return False  # whoever writes there is told why
    folder = os.path.join(root.path, root.folders[SESSION_SUMMARY])
    return bool(session) and os.path.exists(os.path.join(folder, f"{session_slug(session)}.json"))


def _summary_is_due(heard: Heard, record: SessionRecord) -> bool:
    """Return True if there is something to tell since the last triage; never at the first turn of a session."""
    prompts = [each.text for each in heard.said if each.role == "human"]
    if not prompts or len(prompts) + bool(record.triaged) < _PROMPTS_AT_FIRST:
        return False
    if heard.compacted or says_farewell(prompts[-1]):
        return True
    enough = len(prompts) >= (_PROMPTS_AGAIN if record.triaged else _PROMPTS_AT_FIRST)
    return enough and (says_thanks(prompts[-1]) or has_finished(heard.steps))


def _put_right(heard: Heard, record: SessionRecord, answer: str) -> None:
    """Add the last answer, and remove the one added at the previous stop.

    Both are needed because the client writes the last answer to the transcript late.
    """
    said = heard.said
    if record.said and said and said[0].role == "assistant" and _mark(said[0].text) == record.said:
        said.pop(0)
        heard.exchanges -= 1
    if not answer.strip() or (not said and _mark(answer) == record.said):
        return
    if said and said[-1].role == "assistant" and " ".join(answer.split()) in " ".join(said[-1].text.split()):
        return
    said.append(Said("assistant", answer))
    heard.exchanges += 1


def _activity(heard: Heard) -> Activity:
    return Activity(heard.tool_uses, heard.distinct_tools, heard.exchanges)


def _mark(text: str) -> str:
    """Return a short checksum to recognise a text by; empty for an empty text."""
    data = " ".join(text.split()).encode("utf-8", "replace")
    return f"{len(data)}-{crc32(data):08x}" if data else ""


def _holds(stop: Stop, workspace: Workspace, end: int, last: str, done: Capture) -> bool:
    """Return True if the stop is held: its flag and its record could be written."""
    try:
        raise_flag(workspace.project_root, stop.session)
    except StorageError as error:
        # Without the flag, a client that does not report an earlier hold would be held endlessly.
        done.warnings.append(f"{error}; without that flag the stop was not held")
        return False
    try:
        set_triaged(workspace.global_store, stop.session, end, _mark(last), held=True)
    except StorageError as error:
        # Without the record, the same words would hold the stop at the end of each turn.
        done.warnings.append(f"{error}; without that record the stop was not held")
        lower_flag(workspace.project_root)
        return False
    return True


def _ask(stop: Stop, settings: Settings, findings: Sequence[Finding], done: Capture) -> None:
    from recollect.files.session.triage_context import sweep_contexts, write_context

    sweep_contexts()
    done.held = [(finding, write_context(finding, stop.session)) for finding in findings]
    done.flow = settings.text("triage.flow")
    done.parallel = {
        "enabled": settings.flag(f"{_PARALLEL}enabled"),
        "category_models": {name: settings.text(f"{_PARALLEL}category_models.{name}") for name in PROJECT},
        "verification_model": settings.text(f"{_PARALLEL}verification_model"),
        "default_model": settings.text(f"{_PARALLEL}default_model"),
    }


def _redact(heard: Heard, done: Capture) -> bool:
    """Redact secrets before any message is stored or repeated; return True if there were any.

    Whole messages are checked, because the omitted middle of a long one may show that the rest is a key.
    """
    from recollect.domain.secrets.detect import redact

    kept = len(bounded(heard.said))
    said = [Said(each.role, redact(each.text)) for each in heard.said[len(heard.said) - kept :]]
    count = sum(new.text is not old.text for new, old in zip(reversed(said), reversed(heard.said), strict=False))
    if count:
        heard.said = said
        done.warnings.append(f"secrets in {count} of {kept} messages were redacted")
    return count > 0


def _stage(stop: Stop, workspace: Workspace, findings: Sequence[Finding]) -> bool:
    """Stage the findings for review, without duplicates; return True if there are any."""
    if not findings:
        return False
    from recollect.domain.text import utc_text
    from recollect.files.journal.kinds import STAGED, Staged, new_id
    from recollect.files.journal.log import append_lines
    from recollect.files.journal.tail import awaiting

    journal, identity = workspace.journal, workspace.identity
    known = {_likeness(each.category, each.snippets, each.session) for each in awaiting(journal, identity)}
    now = utc_text(time.gmtime())
    chosen: list[Staged] = []
    for finding in findings:
        context = "\n---\n".join(finding.windows)
        if finding.category == SESSION_SUMMARY:
            context = f"Transcript: {stop.transcript}\n{context}"
        if _likeness(finding.category, finding.snippets, stop.session) in known:
            continue
        context = context[:_LONGEST_CONTEXT]
        score = round(finding.score, 4)
        chosen.append(Staged(new_id(), now, identity, stop.session, finding.category, score, finding.snippets, context))
    append_lines(journal, STAGED, chosen)
    return True


def _likeness(category: str, snippets: Sequence[str], session: str) -> tuple[str, ...]:
    """Return a key to deduplicate captures: the category with the snippets, or with the session for summaries."""
    return (category, session) if category == SESSION_SUMMARY else (category, *snippets)
