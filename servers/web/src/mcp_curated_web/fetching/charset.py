"""Which characters the bytes of a page mean: mark, header, `<meta>`, strict UTF-8, a detector, in this order."""

import codecs
import re
from dataclasses import dataclass
from typing import Final, Literal

CharsetSource = Literal["bom", "header", "meta", "utf-8", "detected", "fallback"]

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# What browsers read these labels as (WHATWG Encoding, 4.2): the larger set that pages in fact use.
_AS_BROWSERS: Final = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "latin1": "cp1252",
    "latin-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "sjis": "cp932",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "big5": "big5hkscs",
    "iso-8859-9": "cp1254",
    "tis-620": "cp874",
    "windows-31j": "cp932",
    "x-mac-cyrillic": "mac-cyrillic",
    "utf8": "utf-8",
}
_NOT_TEXT: Final = frozenset(
    {"utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "charmap", "hz", "mbcs", "oem"}
)
_HEADER: Final = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:+-]{1,40})", re.IGNORECASE | re.ASCII)
_META: Final = re.compile(rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w.:+-]{1,40})", re.IGNORECASE)
_XML: Final = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:+-]{1,40})", re.IGNORECASE)
_META_WITHIN: Final = 4_096
_SAMPLE: Final = 64_000
_CYRILLIC: Final = ("cp1251", "koi8-r")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, the charset it was read in, and how that was found."""

    text: str
    charset: str
    source: CharsetSource


def decode(body: bytes, content_type: str = "") -> Decoded:
    """Read bytes as text.

    Args:
        body: What came.
        content_type: The value of Content-Type.
    """
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return Decoded(body[len(mark) :].decode(charset, "replace"), charset, "bom")
    named = _HEADER.search(content_type)
    charset = known(named[1]) if named else ""
    if charset:
        return Decoded(body.decode(charset, "replace"), charset, "header")
    declared = _META.search(body[:_META_WITHIN]) or _XML.match(body[:_META_WITHIN])
    charset = known(declared[1].decode("ascii", "replace")) if declared else ""
    if charset.startswith(("utf-16", "utf-32")):
        charset = "utf-8"  # it was read as ASCII, so it cannot be (HTML, 13.2.3.3)
    if charset:
        return Decoded(body.decode(charset, "replace"), charset, "meta")
    try:
        return Decoded(_strict_utf8(body), "utf-8", "utf-8")
    except UnicodeDecodeError:
        return _detected(body)


def known(label: str) -> str:
    """The codec that a charset's label means; empty for one that is unknown or no charset of text."""
    word = label.strip().lower()
    word = _AS_BROWSERS.get(word, word)
    try:
        info = codecs.lookup(word)
    except (LookupError, ValueError):
        return ""
    if info.name.replace("_", "-") in _NOT_TEXT or not getattr(info, "_is_text_encoding", True):
        return ""
    return word


def _strict_utf8(body: bytes) -> str:
    """As UTF-8, forgiving only a last character that was cut off."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.start >= len(body) - 3:
            return body[: error.start].decode("utf-8")
        raise


def _detected(body: bytes) -> Decoded:
    sample = re.sub(rb"<[^>]{0,2000}>", b" ", body[:_SAMPLE])
    charset = _cyrillic(sample) or _by_detector(sample)
    if charset:
        return Decoded(body.decode(charset, "replace"), charset, "detected")
    return Decoded(body.decode("cp1252", "replace"), "cp1252", "fallback")


def _cyrillic(sample: bytes) -> str:
    """Russian and its kin by their letters: mostly small ones, and the common ones most (o, e, a, i, n, t)."""
    high = sum(byte >= 0x80 for byte in sample)
    if high < 8 or high * 5 < sum(chr(byte).isalpha() for byte in sample if byte < 0x80):
        return ""
    best, charset = 0.0, ""
    for one in _CYRILLIC:
        text = sample.decode(one, "replace")
        common = sum(text.count(letter) for letter in "оеаинтсрвл") / high
        wrong = sum(letter in "\ufffd" or (letter.isupper() and letter > "\x7f") for letter in text) / high
        if common - 2 * wrong > best:
            best, charset = common - 2 * wrong, one
    return charset if best > 0.4 else ""


def _by_detector(sample: bytes) -> str:
    """What the detector of the extra `charset` says; empty when it is not installed."""
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return ""
    found = from_bytes(sample[:16_000], preemptive_behaviour=False).best()
    return known(found.encoding) if found is not None else ""
