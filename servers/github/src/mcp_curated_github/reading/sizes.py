"""How long a reply may be, and cutting texts to it without losing a character between two pages.

Sizes are bytes as they are sent: UTF-8 inside a JSON string. A result carries its text twice, as text and as structure,
since hosts differ in which of the two they show; together they stay below 24 KB.
"""

import json
from collections.abc import Sequence
from typing import Final

REPLY_BYTES: Final = 24_000
"""Most bytes of one result."""

BODY_BYTES: Final = 10_000
"""Most bytes of the bodies in one of its two forms; the facts beside them take the rest."""

ELLIPSIS: Final = "…"

_LONGEST_ESCAPE: Final = len("\\u0000")


def size_of(text: str) -> int:
    """Bytes of a text in a JSON string, without its quotes."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")) - 2


def clip(text: str, most: int) -> tuple[str, bool]:
    """The beginning of a text within so many bytes, an ellipsis at its end if it was cut; and whether it was."""
    if len(text) <= most and size_of(text) <= most:
        return text, False
    room = max(0, most - size_of(ELLIPSIS))
    return text[: _fitting(text, 0, room)].rstrip() + ELLIPSIS, True


def _fitting(text: str, start: int, room: int) -> int:
    """How far a text goes from `start` within `room` bytes."""
    piece = text[start : start + room]  # every character takes at least a byte
    sent = json.dumps(piece, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
    if len(sent) <= room:
        return start + len(piece)
    beginning = sent[:room].decode("utf-8", "ignore")
    for end in range(len(beginning), len(beginning) - _LONGEST_ESCAPE, -1):
        try:
            fitting: str = json.loads(f'"{beginning[:end]}"')
        except ValueError:  # it ends inside an escape
            continue
        return start + len(fitting)
    return start


def part_of(text: str, number: int, most: int, first: int | None = None) -> tuple[str, bool]:
    """One part of a text and whether there are more; put together, the parts are the text.

    Parts end at the end of a line, unless a line alone is longer than a part.

    Args:
        text: The whole text, or as much of it as may be needed.
        number: Which part, from 1.
        most: Bytes of a part.
        first: Bytes of the first part, where that is shorter.

    Returns:
        An empty text where there is no such part.
    """
    start = 0
    for position in range(number):
        room = first if first is not None and position == 0 else most
        end = _end_of_part(text, start, room)
        if position == number - 1:
            return text[start:end], end < len(text)
        if end >= len(text):
            break
        start = end
    return "", False


def _end_of_part(text: str, start: int, room: int) -> int:
    end = max(_fitting(text, start, room), min(start + 1, len(text)))
    if end >= len(text):
        return end
    line = text.rfind("\n", start, end) + 1
    return line if line > start + (end - start) // 2 else end


def count_parts(text: str, most: int) -> int:
    """How many parts a text has; one for an empty text."""
    count, start = 1, _end_of_part(text, 0, most)
    while start < len(text):
        start = _end_of_part(text, start, most)
        count += 1
    return count


def shares(sizes: Sequence[int], room: int) -> list[int]:
    """How much of `room` each gets: what it needs if that is little, and an equal part of the rest otherwise."""
    given = [0] * len(sizes)
    left, waiting = room, len(sizes)
    for index in sorted(range(len(sizes)), key=lambda one: sizes[one]):
        given[index] = min(sizes[index], left // waiting)
        left -= given[index]
        waiting -= 1
    return given
