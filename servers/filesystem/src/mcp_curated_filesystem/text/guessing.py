"""Is it text, and in which encoding, when no byte order mark says so."""

import codecs
import re
import unicodedata

from mcp_curated_filesystem.text.alphabets import ENOUGH, east_asian, single_byte
from mcp_curated_filesystem.text.encodings import canonical, unit_bytes
from mcp_curated_filesystem.text.signatures import media_type
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError

HEAD_OF_TEXT_BYTES = 65_536
"""As much is looked at to tell text from what is none."""

_CHECKED_AT_ONCE = 1_048_576
"""Decoding all of a big file only to see that it can be would take four times its size."""

GUESS_BYTES = 4_096
"""A guess looks at no more than this, from the first line on that has a byte beyond ASCII."""

_CONTROLS = bytes([*range(8), 11, *range(14, 27), *range(28, 32), 127])
"""What text does not hold: all but BS and ESC (terminal logs), HT, LF, FF and CR."""
_CONTROL_SHARE = 0.02
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
_WHOLE_OF = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "cp950"}
"""The superset that is in use wherever the subset's name is (the WHATWG Encoding standard's choice)."""

_CANDIDATES = (
    "cp1252",
    "cp1250",
    "cp1251",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp1257",
    "cp1258",
    "cp874",
    "iso8859_2",
    "koi8_r",
    "koi8_u",
    "cp866",
    "cp437",
    "cp850",
    "mac_roman",
    "mac_cyrillic",
    "gb18030",
    "big5",
    "cp932",
    "euc_jp",
    "cp949",
    "johab",
    "iso2022_jp",
)
"""The encodings that files have; left alone the detector also offers cp1006 (Urdu) for one accented letter."""

_DECLARATION = re.compile(rb"""(?:encoding|charset|coding)\s*[=:]?\s*["']?([A-Za-z0-9][A-Za-z0-9_.-]{2,39})""")


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
    declared = _declared(sample, whole=whole)
    if declared is not None:
        return declared, True
    return _likeliest(_informative(sample, whole=whole)), False


def reads_as(sample: bytes, encoding: str, *, whole: bool) -> bool:
    """Whether a sample is valid in an encoding; unless `whole`, an unfinished character at its end is fine."""
    if encoding == "utf-8" and sample.isascii():
        return True
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for start in range(0, len(sample), _CHECKED_AT_ONCE):
            decoder.decode(sample[start : start + _CHECKED_AT_ONCE])
        decoder.decode(b"", whole)
    except UnicodeError:
        return False
    return True


def _few_controls(sample: bytes) -> bool:
    head = sample[:HEAD_OF_TEXT_BYTES]
    found = len(head) - len(head.translate(None, _CONTROLS))
    return found <= 1 + len(head) * _CONTROL_SHARE


def _wide_encoding(sample: bytes, *, whole: bool) -> str:
    """UTF-16 and UTF-32 without a mark: zero bytes stand in the same place of each unit and what is read is text."""
    head = sample[:HEAD_OF_TEXT_BYTES]
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


def _declared(sample: bytes, *, whole: bool) -> str | None:
    """What an XML declaration, an HTML `meta`, a CSS `@charset` or a `coding:` line says, if the text bears it out."""
    said = _DECLARATION.search(sample[:1024])
    if said is None:
        return None
    try:
        encoding = canonical(said.group(1).decode("ascii"))
    except InvalidArgumentError:
        return None
    return encoding if unit_bytes(encoding) == 1 and reads_as(sample, encoding, whole=whole) else None


def _likeliest(sample: bytes) -> str:
    """The encoding by what the text would consist of; cp1252 when nothing is likely, since it reads nearly anything."""
    found = east_asian(sample)
    if found is not None:
        return found
    best, share = single_byte(sample)
    return best if share >= ENOUGH else _by_frequency(sample) or best


def _by_frequency(sample: bytes) -> str | None:
    from charset_normalizer import from_bytes

    match = from_bytes(sample, cp_isolation=list(_CANDIDATES), enable_fallback=False).best()
    if match is None:
        return None
    name = canonical(match.encoding)
    return _WHOLE_OF.get(name, name)


def _informative(sample: bytes, *, whole: bool) -> bytes:
    """Cut at a line end: cut inside a character, a sample of GBK or Shift-JIS is taken for nothing at all."""
    if whole and len(sample) <= GUESS_BYTES:
        return sample
    first = next((at for at, byte in enumerate(sample) if byte > 0x7F), 0)
    start = sample.rfind(b"\n", 0, first) + 1
    head = sample[start : start + GUESS_BYTES]
    end = head.rfind(b"\n")
    return head[: end + 1] if end >= 0 else head
