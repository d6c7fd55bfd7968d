"""Answer the hooks of a client: read the event, call one use case, print the answer."""
