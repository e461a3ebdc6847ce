"""Security and transport that the curated MCP servers share."""
