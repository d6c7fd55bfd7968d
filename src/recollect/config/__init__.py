"""Locations, the project, its memory root, settings, consent and git. Nothing here reads a memory."""
