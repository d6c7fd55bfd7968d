"""Check this machine's Python, packages, store driver, settings and keyword providers."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator

from recollect.doctor.case import ERROR, OK, WARNING, Case, Finding
from recollect.domain.text import cut, one_line
from recollect.extras import AGAIN, way_to_add
from recollect.plugin import environment
from recollect.plugin.environment_state import site_packages
from recollect.store.open import DRIVER, describe_driver

SHOWN = ("click", "jinja2", "mcp", "numpy", "onnxruntime", "pydantic", "starlette", "tokenizers")
_TIMEOUT = 25.0
_MAX_CHARS = 300

# Run in another process, because a package built for another machine may crash the interpreter.
_IMPORT = """
import json, os, sys
sys.path[:] = json.loads(sys.argv[1])
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
for name in sys.argv[2:]:
    print(json.dumps(["begin", name]), flush=True)
    try:
        __import__(name)
    except BaseException as error:
        print(json.dumps(["failed", name, f"{type(error).__name__}: {error}"]), flush=True)
"""

# The features lost without a package.
_FOR = {
    "jinja2": "`recollect ui`",
    "mcp": "the MCP server",
    "numpy": "finding by meaning",
    "onnxruntime": "finding by meaning",
    "pydantic": "writing and checking memory files",
    "starlette": "`recollect ui`",
    "tokenizers": "finding by meaning",
}


def python(_case: Case) -> Iterator[Finding]:
    name = platform.python_implementation()
    yield Finding(OK, "Python", f"{name} {platform.python_version()}, {sys.executable or 'of an unknown path'}")


def packages(case: Case) -> Iterator[Finding]:
    """Check that the packages can be imported and have the required versions."""
    from importlib.metadata import PackageNotFoundError, version

    versions: dict[str, str] = {}
    for name in SHOWN:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    failures = _failures(case.patience(_TIMEOUT))
    shown = ", ".join(f"{name} {versions.get(name, '(no version)')}" for name in SHOWN if name not in failures)
    if shown:
        yield Finding(OK, "Packages", shown)
    for name, reason in failures.items():
        lost = _FOR.get(name, "most commands")
        yield Finding(ERROR, "Packages", f"{name} cannot be imported, so without {lost}: {reason}", _install(case))
    old = [line for line in environment.unmet(environment.requirements_file()) if _is_outdated(line, versions)]
    if old:
        yield Finding(WARNING, "Packages", f"other versions are needed: {', '.join(old)}", _install(case))


def _is_outdated(line: str, versions: dict[str, str]) -> bool:
    """Return True if a requirement is unmet because of its version.

    Some systems merely keep their packages elsewhere, so the package must be in our site-packages folder.
    """
    name = environment.name_of(line)
    folder = os.path.join(site_packages(), f"{name}-{versions.get(name, '')}.dist-info")
    return name in versions and os.path.isdir(folder)


def _failures(limit: float) -> dict[str, str]:
    """Return the packages with failing imports, and the reasons."""
    called = [sys.executable, "-I", "-S", "-c", _IMPORT, json.dumps(sys.path), *SHOWN]
    try:
        done = subprocess.run(
            called,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"one of the packages": f"importing them did not end within {limit:.0f} seconds"}
    failures: dict[str, str] = {}
    last = ""
    for line in done.stdout.splitlines():
        what, last, *reason = json.loads(line)
        if what == "failed":
            failures[last] = cut(one_line(reason[0]), _MAX_CHARS)
    if done.returncode:
        failures[last or "Python"] = f"the process that tried ended with code {done.returncode}"
    return failures


def _install(case: Case) -> str:
    if case.environ.get("CLAUDE_PLUGIN_DATA"):
        return "any other command of the plugin installs them, /memory:status for example"
    return AGAIN


def driver(_case: Case) -> Iterator[Finding]:
    """Check that the store's driver is available and has full-text search."""
    told, fix = describe_driver()
    yield Finding(ERROR if fix else OK, DRIVER, one_line(told), fix)


def settings(case: Case) -> Iterator[Finding]:
    """Check the settings for problems, and list the main features switched off."""
    from recollect.config.settings_edit import complaints

    found = complaints(case.workspace.settings)
    for sentence in found:
        yield Finding(WARNING, "Settings", one_line(sentence), "`recollect config` shows each setting and its source")
    off = [name for name in _SWITCHES if not case.workspace.settings.flag(name)]
    if off:
        told = f"{', '.join(off)} {'is' if len(off) == 1 else 'are'} switched off"
        yield Finding(OK, "Settings", told, "`recollect config` says where that was set")
    elif not found:
        yield Finding(OK, "Settings", "nothing is wrong with them")


_SWITCHES = (
    *("memory_injection_enabled", "memory_semantic_enabled", "memory_embedding_enabled", "memory_session_capture"),
    *("retrieval.enabled", "triage.enabled"),
)


def keywords(case: Case) -> Iterator[Finding]:
    """Check the keyword providers, without asking any of them for labels."""
    from recollect.keywords import anthropic, ollama
    from recollect.keywords.registry import tiers

    provider = case.workspace.settings.text("memory_keyword_provider")
    found = tiers(provider, case.environ)
    if not case.workspace.settings.flag("memory_keyword_generation") or not found:
        yield Finding(OK, "Keywords", "switched off: entries have the labels that they were given")
        return
    names = [tier.name for tier in found]
    yield Finding(OK, "Keywords", f"{provider}: by {', then by '.join(names)}")
    if anthropic.AnthropicKeywords.name in names:
        if not case.environ.get(anthropic.KEY_VARIABLE, "").strip():
            yield Finding(WARNING, "Keywords", "there is no key for Anthropic", f"set {anthropic.KEY_VARIABLE}")
        elif not anthropic.is_installed():
            yield Finding(WARNING, "Keywords", "Anthropic's package is not installed", way_to_add("anthropic"))
    if ollama.OllamaKeywords.name in names and not ollama.is_installed():
        yield Finding(WARNING, "Keywords", "the package for Ollama is not installed", way_to_add("ollama"))
