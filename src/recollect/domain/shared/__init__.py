"""Lessons that people share: lines about them, the ids of these lines, and their meaning."""
