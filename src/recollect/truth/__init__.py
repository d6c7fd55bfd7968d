"""Anchors of entries: taken when an entry is stored or confirmed, and compared with the files when it is recalled."""
