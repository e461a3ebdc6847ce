"""The operator's `--deny` patterns, as one regular expression over a whole relative path."""

import re
from collections.abc import Sequence

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.confinement.names import quoted, rule_key


class DenyRules:
    """Which relative paths the operator has closed.

    The patterns are read as in a gitignore file, without regard to letter case: one without a slash names a
    component at any depth, one with a slash starts at the root; `*` and `?` stay within a component, `**` does
    not, `[abc]` and `[!abc]` are sets. What lies below a match is closed too.

    Args:
        patterns: As the operator wrote them.

    Raises:
        SettingsError: A pattern is empty or a negation.
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
    expression = f"{start}{_components(body)}(?:/|$)"
    try:
        re.compile(expression)
    except re.error:
        raise SettingsError(f"The deny pattern {quoted(pattern)} is malformed.", "Look at its brackets.") from None
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


_PIECE = re.compile(r"\*+|\?|\[!?\]?[^\]/]*\]|\\.|.", re.DOTALL)


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
    if piece[0] == "[" and len(piece) > 2:
        negated = piece[1] == "!"
        members = re.sub(r"([\\\[\]^&|~])", r"\\\1", piece[2 if negated else 1 : -1])
        return f"[^/{members}]" if negated else f"[{members}]"
    return re.escape(piece[1:] if piece[0] == "\\" and len(piece) == 2 else piece)
