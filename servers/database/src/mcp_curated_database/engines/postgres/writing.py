"""One statement that writes, in the transaction that is open on a connection of its own."""

from typing import Final

from mcp_curated_database.engines.border import Column, ExecuteRequest, ExecuteResult, QueryResult
from mcp_curated_database.engines.gathering import Gatherer
from mcp_curated_database.engines.postgres.driver import Connection
from mcp_curated_database.engines.postgres.gate import Statement
from mcp_curated_database.engines.postgres.reading import parameter_types, prepare, shown_type
from mcp_curated_database.engines.postgres.wrapping import Cells, bound, wrap
from mcp_curated_shared.errors import ConflictError, NotAllowedError

_WORDS: Final = (
    "begin start commit end abort rollback savepoint release prepare set reset discard copy listen notify unlisten load"
    " vacuum call do lock checkpoint reindex cluster alter_system security declare fetch move close execute deallocate"
)
_TRANSACTIONS: Final = frozenset(_WORDS.split())


def refuse_transactions(statement: Statement) -> None:
    """Refuse what would leave the transaction, the session or the database.

    Raises:
        NotAllowedError: It begins with such a word.
    """
    words = [token.text for token in statement.tokens[:2]]
    first = "alter_system" if words == ["alter", "system"] else words[0]
    if first in _TRANSACTIONS:
        raise NotAllowedError(
            f"execute takes one statement that changes data or tables, not {first.replace('_', ' ').upper()}.",
            "It runs in a transaction of its own.",
        )


async def run(connection: Connection, statement: Statement, request: ExecuteRequest) -> ExecuteResult:
    """Run a statement and commit, or roll back when it is only tried.

    Args:
        connection: Inside a transaction that may write; it must not be used again.
        statement: What to run.
        request: Its parameters, and whether to commit.

    Raises:
        ConflictError: It affects another number of rows than was agreed to; it was rolled back.
    """
    prepared = await prepare(connection, statement)
    columns = tuple(Column(one.name, shown_type(one.type)) for one in prepared.get_attributes())
    types = await parameter_types(connection, prepared)
    params = bound(request.params, types)
    sql = wrap(statement, (), types, request.budget.cell_characters).sql
    returned: QueryResult | None = None
    if columns:
        returned, tag = await _returning(connection, sql, columns, params, request)
    else:
        tag = await connection.execute(sql, *params)
    command, affected = _read_tag(tag)
    if not request.commit:
        await connection.execute("ROLLBACK")
    elif request.expected is not None and affected != request.expected:
        await connection.execute("ROLLBACK")
        raise ConflictError(
            f"It would affect {affected} rows now, not the {request.expected} that were agreed to; nothing was done.",
            "Look again with dry_run.",
        )
    else:
        await connection.execute("COMMIT")
    return ExecuteResult(affected, returned, command)


async def _returning(
    connection: Connection,
    sql: str,
    columns: tuple[Column, ...],
    params: list[str | None],
    request: ExecuteRequest,
) -> tuple[QueryResult, str]:
    longest = request.budget.cell_characters
    inner = Statement(sql, sql, ())
    # A data-modifying WITH stands at the top, and its rows are cast like those of a query.
    names = ", ".join(f"c{number}" for number in range(1, len(columns) + 1))
    shown = wrap(inner, columns, (), longest).sql.partition(" FROM (")[0]
    whole = f"WITH q({names}) AS (\n{sql}\n) {shown}, (SELECT count(*) FROM q) FROM q LIMIT {request.budget.rows + 1}"  # noqa: S608 - the caller's statement is what is to be run
    found = [tuple(row.values()) for row in await connection.fetch(whole, *params)]
    gatherer = Gatherer(request.budget)
    cells = Cells(columns, longest)
    for start in range(0, len(found), 500):
        if not gatherer.add([cells.row(row[:-1]) for row in found[start : start + 500]]):
            break
    gatherer.count_cut(cells.cut)
    return gatherer.result(columns), f"{sql.split(None, 1)[0].upper()} {found[0][-1] if found else 0}"


def _read_tag(tag: str) -> tuple[str, int | None]:
    """`UPDATE 3`, `INSERT 0 3`, `CREATE TABLE`."""
    words = tag.split()
    if words and words[-1].isdigit():
        return words[0], int(words[-1])
    return tag, None
