"""Version tags: a short name for the state of a file's content.

A read reports the tag, a write takes it back as `ifVersion`. The same file in the same state gives the same tag
wherever it is computed, so that a tag from `read_file`, `get_file_info` or a resource fits every write tool.
"""

import hashlib
import os
import struct

from mcp_curated_filesystem.text.blocks import read_up_to

SMALL_BYTES = 262_144
"""Content up to this many bytes is hashed; beyond it the tag is made from the file's identity and times."""


def version_tag(source: int | bytes, stat: os.stat_result) -> str:
    """Name the state of a file's content.

    The rule depends on the content alone: at most `SMALL_BYTES` bytes long, the tag is a BLAKE2b hash of the content,
    so that a file that was replaced by an equal one keeps its tag. Longer, it is a hash of (device, inode, size,
    mtime in ns, ctime in ns): reading a gigabyte to name it would cost more than the read that asks. `ctime` is in it
    because a program can set `mtime` back, but not `ctime` (utimensat(2)).

    Args:
        source: An open descriptor of the file, read with `pread` from its start (its position stays), or the whole
            content.
        stat: `fstat` of the same file; only looked at when the content is long.

    Returns:
        `v:` and 12 hexadecimal digits.

    Raises:
        OSError: The descriptor cannot be read.
    """
    content = source if isinstance(source, bytes) else _small_content(source, stat)
    if content is not None and len(content) <= SMALL_BYTES:
        return "v:" + hashlib.blake2b(content, digest_size=6, person=b"content").hexdigest()
    return "v:" + hashlib.blake2b(_identity(stat), digest_size=6, person=b"state").hexdigest()


def _small_content(descriptor: int, stat: os.stat_result) -> bytes | None:
    """Read the content if it may be small; /proc files say 0 bytes and hold more, so one byte more is asked for."""
    return None if stat.st_size > SMALL_BYTES else read_up_to(descriptor, SMALL_BYTES + 1, 0)


def _identity(stat: os.stat_result) -> bytes:
    numbers = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    return struct.pack("<5Q", *(number & 0xFFFF_FFFF_FFFF_FFFF for number in numbers))
