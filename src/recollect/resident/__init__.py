"""The resident: an MCP server that also answers hooks, with an open store and a loaded model."""
