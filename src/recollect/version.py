# hot
"""The version: of the package, of the plugin, of what `--version` prints."""

VERSION = "0.6.0"
