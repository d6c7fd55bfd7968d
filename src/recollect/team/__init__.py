"""Memory that a team shares through a PostgreSQL server: joining, sending, pulling, tokens."""
