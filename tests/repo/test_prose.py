"""No control flow reads prose: a sentence may change its words, and nothing else changes."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "recollect"
READERS = {"startswith", "endswith", "removeprefix", "removesuffix", "replace", "find", "index", "count", "partition"}

# Phrases that other programs or files hold, or that are an outcome's one name in commands and in JSON.
ALLOWED = {
    "doctor/proof.py": "the name of the lesson that a self-test stores and finds",
    "domain/secrets/detect.py": "the kinds of secrets are named as sentences name them",
    "domain/triage/said.py": "what the client and our blocks write into transcripts",
    "files/session/stop_flag.py": "a mark in a file",
    "files/session/transcript.py": "what the client writes into transcripts",
    "learn/project_memory.py": "the summary of a change in a memory file",
    "memories/commit.py": "what git prints",
    "promote/promote.py": "outcomes, shown as they are",
}


def trees() -> dict[str, ast.Module]:
    paths = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def constants(modules: dict[str, ast.Module]) -> dict[tuple[str, str], str]:
    """The texts by module and name."""
    found: dict[tuple[str, str], str] = {}
    for module, tree in modules.items():
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                texts = [node.value.value] if isinstance(node.value.value, str) else []
                found |= {
                    (module, name.id): text for text in texts for name in node.targets if isinstance(name, ast.Name)
                }
    return found


def names(module: str, tree: ast.Module, known: dict[tuple[str, str], str]) -> dict[str, str]:
    """The texts that names stand for in a module, imported ones included."""
    found = {name: text for (owner, name), text in known.items() if owner == module}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("recollect."):
            owner = node.module.removeprefix("recollect.").replace(".", "/") + ".py"
            for name in node.names:
                if (owner, name.name) in known:
                    found[name.asname or name.name] = known[owner, name.name]
    return found


def texts(node: ast.expr, named: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Name) and node.id in named:
        yield named[node.id]
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        for item in node.elts:
            yield from texts(item, named)


def operands(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READERS:
        return list(node.args)
    return [node.value] if isinstance(node, ast.MatchValue) else []


def is_prose(text: str) -> bool:
    return sum(word[0].isalpha() for word in text.split()) > 2


def prose_read(modules: dict[str, ast.Module]) -> dict[str, list[str]]:
    """Where a sentence decides: the phrases that each module compares with or looks for."""
    known = constants(modules)
    found: dict[str, list[str]] = defaultdict(list)
    for module, tree in modules.items():
        named = names(module, tree, known)
        for node in ast.walk(tree):
            phrases = (text for operand in operands(node) for text in texts(operand, named))
            found[module] += [text for text in phrases if is_prose(text)]
    return {module: phrases for module, phrases in found.items() if phrases}


def messages_read(tree: ast.Module) -> list[str]:
    """Comparisons with the message of an exception."""
    caught = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        for operand in operands(node)
        if isinstance(operand, ast.Call) and ast.unparse(operand) in {f"str({name})" for name in caught}
    ]


def test_no_module_compares_with_a_sentence() -> None:
    found = prose_read(trees())
    assert {module: phrases for module, phrases in found.items() if module not in ALLOWED} == {}
    assert sorted(ALLOWED.keys() - found.keys()) == []


def test_no_module_reads_the_message_of_an_error() -> None:
    found = {module: messages_read(tree) for module, tree in trees().items()}
    assert {module: read for module, read in found.items() if read} == {}


def test_sentences_are_found_as_literals_as_constants_and_as_prefixes() -> None:
    modules = {
        "a.py": ast.parse("LOADING = 'the model is loading'\ndef f(x): return 'it is not there' in x"),
        "b.py": ast.parse("from recollect.a import LOADING as L\ndef f(x): return x == L or x in ('ok', 'no')"),
        "c.py": ast.parse("def f(x): return x.startswith(('stop', 'nothing was found'))"),
    }
    assert prose_read(modules) == {
        "a.py": ["it is not there"],
        "b.py": ["the model is loading"],
        "c.py": ["nothing was found"],
    }
    tree = ast.parse("try: f()\nexcept E as error:\n    if 'locked' in str(error): raise")
    assert messages_read(tree) == ["'locked' in str(error)"]
