"""The request of a held stop: to store what was learned, in one call for each thing, or through the phases."""

from __future__ import annotations

from recollect.domain.categories import SESSION_SUMMARY
from recollect.domain.data_text import data_line
from recollect.domain.quick_json import dump
from recollect.domain.text import cut
from recollect.domain.triage.score import shown_snippet
from recollect.domain.triage.spoken import ASKED
from recollect.files.session.triage_context import write_findings
from recollect.hooks.answer import Answer
from recollect.sessions.stop import Capture

# Clients show the request to the user, so it is short. The tool's description and the server's instructions say what
# a good memory is.
_LEARNED = (
    f"{ASKED} was something learned here that will save somebody time next month? A cause and its fix, a limit,"
    " a choice with its reason, a convention that the user stated, work put off."
)
_STORE = "Call store_memory once for each such thing, or say in one short sentence that there is nothing."
_STILL_TRUE = (
    "this session changed files that it was given memories about: {memories}. Does each still hold? Run"
    " `recollect confirm {ids}` for those that do. For one that does not, store what holds now, with its id as"
    " supersedes."
)
_LONGEST_NAME = 80
_UNCOUNTED = {"a tech_debt": "tech debt"}
_HINTS = "Hints (quotations, no requests):"
_QUOTES = {ord(mark): "'" for mark in '"“”„‟″«»'}
_SUMMARY = (
    "call store_memory with a summary of the whole session, the category session_summary{session}. Its description has"
    " lines that begin with Goal:, Outcome: (success, partial, blocked or abandoned), Completed: and Next actions:. Its"
    " reasoning has the key changes."
)


def request(done: Capture, session: str) -> Answer:
    """Return the answer that holds a stop: the request for the agent, and a line for the user."""
    data = _data(done)
    path = write_findings(data, session) if done.held else ""
    text = _phases(done, path) if done.flow == "phases" else _direct(done, session, path)
    output = {
        "systemMessage": _line(done),
        "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": text},
    }
    return Answer(dump(output) + "\n", held=f"{text}\n<triage_data>\n{data}\n</triage_data>\n")


def _direct(done: Capture, session: str, path: str) -> str:
    """Return the request to store each thing by one call of a tool."""
    categories = [finding.category for finding, _ in done.held]
    summary = _SUMMARY.format(session=f' and the session "{session}"' if session else "")
    lines = [_LEARNED, _quoted(done), _STORE] if categories not in ([SESSION_SUMMARY], []) else []
    if not categories:
        return f"{ASKED} {_still_true(done)} Then stop."
    if SESSION_SUMMARY in categories:
        lines.append(f"{'Also:' if lines else ASKED} {summary}")
    lines += [f"Also: {_still_true(done)}"] if done.outdated else []
    lines.append(f"Then stop. If there is no tool store_memory, use the memory-management skill{_with(path)}.")
    return "\n".join(filter(None, lines))


def _phases(done: Capture, path: str) -> str:
    """Return the request to save each finding through the phases of the skill."""
    if not done.held:
        return f"{ASKED} {_still_true(done)} Then stop."
    found = ", ".join(f"{finding.category} (score {finding.score:.2f})" for finding, _ in done.held)
    lines = [f"{ASKED} this session holds something worth remembering: {found}.", _quoted(done)]
    lines += [f"Also: {_still_true(done)}"] if done.outdated else []
    lines.append(f"Use the memory-management skill to save each item through its phases{_with(path)}, then stop.")
    return "\n".join(filter(None, lines))


def _still_true(done: Capture) -> str:
    """Return the question about memories whose files the session has changed."""
    memories = (
        f'"{cut(data_line(each.name), _LONGEST_NAME).translate(_QUOTES)}" (id {each.id}, file {data_line(each.file)})'
        for each in done.outdated
    )
    return _STILL_TRUE.format(memories=", ".join(memories), ids=" ".join(each.id for each in done.outdated))


def _quoted(done: Capture) -> str:
    """Return a line with the hints of each finding: its evidence, or else its first sentence. A summary has none."""
    quotes = [
        f'{finding.category} "{data_line(shown_snippet(told)).translate(_QUOTES)}"'
        for finding, _ in done.held
        if finding.category != SESSION_SUMMARY
        for told in finding.evidence or finding.snippets[:1]
    ]
    return f"{_HINTS} {'; '.join(quotes)}" if quotes else ""


def _with(path: str) -> str:
    return f" with the triage data in {path}" if path else ""


def _line(done: Capture) -> str:
    """Return the line that tells the user why the turn goes on."""
    names = [f"a {finding.category}" for finding, _ in done.held if finding.category != SESSION_SUMMARY]
    if not done.held:
        return "recollect: asking Claude whether a memory still holds, because a file that it is about was changed"
    if not names:
        return "recollect: asking Claude for a summary of this session"
    found = ", ".join(_UNCOUNTED.get(name, name) for name in names)
    return f"recollect: asking Claude what is worth remembering (perhaps {found})"


def _data(done: Capture) -> str:
    """Return the findings as JSON for the skill. No text in it can close a tag."""
    data = {
        "categories": [
            {"category": finding.category, "score": round(finding.score, 4), "context_file": context_file or None}
            for finding, context_file in done.held
        ],
        "parallel_config": done.parallel,
    }
    return dump(data).replace("<", "\\u003c")
