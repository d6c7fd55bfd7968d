"""Domain values and rules. They use no file, no clock and no process."""
