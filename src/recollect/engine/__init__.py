"""A store, an embedder and keywords put together, and what is computed with them. Files are read in sync."""
