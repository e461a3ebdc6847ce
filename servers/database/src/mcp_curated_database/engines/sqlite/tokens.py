"""The words of a statement as SQLite reads them, to find a place in it; never to decide what may run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"(?P<space>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<text>'(?:[^']|'')*')"
    r'|(?P<name>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[^\W\d][\w$]*)'
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<other>.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, and where it begins in the statement.

    Attributes:
        kind: `text`, `name`, `number` or `other`.
        text: As it is written; a name without its quotes.
        position: In characters from 0.
    """

    kind: str
    text: str
    position: int


def tokens(sql: str) -> Iterator[Token]:
    """Every word of a statement, without white space and comments."""
    for match in _TOKEN.finditer(sql):
        kind = match.lastgroup or "other"
        if kind == "space":
            continue
        text = match.group()
        if kind == "name" and text[0] in '"`[':
            mark = text[-1]
            text = text[1:-1] if text[0] == "[" else text[1:-1].replace(mark * 2, mark)
        yield Token(kind, text, match.start())


def position_of_name(sql: str, name: str) -> int | None:
    """Where a name is first used; of `t.x` it is the `x` behind a `t`. Case does not count."""
    parts = [part.text.casefold() for part in tokens(name) if part.kind == "name"]
    found = [token for token in tokens(sql) if token.kind == "name" or token.text == "."]
    for index, token in enumerate(found):
        before = [
            one.text.casefold() for one in found[max(0, index - 2 * len(parts) + 2) : index + 1] if one.text != "."
        ]
        if parts and before[-len(parts) :] == parts:
            return token.position
    return None


def second_statement(sql: str) -> int | None:
    """Where something other than white space and comments follows a `;`."""
    ended = False
    for token in tokens(sql):
        if token.text == ";" and token.kind == "other":
            ended = True
        elif ended:
            return token.position
    return None
