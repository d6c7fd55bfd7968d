"""Memories shared through git: merged field by field, checked in CI, and a repository set up for both."""
