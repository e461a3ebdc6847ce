"""Reading an open file by position, in blocks, without moving its offset."""

import os
from collections.abc import Callable, Iterator
from functools import partial

from mcp_curated_shared.work import Work

BLOCK_BYTES = 262_144
"""One block of a scan: it stays in a processor's second-level cache between being read and being counted."""

Reader = Callable[[int, int], bytes]
"""`read(size, offset)`: that many bytes from there, fewer only where the content ends."""


def reader_of(descriptor: int) -> Reader:
    """Read an open file by position; `OSError` when it cannot be read."""
    return partial(read_up_to, descriptor)


def reader_of_bytes(data: bytes) -> Reader:
    """Read content that is in memory already, the same way."""

    def read(size: int, offset: int) -> bytes:
        return data[offset : offset + size]

    return read


def read_up_to(descriptor: int, size: int, offset: int) -> bytes:
    """Read `size` bytes at `offset`, fewer only where the file ends.

    One `pread` may give less than was asked for (always so for /proc, which gives a page at a time), and `st_size`
    may be 0 there: only an empty read is the end.

    Raises:
        OSError: The descriptor cannot be read.
    """
    first = _read_at(descriptor, size, offset)
    if len(first) in (0, size):
        return first
    pieces = [first]
    have = len(first)
    while have < size and (piece := _read_at(descriptor, size - have, offset + have)):
        pieces.append(piece)
        have += len(piece)
    return b"".join(pieces)


def blocks(read: Reader, offset: int, work: Work, *, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Give the content from `offset` to its end, `size` bytes at a time, looking at `work` before each block.

    Raises:
        OSError: The file cannot be read.
        CancelledError, TimedOutError: From `work`.
    """
    while True:
        work.check()
        block = read(size, offset)
        if block:
            yield block
        if len(block) < size:
            return
        offset += size


if hasattr(os, "pread"):
    _read_at = os.pread
else:  # Windows has no pread: the descriptor is ours alone, so that moving its offset disturbs nobody

    def _read_at(descriptor: int, size: int, offset: int, /) -> bytes:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, size)
