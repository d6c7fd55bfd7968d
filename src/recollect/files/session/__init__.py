"""Small files about sessions: what each was given, what is asked of it, its transcript."""
