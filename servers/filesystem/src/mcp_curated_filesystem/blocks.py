"""Reading an open file by position, in blocks, without moving its offset."""

import os
from collections.abc import Iterator

from mcp_curated_shared.work import Work

BLOCK_BYTES = 262_144
"""One block of a scan: it stays in a processor's second-level cache between being read and being counted."""


def read_up_to(descriptor: int, size: int, offset: int) -> bytes:
    """Read `size` bytes at `offset`, fewer only where the file ends.

    One `pread` may give less than was asked for (always so for /proc, which gives a page at a time), and `st_size`
    may be
    0 there: only an empty read is the end.

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


def blocks(descriptor: int, offset: int, work: Work, *, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Give the file from `offset` to its end, `size` bytes at a time, looking at `work` before each block.

    Raises:
        OSError: The descriptor cannot be read.
        CancelledError, TimedOutError: From `work`.
    """
    while True:
        work.check()
        block = read_up_to(descriptor, size, offset)
        if not block:
            return
        yield block
        if len(block) < size:
            return
        offset += len(block)


if hasattr(os, "pread"):
    _read_at = os.pread
else:  # Windows has no pread: the descriptor is ours alone, so that moving its offset disturbs nobody

    def _read_at(descriptor: int, size: int, offset: int, /) -> bytes:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, size)
