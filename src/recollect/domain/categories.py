# hot
"""The nine categories of memory, and what each is called where."""

# Knowledge travels between projects. The order is that of the injected block: models recall the beginning of
# their context best, so what prevents mistakes comes first.
KNOWLEDGE = ("anti-patterns", "heuristics", "patterns")

# Project memories stay in their project.
PROJECT = ("session_summary", "decision", "runbook", "constraint", "tech_debt", "preference")

# One entry of a knowledge category, as its heading may say: "### Anti-Pattern: Name".
LABEL = {"anti-patterns": "Anti-Pattern", "heuristics": "Heuristic", "patterns": "Pattern"}

FOLDER = {
    "session_summary": "sessions",
    "decision": "decisions",
    "runbook": "runbooks",
    "constraint": "constraints",
    "tech_debt": "tech-debt",
    "preference": "preferences",
}
