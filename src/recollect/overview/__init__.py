"""What several rooms know, put together for a person: what awaits them, one memory whole, several changed at once."""
