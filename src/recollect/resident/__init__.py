"""One process that keeps the store open and the model loaded: how it is asked, and how it answers."""
