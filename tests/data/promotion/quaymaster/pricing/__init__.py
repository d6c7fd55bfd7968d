"""Tariffs of quaymaster."""
