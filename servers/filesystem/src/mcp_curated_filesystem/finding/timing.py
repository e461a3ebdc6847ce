"""A time budget that ends in a part of the answer rather than in a failure."""

import time

from mcp_curated_shared.work import Work

_MARGIN = 0.1


class Clock:
    """The budget of one search: when it is over, the search gives what it has.

    Args:
        work: The call; its own deadline counts too, a little early, since what was found has still to be written.
        seconds: The budget.
    """

    __slots__ = ("_deadline", "seconds", "work")

    def __init__(self, work: Work, seconds: float) -> None:
        self.work = work
        self.seconds = min(seconds, max(0.0, work.remaining() - _MARGIN))
        self._deadline = time.monotonic() + self.seconds

    def over(self) -> bool:
        """Whether the budget is used up.

        Raises:
            CancelledError: The caller has gone.
        """
        if self.work.cancelled:
            self.work.check()
        return time.monotonic() >= self._deadline

    def remaining(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self._deadline - time.monotonic())
