"""Small files about sessions: records of injected entries, flags, handed-over drafts, transcripts."""
