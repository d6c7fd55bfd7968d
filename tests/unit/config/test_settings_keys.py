"""The table of settings: every documented key is there, with its documented default, range and place."""

import json

import pytest

from recollect.config.settings import check, load_settings
from recollect.config.settings_keys import BY_NAME, KEYS, LOCAL, PROJECT_FILE
from recollect.domain.categories import PROJECT

# memory-config.default.json as the catalogue of the plugin gives it, with two differences that are decided:
# `retrieval.enabled` is read by the scripts but missing from the file, and prompts are matched by the engine
# (`hybrid`) unless the project asks for `title_tags`.
DEFAULT_FILE = """
{
  "memory_root": ".claude/memory",
  "categories": {
    "session_summary": { "enabled": true, "folder": "sessions", "auto_capture": true, "retention_days": 90,
                         "max_retained": 5 },
    "decision":        { "enabled": true, "folder": "decisions", "auto_capture": true, "retention_days": 0 },
    "runbook":         { "enabled": true, "folder": "runbooks", "auto_capture": true, "retention_days": 0 },
    "constraint":      { "enabled": true, "folder": "constraints", "auto_capture": true, "retention_days": 0 },
    "tech_debt":       { "enabled": true, "folder": "tech-debt", "auto_capture": true, "retention_days": 0 },
    "preference":      { "enabled": true, "folder": "preferences", "auto_capture": true, "retention_days": 0 }
  },
  "auto_commit": false,
  "max_memories_per_category": 100,
  "retrieval": { "enabled": true, "max_inject": 5, "match_strategy": "hybrid" },
  "triage": {
    "enabled": true,
    "max_messages": 50,
    "thresholds": { "decision": 0.4, "runbook": 0.4, "constraint": 0.5, "tech_debt": 0.4, "preference": 0.4,
                    "session_summary": 0.6 },
    "parallel": {
      "enabled": true,
      "category_models": { "session_summary": "haiku", "decision": "sonnet", "runbook": "haiku",
                           "constraint": "sonnet", "tech_debt": "haiku", "preference": "haiku" },
      "verification_model": "sonnet",
      "default_model": "haiku"
    }
  },
  "delete": { "grace_period_days": 30, "archive_retired": true }
}
"""

# The keys of the knowledge bank and of the semantic memory. The embedding provider is `local`, whose model is
# its own business, so the model is `auto`.
LOCAL_DEFAULTS = {
    "memory_injection_enabled": True,
    "memory_injection_limit": 20,
    "memory_injection_events": ("startup", "resume", "clear"),
    "memory_semantic_enabled": True,
    "memory_vector_weight": 0.5,
    "memory_keyword_weight": 0.2,
    "memory_prominence_weight": 0.3,
    "memory_embedding_provider": "local",
    "memory_embedding_model": "auto",
    "memory_keyword_provider": "auto",
    "memory_relevance_weight": 0.6,
    "memory_keyword_generation": True,
    "memory_recall_tracking": True,
    "memory_feedback_enabled": True,
    "memory_session_capture": True,
    "memory_embedding_enabled": True,
    "memory_embedding_fallback": "fts5",
    "memory_decay_enabled": True,
    "memory_anchors_enabled": True,
}


def flat(document, prefix=""):
    for name, value in document.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


PROJECT_DEFAULTS = dict(flat(json.loads(DEFAULT_FILE)))


@pytest.mark.parametrize(("name", "default"), LOCAL_DEFAULTS.items())
def test_each_key_of_the_knowledge_bank_and_the_semantic_memory_has_its_default(name, default):
    assert BY_NAME[name].default == default
    assert type(BY_NAME[name].default) is type(default)


@pytest.mark.parametrize(("name", "default"), PROJECT_DEFAULTS.items())
def test_each_key_of_the_default_configuration_file_has_its_default(name, default):
    assert BY_NAME[name].default == default
    assert type(BY_NAME[name].default) is type(default)


def test_there_is_no_key_beyond_the_documented_ones_and_a_few_of_our_own():
    own = {"triage.mode", "triage.flow", "triage.after_prompts", "retrieval.show", "permissions.approve_own_steps"}
    own |= {"retrieval.unproven_elsewhere"}
    own |= {"worktree_memories", "memory_store", "memory_store_replica", "memory_scope"}
    new = {category for category in PROJECT if f"triage.thresholds.{category}" not in PROJECT_DEFAULTS}
    own |= {name for name in BY_NAME if new.intersection(name.split("."))}  # keys of a later category
    assert set(BY_NAME) == {*LOCAL_DEFAULTS, *PROJECT_DEFAULTS, *own}


def test_own_steps_are_approved_and_a_repository_may_only_switch_that_off():
    key = BY_NAME["permissions.approve_own_steps"]
    assert key.default is True
    assert key.is_harmless(False)
    assert not key.is_harmless(True)


def test_what_was_recalled_is_said_at_the_start_unless_told_otherwise():
    assert BY_NAME["retrieval.show"].default == "start"
    assert set(BY_NAME["retrieval.show"].choices) == {"start", "always", "never"}


def test_triage_mode_blocks_unless_told_otherwise():
    assert BY_NAME["triage.mode"].default == "block"
    assert set(BY_NAME["triage.mode"].choices) == {"block", "stage", "off"}


def test_default_configuration_file_loads_without_a_problem(tmp_path):
    path = tmp_path / ".claude" / "memory" / "memory-config.json"
    path.parent.mkdir(parents=True)
    path.write_text(DEFAULT_FILE.replace('"hybrid"', '"title_tags"'), encoding="utf-8")
    settings = load_settings(str(tmp_path), {})
    assert settings.problems == []
    assert {name for name in BY_NAME if settings.source(name) == PROJECT_FILE} == set(PROJECT_DEFAULTS)
    assert settings.value("retrieval.match_strategy") == "title_tags"


def test_names_and_variables_are_unique():
    assert len({key.name for key in KEYS}) == len(KEYS) == len(BY_NAME)
    assert len({key.variable for key in KEYS}) == len(KEYS)


def test_no_variable_is_the_one_that_moves_the_global_store():
    assert "RECOLLECT_HOME" not in {key.variable for key in KEYS}


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("memory_injection_limit", "RECOLLECT_MEMORY_INJECTION_LIMIT"),
        ("triage.parallel.category_models.tech_debt", "RECOLLECT_TRIAGE_PARALLEL_CATEGORY_MODELS_TECH_DEBT"),
        ("auto_commit", "RECOLLECT_AUTO_COMMIT"),
    ],
)
def test_variable_is_the_name_in_capitals_after_a_prefix(name, variable):
    assert BY_NAME[name].variable == variable


@pytest.mark.parametrize("name", LOCAL_DEFAULTS)
def test_keys_of_the_knowledge_bank_belong_to_the_local_file(name):
    assert BY_NAME[name].file == LOCAL == "iflow-dev.local.md"


@pytest.mark.parametrize("name", PROJECT_DEFAULTS)
def test_keys_of_the_default_configuration_file_belong_to_that_file(name):
    assert BY_NAME[name].file == PROJECT_FILE == "memory-config.json"


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_each_key_has_one_sentence_of_meaning_and_a_range_in_words(key):
    assert key.meaning[0].isupper()
    assert key.meaning.endswith(".")
    assert ". " not in key.meaning
    assert key.range


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_each_default_is_a_value_that_its_key_allows(key):
    given = list(key.default) if isinstance(key.default, tuple) else key.default
    assert check(key, given) == (key.default, "")


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("triage.max_messages", 10, 200),
        ("retrieval.max_inject", 0, 20),
        *((name, 0.0, 1.0) for name in PROJECT_DEFAULTS if name.startswith("triage.thresholds.")),
    ],
)
def test_clamped_keys_have_the_documented_bounds(name, low, high):
    key = BY_NAME[name]
    assert (key.low, key.high, key.clamped) == (low, high, True)


def test_embedding_providers_are_the_local_one_and_the_four_documented_ones():
    assert set(BY_NAME["memory_embedding_provider"].choices) == {"local", "gemini", "voyage", "openai", "ollama"}


@pytest.mark.parametrize("provider", ["auto", "claude", "claude-api", "haiku", "ollama", "off"])
def test_documented_keyword_providers_are_allowed(provider):
    assert check(BY_NAME["memory_keyword_provider"], provider) == (provider, "")


@pytest.mark.parametrize("name", [n for n in PROJECT_DEFAULTS if n.endswith("_model") or ".category_models." in n])
def test_models_are_haiku_sonnet_and_opus(name):
    assert set(BY_NAME[name].choices) == {"haiku", "sonnet", "opus"}


def test_settings_with_conflict_markers_are_called_that(tmp_path):
    path = tmp_path / ".claude" / "memory" / "memory-config.json"
    path.parent.mkdir(parents=True)
    marked = '{\n<<<<<<< ours\n"auto_commit": true\n=======\n"auto_commit": false\n>>>>>>> theirs\n}'
    path.write_text(marked, encoding="utf-8")
    [problem] = load_settings(str(tmp_path)).problems
    assert "conflict markers" in str(problem)
