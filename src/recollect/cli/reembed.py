from __future__ import annotations

import sys

import click

from recollect.cli.failure import failure_document, print_failure
from recollect.cli.shared import is_terminal, json_option, print_json, warn, workspace_options
from recollect.config.workspace import Workspace
from recollect.domain.text import counted
from recollect.engine.embed import Embedded, embed_pending, forget_other_models, start_over
from recollect.engine.engine import Engine
from recollect.errors import EmbeddingError
from recollect.sync.sync import sync


@click.command("reembed")
@click.option("--all", "everything", is_flag=True, help="Make all vectors again, also those that are up to date.")
@click.option("--prune", is_flag=True, help="Drop the vectors of all models but the one that is set here.")
@workspace_options
@json_option
def command(everything: bool, prune: bool, workspace: Workspace, as_json: bool) -> None:
    """Make the vectors that are missing, for example after a change of provider or model.

    Vectors are kept for each model, so projects with different providers do not disturb each other. Those that no
    project has used for 90 days are dropped. May be interrupted at any time and goes on where it stopped; until it is
    done, entries without a vector are found by their words.
    """
    with Engine(workspace) as engine:
        warnings = sync(engine.store, workspace, engine.labels())
        reason = start_over(engine) if everything else ""
        done = Embedded(reason) if reason else _with_progress(engine)
        model = engine.model()
        dropped = forget_other_models(engine) if prune else []
        warnings += engine.store.findings
    warn(warnings)
    waiting = f"{counted(done.pending, 'entry', 'entries')} still without a vector: " if done.pending else ""
    error = EmbeddingError(f"{waiting}{done.reason or 'try again'}") if done.pending or done.reason else None
    if as_json:
        print_json(
            {
                "embedded": done.done,
                "pending_embedding": done.pending,
                "model": model.identity if model else "",
                "pruned": [each.identity for each in dropped],
                "reason": done.reason,
                "warnings": warnings,
                **(failure_document(error) if error else {}),
            }
        )
    else:
        given = f"{counted(done.done, 'entry was', 'entries were')} given a vector"
        click.echo(f"{given} by {model.identity}." if model else f"{given}.")
        for each in dropped:
            click.echo(f"Dropped {counted(each.vectors, 'vector', 'vectors')} by {each.identity}.")
    if error:
        sys.exit(print_failure(error, as_json=False))


def _with_progress(engine: Engine) -> Embedded:
    engine.model()
    pending = engine.store.coverage().pending
    if not is_terminal(sys.stderr) or not pending:
        return embed_pending(engine, most=-1)
    with click.progressbar(length=pending, label="Embedding", file=sys.stderr, show_pos=True) as bar:
        return embed_pending(engine, most=-1, progress=bar.update)
