"""What a database said when it refused a statement, told so that its reader can mend it."""

from collections.abc import Iterable, Sequence
from typing import Final

from mcp_curated_shared.errors import CuratedError

LONGEST_LINE: Final = 160
"""Characters of the statement's line that are shown above the caret."""


class QueryError(CuratedError):
    """The database refused a statement.

    Args:
        message: The database's words, without a secret in them.
        code: SQLSTATE (`42P01`) or SQLite's name (`SQLITE_ERROR`).
        sql: The caller's statement.
        position: Where in it, in characters from 0; None if unknown.
        hint: The database's hint or ours; empty for none.
        close: Existing names that look like the unknown one.
    """

    kind = "query_error"

    def __init__(
        self,
        message: str,
        code: str,
        *,
        sql: str = "",
        position: int | None = None,
        hint: str = "",
        close: Sequence[str] = (),
    ) -> None:
        lines = [f"{code}: {message}"]
        if position is not None and sql:
            lines += caret(sql, position)
        if hint:
            lines.append(f"Hint: {hint}")
        if close:
            lines.append(f"Close names: {', '.join(close)}")
        super().__init__("\n".join(lines))
        self.message = message
        self.code = code
        self.position = position
        self.hint = hint
        self.close = tuple(close)


def caret(sql: str, position: int) -> list[str]:
    """The line of a statement that a position lies in, and a line with a caret below the position.

    A long line is shown in part. Tabs become spaces, so that the caret stands where it should.

    Args:
        sql: The whole statement.
        position: In characters from 0; one past the end is allowed.
    """
    position = max(0, min(position, len(sql)))
    start = sql.rfind("\n", 0, position) + 1
    end = sql.find("\n", position)
    line = sql[start : len(sql) if end < 0 else end].rstrip("\r")
    column = min(position - start, len(line))
    number = sql.count("\n", 0, start) + 1
    left = max(0, min(column - LONGEST_LINE // 2, len(line) - LONGEST_LINE))
    shown = line[left : left + LONGEST_LINE].replace("\t", " ")
    prefix = f"line {number}: " + ("..." if left else "")
    suffix = "..." if left + LONGEST_LINE < len(line) else ""
    return [prefix + shown + suffix, " " * (len(prefix) + column - left) + "^"]


def close_names(name: str, choices: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """The existing names that look most like an unknown one, the nearest first; case does not count.

    Args:
        name: The unknown name.
        choices: The existing ones.
        most: How many to give.
    """
    import difflib  # only a mistake needs it

    by_form: dict[str, str] = {}
    for choice in choices:
        by_form.setdefault(choice.casefold(), choice)
    close = difflib.get_close_matches(name[:100].casefold(), by_form, n=most, cutoff=0.6)
    return tuple(by_form[form] for form in close)
