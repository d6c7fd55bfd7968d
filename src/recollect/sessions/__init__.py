"""What happens at the start and at the end of a session. How memories are found is in recall."""
