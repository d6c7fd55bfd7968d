"""Rules on what the work of a session shows about the memories that it was given."""
