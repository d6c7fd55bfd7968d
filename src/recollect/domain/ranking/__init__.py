"""Put entries in order: for a question, for a session, and by themselves."""
