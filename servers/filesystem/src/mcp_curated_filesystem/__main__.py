"""Console script `mcp-curated-filesystem`."""


def main() -> int:
    """Run the command line."""
    return 0
