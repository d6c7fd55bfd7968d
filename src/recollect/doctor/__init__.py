"""Examine whether recollect works here, and say what to do. Repairs are made by the rooms below."""
