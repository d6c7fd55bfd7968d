# hot
"""The content hash, used everywhere as an entry's identity."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256
else:  # hashlib loads OpenSSL; this takes a third of a bare interpreter's start
    try:
        from _sha256 import sha256
    except ImportError:
        try:
            from _sha2 import sha256  # its name from Python 3.12 on
        except ImportError:
            from hashlib import sha256

if TYPE_CHECKING:
    from hashlib import sha1
else:
    try:
        from _sha1 import sha1
    except ImportError:
        from hashlib import sha1

__all__ = ["content_hash", "file_hash", "normalize", "sha256"]

_BEGINNING = 8_000  # bytes of a file; one with a NUL among them is no text, as for git


def normalize(description: str) -> str:
    """Normalize a description for comparison: lowercase, one space between words."""
    return " ".join(description.lower().strip().split())


def content_hash(description: str) -> str:
    """Return the first 16 hex characters of the SHA-256 of an entry's normalized description.

    Text from invalid UTF-8 can be hashed too: its lone surrogates are passed through.
    """
    return sha256(normalize(description).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def file_hash(data: bytes) -> str:
    """Return git's hash of a file's content. Line ends of Windows count as those of the repository."""
    if b"\0" not in data[:_BEGINNING]:
        data = data.replace(b"\r\n", b"\n")
    hashed = sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    hashed.update(data)
    return hashed.hexdigest()
