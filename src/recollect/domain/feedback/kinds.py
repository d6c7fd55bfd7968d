# hot
"""The kinds of signs of what a session did with an entry."""

from __future__ import annotations

OPENED = "opened"  # it was fetched in full
TOUCHED = "touched"  # a file that it names was changed, or read while it was on the model's mind
SAID = "said"  # its rare words were used
CITED = "cited"  # it was named
CONTRADICTED = "contradicted"  # a person has corrected it, or another entry supersedes it

# One of its rare words was written, perhaps because the prompt had it. That is no sign of use, but without it the entry
# was given in vain.
MENTIONED = "mentioned"

USES = (OPENED, TOUCHED, SAID, CITED)
KINDS = (*USES, CONTRADICTED, MENTIONED)
