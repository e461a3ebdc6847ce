"""The rows of a query as one compact JSON object.

`{"columns": [...], "types": [...], "rows": [[...]], "row_count": 2, "truncated": false, "next": null}` takes half the
tokens of a list of objects, keeps two columns of one name apart, and NULL apart from an empty text.
"""

import json
import re
from dataclasses import dataclass
from typing import Final

from mcp_curated_database.engines.border import Budget, QueryResult
from mcp_curated_shared.security.limits import call_text
from mcp_curated_shared.security.untrusted import INVISIBLE, clean

_PAGED: Final = "SELECT * FROM (\n{sql}\n) AS page LIMIT 1000000000 OFFSET {offset}"
_SELECTS: Final = re.compile(r"(?:\s+|--[^\n]*\n|/\*.*?\*/)*(?:select|with|values|table)\b", re.IGNORECASE | re.DOTALL)
_PAGE: Final = re.compile(r"SELECT \* FROM \(\n(.*)\n\) AS page LIMIT 1000000000 OFFSET (\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller asked for, to say how it can go on.

    Attributes:
        sql: The statement.
        params: As they were given.
        source: The source's name; empty where there is only one.
        budget: What the call could take.
        most_rows: The most rows that any call may ask for.
        max_rows: How many this one asked for; None for the default.
    """

    sql: str
    params: tuple[object, ...]
    source: str
    budget: Budget
    most_rows: int
    max_rows: int | None = None


def render(result: QueryResult, asked: Asked) -> str:
    """The result as the model reads it.

    Invisible characters, which a person would not see and a model would, are written as JSON escapes and counted:
    the data stays what it is for a program and becomes visible for a reader.
    """
    facts: dict[str, object] = {
        "columns": [column.name for column in result.columns],
        "types": [column.type for column in result.columns],
    }
    rest: dict[str, object] = {"row_count": len(result.rows), "truncated": result.cut_by is not None}
    rest["next"] = following(result, asked)
    if result.cut_cells:
        rest["cut_values"] = result.cut_cells
    text = f"[{','.join(result.written)}]" if result.written else _json(result.rows)
    rows, invisible = visible(text)
    head, hidden = visible(_json(facts))
    if invisible + hidden:
        rest["invisible_characters"] = invisible + hidden
    return f'{head[:-1]},"rows":{rows},{_json(rest)[1:]}'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def visible(text: str) -> tuple[str, int]:
    """A JSON text with its invisible characters escaped, and how many `clean` would take out of it."""
    if text.isascii():
        return text, 0
    removed = clean(text).removed
    return (INVISIBLE.sub(_escape, text), removed) if removed else (text, 0)


def _escape(match: re.Match[str]) -> str:
    return "".join(json.dumps(character)[1:-1] for character in match.group())


def following(result: QueryResult, asked: Asked) -> str | None:
    """How to get the rows that were left out, as text; None when this is all."""
    if result.cut_by is None:
        return None
    shown = len(result.rows)
    why = f"The first {shown:,} rows" if result.cut_by == "rows" else f"{shown:,} rows, as many as a reply holds"
    more = ""
    if result.cut_by == "rows" and asked.budget.rows < asked.most_rows:
        more = f" max_rows may be up to {asked.most_rows:,}."
    page = _page(asked.sql, shown)
    if page is None:
        return f"{why}; there are more.{more} Narrow the query, or add LIMIT and OFFSET."
    call = call_text(
        "query", sql=page, params=list(asked.params) or None, source=asked.source or None, max_rows=asked.max_rows
    )
    return (
        f"{why}; there are more.{more} The rest: {call} if the order is fixed by ORDER BY. Faster on large tables: "
        "ORDER BY a unique column and ask WHERE it is beyond the last one shown."
    )


def _page(sql: str, shown: int) -> str | None:
    """The same statement as a page that starts behind the shown rows; None where a statement cannot be wrapped.

    The statement stands on lines of its own, so that a comment at its end hides nothing. The page itself has no end
    (SQLite wants a LIMIT before an OFFSET): it is cut like any result, and then leads on in turn.
    """
    before = _PAGE.fullmatch(sql)
    if before is not None:
        return _PAGED.format(sql=before[1], offset=int(before[2]) + shown)
    bare = sql.strip().rstrip("; \t\r\n")
    if ";" in bare or _SELECTS.match(bare) is None:
        return None
    return _PAGED.format(sql=bare, offset=shown)
