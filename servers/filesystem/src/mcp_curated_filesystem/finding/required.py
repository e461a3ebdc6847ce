r"""The text that every match of a regular expression holds, so that most files need no more than one look.

`UNIQUE_\w+_TOKEN` matches nothing in a file without `UNIQUE_`. The answer may be shorter than it could be, never wrong:
what is not understood counts as nothing.
"""

import re

_NOT_UNDERSTOOD = re.compile(r"\(\?[a-zA-Z0-9-]+[:)]|\(\?#|\\[^\W_dDsSwWbBAZzmM]")
"""Flags, which change how other parts are read; comments, whose parentheses need no partner; escapes of more than one
character, and those that name a character."""

_SPECIAL = frozenset(".^$|()[]{}*+?\\")
_MAY_BE_MISSING = frozenset("*?{")
"""What makes the character before it one that a match can do without."""


def required_text(pattern: str) -> str:
    """Give the longest run of ASCII characters that is in every match of a pattern; empty if none is known.

    Args:
        pattern: A valid expression of the `regex` package, without the VERBOSE flag.
    """
    if _NOT_UNDERSTOOD.search(pattern):
        return ""
    runs: list[str] = []
    run = ""
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "|":
            return ""  # either side alone may match
        literal, end = _literal_at(pattern, position)
        following = pattern[end : end + 1]
        if literal and following not in _MAY_BE_MISSING:
            run += literal
        if not literal or following == "+" or following in _MAY_BE_MISSING:
            runs.append(run)
            run = ""
        position = _after_count(pattern, end) if following == "{" else end
    return max([*runs, run], key=len)


def _literal_at(pattern: str, position: int) -> tuple[str, int]:
    """Give the character that is matched as it is, or "" for anything else, and where the next part starts."""
    character = pattern[position]
    if character == "\\":
        escaped = pattern[position + 1 : position + 2]
        plain = escaped.isascii() and not escaped.isalnum() and escaped.isprintable()
        return escaped if plain else "", position + 2
    if character == "(":
        return "", _group_end(pattern, position)
    if character == "[":
        return "", set_end(pattern, position)
    plain = character.isascii() and character.isprintable() and character not in _SPECIAL
    return character if plain else "", position + 1


def _after_count(pattern: str, start: int) -> int:
    """Give the position after a count such as `{2,3}`."""
    return pattern.find("}", start) + 1 or start + 1


def _group_end(pattern: str, start: int) -> int:
    """Give the position after the parenthesis that closes the one at `start`."""
    position, depth = start, 0
    while position < len(pattern):
        character = pattern[position]
        if character == "[":
            position = set_end(pattern, position)
            continue
        depth += (character == "(") - (character == ")")
        position += 2 if character == "\\" else 1
        if not depth:
            return position
    return len(pattern)


def set_end(pattern: str, start: int) -> int:
    """Give the position after the `]` that ends the set at `start`."""
    position = start + (2 if pattern.startswith("[^", start) else 1)
    if pattern.startswith("]", position):
        position += 1
    while position < len(pattern):
        if pattern[position] == "]":
            return position + 1
        if pattern[position] == "\\":
            position += 2
        elif pattern.startswith("[:", position) and (end := pattern.find(":]", position)) > 0:
            position = end + 2
        else:
            position += 1
    return len(pattern)
