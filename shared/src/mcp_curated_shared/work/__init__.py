"""Blocking work away from the event loop: a piece of it (`Work`), and the bounded threads that run it (`WorkPool`)."""

from mcp_curated_shared.work.piece import Work
from mcp_curated_shared.work.pool import ProgressFn, WorkPool

__all__ = ["ProgressFn", "Work", "WorkPool"]
