"""The MCP server and its tools: check the arguments, call one use case, report the result."""
