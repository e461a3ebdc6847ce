"""The barest server that the SDK allows, with one tool that reads a file: what any Python server pays for a call.

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


if __name__ == "__main__":
    server.run("stdio")
