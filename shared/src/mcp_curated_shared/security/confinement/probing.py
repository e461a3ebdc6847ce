"""Asking directories whether they answer, for a bounded time: a dead network or FUSE mount never does."""

import threading
import time
from collections.abc import Callable, Sequence

from mcp_curated_shared.security.confinement.descriptors import real_path

PATIENCE_SECONDS = 2.0
"""How long a start waits for the folders, all together."""


def answered(questions: Sequence[Callable[[], object]], seconds: float) -> list[bool]:
    """Run each question on a daemon thread of its own and wait for all of them.

    A thread that hangs in the kernel cannot be ended; it stays behind until the mount answers or the process ends.

    Args:
        questions: What may block; an `OSError` is an answer too.
        seconds: To wait, for all of them together.

    Returns:
        For each whether it came back in time.
    """
    threads = [threading.Thread(target=_ask, args=(one,), name="probe", daemon=True) for one in questions]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return [not thread.is_alive() for thread in threads]


def _ask(question: Callable[[], object]) -> None:
    try:
        question()
    except (OSError, ValueError):
        return


def real_paths(paths: Sequence[str], seconds: float | None = None) -> list[str]:
    """The paths without links; one on a mount that does not answer in time stays as it is written."""
    found = dict[int, str]()

    def resolve(index: int, path: str) -> Callable[[], None]:
        def run() -> None:
            found[index] = real_path(path) or path

        return run

    waits = PATIENCE_SECONDS if seconds is None else seconds
    answered([resolve(index, path) for index, path in enumerate(paths)], waits)
    return [found.get(index, path) for index, path in enumerate(paths)]
