"""The chain of an audit log: how a record becomes a line, and how a line is checked.

Each line is one JSON object that ends with the MAC of the line before it and its own: HMAC-SHA256 cut to 128 bits (RFC
2104, section 5) over every byte before its own. So a line that was edited fails by itself, and one that was taken out,
put in or moved does not follow the line before it.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mcp_curated_shared.security.audit.keys import AuditKey

MAC_LENGTH: Final = 32
"""Hexadecimal digits."""

NOTHING_BEFORE: Final = "0" * MAC_LENGTH

Value = str | int | float | bool
Record = Mapping[str, Value]

_TAIL: Final = re.compile(rb',"prev":"([0-9a-f]{32})","mac":"([0-9a-f]{32})"\}')
_SEQUENCE: Final = re.compile(rb'\{"seq":([1-9][0-9]{0,17}),')


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain: whoever knows it sees that lines were cut off.

    Attributes:
        sequence: Number of the last record; 0 for none.
        mac: Its MAC.
    """

    sequence: int = 0
    mac: str = NOTHING_BEFORE

    def __str__(self) -> str:
        return f"{self.sequence}:{self.mac}"

    @classmethod
    def parse(cls, text: str) -> "Head | None":
        """The head that `str()` gave; None if it is none."""
        match = re.fullmatch(r"([0-9]{1,18}):([0-9a-f]{32})", text.strip(), re.ASCII)
        return None if match is None else cls(int(match[1]), match[2])


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it lies in a log.

    Attributes:
        sequence: Its number.
        previous: The MAC that it says is the one of the line before.
        mac: Its own.
        authentic: Whether its own MAC is right.
    """

    sequence: int
    previous: str
    mac: str
    authentic: bool

    @property
    def head(self) -> Head:
        """The end of a chain that ends here."""
        return Head(self.sequence, self.mac)


_encode: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def write_line(record: Record, after: Head, key: AuditKey) -> tuple[bytes, Head]:
    """The line, with its line end, that carries `record` after the given one; and the new head."""
    sequence = after.sequence + 1
    body = _encode({"seq": sequence, **record, "prev": after.mac}).encode("ascii")[:-1]
    mac = _mac(body, key)
    return b'%b,"mac":"%b"}\n' % (body, mac.encode()), Head(sequence, mac)


def read_line(line: bytes, key: AuditKey | None = None) -> Line | None:
    """What a line (without its end) says of its place; None if it is no line of an audit log.

    Args:
        line: Its bytes.
        key: Checks its MAC; without one it counts as not authentic.
    """
    start = _SEQUENCE.match(line)
    end = _TAIL.fullmatch(line, max(0, len(line) - _TAIL_LENGTH))
    if start is None or end is None:
        return None
    previous, mac = end[1].decode(), end[2].decode()
    authentic = key is not None and hmac.compare_digest(_mac(line[:-_MAC_LENGTH], key), mac)
    return Line(int(start[1]), previous, mac, authentic)


_MAC_LENGTH: Final = len(',"mac":"' + NOTHING_BEFORE + '"}')
_TAIL_LENGTH: Final = len(',"prev":"' + NOTHING_BEFORE + '"') + _MAC_LENGTH


def _mac(body: bytes, key: AuditKey) -> str:
    return hmac.digest(key.chain, body, hashlib.sha256).hex()[:MAC_LENGTH]


def fields_of(line: bytes) -> Mapping[str, object]:
    """The members of a line that `read_line` knows; empty if it is no JSON object."""
    try:
        parsed: object = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return {str(name): value for name, value in parsed.items()} if isinstance(parsed, dict) else {}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # JSON
