"""How much a call may take and give, and how a reply that had to be cut says so.

A cut is never silent: it says what was shown of how much, and gives the exact next call.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one call; every field is a most.

    The defaults stay below what hosts accept: some move a reply of more than 50,000 characters to disk, refuse
    more than 25,000 tokens, or refuse a message of more than 1 MB.

    Attributes:
        characters: Of text in a reply.
        base64_bytes: Of media in a reply, after base64.
        bytes: Read from one file, response or column.
        rows: In a reply: lines, entries, matches, records.
        seconds: A call may run before it stops with what it has.
        concurrency: Calls of one kind that run at once.
    """

    characters: int = 48_000
    base64_bytes: int = 900_000
    bytes: int = 64 * 1024 * 1024
    rows: int = 2_000
    seconds: float = 30.0
    concurrency: int = 8

    def __post_init__(self) -> None:
        for name in ("characters", "base64_bytes", "bytes", "rows", "seconds", "concurrency"):
            if getattr(self, name) <= 0:
                raise ValueError(f"The limit {name} must be more than 0.")


DEFAULT_BUDGET: Final = Budget()

NextCall = str | Callable[[str], str]
"""The next call as text, or a function that writes it from the part that was shown (to count its lines)."""


def call_text(tool: str, **arguments: object) -> str:
    """Write a call the way a model can repeat it: `read_file {"path": "a.txt", "offset": 2001}`.

    Args:
        tool: The tool's listed name.
        arguments: Its arguments by their listed names; None leaves one out.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    return f"{tool} {json.dumps(given, ensure_ascii=False)}"


def cut(text: str, characters: int, next_call: NextCall) -> str:
    """Shorten a text to a number of characters, note included, at the end of a line where that is possible.

    Args:
        text: The whole text.
        characters: The most that may be returned.
        next_call: What to call for the rest, as text or as a function of the part that is shown.

    Returns:
        The text unchanged when it fits; else its beginning and one last line that says how much of it this is and
        names the next call.
    """
    if len(text) <= characters:
        return text
    room = characters
    for _ in range(3):  # the note's length depends on the part that is shown, and that on the note's length
        shown = _whole_lines(text, room)
        note = _note(shown, text, next_call)
        excess = len(shown) + len(note) - characters
        if excess <= 0:
            return shown + note
        room = max(0, min(room, len(shown)) - excess)
    shown = text[:room]
    return (shown + _note(shown, text, next_call))[:characters]


def _note(shown: str, text: str, next_call: NextCall) -> str:
    following = next_call if isinstance(next_call, str) else next_call(shown)
    gap = "" if not shown or shown.endswith("\n") else "\n"
    return f"{gap}[Cut: {len(shown):,} of {len(text):,} characters. The rest: {following}]"


def _whole_lines(text: str, room: int) -> str:
    """The longest beginning within `room` that ends a line, unless that would give up more than a quarter."""
    end = text.rfind("\n", 0, room) + 1
    return text[:end] if end > room * 3 // 4 else text[:room]


def cut_rows(rows: Sequence[str], characters: int, next_call: Callable[[int], str], *, total: int | None = None) -> str:
    """Join rows by newlines up to a number of characters, and name the call that gives the following ones.

    Args:
        rows: The rows that are at hand, none with a newline in it.
        characters: The most that may be returned, the note included.
        next_call: Writes the call that continues after this many rows.
        total: How many rows there are in all, when `rows` is only their beginning.
    """
    count = len(rows) if total is None else total
    whole = "\n".join(rows)
    if count == len(rows) and len(whole) <= characters:
        return whole
    shown = len(rows)
    size = len(whole)
    while shown and size > characters:  # without asking for a note each time, which can be dear
        shown -= 1
        size -= len(rows[shown]) + 1
    while True:
        note = f"[Cut: {shown:,} of {count:,}. The rest: {next_call(shown)}]"
        if not shown:
            return note[:characters]
        if size + 1 + len(note) <= characters:
            return "\n".join((*rows[:shown], note))
        shown -= 1
        size -= len(rows[shown]) + 1
