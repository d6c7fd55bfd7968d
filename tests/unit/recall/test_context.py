"""What a project's feature folders say about the session; projects here are no repositories."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect.errors
from recollect.recall.context import collect


@pytest.fixture
def feature(tmp_path):
    def make(folder, meta=None, **files):
        path = tmp_path / "docs" / "features" / folder
        path.mkdir(parents=True)
        if meta is not None:
            text = meta if isinstance(meta, str) else json.dumps(meta)
            (path / ".meta.json").write_text(text, encoding="utf-8")
        for name, text in files.items():
            (path / f"{name}.md").write_text(text, encoding="utf-8")
        return path

    return make


def active(slug, **more):
    return {"slug": slug, "status": "active", **more}


def test_project_without_anything_has_no_query(tmp_path):
    context = collect(str(tmp_path))
    assert (context.query, context.signals, context.warnings) == (None, [], [])


def test_active_feature_gives_slug_description_and_phase_in_this_order(tmp_path, feature):
    spec = "# Retries\n\nSend again\nuntil it succeeds.\n\n## Requirements\nNone.\n"
    feature("012-retries", active("retries", lastCompletedPhase="design"), spec=spec, prd="Not this.")
    context = collect(str(tmp_path))
    assert context.signals == ["retries", "Retries. Send again until it succeeds.", "Phase: design"]
    assert context.query == "retries. Retries. Send again until it succeeds.. Phase: design"


def test_description_comes_from_the_requirements_document_when_there_is_no_specification(tmp_path, feature):
    feature("1-a", active("a"), prd="From the requirements.\n## More\n")
    assert collect(str(tmp_path)).signals[1] == "From the requirements."


def test_description_has_at_most_a_hundred_words(tmp_path, feature):
    feature("1-a", active("a"), spec=" ".join(f"w{n}" for n in range(300)))
    assert collect(str(tmp_path)).signals[1] == " ".join(f"w{n}" for n in range(100))


def test_a_specification_with_nothing_before_its_sections_tells_what_they_say(tmp_path, feature):
    spec = "# Specification: Retries\n\n## Problem\nA webhook is attempted once.\n\n## Details\n- Status: none\n"
    feature("1-a", active("a"), spec=spec)
    assert collect(str(tmp_path)).signals[1] == "Specification: Retries. A webhook is attempted once."


@pytest.mark.parametrize("name", ["plan", "tasks"])
def test_plan_or_tasks_follow_the_phase(tmp_path, feature, name):
    feature("1-a", active("a"), spec="What it is.", **{name: "# Tasks\n\n- [x] Done\n- [ ] Write the parser\n"})
    assert collect(str(tmp_path)).signals == ["a", "What it is.", "Phase: unknown", "Plan: Tasks. Write the parser"]


def test_plan_is_shorter_than_the_specification_and_comes_before_tasks(tmp_path, feature):
    feature("1-a", active("a"), plan=" ".join(f"w{n}" for n in range(300)), tasks="Not this.")
    assert collect(str(tmp_path)).signals[2] == "Plan: " + " ".join(f"w{n}" for n in range(50))


def test_last_session_is_named_after_the_feature(tmp_path, feature):
    feature("1-a", active("a"))
    signals = collect(str(tmp_path), last_session="Retries\nreached the queue").signals
    assert signals == ["a", "Phase: unknown", "Last session: Retries reached the queue"]


def test_last_session_alone_is_a_context(tmp_path):
    assert collect(str(tmp_path), last_session="Wrote the parser").query == "Last session: Wrote the parser"


def test_words_without_end_are_cut(tmp_path, feature):
    feature("1-a", active("a" * 9000, lastCompletedPhase="p" * 9000), spec="x" * 900_000, plan="x" * 900_000)
    assert len(collect(str(tmp_path), last_session="x" * 9000).query) < 6_000


@pytest.mark.parametrize(
    "phase", [{}, {"lastCompletedPhase": None}, {"lastCompletedPhase": ""}, {"lastCompletedPhase": 3}]
)
def test_phase_that_is_not_said_is_unknown(tmp_path, feature, phase):
    feature("1-a", active("a", **phase))
    assert collect(str(tmp_path)).signals == ["a", "Phase: unknown"]


@pytest.mark.parametrize("slug", [{}, {"slug": None}, {"slug": ""}, {"slug": ["x"]}])
def test_folder_stands_in_for_a_slug_that_is_missing(tmp_path, feature, slug):
    feature("012-retries", {"status": "active", **slug})
    assert collect(str(tmp_path)).signals[0] == "012-retries"


@pytest.mark.parametrize(
    ("folders", "chosen"),
    [
        (["009-a", "012-b", "010-c"], "012-b"),
        (["9-a", "10-b"], "10-b"),
        (["zebra", "001-a"], "001-a"),
        (["zebra", "apple"], "zebra"),
        (["2fa-login", "1-a"], "1-a"),
        (["²-a", "1-b"], "1-b"),
        (["٣-a", "1-b"], "1-b"),
        (["012", "011-a"], "012"),
        (["9" * 200, "10-a"], "9" * 200),
    ],
)
def test_of_several_active_features_the_highest_number_counts(tmp_path, feature, folders, chosen):
    for folder in folders:
        feature(folder, active(folder))
    assert collect(str(tmp_path)).signals[0] == chosen


def test_feature_that_is_not_active_is_passed_over(tmp_path, feature):
    feature("1-a", active("a"))
    feature("2-b", {"slug": "b", "status": "completed"})
    feature("3-c", {"slug": "c", "status": ["active"]})
    feature("4-d")
    context = collect(str(tmp_path))
    assert (context.signals[0], context.warnings) == ("a", [])


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"active"', "[" * 60_000, '{"status": "active"', "9" * 5000])
def test_metadata_of_no_use_is_skipped_with_its_path(tmp_path, feature, text):
    feature("1-a", active("a"))
    broken = feature("2-b", text)
    context = collect(str(tmp_path))
    assert context.signals[0] == "a"
    [warning] = context.warnings
    assert str(broken / ".meta.json") in warning


def test_metadata_that_is_no_readable_file_is_skipped_with_its_path(tmp_path, feature):
    feature("1-a", active("a"))
    (feature("2-folder") / ".meta.json").mkdir()
    (feature("3-loop") / ".meta.json").symlink_to(".meta.json")
    (feature("4-dangling") / ".meta.json").symlink_to("nowhere")
    (feature("5-large") / ".meta.json").write_text("{" + " " * 70_000 + "}", encoding="utf-8")
    os.mkfifo(feature("6-pipe") / ".meta.json")
    context = collect(str(tmp_path))
    assert context.signals[0] == "a"
    assert len(context.warnings) == 5


def test_metadata_with_bytes_that_are_not_utf8_can_be_used(tmp_path, feature):
    (feature("1-a") / ".meta.json").write_bytes(b'\xef\xbb\xbf{"status": "active", "slug": "a\xff\\u200b"}')
    context = collect(str(tmp_path))
    assert context.signals[0] == "a?"
    context.query.encode("utf-8")


def test_strange_things_among_the_features_are_no_features(tmp_path, feature):
    folder = feature("1-a", active("a")).parent
    (folder / "README.md").write_text("x", encoding="utf-8")
    (folder / "loop").symlink_to("loop")
    (folder / "9-gone").symlink_to("nowhere")
    context = collect(str(tmp_path))
    assert (context.signals[0], context.warnings) == ("a", [])


def test_features_that_are_no_folder_are_none(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "features").write_text("x", encoding="utf-8")
    assert collect(str(tmp_path)).query is None


def test_features_that_lead_to_themselves_are_told(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "features").symlink_to("features")
    context = collect(str(tmp_path))
    assert context.query is None
    assert len(context.warnings) == 1


@pytest.mark.parametrize("how", ["folder", "pipe", "large", "loop"])
def test_specification_that_cannot_be_read_is_told_and_replaced(tmp_path, feature, how):
    folder = feature("1-a", active("a"), prd="Instead.")
    spec = folder / "spec.md"
    if how == "folder":
        spec.mkdir()
    elif how == "pipe":
        os.mkfifo(spec)
    elif how == "loop":
        spec.symlink_to("spec.md")
    else:
        spec.write_text("x" * (2 << 20), encoding="utf-8")
    context = collect(str(tmp_path))
    assert context.signals == ["a", "Instead.", "Phase: unknown"]
    assert str(spec) in context.warnings[0]


@pytest.mark.parametrize("name", ["spec.md", "prd.md", "plan.md", "tasks.md"])
def test_document_that_leads_out_of_the_project_is_not_read(tmp_path, name):
    project = tmp_path / "shop"
    secret = tmp_path / "secret.txt"
    secret.write_text("hunter2", encoding="utf-8")
    folder = project / "docs" / "features" / "1-a"
    folder.mkdir(parents=True)
    (folder / ".meta.json").write_text(json.dumps(active("a")), encoding="utf-8")
    (folder / name).symlink_to(secret)
    context = collect(str(project))
    assert context.signals == ["a", "Phase: unknown"]
    assert "leads out of the project" in context.warnings[0]


def test_an_active_feature_is_found_among_a_thousand(tmp_path, feature):
    for number in range(2, 1002):
        feature(f"{number}-x", {"status": "completed"})
    feature("1-a", active("a"))
    assert collect(str(tmp_path), seconds=60).signals[0] == "a"


def test_a_thousand_broken_features_make_few_warnings(tmp_path, feature):
    for number in range(1000):
        feature(f"{number}-x", "{")
    warnings = collect(str(tmp_path), seconds=60).warnings
    assert len(warnings) == 21
    assert "980 more" in warnings[-1]


def test_time_that_is_up_is_told(tmp_path, feature):
    feature("1-a", active("a"))
    context = collect(str(tmp_path), seconds=-1)
    assert context.query is None
    assert "took too long" in context.warnings[0]


@pytest.mark.parametrize("root", ["", "/nonexistent/x", "a\0b", "\udcff", "x" * 5000])
def test_any_root_is_accepted(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert collect(root).query is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(
    st.fixed_dictionaries({"status": st.just("active") | _JSON, "slug": _JSON, "lastCompletedPhase": _JSON}),
    st.binary(),
)
def test_any_metadata_and_specification_give_a_query_that_can_be_sent(tmp_path, meta, spec):
    folder = tmp_path / "docs" / "features" / "1-a"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".meta.json").write_text(json.dumps(meta), encoding="utf-8")
    (folder / "spec.md").write_bytes(spec)
    context = collect(str(tmp_path), seconds=60)
    query = (context.query or "").encode("utf-8")
    assert b"\n" not in query
    assert len(query.decode()) < 9_000


def test_context_of_a_project_without_features_loads_no_costly_module(tmp_path):
    source = str(Path(recollect.errors.__file__).parents[1])
    program = (
        f"import sys; sys.path.insert(0, {source!r})\n"
        "from recollect.recall.context import collect\n"
        f"collect({str(tmp_path)!r})\n"
        "print(*{'json', 're', 'subprocess', 'typing', 'dataclasses', 'pathlib', 'enum'} & set(sys.modules))"
    )
    bare = [sys.executable, "-I", "-S", "-c", program]
    done = subprocess.run(bare, capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout == "\n"
