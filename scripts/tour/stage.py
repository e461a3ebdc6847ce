"""Printing a tour so that a person likes to read it: colour on a terminal, plain text elsewhere."""

import os
import textwrap
from typing import TextIO

from mcp.client import Client
from mcp_types import CallToolResult, TextContent

BOLD, DIM, GREEN, RED, CYAN, RESET = "\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[36m", "\033[0m"
WIDTH = 108


def text_of(result: CallToolResult) -> str:
    """The text blocks of a tool's result, one after the other."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


class Stage:
    """Prints headings, calls and answers, and counts the steps that did not do what they should.

    Args:
        out: Where to print; colours are used only when it is a terminal and NO_COLOR is unset.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._colour = out.isatty() and "NO_COLOR" not in os.environ
        self.failures = 0
        self.steps = 0

    def _paint(self, text: str, *codes: str) -> str:
        return f"{''.join(codes)}{text}{RESET}" if self._colour else text

    def _print(self, text: str = "") -> None:
        print(text, file=self._out, flush=True)

    def heading(self, title: str, text: str) -> None:
        """Open a part of the tour."""
        self._print()
        self._print(self._paint(title, BOLD))
        self._print(textwrap.fill(text, WIDTH))

    def say(self, text: str) -> None:
        """A sentence between two steps."""
        self._print()
        self._print(self._paint(textwrap.fill(text, WIDTH), DIM))

    def quote(self, line: str) -> None:
        """One line of an answer."""
        self._print("  | " + (line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"))

    def verdict(self, good: bool, text: str) -> None:
        """Whether a step did what it should."""
        self.steps += 1
        if not good:
            self.failures += 1
        mark = self._paint("  ok ", GREEN, BOLD) if good else self._paint("  FAILED ", RED, BOLD)
        self._print(f"{mark}{text}")

    async def call(
        self,
        client: Client,
        tool: str,
        arguments: dict[str, object],
        *,
        expect: str,
        error: bool = False,
        lines: int = 14,
    ) -> CallToolResult:
        """Call a tool, show the call and the answer, and say whether the answer was as it should be.

        Args:
            client: A connected client.
            tool: The tool's name.
            arguments: Its arguments.
            expect: What the answer shows, as the verdict's words.
            error: Whether a refusal is the right answer.
            lines: Lines of the answer that are shown.
        """
        shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        self._print()
        self._print(self._paint(f"{tool}(", CYAN, BOLD) + shown + self._paint(")", CYAN, BOLD))
        result = await client.call_tool(tool, arguments)
        answer = text_of(result).splitlines() or ["(nothing)"]
        for line in answer[:lines]:
            self.quote(line)
        if len(answer) > lines:
            self._print(self._paint(f"  | … {len(answer) - lines} more lines", DIM))
        self.verdict(bool(result.is_error) == error, expect)
        return result

    def close(self, seconds: float) -> None:
        """The last line of the tour."""
        self._print()
        if self.failures:
            self._print(self._paint(f"{self.failures} of {self.steps} steps FAILED.", RED, BOLD))
        else:
            self._print(self._paint(f"All {self.steps} steps did what they say, in {seconds:.1f} s.", GREEN, BOLD))
