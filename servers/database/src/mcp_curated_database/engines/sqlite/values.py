"""SQLite's values as plain ones, and which storage classes a column held."""

import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from mcp_curated_database.engines.border import LARGEST_EXACT, Cell, Column, Parameter, Row
from mcp_curated_database.engines.gathering import cut_text, plain
from mcp_curated_shared.errors import InvalidArgumentError

SqlValue = str | int | float | bytes | None

_CLASSES: Final[dict[type, str]] = {int: "integer", float: "real", str: "text", bytes: "blob"}
_NULL: Final = type(None)
_LARGEST_REAL: Final = sys.float_info.max


@dataclass(frozen=True, slots=True)
class _Shape:
    """Which columns of a row must be looked at: the storage classes say it, so text and NULL cost little."""

    texts: tuple[int, ...]
    integers: tuple[int, ...]
    reals: tuple[int, ...]
    blobs: bool


class RowReader:
    """A row factory: makes plain rows on the connection's own thread, long values cut at once.

    Args:
        cell_characters: The longest value.
    """

    def __init__(self, cell_characters: int) -> None:
        self._longest = cell_characters
        self._shapes: dict[tuple[type, ...], _Shape] = {}
        self.cut_cells = 0

    def __call__(self, _: sqlite3.Cursor, row: tuple[SqlValue, ...]) -> Row:
        """One row as it came from SQLite."""
        kinds = tuple(map(type, row))
        shape = self._shapes.get(kinds)
        if shape is None:
            shape = self._shapes[kinds] = _shape(kinds)
        return cast("Row", row) if self._is_plain(row, shape) else tuple(map(self._plain, row))

    def _is_plain(self, row: tuple[Any, ...], shape: _Shape) -> bool:
        if shape.blobs:
            return False
        for position in shape.texts:
            if len(row[position]) > self._longest:
                return False
        for position in shape.integers:
            if not -LARGEST_EXACT <= row[position] <= LARGEST_EXACT:
                return False
        return all(-_LARGEST_REAL <= row[position] <= _LARGEST_REAL for position in shape.reals)

    def _plain(self, value: SqlValue) -> Cell:
        if isinstance(value, bytes):
            return self._blob(value)
        if isinstance(value, str):
            if len(value) <= self._longest:
                return value
            self.cut_cells += 1
            return cut_text(value[: self._longest], len(value) - self._longest)
        return plain(value)

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


def _shape(kinds: tuple[type, ...]) -> _Shape:
    def places(kind: type) -> tuple[int, ...]:
        return tuple(position for position, one in enumerate(kinds) if one is kind)

    return _Shape(places(str), places(int), places(float), bytes in kinds)


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
