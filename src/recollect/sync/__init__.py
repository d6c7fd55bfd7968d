"""Bring the store up to date with banks, journal and memory files; parse entries given as JSON."""
