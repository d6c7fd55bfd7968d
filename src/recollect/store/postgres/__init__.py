"""A store in a PostgreSQL database with pgvector, for many machines and many entries."""
