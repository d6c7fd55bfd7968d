"""Knowledge banks: markdown files of entries, with edits confined to the changed entry."""
