"""Find the names that a source file defines. Comments, texts and imports define nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

# Patterns are linear in the length of a file, because files are untrusted. A character's quote ends on its line.
_TRIPLE = r'"""[\s\S]*?(?:"""|\Z)|' + r"'''[\s\S]*?(?:'''|\Z)"
_DOUBLE = r'"(?:[^"\\\n]|\\[\s\S])*+"?'
_SINGLE = r"'(?:[^'\\\n]|\\[\s\S])*+'?"
_BACKTICK = r"`(?:[^`\\]|\\[\s\S])*+`?"
_HASH = r"(?:^|(?<=[\s;]))#[^\n]*"
_SLASHES = r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"
_DASHES = r"--[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"

_NAME = r"([^\W\d]\w*+)"
_GAP = r"[ \t]{1,50}"
_IN = r"^[ \t]*+"  # an indentation; a class of all white space would walk over empty lines again and again
_KIND = r"(?:class|struct|enum|union|interface|trait|type|module|mod|namespace|object|record|protocol|message|service)"
_FUNCTION = r"(?:def|defp|function\*?|func|fun|fn|sub)"
_MODIFIER = r"(?:export|default|declare|pub|pub\([a-z ]{1,40}\)|public|private|internal|final|readonly|lateinit)"


class _Language:
    """The shapes of a language: texts that define nothing, imports, and definitions."""

    def __init__(self, quiet: str, imports: str, *definitions: str, flags: int = 0) -> None:
        self.quiet = re.compile(quiet, re.MULTILINE)
        self.imports = re.compile(imports, re.MULTILINE)
        self.definitions = [re.compile(definition, re.MULTILINE | flags) for definition in definitions]


_KEYWORDS = (
    rf"\b{_KIND}{_GAP}(?:class{_GAP})?{_NAME}",
    rf"\b{_FUNCTION}{_GAP}(?:\([^()\n]{{0,200}}\)[ \t]*)?{_NAME}",
    rf"^(?:{_MODIFIER}{_GAP})*(?:const|let|var|val|static){_GAP}(?:mut{_GAP})?{_NAME}",
)
_METHOD = (
    rf"\b{_NAME}[ \t]{{0,9}}\([^(){{}};]{{0,300}}\)\s{{0,50}}"
    rf"(?::[^={{}};()\n]{{1,80}}|throws{_GAP}[\w., ]{{1,200}})?\{{"
)

_PYTHON = _Language(
    rf"{_TRIPLE}|{_DOUBLE}|{_SINGLE}|#[^\n]*",
    rf"{_IN}(?:from|import)\b[^\n]*",
    rf"{_IN}(?:async{_GAP})?(?:def|class|type){_GAP}{_NAME}",
    rf"^{_NAME}[ \t]{{0,50}}(?::[^=\n]{{1,80}})?=[^=]",
)
_SCRIPT = _Language(
    rf"{_SLASHES}|{_DOUBLE}|{_SINGLE}|{_BACKTICK}",
    rf"{_IN}(?:import|export){_GAP}[\w*$, \t]{{0,200}}\{{[^{{}}]*\}}\s{{0,50}}from|{_IN}import\b[^;\n]*",
    *_KEYWORDS,
    _METHOD,
)
_BRACES = _Language(
    rf"{_SLASHES}|{_DOUBLE}|{_SINGLE}",
    rf"{_IN}(?:import|using|package)\b[^;\n]*",
    *_KEYWORDS,
    _METHOD,
    rf"{_IN}(?:(?:public|private|protected|static|final|const|readonly){_GAP})+"
    rf"[\w<>\[\].,]{{1,80}}{_GAP}{_NAME}[ \t]*=[^=]",
)
_KEYWORDED = _Language(rf"{_SLASHES}|{_DOUBLE}|{_SINGLE}", rf"{_IN}(?:pub{_GAP})?(?:import|use)\b[^;\n]*", *_KEYWORDS)
_GO = _Language(
    rf"{_SLASHES}|{_DOUBLE}|{_BACKTICK}|'(?:[^'\\\n]|\\[^\n]){{1,10}}'",
    r"^import\b(?:[ \t]*\([^()]*\)|[^\n]*)",
    *_KEYWORDS,
)
_SHELL = _Language(
    rf"{_HASH}|{_DOUBLE}|'[^']*'?",
    rf"{_IN}(?:source|\.){_GAP}[^\n]*",
    rf"{_IN}(?:function{_GAP})?{_NAME}[ \t]{{0,50}}\(\)",
    rf"{_IN}function{_GAP}{_NAME}",
    rf"{_IN}(?:(?:export|readonly|declare|typeset){_GAP}(?:-\w+{_GAP})*)?{_NAME}=",
)
_SQL = _Language(
    rf"{_DASHES}|{_SINGLE}",
    r"(?!)",
    r"\bcreate\s{1,50}(?:or\s{1,50}replace\s{1,50})?"
    r"(?:(?:temp|temporary|unlogged|unique|materialized|virtual|recursive)\s{1,50})*"
    r"(?:table|view|function|procedure|index|trigger|type|schema|sequence|domain|role)\s{1,50}"
    r"(?:concurrently\s{1,50})?(?:if\s{1,50}not\s{1,50}exists\s{1,50})?"
    rf"(?:[\"`\[]?\w+[\"`\]]?\.)?[\"`\[]?{_NAME}",
    flags=re.IGNORECASE,
)
_OTHER = _Language(
    rf"{_HASH}|--[^\n]*|{_IN}[%;][^\n]*|{_DOUBLE}", rf"{_IN}(?:import|use|require|open)\b[^\n]*", *_KEYWORDS
)

_BY_ENDING = {
    **dict.fromkeys(".py".split(), _PYTHON),
    **dict.fromkeys(".js .jsx .mjs .cjs .ts .tsx .mts .vue .svelte".split(), _SCRIPT),
    **dict.fromkeys(".java .c .h .cc .cpp .hpp .cs .php .dart".split(), _BRACES),
    **dict.fromkeys(".rs .kt .kts .scala .swift .proto".split(), _KEYWORDED),
    ".go": _GO,
    **dict.fromkeys(".sh .bash .zsh".split(), _SHELL),
    ".sql": _SQL,
    **dict.fromkeys(".rb .lua .ex .exs .erl .hs .ml .clj .r .jl .graphql".split(), _OTHER),
}
_GO_MEMBER = re.compile(rf"^\t{_NAME}(?![\w.(:])")

# Copies of other people's code, and declarations of it.
_OF_OTHERS = frozenset({"node_modules", "vendor", "third_party", "site-packages", "venv", "dist", "typings"})
_DECLARATIONS = (".d.ts", ".min.js")


def is_source(path: str) -> bool:
    """Return True if a file may define names of the project that holds it."""
    lower = path.lower()
    if os.path.splitext(lower)[1] not in _BY_ENDING or lower.endswith(_DECLARATIONS):
        return False
    return _OF_OTHERS.isdisjoint(lower.split("/")[:-1])


def defined_names(path: str, text: str) -> set[str]:
    """Return the names that the text of a source file defines, by the rules of its language."""
    language = _BY_ENDING[os.path.splitext(path.lower())[1]]
    code = language.quiet.sub(_blank, text)
    code = language.imports.sub(_blank, code)
    names = {name for definition in language.definitions for name in definition.findall(code)}
    if language is _GO:
        names.update(_go_members(code))
    return names


def _go_members(code: str) -> Iterator[str]:
    """Yield the names in groups such as `const ( … )`. As gofmt writes them, a group ends at the margin."""
    is_group = False
    for line in code.split("\n"):
        if line[:1] in ("c", "v", "t", ")"):
            is_group = line.rstrip() in ("const (", "var (", "type (")
        elif is_group and (member := _GO_MEMBER.match(line)):
            yield member[1]


def _blank(match: re.Match[str]) -> str:
    """Return what is left of a text that defines nothing: its lines, because some definitions begin a line."""
    return " " + "\n" * match.group().count("\n")
