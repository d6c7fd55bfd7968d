"""Put recollect into clients and take it out again: the plugin, its packages, other clients of the server."""
