"""Measure how plainly docstrings are written, beside two libraries that are known for it.

    python tools/language.py [PACKAGE ...]

Prints for each package how many docstrings begin with What, Whether, Which, Where or Who, and how many relative words
(that, which, what, who) there are in the first paragraph of one. `--list` prints ours that begin so.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "recollect"
BESIDE = ("click", "pydantic")

_RIDDLE = re.compile(r"(What|Whether|Which|Where|Who)\b")
_RELATIVE = re.compile(r"\b(that|which|what|who)\b", re.IGNORECASE)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("packages", nargs="*", help="packages of ours, by default all together")
    arguments.add_argument("--list", action="store_true", help="print the docstrings that begin with one of the words")
    options = arguments.parse_args()
    ours = {name: SOURCE.joinpath(*name.split("/")) for name in options.packages} or {"recollect": SOURCE}
    if options.list:
        for path in ours.values():
            for file, line, text in docstrings(path):
                if _RIDDLE.match(text):
                    print(f"{file.relative_to(SOURCE)}:{line}: {text.partition(chr(10))[0]}")
        return
    print("| package | docstrings | begin with What, Whether, Which, Where, Who | relative words a docstring |")
    print("| --- | ---: | ---: | ---: |")
    for name, path in {**ours, **{name: _installed(name) for name in BESIDE}}.items():
        found = [text for _, _, text in docstrings(path)]
        riddles = sum(bool(_RIDDLE.match(text)) for text in found)
        relative = sum(len(_RELATIVE.findall(first_paragraph(text))) for text in found)
        print(f"| {name} | {len(found):,} | {riddles / len(found):.1%} | {relative / len(found):.2f} |")


def docstrings(folder: Path) -> Iterator[tuple[Path, int, str]]:
    """Yield each docstring below a folder with its file and line."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = ast.get_docstring(node) if isinstance(node, _DOCUMENTED) else None
            if text:
                yield path, getattr(node, "lineno", 1), text


def first_paragraph(text: str) -> str:
    return text.partition("\n\n")[0]


def _installed(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


if __name__ == "__main__":
    main()
