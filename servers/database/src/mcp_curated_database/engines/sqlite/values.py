"""SQLite's values as plain ones, and which storage classes a column held."""

import sqlite3
from collections.abc import Sequence
from typing import Final

from mcp_curated_database.engines.border import Cell, Column, Parameter, Row
from mcp_curated_database.engines.gathering import cut_text, plain
from mcp_curated_shared.errors import InvalidArgumentError

SqlValue = str | int | float | bytes | None

_CLASSES: Final[dict[type, str]] = {int: "integer", float: "real", str: "text", bytes: "blob"}
_NULL: Final = type(None)


class RowReader:
    """A row factory: makes plain rows on the connection's own thread, long values cut at once.

    Args:
        cell_characters: The longest value.
    """

    def __init__(self, cell_characters: int) -> None:
        self._longest = cell_characters
        self._shapes: dict[tuple[type, ...], bool] = {}
        self.cut_cells = 0

    def __call__(self, _: sqlite3.Cursor, row: tuple[SqlValue, ...]) -> Row:
        """One row as it came from SQLite."""
        shape = tuple(map(type, row))
        if shape not in self._shapes:
            self._shapes[shape] = bytes in shape
        if self._shapes[shape]:
            return tuple(self._blob(value) if isinstance(value, bytes) else self._short(value) for value in row)
        return tuple(map(self._short, row))

    def _short(self, value: SqlValue) -> Cell:
        if isinstance(value, str):
            if len(value) <= self._longest:
                return value
            self.cut_cells += 1
            return cut_text(value[: self._longest], len(value) - self._longest)
        return None if value is None or isinstance(value, bytes) else plain(value)

    def _blob(self, value: bytes) -> str:
        """A blob as SQL writes it, `X'00FF'`."""
        most = self._longest // 2
        if len(value) <= most:
            return f"X'{value.hex().upper()}'"
        self.cut_cells += 1
        return f"X'{value[:most].hex().upper()}'... [{len(value) - most:,} more bytes]"

    def columns(self, names: Sequence[str]) -> tuple[Column, ...]:
        """The columns with the storage classes that were seen in them, `integer|text` where they mix."""
        found: list[Column] = []
        for position, name in enumerate(names):
            classes = {shape[position] for shape in self._shapes}
            types = [word for kind, word in _CLASSES.items() if kind in classes]
            found.append(Column(name, "|".join(types) or ("null" if _NULL in classes else "")))
        return tuple(found)


def bound(params: Sequence[Parameter]) -> tuple[SqlValue, ...]:
    """Values as SQLite binds them; lists and objects as JSON text, which its JSON functions read.

    Raises:
        InvalidArgumentError: An integer is beyond 64 bits.
    """
    return tuple(_bound(value, number) for number, value in enumerate(params, 1))


def _bound(value: Parameter, number: int) -> SqlValue:
    if isinstance(value, (list, dict)):
        import json

        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InvalidArgumentError(f"Parameter {number} is beyond 64 bits.", "Pass it as a text.")
    return value
