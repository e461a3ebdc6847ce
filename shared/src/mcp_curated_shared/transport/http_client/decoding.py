"""Undoing Content-Encoding within a bound.

httpx 0.28 hands out whatever a chunk inflates to: 809 bytes of brotli became one piece of 512 MiB, 510 KiB of gzip
pieces of 64 MiB. So only gzip and deflate are asked for, the raw stream is read, and `zlib` inflates with `max_length`.
"""

import zlib
from collections.abc import Generator, Iterator, Sequence
from typing import Final

from mcp_curated_shared.transport.http_client.errors import BadResponseError

ACCEPT_ENCODING: Final = "gzip, deflate"

_GZIP_MAGIC: Final = b"\x1f\x8b"
_PIECE: Final = 1 << 16
_MOST_CODINGS: Final = 2
_MOST_MEMBERS: Final = 1_000  # a gzip member of 20 bytes inflates to nothing: a body could hold a quarter of a million


class LimitReachedError(Exception):
    """There is more than may be decoded; internal to this package."""


class BodyDecoder:
    """Collects a body and inflates it, never beyond a limit.

    Args:
        encoding: The value of Content-Encoding; empty for none.
        limit: Most bytes that may be received, that any coding may inflate to, and that are kept.

    Raises:
        BadResponseError: A coding that was not asked for, or more than two of them.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        codings = [word for part in encoding.split(",") if (word := part.strip().lower()) not in {"", "identity"}]
        unknown = [word for word in codings if word not in {"gzip", "x-gzip", "deflate"}]
        if unknown or len(codings) > _MOST_CODINGS:
            raise BadResponseError(
                "The answer is compressed in a way that was not asked for.", f"Only {ACCEPT_ENCODING} are read."
            )
        self._limit = limit
        self._received = 0
        self._body = bytearray()
        self._inflaters = [_Inflater(word == "deflate", limit) for word in reversed(codings)]

    @property
    def body(self) -> bytes:
        """What was decoded so far."""
        return bytes(self._body)

    def feed(self, data: bytes) -> None:
        """Take the next bytes as they were received.

        Raises:
            LimitReachedError: There is more than the limit; `body` holds what lies within.
            BadResponseError: They are not what Content-Encoding says.
        """
        self._received += len(data)
        over = self._received > self._limit + _PIECE if self._inflaters else False
        for piece in _through(self._inflaters, data):
            room = self._limit - len(self._body)
            self._body += piece[:room]
            if len(piece) > room:
                raise LimitReachedError
        if over:
            raise LimitReachedError

    def is_whole(self) -> bool:
        """Whether every coding came to its end; a body without a byte is whole (HEAD, 304)."""
        return self._received == 0 or all(inflater.ended for inflater in self._inflaters)


class _Inflater:
    """One coding: gzip (RFC 1952, with its members) or deflate (RFC 9110, 8.4.1.2: zlib; many send it bare)."""

    def __init__(self, deflate: bool, limit: int) -> None:
        self._deflate = deflate
        self._limit = limit
        self._engine: zlib._Decompress | None = None  # pyright: ignore[reportPrivateUsage]  # typeshed's only name
        self._held = b""  # a first byte, too little to tell what begins
        self._members = 0
        self._made = 0
        self._closed = False  # what follows the last member is padding

    @property
    def ended(self) -> bool:
        return self._engine is None and self._members > 0

    def pieces(self, data: bytes) -> Iterator[bytes]:
        data = self._held + data
        self._held = b""
        while data:
            if self._engine is None:
                self._begin(data)
            if self._engine is None:
                return
            data = yield from self._inflate(self._engine, data)

    def _begin(self, data: bytes) -> None:
        if self._closed:
            return
        if len(data) < 2:
            self._held = data
            return
        if self._members and (self._deflate or data[:2] != _GZIP_MAGIC):
            self._closed = True
            return
        self._members += 1
        if self._members > _MOST_MEMBERS:
            raise BadResponseError("The answer is compressed in too many parts.")
        self._engine = zlib.decompressobj(_window_bits(data) if self._deflate else 16 + zlib.MAX_WBITS)

    def _inflate(
        self,
        engine: "zlib._Decompress",  # pyright: ignore[reportPrivateUsage]  # typeshed's only name
        data: bytes,
    ) -> Generator[bytes, None, bytes]:
        """Yield what comes out, at most 64 KiB at a time; return the bytes behind the end of the member."""
        while True:
            try:
                piece = engine.decompress(data, _PIECE)
            except zlib.error:
                raise BadResponseError("The answer is damaged: it does not decompress.") from None
            data = engine.unconsumed_tail
            self._made += len(piece)
            if piece:
                yield piece
            if self._made > self._limit:
                raise LimitReachedError
            if engine.eof:
                self._engine = None
                return engine.unused_data
            if not data and len(piece) < _PIECE:
                return b""


def _window_bits(data: bytes) -> int:
    """For zlib's header (RFC 1950, 2.2) what it says; else for bare deflate."""
    zlib_header = data[0] & 0x0F == 8 and data[0] >> 4 <= 7 and (data[0] << 8 | data[1]) % 31 == 0
    return zlib.MAX_WBITS if zlib_header else -zlib.MAX_WBITS


def _through(inflaters: Sequence[_Inflater], data: bytes) -> Iterator[bytes]:
    """The bytes after every coding, the outermost undone first."""
    if not inflaters:
        if data:
            yield data
        return
    for piece in inflaters[0].pieces(data):
        yield from _through(inflaters[1:], piece)
