"""Find keyword labels for an entry, by rules or by a model."""
