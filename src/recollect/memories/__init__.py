"""Change, check and look after memory files. How they are found is in recall."""
