"""The table of categories is the only list of them: the rest follows from it, or is named here when it does not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import recollect
from recollect.cli.main import cli
from recollect.domain.categories import CATEGORIES, KNOWLEDGE, PROJECT, SESSION_SUMMARY, Category
from recollect.domain.triage.words import RULES
from recollect.files.memory.schemas import CONTENT, schema_file

TOP = Path(__file__).parents[2]
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(recollect.__file__)))
NUMBERS = {3: "three", 4: "four", 6: "six", 7: "seven", 9: "nine", 10: "ten"}


def text_of(path: str) -> str:
    return (TOP / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("row", CATEGORIES.values(), ids=lambda row: row.name)
def test_row_has_what_its_kind_of_category_needs_and_no_unknown_value(row: Category) -> None:
    known = {name for name in vars(Category) if not name.startswith("_")} | {"name"}
    assert set(vars(row)) <= known
    assert row.purpose
    assert row.aliases
    needed = (
        ("label", "start_heading", "bank_heading", "provenance") if row.label else ("folder", "key_fields", "priority")
    )
    assert all(vars(row).get(name) for name in needed), f"{row.name} lacks one of {needed}"
    assert bool(row.label) != bool(row.folder)


@pytest.mark.parametrize("category", PROJECT)
def test_fields_of_a_row_are_in_the_schema_of_its_memories(category: str) -> None:
    row, fields = CATEGORIES[category], set(CONTENT[category].model_fields)
    assert {*row.key_fields, *row.note_fields} <= fields
    assert len(row.note_fields) == 2
    assert row.reasoning in ("", row.key_fields[-1])


def test_names_and_folders_and_aliases_belong_to_one_category_each() -> None:
    folders = [CATEGORIES[category].folder for category in PROJECT]
    names = [name for row in CATEGORIES.values() for name in (row.name, *row.aliases.split(", "))]
    assert (len(set(folders)), len(set(names))) == (len(folders), len(names))
    assert len({CATEGORIES[category].priority for category in PROJECT}) == len(PROJECT)


# What cannot follow from the table. Each of these places is changed by hand for a new category of its kind.
LISTED = [
    *(
        ("plugin/commands/save.md", category, f"| `{category}` | `{CATEGORIES[category].folder}/` |")
        for category in PROJECT
    ),
    *(("docs/memories.md", category, f"| `{category}` | `{CATEGORIES[category].folder}/` |") for category in PROJECT),
    *(("plugin/commands/list.md", category, f"`{category}`") for category in PROJECT),
    *(("plugin/skills/memory-management/SKILL.md", category, f"`{category}`") for category in PROJECT),
    *(("plugin/skills/retrospecting/SKILL.md", category, f"`{category}`") for category in KNOWLEDGE),
    *(("docs/mcp.md", category, f"`{category}`") for category in KNOWLEDGE),
    *(("docs/storage.md", category, f"`{category}.md`") for category in KNOWLEDGE),
    *(("docs/concepts.md", category, f"*{category}*") for category in KNOWLEDGE),
]


@pytest.mark.parametrize(("path", "category", "text"), LISTED)
def test_text_names_the_category(path: str, category: str, text: str) -> None:
    assert text in text_of(path), f"{path} does not name {category}: it lacks {text}"


def test_texts_count_the_categories() -> None:
    assert f"All {NUMBERS[len(CATEGORIES)]} can be stored" in text_of("docs/mcp.md")
    assert f"only the {NUMBERS[len(KNOWLEDGE)]} categories that hold everywhere" in text_of("docs/mcp.md")
    assert f"There are {NUMBERS[len(PROJECT)]} categories" in text_of("plugin/commands/config.md")


def test_help_of_upsert_names_the_categories_that_hold_everywhere() -> None:
    *first, last = KNOWLEDGE
    command = cli.get_command(click.Context(cli), "upsert")
    assert command
    assert f"({', '.join(first)} or {last})" in re.sub(r"\s+", " ", command.help or "")


def test_schemas_and_phrases_are_those_of_categories_and_no_others() -> None:
    assert set(CONTENT) == set(PROJECT)
    assert {path.name for path in (TOP / "src/recollect/schemas").iterdir()} == {
        os.path.basename(schema_file(name)) for name in ("base", *PROJECT)
    }
    assert set(RULES) <= set(PROJECT) - {SESSION_SUMMARY}


TENTH = """
import os, sys, types
sys.path.insert(0, sys.argv[1])
import recollect.domain
path = os.path.join(os.path.dirname(recollect.domain.__file__), "categories.py")
source = open(path, encoding="utf-8").read()
row = 'Category("glossary", purpose="a word and its meaning", aliases="term", folder="glossary",' \\
    ' key_fields=("word", "meaning", "usage"), priority=7),'
assert source.count("\\n)\\n\\nCATEGORIES") == 1
table = sys.modules["recollect.domain.categories"] = types.ModuleType("recollect.domain.categories")
exec(source.replace("\\n)\\n\\nCATEGORIES", row + "\\n)\\n\\nCATEGORIES"), table.__dict__)

import pydantic
from recollect.files.memory import schemas

class GlossaryContent(pydantic.BaseModel):
    word: str
    meaning: str
    usage: str

schemas.CONTENT["glossary"] = GlossaryContent  # all that is needed beside the row

from click.testing import CliRunner
from recollect.cli.main import cli
from recollect.config.settings_keys import BY_NAME
from recollect.domain.category_names import category_named
from recollect.domain.triage.score import Activity, Said, find
from recollect.mcp.schemas import LIST, SEARCH, STORE

project, home = sys.argv[2], sys.argv[3]
where = ["--project-root", project, "--global-store", home]

def run(*arguments, text=None):
    done = CliRunner().invoke(cli, list(arguments), input=text)
    assert done.exit_code == 0, (arguments, done.output, done.exception)
    return done.output

own = [name for name in BY_NAME if name.startswith("categories.glossary.")]
defaults = {name.rpartition(".")[2]: BY_NAME[name].default for name in own}
assert defaults == {"enabled": True, "folder": "glossary", "auto_capture": True, "retention_days": 0}, defaults
assert BY_NAME["triage.thresholds.glossary"].default == 0.4
for tool in (STORE, SEARCH, LIST):
    assert "glossary" in tool.accepts["properties"]["category"]["enum"]
assert category_named("Terms") == category_named("Glossary") == "glossary"
assert find([Said("human", "We decided it.")], Activity(0, 0, 0), {"glossary": 0.1}) == []

record = '{"title": "Parcel", "tags": ["words"], "confidence": 0.9, "content": ' \\
    '{"word": "parcel", "meaning": "Whatever one courier carries at once.", "usage": "in every table"}}'
run("write", "--action", "create", "--category", "glossary", "--input", "-", "--project-root", project, text=record)
assert os.listdir(os.path.join(project, ".claude", "memory", "glossary")) == ["parcel.json"]
assert "Parcel" in run("list", "--category", "glossary", "--project-root", project)
assert "Parcel" in run("search", "courier carries", "--category", "glossary", *where)
assert "Parcel" not in run("search", "courier carries", "--category", "decision", *where)
assert "## Glossary" in run("export", "--category", "glossary", "--format", "markdown", *where)
assert '"meaning"' in run("schema", "glossary")

from recollect.learn.content import drafted
from recollect.learn.input import parse_input
note = parse_input("Pallet", "A flat frame for parcels.", "Drivers say so.", "term")
content = {"meaning": "A flat frame for parcels.", "usage": "Drivers say so."}  # nobody said which word
assert drafted(note).content == content, drafted(note).content
schemas.captured_content("glossary").model_validate(content)
print("accepted")
"""


def test_tenth_category_needs_a_row_and_a_model_of_its_content_and_nothing_else(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    (project / ".git").mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-c", TENTH, SOURCE, str(project), str(home)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "HOME": str(tmp_path), "RECOLLECT_HOME": str(home)},
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "accepted\n"), done.stderr
