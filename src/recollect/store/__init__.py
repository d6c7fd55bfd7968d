"""Entries that can be searched, made from files and made again when lost. Nothing above knows the database."""
