"""One statement that writes, in a transaction of its own, on a connection of its own."""

from collections.abc import Sequence

from mcp_curated_database.engines.border import ExecuteRequest, ExecuteResult
from mcp_curated_database.engines.sqlite.readers import Connection
from mcp_curated_database.engines.sqlite.values import SqlValue
from mcp_curated_shared.errors import ConflictError


async def run(connection: Connection, request: ExecuteRequest, params: Sequence[SqlValue]) -> ExecuteResult:
    """Run a statement and commit, or roll back when it is only tried.

    Args:
        connection: A fresh writer; it must not be used again.
        request: What to do.
        params: Its parameters as SQLite binds them.

    Raises:
        ConflictError: It affects another number of rows than was agreed to; it was rolled back.
        sqlite3.Error: What SQLite said; nothing is committed.
    """
    await _own(connection, "BEGIN IMMEDIATE")
    returned = await connection.gather(request.sql, params, request.budget)
    command = connection.guard.rules.command
    affected = await _affected(connection) if command in {"INSERT", "UPDATE", "DELETE"} else None
    if not request.commit:
        await _own(connection, "ROLLBACK")
    elif request.expected is not None and affected != request.expected:
        await _own(connection, "ROLLBACK")
        raise ConflictError(
            f"It would affect {affected} rows now, not the {request.expected} that were agreed to; nothing was done.",
            "Look again with dry_run.",
        )
    else:
        await _own(connection, "COMMIT")
    return ExecuteResult(affected, returned if returned.columns else None, command)


async def _affected(connection: Connection) -> int:
    """Rows that the statement itself touched; what triggers did besides is not counted (sqlite3_changes)."""
    ((count,),) = await connection.rows("SELECT changes()")
    return count if isinstance(count, int) else 0


async def _own(connection: Connection, sql: str) -> None:
    rules = connection.guard.rules
    rules.own = True
    try:
        await connection.rows(sql)
    finally:
        rules.own = False
