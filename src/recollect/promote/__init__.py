"""Promote lessons from one project to the global store of all projects."""
