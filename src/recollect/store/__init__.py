"""A searchable store of entries, rebuilt from files when lost. Other layers do not know the database."""
