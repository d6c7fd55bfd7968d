"""Bring the store up to date with the files: banks, journal and memory files. Nothing here decides what is shown."""
