"""Command lines that nobody has to approve: those of the plugin's texts, and nothing that a shell reads otherwise."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import click
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.conftest import examples

from recollect.cli.main import cli
from recollect.errors import RecollectError
from recollect.plugin.own_steps import STEPS, own_step

COMMAND_LINE = click.core.ParameterSource.COMMANDLINE

DRAFT = "/tmp/.memory-draft-decision-17.json"
HEREDOC = "recollect candidate --auto --category decision --new-info-file - <<'END_OF_MEMORY'\n{}\nEND_OF_MEMORY"

OWN = {
    "recollect search x": ["search", "x"],
    "recollect search --limit 10 -- 'which queue; and $(why)?'": [
        *("search", "--limit", "10", "--", "which queue; and $(why)?"),
    ],
    "recollect search --category decision --include-retired -- 'it'\\''s here'": [
        *("search", "--category", "decision", "--include-retired", "--", "it's here"),
    ],
    'recollect search "two words" \'a\'"b"c': ["search", "two words", "abc"],
    "recollect search -- --project-root": ["search", "--", "--project-root"],
    "recollect search 'größer als 漢字'": ["search", "größer als 漢字"],
    "recollect  search  ''": ["search", ""],
    "recollect show 'advisory-locks' --json": ["show", "advisory-locks", "--json"],
    "recollect list --state archived --category tech_debt": [
        *("list", "--state", "archived", "--category", "tech_debt"),
    ],
    "recollect stats": ["stats"],
    "recollect status\n": ["status"],
    "recollect doctor": ["doctor"],
    "recollect config": ["config"],
    "recollect confirm 'advisory-locks' 0123456789abcdef": ["confirm", "advisory-locks", "0123456789abcdef"],
    "recollect stale": ["stale"],
    "recollect config get triage.parallel.enabled": ["config", "get", "triage.parallel.enabled"],
    "recollect schema decision": ["schema", "decision"],
    "recollect log --session 'a1b2'": ["log", "--session", "a1b2"],
    "recollect log --event start": ["log", "--event", "start"],
    "recollect log --entry 'advisory-locks'": ["log", "--entry", "advisory-locks"],
    "recollect why 'advisory-locks'": ["why", "advisory-locks"],
    "recollect review": ["review"],
    "recollect review --saved 1a2b": ["review", "--saved", "1a2b"],
    "recollect triggers --missing --json": ["triggers", "--missing", "--json"],
    "recollect triggers 'slug' 'one phrase' 'another'": ["triggers", "slug", "one phrase", "another"],
    f"recollect promote --as project-specific --feature 012 --entry-file {DRAFT} --json": [
        *("promote", "--as", "project-specific", "--feature", "012", "--entry-file", DRAFT, "--json"),
    ],
    "recollect promote --dry-run 'Pattern: One'": ["promote", "--dry-run", "Pattern: One"],
    f"recollect write --check --action create --auto --category decision --input {DRAFT}": [
        *("write", "--check", "--action", "create", "--auto", "--category", "decision", "--input", DRAFT),
    ],
    f"recollect write --action update --target .claude/memory/decisions/x.json --hash 0f --input {DRAFT}": [
        *("write", "--action", "update", "--target", ".claude/memory/decisions/x.json", "--hash", "0f"),
        *("--input", DRAFT),
    ],
    HEREDOC.format("It's `text`; $(nothing) more.\n\nEND"): [
        *("candidate", "--auto", "--category", "decision", "--new-info-file", "-"),
    ],
    HEREDOC.format("Other words.").replace("END_OF_MEMORY", "THE_END") + "\n": [
        *("candidate", "--auto", "--category", "decision", "--new-info-file", "-"),
    ],
}

HOSTILE = {
    "recollect promote --as universal": "a clone's lessons would hold everywhere",
    "recollect promote": "it may find by itself that lessons hold everywhere",
    "recollect promote 'Pattern: One'": "likewise for one",
    "recollect promote -- --as project-specific": "the option is only a word here",
    "recollect promote --as": "a value is missing",
    # More than one command.
    "recollect search x; touch pwned": "a chain",
    "recollect search x;touch pwned": "a chain without blanks",
    "recollect search x && touch pwned": "a chain on success",
    "recollect search x || true": "a chain on failure, as the texts' own expansions have it",
    "recollect search x | sh": "a pipe",
    "recollect search x |& sh": "a pipe with errors",
    "recollect search x & touch pwned": "a background job",
    "recollect search x &": "a background job alone",
    "recollect search x\ntouch pwned": "a second command after a newline",
    "recollect search x\n\n\ntouch pwned": "a second command after blank lines",
    "recollect search x\r\ntouch pwned": "a second command after CR and LF",
    "recollect search x\rtouch pwned": "a CR, which a terminal shows as a fresh line",
    "touch pwned\nrecollect search x": "a command before it",
    "touch pwned; recollect search x": "a command before it in a chain",
    "recollect search x\x0btouch pwned": "a vertical tab",
    "recollect search 'a\nb'": "a newline between quotes",
    "(recollect search x)": "a subshell",
    "{ recollect search x; }": "a group",
    "! recollect search x": "a negation",
    "if recollect search x": "a keyword",
    # Words that a shell would make something else of.
    "recollect search $(touch pwned)": "a substitution",
    'recollect search "$(touch pwned)"': "a substitution between double quotes",
    "recollect search `touch pwned`": "an old substitution",
    'recollect search "`touch pwned`"': "an old substitution between double quotes",
    "recollect search ${HOME}": "a parameter",
    'recollect search "$HOME"': "a parameter between double quotes",
    "recollect search $((1+1))": "arithmetic",
    "recollect search $'a\\x27; touch pwned'": "ANSI-C quoting",
    'recollect search $"x"': "a translated text",
    "recollect search <(touch pwned)": "a process substitution",
    "recollect search >(touch pwned)": "a process substitution for output",
    "recollect search *": "a glob",
    "recollect search x?": "a glob of one character",
    "recollect search [a-z]": "a glob of a set",
    "recollect search ~root": "a tilde",
    "recollect search {a,b}": "a brace expansion",
    "recollect search =ls": "a path expansion of zsh",
    "recollect search a^b": "a pattern of zsh",
    "recollect search %1": "a job",
    'recollect search "wow!"': "a history expansion",
    'recollect search "a\\"; touch pwned; \\""': "an escaped double quote",
    "recollect search a\\ b": "an escaped blank",
    "recollect search x \\\n touch": "a continued line",
    "recollect search x # y": "a comment",
    "recollect search x\ty": "a tab",
    # Redirections.
    "recollect search x > pwned": "output to a file",
    "recollect search x >> pwned": "output after a file",
    "recollect search x 2>pwned": "errors to a file",
    "recollect search x &>pwned": "all output to a file",
    "recollect search x < /etc/passwd": "input from a file",
    "recollect search x <<< y": "a here-string",
    # Quotes that do not end.
    "recollect search 'x": "an open single quote",
    'recollect search "x': "an open double quote",
    "recollect search 'x''": "an odd number of quotes",
    "recollect search x\\": "a backslash at the end",
    # Another program, or this one in another way.
    "FOO=1 recollect search x": "a variable before it",
    "PATH=. recollect search x": "another path before it",
    "command recollect search x": "a builtin before it",
    "env recollect search x": "a program before it",
    "sudo recollect search x": "another user",
    "exec recollect search x": "instead of the shell",
    "eval recollect search x": "read twice",
    "time recollect search x": "measured",
    "nohup recollect search x": "left behind",
    "bash -c 'recollect search x'": "a shell of its own",
    "sh recollect search x": "as a script",
    "./recollect search x": "a program of the project",
    "/tmp/recollect search x": "a program elsewhere",
    "~/bin/recollect search x": "a program in the home",
    "../recollect search x": "a program above",
    "'recollect' search x": "a quoted name, which no text has",
    "recollect.sh search x": "a longer name",
    "recollect2 search x": "another longer name",
    "recollectsearch x": "no blank",
    "Recollect search x": "a capital",
    "rec\u043ellect search x": "a Cyrillic letter",
    "\u2028recollect search x": "a line separator before it",
    "rec\u200bollect search x": "an invisible character in the name",
    "recollect\u00a0search x": "a blank that is none",
    "recollect search x\u202ey": "a change of direction",
    "recollect search 'x\u200by'": "an invisible character between quotes",
    "recollect search 'x\0y'": "a NUL",
    "recollect search 'x\x1b[2Jy'": "an escape code",
    "recollect search 'x\ud800'": "half a character",
    " recollect search x": "a blank before it, which keeps it out of the shell's history",
    "": "nothing",
    "recollect": "no subcommand",
    "recollect " + "x" * 70_000: "too long",
    "recollect search '" + "x" * 70_000 + "'": "too long between quotes",
    # Other ways to the same ends.
    "LD_PRELOAD=/tmp/e.so recollect status": "a library before it",
    "env -i recollect search x": "a program before it that takes the variables away",
    "\\recollect search x": "a backslash before it, past an alias",
    '"recollect" search x': "a name between double quotes",
    "recollect'' search x": "an empty text behind the name",
    "coproc recollect search x": "a job of its own",
    "recollect(){ touch pwned; }; recollect search x": "a function of that name first",
    "alias recollect=sh\nrecollect search x": "an alias of that name first",
    "recollect\tsearch x": "a tab behind the name",
    "recollect\u3000search x": "an ideographic blank",
    "recollect search x\u2003&& touch pwned": "an em blank before a chain",
    "recollect search x\u0085touch pwned": "a next-line character",
    "recollect search x\u2029touch pwned": "a paragraph separator",
    "recollect search 'x\u2066y'": "a direction that is isolated",
    "recollect search 'x\x9by'": "an escape code in one character",
    "\ufeffrecollect search x": "a byte order mark before it",
    "recollect search ‘x; touch pwned’": "quotes that are none to a shell",
    "recollect search 'a'\"$(touch pwned)\"": "a substitution behind a quoted text",
    "recollect search x>|pwned": "output to a file in spite of noclobber",
    "recollect search x <>pwned": "a file opened for reading and writing",
    "recollect search x;:": "a chain with a builtin",
    "recollect show {/etc/passwd,x}": "a brace expansion of paths",
    "recollect search --config=/etc/passwd x": "an option that no command has, in one word",
    "recollect search '--global-store=/tmp/evil' x": "another store between quotes",
    'recollect search "--project-root" /etc x': "another project between quotes",
    "recollect write --action=delete --target x.json": "a deletion in one word",
    "recollect write --act delete --target x.json": "a shortened option",
    "recollect write --action update --target a/../../x.json": "a memory above, from below",
    "recollect write --action update --target //etc/x.json": "two slashes before a path",
    "recollect promote --as project-specific --as universal": "a second value that would win",
    "recollect promote --dry-run --as universal": "no trial takes it",
    "recollect review --saved 1a --dismiss-all": "an option behind an allowed one",
    "recollect candidate --new-info-file - < /etc/passwd": "a file of one's choice by the shell",
    "recollect candidate --new-info-file /dev/stdin": "standard input by a path",
    # What only the user decides.
    "recollect config set triage.mode off": "a setting",
    "recollect config unset triage.mode": "a setting taken back",
    "recollect config -- set triage.mode off": "a setting behind two dashes",
    "recollect 'config set' triage.mode off": "a setting in one word",
    "recollect config get a b": "a word too many",
    "recollect init": "the plugin installed",
    "recollect init --claude ./evil": "a program of one's choice",
    "recollect uninstall --yes": "everything removed",
    "recollect retire 'x' --reason 'y'": "a memory retired",
    "recollect archive x": "a memory archived",
    "recollect restore x": "a memory brought back",
    "recollect write --action delete --target decisions/x.json": "a memory retired by another name",
    "recollect write --action archive --target decisions/x.json": "a memory archived by another name",
    "recollect review --dismiss 1a": "a capture thrown away",
    "recollect review --dismiss-all": "all captures thrown away",
    "recollect doctor --fix": "a repair",
    "recollect index --gc": "old memories removed",
    "recollect upsert --entry-json '{}'": "a lesson past the checks of the tool",
    "recollect hook stop": "a hook",
    "recollect mcp --http": "a server",
    "recollect export": "no text names it",
    "recollect backup restore x": "no text names it",
    # Options that no text names, and values that lead elsewhere.
    "recollect --version": "an option before the subcommand",
    "recollect -- uninstall": "two dashes before the subcommand",
    "recollect search --project-root /etc x": "another project",
    "recollect search --global-store /tmp/evil x": "another store",
    "recollect search --limit=10 x": "a value in the same word",
    "recollect search -l x": "a short option",
    "recollect search --limit": "an option without its value",
    "recollect search --limit --json x": "an option as a value",
    "recollect search - x": "a dash as a word",
    "recollect show x y": "a word too many after show",
    "recollect mute advisory-locks": "what is silenced is the user's decision",
    "recollect unmute advisory-locks": "what is silenced is the user's decision",
    "recollect list x": "a word for a command without",
    "recollect list -- x": "a word behind two dashes for a command without",
    "recollect write --action create --root /etc --input " + DRAFT: "another memory root",
    "recollect write --action update --target /other/.claude/memory/decisions/x.json": "another project's memory",
    "recollect write --action update --target ../.claude/memory/decisions/x.json": "a memory above",
    "recollect write --action create --input -": "a record on standard input, which no text names",
    "recollect candidate --new-info-file /etc/passwd": "a file of one's choice",
    "recollect candidate --new-info-file=/etc/passwd": "a file of one's choice in the same word",
    # Heredocs.
    HEREDOC.format("a").replace("'END_OF_MEMORY'", "END_OF_MEMORY"): "a heredoc that expands",
    HEREDOC.format("a").replace("'END_OF_MEMORY'", '"END_OF_MEMORY"'): "another kind of quotes",
    HEREDOC.format("a").replace("<<'", "<<-'"): "a heredoc without tabs",
    HEREDOC.format("a").replace("<<'", "<< '"): "a blank before the delimiter",
    HEREDOC.format("a").replace("<<'", "<<\\'"): "a backslash before the delimiter",
    HEREDOC.format("a\nEND_OF_MEMORY\ntouch pwned"): "a text that ends early and goes on with a command",
    HEREDOC.format("a") + "\ntouch pwned": "a command after the text",
    HEREDOC.format("a") + "; touch pwned": "a command on the last line",
    HEREDOC.format("a").removesuffix("\nEND_OF_MEMORY"): "a text that does not end",
    HEREDOC.format("a") + " ": "a last line that is not quite the delimiter",
    HEREDOC.format("a\r"): "a CR in the text",
    HEREDOC.format("a\0"): "a NUL in the text",
    HEREDOC.format("a").replace("\n", " && touch pwned\n", 1): "a command after the delimiter",
    HEREDOC.format("a").replace("\n", " > pwned\n", 1): "a redirection after the delimiter",
    HEREDOC.format("a").replace("\n", " <<'OTHER'\n", 1): "two heredocs",
    HEREDOC.format("a").replace("END_OF_MEMORY", "$(x)"): "a delimiter that is no word",
    HEREDOC.format("a").replace("END_OF_MEMORY", ""): "an empty delimiter",
    HEREDOC.format("a").replace("--new-info-file -", ""): "a text that nobody reads",
    "recollect search 'x <<'A'\n'; touch pwned; '\nA": "a quote that hides the end of the line",
    "recollect search x <<'A'\ny\nA": "a text for a command that takes none",
}


@pytest.mark.parametrize("line", OWN)
def test_step_of_the_texts_is_known_by_its_words(line: str) -> None:
    step = own_step(line)
    assert step
    assert step.words == ["recollect", *OWN[line]]
    assert step.drafts == [word for word in OWN[line] if word == DRAFT]


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: HOSTILE[line])
def test_anything_else_is_left_to_the_client(line: str) -> None:
    assert own_step(line) is None


def test_enough_hostile_lines_are_tried() -> None:
    assert len(HOSTILE) >= 60
    assert {line.split()[1] for line in OWN} == {name.split()[0] for name in STEPS}


LOOSE = [
    *("x", "--", "-", "--help", "''", "'@x'", "1a", "decision", "get", "set", "start", "universal", DRAFT),
    *("project-specific", "create", "update", "delete", "prompt", "a.json", "--project-root", "'--root=/x'"),
    *("--global-store", "--fix", "--dismiss", "--dismiss-all", "--reason"),
]
# A step, and words among which its own options are: those of others are no step.
LINES = st.sampled_from(sorted(STEPS)).flatmap(
    lambda name: st.tuples(st.just(name), st.lists(st.sampled_from([*LOOSE, *STEPS[name][1]]), max_size=5))
)


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(line=LINES)
def test_command_reads_no_option_or_value_that_the_table_does_not_have(line: tuple[str, list[str]]) -> None:
    name, words = line
    step = own_step(" ".join(["recollect", name, *words]))
    assume(step)
    assert step
    read: click.Command = cli
    arguments = step.words[1:]
    while isinstance(read, click.Group) and arguments not in ([], ["--"]):
        read = read.get_command(click.Context(read), arguments[0]) or pytest.fail(f"{arguments[0]} is no command")
        arguments = arguments[1:]
    known = STEPS[" ".join(step.words[1 : len(step.words) - len(arguments)])][1]
    try:
        context = read.make_context("recollect", arguments)
    except (click.UsageError, RecollectError):
        return  # nothing is done then
    given = [each for each in read.params if context.get_parameter_source(each.name or "") is COMMAND_LINE]
    for option in (each for each in given if isinstance(each, click.Option)):
        [kind] = [known[word] for word in option.opts if word in known]
        assert not isinstance(kind, tuple) or context.params[option.name or ""] in kind


# Pieces that a hostile or careless author could put together.
PIECES = st.sampled_from(
    [
        *(" ", "'", '"', "\\", "\\'", "'\\''", "''", '""', "\n", "\t", "-", "--", "#", "!", "=", "~", "*", "\\\n"),
        *("; touch pwned", " && touch pwned", "$(touch pwned)", "`touch pwned`", " > pwned", " <<'END'\n", "\nEND"),
        *("END", "${x}", "$'", "<(", ")", "&", "|", "{a,b}", "touch pwned", "recollect status", "\u200b"),
        *("x", "10", "é", "漢", "0f73", "a/b.json"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=4).map("".join)
WORDS = st.one_of(
    st.text("abcXYZ019-_./", min_size=1, max_size=8),
    TEXTS.map(lambda text: "'" + text.replace("'", "'\\''") + "'"),
    TEXTS.map(lambda text: f"'{text}'"),
    TEXTS.map(lambda text: f'"{text}"'),
    PIECES,
)
BODIES = st.lists(st.sampled_from(["END", " END", "END ", "touch pwned", "$(touch pwned)", "it's"]) | TEXTS, max_size=4)


@st.composite
def command_lines(draw: st.DrawFn) -> str:
    """Draw a search for any words, or a text for standard input; sometimes with a piece where it does not belong."""
    if draw(st.booleans()):
        line = " ".join(["recollect search", *draw(st.lists(WORDS, max_size=4))])
    else:
        line = "\n".join(["recollect candidate --new-info-file - <<'END'", *draw(BODIES), "END"])
    at = draw(st.integers(len("recollect "), len(line)))
    return line[:at] + draw(st.just("") | PIECES) + line[at:]


LOGGED = """#!/bin/sh
{ printf '%s\\0' "${0##*/}" "$#" "$@"; } >> "$LOG"
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with programs that only log how they were called."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("recollect", "touch"):
        (folder / name).write_text(LOGGED, encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh", "ksh") if shutil.which(shell)]


@settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[
        HealthCheck.filter_too_much,
        HealthCheck.function_scoped_fixture,
    ],
)
@given(line=command_lines(), shell=st.sampled_from(SHELLS), locale=st.sampled_from(["C", "C.UTF-8"]))
def test_every_shell_starts_one_program_with_the_words_that_were_read(
    programs: Path, tmp_path: Path, line: str, shell: str, locale: str
) -> None:
    step = own_step(line)
    assume(step)
    assert step
    log = programs / "log"
    log.unlink(missing_ok=True)
    (tmp_path / "file").touch()  # for globs to find
    done = subprocess.run(
        [shutil.which(shell) or shell, "-c", line],
        cwd=tmp_path,
        env={"PATH": str(programs), "LOG": str(log), "LC_ALL": locale, "HOME": "/home"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    words = [word.decode("utf-8") for word in log.read_bytes().split(b"\0")[:-1]]
    assert words == [step.words[0], str(len(step.words) - 1), *step.words[1:]]
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
