"""What a session's end is scored by, and what never counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import PATIENCE

from recollect.domain.entry import Entry, Part
from recollect.domain.start_block import block, markdown_status
from recollect.domain.triage.phrases import Lexicon, Rule, words_of
from recollect.domain.triage.said import CODE, masked_code, spoken_lines
from recollect.domain.triage.score import Activity, Finding, Said, clean_snippet, find, shown_snippet

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, os.pardir))
NOTHING = Activity(0, 0, 0)
THRESHOLDS = {"decision": 0.4, "runbook": 0.4, "constraint": 0.4, "tech_debt": 0.4, "preference": 0.4}
DECISION = "We decided on Postgres because the queue has four writers."

# The words that the scoring was first described with.
WORDS = {
    "decision": (
        "decided, chose, selected, went with, picked",
        "because, due to, reason, rationale, over, instead of, rather than",
    ),
    "runbook": (
        "error, exception, traceback, stack trace, failed, failure, crash",
        "fixed by, resolved, root cause, solution, workaround, the fix",
    ),
    "constraint": (
        "limitation, api limit, cannot, restricted, not supported, quota, rate limit",
        "discovered, found that, turns out, permanently, enduring, platform",
    ),
    "tech_debt": (
        "TODO, deferred, tech debt, workaround, hack, will address later, technical debt",
        "because, for now, temporary, acknowledged, deferring, cost, risk",
    ),
    "preference": (
        "always use, prefer, convention, from now on, standard, never use, established",
        "agreed, going forward, consistently, rule, practice, workflow",
    ),
}
PAIRS = [
    (category, primary, booster)
    for category, (primaries, boosters) in WORDS.items()
    for primary in primaries.split(", ")
    for booster in boosters.split(", ")
]


def found(*texts: str, role: str = "assistant", thresholds: dict[str, float] | None = None) -> dict[str, Finding]:
    said = [Said(role, text) for text in texts]
    return {finding.category: finding for finding in find(said, NOTHING, thresholds or THRESHOLDS)}


def score(*texts: str, category: str = "decision") -> float:
    finding = found(*texts, thresholds={category: 0.0}).get(category)
    return finding.score if finding else 0.0


@pytest.mark.parametrize(("category", "primary", "booster"), PAIRS)
def test_every_primary_beside_every_booster_tells_of_its_category(category: str, primary: str, booster: str) -> None:
    assert category in found(f"Alpha {primary} beta.\nGamma {booster} delta.", role="human")


def test_a_primary_counts_its_weight_and_a_boosted_one_both() -> None:
    assert score("We decided on Postgres.") == pytest.approx(0.3 / 1.9)
    assert score(DECISION) == pytest.approx(0.8 / 1.9)


@pytest.mark.parametrize(
    ("category", "text", "expected"),
    [
        ("runbook", "A crash. Resolved.", 0.8 / 1.8),
        ("constraint", "A quota. Turns out.", 0.8 / 1.9),
        ("tech_debt", "A hack. A risk.", 0.8 / 1.9),
        ("preference", "Our convention. Agreed.", 0.85 / 2.05),
    ],
)
def test_each_category_has_its_weights(category: str, text: str, expected: float) -> None:
    assert score(text, category=category) == pytest.approx(expected)


def test_a_sentence_counts_once_however_many_primaries_it_has() -> None:
    assert score("We decided, chose and picked.") == pytest.approx(0.3 / 1.9)


def test_three_primaries_and_two_boosted_ones_are_all_that_counts() -> None:
    assert score(*["We decided on Postgres."] * 9) == pytest.approx(0.9 / 1.9)
    assert score(*[DECISION] * 9) == pytest.approx(1.0)


def test_a_booster_four_sentences_away_boosts_and_five_away_does_not() -> None:
    near = "We decided on Postgres." + " Yes it did." * 3 + " Due to cost."
    far = "We decided on Postgres." + " Yes it did." * 4 + " Due to cost."
    assert score(near) == pytest.approx(0.8 / 1.9)
    assert score(far) == pytest.approx(0.3 / 1.9)


def test_a_booster_in_the_next_message_boosts_and_one_further_on_does_not() -> None:
    assert score("We decided on Postgres.", "Due to cost.") == pytest.approx(0.8 / 1.9)
    assert score("We decided on Postgres.", "Hello.", "Due to cost.") == pytest.approx(0.3 / 1.9)


@pytest.mark.parametrize(
    "text",
    [
        "Have we decided on Postgres because of the queue?",
        "I have not decided yet, because the numbers are missing.",
        "If we decided on Kafka we need three machines because of replication.",
        "The selected rows are sent over the network.",
        "The optimizer chose an index scan because the table is large.",
        "I picked up where we left, because you asked.",
    ],
)
def test_what_is_asked_denied_supposed_or_of_another_meaning_does_not_tell(text: str) -> None:
    assert found(text) == {}


def test_the_assistants_own_liking_is_no_preference_and_a_humans_is() -> None:
    text = "I prefer small functions, agreed."
    assert "preference" not in found(text, role="assistant")
    assert "preference" in found(text, role="human")


def test_a_category_without_threshold_is_not_looked_for() -> None:
    assert found(DECISION, thresholds={"runbook": 0.4}) == {}


def test_nothing_said_and_nothing_done_is_nothing_even_at_threshold_zero() -> None:
    assert find([], NOTHING, dict.fromkeys([*THRESHOLDS, "session_summary"], 0.0)) == []


def test_findings_come_best_first() -> None:
    said = [Said("assistant", DECISION), *[Said("assistant", "The error was fixed by a restart.")] * 3]
    activity = Activity(12, 1, 1)
    findings = find(said, activity, {**THRESHOLDS, "session_summary": 0.6})
    assert [finding.category for finding in findings] == ["runbook", "session_summary", "decision"]
    assert [finding.score for finding in findings] == sorted((finding.score for finding in findings), reverse=True)


def test_session_summary_is_scored_by_activity_alone() -> None:
    (finding,) = find([], Activity(6, 2, 5), {"session_summary": 0.6})
    assert finding.score == pytest.approx(0.6)
    assert finding.windows == ["Tool uses: 6\nDistinct tools: 2\nExchanges: 5"]
    assert find([], Activity(5, 2, 5), {"session_summary": 0.6}) == []
    assert find([], Activity(500, 9, 50), {"session_summary": 0.6})[0].score == 1.0


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{DECISION}\n```",
        f"~~~text\n{DECISION}\n~~~",
        f"````\n```\n{DECISION}\n````",
        f"> ```\n> {DECISION}\n> ```",
        f"```python\n{DECISION}",
        "It prints `we decided on it because` and ``chose ` over``.",
    ],
)
def test_code_does_not_count(text: str) -> None:
    assert score(text) == 0


def test_what_follows_code_counts() -> None:
    assert score(f"```\nx = 1\n```\n{DECISION}") > 0.4
    assert score("We decided on `sqlc` because of `orm`s.") > 0.4


@pytest.mark.parametrize(
    "text",
    [
        f'<memory-context source=".claude/memory/">\n- [DECISION] {DECISION}\n</memory-context>',
        f"<triage_data>\n{DECISION}\n</triage_data>",
        f"<transcript_data>\n{DECISION}\n\n{DECISION}\n</transcript_data>",
        f"<system-reminder>{DECISION}</system-reminder>",
        f"<system-reminder>\n{DECISION}",
        f"Stop hook feedback:\n- decision: {DECISION}\n\n{DECISION}",
        f"Fine.\n\nStop hook feedback:\n{DECISION}\n\nDone.",
    ],
)
def test_what_we_put_there_does_not_count(text: str) -> None:
    assert score(text) == 0


def test_what_follows_our_text_counts() -> None:
    assert score(f"<system-reminder>x</system-reminder>{DECISION}") > 0.4
    assert score(f"<triage_data>\nx\n</triage_data>\n{DECISION}") > 0.4
    assert score(f"Fine.\nStop hook feedback:\nx\n\n{DECISION}") > 0.4


def test_a_tag_in_inline_code_opens_nothing() -> None:
    assert score(f"The `<system-reminder>` tag is ours.\n{DECISION}") > 0.4


def test_the_block_that_a_session_starts_with_does_not_count() -> None:
    part = Part("description", DECISION, [DECISION], 1)
    entry = Entry(category="patterns", name="Queue", description=DECISION, heading="### Pattern: Queue", parts=[part])
    text = block([entry], markdown_status).text
    assert DECISION in text
    assert score(text) == 0
    assert score(text + DECISION) > 0.4


def test_a_snippet_is_the_telling_sentence_and_not_the_paragraph() -> None:
    finding = found(f"{'Some words. ' * 30}{DECISION} More words.")["decision"]
    assert finding.snippets == [DECISION]


def test_boosted_snippets_come_first_each_once_and_at_most_three() -> None:
    plain = "We picked {}."
    texts = [plain.format("one"), *["Yes it did."] * 5, DECISION, DECISION, *[plain.format(n) for n in "abc"]]
    snippets = found(*texts)["decision"].snippets
    assert snippets[0] == DECISION
    assert len(snippets) <= 3
    assert len(set(snippets)) == len(snippets)


def test_a_window_has_ten_lines_on_both_sides_and_says_who_spoke() -> None:
    before = "\n".join(f"b{number}" for number in range(20))
    after = "\n".join(f"a{number}" for number in range(20))
    (window,) = found(f"{before}\n{DECISION}\n{after}")["decision"].windows
    assert window.split("\n") == [*(f"b{n}" for n in range(10, 20)), DECISION, *(f"a{n}" for n in range(10))]
    (short,) = found("Hello.", DECISION)["decision"].windows
    assert short == f"assistant: Hello.\nassistant: {DECISION}"


def test_windows_that_touch_are_one_and_others_stay_apart() -> None:
    def windows(between: int) -> int:
        return len(found("\n".join([DECISION, *["x"] * between, DECISION]))["decision"].windows)

    assert windows(20) == 1
    assert windows(21) == 2


def test_windows_keep_inline_code_and_leave_out_fenced_code() -> None:
    (window,) = found(f"Use `uv`.\n```\nsecret = 1\n```\n{DECISION}")["decision"].windows
    assert window == f"assistant: Use `uv`.\n{DECISION}"


def test_a_snippet_is_cleaned() -> None:
    dirty = "a\x00b\x7f\u200bc\u202ed\u2066e\ufeff\U000e0041 `f` <g> & h\ti\nj"
    assert clean_snippet(dirty) == "abcde f <g> & h i j"
    assert shown_snippet(clean_snippet(dirty)) == "abcde f &lt;g&gt; &amp; h i j"


@given(st.text(alphabet="ab&<>` \t\u200b\x00", max_size=400))
def test_a_snippet_is_short_and_never_has_half_an_entity(text: str) -> None:
    snippet = shown_snippet(clean_snippet(text))
    assert len(snippet) <= 120
    bare = snippet.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")
    assert not set(bare) & set("&<>`\t\u200b\x00")


@given(st.lists(st.tuples(st.sampled_from(["human", "assistant"]), st.text(max_size=300)), max_size=8))
def test_any_text_gives_scores_from_zero_to_one(messages: list[tuple[str, str]]) -> None:
    said = [Said(role, text) for role, text in messages]
    for finding in find(said, NOTHING, dict.fromkeys(THRESHOLDS, 0.0)):
        assert 0 < finding.score <= 1
        assert finding.snippets
        assert finding.windows


@given(st.text(alphabet="`a<", max_size=60))
def test_masking_code_keeps_every_position(line: str) -> None:
    masked = masked_code(line)
    assert len(masked) == len(line)
    assert all(mark in (CODE, char) for mark, char in zip(masked, line, strict=True))
    assert all(len(shown) == len(hidden) for shown, hidden in spoken_lines(line))


def test_names_of_files_and_identifiers_are_no_words() -> None:
    assert words_of("See src/error/handler.py, on_error and it's “failed”.") == [
        *("^", "see", "src/error/handler.py", "on_error", "and", "its", "failed", "$"),
    ]


def _work(text: str) -> int:
    """How many lines of our code run for a text."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        nonlocal count
        if f"domain{os.sep}" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        find([Said("human", text)], NOTHING, THRESHOLDS)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "shape",
    [
        lambda size: "x\n" * size,
        lambda size: "error: we decided, because of the fix\n" * size,
        lambda size: "error decided cannot always " * size,
        lambda size: "`a ``b " * size,
        lambda size: "<system-reminder>a</system-reminder>b " * size,
        lambda size: "<system-reminder " * size,
        lambda size: "```\na\n````\n" * size,
        lambda size: "we decided. why? because! " * size,
    ],
)
def test_work_grows_with_the_text_and_not_faster(shape: Callable[[int], str]) -> None:
    assert _work(shape(1_000)) < 2.1 * _work(shape(500))


def test_importing_the_triage_brings_in_nothing_dear() -> None:
    code = (
        f"import sys; sys.path.insert(0, {os.path.join(ROOT, 'src')!r}); import recollect.domain.triage.score;"
        "print(*sorted({'re', 'json', 'typing', 'dataclasses', 'collections', 'functools', 'enum'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, encoding="utf-8", check=True, timeout=PATIENCE
    )
    assert result.stdout.strip() == ""


# A little below what bench/triage/run.py measures: precision and recall on dialogues of other authors that were held
# out by a hash, and on those that the words were chosen by.
FLOORS = {
    "decision": {"others": (0.85, 0.50), "seen": (0.90, 0.90), "dev": (0.90, 0.82)},
    "runbook": {"others": (0.90, 0.55), "seen": (0.85, 0.68), "dev": (0.90, 0.78)},
    "constraint": {"others": (0.90, 0.60), "seen": (0.90, 0.80), "dev": (0.90, 0.85)},
    "tech_debt": {"others": (0.90, 0.55), "seen": (0.90, 0.90), "dev": (0.90, 0.83)},
    "preference": {"others": (0.85, 0.50), "seen": (0.90, 0.90), "dev": (0.95, 0.83)},
    "session_summary": {"dev": (0.85, 0.95)},
}
MOST_QUIET_HELD = {"others": 4, "seen": 1}


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    command = [sys.executable, os.path.join(ROOT, "bench", "triage", "run.py"), "--json"]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=PATIENCE)
    return json.loads(result.stdout)


@pytest.mark.parametrize("category", FLOORS)
def test_precision_and_recall_on_labelled_dialogues_stay_above_their_floors(
    category: str, measured: dict[str, Any]
) -> None:
    for half, (precision, recall) in FLOORS[category].items():
        ours = measured["dialogues"][category]["ours"][half]
        assert ours["precision"] >= precision, (half, ours)
        assert ours["recall"] >= recall, (half, ours)


def test_few_quiet_sessions_are_held(measured: dict[str, Any]) -> None:
    for half, most in MOST_QUIET_HELD.items():
        counts = measured["sessions"]["ours"][half]
        assert counts["sessions"] >= 15
        assert counts["any"] <= most, (half, counts)


def scored(said: list[tuple[str, str]], **phrases: Any) -> float:
    """The score of a category of which only these phrases are known, with weights that can be told apart."""
    rule = Rule(phrases.pop("primary", "alpha"), phrases.pop("boosters", "because"), weights=(1, 10, 100), **phrases)
    rules = {"decision": rule}
    messages = [Said(role, text) for role, text in said]
    lexicon = Lexicon(rules, {"PET": "cat hunt~"})
    findings = find(messages, NOTHING, {"decision": 0.0}, rules=rules, lexicon=lexicon)
    return round(findings[0].score * 100) if findings else 0


@pytest.mark.parametrize("text", ["It is a cat now.", "They hunted it.", "Hunting."])
def test_a_class_stands_for_its_words_and_their_forms(text: str) -> None:
    assert scored([("human", text)], primary="PET") == 1


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("at .. most", "At most.", 1),
        ("at .. most", "At one two three most.", 1),
        ("at .. most", "At one two three four most.", 0),
        ("max #", "Max 20 rows.", 1),
        ("max #", "Max rows.", 0),
        ("i ED", "I walked.", 1),
        ("i ED", "I walk.", 0),
        ("^ ING it", "Raising it.", 1),
        ("^ ING it", "Stop raising it.", 0),
    ],
)
def test_a_phrase_may_have_gaps_numbers_and_endings(phrase: str, text: str, expected: int) -> None:
    assert scored([("human", text)], primary=phrase) == expected


def test_a_cue_tells_and_boosts_another_but_not_itself() -> None:
    assert scored([("human", "Later.")], cues="later, for now") == 1
    assert scored([("human", "Later, so ok for now.")], cues="later, for now") == 11
    assert scored([("human", "Later. Fine for now.")], cues="later, for now") == 22


def test_a_weak_phrase_tells_only_beside_a_booster_of_the_same_speaker() -> None:
    assert scored([("human", "Keep it.")], weak="keep") == 0
    assert scored([("human", "Keep it, because.")], weak="keep") == 11
    assert scored([("human", "Keep it. Because.")], weak="keep") == 11
    assert scored([("human", "Keep it. Well. Because.")], weak="keep") == 0
    assert scored([("human", "Keep it."), ("assistant", "Because.")], weak="keep") == 0


def test_a_weak_phrase_is_silenced_where_a_strong_one_is_not() -> None:
    assert scored([("human", "Keep this, because.")], weak="keep", unless_weak_human="this") == 0
    assert scored([("human", "Alpha this, because.")], weak="keep", unless_weak_human="this") == 11


def test_an_answer_boosts_what_the_other_said_and_nothing_else() -> None:
    assert scored([("human", "Alpha."), ("assistant", "It was so.")], answers="so") == 11
    assert scored([("human", "Alpha. It was so.")], answers="so") == 1
    assert scored([("human", "Keep it."), ("assistant", "It was so.")], weak="keep", answers="so") == 11


def test_an_answer_may_have_to_be_of_some_length() -> None:
    short, long = (
        [("human", "Alpha."), ("assistant", "So.")],
        [("human", "Alpha."), ("assistant", "So it was in there.")],
    )
    assert scored(short, answers="so", answer_words=6) == 1
    assert scored(long, answers="so", answer_words=6) == 11


def test_what_supports_adds_to_what_is_told_near_and_tells_nothing_alone() -> None:
    assert scored([("human", "Then so.")], support="then") == 0
    assert scored([("human", "Alpha. Then so.")], support="then") == 2
    assert scored([("human", "Alpha." + " Yes." * 4 + " Then so.")], support="then") == 1


def test_a_booster_may_be_within_reach_beyond_the_next_message() -> None:
    said = [("human", "Alpha."), ("assistant", "Hm."), ("human", "Because.")]
    assert scored(said) == 1
    assert scored(said, reach=2) == 11


def test_questions_tell_only_if_they_begin_with_what_may_be_asked() -> None:
    assert scored([("human", "Why alpha?")], asked=()) == 0
    assert scored([("human", "Why alpha?")], asked=("why",)) == 1
    assert scored([("human", "Alpha, why?")], asked=("why",)) == 0


COMPARED = "Rolling keeps one instance, while canary needs a second balancer."


@pytest.mark.parametrize(
    ("before", "answer", "chosen"),
    [
        (COMPARED, "Rolling. The balancer is somebody else's machine.", True),
        (COMPARED, "rolling, the balancer is somebody else's machine", True),
        (COMPARED, "Rolling.", False),
        (COMPARED, "Rolling? The balancer is somebody else's machine.", False),
        ("Rolling is set up.", "Lovely. That went by in a moment, bye.", False),
        ("Do you want rolling or canary?", "The one that leaves the balancer in peace, I think.", True),
        ("Do you want it?", "The one that leaves the balancer in peace, I think.", False),
    ],
)
def test_naming_one_of_what_was_compared_and_going_on_is_a_decision(before: str, answer: str, chosen: bool) -> None:
    said = [Said("assistant", before), Said("human", answer)]
    assert bool(find(said, NOTHING, {"decision": 0.4})) == chosen


@pytest.mark.parametrize("category", [*WORDS, "session_summary"])
def test_each_category_has_thirty_labelled_examples_of_both_kinds(category: str) -> None:
    with open(os.path.join(ROOT, "tests", "data", "triage", f"{category}.jsonl"), encoding="utf-8") as file:
        labels = [json.loads(line)["remember"] for line in file]
    assert labels.count(True) >= 30
    assert labels.count(False) >= 30
