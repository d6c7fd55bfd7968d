"""Locations, the project, its memory root and settings. Nothing here reads a memory."""
