"""Find relevant entries for a search, a prompt or the start of a session. Nothing here changes a memory."""
