from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any

import click

from recollect.cli.editor import Draft, asks_again, find_editor, run_editor
from recollect.cli.failure import Misread
from recollect.cli.shared import is_terminal, json_option, pressed, print_json, styled, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.categories import CATEGORIES
from recollect.domain.category_names import category_named, near_category
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import ACTIVE, KEEP_BOTH, SUPERSEDES, UPDATES
from recollect.domain.text import cut, one_line, visible
from recollect.engine.engine import Engine
from recollect.engine.without_store import engine_without_store
from recollect.errors import InvalidEntry, RecollectError, StoreError
from recollect.learn.by_hand import Note, add, note_form, read_note_form
from recollect.learn.project_memory import UPDATED, Memorized
from recollect.learn.relate import Related, relate
from recollect.learn.remember import JOURNALLED, REINFORCED, STORED
from recollect.share.notice import commit_notice

_MAX_BYTES = 64 * 1024
_LONGEST_TITLE = 80
_LONGEST_SHOWN = 40
_INSTEAD = "give a TEXT, or - for standard input"
# The fields of an entry, and what a person types for them.
_OPTIONS = {
    "name": "--title",
    "description": "TEXT",
    "reasoning": "--why",
    "references": "--file",
    "triggers": "--when",
    "tags": "--tag",
    "category": "CATEGORY",
}
_KEYS = "s supersedes it, u updates it, k keep both, n next, q quit: "
_WAYS = {"s": SUPERSEDES, "u": UPDATES, "k": KEEP_BOTH}
_QUIT = "q"
_DONE = {
    STORED: "Stored",
    REINFORCED: "Known already, and counted once more",
    UPDATED: "Updated",
    JOURNALLED: "Kept in the journal; the store follows later",
}


@click.command("add")
@click.argument("words", nargs=-1, metavar="[CATEGORY] [TEXT]")
@click.option("--title", default="", metavar="TEXT", help="Its title.  [default: the first sentence of the text]")
@click.option("--why", default="", metavar="TEXT", help="Why it holds, or how it was learned.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A word to find it by. Can be given several times.")
@click.option(
    "--when", multiple=True, metavar="PHRASE", help="A trigger: when it will matter, in other words. Repeatable."
)
@click.option(
    "--file", "files", multiple=True, metavar="PATH", help="A file that it is about. Can be given several times."
)
@click.option(
    "--from",
    "given",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Edit this text, as an editor form that failed has left it.",
)
@click.option("--supersedes", metavar="NAME", default="", help="An entry that no longer holds because of this one.")
@click.option("--updates", metavar="NAME", default="", help="An entry about the same thing, which this one tells anew.")
@click.option("--keep-both", metavar="NAME", default="", help="A similar entry that holds as well.")
@json_option
@workspace_options
def command(
    words: tuple[str, ...],
    title: str,
    why: str,
    tags: tuple[str, ...],
    when: tuple[str, ...],
    files: tuple[str, ...],
    given: str | None,
    supersedes: str,
    updates: str,
    keep_both: str,
    as_json: bool,
    workspace: Workspace,
) -> None:
    """Keep one thing that is worth knowing later: a memory of this project, or a lesson for every project.

    TEXT is a sentence or two, in quotes; - reads it from standard input. CATEGORY is one of the nine categories, and
    guessed from the text if it is not given. Without a TEXT, your editor opens with a form. The same text again counts
    as one more observation. If something like it is there, a terminal asks whether the new one supersedes or updates
    that, or whether both hold; elsewhere say so with an option, or later with `recollect dedupe`.
    """
    said = [(SUPERSEDES, supersedes), (UPDATES, updates), (KEEP_BOTH, keep_both)]
    said = [(relation, name) for relation, name in said if name]
    if len(said) > 1:
        raise click.UsageError("give one of --supersedes, --updates and --keep-both")
    category, text = _parted(words)
    about = [_file(path, workspace) for path in files]
    note = Note(text, category, title, why, tags=[*tags], when=[*when], files=about)
    if given or not text:
        done = add_in_editor(workspace, note, given)
        if done is None:
            print_json({"outcome": "empty"}) if as_json else click.echo("Nothing was kept: the text is empty.")
            return
    else:
        done = add_note(workspace, note, called=_OPTIONS)
    added = done[0]
    for relation, name in said:
        with Engine(workspace) as engine:
            settled = relate(engine, added.id, relation, name)
        added.similar = [each for each in added.similar if each.id != settled.other.entry.id]
        added.similar = [each for each in added.similar if each.id != settled.kept.entry.id]
        added.warnings += [*settled.warnings, _told(settled)]
    print_added(*done, as_json=as_json)
    if added.path and not as_json and (notice := commit_notice(workspace)):
        click.echo(notice)
    if added.similar and not as_json and is_terminal(sys.stdin) and is_terminal(sys.stdout):
        _ask(workspace, added)


def _told(done: Related) -> str:
    """Return a sentence about a relation that was settled."""
    kept, other = done.kept.entry.id, done.other.entry.id
    if done.relation == KEEP_BOTH:
        return f"{kept} and {other} are both kept"
    back = f"; `{done.gone.restore}` brings it back" if done.gone else ""
    return f"{kept} stays and {other} is retired{back}"


def _ask(workspace: Workspace, added: Memorized) -> None:
    """Ask what the added entry is to each similar one, and settle it."""
    for each in added.similar:
        click.echo(
            f"\n{each.id}  {each.category}  {cut(redact(one_line(each.name)), _LONGEST_TITLE)}\n  {redact(each.text)}"
        )
        key = pressed(_KEYS, "suknq")
        if key == _QUIT:
            return
        if key in _WAYS:
            try:
                with Engine(workspace) as engine:
                    done = relate(engine, added.id, _WAYS[key], each.id)
            except RecollectError as error:
                click.echo(visible(redact(str(error))), err=True)
                continue
            warn(done.warnings)
            click.echo(f"{_told(done)}.")
            if done.kept.entry.id != added.id and done.gone:
                return  # the added one was taken in


def _parted(words: tuple[str, ...]) -> tuple[str, str]:
    """Return the category and the text in the arguments of the command, each perhaps empty."""
    category, text = _category(words[0]) if words else "", ""
    if len(words) > 2 or (len(words) == 2 and not category):
        raise _misread(words, category)
    if len(words) == 2:
        text = words[1]
    elif words:
        text = "" if category else words[0]
    if text == "-":
        text = _standard_input()
    elif (len(words) == 2 or (words and not category)) and not text.strip():
        raise click.UsageError("the text is empty; write a sentence, or leave it out to open your editor")
    return category, text


def _file(path: str, workspace: Workspace) -> str:
    """Return the path of a file from the project's root; it is given from the current folder or from the root."""
    if "://" in path:
        return path
    root = os.path.realpath(workspace.project_root)
    for place in (os.path.abspath(path), os.path.join(root, path)):
        real = os.path.realpath(place)
        if os.path.exists(real) and os.path.commonpath([real, root]) == root:
            return os.path.relpath(real, root)
    raise click.UsageError(f"--file: there is no {path!r} in this project")


def _misread(words: tuple[str, ...], category: str) -> click.UsageError:
    """Return an error of two short lines: what is wrong with the words, and what to type instead."""
    first = cut(one_line(words[0]), _LONGEST_SHOWN)
    near = near_category(first)
    meant = f"; did you mean {near}?" if near else ""
    wrong = "the text is more than one argument" if category else f"{first!r} is no category{meant}"
    text = shlex.quote(cut(one_line(" ".join(words[1:] if category else words)), _LONGEST_SHOWN))
    return Misread(
        f"{wrong}\nA text of several words needs quotes: recollect add {f'{category} ' if category else ''}{text}"
    )


def _category(word: str) -> str:
    try:
        return category_named(word)
    except InvalidEntry:
        return ""


def _standard_input() -> str:
    data = sys.stdin.buffer.read(_MAX_BYTES + 1) if sys.stdin else b""
    try:
        text = data.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise click.UsageError("standard input is not UTF-8; convert it, for example with iconv") from error
    if not text:
        raise click.UsageError("standard input is empty; it must hold the text")
    return text


def add_note(
    workspace: Workspace, note: Note, *, supersedes: str = "", called: Mapping[str, str] | None = None
) -> tuple[Memorized, bool]:
    """Keep a note; without a usable store, in its file alone. Its fields are `called` so in messages."""
    try:
        engine = Engine(workspace)
    except StoreError as error:
        engine = engine_without_store(workspace, error)
    with engine:
        return add(engine, note, supersedes=supersedes, called=called)


def add_in_editor(
    workspace: Workspace, note: Note, given: str | None = None, *, about: str = "", instead: str = _INSTEAD
) -> tuple[Memorized, bool] | None:
    """Let the user edit a note, and keep it; return None if its text is empty. Texts `about` it are shown with it.

    Without an editor, the user is told what to do `instead`.
    """
    editor = find_editor(instead)
    draft = Draft("note", note_form(note, about), given)
    while True:
        try:
            run_editor(editor, draft.path)
            written = read_note_form(draft.text())
            done = add_note(workspace, written) if written.text else None
        except RecollectError as error:
            if asks_again(error):
                continue
            path = draft.keep()
            if not path:
                raise
            on = f"recollect add --from {shlex.quote(path)}"
            raise RecollectError(
                f"{error}\nNothing was kept. Your text is in {path}; `{on}` goes on with it."
            ) from error
        draft.remove()
        return done


def print_added(done: Memorized, guessed: bool, *, as_json: bool) -> None:
    """Print the result of adding a note."""
    warn(done.warnings)
    if as_json:
        print_json(added_document(done, guessed))
        return
    title, name = redact(one_line(done.name)), done.id
    click.echo(f"{_DONE[done.outcome]}: {styled(title, 'green')} ({done.category}, id {done.id})")
    if done.path:
        click.echo(f"It is in {done.path}.")
    if done.changed:
        click.echo(f"Changed: {one_line(', '.join(done.changed))}.")
    if guessed:
        others = ", ".join(each for each in CATEGORIES if each != done.category)
        click.echo(
            f"The category {done.category} is a guess. To change it, `recollect retire {name}`, and add the text again"
            f" with its category first: `recollect add CATEGORY TEXT`, with one of {others}."
        )
    if done.similar:
        click.echo("Similar entries; `recollect dedupe` merges them, replaces one by the other, or keeps both:")
        for each in done.similar:
            click.echo(f"  {each.id}  {each.category}  {cut(redact(one_line(each.name)), _LONGEST_TITLE)}")


def added_document(done: Memorized, guessed: bool) -> dict[str, Any]:
    """Return the result of adding a note for JSON."""
    return {
        "id": done.id,
        "title": redact(one_line(done.name)),
        "category": done.category,
        "status": ACTIVE,
        "path": done.path,
        "outcome": done.outcome,
        "guessed": guessed,
        "changed": done.changed,
        "similar": [
            {"id": each.id, "title": redact(one_line(each.name)), "category": each.category, "path": each.path}
            for each in done.similar
        ],
        "warnings": done.warnings,
    }
