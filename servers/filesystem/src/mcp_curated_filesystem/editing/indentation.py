"""Carrying a text from one indentation to another, only where that is certain.

A caller that quotes a block often has its indentation shifted, or spaces where the file has tabs. From the lines that
were quoted and the lines that are there, a rule is learned that explains *every* one of them; the new text is moved by
the same rule. Where no single rule explains them, there is none, and nothing is guessed.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

Rule = Callable[[str], str | None]
"""Turns the indentation of a new line into the file's; None where the rule does not reach."""

_USUAL_WIDTHS = (1, 2, 3, 4, 8)


def indentation_of(line: str) -> str:
    """The spaces and tabs that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def learn(pairs: Sequence[tuple[str, str]]) -> Rule | None:
    """Learn how indentations in the request became indentations in the file.

    Args:
        pairs: (asked, there) of every line that is not blank.

    Returns:
        The one rule that explains all of them: nothing to do, a constant shift, or tabs for spaces (either way).
    """
    distinct = sorted(set(pairs))
    if all(asked == there for asked, there in distinct):
        return _unchanged
    return _shift(distinct) or _other_unit(distinct)


def _unchanged(indentation: str) -> str:
    return indentation


def _shift(pairs: Sequence[tuple[str, str]]) -> Rule | None:
    asked, there = pairs[0]
    if there.endswith(asked):
        added = there[: len(there) - len(asked)]
        if all(f == added + a for a, f in pairs):
            return lambda indentation: added + indentation
    if asked.endswith(there):
        removed = asked[: len(asked) - len(there)]
        if all(a == removed + f for a, f in pairs):
            return lambda indentation: indentation[len(removed) :] if indentation.startswith(removed) else None
    return None


def _other_unit(pairs: Sequence[tuple[str, str]]) -> Rule | None:
    if _made_of(" ", (a for a, _ in pairs)) and _made_of("\t", (f for _, f in pairs)):
        line = _line([(len(f), len(a)) for a, f in pairs])
        return _spaces_to_tabs(*line) if line else None
    if _made_of("\t", (a for a, _ in pairs)) and _made_of(" ", (f for _, f in pairs)):
        line = _line([(len(a), len(f)) for a, f in pairs])
        return _tabs_to_spaces(*line) if line else None
    return None


def _made_of(character: str, texts: Iterable[str]) -> bool:
    return all(not text.strip(character) for text in texts)


def _line(points: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Find width and offset so that spaces = width * tabs + offset for all (tabs, spaces)."""
    ordered = sorted(set(points))
    (tabs, spaces) = ordered[-1]
    if len(ordered) == 1:
        width, rest = divmod(spaces, tabs) if tabs else (0, 1)
        return (width, 0) if rest == 0 and width in _USUAL_WIDTHS else None
    steps = {(t2 - t1, s2 - s1) for (t1, s1), (t2, s2) in pairwise(ordered)}
    widths = {divmod(s, t) if t else (0, 1) for t, s in steps}
    if len(widths) != 1:
        return None
    width, rest = widths.pop()
    return (width, spaces - width * tabs) if rest == 0 and width in _USUAL_WIDTHS else None


def _spaces_to_tabs(width: int, offset: int) -> Rule:
    def convert(indentation: str) -> str | None:
        spaces = len(indentation) - offset
        if indentation.strip(" ") or spaces < 0:
            return None
        return "\t" * (spaces // width) + " " * (spaces % width)

    return convert


def _tabs_to_spaces(width: int, offset: int) -> Rule:
    def convert(indentation: str) -> str | None:
        tabs = len(indentation) - len(indentation.lstrip("\t"))
        spaces = tabs * width + offset
        if indentation[tabs:].strip(" ") or spaces < 0:
            return None
        return " " * spaces + indentation[tabs:]

    return convert
