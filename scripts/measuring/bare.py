"""The barest server that the SDK allows, with two tools, one reads and one writes: what a call costs any Python server.

It is run as a program of its own. It checks nothing and must never be offered to anyone.
"""

from mcp.server.mcpserver import MCPServer
from mcp_types import TextContent

server = MCPServer("bare")


@server.tool(structured_output=False)
def read(path: str, length: int) -> TextContent:
    """Read the first bytes of a file."""
    with open(path, "rb") as file:
        return TextContent(type="text", text=file.read(length).decode())


@server.tool(structured_output=False)
def write(path: str, content: str) -> TextContent:
    """Write a file."""
    with open(path, "wb") as file:
        file.write(content.encode())
    return TextContent(type="text", text=f"Wrote {path}")


if __name__ == "__main__":
    server.run("stdio")
