"""Where lines begin in a file that is too big to hold: found by counting line ends in blocks of bytes."""

from collections.abc import Iterator
from dataclasses import dataclass

from mcp_curated_filesystem.text.blocks import BLOCK_BYTES, Reader, blocks
from mcp_curated_filesystem.text.encodings import STATEFUL, unit_bytes
from mcp_curated_filesystem.text.forms import TextForm
from mcp_curated_filesystem.text.newlines import line_end
from mcp_curated_shared.work import Work


@dataclass(frozen=True, slots=True)
class LineEnds:
    """What ends a line in the bytes of one file.

    Attributes:
        mark: The encoded line feed, or carriage return where that is the only ending.
        unit: A mark counts only at a multiple of so many bytes: U+0A00 followed by U+0100 is no line feed in UTF-16.
        base: Where the text begins: after the byte order mark.
    """

    mark: bytes
    unit: int
    base: int

    @classmethod
    def of(cls, form: TextForm) -> "LineEnds":
        """The line ends of a text that is stored in this form."""
        encoding = "ascii" if form.encoding in STATEFUL else form.encoding
        return cls(line_end(form.newline).encode(encoding), unit_bytes(encoding), len(form.bom))

    def count(self, block: bytes) -> int:
        """How many line ends a block holds; it begins at a whole unit."""
        return block.count(self.mark) if self.unit == 1 else sum(1 for _ in self._aligned(block))

    def after(self, block: bytes, number: int) -> int:
        """The position behind the block's line end of that number, counted from 1; it must have so many."""
        if self.unit > 1:
            return next(at for index, at in enumerate(self._aligned(block), 1) if index == number) + self.unit
        low, high = 0, len(block)
        while high - low > 1024:
            middle = (low + high) // 2
            inside = block.count(self.mark, low, middle)
            low, high, number = (low, middle, number) if inside >= number else (middle, high, number - inside)
        for _ in range(number):
            low = block.index(self.mark, low) + 1
        return low

    def before(self, block: bytes, end: int) -> int:
        """The position of the last line end that lies before `end`, or -1."""
        at = block.rfind(self.mark, 0, end)
        while at >= 0 and at % self.unit:
            at = block.rfind(self.mark, 0, at + self.unit - 1)
        return at

    def _aligned(self, block: bytes) -> Iterator[int]:
        at = block.find(self.mark)
        while at >= 0:
            if at % self.unit == 0:
                yield at
            at = block.find(self.mark, at + 1)


@dataclass(frozen=True, slots=True)
class LineStart:
    """Where a line begins, or that there is none.

    Attributes:
        position: In bytes from the start of the file; None when the file has fewer lines.
        lines: How many lines the file has, when `position` is None.
    """

    position: int | None
    lines: int = 0


def start_of_line(read: Reader, ends: LineEnds, number: int, work: Work) -> LineStart:
    """Find where a line begins, counted from 1. What follows the last line end is a line only if it is not empty.

    Raises:
        OSError: The file cannot be read.
        CancelledError, TimedOutError: From `work`.
    """
    if number == 1:
        return LineStart(ends.base)
    missing = number - 1
    position = ends.base
    block = b""
    for block in blocks(read, ends.base, work):
        found = ends.count(block)
        if found >= missing:
            start = position + ends.after(block, missing)
            return LineStart(start) if read(1, start) else LineStart(None, number - 1)
        missing -= found
        position += len(block)
    return LineStart(None, number - 1 - missing + _unended(block, ends))


def count_lines(read: Reader, ends: LineEnds, work: Work, *, stop: int | None = None) -> int:
    """Count the lines of a file, or those that end before the position `stop`.

    Raises:
        OSError: The file cannot be read.
        CancelledError, TimedOutError: From `work`.
    """
    lines = 0
    position = ends.base
    block = b""
    for block in blocks(read, ends.base, work):
        if stop is not None and position + len(block) >= stop:
            return lines + ends.count(block[: stop - position])
        lines += ends.count(block)
        position += len(block)
    return lines + _unended(block, ends)


def start_of_tail(read: Reader, ends: LineEnds, size: int, wanted: tuple[int, int, int], work: Work) -> int:
    """Find where the last lines of a file begin, looking at no more of it than they take.

    Args:
        read: The content.
        ends: What ends a line in it.
        size: Its length in bytes.
        wanted: How many lines; how many characters of them can be shown at all; and how many of one line.
        work: Looked at before each block.

    Returns:
        A position at which one of these lines begins: the first of them, or a later one if all from there on already
        fill the reply.
    """
    lines, characters, longest = wanted
    following = size
    for start, block in _backwards(read, ends.base, size, work):
        at = len(block)
        while (at := ends.before(block, at)) >= 0:
            position = start + at + len(ends.mark)
            if position >= size:
                continue
            lines -= 1
            bytes_of_line = following - position
            characters -= max(1, min(bytes_of_line // 4, longest))  # no encoding has more than 4 bytes a character
            following = position
            if lines == 0 or characters < 0:
                return position
    return ends.base


def _backwards(read: Reader, base: int, size: int, work: Work) -> Iterator[tuple[int, bytes]]:
    """Blocks from the end to `base`, each beginning a multiple of the block size after it."""
    start = base + (size - base - 1) // BLOCK_BYTES * BLOCK_BYTES
    while start >= base:
        work.check()
        yield start, read(min(BLOCK_BYTES, size - start), start)
        start -= BLOCK_BYTES


def _unended(last: bytes, ends: LineEnds) -> int:
    """1 if something follows the last line end, else 0."""
    return int(last != b"" and ends.before(last, len(last)) != len(last) - len(ends.mark))
