"""The statement that is really sent: the caller's as a subquery, each column in a form that travels exactly.

Small numbers and booleans travel as they are. Everything else is cast to text by the server, so that what arrives
equals `expr::text` (asyncpg's own decoding turns infinity into the year 9999 and a month into 30 days), and is cut
there, so that one cell of 200 MB never leaves the server.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcp_curated_database.engines.border import Cell, Column, Parameter
from mcp_curated_database.engines.gathering import cut_text, plain
from mcp_curated_database.engines.postgres.gate import Statement
from mcp_curated_shared.errors import InvalidArgumentError

_NATIVE: Final = frozenset(("bool", "int2", "int4", "int8", "oid", "float8"))
_SHORT: Final = frozenset(
    (
        *("float4", "numeric", "money", "date", "time", "timetz", "timestamp", "timestamptz", "interval", "uuid"),
        *("inet", "cidr", "macaddr", "macaddr8", "name", "char", "void", "xid", "xid8", "cid", "tid", "pg_lsn"),
        *(
            "regclass",
            "regproc",
            "regprocedure",
            "regtype",
            "regrole",
            "regnamespace",
            "point",
            "box",
            "circle",
            "lseg",
        ),
    )
)
"""Their texts have a bound (of a numeric 147 kB), so that they need not be cut by the server."""

_CUT: Final = "\x01"
"""Behind the beginning of a value that was cut, before the length of the whole."""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """What is sent.

    Attributes:
        sql: The caller's statement as a subquery.
        columns: Its columns.
        shift: Characters before the caller's text.
    """

    sql: str
    columns: tuple[Column, ...]
    shift: int


def wrap(statement: Statement, columns: Sequence[Column], parameters: Sequence[str], cell_characters: int) -> Wrapped:
    """Put a statement into one that casts and cuts its columns.

    Args:
        statement: One that reads; PostgreSQL has parsed it by itself, so that its brackets are its own.
        columns: Of it.
        parameters: The type of each parameter, as SQL writes it.
        cell_characters: Longest text of a value.
    """
    body = _with_texts(statement, parameters)
    if not columns:
        return Wrapped(body, (), 0)
    names = [f"c{number}" for number in range(1, len(columns) + 1)]
    shown = ", ".join(
        _expression(name, column.type, cell_characters) for name, column in zip(names, columns, strict=True)
    )
    # OFFSET 0 keeps the planner from putting the caller's expressions into ours, where they would run several times.
    head = f"SELECT {shown} FROM (SELECT * FROM (\n"  # noqa: S608 - the caller's statement is what is to be run
    return Wrapped(f"{head}{body}\n) AS p OFFSET 0) AS q({', '.join(names)})", tuple(columns), len(head))


def _expression(name: str, kind: str, longest: int) -> str:
    if kind in _NATIVE:
        return name
    text = f"{name}::text"
    if kind in _SHORT:
        return text
    # Bytes are counted first: that is one look at the value's head, also where it is stored out of line.
    cut = f"left({text}, {longest}) || chr(1) || length({text})"
    return f"CASE WHEN octet_length({text}) > {longest} THEN {cut} ELSE {text} END"


def row_bytes(columns: Sequence[Column], cell_characters: int) -> int:
    """About the most that a row may take on its way here."""
    return sum(50 if column.type in _NATIVE or column.type in _SHORT else cell_characters for column in columns)


def _with_texts(statement: Statement, parameters: Sequence[str]) -> str:
    """The statement with each parameter sent as text and cast by the server, so that its own rules of input hold."""
    if not parameters:
        return statement.body
    pieces: list[str] = []
    position = 0
    for token in statement.tokens:
        if token.kind == "parameter":
            number = int(token.text[1:])
            pieces += [statement.body[position : token.start], f"CAST({token.text}::text AS {parameters[number - 1]})"]
            position = token.end
    return "".join(pieces) + statement.body[position:]


class Cells:
    """Makes the values of rows what leaves, and counts those that were cut.

    Args:
        columns: Of the statement.
        longest: As given to `wrap`.
    """

    def __init__(self, columns: Sequence[Column], longest: int) -> None:
        self.cut = 0
        self._longest = longest
        self._makers = tuple(self._maker(column.type) for column in columns)
        self._plain = all(maker is None for maker in self._makers)

    def _maker(self, kind: str) -> Callable[[Any], Cell] | None:
        if kind == "float4":
            return _float
        if kind in ("int8", "float8", "oid"):
            return plain
        return None if kind in _NATIVE or kind in _SHORT else self._shortened

    def row(self, values: Iterable[Any]) -> tuple[Cell, ...]:
        """One row as asyncpg gave it."""
        if self._plain:
            return tuple(values)
        pairs = zip(self._makers, values, strict=True)
        return tuple(value if maker is None or value is None else maker(value) for maker, value in pairs)

    def _shortened(self, value: str) -> str:
        if _CUT not in value:
            return value
        text, mark, length = value.rpartition(_CUT)
        # Only what has more bytes than wanted comes with its length; the mark of any other is its own.
        if not mark or not length.isdecimal() or len(text.encode("utf-8", "surrogatepass")) < self._longest:
            return value
        missing = int(length) - len(text)
        if missing <= 0:
            return text
        self.cut += 1
        return cut_text(text, missing)


def _float(text: str) -> Cell:
    return plain(float(text))


def bound(params: Sequence[Parameter], types: Sequence[str]) -> list[str | None]:
    """Parameters as texts that the server's own input functions read.

    Args:
        params: As the caller gave them.
        types: The types that the statement wants.

    Raises:
        InvalidArgumentError: Too many or too few.
    """
    if len(params) != len(types):
        wanted = f"{len(types)} parameter{'' if len(types) == 1 else 's'}"
        kinds = f" ({', '.join(f'${index} {kind}' for index, kind in enumerate(types, 1))})" if types else ""
        raise InvalidArgumentError(f"The statement wants {wanted}{kinds}; params has {len(params)}.")
    return [_text(value, kind) for value, kind in zip(params, types, strict=True)]


def _text(value: Parameter, kind: str) -> str | None:
    if value is None:
        return None
    if kind in ("json", "jsonb"):
        return value if isinstance(value, str) and _is_json(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return _array(value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else repr(value) if isinstance(value, float) else str(value)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _array(values: Sequence[Parameter]) -> str:
    """An array literal (manual, 8.15.2)."""
    return "{" + ",".join(_element(value) for value in values) + "}"


def _element(value: Parameter) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return _array(value)
    text = _text(value, "") or ""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
