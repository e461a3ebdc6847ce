"""Text from bytes and back, without changing a byte that nobody asked to change.

The order of detection: byte order mark, strict UTF-8, UTF-16 or UTF-32 without a mark, then a guess. What no encoding
explains stays in the decoded text as surrogate escapes (PEP 383), so that it is written back as it was.
"""

import codecs
import re
from dataclasses import dataclass

from mcp_curated_filesystem.text import guessing
from mcp_curated_filesystem.text.encodings import (
    BOMS,
    STATEFUL,
    EncodingError,
    canonical,
    gives_bytes_back,
    keeps_ascii,
    unit_bytes,
)
from mcp_curated_filesystem.text.guessing import BinaryFileError
from mcp_curated_filesystem.text.newlines import Newline, line_end, newline_style

__all__ = [
    "MARK",
    "SAMPLE_BYTES",
    "BinaryFileError",
    "EncodingError",
    "Newline",
    "TextForm",
    "decode",
    "detect",
    "encode",
    "encode_part",
    "line_end",
    "reading_decoder",
    "show_undecodable",
]

SAMPLE_BYTES = 65_536
"""How much of a file's beginning is enough for `detect`."""

MARK = "\ufeff"
"""The byte order mark as a character."""

_HIDDEN = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TextForm:
    """How a text is stored.

    Attributes:
        encoding: A Python codec name: "utf-8", "utf-16-le", "cp1252", "gb18030". Never one that adds a byte order
            mark itself.
        bom: The byte order mark at the start of the file, empty without one.
        newline: The line ending in use, "mixed" for several, "" for none.
        certain: False when the encoding is a guess from the frequency of bytes.
    """

    encoding: str
    bom: bytes
    newline: Newline
    certain: bool

    @property
    def plain(self) -> bool:
        """Whether it is what everyone expects: UTF-8 without a mark, lines ending in LF."""
        return self.encoding == "utf-8" and not self.bom and self.newline in ("\n", "")


PLAIN = TextForm("utf-8", b"", "", True)
"""The form of an empty file and of a new one."""


def detect(sample: bytes, *, whole: bool, encoding: str | None = None) -> TextForm:
    """Find out how a text is stored.

    Args:
        sample: The file's first bytes, `SAMPLE_BYTES` or more, or all of it. It may end inside a character if it is
            not all.
        whole: Whether `sample` is the whole file.
        encoding: The caller's own choice, by any name that Python knows. It is taken at its word: nothing is guessed
            and nothing counts as binary.

    Raises:
        BinaryFileError: It is no text.
        InvalidArgumentError: `encoding` names no text encoding.
    """
    bom, announced = _byte_order_mark(sample, whole=whole)
    if encoding is not None:
        return _chosen(sample, canonical(encoding), bom, announced, whole=whole)
    if announced:
        return TextForm(announced, bom, _style(sample[len(bom) :], announced, whole=whole), True)
    found, certain = guessing.guess_encoding(sample, whole=whole)
    return TextForm(found, b"", _style(sample, found, whole=whole), certain)


def decode(data: bytes, form: TextForm) -> str:
    """Turn a whole file into text such that `encode(decode(data, form), form) == data`.

    The byte order mark is left out. Bytes that the encoding does not explain, and codes for which the encoding has a
    second, preferred one, become surrogate escapes U+DC80 to U+DCFF; unpaired UTF-16 surrogates stay what they are.

    Raises:
        EncodingError: These bytes cannot be given back exactly in this encoding (a UTF-16 file with an odd number of
            bytes, damaged ISO-2022): read it, but do not rewrite it.
    """
    body = data[len(form.bom) :] if form.bom and data.startswith(form.bom) else data
    errors = _errors(form.encoding)
    try:
        text = body.decode(form.encoding, errors)
        if gives_bytes_back(form.encoding) or text.encode(form.encoding, errors) == body:
            return text
    except UnicodeError:
        pass
    return _decode_by_character(body, form.encoding)


def encode(text: str, form: TextForm) -> bytes:
    """Turn a text into the bytes of a whole file, byte order mark included.

    Raises:
        EncodingError: It names the characters that the encoding cannot hold.
    """
    return form.bom + encode_part(text, form)


def encode_part(text: str, form: TextForm) -> bytes:
    """Turn a piece of text into the bytes that stand for it in the middle of a file: without the byte order mark.

    Raises:
        EncodingError: It names the characters that the encoding cannot hold.
    """
    try:
        return text.encode(form.encoding, _errors(form.encoding))
    except UnicodeError:
        raise EncodingError(
            f"The encoding of this file, {form.encoding}, cannot hold {_name_characters(text, form.encoding)}.",
            "Nothing was written. Use characters that it has.",
        ) from None


def show_undecodable(text: str) -> tuple[str, int]:
    r"""Make visible what cannot be sent: U+DCE9 and U+0000 become `\xe9` and `\x00`, a lone surrogate `\ud83d`.

    Returns:
        The text without lone surrogates and NULs (a host's database may refuse those), and how many there were.
    """
    if text.isascii() and "\0" not in text:
        return text, 0
    return _HIDDEN.subn(_visible, text)


def reading_decoder(form: TextForm) -> codecs.IncrementalDecoder:
    """Decode a text from the start of any line on, piece by piece, for reading: nothing in it is an error.

    Bytes that the encoding does not explain become U+DC00 to U+DCFF, also those that `decode` would refuse; see
    `show_undecodable`. The byte order mark is the caller's to skip.
    """
    return codecs.getincrementaldecoder(form.encoding)(_FOR_READING)


def _keep_bytes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    broken = error.object[error.start : error.end]
    return "".join(chr(0xDC00 + byte) for byte in broken), error.end


_FOR_READING = "mcp-curated-filesystem.keep-bytes"
codecs.register_error(_FOR_READING, _keep_bytes)


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code == 0 or 0xDC00 <= code <= 0xDCFF:
        return f"\\x{code & 0xFF:02x}"
    return f"\\u{code:04x}"


def _errors(encoding: str) -> str:
    return "surrogatepass" if unit_bytes(encoding) > 1 else "surrogateescape"


def _byte_order_mark(sample: bytes, *, whole: bool) -> tuple[bytes, str]:
    """FF FE 00 00 is also UTF-16 that begins with U+0000: it is taken for UTF-32 if it can be read so."""
    for mark, encoding in BOMS:
        if not sample.startswith(mark):
            continue
        if unit_bytes(encoding) == 4 and not guessing.reads_as(sample, encoding, whole=whole):
            continue
        return mark, encoding
    return b"", ""


def _chosen(sample: bytes, encoding: str, bom: bytes, announced: str, *, whole: bool) -> TextForm:
    """The caller's encoding; the byte order of "utf-16" is what the mark says, else little-endian."""
    family = encoding.rpartition("-")[0]
    if announced and announced.rpartition("-")[0] == family and unit_bytes(encoding) > 1:
        encoding = announced
    mark = bom if announced == encoding else b""
    return TextForm(encoding, mark, _style(sample[len(mark) :], encoding, whole=whole), True)


def _style(sample: bytes, encoding: str, *, whole: bool) -> Newline:
    if keeps_ascii(encoding):
        return newline_style(sample, whole=whole)
    return newline_style(sample.decode(encoding, "replace"), whole=whole)


def _decode_by_character(body: bytes, encoding: str) -> str:
    """Decode line by line, and in the lines that would not come back as they were, character by character."""
    if encoding in STATEFUL or unit_bytes(encoding) > 1:
        raise _not_exact(encoding)
    lines = [_exact_line(line, encoding) for line in body.split(b"\n")]
    text = "\n".join(lines)
    try:
        exact = text.encode(encoding, "surrogateescape") == body
    except UnicodeError:
        exact = False
    if not exact:
        raise _not_exact(encoding)
    return text


def _exact_line(line: bytes, encoding: str) -> str:
    try:
        text = line.decode(encoding, "surrogateescape")
        if text.encode(encoding, "surrogateescape") == line:
            return text
    except UnicodeError:
        pass
    characters: list[str] = []
    at = 0
    while at < len(line):
        character, size = _exact_character(line, at, encoding)
        characters.append(character)
        at += size
    return "".join(characters)


def _exact_character(line: bytes, at: int, encoding: str) -> tuple[str, int]:
    for size in (1, 2, 3, 4):
        code = line[at : at + size]
        try:
            character = code.decode(encoding)
            if character.encode(encoding) == code:
                return character, len(code)
        except UnicodeError:
            continue
    if line[at] < 0x80:
        raise _not_exact(encoding)
    return chr(0xDC00 + line[at]), 1


def _not_exact(encoding: str) -> EncodingError:
    return EncodingError(
        f"This file cannot be rewritten byte for byte in {encoding}.",
        "Nothing was written. It can be read; give another `encoding` if this one is wrong.",
    )


def _name_characters(text: str, encoding: str) -> str:
    missing: list[str] = []
    for character in dict.fromkeys(text):
        try:
            character.encode(encoding, _errors(encoding))
        except UnicodeError:
            missing.append(character)
    names = [f"{character!r} (U+{ord(character):04X})" for character in missing[:5]]
    more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
    return ", ".join(names) + more if names else "this sequence of characters"
