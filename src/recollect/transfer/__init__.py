"""Take everything out, as an export or a backup, and bring a backup back."""
