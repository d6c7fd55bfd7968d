"""Take in what a tool, a person or an agent wants remembered. Writing the file itself is in memories."""
