"""The journal: one JSON object a line, only ever added to."""
