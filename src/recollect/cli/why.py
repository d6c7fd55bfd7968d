from __future__ import annotations

from collections.abc import Iterator

import click

from recollect.cli.given import given_document, project_name, score_text
from recollect.cli.memory import name_argument
from recollect.cli.shared import fields_of, json_option, print_json, styled, untrusted, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.text import counted, cut, one_line
from recollect.engine.engine import Engine
from recollect.memories.marks import named_entry
from recollect.sessions.given import START, Account, GivenEntry, Receipt, ReceiptLine, account_of, kind_of, rows_of

_LAST = 5
_MOST_WORDS = 12
_WIDTH = 12
_LONGEST_QUERY = 100


@click.command("why")
@name_argument
@click.option("--all-projects", is_flag=True, help="How it was given in all projects, not only in this one.")
@workspace_options
@json_option
def command(name: str, all_projects: bool, workspace: Workspace, as_json: bool) -> None:
    """Show why and how often an entry was given here or in all projects, for which words, and the signs of its use.

    The signs are found in the transcripts of sessions: a file that it names was touched, its rare words were said, it
    was cited, or a person has contradicted it; and by get_memories or `recollect show` it was opened. Each has its
    session and the numbers of lines. Without a sign an entry may still have helped.

    NAME is its id, title, slug, CATEGORY/SLUG, path, or the beginning of an id or a slug, as `recollect list` shows
    them.
    """
    with Engine(workspace) as engine:
        entry, warnings = named_entry(engine, name)
        account = account_of(engine, entry, everywhere=all_projects)
    warn(warnings)
    if as_json:
        print_json(_document(account, warnings))
    else:
        click.echo("\n".join(_lines(account, all_projects)))


def _document(account: Account, warnings: list[str]) -> dict[str, object]:
    entry = account.entry
    return {
        **fields_of(entry, "id", "category", "status"),
        "title": redact(one_line(entry.name)),
        **{mark.kind: "everywhere" if not mark.project else "here" for mark in account.marks},
        **fields_of(account, "texts", "titles", "events", "words"),
        "used": {
            "turns": account.turns,
            "opened": account.used,
            "of": len(account.given),
            "openings": len(account.opened),
            "kinds": account.kinds,
        },
        "signs": [
            {**fields_of(sign, "kind", "at", "session", "turn"), "lines": _numbers(sign.place)}
            for sign in account.signs
        ],
        "factor": round(account.factor, 3),
        "at_rest": account.feedback.resting,
        "confidence": entry.confidence,
        "raised": [fields_of(each, "level", "at", "reason") for each in account.raised],
        "elsewhere": account.elsewhere,
        "given": [
            {
                **fields_of(receipt, "at", "event", "session", "project"),
                "query": redact(receipt.query),
                **given_document(GivenEntry(line, entry), receipt.event),
                "opened": account.was_opened(receipt),
            }
            for receipt, line in account.given
        ],
        "warnings": warnings,
    }


def _lines(account: Account, of_all: bool) -> Iterator[str]:
    entry, given = account.entry, account.given
    yield styled(redact(untrusted(entry.name)), "green")
    yield _field("id", entry.id)
    yield _field("category", entry.category)
    yield _field("state", _state(account))
    for raised in account.raised:
        yield _field("confidence", f"{raised.level} since {raised.at[:10]}: {redact(one_line(raised.reason))}")
    if account.elsewhere:
        yield _field(
            "elsewhere",
            f"given {counted(account.elsewhere, 'time', 'times')} in other projects; --all-projects shows them",
        )
    if not given:
        yield _field(
            "given", "never here, as far as is known; `recollect try PROMPT` shows what a prompt would be given"
        )
        return
    parts = [counted(account.texts, "time", "times") + " as text"] * bool(account.texts)
    parts += [counted(account.titles, "time", "times") + " by its title"] * bool(account.titles)
    sessions = {receipt.session for receipt, _ in given if receipt.session}
    yield _field("given", f"{', '.join(parts)}, in {counted(len(sessions), 'session', 'sessions')}")
    yield _field("", f"from {given[-1][0].at} to {given[0][0].at}")
    yield _field("at", ", ".join(f"{event} ({count})" for event, count in account.events.items()))
    words = [f"{redact(word)} ({count})" for word, count in list(account.words.items())[:_MOST_WORDS]]
    if words:
        yield _field("words", ", ".join(words))
    yield from _use(account)
    yield ""
    rows = rows_of(given, lambda each: kind_of(each[0]))[:_LAST]
    times = counted(len(given), "time", "times")
    told = f"The last {sum(map(len, rows)):,} of {times}" if len(given) > 1 else "The only time"
    in_a_row = ", starts in a row on one line" if any(len(row) > 1 for row in rows) else ""
    yield styled(f"{told} that it was given{in_a_row}", "cyan")
    for row in rows:
        yield f"  {_time(row, account, of_all)}"
        receipt, line = row[0]
        if len(row) > 1:
            continue
        if receipt.query:
            yield f"    words: {cut(redact(one_line(receipt.query)), _LONGEST_QUERY)}"
        score = score_text(GivenEntry(line, entry), receipt.event)
        if score:
            yield f"    {styled(score, 'bright_black')}"


def _time(row: list[tuple[Receipt, ReceiptLine]], account: Account, of_all: bool) -> str:
    """Return one line on a time that it was given, or on starts that follow on each other."""
    newest, oldest = row[0][0], row[-1][0]
    event = newest.event or START if len(row) == 1 else f"{len(row):,} starts since {oldest.at}"
    forms = dict.fromkeys(line.form for _, line in row)
    opened = ["opened"] * any(account.was_opened(receipt) for receipt, _ in row)
    names = dict.fromkeys(f"in {project_name(receipt.project)}" for receipt, _ in row if of_all)
    return f"{newest.at}  {', '.join([event, *names, *forms, *opened])}"


def _state(account: Account) -> str:
    marks = [f"{mark.kind} {'here' if mark.project else 'everywhere'} since {mark.at[:10]}" for mark in account.marks]
    resting = account.feedback.resting
    rest = [f"at rest since {resting[:10]}: `recollect unmute {account.entry.id}` gives it again"] if resting else []
    return ", ".join([account.entry.status, *marks, *rest])


def _use(account: Account) -> Iterator[str]:
    """Yield the fields about the use of an entry, with the places of its signs."""
    kinds = [f"{kind} ({count})" for kind, count in account.kinds.items()]
    sessions = {sign.session for sign in account.signs}
    told = f"in {counted(account.turns, 'turn', 'turns')} of {counted(len(sessions), 'session', 'sessions')}: "
    yield _field("used", told + ", ".join(kinds) if kinds else "no sign of it in any transcript")
    for sign in account.signs[-_LAST:]:
        lines = f", line{'s' * (',' in sign.place)} {sign.place} of its transcript" if sign.place else ""
        yield _field("", f"{sign.at[:10]}  {sign.kind}: session {one_line(sign.session)}{lines}")
    yield _field("rank", f"times {account.factor:.2f} by its use; 1 is neither good nor bad")


def _numbers(place: str) -> list[int]:
    return [int(number) for number in place.split(", ") if number.isdecimal()]


def _field(name: str, value: str) -> str:
    return f"  {styled(name.ljust(_WIDTH), 'cyan')}{value}"
