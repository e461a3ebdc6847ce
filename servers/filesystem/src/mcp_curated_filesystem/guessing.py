"""Is it text, and in which encoding, when no byte order mark says so."""

import codecs
import unicodedata

from mcp_curated_filesystem.encodings import canonical, unit_bytes
from mcp_curated_filesystem.signatures import media_type
from mcp_curated_shared.errors import CuratedError

GUESS_BYTES = 65_536
"""The statistical guess looks at no more than this: it costs about 0.2 ms a kilobyte."""

_CONTROLS = bytes(
    [*range(9), 11, *range(14, 27), *range(28, 32), 127]
)  # all but HT LF FF CR, BS in logs aside, and ESC
_CONTROL_SHARE = 0.02
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_WHOLE_OF = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
    "ascii": "utf-8",
    "utf_8": "utf-8",
}
"""Subsets and the superset that is in use wherever the subset's name is (the WHATWG Encoding standard's choice)."""


class BinaryFileError(CuratedError):
    """The file is no text.

    Args:
        media: Its media type by content, if it has a known signature.
        head: Its first bytes; 16 of them are shown.
        name: How the reader calls the file.
        size: Its length in bytes, if known.
    """

    kind = "binary"

    def __init__(self, media: str | None, head: bytes, *, name: str = "The file", size: int | None = None) -> None:
        self.media = media
        self.head = head[:16]
        self.size = size
        length = f", {size:,} bytes" if size is not None else ""
        shown = self.head.hex(" ") + (" ..." if len(head) > 16 else "")
        super().__init__(f"{name} is binary ({media or 'unknown type'}{length}; begins {shown}).", _next(media))

    def named(self, name: str, size: int) -> "BinaryFileError":
        """The same error with the file's name and length in its text."""
        return BinaryFileError(self.media, self.head + b"\0" * (size > len(self.head)), name=name, size=size)


def _next(media: str | None) -> str:
    if media is not None:
        return "Use read_media_file for it, or get_file_info for its facts."
    return "Use get_file_info for its facts; if it is text, give its `encoding`."


def guess_encoding(sample: bytes, *, whole: bool) -> tuple[str, bool]:
    """Find the encoding of a text without a byte order mark.

    Args:
        sample: The file's first bytes; unless `whole`, it may end inside a character.
        whole: Whether that is all of it.

    Returns:
        A codec name, and whether it is certain rather than a guess.

    Raises:
        BinaryFileError: It is no text.
    """
    if b"\0" in sample:
        return _wide_encoding(sample, whole=whole), True
    if _few_controls(sample) and reads_as(sample, "utf-8", whole=whole):
        return "utf-8", True
    media = media_type(sample)
    if media is not None or not _few_controls(sample):
        raise BinaryFileError(media, sample)
    if _damaged_utf8(sample):
        return "utf-8", False
    return _statistical(sample, whole=whole), False


def reads_as(sample: bytes, encoding: str, *, whole: bool) -> bool:
    """Whether a sample is valid in an encoding; unless `whole`, an unfinished character at its end is fine."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample, whole)
    except UnicodeError:
        return False
    return True


def _few_controls(sample: bytes) -> bool:
    found = len(sample) - len(sample.translate(None, _CONTROLS))
    return found <= 1 + len(sample) * _CONTROL_SHARE


def _wide_encoding(sample: bytes, *, whole: bool) -> str:
    """UTF-16 and UTF-32 without a mark: zero bytes stand in the same place of each unit and what is read is text."""
    head = sample[:GUESS_BYTES]
    for encoding in sorted(_WIDE, key=unit_bytes, reverse=True):
        if _zeros_fit(head, encoding) and _is_wide_text(head, encoding, whole=whole and len(head) == len(sample)):
            return encoding
    raise BinaryFileError(media_type(sample), sample)


def _zeros_fit(head: bytes, encoding: str) -> bool:
    """In UTF-16 text the high byte of ASCII characters, spaces and line ends is 0, the low byte almost never."""
    unit = unit_bytes(encoding)
    zeros = [head[place::unit].count(0) for place in range(unit)]
    if encoding.endswith("be"):
        zeros.reverse()
    units = len(head) // unit
    if unit == 4:
        return zeros[3] >= units and zeros[2] >= 0.9 * units and zeros[0] <= 0.01 * units
    return zeros[1] >= max(1, 0.02 * units) and zeros[0] <= 0.01 * units


def _is_wide_text(head: bytes, encoding: str, *, whole: bool) -> bool:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head, whole)
    except UnicodeError:
        return False
    strange = sum(
        unicodedata.category(character) in ("Cc", "Cn", "Co")
        for character in text[:8192]
        if character not in "\t\n\f\r"
    )
    return bool(text) and strange <= len(text[:8192]) * 0.01


def _damaged_utf8(sample: bytes) -> bool:
    """UTF-8 with a few broken bytes: in another encoding hardly one byte in ten would be part of a valid sequence."""
    text = sample.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    beyond_ascii = sum(character > "\x7f" for character in text) - broken
    return broken * 10 <= beyond_ascii


def _statistical(sample: bytes, *, whole: bool) -> str:
    """The likeliest encoding by the frequency of bytes; cp1252 when nothing is likely, since it reads anything."""
    from charset_normalizer import from_bytes

    best = from_bytes(_informative(sample, whole=whole)).best()
    if best is None:
        return "cp1252"
    name = canonical(best.encoding)
    return _WHOLE_OF.get(name, name)


def _informative(sample: bytes, *, whole: bool) -> bytes:
    """Cut at a line end: cut inside a character, a sample of GBK or Shift-JIS is taken for nothing at all."""
    if whole and len(sample) <= GUESS_BYTES:
        return sample
    head = sample[:GUESS_BYTES]
    end = head.rfind(b"\n")
    return head[: end + 1] if end > 0 else head
