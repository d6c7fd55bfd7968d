"""Rows, sources, usage and models of stores in SQL databases, in the SQL that all engines have."""
