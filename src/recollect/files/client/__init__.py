"""The configuration files of clients, changed in one place and left alone elsewhere."""
