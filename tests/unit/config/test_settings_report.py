"""What is said about settings that cannot be used, and what is passed over in silence."""

import json
import os
import subprocess
import sys

import pytest

from recollect.config.settings import load_settings
from recollect.config.settings_edit import complaints, nearest

RECOLLECT = os.path.join(os.path.dirname(sys.executable), "recollect")


def report(root, local=None, shared=None, env=None):
    (root / ".claude" / "memory").mkdir(parents=True)
    if local is not None:
        (root / ".claude" / "iflow-dev.local.md").write_text(local, encoding="utf-8")
    if shared is not None:
        (root / ".claude" / "memory" / "memory-config.json").write_text(json.dumps(shared), encoding="utf-8")
    return complaints(load_settings(str(root), env or {}))


def config(root, *arguments, **env):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}
    return subprocess.run(
        [RECOLLECT, "config", "--project-root", str(root), *arguments],
        env={**clean, "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8", **env},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("memory_injection_limt", "memory_injection_limit"),
        ("memory_inject_limit", "memory_injection_limit"),
        ("retrieval.max_injects", "retrieval.max_inject"),
        ("triage.treshold.decision", "triage.thresholds.decision"),
        ("autocommit", "auto_commit"),
        ("RECOLLECT_MEMORY_INJECTION_LIMT", "RECOLLECT_MEMORY_INJECTION_LIMIT"),
        ("qqqqqq", ""),
        ("", ""),
    ],
)
def test_nearest_key_is_found_when_there_is_one(wrong, meant):
    assert nearest(wrong) == meant


def test_unknown_key_of_the_local_file_is_reported_with_its_line_and_the_nearest_key(tmp_path):
    [sentence] = report(tmp_path, "---\nmemory_injection_limt: 7\n---\n")
    assert "iflow-dev.local.md line 2" in sentence
    assert "memory_injection_limt is not a setting" in sentence
    assert sentence.endswith("did you mean memory_injection_limit?")


def test_unknown_key_of_the_json_file_is_reported_with_the_nearest_key(tmp_path):
    [sentence] = report(tmp_path, shared={"retreival": {"max_inject": 3}})
    assert "memory-config.json" in sentence
    assert "retreival.max_inject is not a setting" in sentence
    assert "did you mean retrieval.max_inject?" in sentence


def test_unknown_variable_is_reported_with_the_nearest_variable(tmp_path):
    [sentence] = report(tmp_path, env={"RECOLLECT_MEMORY_INJECTION_LIMT": "7"})
    assert "did you mean RECOLLECT_MEMORY_INJECTION_LIMIT?" in sentence


def test_unknown_key_like_no_other_is_reported_without_a_guess(tmp_path):
    [sentence] = report(tmp_path, shared={"zzzz": 1})
    assert "zzzz is not a setting" in sentence
    assert "did you mean" not in sentence


def test_keys_of_other_tools_and_prose_are_not_reported(tmp_path):
    front_matter = "---\nyolo_mode: true\nplan_mode_review: false\n---\n"
    prose = "# Title\nNote: this is prose.\nhttps://example.com\nTODO: x\n"
    assert report(tmp_path, front_matter + prose) == []


def test_near_miss_of_a_key_without_its_prefix_is_reported(tmp_path):
    [sentence] = report(tmp_path, "yolo_mode: true\nemory_injection_limit: 7\n")
    assert "did you mean memory_injection_limit?" in sentence


def test_notes_in_json_are_not_reported(tmp_path):
    shared = {
        "$schema": "https://x",
        "_comment": "hello",
        "//": "note",
        "": 1,
        "triage": {"_comment": {"a": 1}, "//": []},
    }
    assert report(tmp_path, shared=shared) == []


def test_section_that_is_no_object_is_reported(tmp_path):
    [sentence] = report(tmp_path, shared={"triage": False})
    assert "triage is not a setting" in sentence


def test_wrong_value_is_reported_with_what_is_allowed(tmp_path):
    [sentence] = report(tmp_path, "memory_injection_limit: many\n")
    assert "memory_injection_limit must be a whole number from -1" in sentence
    assert "'many'" in sentence


def test_long_wrong_value_is_cut_in_the_report(tmp_path):
    [sentence] = report(tmp_path, shared={"auto_commit": "x" * 10_000})
    assert len(sentence) < 200


def test_each_problem_gets_its_own_sentence(tmp_path):
    found = report(tmp_path, "memory_injection_limit: x\nmemory_vectr_weight: 1\n", shared={"triage": {"mode": "loud"}})
    assert len(found) == 3


# ---- the command


def test_config_shows_each_key_with_value_and_source(tmp_path):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "iflow-dev.local.md").write_text("memory_injection_limit: 7\n", encoding="utf-8")
    done = config(tmp_path, "--json", RECOLLECT_TRIAGE_MODE="stage")
    shown = {item["key"]: item for item in json.loads(done.stdout)["settings"]}
    assert (shown["memory_injection_limit"]["value"], shown["memory_injection_limit"]["source"]) == (
        7,
        "iflow-dev.local.md",
    )
    assert (shown["triage.mode"]["value"], shown["triage.mode"]["source"]) == ("stage", "RECOLLECT_TRIAGE_MODE")
    assert shown["auto_commit"]["source"] == "default"
    assert (done.returncode, done.stderr) == (0, "")


def test_config_reports_problems_on_standard_error_and_in_json(tmp_path):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "iflow-dev.local.md").write_text("memory_injection_limt: 7\n", encoding="utf-8")
    done = config(tmp_path, "--json")
    assert done.returncode == 0
    assert done.stderr.startswith("Warning: ")
    assert "did you mean memory_injection_limit?" in done.stderr
    [problem] = json.loads(done.stdout)["problems"]
    assert problem in done.stderr


@pytest.mark.parametrize("arguments", [(), ("--json",), ("get", "memory_embedding_model")])
def test_config_shows_a_value_that_is_not_utf8_without_failing(tmp_path, arguments):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "iflow-dev.local.md").write_bytes(b"memory_embedding_model: caf\xe9\n")
    done = config(tmp_path, *arguments)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


def test_config_get_of_an_unknown_key_names_the_nearest_and_exits_1(tmp_path):
    done = config(tmp_path, "get", "memory_injection_limt")
    assert done.returncode == 1
    assert done.stderr == "Error: memory_injection_limt is not a setting; did you mean memory_injection_limit?\n"


def test_config_set_accepts_a_negative_number(tmp_path):
    done = config(tmp_path, "set", "memory_injection_limit", "-1")
    assert done.returncode == 0, done.stderr
    assert config(tmp_path, "get", "memory_injection_limit").stdout == "-1\n"


def test_config_set_warns_when_a_variable_overrides_the_file(tmp_path):
    done = config(tmp_path, "set", "memory_injection_limit", "7", RECOLLECT_MEMORY_INJECTION_LIMIT="9")
    assert done.returncode == 0
    assert "it is 9 (RECOLLECT_MEMORY_INJECTION_LIMIT)" in done.stdout
    assert "RECOLLECT_MEMORY_INJECTION_LIMIT is set in the environment and overrides" in done.stderr


def test_config_without_value_is_a_usage_error(tmp_path):
    assert config(tmp_path, "set", "memory_injection_limit").returncode == 2
