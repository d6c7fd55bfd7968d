"""What a transcript shows about the memories that its session was given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples

from recollect.domain.feedback.files import named_files, names_file, touched
from recollect.domain.feedback.kinds import CITED, CONTRADICTED, MENTIONED, SAID, TOUCHED
from recollect.domain.feedback.lines import HUMAN, MODEL, OUTSIDE, Line, Shown
from recollect.domain.feedback.signs import find_signs
from recollect.domain.triage.signs import Step

ID = "0123456789abcdef"
PROMPT = "How do I run the schema change on staging?"


def shown(**fields: Any) -> Shown:
    usual = {
        "id": ID,
        "at": "2026-11-17T10:00:05Z",
        "title": "Migrations take a Postgres advisory lock",
        "text": "Two deploys once collided; pgbouncer must be bypassed with port 5433 in transaction pooling.",
        "names": (ID, "decisions/migrations-advisory-lock.json"),
        "files": ("ops/migrate.sh",),
        "query": "schema staging",
    }
    return Shown(**{**usual, **fields})


class Session:
    """A transcript in the making: each call adds a line, a second later."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def add(self, source: str, text: str, *steps: Step) -> Session:
        number = len(self.lines) + 1
        self.lines.append(Line(number, f"2026-11-17T10:00:{number + 4:02d}.500Z", source, text, steps))
        return self

    def says(self, text: str, *steps: Step) -> Session:
        return self.add(MODEL, text, *steps)

    def asks(self, text: str) -> Session:
        return self.add(HUMAN, text)

    def reads(self, text: str) -> Session:
        return self.add(OUTSIDE, text)

    def signs(self, *memories: Shown, **options: Any) -> list[tuple[str, int, list[int]]]:
        found = find_signs(memories or [shown()], self.lines, **options)
        return [(sign.kind, sign.turn, list(sign.lines)) for sign in found if sign.kind != MENTIONED]

    def mentions(self, *memories: Shown) -> list[int]:
        """The lines that mention a memory first."""
        found = find_signs(memories or [shown()], self.lines)
        return [number for sign in found if sign.kind == MENTIONED for number in sign.lines]


def asked() -> Session:
    return Session().asks(PROMPT)


def bash(command: str) -> Step:
    return Step("Bash", {"command": command})


def read(path: str) -> Step:
    return Step("Read", {"file_path": path})


def test_rare_words_of_a_memory_in_the_answer_are_said() -> None:
    session = asked().says("I will bypass pgbouncer and use 5433 for it.")
    assert session.signs() == [(SAID, 1, [2])]


def test_words_given_to_a_tool_are_said() -> None:
    session = asked().says("", bash("psql -p 5433 # around pgbouncer, transaction pooling"))
    assert session.signs() == [(SAID, 1, [2])]


def test_a_run_of_rare_words_is_said() -> None:
    assert asked().says("First take a Postgres advisory lock.").signs() == [(SAID, 1, [2])]


def test_one_rare_word_says_nothing() -> None:
    assert asked().says("Check whether pgbouncer is up, then change the table.").signs() == []


def test_rare_words_far_apart_say_nothing() -> None:
    filler = "and then we look at the other things " * 10
    assert asked().says(f"pgbouncer {filler} collided {filler} pooling").signs() == []


def test_words_of_the_prompt_are_not_the_memorys() -> None:
    session = Session().asks("Does pgbouncer on 5433 break transaction pooling?")
    assert session.says("Yes, pgbouncer on 5433 breaks transaction pooling.").signs(shown(query="pgbouncer")) == []


def test_words_count_that_a_tool_showed_as_well() -> None:
    session = asked().says("", read("/p/compose.yml")).reads("pgbouncer: ports: 5433 pool_mode: transaction pooling")
    assert session.says("pgbouncer listens on 5433 with transaction pooling.").signs() == [(SAID, 1, [4])]


@pytest.mark.parametrize(
    ("answer", "is_said"),
    [
        ("It goes through pgbouncer.", False),
        ("Port 5433.", False),
        ("It goes through pgbouncer, with pooling.", True),
        (f"It goes through pgbouncer. {'Then more words follow here. ' * 8}Pooling is another matter.", False),
    ],
)
def test_two_rare_words_close_together_are_said_and_one_is_not(answer: str, is_said: bool) -> None:
    assert asked().says(answer).signs() == ([(SAID, 1, [2])] if is_said else [])


def test_lines_that_an_edit_keeps_are_not_said() -> None:
    known = "use pgbouncer with pooling"
    edit = Step("Edit", {"file_path": "/p/a.md", "old_string": known, "new_string": f"# New\n{known}"})
    assert asked().says("", edit).signs() == []
    edit = Step("Edit", {"file_path": "/p/a.md", "old_string": "# Old", "new_string": f"# New\n{known}"})
    assert asked().says("", edit).signs() == [(SAID, 1, [2])]


def test_words_that_the_model_had_before_are_not_the_memorys() -> None:
    session = Session().asks("What is this?").says("A pgbouncer on 5433 with transaction pooling.").asks(PROMPT)
    session.says("As I said: pgbouncer, 5433, transaction pooling.")
    assert session.signs(shown(at="2026-11-17T10:00:07Z")) == []


def test_only_lines_after_the_giving_count() -> None:
    session = Session().asks("Hello there").says("I bypass pgbouncer with 5433.").asks(PROMPT).says("Done.")
    assert session.signs(shown(at="2026-11-17T10:00:07Z")) == []


def test_a_start_counts_from_the_beginning() -> None:
    session = Session().asks("What now?").says("Bypass pgbouncer with 5433 now.")
    assert session.signs(shown(query="", at="2026-11-17T09:59:58Z")) == [(SAID, 1, [2])]


def test_words_of_many_memories_say_nothing() -> None:
    session = asked().says("I will bypass pgbouncer and use 5433 for it.")
    assert session.signs(frequent={"pgbouncer", "5433"}) == []


def test_a_memory_given_by_its_title_cannot_lend_its_text() -> None:
    session = asked().says("I will bypass pgbouncer and use 5433 for it.")
    assert session.signs(shown(text="", files=())) == []
    assert asked().says("The migrations take a Postgres advisory lock.").signs(shown(text=""))[0][0] == CITED


@pytest.mark.parametrize(
    "step",
    [Step("Edit", {"file_path": "/home/dev/shop/ops/migrate.sh"}), bash("sh ops/migrate.sh")],
    ids=["Edit", "Bash"],
)
def test_a_file_of_the_memory_is_touched(step: Step) -> None:
    assert asked().says("Looking.", step).signs(root="/home/dev/shop") == [(TOUCHED, 1, [2])]


@pytest.mark.parametrize(
    "step", [read("/home/dev/shop/ops/migrate.sh"), Step("Grep", {"path": "ops/migrate.sh"})], ids=["Read", "Grep"]
)
def test_a_file_that_is_only_read_is_touched_if_the_model_has_a_word_of_the_memory(step: Step) -> None:
    assert asked().says("Looking.", step).signs(root="/home/dev/shop") == []
    session = asked().says("Looking.", step).says("It does not bypass pgbouncer.")
    assert session.signs(root="/home/dev/shop") == [(TOUCHED, 1, [2])]


def test_a_file_that_is_read_and_then_changed_is_touched() -> None:
    path = "/home/dev/shop/ops/migrate.sh"
    session = asked().says("", read(path)).says("", Step("Write", {"file_path": path, "content": "x"}))
    assert session.signs(root="/home/dev/shop") == [(TOUCHED, 1, [2, 3])]


def test_a_file_is_touched_for_a_memory_that_was_given_by_its_title_before() -> None:
    session = asked().says("", Step("Edit", {"file_path": "ops/migrate.sh", "new_string": "exit 0"}))
    by_title = shown(at="2026-11-17T10:00:01Z", text="", files=(), query="")
    assert session.signs(shown(), by_title) == [("touched", 1, [2])]


def test_a_memory_is_mentioned_by_one_of_its_words_also_if_the_prompt_has_it() -> None:
    assert asked().says("Let me look.").mentions() == []
    assert asked().says("Let me look.").says("There is a pgbouncer.").says("pgbouncer again").mentions() == [3]
    session = Session().asks(f"{PROMPT} Through pgbouncer?").says("Through pgbouncer.")
    assert (session.signs(), session.mentions()) == ([], [2])


def test_a_memory_with_too_few_rare_words_counts_as_mentioned() -> None:
    assert asked().says("Let me look.").mentions(shown(title="What to do", text="Do it at once.")) == [2]


def test_a_file_that_the_prompt_names_is_not_touched_for_the_memory() -> None:
    session = Session().asks(f"{PROMPT} See migrate.sh.").says("", read("/home/dev/shop/ops/migrate.sh"))
    assert session.signs() == []


def test_a_file_that_a_person_names_later_was_touched_for_the_memory() -> None:
    session = asked().says("First pgbouncer.", read("/home/dev/shop/ops/migrate.sh")).asks("Is migrate.sh right?")
    assert session.signs() == [(TOUCHED, 1, [2])]


def test_a_memory_given_by_its_title_and_then_as_text_is_one_sign() -> None:
    title = shown(text="", files=(), query="", at="2026-11-17T10:00:00Z")
    session = asked().says("Take a Postgres advisory lock.")
    assert session.signs(title, shown()) == [(SAID, 1, [2])]


def test_a_file_touched_before_is_not_touched_for_the_memory() -> None:
    session = (
        Session().asks("Have a look").says("", read("ops/migrate.sh")).asks(PROMPT).says("", read("ops/migrate.sh"))
    )
    assert session.signs(shown(at="2026-11-17T10:00:07Z")) == []


def test_a_file_touched_much_later_is_no_sign() -> None:
    session = asked().says("Done.")
    for _ in range(4):
        session.asks("And now something else").says("Done.")
    assert session.says("", read("ops/migrate.sh")).signs() == []


@pytest.mark.parametrize(
    "text",
    [
        f"As memory {ID[:8]} says, we wait.",
        "See decisions/migrations-advisory-lock.json for the reason.",
        'There is "Migrations take a Postgres advisory lock", so wait.',
    ],
    ids=["id", "path", "title"],
)
def test_a_memory_named_by_the_model_is_cited(text: str) -> None:
    assert (CITED, 1, [2]) in asked().says(text).signs()


@pytest.mark.parametrize(
    "step",
    [
        Step("mcp__plugin_memory_recollect__get_memories", {"ids": [ID]}),
        Step("mcp__plugin_memory_recollect__store_memory", {"text": "pgbouncer 5433 transaction pooling"}),
        bash(f"recollect show {ID}"),
    ],
    ids=["get", "store", "show"],
)
def test_a_call_of_our_own_tools_is_no_sign(step: Step) -> None:
    assert asked().says("", step).signs() == []


def test_a_correction_of_what_the_model_took_from_it_contradicts_the_memory() -> None:
    session = asked().says("Bypass pgbouncer with 5433.").asks("No, we dropped pgbouncer; 5433 is gone.")
    assert session.signs() == [(SAID, 1, [2]), (CONTRADICTED, 3, [3])]


def test_a_correction_towards_the_memory_does_not_contradict_it() -> None:
    session = asked().says("Run it through the usual port.").asks("No, bypass pgbouncer with 5433.")
    assert session.signs() == []


@pytest.mark.parametrize("text", ["No problem, pgbouncer on 5433 it is.", "Great, pgbouncer on 5433 works."])
def test_agreement_contradicts_nothing(text: str) -> None:
    assert asked().says("Bypass pgbouncer with 5433.").asks(text).signs() == [(SAID, 1, [2])]


def test_a_correction_three_turns_later_is_about_something_else() -> None:
    session = asked().says("Bypass pgbouncer with 5433.").asks("Thanks, go on.").asks("And the tests?")
    assert session.asks("No, pgbouncer on 5433 is wrong.").signs() == [(SAID, 1, [2])]


STORE = "mcp__plugin_memory_recollect__store_memory"
SLUG = "migrations-advisory-lock"


@pytest.mark.parametrize(
    "step",
    [
        Step(STORE, {"text": "Bypass pgbouncer with 5433, see ops/migrate.sh."}),
        bash("recollect add 'Bypass pgbouncer with 5433' --file ops/migrate.sh"),
        bash("cd /p && /opt/recollect/bin/recollect search 'pgbouncer 5433'"),
        bash('recollect write --input - <<\'END\'\n{"decision": "Bypass pgbouncer with 5433"}\nEND'),
        bash("cat ops/migrate.sh | recollect add 'Bypass pgbouncer with 5433'"),
    ],
)
def test_a_use_of_recollect_itself_is_no_sign(step: Step) -> None:
    assert asked().says("", step).signs() == []


@pytest.mark.parametrize(
    ("step", "is_replaced"),
    [
        (Step(STORE, {"text": "new", "supersedes": ID}), True),
        (Step(STORE, {"text": "new", "supersedes": f"decision/{SLUG}"}), True),
        (Step(STORE, {"id": "f" * 16, "relation": "supersedes", "other": ID}), True),
        (Step(STORE, {"id": "f" * 16, "relation": "keep_both", "other": ID}), False),
        (Step(STORE, {"id": ID, "relation": "supersedes", "other": "f" * 16}), False),
        (bash(f"recollect add 'Something new' --supersedes={ID[:8]}"), True),
        (bash(f'recollect add "Something new" --supersedes "{SLUG}"'), True),
        (bash(f"recollect dedupe --supersede {'f' * 16} {ID}"), True),
        (bash(f"recollect dedupe --supersede {ID} {'f' * 16}"), False),
        (bash(f"echo recollect add --supersedes {ID}"), False),
    ],
)
def test_a_memory_that_supersedes_it_contradicts_it(step: Step, is_replaced: bool) -> None:
    session = asked().says("", step)
    found = [sign for sign in session.signs(shown(names=(ID, SLUG))) if sign[0] == CONTRADICTED]
    assert found == [(CONTRADICTED, 1, [2])] * is_replaced


def test_signs_of_a_turn_are_one_with_all_lines() -> None:
    session = asked().says("Bypass pgbouncer with 5433.").says("Again: pgbouncer, 5433.")
    assert session.signs() == [(SAID, 1, [2, 3])]


def test_prompts_within_a_second_are_told_apart_by_their_words() -> None:
    lines = [
        Line(1, "2026-11-17T10:00:05.100Z", HUMAN, "Hello, what is the weather like"),
        Line(2, "2026-11-17T10:00:05.200Z", MODEL, "Bypass pgbouncer with 5433."),
        Line(3, "2026-11-17T10:00:05.300Z", HUMAN, PROMPT),
    ]
    assert find_signs([shown()], lines) == []


TEXTS = st.sampled_from(
    [
        *(
            "pgbouncer",
            "pooling on 5433",
            "See ops/migrate.sh.",
            "No, that is wrong: pgbouncer pooling",
            "Let me look.",
        ),
        *("We no longer use pgbouncer.", "Migrations take a Postgres advisory lock", f"As {ID[:8]} says"),
    ]
)
EDIT = Step("Edit", {"file_path": "/p/ops/migrate.sh", "old_string": "a", "new_string": "pgbouncer"})
STEPS = st.sampled_from([(), (read("/p/ops/migrate.sh"),), (EDIT,), (bash("sh ops/migrate.sh"),)])
LINES = st.lists(st.tuples(st.sampled_from([HUMAN, MODEL, OUTSIDE]), TEXTS, STEPS), max_size=12)
FORMS = [shown(), shown(query=""), shown(text="", files=(), at="2026-11-17T10:00:00Z", query="")]
GIVEN = st.lists(st.sampled_from([*FORMS, shown(id="f" * 16, at="2026-11-17T10:00:09Z")]), min_size=1, max_size=3)


@settings(max_examples=examples(500))
@given(LINES, GIVEN)
def test_looking_earlier_finds_a_part_of_what_is_found_at_the_end(
    written: list[tuple[str, str, tuple[Step, ...]]], memories: list[Shown]
) -> None:
    """A stop looks at what is there; the next one finds the same again, and more."""
    session = asked()
    for source, text, steps in written:
        session.add(source, text, *(steps if source == MODEL else ()))
    whole = {(sign.id, sign.kind, sign.turn): list(sign.lines) for sign in find_signs(memories, session.lines)}
    assert all(len(set(lines)) == len(lines) for lines in whole.values())
    for seen in range(len(session.lines)):
        for sign in find_signs(memories, session.lines[:seen]):
            if sign.kind != MENTIONED:  # what is used later is not only mentioned
                assert whole[sign.id, sign.kind, sign.turn][: len(sign.lines)] == list(sign.lines)


@pytest.mark.parametrize(
    ("reference", "path", "is_named"),
    [
        ("src/pay.py", "/p/src/pay.py", True),
        ("src/pay.py", "src/pay.py", True),
        ("./src/pay.py:12", "/p/src/pay.py", True),
        ("pay.py", "/p/src/pay.py", True),
        ("README.md", "/p/docs/README.md", False),
        ("README.md", "/p/README.md", True),
        ("src/pay.py", "/p/src/repay.py", False),
        ("src/pay/", "/p/src/pay/card.py", True),
        ("", "/p/src/pay.py", False),
    ],
)
def test_a_reference_names_a_file(reference: str, path: str, is_named: bool) -> None:
    assert names_file(reference, path, "/p") is is_named


def test_files_of_a_memory_are_its_references_and_the_paths_in_its_text() -> None:
    text = "Edit `src/pay.py`, see https://example.com/a.html and (docs/pay.md)."
    assert named_files(text, ["ops/run.sh"]) == ["ops/run.sh", "src/pay.py", "docs/pay.md"]


def test_a_command_touches_the_paths_among_its_words() -> None:
    assert list(touched(bash("cat 'src/pay.py' && echo done > out.txt"))) == ["src/pay.py", "out.txt"]
