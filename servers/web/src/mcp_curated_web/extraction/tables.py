"""Tables: those with data keep their rows, those that only place things on the page are passed through."""

from collections.abc import Iterator
from typing import Final

from mcp_curated_web.extraction.tree import Element

MOST_COLUMNS: Final = 60
_LAYOUT_ROLES: Final = frozenset({"presentation", "none"})
_LONG_CELL: Final = 1_500


def is_data_table(table: Element) -> bool:
    """Whether it has at least two columns and cells that fit on a line."""
    if table.get("role") in _LAYOUT_ROLES:
        return False
    if any(one.tag == "table" and one is not table for one in table.walk()):
        return False
    rows = rows_of(table)
    widest = max(map(len, rows), default=0)
    if not 2 <= widest <= MOST_COLUMNS:
        return False
    has_header = any(cell.tag == "th" for row in rows for cell in row)
    cells = [cell for row in rows for cell in row]
    if not has_header and any(one.tag in ("h1", "h2", "h3", "ul", "ol", "pre") for c in cells for one in c.walk()):
        return False
    return not any(cell.length > _LONG_CELL for cell in cells)


def rows_of(table: Element) -> list[list[Element]]:
    """The cells of each row that has any text."""
    return [row for row in _rows(table) if any(cell.length or cell.has_block for cell in row)]


def _rows(table: Element) -> Iterator[list[Element]]:
    for child in table.elements():
        if child.tag == "tr":
            yield _cells(child)
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (_cells(row) for row in child.elements() if row.tag == "tr")


def _cells(row: Element) -> list[Element]:
    return [cell for cell in row.elements() if cell.tag in ("td", "th")]
