"""Line endings: which ones a text uses, and where its lines end.

A line ends at LF, and at CR only in a text that has no LF at all. Form feeds, U+0085, U+2028 and the like end no line:
an editor does not count them, so neither does a line number here.
"""

from typing import Literal

Newline = Literal["\n", "\r\n", "\r", "mixed", ""]

NAMES: dict[Newline, str] = {"\n": "LF", "\r\n": "CRLF", "\r": "CR", "mixed": "mixed", "": "none"}
"""How each style is called in a reply."""


def newline_style(data: bytes | str, *, whole: bool = True) -> Newline:
    """Tell which line endings a text uses.

    Args:
        data: Decoded text, or bytes in an encoding in which CR and LF are the bytes 13 and 10 and nothing else is.
        whole: Whether this is all of it. If not, a CR at the very end may be half of a CRLF and is not counted.

    Returns:
        The one ending that is used, "mixed" for several, "" for none.
    """
    if isinstance(data, bytes) and b"\r" not in data:  # nearly every file; counting costs ten times as much
        return "\n" if b"\n" in data else ""
    crlf, lf, cr = _counts(data) if isinstance(data, bytes) else _counts_of_text(data)
    ends_in_cr = data[-1:] in (b"\r", "\r")
    if ends_in_cr and not whole:
        cr -= 1
    kinds: list[Newline] = []
    if lf > crlf:
        kinds.append("\n")
    if crlf:
        kinds.append("\r\n")
    if cr > crlf:
        kinds.append("\r")
    if len(kinds) > 1:
        return "mixed"
    return kinds[0] if kinds else ""


def line_end(newline: Newline) -> Literal["\n", "\r"]:
    """The character at which a line of a text with this style ends: CR where it is the only ending, else LF."""
    return "\r" if newline == "\r" else "\n"


def _counts(data: bytes) -> tuple[int, int, int]:
    return data.count(b"\r\n"), data.count(b"\n"), data.count(b"\r")


def _counts_of_text(text: str) -> tuple[int, int, int]:
    return text.count("\r\n"), text.count("\n"), text.count("\r")
