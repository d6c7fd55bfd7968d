from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from recollect.cli.shared import (
    is_terminal,
    json_option,
    pressed,
    print_json,
    screen_width,
    styled,
    untrusted,
    warn,
    workspace_options,
)
from recollect.config.workspace import Workspace
from recollect.domain.secrets.detect import redact
from recollect.domain.stored import KEEP_BOTH, MERGED, SUPERSEDES, StoredEntry
from recollect.domain.text import counted, cut, one_line
from recollect.domain.word_diff import ADDED, REMOVED, SAME, word_diff
from recollect.engine.engine import Engine
from recollect.errors import RecollectError
from recollect.learn.duplicates import Duplicates, Pair, find_duplicates, undo_merge
from recollect.learn.relate import Related, relate

_LONGEST_TITLE = 70
_LONGEST_TEXT = 600
_KEYS = "m merge, s supersede, k keep both, n next, q quit: "
_MERGE, _SUPERSEDE, _KEEP, _NEXT, _QUIT = "msknq"
_DONE = {
    MERGED: "Merged: {kept} stays, with the counts and triggers of both. `recollect dedupe --undo {gone}` undoes it.",
    SUPERSEDES: "Superseded: {kept} takes its place. `recollect restore {gone}` undoes it.",
    KEEP_BOTH: "Both are kept: {kept} and {gone}. Nobody asks about the two again.",
}


@click.command("dedupe")
@click.option("--merge", "merged", nargs=2, metavar="A B", help="Merge B into A: A stays.")
@click.option("--supersede", "superseded", nargs=2, metavar="NEW OLD", help="OLD no longer holds because of NEW.")
@click.option("--keep-both", "kept", nargs=2, metavar="A B", help="Both hold; nobody asks about the two again.")
@click.option("--undo", metavar="NAME", help="Bring back an entry that was merged into another one.")
@click.option("--dry-run", is_flag=True, help="Merge nothing; only list what would be merged, and the likely pairs.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="At most N pairs.")
@json_option
@workspace_options
def command(
    merged: tuple[str, str] | None,
    superseded: tuple[str, str] | None,
    kept: tuple[str, str] | None,
    undo: str | None,
    dry_run: bool,
    limit: int,
    as_json: bool,
    workspace: Workspace,
) -> None:
    """Find memories and lessons that say the same.

    What is the same but for punctuation, formatting, a capital and the article is merged, and can be undone. Everything
    else is only proposed: on a terminal each pair is shown with what differs, and a key settles it. Elsewhere the pairs
    are listed, to be settled one by one with --merge, --supersede and --keep-both.
    """
    asked = ((MERGED, merged), (SUPERSEDES, superseded), (KEEP_BOTH, kept))
    said = [(relation, pair) for relation, pair in asked if pair]
    if len(said) + bool(undo) > 1 or ((said or undo) and dry_run):
        raise click.UsageError("give one of --merge, --supersede, --keep-both and --undo, or --dry-run")
    with Engine(workspace) as engine:
        if undo:
            _undo(engine, undo, as_json)
            return
        if said:
            [(relation, (one, other))] = said
            _print_settled(relate(engine, one, relation, other), as_json)
            return
        found = find_duplicates(engine, dry_run=dry_run, most=limit)
        warn([*found.warnings, *found.failed])
        if as_json:
            print_json(_document(found, dry_run))
        else:
            _print_merged(found, dry_run)
            if found.pairs and is_terminal(sys.stdin) and is_terminal(sys.stdout) and not dry_run:
                _by_keys(engine, found.pairs)
            else:
                _print_pairs(found.pairs)
    sys.exit(int(bool(found.failed)))


def _print_settled(done: Related, as_json: bool) -> None:
    warn(dict.fromkeys(done.warnings))
    if as_json:
        restore = done.gone.restore if done.gone else ""
        ends = {"kept": _named(done.kept.entry), "other": _named(done.other.entry)}
        print_json({"outcome": done.relation, **ends, "restore": restore})
        return
    click.echo(_DONE[done.relation].format(kept=done.kept.entry.id, gone=done.other.entry.id))


def _undo(engine: Engine, name: str, as_json: bool) -> None:
    done = undo_merge(engine, name)
    warn(dict.fromkeys(done.warnings))
    if as_json:
        print_json({"outcome": done.outcome, "entry": _named(done.entry)})
    else:
        click.echo(f"Restored: {_title(done.entry)}. Both are kept from now on.")


def _named(entry: StoredEntry) -> dict[str, str]:
    return {"id": entry.id, "category": entry.category, "title": redact(one_line(entry.name))}


def _document(found: Duplicates, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "merged": [{"kept": _named(kept), "gone": _named(gone)} for kept, gone in found.merged],
        "pairs": [
            {
                "likeness": round(pair.likeness, 3),
                "one": {**_named(pair.one), "text": pair.one.description, "created_at": pair.one.created_at},
                "other": {**_named(pair.other), "text": pair.other.description, "created_at": pair.other.created_at},
                "diff": [{"op": op, "text": text} for op, text in _difference(pair)],
            }
            for pair in found.pairs
        ],
        "failed": found.failed,
        "warnings": found.warnings,
    }


def _print_merged(found: Duplicates, dry_run: bool) -> None:
    for kept, gone in found.merged:
        said = "Would be merged" if dry_run else "Merged"
        click.echo(f"{styled(said, 'green')}: {gone.id} into {kept.id} {_title(kept)}")
    if found.merged and not dry_run:
        click.echo("`recollect dedupe --undo ID` brings one back.\n")


def _print_pairs(pairs: Sequence[Pair]) -> None:
    if not pairs:
        click.echo("No pair of entries looks like the same thing told twice.")
        return
    for number, pair in enumerate(pairs, 1):
        click.echo("\n".join(_lines(pair, number, len(pairs))) + "\n")
    click.echo("Settle each with `recollect dedupe --merge A B` (A stays), `--supersede NEW OLD` or `--keep-both A B`.")


def _lines(pair: Pair, number: int, count: int) -> Iterator[str]:
    """Yield a pair: both names and texts, and the words that differ, no wider than the screen."""
    yield f"{styled(f'{number} of {count}', 'cyan')}  {round(100 * pair.likeness)} percent alike"
    for place, entry in enumerate((pair.one, pair.other), 1):
        yield cut(f"{place}. {entry.id}  {entry.category}  {entry.created_at[:10]}  {_title(entry)}", screen_width())
    yield from _wrapped(_difference(pair))


def _title(entry: StoredEntry) -> str:
    return cut(redact(untrusted(entry.name)), _LONGEST_TITLE)


def _difference(pair: Pair) -> list[tuple[str, str]]:
    """Return the words of both texts in order: those of both, those of the first and those of the second alone."""
    one, other = (cut(redact(untrusted(each.description)), _LONGEST_TEXT) for each in (pair.one, pair.other))
    return word_diff(one, other)


def _wrapped(parts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a difference as lines: words of the first text in [-brackets-], words of the second in {+braces+}."""
    marks = {SAME: ("", "", ""), REMOVED: ("[-", "-]", "red"), ADDED: ("{+", "+}", "green")}
    words: list[tuple[str, str]] = []
    for op, text in parts:
        before, after, colour = marks[op]
        words += [(word, colour) for word in f"{before}{text}{after}".split()]
    line, length = "  ", 2
    for word, colour in words:
        if length + len(word) + 1 > screen_width() and length > 2:
            yield line.rstrip()
            line, length = "  ", 2
        line += (styled(word, colour) if colour else word) + " "
        length += len(word) + 1
    if line.strip():
        yield line.rstrip()


def _by_keys(engine: Engine, pairs: Sequence[Pair]) -> None:
    """Show pairs one by one, and do with each what a key says."""
    settled = 0
    gone: set[str] = set()
    for number, pair in enumerate(pairs, 1):
        if {pair.one.id, pair.other.id} & gone:
            continue  # an earlier key has retired one of them
        click.echo("\n".join(_lines(pair, number, len(pairs))))
        key, done = _settled(engine, pair)
        if key == _QUIT:
            break
        settled += key != _NEXT
        gone |= {done.other.entry.id} if done and done.gone else set()
        click.echo()
    click.echo(
        f"{counted(settled, 'pair', 'pairs')} settled; {counted(len(pairs) - settled, 'pair is', 'pairs are')} left."
    )


def _settled(engine: Engine, pair: Pair) -> tuple[str, Related | None]:
    """Ask for keys until one settles a pair or leaves it. The newer entry supersedes, the first takes in the second."""
    while True:
        key = pressed(_KEYS, "msknq")
        if key in (_NEXT, _QUIT):
            return key, None
        relation = {_MERGE: MERGED, _SUPERSEDE: SUPERSEDES, _KEEP: KEEP_BOTH}[key]
        ends = (pair.other.id, pair.one.id) if key == _SUPERSEDE else (pair.one.id, pair.other.id)
        try:
            done = relate(engine, ends[0], relation, ends[1])
        except RecollectError as error:
            click.echo(untrusted(redact(str(error))), err=True)
            continue
        _print_settled(done, as_json=False)
        return key, done
