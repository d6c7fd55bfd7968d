"""Tell what of a session is worth remembering, by what was said in it."""
