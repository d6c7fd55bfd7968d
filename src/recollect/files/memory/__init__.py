"""Memory files, their schemas, their index and their lock."""
