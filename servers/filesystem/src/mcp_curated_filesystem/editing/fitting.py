"""Fitting a new text into a place: which bytes change, and how its new lines end.

Lines that the new text shares with the old one keep their bytes. A new line takes the line break of the lines it
replaces or stands beside, so that a file with mixed line ends stays as mixed as it was.
"""

from dataclasses import dataclass
from difflib import SequenceMatcher

from mcp_curated_filesystem.editing.indentation import Rule, indentation_of
from mcp_curated_filesystem.editing.matching import BREAK, Span, View, break_near, unified_breaks

_MOST_ALIGNED = 400


@dataclass(frozen=True, slots=True)
class Splice:
    """One replacement: `text` (as the view has text) comes into the place of `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the old text and where it stands: its whole span, and the break it ends in ("" for the last)."""

    span: Span
    ending: str


def fit(view: View, span: Span, old: str, new: str) -> list[Splice]:
    """Replace the exact match `span` of `old` by `new`.

    Raises:
        EncodingError: The file's encoding cannot hold a character of `new`.
    """
    new = unified_breaks(new)
    endings = set(BREAK.findall(view.text, *span)) if view.has_returns else set[str]()
    if len(endings) > 1 or not view.by_byte:
        return _fit_lines(view, span, unified_breaks(old), new, _as_it_is) or []
    if "\n" not in new or not view.has_returns:
        return [Splice(*span, view.written(new))]
    lines = new.split("\n")
    ending = endings.pop() if endings else break_near(view, span)
    return [Splice(*span, _joined(view, span, lines, [*[ending] * (len(lines) - 1), ""]))]


def fit_reindented(view: View, span: Span, old: str, new: str, rule: Rule) -> list[Splice] | None:
    """Replace the tolerant match `span` of `old` by `new`, moved to the file's indentation.

    Returns:
        None where a line of `new` cannot be moved by the rule.
    """
    return _fit_lines(view, span, unified_breaks(old), unified_breaks(new), rule)


def _fit_lines(view: View, span: Span, old: str, new: str, rule: Rule) -> list[Splice] | None:
    rows = _rows(view, span)
    before, after = old.split("\n"), new.split("\n")
    splices: list[Splice] = []
    for low, high, first, last in _changes(before, after):
        moved = [line if rule is _as_it_is else _moved(line, rule) for line in after[first:last]]
        lines = [line for line in moved if line is not None]
        if len(lines) < len(moved):
            return None
        splices.append(_splice(view, rows, (low, high), lines, closed=last < len(after)))
    return splices


def _as_it_is(indentation: str) -> str:
    return indentation


def _moved(line: str, rule: Rule) -> str | None:
    if not line.strip(" \t"):
        return line.strip(" \t")
    indentation = indentation_of(line)
    place = rule(indentation)
    return None if place is None else place + line[len(indentation) :]


def _changes(before: list[str], after: list[str]) -> list[tuple[int, int, int, int]]:
    """Which runs of lines change: (first, end) in the old ones, (first, end) in the new ones.

    The last lines have no break within the text, so that they are only ever aligned with each other.
    """
    if len(before) + len(after) > _MOST_ALIGNED:
        return [_middle(before, after)]
    one = [(line, index == len(before) - 1) for index, line in enumerate(before)]
    two = [(line, index == len(after) - 1) for index, line in enumerate(after)]
    codes = SequenceMatcher(None, one, two, autojunk=False).get_opcodes()
    return [(i1, i2, j1, j2) for tag, i1, i2, j1, j2 in codes if tag != "equal"]


def _middle(before: list[str], after: list[str]) -> tuple[int, int, int, int]:
    shortest = min(len(before), len(after)) - 1
    head = next((i for i in range(shortest) if before[i] != after[i]), shortest)
    tail = next((i for i in range(shortest - head) if before[-1 - i] != after[-1 - i]), shortest - head)
    return head, len(before) - tail, head, len(after) - tail


def _rows(view: View, span: Span) -> list[_Row]:
    rows: list[_Row] = []
    start, end = span
    for hit in BREAK.finditer(view.text, start, end):
        rows.append(_Row((start, hit.end()), hit.group()))
        start = hit.end()
    rows.append(_Row((start, end), ""))
    return rows


def _splice(view: View, rows: list[_Row], changed: Span, lines: list[str], *, closed: bool) -> Splice:
    """Put `lines` in the place of the rows `changed`; `closed`: the last of them ends in a break as well."""
    low, high = changed
    start = rows[low].span[0]
    end = rows[high - 1].span[1] if high > low else start
    endings = [row.ending for row in rows[low:high] if row.ending]
    inside = low > 0 and high < len(rows)
    beside = endings[-1] if endings else rows[low - 1].ending if inside else break_near(view, (start, end))
    breaks = [*endings, *[beside] * len(lines)][: len(lines)]
    if not closed:
        breaks[-1] = ""
    return Splice(start, end, _joined(view, (start, end), lines, breaks))


def _joined(view: View, place: Span, lines: list[str], breaks: list[str]) -> str:
    """Join lines with their breaks such that no CR meets an LF: the two would be one break and a line would be lost."""
    start, end = place
    broken = False
    parts: list[str] = []
    last = view.text[start - 1 : start]
    for line, ending in zip(lines, breaks, strict=True):
        written = view.written(line)
        last = written[-1:] or last
        kept = "\r" if ending == "\n" and last == "\r" else ending
        last = kept[-1:] or last
        parts += [written, kept]
        broken = bool(kept) or (broken and not written)
    text = "".join(parts)
    if not (broken and text.endswith("\r") and view.text[end : end + 1] == "\n"):
        return text
    before = text[-2:-1] or view.text[start - 1 : start]
    return text[:-1] + ("\r\n" if before == "\r" else "\n")
