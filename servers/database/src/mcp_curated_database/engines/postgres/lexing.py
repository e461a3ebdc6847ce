"""PostgreSQL's tokens, as its own scanner splits a statement (src/backend/parser/scan.l, versions 14 to 18).

Only what decides where a token ends and which name it is: nested comments, `E''` escapes, `U&""` and `U&''` with any
escape character, dollar quotes with any tag, folding of case and the length of names. `standard_conforming_strings`
must be on, as it is by default and as every call of this engine sets it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["name", "string", "parameter", "number", "operator", "mark"]

LONGEST_NAME: Final = 63
"""Bytes of a name that count; the rest is cut off (NAMEDATALEN - 1)."""

_NAME: Final = re.compile(r"[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*")
_BLANK: Final = re.compile(r"[ \t\n\r\f\v]+|--[^\n\r]*")
_NUMBER: Final = re.compile(
    r"0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+"
    r"|(?:[0-9](?:_?[0-9])*(?:\.(?!\.)(?:[0-9](?:_?[0-9])*)?)?|\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9](?:_?[0-9])*)?"
)
_PARAMETER: Final = re.compile(r"\$[0-9]+")
_OPERATOR: Final = re.compile(r"[~!@#^&|`?+\-*/%<>=]+")
_TAG: Final = re.compile(r"\$(?:[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*)?\$")
_PLAIN_STRING: Final = re.compile(r"'(?:[^']|'')*'")
_ESCAPE_STRING: Final = re.compile(r"'(?:[^'\\]|\\.|'')*'", re.DOTALL)
_QUOTED_NAME: Final = re.compile(r'"(?:[^"]|"")*"')
# Between two segments of one string: a line break must be there, block comments must not.
_CONTINUED: Final = re.compile(r"(?:[ \t\f\v]|--[^\n\r]*+)*+[\n\r](?:[ \t\n\r\f\v]|--[^\n\r]*+[\n\r])*+(?=')")
_COMMENT_MARK: Final = re.compile(r"/\*|\*/")
_UPPER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


class LexingError(ValueError):
    """A quotation or comment does not end, or an escape is malformed.

    Args:
        position: Where it begins, in characters from 0.
        problem: What is wrong, for people.
    """

    def __init__(self, position: int, problem: str) -> None:
        super().__init__(problem)
        self.position = position
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes:
        kind: `mark` is any single character that is none of the others.
        text: A name folded and unescaped, as the catalog would have it; of anything else the text as written.
        start, end: `sql[start:end]` is it, in characters.
    """

    kind: Kind
    text: str
    start: int
    end: int
    quoted: bool = False


def tokens(sql: str) -> Iterator[Token]:
    """The tokens of a statement, without blanks and comments.

    Raises:
        LexingError: It is no statement that PostgreSQL could read.
    """
    position = 0
    while True:
        position = _skip(sql, position)
        if position >= len(sql):
            return
        token = _next(sql, position)
        yield token
        position = token.end


def _skip(sql: str, position: int) -> int:
    while True:
        blank = _BLANK.match(sql, position)
        if blank is not None:
            position = blank.end()
        elif sql.startswith("/*", position):
            position = _comment_end(sql, position)
        else:
            return position


def _comment_end(sql: str, start: int) -> int:
    depth = 0
    for mark in _COMMENT_MARK.finditer(sql, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    raise LexingError(start, "a comment does not end")


def _next(sql: str, start: int) -> Token:
    character = sql[start]
    name = _NAME.match(sql, start)
    if name is not None:
        return _word(sql, name)
    if character in _BEGINNINGS:
        return _BEGINNINGS[character](sql, start)
    operator = _OPERATOR.match(sql, start)
    if operator is not None:
        return _operator(operator[0], start)
    return _number(sql, start)


def _number(sql: str, start: int) -> Token:
    number = _NUMBER.match(sql, start)
    if number is None:
        return Token("mark", sql[start], start, start + 1)
    return Token("number", number[0], start, number.end())


def _word(sql: str, name: re.Match[str]) -> Token:
    start, text, behind = name.start(), name[0], sql[name.end() : name.end() + 1]
    if behind == "'" and text in ("e", "E", "b", "B", "x", "X", "n", "N"):
        return _string(sql, start, name.end(), _ESCAPE_STRING if text in "eE" else _PLAIN_STRING)
    if text in ("u", "U") and sql.startswith(("&'", '&"'), name.end()):
        return _unicode(sql, start)
    return Token("name", _cut(text.translate(_UPPER)), start, name.end())


def _cut(name: str) -> str:
    if len(name) * 4 <= LONGEST_NAME:
        return name
    return name.encode("utf-8", "replace")[:LONGEST_NAME].decode("utf-8", "ignore")


def _string(sql: str, start: int, quote: int, form: re.Pattern[str]) -> Token:
    end = _string_end(sql, start, quote, form)
    return Token("string", sql[start:end], start, end)


def _string_end(sql: str, start: int, quote: int, form: re.Pattern[str]) -> int:
    """Where a string ends, with the segments that continue it behind a line break (manual, 4.1.2.1).

    They are read as the first one is: behind `E'a'` and a line break a backslash still keeps a quote from ending it.
    """
    while True:
        match = form.match(sql, quote)
        if match is None:
            raise LexingError(start, "a string does not end")
        gap = _CONTINUED.match(sql, match.end())
        if gap is None:
            return match.end()
        quote = gap.end()


def _quoted_name(sql: str, start: int) -> Token:
    match = _QUOTED_NAME.match(sql, start)
    if match is None:
        raise LexingError(start, "a quoted name does not end")
    return Token("name", _cut(match[0][1:-1].replace('""', '"')), start, match.end(), quoted=True)


def _unicode(sql: str, start: int) -> Token:
    """`U&"..."` or `U&'...'`, with the escape character that a `UESCAPE` behind it names."""
    if sql[start + 2] == "'":
        return _string(sql, start, start + 2, _PLAIN_STRING)
    match = _QUOTED_NAME.match(sql, start + 2)
    if match is None:
        raise LexingError(start, "a quoted name does not end")
    escape, end = _escape_character(sql, match.end())
    return Token("name", _cut(_unescaped(match[0][1:-1].replace('""', '"'), escape, start)), start, end, quoted=True)


def _escape_character(sql: str, position: int) -> tuple[str, int]:
    after = _skip(sql, position)
    word = _NAME.match(sql, after)
    if word is None or word[0].translate(_UPPER) != "uescape":
        return "\\", position
    quote = _skip(sql, word.end())
    string = _PLAIN_STRING.match(sql, quote)
    if string is None or len(string[0]) != 3:
        raise LexingError(after, "UESCAPE must be followed by one character in quotes")
    return string[0][1], string.end()


def _unescaped(text: str, escape: str, start: int) -> str:
    """Hexadecimal escapes put in place; a pair of surrogates is one character."""
    mark = re.escape(escape)
    form = re.compile(rf"{mark}(?:({mark})|\+([0-9a-fA-F]{{6}})|([0-9a-fA-F]{{4}})|(.?))", re.DOTALL)

    def put(match: re.Match[str]) -> str:
        if match[1] is not None:
            return escape
        digits = match[2] or match[3]
        if digits is None or int(digits, 16) > 0x10FFFF:
            raise LexingError(start, "a Unicode escape is malformed")
        return chr(int(digits, 16))

    return form.sub(put, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _dollar(sql: str, start: int) -> Token:
    parameter = _PARAMETER.match(sql, start)
    if parameter is not None:
        return Token("parameter", parameter[0], start, parameter.end())
    tag = _TAG.match(sql, start)
    if tag is None:
        return Token("mark", "$", start, start + 1)
    end = sql.find(tag[0], tag.end())
    if end < 0:
        raise LexingError(start, "a dollar-quoted string does not end")
    return Token("string", sql[start : end + len(tag[0])], start, end + len(tag[0]))


def _operator(run: str, start: int) -> Token:
    """A run of operator characters ends where a comment begins; several signs at the end may not belong to it."""
    ends = [index for index in (run.find("--"), run.find("/*")) if index >= 0]
    text = run[: min(ends)] if ends else run
    # A trailing + or - is a sign, unless the operator has a character that makes it one (manual, 4.1.3).
    while len(text) > 1 and text[-1] in "+-" and not any(character in "~!@#%^&|`?" for character in text[:-1]):
        text = text[:-1]
    return Token("operator", text, start, start + len(text))


def _plain_string(sql: str, start: int) -> Token:
    return _string(sql, start, start, _PLAIN_STRING)


_BEGINNINGS: Final[dict[str, Callable[[str, int], Token]]] = {
    "'": _plain_string,
    '"': _quoted_name,
    "$": _dollar,
}
