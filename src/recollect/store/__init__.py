"""A searchable store of entries, rebuilt from files when lost. Only repairs and checks look past its protocol."""
