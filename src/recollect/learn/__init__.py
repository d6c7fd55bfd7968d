"""Store new memories from a tool, a person or an agent. Writing of memory files is in memories."""
