"""What a note adds to a memory that is there, and that nothing of either is lost."""

from __future__ import annotations

from typing import Any

from recollect.learn.content import Draft
from recollect.learn.merge import history, merged_content, said_anew
from recollect.memories.likeness import plain

NOW = "2026-11-16T08:00:00Z"
DECISION = {"status": "accepted", "context": "c", "decision": "Use SQLite.", "rationale": ["no server", "one file"]}
DEBT = {"status": "open", "priority": "low", "description": "Old API.", "reason_deferred": "No time."}
RUNBOOK = {"trigger": "t", "steps": ["stop", "drain", "start"], "verification": "v"}


def merged(category: str, old: dict[str, Any], **said: Any) -> dict[str, Any]:
    return merged_content(category, old, Draft(said))


def test_words_alone_decide_whether_two_texts_are_the_same() -> None:
    assert plain("  Use\nSQLite, now! ") == plain("use SQLITE now")
    assert plain("C++ style") != plain("C style")
    assert plain("e\u0301tude") == plain("\u00c9tude") == "\u00e9tude"


def test_same_thing_in_part_says_nothing_new() -> None:
    assert said_anew("decision", DECISION, {"decision": "use sqlite", "rationale": ["One file."]}) == []


def test_sentence_that_is_part_of_its_opposite_is_new() -> None:
    old = {**DECISION, "decision": "Do not use SQLite."}
    assert said_anew("decision", old, {"decision": "Use SQLite."}) == ["decision"]


def test_more_reasons_for_the_same_thing_are_added() -> None:
    made = merged("decision", DECISION, decision="Use SQLite.", rationale=["one file", "it is fast"])
    assert made == {**DECISION, "rationale": ["no server", "one file", "it is fast"]}
    assert merged("tech_debt", DEBT, reason_deferred="Too risky.")["reason_deferred"] == "No time.\n\nToo risky."


def test_new_account_takes_the_place_of_the_old_and_of_its_reasons() -> None:
    made = merged("decision", DECISION, decision="Use PostgreSQL.", rationale=["several hosts"])
    assert made == {**DECISION, "decision": "Use PostgreSQL.", "rationale": ["several hosts"]}


def test_what_was_referred_to_stays_when_the_reasons_change() -> None:
    old = {**DECISION, "rationale": ["no server", "References: PR #1"]}
    made = merged("decision", old, decision="Use PostgreSQL.", rationale=["several hosts"])
    assert made["rationale"] == ["several hosts", "References: PR #1"]
    debt = merged("tech_debt", {**DEBT, "reason_deferred": "No time.\nReferences: PR #1"}, description="New.")
    assert debt["reason_deferred"] == "No time.\nReferences: PR #1"


def test_choice_is_replaced_and_what_is_not_said_stays() -> None:
    assert merged("tech_debt", DEBT, priority="high") == {**DEBT, "priority": "high"}


def test_steps_of_a_new_account_replace_the_old_ones_and_an_afterthought_follows_them() -> None:
    assert merged("runbook", RUNBOOK, steps=["stop", "flush", "start"])["steps"] == ["stop", "flush", "start"]
    more = merged("runbook", {**RUNBOOK, "root_cause": "It leaks."}, steps=["flush"], root_cause="It fills up.")
    assert more["steps"] == ["stop", "drain", "start", "flush"]
    assert more["root_cause"] == "It leaks.\n\nIt fills up."


def test_alternatives_and_examples_come_on_top() -> None:
    redis, files = ({"option": name, "rejected_reason": "slow"} for name in ("Redis", "files"))
    old = {**DECISION, "alternatives": [redis]}
    assert merged("decision", old, alternatives=[redis, files])["alternatives"] == [redis, files]
    preference = {"topic": "t", "value": "v", "reason": "r", "strength": "soft", "examples": {"avoid": ["a"]}}
    made = merged("preference", preference, examples={"avoid": ["b"], "prefer": ["c"]})
    assert made["examples"] == {"avoid": ["a", "b"], "prefer": ["c"]}


def test_history_keeps_what_an_update_does_not_keep_by_itself() -> None:
    long = "".join(f"{number:04}" for number in range(1_000))
    old = {**DECISION, "context": long}
    lines = list(history(old, {**old, "context": "short", "rationale": ["one file"]}, NOW))
    assert [line["field"] for line in lines] == ["content.context"] * 4 + ["content.rationale"]
    assert long[:999] + "".join(line["old_value"] for line in lines[:4]) == long
    assert lines[4]["old_value"] == "no server"


def test_history_does_not_keep_a_credential() -> None:
    old = {**DECISION, "rationale": ["ghp_" + "a1B2" * 9]}
    assert list(history(old, {**old, "rationale": ["none"]}, NOW)) == []
