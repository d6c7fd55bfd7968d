"""Install recollect into clients and remove it again: the plugin, its packages, entries in other clients' files."""
