"""The unified diff of an edit, made from the known replacements: only the lines around them are looked at.

Comparing two whole versions of a 10 MB file takes a second; the replacements are known, so nothing is compared.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from mcp_curated_filesystem.editing.fitting import Splice
from mcp_curated_filesystem.editing.matching import Span, View, line_end, line_start
from mcp_curated_filesystem.text.forms import show_undecodable

CONTEXT_LINES = 3
DIFF_CHARACTERS = 20_000
"""A diff longer than this is cut at a hunk; a reply has 48,000 characters for everything."""
LINE_CHARACTERS = 500
_MOST_CHANGES = 500

_NO_NEWLINE = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class Difference:
    """A unified diff.

    Attributes:
        text: The hunks, without a file header; long lines are cut and say so.
        left_out: How many of the places that change are not in `text` because it would be too long.
    """

    text: str
    left_out: int


@dataclass(frozen=True, slots=True)
class _Change:
    """Whole lines that change: their span in the view, and what comes into their place."""

    span: Span
    text: str
    places: int


def unified_diff(view: View, splices: Sequence[Splice], *, characters: int = DIFF_CHARACTERS) -> Difference:
    """Show what `splices` (ascending, without overlaps) change in the file.

    Args:
        view: The file before.
        splices: What is replaced.
        characters: The most that `Difference.text` may have.
    """
    hunks: list[str] = []
    room, shown = characters, 0
    numbers = _Numbers(view)
    for changes in _hunks(view, islice(_changes(view, splices), _MOST_CHANGES)):
        places = sum(change.places for change in changes)
        hunk = _cut(_hunk(view, changes, numbers), room if not hunks else characters)
        if len(hunk) > room:
            break
        hunks.append(hunk)
        room -= len(hunk) + 1
        shown += places
    return Difference("\n".join(hunks), len(splices) - shown)


def _cut(hunk: str, room: int) -> str:
    """Cut a hunk that alone is too long."""
    if len(hunk) <= room:
        return hunk
    kept = hunk[: max(0, room - 60)].rpartition("\n")[0]
    return f"{kept}\n... {hunk.count(chr(10)) - kept.count(chr(10))} more lines of this hunk"


class _Numbers:
    """Counts lines once over the file: old line numbers, and how far the new ones are shifted."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._line, self._position = 1, 0
        self.shift = 0

    def line_of(self, offset: int) -> int:
        self._line += self._view.text.count(self._view.ends_line, self._position, offset)
        self._position = offset
        return self._line


def _changes(view: View, splices: Sequence[Splice]) -> Iterator[_Change]:
    """Widen replacements to whole lines; those that share a line become one change."""
    index = 0
    while index < len(splices):
        first = splices[index]
        start = line_start(view, first.start)
        pieces = [view.text[start : first.start], first.text]
        at, count = first.end, 1
        end = line_end(view, _last_touched(view, first))
        while index + count < len(splices) and splices[index + count].start < end:
            following = splices[index + count]
            pieces += [view.text[at : following.start], following.text]
            at = following.end
            end = max(end, line_end(view, _last_touched(view, following)))
            count += 1
        pieces.append(view.text[at:end])
        yield _Change((start, end), "".join(pieces), count)
        index += count


def _last_touched(view: View, splice: Splice) -> int:
    """An offset in the last line that is touched; a replacement of whole lines does not touch the next one."""
    whole = splice.end > splice.start and view.text[splice.end - 1] == view.ends_line
    return splice.end - 1 if whole and splice.text.endswith(view.ends_line) else splice.end


def _hunks(view: View, changed: Iterable[_Change]) -> Iterator[list[_Change]]:
    """Put changes whose contexts meet into one hunk."""
    hunk: list[_Change] = []
    for change in changed:
        if hunk and _below(view, hunk[-1].span[1], 2 * CONTEXT_LINES) < change.span[0]:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _below(view: View, offset: int, lines: int) -> int:
    for _ in range(lines):
        offset = line_end(view, offset)
    return offset


def _above(view: View, offset: int, lines: int) -> int:
    for _ in range(lines):
        offset = line_start(view, max(0, offset - 1))
    return offset


def _hunk(view: View, changes: list[_Change], numbers: _Numbers) -> str:
    low = _above(view, changes[0].span[0], CONTEXT_LINES)
    high = _below(view, changes[-1].span[1], CONTEXT_LINES)
    number = numbers.line_of(low)
    rows: list[str] = []
    at = low
    for change in changes:
        rows += _rows(view, " ", view.text[at : change.span[0]])
        rows += _changed_rows(view, change)
        at = change.span[1]
    rows += _rows(view, " ", view.text[at:high])
    old = sum(row[0] in " -" for row in rows)
    new = sum(row[0] in " +" for row in rows)
    header = f"@@ -{_range(number, old)} +{_range(number + numbers.shift, new)} @@"
    numbers.shift += new - old
    return "\n".join([header, *rows])


def _range(number: int, lines: int) -> str:
    if lines == 1:
        return str(number)
    return f"{number if lines else number - 1},{lines}"


def _changed_rows(view: View, change: _Change) -> list[str]:
    before = _lines(view, view.text[slice(*change.span)])
    after = _lines(view, change.text)
    shortest = min(len(before), len(after))
    head = next((i for i in range(shortest) if before[i] != after[i]), shortest)
    tail = next((i for i in range(shortest - head) if before[-1 - i] != after[-1 - i]), shortest - head)
    last_old, last_new = len(before) - tail, len(after) - tail
    focus = _first_difference(before[head:last_old], after[head:last_new])
    return [
        *_row(view, " ", before[:head]),
        *_row(view, "-", before[head:last_old], focus),
        *_row(view, "+", after[head:last_new], focus),
        *_row(view, " ", before[last_old:]),
    ]


def _first_difference(before: list[str], after: list[str]) -> int:
    """Where the first pair of lines parts, so that a cut line shows that part."""
    if not (before and after):
        return 0
    low, high = 0, min(len(before[0]), len(after[0]))
    while low < high:  # halving: a line may have millions of characters
        middle = (low + high + 1) // 2
        low, high = (middle, high) if before[0][low:middle] == after[0][low:middle] else (low, middle - 1)
    return low


def _lines(view: View, text: str) -> list[str]:
    lines = text.split(view.ends_line)
    closed = [line + view.ends_line for line in lines[:-1]]
    return [*closed, lines[-1]] if lines[-1] else closed


def _rows(view: View, mark: str, text: str) -> list[str]:
    return _row(view, mark, _lines(view, text))


def _row(view: View, mark: str, lines: list[str], focus: int = 0) -> list[str]:
    width = LINE_CHARACTERS * (2 if view.by_byte else 1)  # most letters beyond ASCII have two bytes
    rows: list[str] = []
    for line in lines:
        bare = line.rstrip("\r\n")
        low = view.whole_characters(bare, max(0, focus - width // 4)) if len(bare) > width else 0
        high = view.whole_characters(bare, low + width)
        shown = show_undecodable(view.shown(bare[low:high]))[0]
        more = len(bare) - high
        left, right = f"({low:,} before) ..." if low else "", f"... ({more:,} more)" if more > 0 else ""
        rows.append(f"{mark}{left}{shown}{right}")
        if not line.endswith(view.ends_line):
            rows.append(_NO_NEWLINE)
    return rows
