# hot
"""The table of categories. Folders, settings, schemas, choices of commands and tools follow from its rows."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DECISION = "decision"
PREFERENCE = "preference"
RUNBOOK = "runbook"
SESSION_SUMMARY = "session_summary"


class Category:
    """A row of the table, with these values unless it has others.

    A category with a `label` is knowledge, shared between projects; one with a `folder` has memory files in a project.
    """

    purpose = ""
    aliases = ""  # other names, from people and models, separated by commas
    plural = ""
    # Labels of the parts to show to a prompt, the most actionable first; an empty one is the text without a label.
    shown: tuple[str, ...] = ("", "Instead", "Example", "Benefit", "Why")

    label = ""  # of one entry in its heading: "### Anti-Pattern: Name"
    start_heading = ""  # in the block for a session's start
    bank_heading = ""  # in a new file of a project's bank
    provenance = ""  # the label for it in a project's bank

    folder = ""
    priority = 10  # among titles with equal scores
    key_fields: tuple[str, ...] = ()  # of its content, to sum it up; the first names its subject
    reasoning = ""  # the key field for an entry's reasoning
    note_fields: tuple[str, ...] = ()  # for the description and the reasoning of a note; else the last two key fields
    is_deletable = True  # on the word of a session alone
    retention_days = 0
    threshold = 0.4
    model = "haiku"

    def __init__(self, name: str, **values: Any) -> None:
        self.name = name
        self.__dict__.update(values)
        self.note_fields = self.note_fields or self.key_fields[-2:]
        self.plural = self.plural or self.folder.replace("-", " ") or name


# Within knowledge the order is that of the injected block: models recall the beginning of their context best, so
# entries to prevent mistakes come first.
_TABLE = (
    Category(
        "anti-patterns",
        purpose="what went wrong and how to avoid it",
        aliases="antipattern, pitfall, gotcha, mistake",
        label="Anti-Pattern",
        start_heading="Anti-Patterns to Avoid",
        bank_heading="Known Anti-Patterns",
        provenance="Observed in",
    ),
    Category(
        "heuristics",
        purpose="a rule of thumb",
        aliases="rule of thumb",
        label="Heuristic",
        start_heading="Heuristics",
        bank_heading="Decision Heuristics",
        provenance="Source",
    ),
    Category(
        "patterns",
        purpose="a way of doing things that works",
        aliases="best practice",
        label="Pattern",
        start_heading="Patterns to Follow",
        bank_heading="Development Patterns",
        provenance="Used in",
    ),
    Category(
        SESSION_SUMMARY,
        purpose="what was done and what comes next",
        aliases="summary, session, session note",
        plural="session summaries",
        shown=("Next actions", "In progress", "", "Outcome"),
        folder="sessions",
        priority=6,
        key_fields=("goal", "outcome"),
        note_fields=("completed", "key_changes"),
        is_deletable=False,
        retention_days=90,
        threshold=0.6,
    ),
    Category(
        DECISION,
        purpose="what was chosen for this project, and why",
        aliases="adr, architecture decision, architectural decision",
        shown=("Decision", "Why", ""),
        folder="decisions",
        priority=1,
        key_fields=("context", "decision", "rationale"),
        reasoning="rationale",
        is_deletable=False,
        model="sonnet",
    ),
    Category(
        "runbook",
        purpose="steps that solve a problem",
        aliases="run book, playbook, procedure",
        shown=("Steps", "", "Root cause"),
        folder="runbooks",
        priority=4,
        key_fields=("trigger", "root_cause"),
        note_fields=("steps", "root_cause"),
    ),
    Category(
        "constraint",
        purpose="what limits this project",
        aliases="limitation",
        shown=("", "Workarounds", "Impact"),
        folder="constraints",
        priority=2,
        key_fields=("rule", "impact"),
        threshold=0.5,
        model="sonnet",
    ),
    Category(
        "tech_debt",
        purpose="what was put off",
        aliases="debt, techdebt, technical debt",
        shown=("", "Suggested fix", "Why"),
        folder="tech-debt",
        priority=5,
        key_fields=("description", "reason_deferred"),
        reasoning="reason_deferred",
    ),
    Category(
        "preference",
        purpose="how somebody likes things done here",
        aliases="user preference",
        shown=("Value", "Why", ""),
        folder="preferences",
        priority=3,
        key_fields=("topic", "value", "reason"),
        reasoning="reason",
        is_deletable=False,
    ),
)

CATEGORIES = {row.name: row for row in _TABLE}
KNOWLEDGE = tuple(row.name for row in _TABLE if row.label)
PROJECT = tuple(row.name for row in _TABLE if row.folder)
LABEL = {name: CATEGORIES[name].label for name in KNOWLEDGE}
FOLDER = {name: CATEGORIES[name].folder for name in PROJECT}

# Stands for a category of a newer version, found in the store or in a file.
UNKNOWN = Category("")
