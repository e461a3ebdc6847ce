"""Which process is at an attempt, and whether it still can be."""

import os
import secrets
import socket
from typing import Final

from mcp_curated_shared.security.confirmation.ledger import Attempt

_INSTANCE: Final = secrets.token_hex(8)


def this_process() -> str:
    """Names this process: its machine, its number, and which of the processes with that number it is."""
    return f"{socket.gethostname()}/{os.getpid()}/{_INSTANCE}"


def as_seen_here(attempt: Attempt, owner: str) -> Attempt:
    """The attempt as this machine knows it: one whose process is gone did not end.

    Args:
        attempt: As the ledger has it.
        owner: What `this_process` was for who began it.
    """
    if attempt.state != "running" or attempt.fresh or not _is_gone(owner):
        return attempt
    return Attempt(attempt.key, "unknown", attempt.result, attempt.assurance)


def _is_gone(owner: str) -> bool:
    """Whether that process surely runs no more; of another machine's nobody knows."""
    host, pid, instance = owner.rsplit("/", 2)
    if host != socket.gethostname():
        return False
    if int(pid) == os.getpid():
        return instance != _INSTANCE
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
