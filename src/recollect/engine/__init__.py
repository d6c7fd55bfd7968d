"""The Engine: a store, an embedder and keywords, and what is computed with them. Files are read by sync."""
