"""What a blocking piece of work looks at while it runs on a worker thread.

A domain function that may take long receives a `Work`: it calls `check()` in its loop, tells its progress by
setting plain attributes, and asks `remaining()` when it can stop early with what it has.
"""

import threading
import time

from mcp_curated_shared.errors import CancelledError, TimedOutError


class Work:
    """The cancel flag, the deadline and the progress of one call.

    Args:
        seconds: The time budget from now on; None for none.

    The reading side runs on a worker thread and the writing side (`cancel`) on the event loop.
    """

    __slots__ = ("_cancelled", "_deadline", "done", "message", "seconds", "total")

    def __init__(self, seconds: float | None = None) -> None:
        self._cancelled = threading.Event()
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self.seconds = seconds
        self.done = 0
        self.total: int | None = None
        self.message = ""

    def cancel(self) -> None:
        """Ask the work to stop at its next `check()`."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    def remaining(self) -> float:
        """Seconds left of the budget, never below 0; infinite without a budget."""
        if self._deadline is None:
            return float("inf")
        return max(0.0, self._deadline - time.monotonic())

    @property
    def expired(self) -> bool:
        """Whether the budget is used up: stop here and give what was found, marked partial."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    def check(self) -> None:
        """Stop here if the caller has gone or the time is up.

        Raises:
            CancelledError: The caller withdrew the request.
            TimedOutError: The budget ended.
        """
        if self._cancelled.is_set():
            raise CancelledError("The request was cancelled.")
        if self.expired:
            raise TimedOutError(
                f"This took longer than its limit of {self.seconds:g} s and was stopped.", "Ask for a smaller part."
            )
