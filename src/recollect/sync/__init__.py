"""Bring the store up to date with the files: banks, journal and memory files. Selecting entries is done elsewhere."""
