"""Values and rules, computed from values alone: no file, no clock, no process."""
