# hot
"""The record of the latest injection, kept for later inspection."""

from __future__ import annotations

import os
import time

from recollect.domain.text import json_string, utc_text
from recollect.files.textfile import write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.entry import Entry

NAME = ".last-injection.json"


def write_last_injection(directory: str, project: str, entries: Sequence[Entry]) -> None:
    """Replace the record of the latest injection. Entries with a credential were withheld before.

    Raises:
        StorageError: the record cannot be written.
    """

    local = sum(entry.origin == "local" for entry in entries)
    names = ",\n".join("    " + json_string(entry.title) for entry in entries)
    record = (
        "{\n"
        f'  "timestamp": "{utc_text(time.gmtime())}",\n'
        f'  "project": {json_string(project)},\n'
        f'  "entries_injected": {len(entries)},\n'
        f'  "sources": {{"local": {local}, "global": {len(entries) - local}}},\n'
        f'  "entry_names": [\n{names}\n  ]\n'
        "}\n"
    )
    write_text(os.path.join(directory, NAME), record, durable=False, private=True)
