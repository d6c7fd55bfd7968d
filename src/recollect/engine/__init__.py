"""The Engine: a store, an embedder and keywords, and computations with them. Reading files is for sync."""
