"""Turn texts into vectors, on this machine or by a provider."""
