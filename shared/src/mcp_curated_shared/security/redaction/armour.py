r"""Keys and tokens that carry their own form: PEM blocks, PuTTY files, JSON Web Tokens.

A PEM block is hidden from its first line of data to its last, also with line breaks written as `\n`, quoted line by
line, and when the text was cut before the END line. Its armour lines stay: they tell a reader what was there.
"""

import base64
import re
from collections.abc import Iterator
from typing import Final

from mcp_curated_shared.security.redaction.spans import Span, is_blank

_BEGIN: Final = re.compile(
    r"-{4,5} ?BEGIN ([A-Z0-9 ]{0,40})PRIVATE KEY(?: BLOCK)? ?-{4,5}|-{4,5} ?BEGIN SSH2 ENCRYPTED PRIVATE KEY ?-{4,5}"
)
_END: Final = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY")
# What a block is made of: base64, header lines such as Proc-Type, breaks real and escaped, quotes and signs of joining.
_DATA_LINE: Final = re.compile(
    r"(?:[\s\\\"'+>|,#]|\\[nrt])*+"
    r"(?:[A-Za-z][A-Za-z-]{2,20}: [^\n\\]{0,80}|[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]{1,80}={0,2}(?=[\s\\\"']|\Z))"
)
_FILLING: Final = " \t\r\n\\\"'+>|,#"
_BARE_KEY: Final = re.compile(r"(?<![A-Za-z0-9+/])(?:MII[A-Za-z0-9]|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/\\\s]{200,}={0,2}")
_ENCODED: Final = re.compile(r"(?<![A-Za-z0-9+/])LS0tLS1CRUdJT[A-Za-z0-9+/]{40,}={0,2}")
_PUTTY: Final = re.compile(
    r"Private-Lines: ?[0-9]{1,3}(?:\s|\\[nr])+((?:[A-Za-z0-9+/=]{4,}(?:\s|\\[nr])+){0,400}[A-Za-z0-9+/=]{4,})"
)

_HEADER: Final = re.compile("e(?:yJ|yAi|wog)")  # `{"`, `{ "`, `{\n ` in base64
_SEGMENT: Final = re.compile(r"[A-Za-z0-9_-]*")


def find_armour(text: str) -> list[Span]:
    """Private keys and JSON Web Tokens in a text without invisible characters."""
    found: list[Span] = []
    if "PRIVATE KEY" in text:
        found += _private_keys(text)
    if "LS0tLS1CRUdJT" in text:
        found += [Span(*match.span(), "private-key") for match in _ENCODED.finditer(text) if _holds_key(match.group())]
    if "b3BlbnNzaC1rZXktdjE" in text or "MII" in text:
        found += [
            Span(*match.span(), "private-key") for match in _BARE_KEY.finditer(text) if _is_key_data(match.group())
        ]
    if "Private-Lines:" in text:
        found += [Span(*match.span(1), "private-key") for match in _PUTTY.finditer(text)]
    if "eyJ" in text or "eyA" in text or "ewo" in text:
        found += _json_web_tokens(text)
    return found


def _private_keys(text: str) -> Iterator[Span]:
    position = 0
    while match := _BEGIN.search(text, position):
        start = match.end()
        dashes = text.find("----", start)
        stop = dashes if dashes >= 0 else len(text)
        end = stop if dashes >= 0 and _END.match(text, dashes) else _end_of_data(text, start, stop)
        start, end = _trimmed(text, start, end)
        if end - start >= 8:
            yield Span(start, end, "private-key")
        position = max(match.end(), end)


def _end_of_data(text: str, start: int, stop: int) -> int:
    """The end of what looks like a block's data: the block was cut, or another begins."""
    end = start
    while match := _DATA_LINE.match(text, end, stop):
        if match.end() == end:
            break
        end = match.end()
    return end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the breaks and quotes at both ends, and nothing when only a mark or dots stand there."""
    body = text[start:end]
    if is_blank(body.strip(_FILLING + "nr")) or set(body) <= set(_FILLING + ".n…*x-"):
        return start, start
    left = len(body) - len(body.lstrip(_FILLING))
    if left and body[left - 1] == "\\" and body[left : left + 1] in ("n", "r"):
        left += 1
    return start + left, end - len(body) + len(body.rstrip(_FILLING))


def _holds_key(encoded: str) -> bool:
    """Whether base64 of PEM is that of a private key."""
    head = encoded[:120]
    try:
        return b"PRIVATE KEY" in base64.b64decode(head[: len(head) // 4 * 4])
    except ValueError:
        return False


def _is_key_data(encoded: str) -> bool:
    """Whether base64 holds a private key without its armour: OpenSSH's magic, or PKCS#1, PKCS#8 or SEC1 (DER).

    A certificate or public key begins with a SEQUENCE too, but goes on with another instead of a version number.
    """
    compact = re.sub(r"\\[nr]|\s|\\", "", encoded[:120])
    try:
        data = base64.b64decode(compact[: min(len(compact), 64) // 4 * 4])
    except ValueError:
        return False
    if data.startswith(b"openssh-key-v1"):
        return True
    return data[:2] == b"\x30\x82" and data[4:6] == b"\x02\x01" and data[6] in (0, 1)


def _json_web_tokens(text: str) -> Iterator[Span]:
    """Two or more segments joined by dots, the first of which decodes to the beginning of a JSON object."""
    position = 0
    while (start := _next_header(text, position)) >= 0:
        end = _segment_end(text, start)
        header_end = end
        segments = 1
        while segments < 5 and text.startswith(".", end) and (segments > 1 or end - start >= 8):
            following = _segment_end(text, end + 1)
            end, segments = following, segments + 1
        if segments >= 3 and end - start >= 40:
            yield Span(start, end if text[end - 1] != "." or segments < 4 else end - 1, "jwt")
        position = max(end, header_end, start + 1)


def _next_header(text: str, position: int) -> int:
    match = _HEADER.search(text, position)
    return match.start() if match else -1


def _segment_end(text: str, start: int) -> int:
    match = _SEGMENT.match(text, start)
    return match.end() if match else start
