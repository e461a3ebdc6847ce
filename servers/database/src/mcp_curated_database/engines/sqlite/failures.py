"""What went wrong in SQLite, told with its place and what to do."""

import re
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from mcp_curated_database.engines.addresses import SqliteFile
from mcp_curated_database.engines.errors import QueryError, close_names
from mcp_curated_database.engines.sqlite.guarding import LARGEST_VALUE, Guard
from mcp_curated_database.engines.sqlite.tokens import position_of_name, second_statement, tokens
from mcp_curated_shared.errors import (
    CuratedError,
    InvalidArgumentError,
    NotAllowedError,
    TimedOutError,
    TooLargeError,
    UnavailableError,
)

FAILURES: Final = (sqlite3.Error, sqlite3.Warning, MemoryError, ValueError, OverflowError)
"""What `sqlite3` raises for what a caller can send: ValueError for a NUL or a lone surrogate in the text."""

Names = Callable[[str], Awaitable[Sequence[str]]]
"""`await names(kind)`: every name of a kind, `table` or `column`."""

_LONGEST_PROBED: Final = 20_000
_MOST_PROBES: Final = 40

_NEAR: Final = re.compile(r'near "(.*)": syntax error', re.DOTALL)
_UNRECOGNIZED: Final = re.compile(r'unrecognized token: "(.*)"', re.DOTALL)
_UNKNOWN: Final = (
    ("column", re.compile(r"no such column: (.+?)(?: - should this be .*)?")),
    ("column", re.compile(r"table .+ has no column named (.+)")),
    ("column", re.compile(r"cannot join using column (.+?) - .*")),
    ("table", re.compile(r"no such table(?: column)?: (.+)")),
    ("", re.compile(r"no such (?:function|module|collation sequence|index|trigger|view|window): (.+)")),
    ("", re.compile(r"ambiguous column name: (.+)")),
    ("", re.compile(r"misuse of (?:aggregate|window)(?: function)?:? (.+?)(?:\(\))?")),
    ("", re.compile(r"wrong number of arguments to function (.+?)(?:\(\))?")),
)


@dataclass(frozen=True, slots=True)
class Told:
    """What a failure is told from.

    Attributes:
        file: The database.
        guard: Of the connection.
        sql: The caller's statement; empty for one of this server's own.
        seconds: The call's time.
        busy_seconds: How long a lock was waited for.
    """

    file: SqliteFile
    guard: Guard
    sql: str
    seconds: float
    busy_seconds: float


async def told(error: BaseException, about: Told, names: Names) -> CuratedError:
    """The failure for the caller.

    Args:
        error: What `sqlite3` raised.
        about: The circumstances.
        names: Gives existing names, for unknown ones.
    """
    refused = about.guard.rules.refused
    if refused:
        return _refused(refused, about.guard.rules.read_only)
    if isinstance(error, MemoryError):
        return TooLargeError("SQLite needed more memory than it may have for this.", "Ask for less of it at once.")
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    by_code = _by_code(code, about)
    if by_code is not None:
        return by_code
    if not isinstance(error, sqlite3.OperationalError) and not code:
        return _from_python(error, about.sql)
    return await _from_sqlite(str(error), getattr(error, "sqlite_errorname", "SQLITE_ERROR"), about.sql, names)


def timed_out(seconds: float) -> TimedOutError:
    """The failure of a call whose time is over."""
    return TimedOutError(
        f"The statement took longer than its {seconds:g} s and was stopped.",
        'Narrow it with WHERE or LIMIT; explain="plan" shows what it scans.',
    )


def _refused(what: str, read_only: bool) -> NotAllowedError:
    if read_only:
        return NotAllowedError(f"Refused: {what}. This database is only read here.", "Write a SELECT instead.")
    return NotAllowedError(f"Refused: {what}. It reaches beyond this database or its transaction.")


def _by_code(code: int, about: Told) -> CuratedError | None:
    if code == sqlite3.SQLITE_INTERRUPT:
        return timed_out(about.seconds) if about.guard.expired else UnavailableError("The statement was stopped.")
    if code == sqlite3.SQLITE_TOOBIG:
        return TooLargeError(
            f"A text or blob is larger than {LARGEST_VALUE // (1 << 20)} MiB, the most that is read or made.",
            "Leave its column out.",
        )
    return _of_file(code, about)


def _of_file(code: int, about: Told) -> CuratedError | None:
    name = about.file.name
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return UnavailableError(
            f"Another program holds the lock on {name}; it was waited for {about.busy_seconds:g} s.",
            "Try again. If it stays locked, ask the operator which program writes to it.",
        )
    if code in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY} and about.guard.rules.read_only:
        return UnavailableError(
            f"SQLite cannot open {name}, or the -wal and -shm files beside it.",
            "If it lies in a folder that cannot be written and nobody writes to it, the operator can open it with the"
            " immutable option: sqlite:///PATH?immutable=1.",
        )
    if code == sqlite3.SQLITE_NOTADB:
        return UnavailableError(f"{name} is no SQLite database, or it is encrypted.", "Ask the operator.")
    if code in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM}:
        return UnavailableError(f"{name} cannot be written by this server's user.", "Ask the operator.")
    return None


def _from_python(error: BaseException, sql: str) -> CuratedError:
    message = str(error)
    second = second_statement(sql)
    if "one statement" in message:
        return QueryError(
            "one call runs one statement", "SQLITE_MISUSE", sql=sql, position=second, hint="Send the second by itself."
        )
    if isinstance(error, UnicodeEncodeError):
        return InvalidArgumentError("The statement or a parameter holds half of a surrogate pair, which is no text.")
    if "null character" in message:
        return InvalidArgumentError("The statement holds a NUL character.", "Bind it as a parameter.")
    return QueryError(message.rstrip("."), "SQLITE_MISUSE", hint=_binding_hint(message))


def _binding_hint(message: str) -> str:
    if "bindings supplied" in message or "Binding" in message:
        return "params holds one value for each ? of the statement, in order; ?1 can be used several times."
    return ""


async def _from_sqlite(message: str, name: str, sql: str, names: Names) -> QueryError:
    for kind, pattern in _UNKNOWN:
        match = pattern.fullmatch(message)
        if match is None:
            continue
        unknown = match[1]
        close: Sequence[str] = ()
        if kind:
            bare = [part.text for part in tokens(unknown) if part.kind == "name"]
            close = close_names(bare[-1] if bare else unknown, await names(kind))
        return QueryError(message, name, sql=sql, position=position_of_name(sql, unknown), close=close)
    return QueryError(message, name, sql=sql, position=_syntax_position(message, sql))


def _syntax_position(message: str, sql: str) -> int | None:
    if message == "incomplete input":
        return len(sql.rstrip())
    match = _UNRECOGNIZED.fullmatch(message)
    if match is not None:
        found = sql.find(match[1])
        return None if found < 0 else found
    match = _NEAR.fullmatch(message)
    return None if match is None else _probe(message, match[1], sql)


def _probe(message: str, word: str, sql: str) -> int | None:
    """The first place of a word up to which the statement fails as the whole does.

    Python does not hand on sqlite3_error_offset(). The beginnings are prepared on an empty database in memory, where
    nothing is allowed: a syntax error comes before anything else is looked at.
    """
    if not word or len(sql) > _LONGEST_PROBED:
        return None
    empty = sqlite3.connect(":memory:")
    try:
        empty.set_authorizer(_nothing)
        start = sql.find(word)
        for _ in range(_MOST_PROBES):
            if start < 0:
                return None
            if _failure_of(empty, sql[: start + len(word)]) == message:
                return start
            start = sql.find(word, start + 1)
    finally:
        empty.close()
    return None


def _nothing(*_: object) -> int:
    return sqlite3.SQLITE_DENY


def _failure_of(connection: sqlite3.Connection, sql: str) -> str:
    try:
        connection.execute(f"EXPLAIN {sql}").close()
    except FAILURES as error:
        return str(error)
    return ""
