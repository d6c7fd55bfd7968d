"""Judge from evidence if a lesson holds everywhere or only in its own project."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from urllib.parse import urlsplit

from recollect.promote.common_names import COMMON_FILES, COMMON_IDENTIFIERS, COMMON_NAMES, COMMON_TOOLS

UNIVERSAL = "universal"
PROJECT_SPECIFIC = "project-specific"

_SEVERAL = 3

_INTERNAL = ("internal", "local", "corp", "lan", "intranet", "private", "home")

_EVERY_MACHINE = ("host.docker.internal", "host.containers.internal", "gateway.docker.internal")

_URL = re.compile(r"https?://(?:\[[0-9A-Fa-f:.]+\])?[^\s<>\"'`)\]]*")
_TOKEN = re.compile(r"[\w.~@/+-]+")
_IDENTIFIER = re.compile(r"\b[A-Za-z_][A-Za-z0-9_]{3,}\b")
_SHAPED = re.compile(r"[a-z0-9]_[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z]_[A-Z0-9]|[A-Z][A-Z][a-z]")
_QUOTED_CLASS = re.compile(r"`([A-Z][a-z0-9]{3,})\b")
_SCRIPT = re.compile(r"[\w-]{2,}\.(?:py|sh|bash|zsh|rb|go|rs|java|kt|cpp|cs|php|swift|sql|tsx|jsx|ipynb)")
_HOST = re.compile(r"\b(?:[\w-]{1,63}\.){1,10}(?:internal|corp|lan|intranet)\b|\b\d{1,3}(?:\.\d{1,3}){3}(?=:\d)")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")


@dataclass(frozen=True)
class ProjectFacts:
    """Facts about a project: its names, its files, its repository, and its definitions among the wanted identifiers."""

    names: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    identifiers: frozenset[str] = frozenset()
    repository: str = ""

    @cached_property
    def paths(self) -> frozenset[str]:
        """Return the paths of files, and of folders with at least two parts, beginning at any folder.

        A file's name alone is among them unless several folders have such a file: each feature has its `plan.md`.
        """
        folders = set(_parents(self.files))
        within = {tail for path in (*self.files, *folders) for tail in _tails(path)}
        names = Counter(path.rpartition("/")[2] for path in self.files)
        telling = {name for name, count in names.items() if count < _SEVERAL}
        return frozenset(path for path in within if "/" in path) | telling


@dataclass(frozen=True)
class Verdict:
    universal: bool
    reason: str

    def __str__(self) -> str:
        return f"{'Universal' if self.universal else 'Project-specific'} because: {self.reason}"


def classify(text: str, facts: ProjectFacts, aside: str = "") -> Verdict:
    """Return a verdict: universal, unless the text names something of this project alone.

    `aside` says what the lesson has cost or brought here. Of it, only an address counts, because it must not travel.
    """
    evidence = _urls(f"{text}\n{aside}", facts) or _paths(text, facts)
    if evidence:
        return Verdict(False, evidence)
    for name in sorted(facts.names):
        if _mentions(name, text):
            return Verdict(False, f"it names {name}, this project")
    for identifier in identifiers_in(text):
        if identifier in facts.identifiers:
            return Verdict(False, f"it names {identifier}, which this project defines")
    return Verdict(True, "it names no file, identifier, service or name of this project")


def identifiers_in(text: str) -> list[str]:
    """Return the words of a text in the shape of code (snake_case, camelCase, `Class`), without common ones."""
    text = _URL.sub(" ", text)
    shaped = [word for word in _IDENTIFIER.findall(text) if _SHAPED.search(word)]
    dunder = ("__", "__")
    words = dict.fromkeys(shaped + _QUOTED_CLASS.findall(text))
    common = [w for w in words if w in COMMON_IDENTIFIERS or _is_tool(w) or (w[:2], w[-2:]) == dunder]
    return [w for w in words if w not in common]


def _is_tool(name: str) -> bool:
    return name.lower().replace("_", "").replace("-", "") in COMMON_TOOLS


def _urls(text: str, facts: ProjectFacts) -> str:
    for match in _URL.finditer(text):
        url = match.group().rstrip(".,;:")
        try:
            host = urlsplit(url).hostname or ""
        except ValueError:
            continue
        if _is_internal(host) or any(_mentions(name, host) for name in facts.names):
            return f"it names {url}, a service of this project"
        if facts.repository and re.search(re.escape(facts.repository) + r"(?![\w-])", url):
            return f"it names {url}, this project's repository"
    host = next(filter(_is_internal, _HOST.findall(text)), "")
    return f"it names {host}, a machine of this project" if host else ""


def _is_internal(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return "." in host and host.rpartition(".")[2] in _INTERNAL and host not in _EVERY_MACHINE
    return address.is_private and not (address.is_loopback or address.is_link_local or address.is_unspecified)


def _mentions(name: str, text: str) -> bool:
    words = [re.escape(word) for word in re.split(r"[-_. @/]+", name) if word]
    if not words or len(name) < 4 or name.lower() in COMMON_NAMES or _is_tool(name):
        return False
    return re.search(rf"(?i)(?<![A-Za-z0-9]){'[-_. /]?'.join(words)}(?![A-Za-z0-9])", text) is not None


def _paths(text: str, facts: ProjectFacts) -> str:
    for token in _TOKEN.findall(_URL.sub(" ", text)):
        path = token.rstrip(".-/").removeprefix("./")
        folder, _, file = path.rpartition("/")
        if not path or path[0] in "/~@" or ("/" not in folder and file.lower() in COMMON_FILES):
            continue
        if ("/" in path or "." in path) and path in facts.paths:
            return f"it names {path}, which is part of this project"
        is_script = _SCRIPT.fullmatch(path) and path.removesuffix(".py") not in sys.stdlib_module_names
        if (folder and "." not in folder and _EXTENSION.search(path)) or is_script:
            return f"it names the file {path}"
    return ""


def _parents(files: Iterable[str]) -> Iterable[str]:
    """Yield all folders with at least two parts."""
    for path in files:
        folder = path.rpartition("/")[0]
        while "/" in folder:
            yield folder
            folder = folder.rpartition("/")[0]


def _tails(path: str) -> Iterable[str]:
    """Yield the path, and its rest below each of its folders."""
    while path:
        yield path
        path = path.partition("/")[2]
