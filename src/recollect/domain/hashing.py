"""The content hash: the identity of an entry, everywhere."""

from hashlib import sha256


def normalize(description: str) -> str:
    """The text that two descriptions must share to be the same: lowercase, one space between words."""
    return " ".join(description.lower().strip().split())


def content_hash(description: str) -> str:
    """The first 16 hex characters of the SHA-256 of an entry's normalized description.

    Text that came from invalid UTF-8 hashes too: its lone surrogates are passed through.
    """
    return sha256(normalize(description).encode("utf-8", "surrogatepass")).hexdigest()[:16]
