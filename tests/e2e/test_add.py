"""`recollect add`: one line keeps a memory or a lesson; a form in the editor and standard input do, too."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import RECOLLECT, World

from recollect.domain.categories import CATEGORIES, KNOWLEDGE

ORDERS = "Orders live in PostgreSQL."


@pytest.fixture
def world(semantic_world: World) -> World:
    (semantic_world.project / ".git").mkdir(exist_ok=True)
    (semantic_world.project / "src").mkdir()
    (semantic_world.project / "src" / "cart.py").touch()
    return semantic_world


def added(world: World, *arguments: str, **options: Any) -> dict[str, Any]:
    done = world.run("add", *arguments, "--json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def editor(world: World, code: str) -> str:
    """Return an editor that runs some code on the text of a form."""
    script = world.home / "editor.py"
    script.write_text(
        f"import sys\npath = sys.argv[1]\ntext = open(path).read()\n{code}\nopen(path, 'w').write(text)\n",
        encoding="utf-8",
    )
    return f"python3 {script}"


@pytest.mark.parametrize("category", CATEGORIES)
def test_one_line_keeps_an_entry_of_any_category(world: World, category: str) -> None:
    done = added(world, category, ORDERS)
    assert (done["category"], done["title"], done["outcome"], done["guessed"]) == (
        category,
        "Orders live in PostgreSQL",
        "stored",
        False,
    )
    assert (done["path"] == "") == (category in KNOWLEDGE)
    assert json.loads(world.run("search", "orders postgresql", "--json").stdout)["hits"][0]["id"] == done["id"]
    assert world.run("show", "orders-live").returncode == 0
    if done["path"]:
        assert world.run("index", "--health").stdout.endswith("Overall: GOOD\n")


def test_first_memory_in_a_repository_says_once_that_memories_are_to_be_committed(world: World) -> None:
    notice = ".claude/memory is meant to be committed; `recollect init --git` keeps its merges easy.\n"
    assert "committed" not in world.run("add", "decision", ORDERS).stdout, "there is no repository yet"
    subprocess.run(["git", "init", "-q"], cwd=world.project, check=True)
    assert "committed" not in world.run("add", "patterns", "Jitter spreads retries over time.").stdout, "a lesson"
    assert world.run("add", "decision", "Carts live in SQLite.").stdout.endswith(notice)
    assert "committed" not in world.run("add", "decision", "Mails go out by a queue.").stdout


def test_everything_about_it_can_be_said_in_one_line(world: World) -> None:
    why = ["--why", "One server less.", "--tag", "db", "--when", "where to persist purchases", "--file", "src/cart.py"]
    done = world.run("add", "decision", ORDERS, *why)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Stored: Orders live in PostgreSQL (decision, id ")
    assert "guess" not in done.stdout
    path = ".claude/memory/decisions/orders-live-in-postgresql.json"
    assert f"It is in {path}." in done.stdout
    record = json.loads((world.project / path).read_text(encoding="utf-8"))
    assert record["content"]["decision"] == ORDERS
    assert record["content"]["rationale"] == ["One server less."]
    assert record["triggers"] == ["where to persist purchases"]
    assert record["related_files"] == ["src/cart.py"]
    assert "db" in record["tags"]
    world.run("add", "patterns", "Jitter spreads retries over time.", *why)
    shown = json.loads(world.run("show", "jitter", "--json").stdout)
    assert (shown["reasoning"], shown["keywords"], shown["triggers"], shown["references"], shown["origin"]) == (
        "One server less.",
        ["db"],
        ["where to persist purchases"],
        ["src/cart.py"],
        "you",
    )


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("We decided to keep orders in PostgreSQL instead of MongoDB.", "decision"),
        ("Orders live in PostgreSQL.", "decision"),
        ("To restart the queue, stop the worker and start it again.", "runbook"),
        ("The API allows at most 100 requests a minute.", "constraint"),
        ("For now the parser copies every line; this is a workaround.", "tech_debt"),
        ("We always use tabs in Makefiles.", "preference"),
        ("Retries without jitter overload the gateway.", "anti-patterns"),
        ("When in doubt, measure before you optimise.", "heuristics"),
        ("Golden files are a pattern that works well for parsers.", "patterns"),
        ("Today the carts were moved; next steps: remove the old table.", "session_summary"),
    ],
)
def test_category_is_guessed_and_said(world: World, text: str, category: str) -> None:
    done = world.run("add", text)
    assert done.returncode == 0, done.stderr
    assert f"({category}, id " in done.stdout
    assert f"The category {category} is a guess. To change it, `recollect retire " in done.stdout
    assert "`recollect add CATEGORY TEXT`" in done.stdout


def test_guess_outside_any_project_is_a_lesson(world: World) -> None:
    assert added(world, ORDERS, cwd=world.home)["category"] == "heuristics"
    done = world.run("add", "decision", ORDERS, cwd=world.home)
    assert done.returncode == 1
    assert "a decision belongs to a project, and there is none here; go to the project's folder" in done.stderr


def test_same_text_again_is_counted_and_new_facts_are_merged(world: World) -> None:
    added(world, "decision", ORDERS)
    assert added(world, "decision", ORDERS)["outcome"] == "reinforced"
    again = added(world, "decision", ORDERS, "--why", "One server less.")
    assert (again["outcome"], again["changed"]) == ("updated", ["rationale"])
    added(world, "patterns", "Jitter spreads retries over time.")
    assert added(world, "patterns", "Jitter spreads retries over time.")["outcome"] == "reinforced"


def test_similar_entries_are_named(world: World) -> None:
    first = added(world, "decision", "Orders live in PostgreSQL, because one server is enough.")
    done = world.run("add", "constraint", "Orders live in PostgreSQL, and nowhere else.")
    assert f"  {first['id']}  decision  Orders live in PostgreSQL, because one server is enough" in done.stdout


def test_credential_is_refused(world: World) -> None:
    done = world.run("add", "decision", "The token of the gateway is ghp_" + "a1" * 20)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Error: TEXT seems to hold a GitHub token" in done.stderr
    assert not (world.project / ".claude" / "memory").exists()


def test_standard_input_is_read(world: World) -> None:
    assert added(world, "-", stdin="We decided to keep carts in SQLite.\nIt needs no server.\n")["title"] == (
        "We decided to keep carts in SQLite"
    )
    assert added(world, "runbook", "-", stdin="Stop the worker. Start it again.\n")["category"] == "runbook"
    done = world.run("add", "-", stdin=" \n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard input is empty" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["we", "use", "tabs"],
            "'we' is no category\nA text of several words needs quotes: recollect add 'we use tabs'",
        ),
        (["foo", "bar"], "'foo' is no category\nA text of several words needs quotes: recollect add 'foo bar'"),
        (
            ["adr", "use", "tabs"],
            "more than one argument\nA text of several words needs quotes: recollect add decision 'use tabs'",
        ),
        (["desicion", "We use tabs."], "'desicion' is no category; did you mean decision?"),
        ([" "], "the text is empty"),
        ([], "no editor can be opened, because there is no terminal; give a TEXT"),
    ],
)
def test_wrong_use_is_an_error_of_usage(world: World, arguments: list[str], said: str) -> None:
    done = world.run("add", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_text_that_says_nothing_is_refused(world: World) -> None:
    done = world.run("add", "todo")
    assert done.returncode == 1
    assert "says too little to be of use later" in done.stderr


def test_title_is_the_one_that_was_given(world: World) -> None:
    done = added(world, "decision", ORDERS, "--title", "Home of the orders")
    assert (done["title"], done["path"]) == ("Home of the orders", ".claude/memory/decisions/home-of-the-orders.json")
    assert added(world, "pattern", "Retries need jitter, always.", "--title", "Jitter")["title"] == "Jitter"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x"], "TEXT says too little to be of use later: 'x'"),
        (
            [ORDERS, "--title", "t" * 300],
            "--title has 300 characters; at most 120 are allowed: the rest belongs in the TEXT",
        ),
        ([ORDERS, "--why", "w" * 9000], "--why has 9,000 characters"),
        ([ORDERS, "--when", "w" * 300], "--when: a trigger has at most 120 characters"),
        ([ORDERS, *(f"--when=when {number}" for number in range(9))], "--when: there are 9 triggers"),
        ([ORDERS, "--why", "password = hunter2hunter2xk29"], "--why seems to hold a password"),
        ([ORDERS, "--tag", "AKIAIOSFODNN7EXAMPLQ"], "--tag seems to hold an AWS access key"),
    ],
)
def test_error_names_what_was_typed(world: World, arguments: list[str], said: str) -> None:
    done = world.run("add", "decision", *arguments)
    assert (done.returncode, said in done.stderr) == (1, True), done.stderr
    assert not any(field in done.stderr for field in ("name ", "description", "reasoning", "references"))


def test_long_text_gets_a_short_title(world: World) -> None:
    done = added(world, "decision", "Orders " + "and carts and many other things " * 20 + "live in PostgreSQL.")
    assert done["title"].endswith("…")
    assert len(done["title"]) <= 81


def test_without_a_text_the_editor_opens_a_form(world: World) -> None:
    code = 'text = text.replace(\'text = """\\n\\n"""\', \'text = "Carts live in SQLite."\')'
    code += "\ntext = text.replace('why = \"\"', 'why = \"No server.\"').replace('tags = []', 'tags = [\"carts\"]')"
    done = added(world, "constraint", EDITOR=editor(world, code))
    assert (done["category"], done["title"], done["guessed"]) == ("constraint", "Carts live in SQLite", False)
    record = json.loads((world.project / done["path"]).read_text(encoding="utf-8"))
    assert record["content"]["impact"] == ["No server."]
    assert "carts" in record["tags"]
    assert added(world, EDITOR=editor(world, code))["guessed"] is True


def test_form_fits_into_eighty_columns(world: World) -> None:
    done = world.run("add", EDITOR=editor(world, "assert max(map(len, text.splitlines())) <= 80"))
    assert (done.returncode, done.stdout) == (0, "Nothing was kept: the text is empty.\n")


def test_form_without_a_text_keeps_nothing(world: World) -> None:
    done = world.run("add", EDITOR="true")
    assert (done.returncode, done.stdout) == (0, "Nothing was kept: the text is empty.\n")


def test_form_that_cannot_be_kept_is_not_lost(world: World, tmp_path: Path) -> None:
    code = 'text = text.replace(\'text = """\', \'category = 7\\ntext = """Carts live in SQLite.\')'
    done = world.run("add", EDITOR=editor(world, code), TMPDIR=str(tmp_path))
    assert done.returncode == 1
    [draft] = tmp_path.glob("*.toml")
    assert f"Your text is in {draft}; `recollect add --from {draft}` goes on with it." in done.stderr
    mend = editor(world, "text = text.replace('category = 7\\n', '')")
    assert added(world, "--from", str(draft), EDITOR=mend, TMPDIR=str(tmp_path))["title"] == "Carts live in SQLite"
    assert not draft.exists()


def test_lesson_is_kept_without_a_usable_store(world: World) -> None:
    (world.store / "memory.db").mkdir(parents=True)
    done = added(world, "patterns", "Jitter spreads retries over time.")
    assert done["outcome"] == "journalled"
    assert "Jitter spreads" in (world.store / "session-captures.jsonl").read_text(encoding="utf-8")
    assert added(world, "decision", ORDERS)["path"] != ""


def test_file_is_named_from_the_current_folder_and_must_exist(world: World) -> None:
    folder = world.project / "src"
    folder.mkdir(exist_ok=True)
    (folder / "orders.py").write_text("", encoding="utf-8")
    done = world.run("add", "decision", "Order ids are ULIDs.", "--file", "orders.py", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    path = world.project / json.loads(done.stdout)["path"]
    assert json.loads(path.read_text(encoding="utf-8"))["related_files"] == ["src/orders.py"]
    for missing in ("nope.py", "/etc/hostname", "../../elsewhere.py"):
        refused = world.run("add", "decision", "Events go through Kafka.", "--file", missing)
        assert refused.returncode == 2
        assert "--file: there is no" in refused.stderr


def test_text_that_is_empty_or_not_utf8_is_refused(world: World) -> None:
    assert world.run("add", "decision", "").returncode == 2
    command = [RECOLLECT, "add", "decision", "-"]
    refused = subprocess.run(
        command, cwd=world.project, env=world.environment({}), input=b"\xff\xfe", capture_output=True, check=False
    )
    assert refused.returncode == 2
    assert b"not UTF-8" in refused.stderr


def test_tag_for_a_known_text_is_added_and_named(world: World) -> None:
    assert world.run("add", "decision", "Use uv for environments.").returncode == 0
    done = json.loads(world.run("add", "decision", "Use uv for environments.", "--tag", "onlytag", "--json").stdout)
    assert (done["outcome"], done["changed"]) == ("updated", ["tags"])
    record = json.loads((world.project / done["path"]).read_text(encoding="utf-8"))
    assert "onlytag" in record["tags"]


@pytest.mark.parametrize("words", [["foo", "bar"], ["foo", "bar baz " * 50], ["decision", "x", "y"]])
def test_text_without_quotes_is_told_in_two_short_lines(world: World, words: list[str]) -> None:
    done = world.run("add", *words)
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) <= 110
