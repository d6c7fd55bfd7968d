"""Atomic reads and writes of every kind of file. Higher packages decide how the files work together."""
