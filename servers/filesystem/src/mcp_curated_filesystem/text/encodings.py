"""The text encodings that a file may have, by Python's codec names, and what each can be trusted with."""

import codecs
import difflib
import re
from encodings.aliases import aliases
from functools import lru_cache

from mcp_curated_shared.errors import CuratedError, InvalidArgumentError

BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with UTF-16's
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks and the encoding that each announces (Unicode Standard, section 23.8)."""

STATEFUL = frozenset(
    {
        "hz",
        "utf-7",
        "iso2022_jp",
        "iso2022_jp_1",
        "iso2022_jp_2",
        "iso2022_jp_2004",
        "iso2022_jp_3",
        "iso2022_jp_ext",
        "iso2022_kr",
    }
)
"""Encodings in which a byte means what earlier ones make of it: no part of such a file can be replaced alone."""

_NOT_FOR_FILES = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
_EITHER_ORDER = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.:()-]{0,39}")
_UNIT_BYTES = {"utf-16-le": 2, "utf-16-be": 2, "utf-32-le": 4, "utf-32-be": 4}


class EncodingError(CuratedError):
    """A text and an encoding do not fit: characters that it cannot hold, or bytes that it would not give back."""

    kind = "encoding"


@lru_cache(maxsize=64)
def canonical(name: str) -> str:
    """Turn what a caller wrote ("UTF8", "Shift-JIS", "windows-1252") into Python's codec name.

    `utf-16`, `utf-32` and `utf-8-sig` become the little-endian or plain form: a byte order mark, if there is one,
    decides.

    Raises:
        InvalidArgumentError: No such codec, or one that is no encoding of text files; near names are listed.
    """
    try:
        found = codecs.lookup(name) if _NAME.fullmatch(name) else None
    except LookupError:
        found = None
    if found is None or found.name in _NOT_FOR_FILES or not is_text(found):
        raise InvalidArgumentError(f"There is no text encoding {name[:60]!r}.", _near(name))
    return _EITHER_ORDER.get(found.name, found.name)


def is_text(found: codecs.CodecInfo) -> bool:
    """Whether a codec maps text to bytes, which `base64`, `zip` and `rot13` do not."""
    return bool(getattr(found, "_is_text_encoding", True))


def unit_bytes(encoding: str) -> int:
    """The bytes of one code unit: 2 in UTF-16, 4 in UTF-32, else 1. Line ends are looked for at multiples of it."""
    return _UNIT_BYTES.get(encoding, 1)


@lru_cache(maxsize=128)
def keeps_ascii(encoding: str) -> bool:
    """Whether the bytes 13 and 10 are CR and LF in this encoding and nothing else (not so in UTF-16, EBCDIC)."""
    return unit_bytes(encoding) == 1 and "\r\n".encode(encoding) == b"\r\n"


@lru_cache(maxsize=128)
def gives_bytes_back(encoding: str) -> bool:
    """Whether every sequence of bytes, decoded with `surrogateescape` and encoded again, is itself.

    True for UTF-8 (PEP 383) and for a single-byte encoding that gives no character twice. Multi-byte encodings have
    characters with two codes (cp932: 0x81E0 and 0x8790), so that a decoded text must be checked.
    """
    if encoding == "utf-8":
        return True
    if encoding in STATEFUL or unit_bytes(encoding) > 1:
        return False
    every = bytes(range(256))
    try:
        text = every.decode(encoding, "surrogateescape")
        return len(set(text)) == 256 and text.encode(encoding, "surrogateescape") == every
    except UnicodeError:
        return False


def _near(name: str) -> str:
    known = {alias.replace("_", "-") for alias in (*aliases, *aliases.values())} - _NOT_FOR_FILES
    wanted = re.sub(r"[\s_]+", "-", name[:60].lower())
    close = [near for near in difflib.get_close_matches(wanted, sorted(known), n=9, cutoff=0.6) if _is_known_text(near)]
    if close:
        return f"Did you mean {', '.join(close[:3])}?"
    return "Give a name such as utf-8, utf-16, windows-1252, gb18030 or shift-jis, or leave `encoding` out."


def _is_known_text(name: str) -> bool:
    try:
        found = codecs.lookup(name)
    except LookupError:
        return False
    return is_text(found) and found.name not in _NOT_FOR_FILES
