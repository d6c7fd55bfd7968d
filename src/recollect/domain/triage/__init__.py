"""Find the parts of a session worth remembering, by its conversation."""
