"""Words for the person who typed the command."""

import sys

from mcp_curated_shared.cli.program import ServerProgram
from mcp_curated_shared.errors import CuratedError


def complain(program: ServerProgram, error: CuratedError) -> None:
    """One line on stderr: what is wrong, and its fix."""
    line = f"{program.distribution}: {error}".replace("\n", " ")
    sys.stderr.write(line.encode("utf-8", "backslashreplace").decode() + "\n")


def remark(text: str) -> None:
    """A line on stderr that is no part of what was asked for."""
    sys.stderr.write(text.encode("utf-8", "backslashreplace").decode() + "\n")


def write(text: str) -> None:
    """Text on stdout. A console that cannot show a character gets its escape."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()
