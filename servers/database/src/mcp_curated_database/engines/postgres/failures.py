"""What PostgreSQL said, told so that its reader can mend it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from mcp_curated_database.engines.errors import QueryError
from mcp_curated_database.engines.postgres.driver import asyncpg
from mcp_curated_database.engines.postgres.gate import split
from mcp_curated_shared.errors import CuratedError, NotAllowedError, TimedOutError

Names = Callable[[str, str, str | None], Awaitable[Sequence[str]]]
"""Existing names of a kind, `table` or `column`, that look like an unknown one with what stood before its dot."""

SAID: Final[type[Exception]] = asyncpg.PostgresError

_UNKNOWN: Final = {"42P01": "table", "42703": "column"}
_STOPPED: Final = "57014"
_LOCKED: Final = "55P03"


def timed_out(seconds: float) -> TimedOutError:
    """The budget of time is over."""
    return TimedOutError(
        f"The statement was stopped after {seconds:g} s.", "Ask for less: a narrower WHERE, an aggregate, a LIMIT."
    )


async def told(error: Any, sql: str, seconds: float, names: Names) -> CuratedError:
    """An error of the server's.

    Args:
        error: The driver's.
        sql: The caller's statement.
        seconds: The budget.
        names: Looks up what exists.
    """
    code = str(error.sqlstate)
    if code == _STOPPED:
        return timed_out(seconds)
    if code == "25006":
        return NotAllowedError(f"query only reads: {error.message}.", "execute writes, where the operator allows it.")
    if code == _LOCKED:
        return QueryError(str(error.message), code, sql=sql, hint="Somebody else holds a lock; try again later.")
    position = _position(error, sql)
    close: Sequence[str] = ()
    if code in _UNKNOWN:
        wanted, before = _name_at(sql, position)
        close = await names(_UNKNOWN[code], wanted, before) if wanted else ()
    hint = " ".join(str(part) for part in (error.detail, error.hint) if part)
    return QueryError(str(error.message), code, sql=sql, position=position, hint=hint, close=close)


def place_in_text(error: Any, before: int) -> None:
    """Make the place that an error names one in the caller's statement.

    Args:
        error: The driver's; its position, if it has one, counts from 1 in what was sent.
        before: Characters that were sent before the caller's statement.
    """
    if error.position:
        place = int(error.position) - before
        error.position = str(place) if place > 0 else None


def _position(error: Any, sql: str) -> int | None:
    if not error.position:
        return None
    position = int(error.position) - 1
    return position if 0 <= position <= len(sql) else None


def _name_at(sql: str, position: int | None) -> tuple[str, str | None]:
    """The name that stands there, and what stands before its last dot."""
    if position is None:
        return "", None
    try:
        found = split(sql).tokens
    except CuratedError:
        return "", None
    at = next((index for index, token in enumerate(found) if token.start <= position < token.end), None)
    if at is None:
        return "", None
    before: str | None = None
    while at + 2 < len(found) and found[at + 1].text == "." and found[at + 2].kind == "name":
        before = found[at].text
        at += 2
    return found[at].text, before
