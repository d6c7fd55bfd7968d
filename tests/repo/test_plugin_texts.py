"""What the plugin's texts tell a model to do can be done, and what a user types cannot turn it into something else."""

from __future__ import annotations

import json
import re
import shlex
from fnmatch import fnmatch
from pathlib import Path

import click
import pytest

from recollect.cli.main import cli
from recollect.config.settings_keys import BY_NAME
from recollect.domain.ranking.labels import GENERIC
from recollect.hooks import permit
from recollect.hooks.run import HOOKS
from recollect.mcp.schemas import TOOLS
from recollect.plugin.own_steps import FLAG, STEPS, own_step

TOP = Path(__file__).parents[2]
PLUGIN = TOP / "plugin"
COMMANDS = sorted((PLUGIN / "commands").glob("*.md"))
SKILLS = sorted((PLUGIN / "skills").glob("*/SKILL.md"))
AGENTS = sorted((PLUGIN / "agents").glob("*.md"))
TEXTS = [*COMMANDS, *SKILLS, *AGENTS, PLUGIN / "README.md", TOP / "docs" / "hooks.md"]

# What the texts write in capitals, where a model puts in what it means, and an example of it.
PLACEHOLDERS = {
    "CATEGORY": "decision",
    "STATE": "archived",
    "NUMBER": "17",
    "NAME": "session-start",
    "KEY": "auto_commit",
    "FEATURE": "012",
}


def named(path: Path) -> str:
    return str(path.relative_to(TOP))


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def frontmatter(path: Path) -> dict[str, str]:
    """The fields between the dashes. Only what every reader of YAML reads alike is let through."""
    found = re.match(r"---\n(.*?)\n---\n", text_of(path), re.DOTALL)
    assert found, f"{path} has no frontmatter"
    fields: dict[str, str] = {}
    for line in found[1].split("\n"):
        key, colon, value = line.partition(": ")
        assert colon, line
        assert re.fullmatch(r"[a-z-]+", key), line
        assert key not in fields, line
        if value[0] == '"':
            fields[key] = json.loads(value)
        else:
            assert not re.search(r"^[\[\]{}&*!|>%@`'#]|: | #", value), line
            fields[key] = value
    return fields


def shell_lines(text: str) -> list[str]:
    """Every line that begins with recollect in a fenced block; the quoted task of a subagent has blocks of its own."""
    blocks = re.findall(r"```sh\n(.*?)```", text.replace("\n> ", "\n").replace("\n>\n", "\n\n"), re.DOTALL)
    return [line.strip() for block in blocks for line in block.split("\n") if line.strip().startswith("recollect")]


def calls(path: Path) -> list[str]:
    """All calls of recollect that a text names: in code blocks, in code spans, and as it is expanded."""
    text = text_of(path)
    return shell_lines(text) + re.findall(r"`(recollect(?: [^`\n]+)?)`", text)


def allowed_prefixes(rules: list[str]) -> list[str]:
    """How calls may begin that rules allow; each names a subcommand, because not all of them are harmless."""
    found = [re.fullmatch(r"Bash\((recollect( [a-z-]+)+):\*\)", rule) for rule in rules if rule.startswith("Bash")]
    assert all(found), rules
    return [match[1] for match in found if match]


def is_covered(call: str, prefix: str) -> bool:
    """Whether a rule's prefix covers a call, by whole words as the client compares them."""
    return f"{call} ".startswith(f"{prefix} ")


def calls_of_a_capture() -> list[str]:
    """What the memory skill has a model call from the first phase to the review of staged captures."""
    text = text_of(PLUGIN / "skills" / "memory-management" / "SKILL.md")
    phases = text[text.index("## Phase 0") : text.index("## When the user asks")]
    return shell_lines(phases) + re.findall(r"`(recollect [a-z]+ [^`\n]+)`", phases)


def parse(command: click.Command, name: str, arguments: list[str]) -> None:
    """Parse a call the way the command itself would, and run nothing."""
    if not isinstance(command, click.Group):
        command.make_context(name, arguments)
        return
    context = click.Context(command, info_name=name)
    if arguments[:1] and not arguments[0].startswith("-"):
        sub = command.get_command(context, arguments[0])
        assert sub is not None, f"{name} has no command {arguments[0]}"
        parse(sub, f"{name} {arguments[0]}", arguments[1:])
    else:
        command.make_context(name, arguments)


def test_plugin_has_the_commands_skills_and_agents_of_its_documentation() -> None:
    everyday = "status save search config review retire archive unarchive restore gc list doctor"
    others = "log why mute stats dedupe stale confirm"
    assert {path.stem for path in COMMANDS} == {*everyday.split(), *others.split()}
    assert {path.parent.name for path in SKILLS} == {"memory-management", "retrospecting"}
    assert {path.stem for path in AGENTS} == {"retro-facilitator"}


@pytest.mark.parametrize("path", TEXTS, ids=named)
def test_every_call_names_a_command_and_options_that_exist(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOP)
    for call in calls(path):
        words = shlex.split(re.split(r" <| \|\| ", call)[0], comments=True)[1:]
        words = [re.sub(r"[A-Z_]{3,}", lambda found: PLACEHOLDERS.get(found[0], found[0]), word) for word in words]
        if len(words) <= 1:  # a mention by name
            assert not words or words[0].startswith("--") or words[0] in cli.list_commands(click.Context(cli)), call
            continue
        try:
            parse(cli, "recollect", words)
        except (click.ClickException, SystemExit) as error:
            pytest.fail(f"{call}: {getattr(error, 'message', error)}")
        if words[0] == "config":
            assert words[2].replace("categories.CATEGORY.", "categories.decision.") in BY_NAME, call


@pytest.mark.parametrize("path", [*COMMANDS, *SKILLS, *AGENTS], ids=named)
def test_texts_call_recollect(path: Path) -> None:
    assert calls(path)


@pytest.mark.parametrize("path", COMMANDS, ids=named)
def test_command_has_a_frontmatter_that_clients_understand(path: Path) -> None:
    fields = frontmatter(path)
    assert set(fields) <= {"description", "argument-hint", "allowed-tools", "disable-model-invocation"}
    assert 20 <= len(fields["description"]) <= 120
    # The skill serves the model; eleven more descriptions would be in the context of every session.
    assert fields["disable-model-invocation"] == "true"
    assert ("argument-hint" in fields) == ("$ARGUMENTS" in text_of(path))
    assert text_of(path).count("\n") <= 80


@pytest.mark.parametrize("path", COMMANDS, ids=named)
def test_command_is_allowed_what_its_text_calls_and_nothing_else(path: Path) -> None:
    rules = frontmatter(path)["allowed-tools"].split(", ")
    named_calls = calls(path)
    if path.stem == "review":  # its text sends the model to the skill
        named_calls += calls_of_a_capture()
    prefixes = allowed_prefixes(rules)
    for call in named_calls:
        assert any(is_covered(call, prefix) for prefix in prefixes), call
    for prefix in prefixes:
        assert any(is_covered(call, prefix) for call in named_calls), f"{prefix} is not needed"
    # What a model hands over in a file it must be able to write, there and nowhere else.
    handed_over = {found for call in named_calls for found in re.findall(r"--input (/tmp/\S+)", call)}
    edits = [rule.removeprefix("Edit(/").removesuffix(")") for rule in rules if rule.startswith("Edit(")]
    assert len(prefixes) + len(edits) == len(rules), rules
    for file in handed_over:
        assert any(fnmatch(file, pattern) for pattern in edits), file
    for pattern in edits:
        assert re.fullmatch(r"/tmp/\.memory-[a-z-]+\*", pattern), pattern
        assert any(fnmatch(file, pattern) for file in handed_over), pattern


def left_to_the_user() -> list[list[str]]:
    """How the steps of the texts begin that are not approved; docs/hooks.md lists them with a reason."""
    section = text_of(TOP / "docs" / "hooks.md").split("\n## `permit`\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*`) \| \S.* \|$", section, re.MULTILINE)
    steps = [step.split(" ") for row in rows for step in re.findall(r"`recollect ([^`]+)`", row)]
    return [[word for word in step if not word.isupper()] for step in steps]


def words_of(call: str) -> list[str]:
    """The words of a call, without the program and without what a shell does with it."""
    return shlex.split(re.split(r" <| \|\| ", call)[0])[1:]


@pytest.mark.parametrize("path", [*COMMANDS, *SKILLS, *AGENTS], ids=named)
def test_every_step_of_a_text_is_approved_or_left_to_the_user_with_a_reason(path: Path) -> None:
    left = left_to_the_user()
    for call in calls(path):
        words = words_of(call)
        line = call.removesuffix(" || true")
        step = own_step(f"{line}\ntext\nEND_OF_MEMORY" if " <<" in line else line)
        is_mention = not words or words in [[name] for name in STEPS]
        is_left = any(words[: len(beginning)] == beginning for beginning in left)
        assert bool(step or is_mention) != is_left, call


def test_every_approved_option_and_every_step_left_to_the_user_is_in_a_text() -> None:
    texts = [*COMMANDS, *SKILLS, *AGENTS]
    for name, (_, options) in STEPS.items():
        named_by = [text_of(path) for path in texts if f"recollect {name}" in text_of(path)]
        assert named_by, name
        for option in options:
            assert any(re.search(rf"{option}\b(?!-)", text) for text in named_by), f"{name} {option}"
    called = [words_of(call) for path in texts for call in calls(path)]
    for beginning in left_to_the_user():
        assert any(words[: len(beginning)] == beginning for words in called), beginning


@pytest.mark.parametrize("name", STEPS)
def test_options_are_approved_with_as_many_values_as_the_command_takes(name: str) -> None:
    command: click.Command = cli
    for part in name.split(" "):
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), part) or pytest.fail(f"no command {part}")
    most, options = STEPS[name]
    known = {option: param for param in command.params for option in param.opts}
    for option, kind in options.items():
        param = known[option]
        assert isinstance(param, click.Option)
        assert (param.is_flag, param.nargs) == (kind == FLAG, 1), option
    taken = [param.nargs for param in command.params if isinstance(param, click.Argument)]
    assert -1 in taken if most > 1 else sum(taken) == most
    is_strict = not (command.ignore_unknown_options or command.allow_extra_args)
    assert is_strict or isinstance(command, click.Group)


def test_tools_are_approved_as_the_server_has_them() -> None:
    # What only reads, and what stores; never what takes something away.
    assert sorted(permit.APPROVED) == sorted(tool.name for tool in TOOLS if tool.name != permit.FORGET)
    assert permit.FORGET in {tool.name for tool in TOOLS}


@pytest.mark.parametrize("path", TEXTS, ids=named)
def test_no_text_allows_recollect_as_a_whole(path: Path) -> None:
    # `recollect init --claude PROGRAM` runs that program.
    assert not re.search(r"Bash\((recollect)?[ :]*\*?\)", text_of(path))


@pytest.mark.parametrize("path", [*COMMANDS, *SKILLS, *AGENTS], ids=named)
def test_what_the_user_types_never_reaches_a_shell_by_itself(path: Path) -> None:
    text = text_of(path)
    expanded = re.findall(r"!`([^`]*)`", text) + re.findall(r"```!\n(.*?)```", text, re.DOTALL)
    for line in expanded:
        # What fails would end the command before the model could say why.
        assert re.fullmatch(r"recollect [a-z -]+ \|\| true", line), line
    for line in shell_lines(text):
        assert not re.search(r"[$`]", line), line


@pytest.mark.parametrize("path", [*COMMANDS, *SKILLS, *AGENTS], ids=named)
def test_json_goes_through_files_because_clients_refuse_it_in_shell_lines(path: Path) -> None:
    for line in shell_lines(text_of(path)):
        assert not re.search(r"--entry-json|--input -|\{", line), line


@pytest.mark.parametrize(("path", "longest"), [(SKILLS[0], 250), (SKILLS[1], 500)], ids=lambda value: str(value)[-30:])
def test_skill_is_valid_and_short_enough_to_be_read(path: Path, longest: int) -> None:
    fields = frontmatter(path)
    # Tools that a skill allows itself make the client ask for the skill; without, it asks for nothing but the tools.
    assert set(fields) == {"name", "description"}
    assert fields["name"] == path.parent.name
    assert re.fullmatch(r"[^<>]{1,1024}", fields["description"])
    assert text_of(path).count("\n") < longest


def test_memory_skill_answers_to_its_trigger_words() -> None:
    description = frontmatter(PLUGIN / "skills" / "memory-management" / "SKILL.md")["description"].lower()
    for word in ("remember", "forget", "memory", "memories", "previous session"):
        assert re.search(rf"\b{word}\b", description), word


@pytest.mark.parametrize("path", [PLUGIN / "commands" / "save.md", *SKILLS, *AGENTS], ids=named)
def test_texts_that_save_ask_for_triggers_with_a_good_and_a_bad_one(path: Path) -> None:
    text = text_of(path)
    assert "`triggers`" in text
    assert re.search(r"3 to 5\s(>\s+)?short\sphrases", text)
    assert re.search(r"\bgood\b", text)
    assert re.search(r"\bbad\b", text)


def test_retrospective_catches_up_on_triggers_before_promotion() -> None:
    text = text_of(PLUGIN / "skills" / "retrospecting" / "SKILL.md")
    assert text.index("## Step 4b:") < text.index("recollect triggers --missing") < text.index("## Step 4c:")


def test_retrospective_leaves_counting_to_the_command() -> None:
    text = text_of(PLUGIN / "skills" / "retrospecting" / "SKILL.md")
    assert "Observation count" not in text
    assert "Last observed" not in text


def test_memory_skill_knows_every_structural_decision() -> None:
    text = text_of(PLUGIN / "skills" / "memory-management" / "SKILL.md")
    for decision in ("CREATE", "NOOP", "UPDATE", "UPDATE_OR_DELETE"):
        assert re.search(rf"^\| .*\b{decision}\b", text, re.MULTILINE), decision


@pytest.mark.parametrize("path", TEXTS, ids=named)
def test_named_settings_exist(path: Path) -> None:
    spans = re.findall(
        r"`((?:categories|retrieval|triage|permissions|delete|auto|max|memory)[._][\w.<>*]+)", text_of(path)
    )
    for span in spans:
        pattern = re.escape(re.sub(r"<\w+>|CATEGORY", "*", span)).replace(r"\*", ".*")
        assert any(re.fullmatch(pattern, name) for name in BY_NAME), span


def test_agent_is_valid_and_only_reads() -> None:
    (path,) = AGENTS
    fields = frontmatter(path)
    assert set(fields) == {"name", "description", "tools", "model"}
    assert fields["name"] == path.stem
    assert set(fields["tools"].split(", ")) == {"Read", "Grep", "Glob", "Bash"}
    assert text_of(path).count("\n") < 500


def test_agent_is_shown_an_answer_that_is_json_with_every_field() -> None:
    (path,) = AGENTS
    example = json.loads(text_of(path)[text_of(path).index("\n{\n") :])
    assert set(example["act"]) == {"patterns", "anti_patterns", "heuristics"}
    (entry,) = example["act"]["patterns"]
    assert set(entry) >= {"text", "provenance", "confidence", "keywords", "triggers", "reasoning"}


def test_agent_is_told_the_words_that_are_no_keywords() -> None:
    (path,) = AGENTS
    listed = re.search(r"Never these, they tell nothing apart: ([a-z,\s]+)\.", text_of(path))
    assert listed is not None
    assert set(re.split(r",\s+", listed[1])) == GENERIC


def test_retrospective_promotes_after_the_check_for_staleness_with_five_examples() -> None:
    text = text_of(PLUGIN / "skills" / "retrospecting" / "SKILL.md")
    assert text.index("## Step 4:") < text.index("## Step 4b:") < text.index("## Step 4c:")
    examples = re.findall(r'^\| ".+" \| (universal|project-specific): .+ \|$', text, re.MULTILINE)
    assert sorted(examples) == ["project-specific"] * 2 + ["universal"] * 3


def test_retrospective_shows_captured_lessons_first_and_settles_them_before_promotion() -> None:
    text = text_of(PLUGIN / "skills" / "retrospecting" / "SKILL.md")
    steps = re.split(r"^## Step ", text, flags=re.MULTILINE)
    first, agreement, promotion = (
        next(step for step in steps if step.startswith(name)) for name in ("1:", "3:", "4c:")
    )
    assert shell_lines(first) == ["recollect promote --json --dry-run"]
    assert '`"captured": true`' in first
    assert re.findall(r"^\| (keep|merge|drop) \|", agreement, re.MULTILINE) == ["keep", "merge", "drop"]
    assert shell_lines(agreement) == ["recollect retire ID --reason 'WHY'"]
    assert "recollect promote --feature FEATURE --as project-specific 'NAME' 'NAME'" in shell_lines(promotion)


@pytest.mark.parametrize("path", [PLUGIN / "README.md", TOP / "docs" / "hooks.md"], ids=named)
def test_pages_describe_every_hook(path: Path) -> None:
    text = text_of(path)
    assert len(text.split()) >= 40
    described = json.loads(text_of(PLUGIN / "hooks" / "hooks.json"))["hooks"]
    for event in described:
        assert event in text, event
    if path.name == "hooks.md":
        for hook in HOOKS:
            assert f"`{hook}`" in text, hook


@pytest.mark.parametrize(
    "path", [PLUGIN / "README.md", PLUGIN / "skills" / "memory-management" / "SKILL.md"], ids=named
)
def test_texts_name_the_tools_of_the_server_and_no_others(path: Path) -> None:
    found = re.findall(r"`([a-z]+_memor(?:y|ies))`", text_of(path))
    assert set(found) == {tool.name for tool in TOOLS}


def test_readme_names_every_command_skill_and_agent() -> None:
    text = text_of(PLUGIN / "README.md")
    for name in [*(f"/memory:{path.stem}" for path in COMMANDS), *(path.parent.name for path in SKILLS)]:
        assert name in text, name
