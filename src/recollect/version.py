# hot
"""The version of the package and of the plugin, as printed by `--version`."""

VERSION = "0.6.0"
