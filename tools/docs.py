"""Make what comes from code: docs/settings.md, docs/cli.md, the capture in README.md, and the JSON Schemas.

    python tools/docs.py [--check]

With --check nothing is written; exits with 1 when a page is not what it would be made to be.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from types import ModuleType

import click

from recollect.cli.main import cli
from recollect.config.settings_keys import KEYS, LOCAL, Key, as_text
from recollect.domain.categories import PROJECT
from recollect.files.memory.schemas import BASE, schema_file, schema_text

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CAPTURE = re.compile(r"(<!-- capture -->\n```console\n).*?(```\n<!-- /capture -->)", re.DOTALL)


def pages() -> dict[str, str]:
    """What each page must say, by its path below the repository."""
    return {
        "docs/settings.md": settings_page(),
        "docs/cli.md": cli_page(),
        "README.md": readme_page(),
        **{os.path.relpath(schema_file(category), TOP): schema_text(category) for category in (BASE, *PROJECT)},
    }


def stale(path: str, wanted: str) -> bool:
    """Whether a page on disk says something else; the day of its capture, scores and ids do not matter."""
    try:
        current = read(path)
    except FileNotFoundError:
        return True
    return _undated(current) != _undated(wanted)


def settings_page() -> str:
    used = [key for key in KEYS if key.used_by]
    kept = [key for key in KEYS if not key.used_by]
    return "\n".join(
        [
            "# Settings",
            "",
            "<!-- Made by `make docs` from src/recollect/config/settings_keys.py; do not edit. -->",
            "",
            "Every setting has a default; a project needs none of them. A value comes from the first of these sources:",
            "",
            "1. an environment variable: `RECOLLECT_` and the key in capitals, with `_` for each dot",
            "   (`RECOLLECT_MEMORY_INJECTION_LIMIT`, `RECOLLECT_TRIAGE_MAX_MESSAGES`);",
            "2. `.claude/iflow-dev.local.md`: any line `key: value` anywhere in the file, the first one of a",
            "   key, with all spaces taken out. Quotes around the value and a comment behind it (` # why`) are no",
            "   part of it;",
            "3. `.claude/memory/memory-config.json`: a dot in a key is a level of objects. Names that begin with a",
            "   mark, such as `$schema` or `_comment`, are notes;",
            "4. the default.",
            "",
            "`recollect config` shows each key, its value and its source. `recollect config set KEY VALUE` writes",
            "to the file that has the key already, or else to the one named below. It leaves the rest of the file as",
            "it is.",
            "",
            "A switch is on for `true`, `yes`, `on`, `y` and `1`, in any case, and off for every other value: an",
            "opt-out never fails for its spelling. Only `delete.archive_retired` needs a clear `false`, because",
            "memories are removed without it. Of the other keys, a value of the wrong type or out of range is",
            "ignored, and the next source decides. Values marked *clamped* are moved to the nearest bound instead.",
            "`recollect config` reports each value that could not be read, every command does so on standard error,",
            "and the next session's start does so once a day. For an unknown name the nearest known key is",
            "suggested. No setting can stop a hook.",
            "",
            "A worktree without files of its own uses those of the main checkout.",
            "",
            "A value *from the repository* is one in a file that git tracks, or in a folder that is not a git",
            "repository. Some keys act on the machine or the network, or cost money. For these it counts only if the",
            "column of that name allows it. Any other value counts if it is yours: from a file that git does not",
            "track, from an environment variable, or from `recollect config set KEY VALUE`, which is remembered for",
            "this project in the global store. Until then the next source decides, and `recollect config` says why.",
            "",
            "`RECOLLECT_HOME` is not a setting but a place: the folder of the global store, by default",
            "`~/.claude/iflow/memory`. A relative path is relative to the home folder. `RECOLLECT_EDITOR_URL`",
            "names the editor of [the pages](ui.md).",
            "",
            "`recollect init --settings` writes all of them with their defaults into `.claude/iflow-dev.local.md`, as",
            "comments.",
            "",
            "## In force",
            "",
            *_table(used),
            "",
            *_not_used(kept),
        ]
    )


def _not_used(keys: list[Key]) -> Iterator[str]:
    if keys:
        yield "## Known, checked, and not yet used by this version"
        yield ""
        yield "You can set them today; the features that obey them are on their way."
        yield ""
        yield from _table(keys)
        yield ""


def _table(keys: list[Key]) -> Iterator[str]:
    yield "| key | default | allowed | from the repository | file | meaning |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for key in keys:
        allowed = key.range + (" (clamped)" if key.clamped else "")
        file = "local" if key.file == LOCAL else "config"
        cells = (f"`{key.name}`", f"`{as_text(key.default)}`", allowed, key.harmless or "any", file, key.meaning)
        yield f"| {' | '.join(cells)} |"


def cli_page() -> str:
    lines = [
        "# The command line",
        "",
        "<!-- Made by `make docs` from the commands' own help; do not edit. -->",
        "",
        "Exit codes: 0 done (also when there was nothing to do), 1 failed, 2 wrong usage; only hooks, `inject` and",
        "`upsert` [differ](json.md#exit-codes). An error is one line on standard error that says what to do next, and",
        "with `--json` one object on standard output ([JSON](json.md)). Results go to standard output, warnings to",
        "standard error. Colours are used on a terminal only, and not when `NO_COLOR` is set.",
    ]
    for name, help_text in _helps(cli, "recollect"):
        lines += ["", f"## `{name}`", "", "```text", help_text.rstrip(), "```"]
    return "\n".join([*lines, ""])


def _helps(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[tuple[str, str]]:
    settings = command.context_settings
    context = click.Context(command, info_name=name.rpartition(" ")[2], parent=parent, **settings)
    context.terminal_width = 88
    yield name, context.get_help()
    if isinstance(command, click.Group):
        for sub_name in command.list_commands(context):
            sub = command.get_command(context, sub_name)
            assert sub is not None
            yield from _helps(sub, f"{name} {sub_name}", context)


def readme_page() -> str:
    demo = _load(os.path.join(TOP, "examples", "demo.py"))
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        environment = demo.prepare(folder)
        for scene in demo.README_SCENES:
            lines += [*demo.run(scene, folder, environment), ""]
    capture = "\n".join(lines)
    return CAPTURE.sub(lambda match: match[1] + capture.rstrip() + "\n" + match[2], read("README.md"))


def _load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["demo"] = module
    spec.loader.exec_module(module)
    return module


def _undated(text: str) -> str:
    text = re.sub(r'"id": "[0-9a-f]{16}"', "ID", text)  # made from the folder, which is another each time
    return re.sub(r"  0\.\d\d$", "  SCORE", re.sub(r"\b20\d\d-\d\d-\d\d\b", "DATE", text), flags=re.MULTILINE)


def read(path: str) -> str:
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def main() -> None:
    out_of_date = {path: text for path, text in pages().items() if stale(path, text)}
    for path, text in out_of_date.items():
        if "--check" in sys.argv[1:]:
            print(f"{path} is not current; run `make docs`")
            continue
        with open(os.path.join(TOP, path), "w", encoding="utf-8") as file:
            file.write(text)
        print(f"wrote {path}")
    sys.exit(1 if out_of_date and "--check" in sys.argv[1:] else 0)


if __name__ == "__main__":
    main()
