"""Where a text stands in a file, exactly, and in offsets that lead back to the file's bytes.

A file is searched in a `View`. For encodings in which a character's bytes can only be found as that character (UTF-8
and all single-byte ones) the view holds one character a byte, so an offset in the view *is* an offset in the file and
nothing that cannot be decoded is in the way. Other encodings (UTF-16, GBK, Shift-JIS) are decoded, so that nothing is
found inside a character, and an offset is turned back by encoding what stands before it; `byte_spans` proves each one.

Line ends never decide a match: a line feed that is looked for is found as LF, CRLF or CR.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice, pairwise

from mcp_curated_filesystem.text.encodings import STATEFUL, EncodingError, gives_bytes_back, keeps_ascii
from mcp_curated_filesystem.text.forms import TextForm, decode, encode_part

Span = tuple[int, int]
"""Start and end (exclusive) in a view."""

BREAK = re.compile(r"\r\n|\n|\r")
_MOST_REFUSED = 200
"""Places at which a text fits but for a CR that is not alone there; nobody means those."""


def found_by_bytes(encoding: str) -> bool:
    """Whether bytes may be searched for encoded text without a hit inside a character.

    True for UTF-8 (self-synchronising) and for single-byte encodings that hold ASCII at its place.
    """
    return keeps_ascii(encoding) and gives_bytes_back(encoding)


@dataclass(frozen=True, slots=True)
class Flat:
    """A view's text with each line break as one LF, and the way between their offsets.

    Attributes:
        text: The text.
        pairs: Where each CRLF begins in the view's text, ascending.
        shifted: Where each is in `text`.
    """

    text: str
    pairs: list[int]
    shifted: list[int]

    @classmethod
    def of(cls, text: str) -> "Flat":
        """Flatten a text."""
        pairs = [hit.start() for hit in re.finditer("\r\n", text)]
        shifted = [at - count for count, at in enumerate(pairs)]
        return cls(text.replace("\r\n", "\n").replace("\r", "\n"), pairs, shifted)

    def inward(self, offset: int) -> int:
        """The offset in `text` of one in the view's text; the middle of a CRLF is taken for its end."""
        before = bisect_left(self.pairs, offset)
        middle = before > 0 and self.pairs[before - 1] == offset - 1
        return offset - before + middle

    def outward(self, offset: int) -> int:
        """The offset in the view's text of one in `text`."""
        return offset + bisect_left(self.shifted, offset)

    def is_return(self, text: str, offset: int) -> bool:
        """Whether the break at an offset in `text` is a CR alone in the view's text, which is given."""
        outer = self.outward(offset)
        return text[outer] == "\r" and text[outer + 1 : outer + 2] != "\n"


@dataclass(frozen=True, slots=True)
class View:
    """A file's text, searchable, with the way back to its bytes.

    Attributes:
        data: The whole file, byte order mark included.
        form: Its encoding.
        text: What is searched; a character a byte when `by_byte`.
        by_byte: Whether an offset in `text` is an offset in the bytes after the mark.
        has_returns: Whether any CR is in it; files without one are searched faster.
        ends_line: The character at which its lines end: CR only where there is no LF (as `newlines` has it).
    """

    data: bytes = field(repr=False)
    form: TextForm
    text: str = field(repr=False)
    by_byte: bool
    has_returns: bool
    ends_line: str
    _flat: list[Flat] = field(init=False, default_factory=list[Flat], repr=False, compare=False)

    @classmethod
    def of(cls, data: bytes, form: TextForm) -> "View":
        """View `data`, whose form was detected before."""
        by_byte = found_by_bytes(form.encoding)
        text = str(memoryview(data)[len(form.bom) :], "latin-1") if by_byte else decode(data, form)
        has_returns = "\r" in text
        return cls(data, form, text, by_byte, has_returns, "\r" if has_returns and "\n" not in text else "\n")

    def flat(self) -> Flat:
        """The text with each line break as one LF; made once."""
        if not self._flat:
            self._flat.append(Flat.of(self.text))
        return self._flat[0]

    def written(self, text: str) -> str:
        """Give `text` the shape it has in this view.

        Raises:
            EncodingError: The encoding cannot hold a character (named).
        """
        return encode_part(text, self.form).decode("latin-1") if self.by_byte else text

    def sought(self, text: str) -> str | None:
        """As `written`, but None for what cannot stand in this file."""
        try:
            return self.written(text)
        except EncodingError:
            return None

    def shown(self, text: str) -> str:
        """Turn a piece of the view into text for a reader; undecodable bytes are surrogate escapes."""
        return decode(text.encode("latin-1"), replace(self.form, bom=b"")) if self.by_byte else text

    def whole_characters(self, text: str, at: int) -> int:
        """Move an offset in a piece of the view back to where a character begins, so that cutting there hides none."""
        if self.by_byte and self.form.encoding == "utf-8":
            while 0 < at < len(text) and "\x80" <= text[at] < "\xc0":
                at -= 1
        return at

    def stored(self, text: str) -> bytes:
        """Turn a piece of the view, or what `written` gave, into the file's bytes.

        Raises:
            EncodingError: The encoding cannot hold a character (named).
        """
        return text.encode("latin-1") if self.by_byte else encode_part(text, self.form)

    def byte_spans(self, spans: Sequence[Span]) -> list[Span]:
        """Give the places of spans in `data`; `spans` ascending, without overlaps.

        Raises:
            EncodingError: The encoding keeps a state between characters, so that nothing may be spliced.
        """
        base = len(self.form.bom)
        if self.by_byte:
            return [(start + base, end + base) for start, end in spans]
        if self.form.encoding in STATEFUL:
            raise self._no_splice()
        cuts = [offset for span in spans for offset in span]
        pieces = [self.text[low:high] for low, high in pairwise([0, *cuts, len(self.text)])]
        encoded = [encode_part(piece, self.form) for piece in pieces]
        if b"".join(encoded) != self.data[base:]:
            raise self._no_splice()
        ends = list(accumulate((len(piece) for piece in encoded), initial=base))
        return [(ends[index], ends[index + 1]) for index in range(1, len(pieces) - 1, 2)]

    def _no_splice(self) -> EncodingError:
        return EncodingError(
            f"A part of a file in {self.form.encoding} cannot be replaced alone.",
            "Nothing was written. Write the whole file with write_file instead.",
        )


def unified_breaks(text: str) -> str:
    """Write every CRLF as LF; a lone CR stays what it is."""
    return text.replace("\r\n", "\n")


def find_exact(view: View, asked: str, *, at_most: int | None = None) -> list[Span]:
    """Find the places of `asked`, left to right, without overlaps; line ends may differ.

    Args:
        view: The file.
        asked: What to find, in the caller's characters.
        at_most: Stop after so many.
    """
    needle = view.sought(unified_breaks(asked))
    if not needle:
        return []
    return list(islice(_occurrences(view, needle), at_most))


def overlapping(view: View, asked: str, found: Span) -> Span | None:
    """Find a place of `asked` that begins inside the place `found` ("aa" is twice in "aaa")."""
    needle = view.sought(unified_breaks(asked))
    if not needle or found[1] - found[0] < 2:
        return None
    return next(_occurrences(view, needle, found[0] + 1), None)


def _occurrences(view: View, needle: str, start: int = 0) -> Iterator[Span]:
    literal = _literal(view, needle)
    if literal is None:
        yield from _among_mixed_breaks(view, needle, start)
        return
    text, length = view.text, len(literal)
    at = text.find(literal, start)
    while at >= 0:
        yield at, at + length
        at = text.find(literal, at + length)


def _among_mixed_breaks(view: View, needle: str, start: int) -> Iterator[Span]:
    """Find a text where line ends are mixed: with every break as one LF, so that the time grows with the length only.

    A regular expression would try each place for as long as it fits: hours, for many lines that are alike.
    """
    flat = view.flat()
    plain = needle.replace("\r", "\n")
    returns = [at for at, character in enumerate(needle) if character == "\r"]
    refused = 0
    at = flat.text.find(plain, flat.inward(start))
    while at >= 0 and refused < _MOST_REFUSED:
        span = flat.outward(at), flat.outward(at + len(plain))
        if all(flat.is_return(view.text, at + offset) for offset in returns):
            yield span
            at = flat.text.find(plain, at + len(plain))
        else:
            refused += 1
            at = flat.text.find(plain, at + 1)


def _literal(view: View, needle: str) -> str | None:
    """The exact characters to look for, or None where line ends are mixed."""
    if "\r" in needle:
        return None
    if "\n" not in needle or not view.has_returns:
        return needle
    returns, feeds, pairs = view.text.count("\r"), view.text.count("\n"), view.text.count("\r\n")
    if returns == feeds == pairs:
        return needle.replace("\n", "\r\n")
    return needle.replace("\n", "\r") if feeds == 0 else None


def line_start(view: View, at: int) -> int:
    """Where the line that holds offset `at` begins. Lines are those that `read_file` numbers."""
    return view.text.rfind(view.ends_line, 0, at) + 1


def line_end(view: View, at: int) -> int:
    """Where the line that holds offset `at` ends, after its line break."""
    found = view.text.find(view.ends_line, at)
    return found + 1 if found >= 0 else len(view.text)


def line_numbers(view: View, offsets: Sequence[int]) -> list[int]:
    """Give the 1-based line of each offset; `offsets` ascending."""
    numbers: list[int] = []
    line, position = 1, 0
    for offset in offsets:
        line += view.text.count(view.ends_line, position, offset)
        position = offset
        numbers.append(line)
    return numbers


def break_near(view: View, span: Span) -> str:
    """The line break that a new line at `span` takes: its own line's, else the one before, else LF."""
    own = BREAK.search(view.text, span[1])
    if own:
        return own.group()
    before = max(view.text.rfind("\n", 0, span[0]), view.text.rfind("\r", 0, span[0]))
    if before < 0:
        return "\n"
    return "\r\n" if view.text[max(0, before - 1) : before + 1] == "\r\n" else view.text[before]
