"""Which lines of a text are asked for, and how they are gathered from its pieces until the reply is full."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from mcp_curated_filesystem.text.forms import show_undecodable
from mcp_curated_shared.errors import InvalidArgumentError

LONGEST_LINE = 2_000
"""Characters of one line that are shown when several lines are asked for."""

LONGEST_SCAN = 4_194_304
"""Characters after which the end of a line is no longer looked for."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The lines that a caller asks for; without anything, the first page.

    Attributes:
        offset: The number of the first line, from 1.
        limit: How many lines at most.
        head: The first so many lines: the same as `limit` alone.
        tail: The last so many lines.

    Raises:
        InvalidArgumentError: A number is less than 1, or two of them contradict each other.
    """

    offset: int | None = None
    limit: int | None = None
    head: int | None = None
    tail: int | None = None

    def __post_init__(self) -> None:
        for name in ("offset", "limit", "head", "tail"):
            value: object = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise InvalidArgumentError(f"`{name}` must be a whole number from 1 on, not {value!r}.")
        given = [name for name in ("head", "tail") if getattr(self, name) is not None]
        if given and (len(given) > 1 or self.offset is not None or self.limit is not None):
            others = [name for name in ("offset", "limit", "head", "tail") if getattr(self, name) is not None]
            raise InvalidArgumentError(
                f"{', '.join(f'`{name}`' for name in others)} cannot be given together.",
                "Use `offset` with `limit` for a page, or `head` or `tail` alone.",
            )

    @property
    def first(self) -> int:
        """The number of the first line, unless the last ones are asked for."""
        return self.offset or 1

    def most_lines(self, default: int) -> int:
        """How many lines at most."""
        return self.limit or self.head or self.tail or default


@dataclass(frozen=True, slots=True)
class ShortenedLine:
    """A line of which only the beginning is shown.

    Attributes:
        index: Its place among the lines shown, from 0.
        hidden: How many characters are not shown.
        open_end: Whether the line goes on beyond what was looked at, so that it is more than `hidden`.
    """

    index: int
    hidden: int
    open_end: bool


@dataclass(slots=True)
class _Line:
    text: str
    undecodable: int
    hidden: int
    open_end: bool
    count: int = 1


@dataclass(slots=True)
class Gathering:
    """Lines taken from pieces of text until there are enough of them or no room is left.

    Attributes:
        end: The character that ends a line.
        most_lines: How many lines are wanted.
        room: How many characters fit, with all marks that are added.
        longest: How many characters of one line are shown.
        keep: When there is too much, which lines stay.
        ended: After `take`, whether the text ended before anything was left out at its end.
        dropped: After `take`, how many lines were left out at the beginning.
    """

    end: str
    most_lines: int
    room: int
    longest: int
    keep: Literal["first", "last"] = "first"
    ended: bool = False
    dropped: int = 0
    _lines: deque[_Line] = field(default_factory=deque[_Line])
    _used: int = 0
    _count: int = 0
    _current: list[str] = field(default_factory=list[str])
    _kept: int = 0
    _seen: int = 0

    def take(self, pieces: Iterable[str]) -> None:
        """Read as many pieces as are needed and no more."""
        for piece in pieces:
            if not self._feed(piece):
                return
        self.ended = not self._seen or self._finish("")

    @property
    def body(self) -> str:
        """The lines as they are to be shown, each with its own ending."""
        return "".join(line.text for line in self._lines)

    @property
    def lines(self) -> int:
        """How many lines are in `body`."""
        return self._count

    @property
    def undecodable(self) -> int:
        """How many characters of `body` stand for something that could not be decoded."""
        return sum(line.undecodable for line in self._lines)

    @property
    def shortened(self) -> tuple[ShortenedLine, ...]:
        """The lines of which only the beginning is in `body`."""
        found: list[ShortenedLine] = []
        index = 0
        for line in self._lines:
            if line.hidden:
                found.append(ShortenedLine(index, line.hidden, line.open_end))
            index += line.count
        return tuple(found)

    def _feed(self, piece: str) -> bool:
        at = 0 if self._seen or self.keep == "last" else self._take_many(piece)
        while (end := piece.find(self.end, at)) >= 0:
            if self._is_full() or not (self._extend(piece, at, end) and self._finish(self.end)):
                return False
            at = end + 1
        if at == len(piece):
            return True
        return not self._is_full() and self._extend(piece, at, len(piece))

    def _is_full(self) -> bool:
        """Checked only when more text is there, so that a page that ends with the file knows that it does."""
        return self.keep == "first" and self.lines >= self.most_lines

    def _take_many(self, piece: str) -> int:
        """Take all lines at once that fit and have nothing special about them: the way of nearly every page."""
        many = piece[: piece.rfind(self.end, 0, max(0, self.room - self._used)) + 1]
        wanted = self.most_lines - self.lines
        count = many.count(self.end)
        if not many or count > wanted:
            many, count = _first_lines(many, self.end, wanted), wanted
        shown, undecodable = show_undecodable(many)
        if undecodable or not many or max(map(len, many.split(self.end))) > self.longest:
            return 0
        self._lines.append(_Line(shown, 0, 0, open_end=False, count=count))
        self._used += len(many)
        self._count += count
        return len(many)

    def _extend(self, piece: str, start: int, end: int) -> bool:
        """Add to the line in hand, of which no more than can be shown is kept; False when it will not end."""
        part = piece[start : min(end, start + self.longest - self._kept)]
        if part:
            self._current.append(part)
            self._kept += len(part)
        self._seen += end - start
        if self._seen <= LONGEST_SCAN:
            return True
        self._finish("", open_end=True)
        return False

    def _finish(self, ending: str, *, open_end: bool = False) -> bool:
        """Put the line in hand among the others; False when it does not fit."""
        line = self._shown("".join(self._current), ending, open_end=open_end)
        self._current.clear()
        self._kept = self._seen = 0
        if self.keep == "first" and self._lines and self._used + len(line.text) > self.room:
            return False
        self._lines.append(line)
        self._used += len(line.text)
        self._count += 1
        while (self._used > self.room or self._count > self.most_lines) and len(self._lines) > 1:
            self._used -= len(self._lines.popleft().text)
            self._count -= 1
            self.dropped += 1
        return True

    def _shown(self, text: str, ending: str, *, open_end: bool) -> _Line:
        shown, undecodable = show_undecodable(text)
        longest = min(self.longest, max(1, self.room - 80))
        if len(shown) > longest:  # escapes take more room than what they stand for
            text = text[:longest] if len(shown) == len(text) else text[: max(1, longest // 6)]
            shown, undecodable = show_undecodable(text)
        hidden = self._seen - len(text)
        if hidden:
            more = "more than " if open_end else ""
            shown += f" [... {more}{hidden:,} more characters of this line]"
        return _Line(shown + ending, undecodable, hidden, open_end)


def _first_lines(text: str, end: str, count: int) -> str:
    """The beginning of a text up to its `count`-th line end; all of it if it has fewer."""
    at = 0
    for _ in range(count):
        found = text.find(end, at)
        if found < 0:
            return text
        at = found + 1
    return text[:at]
