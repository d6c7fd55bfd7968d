"""Setting and unsetting: the right file, nothing else in it touched, and nothing lost."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples, link_worktree

from recollect.config.settings import load_settings
from recollect.config.settings_edit import as_text, known_key, set_setting, unset_setting
from recollect.config.settings_keys import BY_NAME, KEYS
from recollect.errors import InvalidSetting, StorageError, UnsafeEdit

LOCAL = ".claude/iflow-dev.local.md"
SHARED = ".claude/memory/memory-config.json"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch, tmp_path_factory):
    for name in [name for name in os.environ if name.startswith("RECOLLECT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path_factory.mktemp("store")))


def write(root, relative, content):
    path = root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def value(root, name):
    return load_settings(str(root), {}).value(name)


def source(root, name):
    return load_settings(str(root), {}).source(name)


# ---- which file


def test_local_key_goes_to_the_local_file_made_from_the_template(tmp_path):
    edit = set_setting(str(tmp_path), "memory_injection_limit", "7")
    text = (tmp_path / LOCAL).read_text(encoding="utf-8")
    assert edit.path == str(tmp_path / LOCAL)
    assert (edit.value, edit.source) == (7, "iflow-dev.local.md")
    assert text.startswith("---\n")
    assert "# memory_injection_enabled: true" in text
    assert "\nmemory_injection_limit: 7\n---\n" in text
    assert not (tmp_path / SHARED).exists()
    assert load_settings(str(tmp_path), {}).problems == []


def test_template_documents_the_injection_settings(tmp_path):
    set_setting(str(tmp_path), "memory_vector_weight", "0.4")
    text = (tmp_path / LOCAL).read_text(encoding="utf-8")
    for name in ("memory_injection_enabled", "memory_injection_limit", "memory_injection_events"):
        assert f"# {name}: {as_text(BY_NAME[name].default)}" in text
        assert source(tmp_path, name) == "default"


def test_other_key_goes_to_the_json_file_made_on_first_use(tmp_path):
    edit = set_setting(str(tmp_path), "retrieval.max_inject", "7")
    assert edit.path == str(tmp_path / SHARED)
    assert json.loads((tmp_path / SHARED).read_text(encoding="utf-8")) == {"retrieval": {"max_inject": 7}}
    assert not (tmp_path / LOCAL).exists()


def test_local_key_that_stands_in_json_is_changed_there(tmp_path):
    path = write(tmp_path, SHARED, '{"memory_injection_limit": 5}\n')
    set_setting(str(tmp_path), "memory_injection_limit", "7")
    assert path.read_text(encoding="utf-8") == '{"memory_injection_limit": 7}\n'
    assert not (tmp_path / LOCAL).exists()


def test_json_key_that_stands_in_the_local_file_is_changed_there(tmp_path):
    path = write(tmp_path, LOCAL, "retrieval.max_inject: 5\n")
    set_setting(str(tmp_path), "retrieval.max_inject", "7")
    assert path.read_text(encoding="utf-8") == "retrieval.max_inject: 7\n"
    assert not (tmp_path / SHARED).exists()


def test_key_that_stands_in_both_files_is_changed_in_the_stronger_one(tmp_path):
    shared = write(tmp_path, SHARED, '{"memory_injection_limit": 5}')
    write(tmp_path, LOCAL, "memory_injection_limit: 6\n")
    set_setting(str(tmp_path), "memory_injection_limit", "7")
    assert value(tmp_path, "memory_injection_limit") == 7
    assert shared.read_text(encoding="utf-8") == '{"memory_injection_limit": 5}'


def test_unset_in_the_stronger_file_leaves_the_weaker_one_in_force(tmp_path):
    write(tmp_path, SHARED, '{"memory_injection_limit": 5}')
    write(tmp_path, LOCAL, "memory_injection_limit: 6\n")
    assert unset_setting(str(tmp_path), "memory_injection_limit").value == 5
    assert unset_setting(str(tmp_path), "memory_injection_limit").value == 20
    assert source(tmp_path, "memory_injection_limit") == "default"


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_every_key_can_be_set_read_back_and_unset(tmp_path, key):
    edit = set_setting(str(tmp_path), key.name, as_text(key.default))
    assert edit.value == key.default
    assert source(tmp_path, key.name) == key.file
    assert load_settings(str(tmp_path), {}).problems == []
    assert unset_setting(str(tmp_path), key.name).value == key.default
    assert source(tmp_path, key.name) == "default"


@pytest.mark.parametrize("number", ["0.00001", "0.000000001", ".5", "1", "0", "0.1", "0.30000000000000004"])
@pytest.mark.parametrize("name", ["memory_vector_weight", "triage.thresholds.decision"])
def test_number_that_was_set_is_the_number_that_is_read(tmp_path, name, number):
    edit = set_setting(str(tmp_path), name, number)
    assert edit.value == float(number)
    assert value(tmp_path, name) == float(number)
    assert load_settings(str(tmp_path), {}).problems == []


@given(st.integers(min_value=0, max_value=10**9 - 1))
@settings(deadline=None, max_examples=examples(60))
def test_any_weight_that_was_set_is_the_weight_that_is_read(tmp_path_factory, billionths):
    root = tmp_path_factory.mktemp("project")
    text = f"0.{billionths:09}"
    set_setting(str(root), "memory_vector_weight", text)
    assert value(root, "memory_vector_weight") == float(text)


# ---- the local file


PROJECT_FILE = (
    "---\n"
    "# our settings\n"
    "yolo_mode:   false   # keep\n"
    "memory_injection_limit:   5\n"
    "\tindented: yes\n"
    "---\n"
    "\n"
    "Prose with a trailing space \n"
    "- memory_injection_limit: 99\n"
    "no newline at the end"
)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_set_replaces_one_line_and_keeps_every_other_byte(tmp_path, newline):
    before = PROJECT_FILE.replace("\n", newline)
    path = write(tmp_path, LOCAL, before)
    set_setting(str(tmp_path), "memory_injection_limit", "7")
    expected = before.replace("memory_injection_limit:   5", "memory_injection_limit: 7")
    assert path.read_bytes() == expected.encode()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_unset_removes_one_line_and_keeps_every_other_byte(tmp_path, newline):
    before = PROJECT_FILE.replace("\n", newline)
    path = write(tmp_path, LOCAL, before)
    unset_setting(str(tmp_path), "memory_injection_limit")
    assert path.read_bytes() == before.replace(f"memory_injection_limit:   5{newline}", "").encode()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_new_key_is_inserted_at_the_end_of_the_front_matter(tmp_path, newline):
    before = PROJECT_FILE.replace("\n", newline)
    path = write(tmp_path, LOCAL, before)
    set_setting(str(tmp_path), "memory_injection_enabled", "false")
    line = f"memory_injection_enabled: false{newline}"
    expected = before.replace(f"\tindented: yes{newline}", f"\tindented: yes{newline}{line}")
    assert path.read_bytes() == expected.encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# notes\n", "# notes\nmemory_injection_limit: 7\n"),
        ("# notes", "# notes\nmemory_injection_limit: 7\n"),
        ("# notes\r\nmore", "# notes\r\nmore\r\nmemory_injection_limit: 7\r\n"),
        ("---\nyolo_mode: on\n", "---\nyolo_mode: on\nmemory_injection_limit: 7\n"),
        ("\ufeff---\na: b\n---\nx\n", "\ufeff---\na: b\nmemory_injection_limit: 7\n---\nx\n"),
    ],
)
def test_new_key_without_closed_front_matter_is_appended(tmp_path, before, after):
    path = write(tmp_path, LOCAL, before)
    set_setting(str(tmp_path), "memory_injection_limit", "7")
    assert path.read_bytes() == after.encode()
    assert value(tmp_path, "memory_injection_limit") == 7


def test_bytes_that_are_not_utf8_survive_an_edit(tmp_path):
    path = write(tmp_path, LOCAL, b"\xff\xfe\x80 note\nmemory_injection_limit: 5\n\xc3\x28\n")
    set_setting(str(tmp_path), "memory_injection_limit", "7")
    assert path.read_bytes() == b"\xff\xfe\x80 note\nmemory_injection_limit: 7\n\xc3\x28\n"


@pytest.mark.parametrize(
    "line", ["memory_injection_limit: many", "memory_injection_limit:", "memory_injection_limit:\t-9"]
)
def test_set_replaces_a_line_whose_value_is_wrong(tmp_path, line):
    path = write(tmp_path, LOCAL, f"a: b\n{line}\nc: d\n")
    set_setting(str(tmp_path), "memory_injection_limit", "7")
    assert path.read_text(encoding="utf-8") == "a: b\nmemory_injection_limit: 7\nc: d\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_comment_behind_a_value_moves_to_a_line_of_its_own(tmp_path, newline):
    path = write(tmp_path, LOCAL, f"a: b{newline}memory_injection_limit: 5 # few: is # more{newline}c: d{newline}")
    set_setting(str(tmp_path), "memory_injection_limit", "7")
    expected = newline.join(["a: b", "# few: is # more", "memory_injection_limit: 7", "c: d", ""])
    assert path.read_bytes() == expected.encode()
    assert value(tmp_path, "memory_injection_limit") == 7


def test_comment_behind_a_tab_moves_to_a_line_of_its_own_too(tmp_path):
    path = write(tmp_path, LOCAL, "memory_injection_limit: 5\t# why five\n")
    set_setting(str(tmp_path), "memory_injection_limit", "7")
    assert "# why five" in path.read_text(encoding="utf-8")
    assert value(tmp_path, "memory_injection_limit") == 7


def test_unset_keeps_the_comment_of_the_line(tmp_path):
    path = write(tmp_path, LOCAL, "a: b\nmemory_injection_limit: 5 # few\nc: d\n")
    unset_setting(str(tmp_path), "memory_injection_limit")
    assert path.read_text(encoding="utf-8") == "a: b\n# few\nc: d\n"


def test_set_changes_the_line_that_counts_when_there_are_two(tmp_path):
    path = write(tmp_path, LOCAL, "memory_injection_limit: 5\nmemory_injection_limit: 6\n")
    assert set_setting(str(tmp_path), "memory_injection_limit", "7").value == 7
    assert path.read_text(encoding="utf-8").startswith("memory_injection_limit: 7\n")


def test_unset_makes_the_weaker_source_count_also_when_there_are_two_lines(tmp_path):
    write(tmp_path, LOCAL, "memory_injection_limit: 5\nprose\nmemory_injection_limit: 6\n")
    unset_setting(str(tmp_path), "memory_injection_limit")
    assert source(tmp_path, "memory_injection_limit") == "default"


def test_unset_of_a_key_that_is_nowhere_writes_nothing(tmp_path):
    assert unset_setting(str(tmp_path), "memory_injection_limit").value == 20
    assert unset_setting(str(tmp_path), "retrieval.max_inject").value == 5
    assert list(tmp_path.iterdir()) == []


def test_set_of_the_value_that_stands_there_leaves_the_file_alone(tmp_path):
    path = write(tmp_path, LOCAL, "memory_injection_limit: 7\n")
    before = path.stat()
    set_setting(str(tmp_path), "memory_injection_limit", "7")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_edit_keeps_permissions(tmp_path):
    path = write(tmp_path, LOCAL, "memory_injection_limit: 5\n")
    path.chmod(0o600)
    set_setting(str(tmp_path), "memory_injection_limit", "7")
    assert path.read_text(encoding="utf-8") == "memory_injection_limit: 7\n"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("target", ["Makefile", ".git/config"])
def test_edit_follows_no_link(tmp_path, target):
    real = write(tmp_path, target, "[core]\n")
    (tmp_path / ".claude").mkdir()
    (tmp_path / LOCAL).symlink_to(real)
    with pytest.raises(StorageError, match="is a link"):
        set_setting(str(tmp_path), "memory_injection_limit", "7")
    assert real.read_text(encoding="utf-8") == "[core]\n"


def test_list_of_events_is_written_with_commas_and_read_back(tmp_path):
    set_setting(str(tmp_path), "memory_injection_events", "startup, compact")
    assert "\nmemory_injection_events: startup,compact\n" in (tmp_path / LOCAL).read_text(encoding="utf-8")
    assert value(tmp_path, "memory_injection_events") == ("startup", "compact")


@given(
    st.lists(st.text(alphabet="ab:# -\t\r`mé", max_size=12), max_size=6),
    st.booleans(),
    st.sampled_from(["memory_injection_limit", "memory_embedding_model"]),
)
@settings(deadline=None, max_examples=examples(80))
def test_set_then_unset_gives_the_same_lines_back(tmp_path_factory, lines, front_matter, name):
    root = tmp_path_factory.mktemp("project")
    text = "\n".join((["---", *lines, "---"] if front_matter else ["# notes", *lines]) + [""])
    path = write(root, LOCAL, text)
    set_setting(str(root), name, "7")
    assert str(value(root, name)) == "7"
    unset_setting(str(root), name)
    assert path.read_bytes() == text.encode()


# ---- the JSON file


ODD_JSON = (
    "{\r\n"
    '\t"$schema" : "https://example.com/schema",\r\n'
    '   "_comment": "keep  me",\r\n'
    '  "triage" : { "max_messages":50 ,"thresholds":{"decision":0.40,  "runbook" : 4e-1} },\r\n'
    '      "auto_commit":false,\r\n'
    '  "other": [1,2 , 3], "text": "a \\"quoted\\" {brace} \\u00e9"\r\n'
    "}\r\n\r\n"
)


@pytest.mark.parametrize(
    ("name", "text", "old", "new"),
    [
        ("auto_commit", "true", '"auto_commit":false', '"auto_commit":true'),
        ("triage.max_messages", "60", '"max_messages":50 ', '"max_messages":60 '),
        ("triage.thresholds.decision", "0.7", '"decision":0.40', '"decision":0.7'),
        ("triage.thresholds.runbook", "1", '"runbook" : 4e-1', '"runbook" : 1.0'),
    ],
)
def test_set_replaces_one_json_value_and_keeps_every_other_byte(tmp_path, name, text, old, new):
    path = write(tmp_path, SHARED, ODD_JSON)
    set_setting(str(tmp_path), name, text)
    assert path.read_bytes() == ODD_JSON.replace(old, new).encode()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("auto_commit", '"auto_commit":false,\r\n  "other"', '"other"'),
        ("triage.max_messages", '"max_messages":50 ,"thresholds"', '"thresholds"'),
        ("triage.thresholds.runbook", '0.40,  "runbook" : 4e-1}', "0.40}"),
    ],
)
def test_unset_removes_one_json_member_and_keeps_every_other_byte(tmp_path, name, old, new):
    path = write(tmp_path, SHARED, ODD_JSON)
    unset_setting(str(tmp_path), name)
    assert path.read_bytes() == ODD_JSON.replace(old, new).encode()
    assert source(tmp_path, name) == "default"


@pytest.mark.parametrize(
    "before",
    [
        "{}",
        "{ }\n",
        '{"triage": {}}',
        '{"triage": {"thresholds": {}}, "x": 1}',
        '{\n    "triage": {\n        "enabled": true\n    }\n}\n',
        '{"a": 1}',
        '\ufeff{"a": 1}\r\n',
        ODD_JSON,
    ],
)
def test_new_member_is_added_and_every_other_character_stays(tmp_path, before):
    path = write(tmp_path, SHARED, before)
    set_setting(str(tmp_path), "triage.thresholds.tech_debt", "0.7")
    after = path.read_bytes().decode()
    assert value(tmp_path, "triage.thresholds.tech_debt") == 0.7
    document = json.loads(after.removeprefix("\ufeff"))
    assert document["triage"]["thresholds"].pop("tech_debt") == 0.7
    rest = iter("".join(after.split()))
    assert all(char in rest for char in "".join(before.split())), "a character of the file was lost"


def test_new_member_takes_the_indentation_of_its_neighbours(tmp_path):
    path = write(tmp_path, SHARED, '{\n\t"auto_commit": true,\n\t"triage": {\n\t\t"enabled": true\n\t}\n}\n')
    set_setting(str(tmp_path), "triage.mode", "stage")
    assert path.read_text(encoding="utf-8") == (
        '{\n\t"auto_commit": true,\n\t"triage": {\n\t\t"enabled": true,\n\t\t"mode": "stage"\n\t}\n}\n'
    )


@pytest.mark.parametrize("content", ["{", '{"auto_commit": true,}', "[]", "3", '{"a": 1} // note', "[" * 100_000])
@pytest.mark.parametrize(
    "edit",
    [lambda root: set_setting(root, "auto_commit", "true"), lambda root: unset_setting(root, "auto_commit")],
    ids=["set", "unset"],
)
def test_broken_json_is_refused_and_not_touched(tmp_path, content, edit):
    path = write(tmp_path, SHARED, content)
    with pytest.raises(UnsafeEdit, match=r"memory-config\.json"):
        edit(str(tmp_path))
    assert path.read_text(encoding="utf-8") == content
    assert [item.name for item in path.parent.iterdir()] == ["memory-config.json"]


def test_broken_json_does_not_keep_local_keys_from_being_set(tmp_path):
    path = write(tmp_path, SHARED, "{")
    set_setting(str(tmp_path), "memory_injection_limit", "7")
    assert value(tmp_path, "memory_injection_limit") == 7
    assert path.read_text(encoding="utf-8") == "{"


def test_section_that_is_no_object_is_refused_and_not_touched(tmp_path):
    path = write(tmp_path, SHARED, '{"triage": false}')
    with pytest.raises(UnsafeEdit, match="triage"):
        set_setting(str(tmp_path), "triage.mode", "stage")
    assert path.read_text(encoding="utf-8") == '{"triage": false}'


@pytest.mark.parametrize(
    "content",
    [
        '{"auto_commit": false, "auto_commit": false}',
        '{"retrieval": {"max_inject": 3}, "auto_commit": false, "x": {}, "auto_commit": false}',
    ],
)
def test_set_takes_effect_or_is_refused_when_json_names_a_key_twice(tmp_path, content):
    path = write(tmp_path, SHARED, content)
    try:
        set_setting(str(tmp_path), "auto_commit", "true")
    except UnsafeEdit:
        assert path.read_text(encoding="utf-8") == content
    else:
        assert value(tmp_path, "auto_commit") is True


def test_unset_takes_effect_or_is_refused_when_json_names_a_key_twice(tmp_path):
    content = '{"auto_commit": true, "auto_commit": true}'
    path = write(tmp_path, SHARED, content)
    try:
        unset_setting(str(tmp_path), "auto_commit")
    except UnsafeEdit:
        assert path.read_text(encoding="utf-8") == content
    else:
        assert source(tmp_path, "auto_commit") == "default"


def test_set_takes_effect_when_the_threshold_stands_there_in_upper_case(tmp_path):
    write(tmp_path, SHARED, '{"triage": {"thresholds": {"decision": 0.1, "DECISION": 0.2}}}')
    set_setting(str(tmp_path), "triage.thresholds.decision", "0.9")
    assert value(tmp_path, "triage.thresholds.decision") == 0.9


def test_unset_takes_a_threshold_out_that_stands_there_in_upper_case(tmp_path):
    write(tmp_path, SHARED, '{"triage": {"thresholds": {"DECISION": 0.2}}}')
    unset_setting(str(tmp_path), "triage.thresholds.decision")
    assert source(tmp_path, "triage.thresholds.decision") == "default"


# ---- what is refused


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("memory_injection_limit", "many"),
        ("memory_injection_limit", "-2"),
        ("memory_injection_limit", "7.5"),
        ("memory_injection_limit", ""),
        ("memory_injection_enabled", "flase"),
        ("memory_injection_events", "startup,lunch"),
        ("memory_vector_weight", "nan"),
        ("memory_vector_weight", "1.01"),
        ("memory_embedding_provider", "jemini"),
        ("memory_embedding_model", ""),
        ("memory_embedding_model", "a\nmemory_injection_enabled: false"),
        ("memory_embedding_model", "a\tb"),
        ("triage.max_messages", "9"),
        ("triage.thresholds.decision", "1.5"),
    ],
)
def test_value_that_the_key_cannot_have_is_refused_and_nothing_is_written(tmp_path, name, text):
    with pytest.raises(InvalidSetting, match=name.replace(".", r"\.")):
        set_setting(str(tmp_path), name, text)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change", [lambda root: set_setting(root, "memory_limit", "7"), lambda _: known_key("memory_limit")]
)
def test_unknown_key_is_refused_with_the_nearest(tmp_path, change):
    with pytest.raises(InvalidSetting, match="memory_limit is not a setting; did you mean memory_"):
        change(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_unknown_key_like_no_other_points_to_the_list():
    with pytest.raises(InvalidSetting, match="recollect config"):
        known_key("zzzz")


@pytest.mark.parametrize(("relative", "name"), [(LOCAL, "memory_injection_limit"), (SHARED, "auto_commit")])
def test_directory_in_place_of_the_file_is_an_error_that_names_it(tmp_path, relative, name):
    (tmp_path / relative).mkdir(parents=True)
    with pytest.raises(StorageError, match=os.path.basename(relative)):
        set_setting(str(tmp_path), name, as_text(BY_NAME[name].default))


def test_variable_that_overrides_the_file_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("RECOLLECT_MEMORY_INJECTION_LIMIT", "9")
    edit = set_setting(str(tmp_path), "memory_injection_limit", "7")
    assert edit.source == "RECOLLECT_MEMORY_INJECTION_LIMIT"
    assert edit.value == 9
    assert value(tmp_path, "memory_injection_limit") == 7


def test_variable_with_a_wrong_value_overrides_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("RECOLLECT_MEMORY_INJECTION_LIMIT", "many")
    edit = set_setting(str(tmp_path), "memory_injection_limit", "7")
    assert (edit.source, edit.value) == ("iflow-dev.local.md", 7)


# ---- what acceptance tests found


def test_unset_leaves_no_half_of_a_line_ending(tmp_path):
    local = tmp_path / ".claude" / "iflow-dev.local.md"
    local.parent.mkdir()
    local.write_bytes(b"# c\r\nmemory_injection_limit: 9\r\nmemory_injection_limit: 6")
    unset_setting(str(tmp_path), "memory_injection_limit")
    assert local.read_bytes() == b"# c\r\n"


def test_unset_says_which_weaker_source_counts_now(tmp_path):
    write(tmp_path, LOCAL, "memory_injection_limit: 5\n")
    write(tmp_path, SHARED, '{"memory_injection_limit": 4}')
    edit = unset_setting(str(tmp_path), "memory_injection_limit")
    assert (edit.value, edit.source) == (4, "memory-config.json")


def test_value_with_a_space_in_it_is_refused_and_not_joined(tmp_path):
    with pytest.raises(InvalidSetting, match="must be a path of folders below the project, with no spaces"):
        set_setting(str(tmp_path), "memory_root", "docs/my memory")


def test_settings_of_a_repository_count_in_its_worktrees_and_are_changed_for_both(tmp_path):
    main = tmp_path / "main"
    tree = link_worktree(main, tmp_path / "tree")
    set_setting(str(main), "memory_injection_limit", "3")
    assert load_settings(str(tree)).value("memory_injection_limit") == 3
    set_setting(str(tree), "memory_injection_limit", "4")
    assert load_settings(str(main)).value("memory_injection_limit") == 4
    assert not (tree / ".claude").exists()


def test_dotted_name_in_json_is_no_setting(tmp_path):
    write(tmp_path, SHARED, '{"triage.max_messages": 20}')
    settings = load_settings(str(tmp_path))
    assert settings.source("triage.max_messages") == "default"
    assert [problem.unknown for problem in settings.problems] == ['"triage.max_messages"']


def test_byte_order_mark_stays_when_the_first_line_is_set(tmp_path):
    path = write(tmp_path, LOCAL, "\ufeffmemory_injection_limit: 5\n")
    set_setting(str(tmp_path), "memory_injection_limit", "6")
    assert path.read_bytes() == "\ufeffmemory_injection_limit: 6\n".encode()


def test_path_of_a_symlinked_project_is_shown_below_it(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    edit = set_setting(str(tmp_path / "link"), "memory_injection_limit", "6")
    assert edit.path == str(tmp_path / "link" / ".claude" / "iflow-dev.local.md")
