# hot
"""The version of the package and of the plugin, as printed by `--version`, and where the project is at home."""

VERSION = "0.6.0"

# The address of the project, in the plugin's manifest too. `make release HOME_PAGE=https://...` fills it in; until then
# it is one that cannot exist.
HOME_PAGE = "https://recollect.invalid"
