"""Rows collected up to a budget: how many, how many bytes, how long each value; the same for every engine."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Final, Literal, cast

from mcp_curated_database.engines.border import LARGEST_EXACT, Budget, Cell, Column, QueryResult, Row

_BATCH: Final = 2_000
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))
_NOTE: Final = 60
"""Characters that a value may be too long by: the note of one that the engine has cut itself."""


class Gatherer:
    """Takes rows of plain values in batches and says when it has enough.

    Args:
        budget: The most it keeps. One row more is taken to know whether there are more.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._rows: list[Row] = []
        self._written: list[str] = []
        self._bytes = 0
        self._cut_by: Literal["rows", "bytes"] | None = None
        self._cut_cells = 0

    @property
    def wanted(self) -> int:
        """How many rows to fetch next; 0 when it has enough."""
        if self._cut_by is not None:
            return 0
        return min(_BATCH, self._budget.rows - len(self._rows) + 1)

    def add(self, rows: Iterable[Sequence[Cell]], *, shortened: bool = False) -> bool:
        """Take the rows that were fetched.

        Args:
            rows: Values as `plain` and the engine's own rules made them.
            shortened: Whether the engine has cut long values already; then the rows are tuples, and are not looked at.

        Returns:
            Whether more is wanted.
        """
        batch = list(cast("Iterable[Row]", rows)) if shortened else [self._shortened(row) for row in rows]
        room = self._budget.rows - len(self._rows)
        if len(batch) > room:
            self._cut_by = "rows"
            del batch[room:]
        text, size = _written(batch)
        if self._bytes + size <= self._budget.bytes:
            self._keep(batch, text, size)
            return self.wanted > 0
        self._add_singly(batch)
        return False

    def _add_singly(self, batch: list[Row]) -> None:
        if batch and not self._rows and written_bytes(batch[:1]) > self._budget.bytes:
            batch = [self._squeezed(batch[0]), *batch[1:]]
        for row in batch:
            text, size = _written([row])
            if self._bytes + size > self._budget.bytes:
                break
            self._keep([row], text, size)
        self._cut_by = "bytes"

    def _keep(self, rows: list[Row], text: str, size: int) -> None:
        self._rows += rows
        self._bytes += size
        if text:
            self._written.append(text)

    def _squeezed(self, row: Row) -> Row:
        """The first row, so wide that it alone breaks the budget: a part of it says more than no row.

        A character takes at most six bytes in JSON, as the escape of a control character does.
        """
        longest = max(10, self._budget.bytes // (8 * len(row)))
        return tuple(self._cut(cell, longest) if isinstance(cell, str) else cell for cell in row)

    def _shortened(self, row: Sequence[Cell]) -> Row:
        longest = self._budget.cell_characters
        if not any(isinstance(cell, str) and len(cell) > longest + _NOTE for cell in row):
            return tuple(row)
        return tuple(self._cut(cell, longest) if isinstance(cell, str) else cell for cell in row)

    def _cut(self, text: str, longest: int) -> str:
        if len(text) <= longest:
            return text
        self._cut_cells += 1
        return cut_text(text[:longest], len(text) - longest)

    def count_cut(self, cells: int = 1) -> None:
        """Count values that the engine itself shortened before it gave them, with `cut_text`."""
        self._cut_cells += cells

    def result(self, columns: Sequence[Column]) -> QueryResult:
        """What was gathered."""
        return QueryResult(tuple(columns), tuple(self._rows), self._cut_by, self._cut_cells, tuple(self._written))


def cut_text(beginning: str, missing: int) -> str:
    """The beginning of a value that is too long, and how much is missing."""
    return f"{beginning}... [{missing:,} more characters]"


def written_bytes(rows: Sequence[Sequence[Cell]]) -> int:
    """How many bytes rows take as compact JSON in UTF-8, with one more a row for what separates them."""
    return _written(rows)[1]


def _written(rows: Sequence[Sequence[Cell]]) -> tuple[str, int]:
    """Rows as compact JSON without the brackets of the list, and the bytes they take with what separates them."""
    if not rows:
        return "", 0
    text = _ENCODER.encode(rows)[1:-1]
    return text, (len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))) + 1


def plain(value: Cell) -> Cell:
    """A number that JSON can carry exactly as it is, else its text; everything else unchanged."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if -LARGEST_EXACT <= value <= LARGEST_EXACT else str(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value
