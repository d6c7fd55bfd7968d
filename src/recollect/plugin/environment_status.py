"""The status of a project while the packages are missing, from files alone."""

from __future__ import annotations

import os
import time
from collections import Counter

from recollect.config import locations, project
from recollect.config.settings import load_settings
from recollect.config.workspace import Workspace
from recollect.domain.stored import STATUSES
from recollect.domain.text import counted, one_line, visible
from recollect.errors import RecollectError
from recollect.files.bank.bank import read_bank
from recollect.files.memory.memories import scan
from recollect.plugin.environment_state import read_outcome


def bare_status(data: str, reason: str) -> str:
    """Return the lines of a status: what is missing, why, and what there is in this project.

    `reason` tells why the last build has failed; empty if it has not.
    """
    lines = [_installing(data, reason), ""]
    workspace = Workspace(project.find_root(os.getcwd()), locations.global_store(), load=load_settings)
    try:
        root = workspace.memory_root()
        lines.append(f"Memory root   {one_line(root.path)}")
        memories = Counter((memory.category, memory.status) for memory in scan(root, []))
        for category in root.folders:
            counts = [f"{memories[category, status]:,} {status}" for status in STATUSES if memories[category, status]]
            lines += [f"  {category}: {', '.join(counts)}"] if counts else []
    except RecollectError as error:
        lines.append(f"Memories      {one_line(str(error))}")
    own, shared = len(read_bank(workspace.bank, "local")[0]), len(read_bank(workspace.global_store, "global")[0])
    lines.append(
        f"Knowledge     {counted(own, 'entry', 'entries')} in the project's bank, {shared:,} in the global one"
    )
    return visible("\n".join([*lines, "", "/memory:status says more once the packages are there."]))


def _installing(data: str, reason: str) -> str:
    again = (
        f"Its packages could not be installed: {one_line(reason)}. It tries again in the background" if reason else ""
    )
    seconds = int(time.time() - read_outcome(data).began)
    since = f", since {counted(seconds, 'second', 'seconds')}" if not reason and 0 < seconds < 600 else ""
    doing = again or f"recollect is installing its packages in the background (about 60 MB, once{since})"
    return f"{doing}. Until then memories come with prompts, found by their words."
