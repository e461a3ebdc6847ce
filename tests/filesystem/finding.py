"""What the tests of finding share."""

import gc
import os
from collections.abc import Mapping
from pathlib import Path


def plant(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files by their relative paths, making what lies between."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def open_descriptors() -> int:
    """How many this process holds; those that only unreachable objects of earlier tests hold are closed first."""
    gc.collect()
    return descriptors_now()


def descriptors_now() -> int:
    """How many this process holds at this moment; cheap enough for a loop."""
    return len(os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"))
