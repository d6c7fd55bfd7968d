"""Rank entries: for a question, for a session, and by themselves."""
