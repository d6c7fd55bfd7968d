# hot
"""The kinds of signs that a session has used an entry; the last one is against the entry."""

from __future__ import annotations

OPENED = "opened"  # it was fetched in full
TOUCHED = "touched"  # a file that it names was read or changed
SAID = "said"  # its rare words were used
CITED = "cited"  # it was named
CONTRADICTED = "contradicted"  # a person has corrected it, or another entry supersedes it

KINDS = (OPENED, TOUCHED, SAID, CITED, CONTRADICTED)
