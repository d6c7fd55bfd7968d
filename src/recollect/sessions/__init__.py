"""Handle the start and the end of a session. The search for memories is in recall."""
