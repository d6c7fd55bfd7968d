"""What stores in SQL databases share: rows, sources, usage and models, in the SQL that all engines have."""
