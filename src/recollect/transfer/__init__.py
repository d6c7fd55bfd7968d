"""Exports, backups, and restoring from a backup."""
