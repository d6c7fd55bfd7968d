"""Change, check and maintain memory files. Search is in recall."""
