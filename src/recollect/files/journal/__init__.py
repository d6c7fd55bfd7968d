"""The journal: an append-only file with one JSON object per line."""
