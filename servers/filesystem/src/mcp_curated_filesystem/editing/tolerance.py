"""Matching whole lines whose spaces at the end, or whose indentation, were quoted differently.

Only spaces and tabs at the two ends of a line are forgiven. Other look-alikes (a no-break space, curly quotes) are
shown as a near miss and never taken for what they are not: they can be what the edit is about.
"""

from dataclasses import dataclass

from mcp_curated_filesystem.editing.indentation import Rule, indentation_of, learn
from mcp_curated_filesystem.editing.matching import Span, View, line_end, line_start, unified_breaks

_MOST_CANDIDATES = 2_000
_MOST_LINES = 100_000
"""Lines of the file that are compared in all: some 100 ms."""
_ENDS = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Tolerated:
    """A place that fits but for white space at the ends of lines.

    Attributes:
        span: The place, in the view.
        reindent: Turns an indentation of the request into the file's.
        shifted: Whether indentation differs (else only the ends of lines do).
    """

    span: Span
    reindent: Rule
    shifted: bool


def find_tolerated(view: View, asked: str) -> list[Tolerated]:
    """Find the places where whole lines fit but for white space at their ends.

    Args:
        view: The file.
        asked: What was looked for, and was not found exactly.

    Returns:
        Up to two places (two are enough to know that it is not unique), none if too much looks alike to tell.
    """
    lines = unified_breaks(asked).split("\n")
    closed = len(lines) > 1 and lines[-1] == ""
    lines = lines[:-1] if closed else lines
    sought = [view.sought(line.strip(_ENDS)) for line in lines]
    bare = [line for line in sought if line is not None]
    if len(bare) != len(lines) or not any(bare):
        return []
    found: list[Tolerated] = []
    for start in _starts(view, bare):
        rows = _rows(view, start, len(lines))
        if [view.text[low:high].strip(_ENDS) for low, high in rows] != bare:
            continue
        tolerated = _tolerated(view, rows, lines, closed)
        if tolerated is not None:
            found.append(tolerated)
        if len(found) == 2:
            break
    return found


def _starts(view: View, bare: list[str]) -> list[int]:
    """Where a block may begin: where a line is its longest line, as many lines earlier. None if there are too many."""
    anchor = max(range(len(bare)), key=lambda index: len(bare[index]))
    starts: list[int] = []
    at = view.text.find(bare[anchor])
    for _ in range(min(_MOST_CANDIDATES, _MOST_LINES // len(bare) + 1)):
        if at < 0:
            return starts
        start = line_start(view, at)
        if view.text[start:at].strip(" \t") == "":
            starts.append(_lines_up(view, start, anchor))
        at = view.text.find(bare[anchor], line_end(view, at))
    return []


def _lines_up(view: View, start: int, count: int) -> int:
    for _ in range(count):
        start = line_start(view, max(0, start - 1))
    return start


def _rows(view: View, start: int, count: int) -> list[Span]:
    rows: list[Span] = []
    for _ in range(count):
        end = line_end(view, start)
        if end == start:
            break
        rows.append((start, end))
        start = end
    return rows


def _tolerated(view: View, rows: list[Span], lines: list[str], closed: bool) -> Tolerated | None:
    there = [view.text[low:high] for low, high in rows]
    pairs = [
        (indentation_of(asked), indentation_of(text)) for asked, text in zip(lines, there, strict=True) if asked.strip()
    ]
    rule = learn(pairs)
    if rule is None:
        return None
    ending = len(there[-1]) - len(there[-1].rstrip("\r\n"))
    if closed and not ending:
        return None
    span = rows[0][0], rows[-1][1] - (0 if closed else ending)
    return Tolerated(span, rule, any(asked != text for asked, text in pairs))
