# hot
"""The nine categories of memory, with their labels and folders."""

# Knowledge is shared between projects. The order is that of the injected block: models recall the beginning of
# their context best, so entries to prevent mistakes come first.
KNOWLEDGE = ("anti-patterns", "heuristics", "patterns")

# Project memories stay in their project.
PROJECT = ("session_summary", "decision", "runbook", "constraint", "tech_debt", "preference")

# The label of one entry in its heading: "### Anti-Pattern: Name".
LABEL = {"anti-patterns": "Anti-Pattern", "heuristics": "Heuristic", "patterns": "Pattern"}

FOLDER = {
    "session_summary": "sessions",
    "decision": "decisions",
    "runbook": "runbooks",
    "constraint": "constraints",
    "tech_debt": "tech-debt",
    "preference": "preferences",
}
