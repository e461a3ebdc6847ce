"""The operator's `--deny` patterns, as one regular expression over a whole relative path."""

import re
from collections.abc import Sequence

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.confinement.names import quoted, rule_key


class DenyRules:
    """Which relative paths the operator has closed.

    The patterns are read as in a gitignore file, without regard to letter case: one without a slash names a
    component at any depth, one with a slash starts at the root; `*` and `?` stay within a component, `**` does
    not, `[abc]`, `[a-z]`, `[[:digit:]]` are sets, `[!abc]` and `[^abc]` their opposites. What lies below a match is
    closed too.

    Args:
        patterns: As the operator wrote them.

    Raises:
        SettingsError: A pattern is empty, a negation, or holds a set that is not closed, has a range that runs
            backwards, or names no class of characters.
    """

    __slots__ = ("_match", "patterns")

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = tuple(patterns)
        expressions = [_expression(pattern) for pattern in patterns]
        self._match = re.compile("|".join(expressions), re.DOTALL).search if expressions else None

    def __bool__(self) -> bool:
        return self._match is not None

    def match(self, relative: str) -> bool:
        """Whether this path, or a directory above it, is closed.

        Args:
            relative: True path relative to its root, "/"-joined.
        """
        return self._match is not None and self._match(rule_key(relative)) is not None


def _expression(pattern: str) -> str:
    if pattern.startswith("!"):
        raise SettingsError(f"The deny pattern {quoted(pattern)} is a negation.", "Leave out the exclamation mark.")
    body = rule_key(pattern.strip().removesuffix("/"))
    anchored = "/" in body
    body = body.lstrip("/")
    if not body or "\0" in body:
        raise SettingsError(f"The deny pattern {quoted(pattern)} names nothing.", "Write a name or a glob.")
    start = "^" if anchored else "(?:^|/)"
    try:
        expression = f"{start}{_components(body)}(?:/|$)"
        re.compile(expression)
    except (_Malformed, re.error) as error:
        raise SettingsError(
            f"The deny pattern {quoted(pattern)} is malformed: {error}.", "Look at its brackets."
        ) from None
    return expression


def _components(body: str) -> str:
    parts = [part for part in body.split("/") if part]
    written: list[str] = []
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            written.append("[^/]+" if last else "(?:[^/]+/)*")
        else:
            written.append(_component(part) + ("" if last else "/"))
    return "".join(written)


# A member of a set, as wildmatch (git) reads it: a class, an escaped character, any other; "]" first is itself. A class
# is taken for good: in `[[:digit:]` the set is not closed.
_MEMBER = r"(?:\[:[^\]/]*:\]|\\[^/]|[^\]/\\])"
_SET = rf"\[[!^]?+(?>\]|{_MEMBER})(?>{_MEMBER}*)\]"
_PIECE = re.compile(rf"\*+|\?|{_SET}|\\.|.", re.DOTALL)
_MEMBERS = re.compile(r"\[:([^\]/]*):\]|(\\.|.)(?:-(\\.|[^\\]))?", re.DOTALL)

# POSIX classes, of ASCII as git has them, without regard to case.
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-zA-Z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t-\\r",
    "upper": "a-zA-Z",
    "xdigit": "0-9a-fA-F",
}


def _component(part: str) -> str:
    """One component's glob. Each inner star takes its leftmost match for good, so no text makes this slow."""
    runs = [""]
    for piece in _PIECE.findall(part):
        if piece[0] == "*":
            runs.append("")
        else:
            runs[-1] += _one_character(piece)
    first, *middle = runs
    if not middle:
        return first
    last = middle.pop()
    return first + "".join(f"(?>[^/]*?{run})" for run in middle) + f"[^/]*{last}"


def _one_character(piece: str) -> str:
    if piece == "?":
        return "[^/]"
    if piece[0] == "[":
        return _set(piece)
    return re.escape(piece[1:] if piece[0] == "\\" and len(piece) == 2 else piece)


def _set(piece: str) -> str:
    """One set; whatever it holds, it never matches "/"."""
    if len(piece) == 1:
        raise _Malformed('it holds a "[" that is not closed; write \\[ for the character')
    negated = piece[1] in "!^"
    members = "".join(_member(*found.groups()) for found in _MEMBERS.finditer(piece[2 if negated else 1 : -1]))
    return f"[^/{members}]" if negated else f"(?!/)[{members}]"


def _member(name: str | None, first: str | None, last: str | None) -> str:
    if name is not None:
        if name not in _CLASSES:
            raise _Malformed(f"there is no class of characters [:{name}:]")
        return _CLASSES[name]
    low, high = (first or "")[-1:], (last or "")[-1:]
    if not high:
        return re.escape(low)
    if low > high:
        raise _Malformed(f"its range {low}-{high} runs backwards")
    return f"{re.escape(low)}-{re.escape(high)}"


class _Malformed(ValueError):
    """Why a pattern cannot be read."""
