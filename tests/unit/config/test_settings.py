"""Loading settings: the `key: value` reader, the merge order, and what happens to values that cannot be used."""

import json
import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples

from recollect.config.settings import coerce, load_settings
from recollect.config.settings_edit import complaints
from recollect.config.settings_keys import BY_NAME, KEYS

LOCAL = ".claude/iflow-dev.local.md"
SHARED = ".claude/memory/memory-config.json"


def write(root, relative, content):
    path = root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def load(root, local=None, shared=None, env=None):
    (root / ".git").mkdir(
        parents=True, exist_ok=True
    )  # in a repository that does not track them, files are the user's own
    if local is not None:
        write(root, LOCAL, local)
    if shared is not None:
        write(root, SHARED, shared if isinstance(shared, str | bytes) else json.dumps(shared))
    return load_settings(str(root), env or {})


def nested(name, value):
    for part in reversed(name.split(".")):
        value = {part: value}
    return value


# ---- the reader of `key: value` lines


def test_settings_without_any_file_are_the_defaults(tmp_path):
    loaded = load(tmp_path)
    assert loaded.problems == []
    for key in KEYS:
        assert loaded.value(key.name) == key.default
        assert loaded.source(key.name) == "default"


def test_line_in_front_matter_counts(tmp_path):
    loaded = load(tmp_path, "---\nyolo_mode: false\nmemory_injection_limit: 7\n---\n\n# Notes\n")
    assert loaded.value("memory_injection_limit") == 7
    assert loaded.source("memory_injection_limit") == "iflow-dev.local.md"


def test_line_outside_front_matter_counts(tmp_path):
    loaded = load(tmp_path, "---\nyolo_mode: on\n---\n\nprose\nmemory_injection_limit: 7\n")
    assert loaded.value("memory_injection_limit") == 7


def test_line_in_fenced_code_counts(tmp_path):
    loaded = load(tmp_path, "# Example\n\n```yaml\nmemory_injection_limit: 7\n```\n")
    assert loaded.value("memory_injection_limit") == 7


def test_last_line_without_newline_counts(tmp_path):
    assert load(tmp_path, "memory_injection_limit: 7").value("memory_injection_limit") == 7


def test_first_line_of_a_key_wins(tmp_path):
    loaded = load(tmp_path, "memory_injection_limit: 7\nmemory_injection_limit: 8\n")
    assert loaded.value("memory_injection_limit") == 7


def test_first_line_of_a_key_wins_even_when_its_value_is_wrong(tmp_path):
    loaded = load(tmp_path, "memory_injection_limit: seven\nmemory_injection_limit: 8\n")
    assert loaded.value("memory_injection_limit") == 20
    assert len(loaded.problems) == 1


def test_first_line_of_a_key_wins_even_when_it_is_empty(tmp_path):
    loaded = load(tmp_path, "memory_injection_limit:\nmemory_injection_limit: 8\n")
    assert loaded.value("memory_injection_limit") == 20


def test_key_without_value_is_a_missing_key_and_no_problem(tmp_path):
    loaded = load(tmp_path, "memory_injection_limit:   \n")
    assert loaded.value("memory_injection_limit") == 20
    assert loaded.source("memory_injection_limit") == "default"
    assert loaded.problems == []


@pytest.mark.parametrize(
    "line",
    [
        "memory_embedding_model: gemini embedding 001",
        "memory_embedding_model:geminiembedding001",
        "memory_embedding_model:    g e m i n i embedding001    ",
    ],
)
def test_all_spaces_of_a_value_are_stripped_also_inside(tmp_path, line):
    assert load(tmp_path, line + "\n").value("memory_embedding_model") == "geminiembedding001"


@pytest.mark.parametrize(
    "content",
    [
        "memory_injection_limit:\t7\t\n",
        "memory_injection_limit: 7\r\nmemory_injection_enabled: false\r\n",
        "memory_injection_limit: 7 \t\r\n",
    ],
)
def test_tabs_around_a_value_and_carriage_returns_are_tolerated(tmp_path, content):
    loaded = load(tmp_path, content)
    assert loaded.value("memory_injection_limit") == 7
    assert loaded.problems == []


@pytest.mark.parametrize(
    "line",
    [
        " memory_injection_limit: 7",
        "\tmemory_injection_limit: 7",
        "- memory_injection_limit: 7",
        "* memory_injection_limit: 7",
        "# memory_injection_limit: 7",
        "> memory_injection_limit: 7",
        "`memory_injection_limit: 7`",
        "memory_injection_limit = 7",
        "MEMORY_INJECTION_LIMIT: 7",
        "xmemory_injection_limit: 7",
        "memory_injection_limit 7",
    ],
)
def test_line_that_does_not_begin_with_key_and_colon_does_not_count(tmp_path, line):
    assert load(tmp_path, line + "\n").value("memory_injection_limit") == 20


def test_value_may_hold_colons(tmp_path):
    loaded = load(tmp_path, "memory_embedding_model: nomic-embed-text:latest\n")
    assert loaded.value("memory_embedding_model") == "nomic-embed-text:latest"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("memory_injection_limit: 7 # seven", 7),
        ("memory_injection_limit: 7\t# seven\r", 7),
        ("memory_injection_limit : 7", 7),
        ("memory_injection_enabled: false # off", False),
        ("memory_relevance: 1\nmemory_vector_weight: 0.7  # 0.0 = none, 1.0 = all", 0.7),
        ("memory_injection_events: startup, resume # not clear", ("startup", "resume")),
        ("memory_injection_events: 'startup, resume'", ("startup", "resume")),
        ('memory_embedding_model: "nomic # embed"  # the # belongs to it', "nomic#embed"),
        ("memory_embedding_model: nomic#embed", "nomic#embed"),
        ("memory_embedding_model: 'nomic' embed", "'nomic'embed"),
        ("memory_embedding_model: 'nomic", "'nomic"),
        ("memory_injection_limit: # none", 20),
    ],
)
def test_value_is_read_without_its_comment_and_its_quotes(tmp_path, line, value):
    name = line.rpartition("\n")[2].partition(":")[0].strip()
    assert load(tmp_path, line + "\n").value(name) == value


def test_comment_needs_a_space_before_it(tmp_path):
    loaded = load(tmp_path, "memory_injection_limit: 7#seven\nmemory_injection_enabled:#true\n")
    assert loaded.value("memory_injection_limit") == 20
    assert loaded.value("memory_injection_enabled") is False
    assert len(loaded.problems) == 2


SWITCHES = [key.name for key in KEYS if key.kind is bool and not key.off_removes]
OFF = ["false", "False", "FALSE", "no", "off", "Off", "n", "0", '"false"', "'no'", '"0"', "False  # why"]
ON = ["true", "True", "yes", "on", "y", "1", '"true"', "'Yes'", "On # why"]
UNREADABLE = ["flase", "disabled", "null", "~", "2", "-1", "0.5", "{}", '""', "true false", "true,", "“false”"]


@pytest.mark.parametrize("name", SWITCHES)
def test_every_false_word_switches_off_and_every_true_word_switches_on(tmp_path, name):
    for words, value in ((OFF, False), (ON, True)):
        for word in words:
            for sources in ({"local": f"{name}: {word}\r\n"}, {"local": "", "env": {BY_NAME[name].variable: word}}):
                loaded = load(tmp_path, **sources)
                assert (loaded.value(name), loaded.problems) == (value, []), word


@pytest.mark.parametrize("name", SWITCHES)
def test_value_of_a_switch_that_cannot_be_read_switches_off_and_is_reported(tmp_path, name):
    for word in UNREADABLE:
        for sources in ({"local": f"{name}: {word}\n"}, {"local": "", "env": {BY_NAME[name].variable: word}}):
            loaded = load(tmp_path, **sources)
            assert loaded.value(name) is False, word
            [sentence] = complaints(loaded)
            assert f"{name} must be true or false, not " in sentence
            assert sentence.endswith("; false is used")


@pytest.mark.parametrize(
    ("value", "read", "problems"),
    [
        ("false", False, 0),
        ("No", False, 0),
        (0, False, 0),
        (False, False, 0),
        ("true", True, 0),
        (1, True, 0),
        (None, False, 1),
        ("", False, 1),
        ("maybe", False, 1),
        (2, False, 1),
        (1.0, False, 1),
        ([], False, 1),
        ({"is": True}, False, 1),
    ],
)
@pytest.mark.parametrize("name", ["retrieval.enabled", "memory_injection_enabled", "triage.parallel.enabled"])
def test_switch_in_json_is_read_from_a_text_and_a_number_too(tmp_path, name, value, read, problems):
    loaded = load(tmp_path, shared=nested(name, value))
    assert loaded.value(name) is read
    assert len(complaints(loaded)) == problems


def test_unreadable_value_of_a_switch_closes_it_whatever_a_weaker_source_says(tmp_path):
    loaded = load(tmp_path, "retrieval.enabled: flase\n", shared={"retrieval": {"enabled": True}})
    assert loaded.flag("retrieval.enabled") is False


def test_unreadable_value_never_makes_recollect_remove_a_memory(tmp_path):
    loaded = load(tmp_path, "delete.archive_retired: ture\n")
    assert loaded.flag("delete.archive_retired") is True
    assert len(complaints(loaded)) == 1
    assert load(tmp_path, "delete.archive_retired: no\n").flag("delete.archive_retired") is False


def test_local_file_in_utf16_is_reported(tmp_path):
    loaded = load(tmp_path, "memory_injection_enabled: false\r\n".encode("utf-16"))
    assert any("UTF-8" in sentence for sentence in complaints(loaded))


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("true", True),
        ("false", False),
        ("True", "True"),
        ("FALSE", "FALSE"),
        ("yes", "yes"),
        ("0", 0),
        ("20", 20),
        ("-1", -1),
        ("007", 7),
        ("-0", 0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("-.5", -0.5),
        ("-2.25", -2.25),
        ("1.", "1."),
        (".", "."),
        ("-", "-"),
        ("-.", "-."),
        ("--1", "--1"),
        ("+1", "+1"),
        ("1e3", "1e3"),
        ("1.5e3", "1.5e3"),
        ("1.2.3", "1.2.3"),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("1,5", "1,5"),
        ("nan", "nan"),
        ("inf", "inf"),
        ("-Infinity", "-Infinity"),
        ("٣", "٣"),
        ("²", "²"),
        (".٣", ".٣"),
        ("", ""),
        ("gemini-embedding-001", "gemini-embedding-001"),
    ],
)
def test_coercion_gives_bool_int_float_or_text(raw, value):
    assert coerce(raw) == value
    assert type(coerce(raw)) is type(value)


@pytest.mark.parametrize("raw", ["1234567890123456789", "99999999999999999999", "-" + "9" * 30, "0" * 40 + "7"])
def test_coercion_of_many_digits_gives_a_whole_number(raw):
    assert coerce(raw) == int(raw)
    assert type(coerce(raw)) is int


@given(st.text(alphabet="0123456789-.+e_ truefalsTF٣²", max_size=12))
@settings(deadline=None)
def test_coercion_follows_the_three_patterns_of_the_reader(raw):
    value = coerce(raw)
    if raw in ("true", "false"):
        assert value is (raw == "true")
    elif re.fullmatch(r"-?[0-9]+", raw):
        assert (type(value), value) == (int, int(raw))
    elif re.fullmatch(r"-?[0-9]*\.[0-9]+", raw):
        assert (type(value), value) == (float, float(raw))
    else:
        assert value == raw


@pytest.mark.parametrize("digits", [25, 400, 4_300, 5_000, 100_000])
@pytest.mark.parametrize("point", ["", ".0", ".5"])
def test_value_of_any_number_of_digits_is_out_of_range_and_never_raises(tmp_path, digits, point):
    loaded = load(tmp_path, f"memory_injection_limit: {'9' * digits}{point}\nmemory_vector_weight: 7{'0' * digits}.5\n")
    assert loaded.value("memory_injection_limit") == 20
    assert loaded.value("memory_vector_weight") == 0.5
    assert len(complaints(loaded)) == 2
    assert all(len(sentence) < 300 for sentence in complaints(loaded))


def read_local_md_field(text, field):
    """grep "^${field} *:" file | head -1 | sed 's/^[^:]*://; s/ #.*//' | tr -d ' '"""
    for line in text.split("\n"):
        if re.match(field + " *:", line):
            return re.sub(r"^[^:]*:", "", line).partition(" #")[0].replace(" ", "")
    return ""


LINE = st.builds(
    lambda before, key, between, value: before + key + between + value,
    st.sampled_from(["", "", "", " ", "- ", "# "]),
    st.sampled_from(
        ["memory_embedding_model", "memory_embedding_model", "memory_embedding", "yolo_mode", "---", "```"]
    ),
    st.sampled_from([":", ": ", ":  ", " : ", ""]),
    st.text(alphabet="abc 123-:#", max_size=8),
)


@given(st.lists(LINE, max_size=8))
@settings(deadline=None)
def test_reader_finds_what_grep_and_sed_and_tr_find(tmp_path_factory, lines):
    text = "\n".join(lines)
    loaded = load(tmp_path_factory.mktemp("project"), text)
    assert loaded.value("memory_embedding_model") == (read_local_md_field(text, "memory_embedding_model") or "auto")


# ---- the merge


def test_json_overrides_the_default_and_says_so(tmp_path):
    loaded = load(tmp_path, shared={"retrieval": {"max_inject": 9}})
    assert loaded.value("retrieval.max_inject") == 9
    assert loaded.source("retrieval.max_inject") == "memory-config.json"


@pytest.mark.parametrize("name", ["memory_injection_limit", "retrieval.max_inject"])
def test_local_file_overrides_json_and_a_variable_overrides_both(tmp_path, name):
    variable = BY_NAME[name].variable
    assert load(tmp_path, shared=nested(name, 11)).value(name) == 11
    assert load(tmp_path, f"{name}: 12\n").value(name) == 12
    loaded = load(tmp_path, env={variable: "13"})
    assert loaded.value(name) == 13
    assert loaded.source(name) == variable
    assert loaded.problems == []


def test_variables_are_taken_from_the_process_when_none_are_given(tmp_path, monkeypatch):
    monkeypatch.setenv("RECOLLECT_MEMORY_INJECTION_LIMIT", "3")
    assert load_settings(str(tmp_path)).value("memory_injection_limit") == 3


def test_spaces_in_a_variable_are_stripped_as_in_the_local_file(tmp_path):
    loaded = load(tmp_path, env={"RECOLLECT_MEMORY_INJECTION_EVENTS": " startup, compact "})
    assert loaded.words("memory_injection_events") == ("startup", "compact")


def test_wrong_value_in_a_stronger_source_leaves_the_weaker_one_in_force(tmp_path):
    loaded = load(tmp_path, "memory_injection_limit: 5\n", env={"RECOLLECT_MEMORY_INJECTION_LIMIT": "many"})
    assert loaded.value("memory_injection_limit") == 5
    assert len(loaded.problems) == 1


def test_variable_of_the_global_store_is_no_setting_and_no_problem(tmp_path):
    assert load(tmp_path, env={"RECOLLECT_HOME": "/somewhere"}).problems == []


def test_variables_of_other_programs_are_left_alone(tmp_path):
    assert load(tmp_path, env={"PATH": "/bin", "RECOLLECTION_X": "1", "MEMORY_INJECTION_LIMIT": "1"}).problems == []


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_each_key_can_be_set_in_each_source(tmp_path, key):
    other = {
        bool: lambda: not key.default,
        int: lambda: key.default + 1,
        float: lambda: 0.25,
        tuple: lambda: ("compact",),
        str: lambda: next((c for c in key.choices if c != key.default), f"{key.address}other-text"),
    }[key.kind]()
    text = ",".join(other) if isinstance(other, tuple) else str(other).lower()
    in_json = list(other) if isinstance(other, tuple) else other
    for folder, sources in (
        ("json", {"shared": nested(key.name, in_json)}),
        ("local", {"local": f"{key.name}: {text}\n"}),
        ("variable", {"env": {key.variable: text}}),
    ):
        loaded = load(tmp_path / folder, **sources)
        assert loaded.value(key.name) == other
        assert type(loaded.value(key.name)) is key.kind
        assert loaded.problems == []


# ---- values that cannot be used


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("memory_injection_limit", 2.5),
        ("memory_injection_limit", True),
        ("memory_injection_limit", -2),
        ("memory_injection_limit", None),
        ("memory_injection_limit", [20]),
        ("memory_injection_events", ["startup", "shutdown"]),
        ("memory_injection_events", [1]),
        ("memory_injection_events", {"startup": True}),
        ("memory_injection_events", 3),
        ("memory_vector_weight", 1.5),
        ("memory_vector_weight", -0.1),
        ("memory_vector_weight", "half"),
        ("memory_embedding_provider", "jemini"),
        ("memory_embedding_provider", 3),
        ("memory_embedding_model", 3),
        ("memory_embedding_model", ""),
        ("memory_embedding_model", "two words"),
        ("memory_root", None),
        ("categories.decision.retention_days", -1),
        ("categories.session_summary.max_retained", 0),
        ("categories.decision.folder", ["x"]),
        ("max_memories_per_category", 0),
        ("retrieval.match_strategy", "magic"),
        ("triage.max_messages", 50.5),
        ("triage.max_messages", "fifty"),
        ("triage.thresholds.decision", "high"),
        ("triage.thresholds.decision", True),
        ("triage.thresholds.decision", None),
        ("triage.parallel.default_model", "gpt"),
        ("triage.mode", "loud"),
        ("delete.grace_period_days", -1),
    ],
)
def test_wrong_value_falls_back_to_the_default_and_is_reported(tmp_path, name, value):
    loaded = load(tmp_path, shared=nested(name, value))
    assert loaded.value(name) == BY_NAME[name].default
    assert loaded.source(name) == "default"
    [sentence] = complaints(loaded)
    assert name in sentence
    assert "memory-config.json" in sentence


@pytest.mark.parametrize(
    ("name", "given", "used"),
    [
        ("triage.max_messages", 9, 10),
        ("triage.max_messages", -5, 10),
        ("triage.max_messages", 201, 200),
        ("triage.max_messages", 10**30, 200),
        ("retrieval.max_inject", -1, 0),
        ("retrieval.max_inject", 21, 20),
        ("triage.thresholds.decision", -0.5, 0.0),
        ("triage.thresholds.decision", 1.5, 1.0),
        ("triage.thresholds.decision", 2, 1.0),
        ("triage.thresholds.decision", 1e300, 1.0),
    ],
)
def test_clamped_value_is_moved_to_the_nearest_bound_and_reported(tmp_path, name, given, used):
    loaded = load(tmp_path, shared=nested(name, given))
    assert loaded.value(name) == used
    assert type(loaded.value(name)) is BY_NAME[name].kind
    assert loaded.source(name) == "memory-config.json"
    [sentence] = complaints(loaded)
    assert f"{used} is used" in sentence


def test_huge_whole_number_is_clamped_in_the_local_file_as_in_json(tmp_path):
    assert load(tmp_path, f"triage.max_messages: {10**30}\n").value("triage.max_messages") == 200


@pytest.mark.parametrize(("name", "low", "high"), [("triage.max_messages", 10, 200), ("retrieval.max_inject", 0, 20)])
def test_bounds_themselves_are_allowed(tmp_path, name, low, high):
    for bound in (low, high):
        loaded = load(tmp_path, shared=nested(name, bound))
        assert loaded.value(name) == bound
        assert loaded.problems == []


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize("name", ["triage.thresholds.decision", "memory_vector_weight"])
def test_number_that_is_not_finite_is_rejected_and_reported(tmp_path, name, number):
    loaded = load(tmp_path, shared=json.dumps(nested(name, "@")).replace('"@"', number))
    assert loaded.value(name) == BY_NAME[name].default
    assert len(complaints(loaded)) == 1


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_number_that_is_not_finite_is_rejected_for_whole_numbers(tmp_path, number):
    loaded = load(tmp_path, shared=f'{{"triage": {{"max_messages": {number}}}}}')
    assert loaded.value("triage.max_messages") == 50
    assert len(complaints(loaded)) == 1


def test_upper_case_threshold_keys_are_accepted(tmp_path):
    thresholds = {"DECISION": 0.7, "SESSION_SUMMARY": 0.8, "tech_debt": 0.9}
    loaded = load(tmp_path, shared={"triage": {"thresholds": thresholds}})
    assert loaded.value("triage.thresholds.decision") == 0.7
    assert loaded.value("triage.thresholds.session_summary") == 0.8
    assert loaded.value("triage.thresholds.tech_debt") == 0.9
    assert loaded.problems == []


def test_upper_case_is_accepted_for_thresholds_only(tmp_path):
    loaded = load(tmp_path, shared={"AUTO_COMMIT": True})
    assert loaded.value("auto_commit") is False
    assert len(complaints(loaded)) == 1


@pytest.mark.parametrize(("first", "second"), [("tech-debt", "tech_debt"), ("tech_debt", "tech-debt")])
def test_category_of_a_setting_is_understood_by_any_of_its_names_in_the_local_file(tmp_path, first, second):
    loaded = load(tmp_path, local=f"categories.{first}.enabled: false\n")
    assert loaded.value("categories.tech_debt.enabled") is False
    assert loaded.problems == []
    both = load(tmp_path, local=f"triage.thresholds.{first}: 0.7\ntriage.thresholds.{second}: 0.9\n")
    assert both.value("triage.thresholds.tech_debt") == 0.7, "the first line of a setting wins"


# ---- files that cannot be used


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b'{"auto_commit": true,}',
        b"{'auto_commit': true}",
        b"// note\n{}",
        b"[]",
        b'["auto_commit"]',
        b"null",
        b"3",
        b'"auto_commit"',
        b"[" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"auto_commit": true, "x": ' + b"9" * 5000 + b"}",
    ],
    ids=lambda content: content[:20].decode(),
)
def test_json_that_is_no_object_is_reported_once_and_not_used(tmp_path, content):
    loaded = load(tmp_path, "memory_injection_limit: 7\n", shared=content)
    assert all(loaded.value(key.name) == key.default for key in KEYS if key.name != "memory_injection_limit")
    assert loaded.value("memory_injection_limit") == 7
    [sentence] = complaints(loaded)
    assert "memory-config.json" in sentence


@pytest.mark.parametrize("depth", [2, 50, 300, *range(880, 1010, 5), 3_000, 5_000, 20_000])
def test_deep_json_never_raises_and_is_reported(tmp_path, depth):
    loaded = load(tmp_path, shared='{"a":' * depth + "1" + "}" * depth)
    assert all(loaded.value(key.name) == key.default for key in KEYS)
    assert len(complaints(loaded)) == 1


@pytest.mark.parametrize("content", [b"", b"  \n\n", b"{}", b"\xef\xbb\xbf{}\r\n"])
def test_empty_json_file_is_no_problem(tmp_path, content):
    assert load(tmp_path, shared=content).problems == []


def test_json_file_with_a_byte_order_mark_is_read(tmp_path):
    assert load(tmp_path, shared=b'\xef\xbb\xbf{"auto_commit": true}').flag("auto_commit") is True


@pytest.mark.parametrize("relative", [LOCAL, SHARED])
def test_file_of_two_megabytes_is_reported_and_not_used(tmp_path, relative):
    setting = b"memory_injection_limit: 7\n" if relative == LOCAL else b'{"memory_injection_limit": 7}'
    write(tmp_path, relative, setting + b" " * 2_000_000)
    loaded = load(tmp_path)
    assert loaded.value("memory_injection_limit") == 20
    [sentence] = complaints(loaded)
    assert relative in sentence.replace(os.sep, "/")


@pytest.mark.parametrize("relative", [LOCAL, SHARED])
def test_directory_in_place_of_a_file_is_reported(tmp_path, relative):
    (tmp_path / relative).mkdir(parents=True)
    loaded = load(tmp_path)
    assert all(loaded.value(key.name) == key.default for key in KEYS)
    assert len(complaints(loaded)) == 1


def test_file_in_place_of_the_settings_folder_is_reported(tmp_path):
    (tmp_path / ".claude").write_text("", encoding="utf-8")
    loaded = load(tmp_path)
    assert all(loaded.value(key.name) == key.default for key in KEYS)
    assert len(complaints(loaded)) == 2


def test_pipe_in_place_of_a_file_does_not_block(tmp_path):
    (tmp_path / ".claude").mkdir()
    os.mkfifo(tmp_path / LOCAL)
    assert len(complaints(load(tmp_path))) == 1


@pytest.mark.parametrize("target", ["nowhere", "notes.md", ".git/index"])
def test_settings_behind_a_link_are_not_read(tmp_path, target):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / target).write_text("memory_injection_limit: 7\n", encoding="utf-8")
    (tmp_path / LOCAL).symlink_to(tmp_path / target)
    loaded = load(tmp_path)
    assert loaded.value("memory_injection_limit") == 20
    assert [str(problem) for problem in loaded.problems if "is a link" in str(problem)]


def test_local_file_with_invalid_utf8_is_read_around_it(tmp_path):
    loaded = load(tmp_path, b"\xff\xfe prose\nmemory_injection_limit: 7\n\x80: x\n")
    assert loaded.value("memory_injection_limit") == 7
    assert complaints(loaded) == []


def test_invalid_utf8_in_json_never_raises(tmp_path):
    loaded = load(tmp_path, shared=b'{"auto_commit": true, "memory_embedding_model": "\xff", "\xfe": 1}')
    assert loaded.flag("auto_commit") is True


# ---- never an exception

FILE = st.one_of(
    st.none(),
    st.binary(max_size=300),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from([*{part for key in KEYS for part in key.name.split(".")}, "$x", "", "DECISION"])
                | st.text(max_size=5),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode()),
    st.lists(
        st.builds("{}: {}".format, st.sampled_from([key.name for key in KEYS]), st.text(max_size=9)), max_size=5
    ).map(lambda lines: "\n".join(lines).encode("utf-8", "surrogatepass")),
)
ENVIRONMENT = st.dictionaries(
    st.sampled_from([key.variable for key in KEYS]) | st.text(max_size=6).map(lambda text: "RECOLLECT_" + text),
    st.text(max_size=12) | st.sampled_from(["true", "-1", "0.5", "nan", "1" * 30]),
    max_size=5,
)


@given(FILE, FILE, ENVIRONMENT)
@settings(deadline=None, max_examples=examples(300))
def test_loading_never_raises_and_every_value_is_one_that_its_key_allows(tmp_path_factory, local, shared, env):
    loaded = load(tmp_path_factory.mktemp("project"), local, shared, env)
    for key in KEYS:
        value = loaded.value(key.name)
        assert type(value) is key.kind
        if key.kind in (int, float):
            assert key.low <= value <= key.high
        if key.choices:
            assert set(value if isinstance(value, tuple) else [value]) <= set(key.choices)
    assert all(isinstance(sentence, str) and sentence for sentence in complaints(loaded))


# ---- the address of a server


@pytest.mark.parametrize(
    "address",
    ["postgresql://ann:s3cret@db/memory", "postgresql://db/memory?password=s3cret", "postgresql://:s3cret@db/m"],
)
def test_address_with_a_password_is_refused_without_repeating_it(tmp_path, address):
    for place, sources in enumerate(
        ({"shared": {"memory_store": address}}, {"local": f"memory_store: {address}\n"}, {"env": {STORE: address}})
    ):
        loaded = load(tmp_path / str(place), **sources)
        assert loaded.value("memory_store") == "sqlite"
        [problem] = loaded.problems
        assert "must not have a password; it comes from the variable PGPASSWORD" in str(problem)
        assert "s3cret" not in str(problem)


STORE = "RECOLLECT_MEMORY_STORE"


@pytest.mark.parametrize("address", ["mysql://db/memory", "memory.db", "ann:s3cret@db", "postgresql://db/m#x"])
def test_address_of_another_kind_is_refused(tmp_path, address):
    loaded = load(tmp_path, env={STORE: address})
    assert loaded.value("memory_store") == "sqlite"
    assert "s3cret" not in str(loaded.problems[0])


def test_folder_that_is_no_repository_cannot_name_a_server(tmp_path):
    write(tmp_path, LOCAL, "memory_store: postgresql://evil.example/memory\n")
    loaded = load_settings(str(tmp_path), {})
    assert loaded.value("memory_store") == "sqlite"
    assert "may have come with the folder" in str(loaded.problems[0])
