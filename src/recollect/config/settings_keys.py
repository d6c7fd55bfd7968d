# hot
"""A table of all settings: file, type, range, default and meaning. docs/settings.md is generated from it."""

from __future__ import annotations

from recollect.domain.categories import CATEGORIES, PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

Value = bool | int | float | str | tuple[str, ...]

# The ways for a session to start.
EVENTS = ("startup", "resume", "clear", "compact")

# When the user is told how much was recalled.
SHOWN = ("start", "always", "never")

# Folders of .claude reserved for the client: a file in them may become a command, an agent or a rule.
CLIENT_FOLDERS = frozenset(
    "agent-memory agent-memory-local agents commands hooks ide output-styles plugins projects rules shell-snapshots"
    " skills statsig tasks todos workflows worktrees".split()
)

LOCAL = "iflow-dev.local.md"
PROJECT_FILE = "memory-config.json"


class Key:
    """A setting. Numbers out of range are errors, or, if `clamped`, moved to the nearest bound.

    `used_by` names the commands and hooks using it in this version; if empty, it is checked and kept for later
    versions. `harmless` is for a key with effects on the machine or the network, or with costs: the values a repository
    may set, in words and as a function. Any other value counts only with the user's consent. An unreadable value of a
    switch means off, unless `off_removes` something.
    """

    def __init__(
        self,
        name: str,
        default: Value,
        meaning: str,
        used_by: str,
        *,
        bounds: tuple[float, float] = (0.0, 1.0),
        clamped: bool = False,
        choices: Sequence[str] = (),
        deepest: int = 0,
        address: str = "",
        harmless: tuple[str, Callable[[Any], bool]] | None = None,
        off_removes: bool = False,
    ) -> None:
        self.name = name
        self.kind = type(default)
        self.default = default
        self.meaning = meaning
        self.low, self.high = bounds
        self.clamped = clamped
        self.choices = choices
        self.deepest = deepest  # of a folder: the most names in its path; 0 if the value is not a folder
        self.address = address  # the beginning of every value but the default; empty if the value is no address
        self.used_by = used_by
        self.harmless, self.is_harmless = harmless or ("", None)
        self.off_removes = off_removes

    @property
    def file(self) -> str:
        """Return the file for writing the setting, unless the other one already contains it."""
        return LOCAL if self.name.startswith("memory_") and self.name != "memory_root" else PROJECT_FILE

    @property
    def variable(self) -> str:
        return "RECOLLECT_" + self.name.upper().replace(".", "_")

    @property
    def range(self) -> str:
        """Describe the allowed values in words."""
        if self.kind is bool:
            return "true or false"
        if self.choices:
            listed = ", ".join(self.choices)
            return f"any of {listed}, separated by commas" if self.kind is tuple else f"one of {listed}"
        if self.kind in (int, float):
            noun = "a whole number" if self.kind is int else "a number"
            return f"{noun} from {self.low} to {self.high}"
        return self._text_range

    @property
    def _text_range(self) -> str:
        if self.deepest == 1:
            return "the name of a folder: letters, digits, hyphens and underscores"
        if self.deepest:
            return "a path of folders below the project, with no spaces, no .. and none of the client's own"
        if self.address:
            return f"{self.default}, or an address that begins with {self.address} and has no password"
        return "a text without spaces"


def is_clients_own(names: Sequence[str]) -> bool:
    """Return True if a path from a project's root is the client's or git's: .claude, its own files, or .git.

    The client's files have an ending (settings.json, CLAUDE.md); a folder for memories needs none.
    """
    first, second = ([name.lower() for name in names] + ["", ""])[:2]
    is_clients = first == ".claude" and (not second or second in CLIENT_FOLDERS or second.endswith((".json", ".md")))
    return is_clients or any(name.lower() == ".git" for name in names)


def as_text(value: Value) -> str:
    """Format a value for a `key: value` line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and "e" in repr(value):
        return f"{value:.20f}".rstrip("0")  # `key: value` lines have no exponents
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _any_of(*values: Value) -> tuple[str, Callable[[Any], bool]]:
    return " or ".join(f"`{as_text(value)}`" for value in values), values.__contains__


def _no_less_than(default: float) -> tuple[str, Callable[[Any], bool]]:
    return f"from {default} on", lambda value: value >= default


def _model(name: str, default: str, meaning: str) -> Key:
    """Return the key of a model; a repository may only choose the default or a cheaper one."""
    cheaper = _MODELS[: _MODELS.index(default) + 1]
    return Key(name, default, meaning, "stop", choices=_MODELS, harmless=_any_of(*cheaper))


_MODELS = ("haiku", "sonnet", "opus")  # the cheapest first
_BELOW = ".claude/"


def _category_keys(category: str) -> list[Key]:
    words = category.replace("_", " ")
    prefix = f"categories.{category}"
    return [
        Key(
            f"{prefix}.enabled",
            True,
            f"Whether {words} memories are written and found; those that are there stay where they are.",
            used_by="stop, write, candidate, search, prompt, inject",
        ),
        Key(
            f"{prefix}.folder",
            CATEGORIES[category].folder,
            f"The folder of {words} files below the memory root.",
            deepest=1,
            used_by="everything that reads or writes memories",
        ),
        Key(
            f"{prefix}.auto_capture",
            True,
            f"Whether a {words} may be written down without being asked for.",
            used_by="stop, write --auto, candidate --auto",
        ),
        Key(
            f"{prefix}.retention_days",
            CATEGORIES[category].retention_days,
            f"After how many days without change a {words} is retired; 0 keeps it.",
            bounds=(0, 36500),
            used_by="write, index",
        ),
    ]


def _triage_keys(category: str) -> list[Key]:
    words = category.replace("_", " ")
    threshold = CATEGORIES[category].threshold
    return [
        Key(
            f"triage.thresholds.{category}",
            threshold,
            f"The score from which a session's end suggests a {words}.",
            clamped=True,
            harmless=_no_less_than(threshold),
            used_by="stop",
        ),
        _model(
            f"triage.parallel.category_models.{category}",
            CATEGORIES[category].model,
            f"The model that drafts a {words}.",
        ),
    ]


KEYS: tuple[Key, ...] = (
    Key(
        "memory_injection_enabled",
        True,
        "Whether sessions are given lessons, and the titles of the project's memories, when they start.",
        "inject",
    ),
    Key(
        "memory_injection_limit",
        20,
        "How many entries a session is given at most; 0 for none, -1 for all.",
        "inject",
        bounds=(-1, 100_000),
    ),
    Key(
        "memory_injection_events",
        ("startup", "resume", "clear"),
        "On which events of a session memories are given.",
        "inject",
        choices=EVENTS,
    ),
    Key(
        "memory_semantic_enabled",
        True,
        "Whether memories are chosen by what the session is about; if not, markdown alone decides.",
        "inject, promote",
    ),
    Key(
        "memory_relevance_weight",
        0.6,
        "How much relevance counts against prominence, from 0.0 (prominence only) to 1.0; once set, it overrules how"
        " the three weights below divide the two.",
        "inject",
    ),
    Key("memory_vector_weight", 0.5, "The weight of similar meaning in a session's choice.", "inject"),
    Key("memory_keyword_weight", 0.2, "The weight of shared words in a session's choice.", "inject"),
    Key("memory_prominence_weight", 0.3, "The weight of an entry's standing in a session's choice.", "inject"),
    Key("memory_decay_enabled", True, "Whether entries fade that are not recalled.", "inject"),
    Key(
        "memory_anchors_enabled",
        True,
        "Whether an entry is marked, and ranks lower, if a file that it names has changed since it was stored.",
        "inject, search, show, stale",
    ),
    Key("memory_recall_tracking", True, "Whether it is counted how often an entry was given to a session.", "inject"),
    Key(
        "memory_feedback_enabled",
        True,
        "Whether signs of use are looked for in transcripts, and change the order of entries.",
        "stop, inject, prompt, search",
    ),
    Key(
        "memory_embedding_enabled",
        True,
        "Whether entries and queries are compared by meaning.",
        "inject, search, upsert, promote, reembed",
    ),
    Key(
        "memory_embedding_provider",
        "local",
        "Who computes embeddings; `local` needs no key and no network.",
        "inject, search, upsert, promote, reembed",
        choices=("local", "gemini", "openai", "voyage", "ollama"),
        harmless=_any_of("local"),
    ),
    Key(
        "memory_embedding_model",
        "auto",
        "The embedding model; `auto` is the provider's own default.",
        "inject, search, upsert, promote, reembed",
        harmless=_any_of("auto"),
    ),
    Key(
        "memory_embedding_fallback",
        "fts5",
        "What finds entries when no embedding can be had.",
        "inject, search",
        choices=("fts5", "none"),
    ),
    Key(
        "memory_keyword_generation",
        True,
        "Whether entries are given keyword labels.",
        "inject, search, upsert, promote",
    ),
    Key(
        "memory_keyword_provider",
        "auto",
        "Who finds keyword labels for an entry that comes without; `auto` asks Anthropic or Ollama only if their"
        " variables are set, and many entries at once are always labelled by rules.",
        "inject, search, upsert, promote",
        choices=("auto", "claude", "claude-api", "haiku", "anthropic", "ollama", "rules", "off"),
        harmless=_any_of("auto", "rules", "off"),
    ),
    Key(
        "memory_store",
        "sqlite",
        "Where entries are kept for searches: in a file of the global store, or on a PostgreSQL server.",
        "everything that searches or stores",
        address="postgresql://",
        harmless=_any_of("sqlite"),
    ),
    Key(
        "memory_scope",
        "files",
        "What a store on a server takes from this machine: its `files`, or without files the lessons stored here, into"
        " the `personal` scope or one such as `team:backend`.",
        "everything that searches or stores",
        harmless=_any_of("files"),
    ),
    Key(
        "memory_store_replica",
        "none",
        "A replica of that server from which searches read, as long as it is at most ten seconds behind.",
        "everything that searches",
        address="postgresql://",
        harmless=_any_of("none"),
    ),
    Key("memory_session_capture", True, "Whether the agent may store memories in the middle of a session.", "mcp"),
    Key(
        "memory_root",
        ".claude/memory",
        "The folder of project memories below the project's root.",
        "everything that reads or writes memories",
        deepest=10,
        harmless=(f"below `{_BELOW}`", lambda value: value.startswith(_BELOW)),
    ),
    Key(
        "worktree_memories",
        "branch",
        "Whether a worktree has the memories of its branch, if git has put any into it, or shares those of the main"
        " checkout.",
        "everything that reads or writes memories",
        choices=("branch", "shared"),
    ),
    *(key for category in PROJECT for key in _category_keys(category)),
    Key(
        "categories.session_summary.max_retained",
        5,
        "How many session summaries stay active; older ones are retired.",
        "write",
        bounds=(1, 10_000),
    ),
    Key(
        "auto_commit",
        False,
        "Whether changes to memory files are committed to git, by themselves.",
        "everything that writes memories",
        harmless=_any_of(False),
    ),
    Key(
        "max_memories_per_category",
        100,
        "How many active memories that were written here a category holds at most.",
        "write",
        bounds=(1, 1_000_000),
    ),
    Key(
        "retrieval.enabled",
        True,
        "Whether a prompt is answered with memories about it, and a session's start lists their titles.",
        "prompt, inject",
    ),
    Key(
        "retrieval.max_inject",
        5,
        "How many memories a prompt is given at most.",
        "prompt",
        bounds=(0, 20),
        clamped=True,
    ),
    Key(
        "retrieval.match_strategy",
        "hybrid",
        "How a prompt's memories are found.",
        "prompt",
        choices=("hybrid", "title_tags"),
    ),
    Key(
        "retrieval.unproven_elsewhere",
        False,
        "Whether lessons that a session stored are recalled in other projects before they are seen again or promoted.",
        "inject, prompt, search, mcp",
        harmless=_any_of(False),
    ),
    Key(
        "retrieval.show",
        "start",
        "When a line tells you how much was recalled: at a session's start, also at prompts, or never.",
        "inject, prompt",
        choices=SHOWN,
    ),
    Key("triage.enabled", True, "Whether the end of a session is looked through for memories.", "stop"),
    Key(
        "triage.mode",
        "block",
        "What is done with memories found at the end: ask the agent now, stage them for review, or nothing.",
        "stop",
        choices=("block", "stage", "off"),
    ),
    Key(
        "triage.flow",
        "direct",
        "How an agent saves what a held stop asks for: by one tool call each, or through the skill's phases.",
        "stop",
        choices=("direct", "phases"),
    ),
    Key(
        "triage.after_prompts",
        5,
        "After how many prompts, or six times as many tool uses, a stop may be held again; 0 at every turn.",
        "stop",
        bounds=(0, 100),
        clamped=True,
    ),
    Key(
        "triage.max_messages",
        50,
        "How many of a session's last messages are looked through.",
        "stop",
        bounds=(10, 200),
        clamped=True,
    ),
    *(key for category in PROJECT for key in _triage_keys(category)),
    Key("triage.parallel.enabled", True, "Whether memories of several categories are drafted side by side.", "stop"),
    _model("triage.parallel.verification_model", "sonnet", "The model that checks drafts."),
    _model("triage.parallel.default_model", "haiku", "The model that drafts where no other is named."),
    Key(
        "permissions.approve_own_steps",
        True,
        "Whether the agent may take recollect's own steps unasked: search, store, draft and write memories.",
        "permit, write-guard",
        harmless=_any_of(False),
    ),
    Key(
        "delete.grace_period_days",
        30,
        "How many days a retired memory can be restored, before `recollect index --gc` takes it away.",
        "restore, index",
        bounds=(0, 36500),
    ),
    Key(
        "delete.archive_retired",
        True,
        "Whether a retired memory is archived after the grace period instead of removed.",
        "index",
        off_removes=True,
    ),
)

BY_NAME = {key.name: key for key in KEYS}

BY_VARIABLE = {key.variable: key for key in KEYS}


def key_named(name: str) -> Key | None:
    """Return the setting with a name; within one for a category, hyphens may join words as underscores do."""
    return BY_NAME.get(name) or (BY_NAME.get(name.replace("-", "_")) if "." in name else None)
