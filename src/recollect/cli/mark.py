"""The output of the commands that mute and pin."""

from __future__ import annotations

import click

from recollect.cli.shared import fields_of, print_json, warn
from recollect.domain.secrets.detect import redact
from recollect.domain.text import one_line
from recollect.memories.marks import Marked


def print_marked(done: Marked, as_json: bool, sentences: dict[str, str]) -> None:
    """Print the sentence for an outcome, with {title}, {id} and {where} filled in."""
    warn(done.warnings)
    title = redact(one_line(done.entry.name))
    if as_json:
        facts = {"outcome": done.outcome, "everywhere": done.everywhere}
        print_json({**fields_of(done.entry, "id", "category", "status"), "title": title, **facts})
        return
    where = "in every project" if done.everywhere else "in this project"
    click.echo(sentences[done.outcome].format(title=title, id=done.entry.id, where=where))
