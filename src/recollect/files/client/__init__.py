"""Configuration files of clients: edit our entry and leave the rest unchanged."""
