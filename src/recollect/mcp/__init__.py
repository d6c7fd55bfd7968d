"""Serve the MCP tools: check the arguments, call one use case, say what became of it."""
