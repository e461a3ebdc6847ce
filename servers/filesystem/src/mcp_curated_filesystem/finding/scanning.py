"""Searching one open file for an expression, in bounded memory whatever its size.

Most files are small and hold no match: one read and one look at the bytes. A file that may hold one is decoded, whole
if it is small, else in blocks that end at line ends and overlap by the lines of context.
"""

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass

from mcp_curated_filesystem.finding.expressions import Expression, Span, TooSlowError
from mcp_curated_filesystem.finding.timing import Clock
from mcp_curated_filesystem.text.forms import TextForm, detect, show_undecodable

SMALL = 131_072
"""Bytes that are read at once; a larger file is searched in blocks."""

# Also how much text one turn of a slow expression can take: between two blocks a search looks whether its caller left.
_BLOCK = 262_144
_LONGEST_LINE = 8_388_608
_LINE_CHARACTERS = 300
_BEFORE_MATCH = 100
_BINARY_SAMPLE = 8_192
_UTF8_MARK = codecs.BOM_UTF8
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF8 = TextForm("utf-8", b"", "\n", True)
_LOOK_AT_CLOCK = 64


@dataclass(frozen=True, slots=True)
class MatchLine:
    """A line that is shown.

    Attributes:
        number: Counted from 1, as `read_file` counts.
        text: The line, a long one cut around its match.
        matched: Whether it matched, or is there for context.
    """

    number: int
    text: str
    matched: bool


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of each file.

    Attributes:
        expression: What to look for.
        context: Lines before and after each match.
        first_only: Whether it is enough to know that there is a match.
    """

    expression: Expression
    context: int
    first_only: bool


def first_look(descriptor: int, expression: Expression) -> bytes | None:
    """Read the beginning of an open file; None if that is all of it and no line of it can match.

    Raises:
        OSError: It cannot be read.
    """
    data = os.read(descriptor, SMALL)
    if len(data) < SMALL and not expression.may_be_in(data) and not _may_be_wide(data):
        return None
    return data


class Scan:
    """The search of one file.

    Args:
        wish: What is wanted.
        lines_wanted: The most matching lines to keep; the rest are counted.
        clock: When it is over, the search of this file ends.

    Attributes:
        count: How many lines matched.
        too_slow: Whether the expression was given up on a part of the file.
    """

    __slots__ = ("_clock", "_kept", "_lines", "_wanted", "_wish", "count", "too_slow")

    def __init__(self, wish: Wish, lines_wanted: int, clock: Clock) -> None:
        self._wish = wish
        self._wanted = lines_wanted
        self._clock = clock
        self._lines: dict[int, MatchLine] = {}
        self._kept = 0
        self.count = 0
        self.too_slow = False

    @property
    def kept(self) -> int:
        """How many matching lines `lines` holds."""
        return self._kept

    def lines(self) -> tuple[MatchLine, ...]:
        """The lines that were kept, in their order."""
        return tuple(self._lines[number] for number in sorted(self._lines))

    def read(self, descriptor: int, data: bytes) -> None:
        """Search an open file.

        Args:
            descriptor: The file, read as far as `first_look` did.
            data: What that gave.

        Raises:
            OSError: It cannot be read.
            BinaryFileError: It is no text.
            CancelledError: The caller has gone.
        """
        if len(data) == SMALL:
            self._large(descriptor, data)
        elif not _may_be_wide(data):
            self._text(_decoded(data))
        elif data:
            self._text(_decode_as(data, detect(data, whole=True)))

    def _text(self, text: str) -> None:
        text = _with_line_feeds(text)
        self._region(text, 0, len(text), 1)

    def _large(self, descriptor: int, first: bytes) -> None:
        form = _UTF8 if first.isascii() and b"\0" not in first else detect(first, whole=False)
        line = 1
        old_mac = b"\r" in first and b"\n" not in first
        blocks = _wide_blocks(descriptor, first, form) if form.encoding != "utf-8" else _blocks(descriptor, first)
        for data, start, end in _regions(blocks, self._wish.context, old_mac=old_mac):
            if self._clock.over() or (self.count and self._wish.first_only):
                return
            region = data[start:end]
            if self._wish.expression.may_be_in(region):
                before, after = (_tolerantly(part) for part in (data[:start], data[end:]))
                here = _tolerantly(region)
                self._region(before + here + after, len(before), len(before) + len(here), line - before.count("\n"))
            line += region.count(b"\n")

    def _region(self, text: str, start: int, end: int, first_line: int) -> None:
        """Search a part of a text that begins at a line's beginning; `first_line` is the number of the text's first."""
        line, counted_to, position, looked = first_line, 0, start, 0
        while position <= end:
            try:
                span = self._wish.expression.find(text, position, self._clock.remaining())
            except TooSlowError:
                self.too_slow = True
                return
            if span is None or span[0] > end or (span[0] == end and (end < len(text) or _nothing_at(text, end))):
                return  # what begins at the end of a region with more behind it is the next one's
            if self._kept < self._wanted:
                line += text.count("\n", counted_to, span[0])
                counted_to = span[0]
                position = self._match(text, span, line)
            else:
                position = self._count(text, span)
            looked += 1
            if self._wish.first_only or (looked % _LOOK_AT_CLOCK == 0 and self._clock.over()):
                return

    def _count(self, text: str, span: Span) -> int:
        """Count the lines of a match; give where the next line starts."""
        start, end = span
        line_end = text.find("\n", max(start, end - 1))
        self.count += 1 if end - start < 2 else 1 + text.count("\n", start, end - 1)
        return (len(text) if line_end < 0 else line_end) + 1

    def _match(self, text: str, span: Span, line: int) -> int:
        """Count the lines of a match and keep those that are wanted; give where the next line starts."""
        start, end = span
        following = self._count(text, span)
        line_end = following - 1
        line_start = text.rfind("\n", 0, start) + 1
        shown = text[line_start:line_end].split("\n")
        for offset, one in enumerate(shown):
            if self._kept < self._wanted:
                near = (start - line_start, end - line_start) if offset == 0 else (0, 0)
                self._lines[line + offset] = MatchLine(line + offset, _shortened(one, near), True)
                self._kept += 1
        if self._wish.context:
            self._keep_context(text, line, line_start, line + len(shown) - 1, line_end)
        return following

    def _keep_context(self, text: str, first: int, start: int, last: int, end: int) -> None:
        for step in range(1, self._wish.context + 1):
            if start <= 0:
                break
            line_start = text.rfind("\n", 0, start - 1) + 1
            self._add(first - step, text[line_start : start - 1])
            start = line_start
        for step in range(1, self._wish.context + 1):
            if end + 1 >= len(text):
                break
            line_end = text.find("\n", end + 1)
            line_end = len(text) if line_end < 0 else line_end
            self._add(last + step, text[end + 1 : line_end])
            end = line_end

    def _add(self, number: int, text: str) -> None:
        if number not in self._lines:
            self._lines[number] = MatchLine(number, _shortened(text, (0, 0)), False)


def _may_be_wide(data: bytes) -> bool:
    """Whether it is binary, or text in units of two bytes or more: a NUL near the beginning, or a mark."""
    return data.find(b"\0", 0, _BINARY_SAMPLE) >= 0 or data[:2] in _WIDE_MARKS


def _decoded(data: bytes) -> str:
    try:
        return data.removeprefix(_UTF8_MARK).decode()
    except UnicodeDecodeError:
        return _decode_as(data, detect(data, whole=True))


def _decode_as(data: bytes, form: TextForm) -> str:
    body = data.removeprefix(form.bom) if form.bom else data
    return body.decode(form.encoding, _errors(form.encoding))


def _errors(encoding: str) -> str:
    return "replace" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"


def _tolerantly(data: bytes) -> str:
    return _with_line_feeds(data.decode("utf-8", "surrogateescape"))


def _with_line_feeds(text: str) -> str:
    """Let every line end be a line feed; a CR ends a line only where there is no LF at all, as in `read_file`."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")


def _nothing_at(text: str, position: int) -> bool:
    """Whether there is no line at this position: a text that ends in a line end has none after it."""
    return position == len(text) and (position == 0 or text[position - 1] == "\n")


def _shortened(line: str, match: Span) -> str:
    """Cut a long line around its match, and make visible what cannot be sent."""
    if len(line) > _LINE_CHARACTERS:
        start = max(0, min(match[0] - _BEFORE_MATCH, len(line) - _LINE_CHARACTERS))
        end = start + _LINE_CHARACTERS
        before = f"[{start:,} characters] " if start else ""
        after = f" [{len(line) - end:,} more]" if end < len(line) else ""
        line = f"{before}{line[start:end]}{after}"
    return show_undecodable(line)[0]


def _blocks(descriptor: int, first: bytes) -> Iterator[bytes]:
    yield first.removeprefix(_UTF8_MARK)
    while block := os.read(descriptor, _BLOCK):
        yield block


def _wide_blocks(descriptor: int, first: bytes, form: TextForm) -> Iterator[bytes]:
    """Give the file in another encoding as UTF-8."""
    decoder = codecs.getincrementaldecoder(form.encoding)(_errors(form.encoding))
    for block in _blocks(descriptor, first.removeprefix(form.bom)):
        yield decoder.decode(block).encode("utf-8", "surrogateescape")
    yield decoder.decode(b"", True).encode("utf-8", "surrogateescape")


def _regions(blocks: Iterator[bytes], context: int, *, old_mac: bool) -> Iterator[tuple[bytes, int, int]]:
    """Join blocks so that a region ends at a line's end, with `context` lines around it.

    Yields:
        Bytes, and where in them the region starts and ends; the regions make up the file.
    """
    data, start = b"", 0
    for block in blocks:
        data += block.replace(b"\r", b"\n") if old_mac else block
        end = _lines_back(data, data.rfind(b"\n") + 1, context)
        if end <= start:
            if len(data) - start < _LONGEST_LINE:
                continue
            end = len(data)
        yield data, start, end
        keep = _lines_back(data, end, context)
        data, start = data[keep:], end - keep
    if start < len(data):
        yield data, start, len(data)


def _lines_back(data: bytes, position: int, lines: int) -> int:
    """Give where the line starts that is so many lines before the line that starts at `position`."""
    for _ in range(lines):
        if position <= 0:
            break
        position = data.rfind(b"\n", 0, position - 1) + 1
    return position
