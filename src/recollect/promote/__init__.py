"""Carry lessons from one project to the store of all projects."""
