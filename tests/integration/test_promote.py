"""Promotion against real files: what is written where, what is counted, what is refused."""

import json
import os
import re
import shutil
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples, link_worktree

from recollect.api import candidates_of, inject, promote
from recollect.config.settings import load_settings
from recollect.domain.hashing import content_hash
from recollect.errors import InvalidEntry, UnsafeEdit
from recollect.files.bank.bank import read_bank, read_bank_file
from recollect.promote.candidates import from_json

LESSON = {"name": "Read First", "description": "Read the file before you write.", "category": "patterns"}


def today():
    return time.strftime("%Y-%m-%d", time.gmtime())


def lesson(**fields):
    return from_json(json.dumps({**LESSON, **fields}))


def put(world, candidates=None, **options):
    options.setdefault("judgement", "universal")
    return promote(str(world.project), str(world.store), candidates or lesson(), **options)


def promote_new(world):
    candidates, warnings = candidates_of(str(world.project), str(world.store))
    result = promote(str(world.project), str(world.store), candidates, only_new=True)
    return result, warnings + result.warnings


def stored(world, category="patterns"):
    return (world.store / f"{category}.md").read_bytes().decode()


def entries(world):
    return read_bank(str(world.store), "global")[0]


def snapshot(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}


def local(world, category="patterns"):
    return (world.project / "docs" / "knowledge-bank" / f"{category}.md").read_bytes().decode()


# ---- nothing to do


def test_promotion_of_nothing_says_why(world, bank_text):
    assert world.run("promote").stdout.startswith(f"Nothing to promote: there are no entries in {world.project}")
    world.write_bank("patterns", bank_text("Pattern", 1))
    world.run("promote")
    done = world.run("promote")
    assert done.returncode == 0
    assert done.stdout == (
        f"Nothing to promote: nothing is new in {world.project}/docs/knowledge-bank since the last promotion.\n"
        "Memory promotion: 0 universal entries promoted to global store, 0 project-specific entries kept local.\n"
    )


# ---- the format of the store


@pytest.mark.parametrize(
    ("category", "plural", "label"),
    [
        ("patterns", "Patterns", "Pattern"),
        ("anti-patterns", "Anti-Patterns", "Anti-Pattern"),
        ("heuristics", "Heuristics", "Heuristic"),
    ],
)
def test_first_promotion_makes_the_store_with_header_and_entry_of_the_specified_form(world, category, plural, label):
    before = today()
    put(world, lesson(category=category, feature="42", confidence="high"))
    lines = stored(world, category).split("\n")
    assert lines[0] == f"# Global {plural}"
    assert lines[1] == ""
    assert lines[2].startswith("Cross-project learnings promoted from retrospectives. Automatically managed by ")
    assert lines[3].startswith("Do not edit manually — entries are updated ")
    assert lines[4] == ""
    assert lines[10].removeprefix("- Last observed: ") in (before, today())
    assert [*lines[5:10], *lines[11:]] == [
        f"### {label}: Read First",
        "Read the file before you write.",
        f"- Content-Hash: sha256:{content_hash('Read the file before you write.')}",
        "- Source: shop-front, Feature #42",
        "- Observation count: 1",
        "- Tags: universal",
        "- Confidence: high",
        "",
    ]
    assert sorted(name for name in os.listdir(world.store) if name.endswith(".md")) == [f"{category}.md"]


def test_second_entry_follows_the_first_after_a_blank_line(world):
    put(world)
    first = stored(world)
    put(world, lesson(name="Other", description="Another lesson."))
    assert stored(world).startswith(first + "\n### Pattern: Other\nAnother lesson.\n- Content-Hash: sha256:")


def test_entry_without_a_feature_names_only_the_project_as_its_source(world):
    put(world)
    assert "\n- Source: shop-front\n" in stored(world)


def test_project_that_the_entry_names_is_its_source(world):
    put(world, lesson(source_project="my-ai-setup", feature="#7"))
    assert "\n- Source: my-ai-setup, Feature #7\n" in stored(world)


def test_comma_and_line_break_in_a_project_name_do_not_break_the_source_line(world):
    put(world, lesson(source_project="a,b\n- Observation count: 900"))
    [entry] = entries(world)
    assert entry.observation_count == 1
    assert entry.metadata("source") == "a b - Observation count: 900"


def test_worktree_promotes_under_the_name_of_its_repository(world):
    tree = link_worktree(world.project, world.home / "fix-7")
    promote(str(tree), str(world.store), lesson(), judgement="universal")
    assert entries(world)[0].metadata("source") == "shop-front"


def test_other_metadata_travels_with_the_entry(world):
    world.write_bank(
        "anti-patterns",
        "### Anti-Pattern: Guessing\nDo not guess.\n- Observed in: Feature #3\n- Cost: a day\n- Instead: measure\n"
        "- **Benefit:** speed\n- Example: the parser\n  of last year\n- Keywords: guess, measure\n"
        "- References: https://docs.python.org\n- Reasoning: twice bitten\n- Confidence: low\n- Observation count: 9\n",
    )
    promote_new(world)
    text = stored(world, "anti-patterns")
    for line in (
        "Cost: a day",
        "Instead: measure",
        "**Benefit:** speed",
        "Example: the parser\n  of last year",
        "Keywords: guess, measure",
        "References: https://docs.python.org",
        "Reasoning: twice bitten",
        "Confidence: low",
        "Source: shop-front, Feature #3",
        "Observation count: 1",
    ):
        assert text.count(f"\n- {line}\n") == 1, line
    assert "Observed in" not in text


def test_json_metadata_travels_with_the_entry(world):
    put(world, lesson(keywords=["fts5", "sqlite"], references=["a.py"], reasoning="It failed\ntwice."))
    assert "\n- Keywords: fts5, sqlite\n- References: a.py\n- Reasoning: It failed twice.\n" in stored(world)


# ---- the same text again


def test_promote_same_text_twice_counts_two_observations(world):
    put(world)
    result = put(world)
    [entry] = entries(world)
    assert entry.observation_count == 2
    assert [(o.action, o.observation_count) for o in result.outcomes] == [("reinforced", 2)]
    assert result.promoted == 1


def test_same_text_in_other_case_and_spacing_is_the_same_text(world):
    put(world)
    put(world, lesson(name="Other Name", description="  READ the\n\tfile  before you write. "))
    [entry] = entries(world)
    assert (entry.name, entry.observation_count) == ("Read First", 2)


def test_known_text_gets_a_new_date_and_each_source_once(world):
    put(world, lesson(feature="5"))
    path = world.store / "patterns.md"
    path.write_text(re.sub(r"Last observed: .*", "Last observed: 2020-01-31", stored(world)), encoding="utf-8")
    before = today()
    put(world, lesson(source_project="other-project", feature="12"))
    put(world, lesson(source_project="other-project", feature="12"))
    put(world, lesson(feature="5"))
    [entry] = entries(world)
    assert entry.metadata("source") == "shop-front, Feature #5, other-project, Feature #12"
    assert entry.observation_count == 4
    assert entry.last_observed in (before, today())


def test_source_is_appended_also_when_a_longer_feature_number_is_there_already(world):
    put(world, lesson(feature="12"))
    put(world, lesson(feature="1"))
    assert entries(world)[0].metadata("source") == "shop-front, Feature #12, shop-front, Feature #1"


def test_project_whose_name_is_part_of_another_ones_is_counted_and_cited(world):
    other = world.home / "old-shop-front"
    for root in (other, world.project):
        folder = root / "docs" / "knowledge-bank"
        folder.mkdir(parents=True)
        (folder / "patterns.md").write_text("### Pattern: Read First\nRead before you write.\n", encoding="utf-8")
        candidates, _ = candidates_of(str(root), str(world.store))
        promote(str(root), str(world.store), candidates, only_new=True)
    [entry] = entries(world)
    assert entry.metadata("source") == "old-shop-front, shop-front"
    assert entry.observation_count == 2


def test_same_text_in_another_category_is_reinforced_where_it_is(world):
    put(world)
    result = put(world, lesson(category="heuristics"))
    assert not (world.store / "heuristics.md").exists()
    [entry] = entries(world)
    assert (entry.category, entry.observation_count) == ("patterns", 2)
    assert result.outcomes[0].action == "reinforced"


def test_same_text_twice_in_one_call_is_one_entry_with_two_observations(world):
    put(world, [*lesson(), *lesson(name="Again")])
    [entry] = entries(world)
    assert (entry.name, entry.observation_count) == ("Read First", 2)


def test_entry_that_was_edited_by_hand_is_known_by_its_stored_hash(world):
    put(world)
    path = world.store / "patterns.md"
    path.write_text(stored(world).replace("Read the file", "Do read the whole file"), encoding="utf-8")
    put(world)
    [entry] = entries(world)
    assert entry.description == "Do read the whole file before you write."
    assert entry.observation_count == 2


def test_entry_that_was_edited_by_hand_is_known_by_its_new_text_too(world):
    put(world)
    path = world.store / "patterns.md"
    path.write_text(stored(world).replace("Read the file", "Do read the file"), encoding="utf-8")
    put(world, lesson(description="Do read the file before you write."))
    assert [entry.observation_count for entry in entries(world)] == [2]


def test_hand_written_global_entry_without_metadata_gains_what_it_lacks(world):
    world.write_bank("patterns", "# Global Patterns\n\n### Read First\nRead the file before you write.\n", shared=True)
    put(world)
    [entry] = entries(world)
    assert (entry.observation_count, entry.metadata("source")) == (2, "shop-front")
    assert "### Read First\nRead the file before you write.\n- " in stored(world)


def test_untouched_entries_stay_byte_for_byte(world):
    odd = (
        "# Global Patterns\r\nmixed endings \n\n### Pattern:Odd   \n  text\t\n* **Observation Count**: 3 \n"
        "- a bullet\n\n---\n### Pattern: Known\nRead the file before you write.\n"
        "- **Observation count:** 3 (since May)\n- Confidence: HIGH\n\n"
        "## Other section\ntext\n### Pattern: Last\nlast text\n- Source: x"
    )
    path = world.write_bank("patterns", odd, shared=True)
    put(world)
    after = path.read_bytes().decode()
    assert after.startswith(odd.partition("### Pattern: Known")[0])
    assert after.endswith(odd.partition("## Other section")[1] + odd.partition("## Other section")[2])
    assert "- **Observation count:** 4 (since May)\n- Confidence: HIGH\n" in after


def test_new_entry_leaves_everything_before_it_byte_for_byte(world):
    odd = "# Global Patterns\n\n### Pattern:Odd   \n  text\t\n* x\n- a bullet\n\n\n## Section\nno newline"
    path = world.write_bank("patterns", odd, shared=True)
    put(world)
    assert path.read_bytes().decode().startswith(odd + "\n\n### Pattern: Read First\n")


def test_file_with_carriage_returns_keeps_them(world):
    entry = "### Pattern: Read First\r\nRead the file before you write.\r\n- Observation count: 1\r\n"
    text = f"# Global Patterns\r\n\r\n{entry}"
    path = world.write_bank("patterns", text, shared=True)
    put(world)
    put(world, lesson(name="New", description="Something new."))
    after = path.read_bytes()
    assert after.count(b"\n") == after.count(b"\r\n")
    assert b"- Observation count: 2\r\n" in after
    assert b"### Pattern: New\r\nSomething new.\r\n- Content-Hash: " in after


def test_bytes_that_are_not_utf8_survive_a_promotion(world):
    world.store.mkdir()
    odd = b"# Global Patterns\n\n### Pattern: \xff\xfe\n\x80 text\n- Cost: \xc3\x28\n"
    (world.store / "patterns.md").write_bytes(odd)
    put(world)
    assert (world.store / "patterns.md").read_bytes().startswith(odd)


def test_store_with_a_fence_that_swallows_new_entries_is_left_as_it_was(world):
    path = world.write_bank(
        "patterns", "### Pattern: Old\nText\n```\nnever closed\n- Observation count: 1\n", shared=True
    )
    before = path.read_bytes()
    with pytest.raises(UnsafeEdit, match=r"patterns\.md"):
        put(world, lesson(description="Run:\n```\n### not an entry\n```"))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "description",
    [
        "Do this:\n- first\n- second: thing",
        "- starts with a bullet",
        "- Observation count: 900",
        "### looks like an entry\nbut is not",
        "## looks like a section",
        "# Patterns",
        "above\n---\nbelow",
        "---",
        "```py\n### in a fence\n- also: here\n```",
        "~~~\n```\n### deep\n~~~",
        "before\n```\nnever closed",
        "```\nnever closed\n### not an entry\n- Observation count: 7",
        "a ``` b",
        "```inline``` text\n### heading",
        "* star\n+ plus\n1. one",
        "tabs\tand  two spaces",
        "ends with fence\n```",
        "Ünïcödé — “quotes” 日本語 🎉",
        "line\n\n\nafter blank lines",
        "- Content-Hash: sha256:0000000000000000",
    ],
)
def test_any_description_comes_back_with_the_same_hash_and_only_its_own_entry(world, description):
    [candidate] = lesson(description=description)
    put(world, [candidate])
    put(world, lesson(name="Next", description="The next lesson."))
    put(world, [candidate])
    first, second = entries(world)
    assert first.stored_hash == candidate.content_hash == content_hash(description)
    if "never closed" not in description and not description.endswith("\n```"):
        assert first.content_hash == first.stored_hash, "only a fence that had to be closed may change the text"
    assert (first.name, first.observation_count) == ("Read First", 2)
    assert (second.name, second.observation_count) == ("Next", 1)


@given(st.text(alphabet="ab-#`~: \n\t*>é", min_size=1, max_size=60), st.text(alphabet="ab-#`~ \n", max_size=40))
@settings(deadline=None, max_examples=examples(60))
def test_two_descriptions_of_any_shape_are_kept_apart(tmp_path_factory, one, two):
    root = tmp_path_factory.mktemp("promotion")
    project, store = root / "project", root / "store"
    project.mkdir()
    candidates = [c for text in (one, two, "The end.") if text.strip() for c in lesson(name="N", description=text)]
    for candidate in candidates:
        promote(str(project), str(store), [candidate], judgement="universal")
    found = read_bank(str(store), "global")[0]
    firsts: dict[str, str] = {}
    for candidate in candidates:
        firsts.setdefault(content_hash(candidate.description), candidate.content_hash)
    assert [(entry.content_hash, entry.stored_hash) for entry in found] == list(firsts.items())
    assert sum(entry.observation_count for entry in found) == len(candidates)


# ---- judgement


def test_caller_can_keep_a_general_lesson_local(world):
    result = put(world, judgement="project-specific")
    assert (result.promoted, result.kept) == (0, 1)
    assert not (world.store / "patterns.md").exists()
    assert str(result.outcomes[0].verdict) == "Project-specific because: the caller judged so"


def test_caller_can_promote_a_lesson_that_names_the_project(world):
    result = put(world, lesson(description="In shop-front, read src/main/cart.py first."))
    assert result.promoted == 1
    assert len(entries(world)) == 1


def test_lesson_that_names_the_project_stays_in_it(world):
    result = put(world, lesson(description="In shop-front, carts are slow."), judgement="")
    assert (result.promoted, result.kept) == (0, 1)
    assert entries(world) == []


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_" + "a1B2" * 9,
        "AKIA" + "ABCDEFGH12345678",
        "postgres://admin:hunter2@db.example.com/x",
        "-----BEGIN RSA PRIVATE KEY-----",
        "api_key = abcd1234efgh5678",
    ],
)
@pytest.mark.parametrize("field", ["description", "name", "reasoning"])
@pytest.mark.parametrize("judgement", ["universal", ""])
def test_credential_is_refused_as_json_and_never_promoted(world, secret, field, judgement):
    text = f"Log in so:\n{secret}\nand wait."
    with pytest.raises(InvalidEntry, match=r" seems to hold .*, which is never stored"):
        lesson(**{field: text})
    [candidate] = lesson()
    more = ("- Reasoning: " + text,) if field == "reasoning" else ()
    holding = replace(candidate, more=more, **({} if more else {field: text}))
    result = put(world, [replace(holding, in_bank=True)], judgement=judgement)
    assert result.promoted == 0
    assert "must not travel" in result.outcomes[0].verdict.reason
    assert all(secret.encode() not in content for content in snapshot(world.store).values())


def test_credential_in_the_metadata_of_a_bank_entry_is_never_promoted(world):
    world.write_bank("patterns", f"### Pattern: Log In\nLog in first.\n- Example: curl -H ghp_{'a1B2' * 9}\n")
    candidates, _ = candidates_of(str(world.project), str(world.store))
    assert put(world, candidates).promoted == 0


@pytest.mark.parametrize("field", ["source_project", "feature", "source", "references", "keywords"])
def test_credential_in_any_field_of_an_entry_is_refused(field):
    secret = "ghp_" + "a1B2" * 9
    with pytest.raises(InvalidEntry, match="a GitHub token"):
        lesson(**{field: [secret] if field in ("references", "keywords") else secret})


def test_project_specific_json_entry_is_saved_to_the_projects_bank_only(world):
    result = put(world, lesson(feature="9", keywords=["cart"]), judgement="project-specific")
    assert result.kept == 1
    assert entries(world) == []
    [entry] = read_bank(str(world.project / "docs" / "knowledge-bank"), "local")[0]
    assert (entry.name, entry.description) == ("Read First", "Read the file before you write.")
    assert local(world).startswith("# Patterns\n\n## Development Patterns\n\n### Pattern: Read First\n")
    assert "\n- Used in: Feature #9\n" in local(world)
    assert "\n- Keywords: cart\n" in local(world)
    assert "Content-Hash" not in local(world)


def test_project_specific_json_entry_is_saved_once_and_counted_again(world):
    put(world, judgement="project-specific")
    put(world, lesson(name="Again", category="heuristics", feature="7"), judgement="project-specific")
    [entry] = read_bank(str(world.project / "docs" / "knowledge-bank"), "local")[0]
    assert (entry.name, entry.observation_count) == ("Read First", 2)
    assert entry.metadata("last observed") == "Feature #7"


def test_promote_project_specific_entry_file_twice_counts_two_and_stays_retro(semantic_world):
    world = semantic_world
    file = world.home / "draft.json"
    file.write_text(json.dumps([{**LESSON, "source": "retro"}]), encoding="utf-8")
    arguments = ("promote", "--as", "project-specific", "--feature", "012", "--entry-file", str(file), "--json")
    words = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
    actions = [json.loads(world.run(*arguments, **words).stdout)["entries"][0] for _ in range(2)]
    assert [each["action"] for each in actions] == ["saved to the project's bank", "seen again in the project's bank"]
    assert [each["observation_count"] for each in actions] == [1, 2]
    assert local(world).count("### ") == 1
    assert "\n- Observation count: 2\n" in local(world)
    assert "\n- Last observed: Feature #012\n" in local(world)
    for step in ((), ("rebuild",)):
        assert not step or world.run(*step, **words).returncode == 0
        [shown] = json.loads(world.run("search", "--json", "--", "read file", **words).stdout)["hits"]
        assert (shown["source"], shown["observation_count"]) == ("retro", 2)
    world.run("promote", "--as", "universal", "Read First", **words)
    assert "\n- Recorded by: retro\n" in stored(world)


def test_entry_seen_again_without_a_feature_gets_the_date_and_keeps_its_other_bytes(world):
    path = world.write_bank("patterns", "# P\n\n### Read First\nRead the file before you write.\n* odd\n- Cost: x\n")
    before = today()
    put(world, lesson(description="Read the file before you write. * odd"), judgement="project-specific")
    added = [f"- Observation count: 2\n- Last observed: {day}\n" for day in (before, today())]  # it may be midnight
    kept = "# P\n\n### Read First\nRead the file before you write.\n* odd\n- Cost: x\n"
    assert path.read_text(encoding="utf-8") in [kept + each for each in added]


def test_bank_of_a_repository_cannot_say_that_its_user_recorded_an_entry(semantic_world):
    semantic_world.write_bank("patterns", "### Read First\nRead it.\n- Recorded by: manual\n")
    words = {"RECOLLECT_MEMORY_EMBEDDING_ENABLED": "false"}
    [shown] = json.loads(semantic_world.run("search", "--json", "--", "read", **words).stdout)["hits"]
    assert shown["source"] == "import"


def test_project_specific_entry_of_the_bank_leaves_the_bank_alone(world):
    path = world.write_bank("heuristics", "### Slow Carts\nIn shop-front, carts are slow.\n")
    before = path.read_bytes()
    result, _ = promote_new(world)
    assert result.kept == 1
    assert path.read_bytes() == before


def test_promotion_never_changes_the_projects_bank(world, bank_text):
    path = world.write_bank("patterns", bank_text("Pattern", 5))
    before = path.read_bytes()
    result, _ = promote_new(world)
    assert result.promoted == 5
    assert path.read_bytes() == before


# ---- all that are new


def test_second_run_promotes_nothing_and_changes_nothing(world, bank_text):
    world.write_bank("patterns", bank_text("Pattern", 3))
    assert promote_new(world)[0].promoted == 3
    before = snapshot(world.store)
    result, warnings = promote_new(world)
    assert (result.outcomes, warnings) == ([], [])
    assert snapshot(world.store) == before


def test_only_the_entry_that_was_added_since_is_promoted(world, bank_text):
    path = world.write_bank("patterns", bank_text("Pattern", 3))
    promote_new(world)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n### Pattern: Newcomer\nA new lesson.\n")
    result, _ = promote_new(world)
    assert [outcome.candidate.name for outcome in result.outcomes] == ["Newcomer"]
    assert [entry.observation_count for entry in entries(world)] == [1, 1, 1, 1]


def test_entry_that_was_kept_local_is_not_judged_again(world):
    world.write_bank("heuristics", "### Slow Carts\nIn shop-front, carts are slow.\n")
    promote_new(world)
    assert promote_new(world)[0].outcomes == []


def test_retired_entry_is_not_promoted(world, bank_text):
    path = world.write_bank("patterns", bank_text("Pattern", 2))
    path.write_text(bank_text("Pattern", 1), encoding="utf-8")
    assert promote_new(world)[0].promoted == 1


@pytest.mark.parametrize(
    "description",
    [
        "Zero\u200bwidth and \ufeffmarks.",
        "Run this:\n```\nmake all",
        "Form\x0cfeed.",
    ],
)
def test_entry_with_unusual_text_is_promoted_once_too(world, description):
    world.write_bank("patterns", f"### Pattern: Odd\n{description}\n")
    assert promote_new(world)[0].promoted == 1
    assert promote_new(world)[0].outcomes == []


@pytest.mark.parametrize("description", ["Zero\u200bwidth and \ufeffmarks.", "Run this:\n```\nmake all"])
def test_promoted_entry_with_unusual_text_is_injected_once(world, description):
    world.write_bank("patterns", f"### Pattern: Odd\n{description}\n")
    promote_new(world)
    block = inject(
        str(world.project),
        str(world.store),
        load_settings(str(world.project), {"RECOLLECT_MEMORY_SEMANTIC_ENABLED": "false"}),
    )
    assert len(block.entries) == 1


def test_project_that_was_moved_does_not_count_its_entries_again(world, bank_text):
    world.write_bank("patterns", bank_text("Pattern", 2))
    promote_new(world)
    moved = world.home / "elsewhere" / "shop-front"
    shutil.copytree(world.project, moved)
    candidates, _ = candidates_of(str(moved), str(world.store))
    promote(str(moved), str(world.store), candidates, only_new=True)
    assert [entry.observation_count for entry in entries(world)] == [1, 1]


@pytest.mark.parametrize("damage", ["{", "[]", "3", '{"x": 3}', '{"x": [1]}', "[" * 100_000, "\0"])
def test_damaged_ledger_is_warned_about_and_counts_nothing_twice(world, bank_text, damage):
    world.write_bank("patterns", bank_text("Pattern", 2))
    promote_new(world)
    (world.store / ".promoted.json").write_text(damage, encoding="utf-8")
    _, warnings = promote_new(world)
    assert any(".promoted.json is damaged" in warning for warning in warnings)
    assert [entry.observation_count for entry in entries(world)] == [1, 1]
    assert promote_new(world)[1] == []


def test_same_lesson_of_two_projects_counts_two_observations(world, bank_text):
    world.write_bank("patterns", bank_text("Pattern", 1))
    promote_new(world)
    other = world.home / "warehouse"
    shutil.copytree(world.project, other)
    candidates, _ = candidates_of(str(other), str(world.store))
    promote(str(other), str(world.store), candidates, only_new=True)
    [entry] = entries(world)
    assert entry.observation_count == 2
    assert entry.metadata("source") == "shop-front, Feature #007, warehouse, Feature #007"


def test_entry_without_description_is_left_with_a_warning(world):
    world.write_bank("patterns", "### Pattern: Empty\n- Used in: x\n\n### Pattern: Full\nText.\n")
    result, warnings = promote_new(world)
    assert [outcome.candidate.name for outcome in result.outcomes] == ["Full"]
    [warning] = warnings
    assert "Pattern: Empty" in warning
    assert "no description" in warning


def test_promotion_by_name_counts_each_time_it_is_asked_for(world, bank_text):
    world.write_bank("patterns", bank_text("Pattern", 2))
    for _ in range(2):
        candidates, _ = candidates_of(str(world.project), str(world.store), ["lesson 1"])
        promote(str(world.project), str(world.store), candidates)
    assert [(entry.name, entry.observation_count) for entry in entries(world)] == [("Lesson 1", 2)]


# ---- the command


def test_command_reports_each_verdict_and_closes_with_the_specified_line(world):
    world.write_bank("patterns", "### Pattern: General\nRead before you write.\n")
    world.write_bank("heuristics", "### Slow Carts\nIn shop-front, carts are slow.\n")
    done = world.run("promote")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-1] == (
        "Memory promotion: 1 universal entries promoted to global store, 1 project-specific entries kept local."
    )
    assert any(line.strip().startswith("Universal because: ") for line in lines)
    assert any(line.strip().startswith("Project-specific because: it names shop-front") for line in lines)


def test_command_uses_the_store_of_its_option_before_that_of_the_environment(world):
    done = world.run("promote", "--global-store", str(world.home / "other"), "--entry-json", json.dumps(LESSON))
    assert done.returncode == 0
    assert (world.home / "other" / "patterns.md").exists()
    assert not world.store.exists()


def test_command_uses_the_specified_place_when_nothing_is_said(world):
    done = world.run("promote", "--entry-json", json.dumps(LESSON), RECOLLECT_HOME="")
    assert done.returncode == 0
    assert (world.home / ".claude" / "iflow" / "memory" / "patterns.md").exists()


def test_command_takes_an_entry_from_an_argument_a_file_and_standard_input(world):
    text = json.dumps(LESSON)
    (world.home / "entry.json").write_text(text, encoding="utf-8")
    assert world.run("promote", "--entry-json", text).returncode == 0
    assert world.run("promote", "--entry-file", str(world.home / "entry.json")).returncode == 0
    assert world.run("promote", "--entry-file", "-", stdin=text).returncode == 0
    assert [entry.observation_count for entry in entries(world)] == [3]


def test_command_takes_an_array_of_entries(world):
    several = json.dumps([LESSON, {**LESSON, "name": "Other", "description": "Other text."}])
    done = world.run("promote", "--entry-file", "-", stdin=several)
    assert "2 universal entries promoted" in done.stdout
    assert len(entries(world)) == 2


def test_command_gives_the_feature_to_entries_that_name_none(world):
    world.run("promote", "--feature", "#42", "--entry-json", json.dumps(LESSON))
    assert entries(world)[0].metadata("source") == "shop-front, Feature #42"


@pytest.mark.parametrize(("judgement", "count"), [("universal", 1), ("project-specific", 0)])
def test_command_takes_the_callers_judgement(world, judgement, count):
    text = json.dumps({**LESSON, "description": "shop-front needs src/cart/total.py." if count else "Read first."})
    done = world.run("promote", "--as", judgement, "--entry-json", text)
    assert done.returncode == 0
    assert f"{judgement.capitalize()} because: the caller judged so" in done.stdout
    assert len(entries(world)) == count


def test_command_finds_entries_by_name_and_refuses_unknown_and_ambiguous_ones(world):
    world.write_bank("patterns", "### Pattern: Small Steps\nOne change at a time.\n\n### Pattern: Other\nOther text.\n")
    world.write_bank("heuristics", "### Small Steps\nOne file per task.\n")
    unknown = world.run("promote", "Smal Steps")
    assert unknown.returncode == 1
    assert unknown.stderr.startswith("Error: no entry is named 'Smal Steps'")
    assert "'Small Steps'" in unknown.stderr
    ambiguous = world.run("promote", "small steps")
    assert ambiguous.returncode == 1
    assert "'Pattern: Small Steps', 'Heuristic: Small Steps'" in ambiguous.stderr.replace(
        "'Heuristic: Small Steps', 'Pattern: Small Steps'", "'Pattern: Small Steps', 'Heuristic: Small Steps'"
    )
    assert not world.store.exists()
    assert world.run("promote", "heuristic: small steps", "OTHER").returncode == 0
    assert {entry.title for entry in entries(world)} == {"Heuristic: Small Steps", "Pattern: Other"}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"name": ""}, "name"),
        ({"description": ""}, "description"),
        ({"category": "lessons"}, "category"),
        ({"confidence": "sure"}, "confidence"),
        ({"keywords": "a"}, "keywords"),
        ({"references": [1]}, "references"),
        ({"titel": "x"}, "titel"),
    ],
)
@pytest.mark.parametrize("way", ["argument", "standard input"])
def test_command_exits_1_and_names_the_field_of_an_entry_that_cannot_be_stored(world, change, named, way):
    text = json.dumps([LESSON, {**LESSON, **change}])
    arguments = ("--entry-json", text) if way == "argument" else ("--entry-file", "-")
    done = world.run("promote", *arguments, stdin=text)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: entry 2: ")
    assert named in done.stderr
    assert done.stderr.count("\n") == 1
    assert not world.store.exists()
    assert os.listdir(world.project) == []


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "3"])
def test_command_exits_1_for_what_is_no_entry(world, text):
    done = world.run("promote", "--entry-json", text)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert not world.store.exists()


@pytest.mark.parametrize("file", ["missing.json", "."])
def test_command_exits_1_and_names_the_file_that_cannot_be_read(world, file):
    done = world.run("promote", "--entry-file", file)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert file in done.stderr
    assert not world.store.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("Name", "--entry-json", "{}"),
        ("--entry-json", "{}", "--entry-file", "x"),
        ("Name", "--entry-file", "-"),
        ("--as", "maybe"),
        ("--no-such-option",),
        ("--entry-json",),
        ("--project-root", "/no/such/folder"),
    ],
)
def test_command_exits_2_for_wrong_usage(world, arguments):
    done = world.run("promote", *arguments)
    assert done.returncode == 2
    assert "Error: " in done.stderr
    assert not world.store.exists()


@pytest.mark.parametrize("judgement", [(), ("--as", "universal"), ("--as", "project-specific")])
def test_dry_run_reports_and_writes_nothing_at_all(world, bank_text, judgement):
    world.write_bank("patterns", bank_text("Pattern", 2))
    before = snapshot(world.home)
    for source in ((), ("Lesson 1",), ("--entry-json", json.dumps(LESSON))):
        done = world.run("promote", "--dry-run", *judgement, *source)
        assert done.returncode == 0, done.stderr
        assert "because: " in done.stdout
        assert done.stdout.splitlines()[-1].startswith("Dry run: ")
    assert snapshot(world.home) == before
    assert not world.store.exists()


def test_json_output_has_the_documented_shape(world):
    world.write_bank("patterns", "### Pattern: General\nRead before you write.\n\n### Pattern: Empty\n- x: y\n")
    world.write_bank("heuristics", "### Slow Carts\nIn shop-front, carts are slow.\n")
    shown = json.loads(world.run("promote", "--json").stdout)
    assert set(shown) == {"promoted", "kept", "dry_run", "entries", "warnings", "summary"}
    assert (shown["promoted"], shown["kept"], shown["dry_run"]) == (1, 1, False)
    assert len(shown["warnings"]) == 1
    assert shown["summary"].startswith("Memory promotion: 1 universal")
    by_name = {entry["name"]: entry for entry in shown["entries"]}
    general = by_name["General"]
    assert {"id", "category", "name", "universal", "reason", "action", "observation_count"} <= set(general)
    assert general["id"] == content_hash("Read before you write.")
    assert (general["category"], general["universal"], general["action"]) == ("patterns", True, "added")
    assert general["observation_count"] == 1
    assert (by_name["Slow Carts"]["universal"], by_name["Slow Carts"]["action"]) == (False, "kept local")


def test_json_output_of_a_dry_run_says_so(world):
    shown = json.loads(world.run("promote", "--json", "--dry-run", "--entry-json", json.dumps(LESSON)).stdout)
    assert (shown["dry_run"], shown["promoted"], shown["entries"][0]["universal"]) == (True, 0, True)


def test_command_warns_about_a_damaged_ledger_once(world, bank_text):
    world.write_bank("patterns", bank_text("Pattern", 1))
    world.store.mkdir()
    (world.store / ".promoted.json").write_text("{", encoding="utf-8")
    done = world.run("promote")
    assert done.returncode == 0
    assert done.stderr.count("is damaged") == 1


def test_command_reports_wrong_settings_and_promotes_all_the_same(world):
    world.write_local_settings("memory_injection_limt: 3\n")
    done = world.run("promote", "--entry-json", json.dumps(LESSON))
    assert done.returncode == 0
    assert "did you mean memory_injection_limit?" in done.stderr
    assert len(entries(world)) == 1


def test_promoted_entry_reaches_a_session_of_another_project(world):
    world.run("promote", "--entry-json", json.dumps(LESSON))
    other = world.home / "warehouse"
    other.mkdir()
    done = world.run("inject", "--project-root", str(other))
    assert "Read the file before you write." in done.stdout
    assert "(0 local, 1 global)" in done.stdout


def test_file_of_the_store_is_read_back_as_it_was_written(world):
    put(world)
    path = str(world.store / "patterns.md")
    assert read_bank_file(path, "global").text == stored(world)


# ---- what acceptance tests found


def test_entry_file_that_does_not_exist_is_named_as_such(world):
    done = world.run("promote", "--entry-file", str(world.home / "nope.json"))
    assert done.returncode == 1
    assert done.stderr == f"Error: there is no file {world.home / 'nope.json'}\n"


def test_entry_file_may_begin_with_a_byte_order_mark(world):
    path = world.home / "entry.json"
    path.write_text("\ufeff" + json.dumps(LESSON), encoding="utf-8")
    assert world.run("promote", "--entry-file", str(path)).returncode == 0
    assert len(entries(world)) == 1


def test_entry_that_counts_already_is_not_reported_as_promoted(world, bank_text):
    world.write_bank("patterns", bank_text("Pattern", 1))
    world.run("promote")
    (world.store / ".promoted.json").unlink()
    done = world.run("promote")
    assert done.stdout.startswith("· counted before Pattern: Lesson 1\n")
    assert "Memory promotion: 0 universal entries promoted to global store" in done.stdout
    assert entries(world)[0].observation_count == 1


def test_unknown_field_and_missing_category_say_what_there_is(world):
    for entry, expected in (
        ({"act": {}}, "unknown field 'act'; the fields are category, confidence, description"),
        ({"name": "n", "description": "d"}, "category is missing; it is one of anti-patterns, heuristics, patterns"),
    ):
        done = world.run("promote", "--entry-json", json.dumps(entry))
        assert done.returncode == 1
        assert expected in done.stderr


def test_paragraph_after_the_metadata_stays_a_paragraph(world):
    world.write_bank("patterns", "### Pattern: P\nA lesson.\n- Benefit: fast\n\nA closing paragraph.\n")
    promote_new(world)
    [entry] = entries(world)
    assert entry.metadata("benefit") == "fast"
    assert stored(world).endswith("- Benefit: fast\n\nA closing paragraph.\n")


def test_absurd_counts_and_dates_have_no_weight(world):
    text = "\n".join(
        f"### Pattern: P{n}\nLesson {n}.\n- Observation count: {count}\n- Last observed: {date}\n"
        for n, (count, date) in enumerate([("-5", "2026-13-45"), ("9" * 30, "2026-01-01"), ("2", "2026-12-31")])
    )
    world.write_bank("patterns", text, shared=True)
    found = entries(world)
    assert [entry.observation_count for entry in found] == [1, 999_999_999, 2]
    assert [entry.last_observed for entry in found] == ["", "2026-01-01", "2026-12-31"]
    put(world, lesson(description="Lesson 1."))
    assert entries(world)[1].observation_count == 999_999_999
