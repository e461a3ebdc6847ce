"""Text files for a model: pages of lines that fit a reply, whatever the size of the file or its encoding."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from mcp_curated_filesystem.reading.excerpts import LONGEST_LINE, Excerpt, Gathering, ShortenedLine
from mcp_curated_filesystem.text.blocks import Reader, blocks, read_up_to, reader_of, reader_of_bytes
from mcp_curated_filesystem.text.encodings import unit_bytes
from mcp_curated_filesystem.text.forms import SAMPLE_BYTES, BinaryFileError, TextForm, detect, reading_decoder
from mcp_curated_filesystem.text.lines import LineEnds, count_lines, start_of_line, start_of_tail
from mcp_curated_filesystem.text.newlines import line_end
from mcp_curated_filesystem.text.versions import SMALL_BYTES, version_tag
from mcp_curated_shared.errors import InvalidArgumentError
from mcp_curated_shared.security.confinement import Confinement, Location, OpenFile, from_os_error
from mcp_curated_shared.security.limits import DEFAULT_BUDGET, Budget
from mcp_curated_shared.security.untrusted import clean
from mcp_curated_shared.work import Work

FIRST_PAGE: Final = Excerpt()

LONGEST_PATH = 3_000
"""Characters up to which a path is written out in a call; the caller knows a longer one."""

COUNTED_BYTES = 4_194_304
"""In a file up to this size the lines are always counted: it takes a millisecond."""

_ENDLESS_BYTES = 4_194_304
"""How much is read of a file that says it has 0 bytes, to find its last lines."""

_PIECE_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines of one text file.

    Attributes:
        location: Where the file really is.
        body: The lines as in the file, but for marks on lines that were cut and escapes for what cannot be sent.
        form: How the text is stored.
        version: The tag of the whole file's state, for `ifVersion`.
        size: Of the file in bytes.
        first: The number of the first line of `body`; None for the last lines of a file whose lines were not counted.
        lines: How many lines `body` has.
        total: How many lines the file has, if known.
        alone: Whether one line was asked for, which is then cut only if it fills a whole reply.
        shortened: Lines of which only the beginning is in `body`.
        undecodable: Characters in `body` that stand for something that is no text in this encoding.
        invisible: Characters in `body` that a reader does not see: bidirectional controls, zero-width characters, tags.
        following: The excerpt that comes next, None at the end of the file.
        earlier: For the last lines: the excerpt with those of them that did not fit.
        encoding: The encoding that the caller gave, if any.
    """

    location: Location
    body: str
    form: TextForm
    version: str
    size: int
    first: int | None
    lines: int
    total: int | None
    alone: bool = False
    shortened: tuple[ShortenedLine, ...] = ()
    undecodable: int = 0
    invisible: int = 0
    following: Excerpt | None = None
    earlier: Excerpt | None = None
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class _Opened:
    """A text file, open, and what its beginning tells."""

    location: Location
    read: Reader
    size: int
    form: TextForm
    ends: LineEnds
    version: str
    encoding: str | None
    sampled: bool


def read_page(
    confinement: Confinement,
    path: str | Location,
    excerpt: Excerpt = FIRST_PAGE,
    *,
    encoding: str | None = None,
    base: str | None = None,
    budget: Budget = DEFAULT_BUDGET,
    work: Work,
) -> Page:
    """Read some lines of a text file.

    A file of any size may be asked for: no more of it is read than the lines take, but for counting to a far `offset`
    (about 2.5 GB a second) and to say how many lines a small file has.

    Args:
        confinement: Opens the file.
        path: As the caller wrote it.
        excerpt: Which lines; at most `budget.rows` of them without a limit of its own.
        encoding: The caller's choice instead of detection.
        base: Absolute directory that a relative path starts from.
        budget: How long a reply may become.
        work: Looked at while scanning.

    Raises:
        BinaryFileError: The file is no text.
        InvalidArgumentError: `offset` lies beyond the last line, or `encoding` is unknown.
        CuratedError: From confinement; or the file cannot be read.
    """
    with confinement.open_file(path, base=base) as file:
        room = budget.characters - room_for_facts(file.location)
        return page_of(file, excerpt, encoding=encoding, room=room, rows=budget.rows, work=work)


def room_for_facts(location: Location) -> int:
    """How many characters `page_facts.facts` takes at most: its sentences, and the path in up to three places."""
    return 1_500 + 3 * min(len(json.dumps(location.shown, ensure_ascii=False)), LONGEST_PATH)


def page_of(
    file: OpenFile,
    excerpt: Excerpt = FIRST_PAGE,
    *,
    encoding: str | None = None,
    room: int,
    rows: int = DEFAULT_BUDGET.rows,
    work: Work,
) -> Page:
    """Read some lines of a text file that is open already; see `read_page`.

    Args:
        file: The open file.
        excerpt: Which lines.
        encoding: The caller's choice instead of detection.
        room: How many characters the lines may take, without the facts.
        rows: How many lines at most when the excerpt sets no limit.
        work: Looked at while scanning.
    """
    try:
        opened = _look_at(file, encoding)
        gathering = _gathering(opened, excerpt.most_lines(rows), room)
        if excerpt.tail is not None:
            return _last_lines(opened, gathering, work)
        return _lines_from(opened, excerpt, gathering, work)
    except OSError as error:
        raise from_os_error(error, file.location.shown) from None


def _look_at(file: OpenFile, encoding: str | None) -> _Opened:
    """Read the beginning. A small file is read whole here, so that its tag is that of the very text that is shown."""
    stat, descriptor = file.stat, file.descriptor
    head, whole = beginning(descriptor, stat)
    try:
        form = detect(head, whole=whole, encoding=encoding)
    except BinaryFileError as error:
        raise error.named(file.location.shown, max(stat.st_size, len(head))) from None
    return _Opened(
        location=file.location,
        read=reader_of_bytes(head) if whole else reader_of(descriptor),
        size=len(head) if whole else stat.st_size,
        form=form,
        ends=LineEnds.of(form),
        version=version_tag(head if whole else descriptor, stat),
        encoding=encoding,
        sampled=not whole,
    )


def beginning(descriptor: int, stat: os.stat_result) -> tuple[bytes, bool]:
    """Read as much of a file as tells its encoding, and say whether that is all of it: small files are read whole.

    Raises:
        OSError: The descriptor cannot be read.
    """
    wanted = SAMPLE_BYTES if stat.st_size > SMALL_BYTES else SMALL_BYTES + 1
    head = read_up_to(descriptor, wanted, 0)
    return head, len(head) < wanted


def _lines_from(opened: _Opened, excerpt: Excerpt, gathering: Gathering, work: Work) -> Page:
    start = start_of_line(opened.read, opened.ends, excerpt.first, work)
    if start.position is None:
        raise _beyond(opened.location, excerpt.first, start.lines)
    opened, gathering = _take(opened, gathering, start.position, work)
    last = excerpt.first + gathering.lines - 1
    total = last if gathering.ended else _cheap_total(opened, work)
    following = None if gathering.ended else Excerpt(offset=last + 1, limit=excerpt.limit or excerpt.head)
    return _page(opened, gathering, excerpt.first, total, following=following)


def _last_lines(opened: _Opened, gathering: Gathering, work: Work) -> Page:
    size = opened.size or len(opened.read(_ENDLESS_BYTES, 0))
    lines = gathering.most_lines
    gathering.keep = "last"
    wanted = (lines, gathering.room, gathering.longest)
    start = start_of_tail(opened.read, opened.ends, size, wanted, work)
    opened, gathering = _take(opened, gathering, start, work)
    missing = lines - gathering.lines
    cut = missing > 0 and (gathering.dropped > 0 or start > opened.ends.base)
    first = None
    if cut or start <= COUNTED_BYTES:
        first = count_lines(opened.read, opened.ends, work, stop=start) + 1 + gathering.dropped
    total = first + gathering.lines - 1 if first is not None and gathering.ended else None
    earlier = None
    if cut and first is not None:
        missing = min(missing, first - 1)
        earlier = Excerpt(offset=first - missing, limit=missing)
    return _page(opened, gathering, first, total, earlier=earlier)


def _gathering(opened: _Opened, most: int, room: int) -> Gathering:
    """A line that is asked for alone may fill the whole reply."""
    room = max(1, room)
    longest = room if most == 1 else LONGEST_LINE
    return Gathering(line_end(opened.form.newline), most, room, longest)


def _take(opened: _Opened, gathering: Gathering, position: int, work: Work) -> tuple[_Opened, Gathering]:
    """Gather the lines from a position on, in the encoding that fits there.

    The first letters beyond ASCII may come long after the sample: what looked like UTF-8 is then looked at again.
    """
    gathering.take(_pieces(opened, position, work))
    if not gathering.undecodable or not opened.sampled or opened.encoding is not None or opened.form.bom:
        return opened, gathering
    try:
        found = detect(opened.read(SAMPLE_BYTES, position), whole=False).encoding
    except BinaryFileError:
        return opened, gathering
    if unit_bytes(found) > 1 or found == opened.form.encoding:
        return opened, gathering
    opened = replace(opened, form=replace(opened.form, encoding=found, certain=False))
    again = Gathering(gathering.end, gathering.most_lines, gathering.room, gathering.longest, gathering.keep)
    again.take(_pieces(opened, position, work))
    return opened, again


def _pieces(opened: _Opened, position: int, work: Work) -> Iterator[str]:
    decoder = reading_decoder(opened.form)
    for block in blocks(opened.read, position, work, size=_PIECE_BYTES):
        yield decoder.decode(block)
    yield decoder.decode(b"", True)


def _cheap_total(opened: _Opened, work: Work) -> int | None:
    if 0 < opened.size <= COUNTED_BYTES:
        return count_lines(opened.read, opened.ends, work)
    return None


def _page(
    opened: _Opened,
    gathering: Gathering,
    first: int | None,
    total: int | None,
    *,
    following: Excerpt | None = None,
    earlier: Excerpt | None = None,
) -> Page:
    body = gathering.body
    return Page(
        location=opened.location,
        body=body,
        form=opened.form,
        version=opened.version,
        size=opened.size,
        first=first,
        lines=gathering.lines,
        total=total,
        alone=gathering.most_lines == 1,
        shortened=gathering.shortened,
        undecodable=gathering.undecodable,
        invisible=clean(body).removed,
        following=following,
        earlier=earlier,
        encoding=opened.encoding,
    )


def _beyond(location: Location, offset: int, lines: int) -> InvalidArgumentError:
    if lines == 0:
        return InvalidArgumentError(f"{location.shown} is empty; there is no line {offset}.", "Leave `offset` out.")
    return InvalidArgumentError(
        f"{location.shown} has {lines} line{'s' * (lines != 1)}; there is no line {offset}.",
        f"Give an `offset` from 1 to {lines}.",
    )
