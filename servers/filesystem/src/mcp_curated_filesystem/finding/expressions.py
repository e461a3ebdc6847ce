r"""What a content search looks for: a text as it is, or a regular expression that stays within a line.

A regular expression runs over many lines at once, since a call for each line would cost more than the search. It is
first rewritten so that nothing in it matches a line end unless it says so (`[^x]` becomes `[^\nx]`, `\s` becomes
`[^\S\n]`), which gives the matches of a line-by-line search, and keeps `[^"]*` from running through the whole file. A
pattern that names `\n` itself matches across lines.
"""

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_curated_filesystem.finding.linear import linear_search
from mcp_curated_filesystem.finding.required import required_text, set_end
from mcp_curated_shared.errors import InvalidArgumentError

if TYPE_CHECKING:
    from regex import Pattern

Span = tuple[int, int]
"""Where a match starts and ends."""

_MAXIMUM_LENGTH = 10_000
# For one call of the engine; a pattern that needs more on one block is too slow for it. Nothing else can stop the
# engine, and a search must end within 100 ms of its cancellation. The package counts processor seconds of the whole
# process, which on a busy machine are several seconds of the clock: one more reason for not more.
_SPEND_AT_MOST = 0.08
_NAMES_AND_ESCAPES = re.compile(
    r"\\[pPN](?:\{[^}]*\}|.)|\\g<[^>]*>|\\.|\(\?P?[<'][^>']*[>']|\[:\^?\w+:\]|\(\?[\w-]+[:)]", re.S
)
_LITERAL_LINE_END = re.compile(r"(?<!\\)(?:\\\\)*\\(?:n|R|x0[aA]|u000[aA])|\n")
_WITHIN_LINE = {"s": r"[^\S\n]", "D": r"[^\d\n]", "W": r"[^\w\n]", "A": "^", "Z": "$", "z": "$"}


class TooSlowError(Exception):
    """The expression needed more than its time on one piece of text."""


@dataclass(frozen=True, slots=True)
class Expression:
    """What to look for, ready to run.

    Attributes:
        find: Gives the first match in a text at or after a position, spending at most so many seconds; raises
            `TooSlowError`.
        may_be_in: Whether a file that is UTF-8, or any other superset of ASCII, can hold a match: a quick look at its
            bytes that may say yes for nothing, never no.
        ignore_case: Whether letters match in either case.
    """

    find: Callable[[str, int, float], Span | None]
    may_be_in: Callable[[bytes], bool]
    ignore_case: bool


def compile_expression(pattern: str, *, regex: bool, ignore_case: bool | None) -> Expression:
    """Make what a search looks for.

    Args:
        pattern: The text or the regular expression.
        regex: Which of the two it is.
        ignore_case: Whether letters match in either case; None: unless the pattern has an upper-case letter.

    Raises:
        InvalidArgumentError: The pattern is empty, too long, or no regular expression.
    """
    if not pattern:
        raise InvalidArgumentError("The pattern is empty.", "Give the text to look for.")
    if len(pattern) > _MAXIMUM_LENGTH:
        raise InvalidArgumentError(f"The pattern is longer than {_MAXIMUM_LENGTH:,} characters.")
    if ignore_case is None:
        letters = _NAMES_AND_ESCAPES.sub("", pattern) if regex else pattern
        ignore_case = not any(character.isupper() for character in letters)
    if regex:
        return _regular(pattern, ignore_case)
    text = pattern.replace("\r\n", "\n")
    return _literal_either_case(text) if ignore_case else _literal(text)


def _literal(text: str) -> Expression:
    size = len(text)
    needle = _utf8(text)
    plain = text.isascii()
    several_lines = "\n" in text

    def find(where: str, position: int, _: float) -> Span | None:
        at = where.find(text, position)
        return None if at < 0 else (at, at + size)

    def may_be_in(data: bytes) -> bool:
        return needle in data or not (plain or _is_utf8(data)) or (several_lines and b"\r" in data)

    return Expression(find, may_be_in, False)


def _literal_either_case(text: str) -> Expression:
    search = re.compile(re.escape(text), re.IGNORECASE).search
    lowered = text.lower().encode() if text.isascii() and "\n" not in text else b""

    def find(where: str, position: int, _: float) -> Span | None:
        found = search(where, position)
        return found.span() if found else None

    def may_be_in(data: bytes) -> bool:
        return lowered in data.lower() or not (lowered and data.isascii())

    return Expression(find, may_be_in, True)


def _regular(pattern: str, ignore_case: bool) -> Expression:
    import regex

    flags = regex.MULTILINE | (regex.IGNORECASE if ignore_case else 0)
    try:
        compiled: Pattern[str] = regex.compile(pattern, flags)
    except regex.error as error:
        what, _, where = str(error).partition(" at position ")
        raise InvalidArgumentError(
            f"The regular expression is invalid{f' at character {where.split()[0]}' if where else ''}: {what}.",
            "Mend it, or pass regex=false to look for the text as it is.",
        ) from None
    except (RecursionError, OverflowError, MemoryError):
        raise InvalidArgumentError("The regular expression is too complex.", "Use a simpler one.") from None
    linear = None
    if not _LITERAL_LINE_END.search(pattern):
        linear = linear_search(pattern, ignore_case=ignore_case)
        # where the rewriting fails the pattern stays as it is; it may match across lines then, and those are given
        with contextlib.suppress(regex.error, RecursionError):
            compiled = regex.compile(within_line(pattern), flags)

    def find(where: str, position: int, seconds: float) -> Span | None:
        if linear is not None and where.isascii():
            return linear(where, position)
        try:
            # concurrent: the engine gives the interpreter to others while it runs, whatever the pattern
            found = compiled.search(where, position, concurrent=True, timeout=min(seconds, _SPEND_AT_MOST))
        except TimeoutError:
            raise TooSlowError from None
        return found.span() if found else None

    needed = required_text(pattern)
    if not needed:
        return Expression(find, lambda data: True, ignore_case)
    known = _literal_either_case(needed) if ignore_case else _literal(needed)
    return Expression(find, known.may_be_in, ignore_case)


def within_line(pattern: str) -> str:
    """Rewrite a regular expression so that its sets and classes match no line end."""
    written: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            token = _escape_at(pattern, position)
            written.append(_escape_within_line(token))
        elif character == "[":
            token = pattern[position : set_end(pattern, position)]
            written.append(_set_within_line(token))
        elif pattern.startswith("(?#", position):
            token = pattern[position : pattern.find(")", position) + 1 or len(pattern)]
            written.append(token)
        else:
            token = character
            written.append(token)
        position += len(token)
    return "".join(written)


_ESCAPE = re.compile(r"\\(?:[pPN]\{[^}]*\}|[gL]<[^>]*>|.)", re.DOTALL)


def _escape_at(pattern: str, position: int) -> str:
    found = _ESCAPE.match(pattern, position)
    return found[0] if found else pattern[position:]


def _escape_within_line(token: str) -> str:
    known = _WITHIN_LINE.get(token[1:])
    if known is not None:
        return known
    return rf"(?:(?!\n){token})" if token[1:2] in ("p", "P", "X") else token


def _set_within_line(token: str) -> str:
    import regex

    if token.startswith("[^"):
        rest = token[2:]
        return r"[^\n" + (rf"\{rest}" if rest.startswith("]") else rest)
    try:
        meets_line_end = regex.compile(token).match("\n") is not None
    except regex.error:
        return token
    return rf"(?:(?!\n){token})" if meets_line_end else token


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
