"""Credentials in text, so that none leaves the project it was found in."""

from __future__ import annotations

import re

from recollect.domain.text import visible

# Between a name and its value, in code or in markdown.
_ASSIGNED = r"['\"`*_]{0,4}\s*[:=][*_]{0,4}\s*['\"`*_]{0,4}"

_KINDS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
        ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
        ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
        ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
        ("a Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
        ("an API key", r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}"),
        ("a Stripe key", r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
        ("an npm token", r"\bnpm_[A-Za-z0-9]{30,}"),
        ("a JSON web token", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        ("a password in a URL", r"\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@]{1,100}:[^\s/:@<>{}$*]{3,200}@"),
        (
            "a password",
            r"(?i)(?<![A-Za-z0-9])(?:[A-Za-z0-9]{1,20}[_-]){0,3}(?:password|passwd|pwd)\b"
            + _ASSIGNED
            + r"(?=[^\s'\"`]{0,100}[0-9])[^\s'\"`()<>\[\]{}$*]{6,}",
        ),
        (
            "a credential",
            r"(?i)(?<![A-Za-z0-9])(?:[A-Za-z0-9]{1,20}[_-]){0,3}(?:secret|token|api[_-]?key|access[_-]?key|private[_-]?key)"
            r"(?:[_-][A-Za-z0-9]{1,20}){0,3}"
            + _ASSIGNED
            + r"(?=[^\s'\"]{0,100}[0-9])(?=[^\s'\"]{0,100}[a-z])[A-Za-z0-9+/=_.-]{12,}",
        ),
        ("a bearer token", r"(?i)\bbearer\s+(?=[^\s'\"]{0,100}[0-9])[A-Za-z0-9._~+/=-]{16,}"),
    )
)


def find_secret(text: str) -> str:
    """What kind of credential the text seems to hold ("a GitHub token"), or an empty string.

    Characters that cannot be seen do not hide one: whatever is kept is kept without them.
    """
    seen = visible(text)
    return next((kind for kind, pattern in _KINDS if pattern.search(seen)), "")
