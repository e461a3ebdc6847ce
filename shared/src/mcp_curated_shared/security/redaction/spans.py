"""What a scan finds: places in a text, and the marks that replace them."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

MARK: Final = re.compile(r"\[REDACTED:[a-z0-9-]{1,40}\]")
"""What stands where a secret stood. A text that holds marks is never changed inside them."""

_BLANK: Final = "\ue000"
"""A private-use character: part of no name, no token and no word."""


def blanked(text: str) -> str:
    """A text of the same length in which no mark can be read: `[REDACTED:api-key]: x` names no key."""
    if "[REDACTED:" not in text:
        return text
    return MARK.sub(lambda match: _BLANK * len(match.group()), text)


def is_blank(text: str) -> bool:
    """Whether nothing is left of a part of a blanked text."""
    return not text.strip(_BLANK)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A secret's place.

    Attributes:
        start: Index of its first character.
        end: Index after its last character.
        kind: What it is, in lower-case words joined by hyphens: "github-token", "password", "private-key".
    """

    start: int
    end: int
    kind: str

    @property
    def mark(self) -> str:
        """What is shown instead."""
        return f"[REDACTED:{self.kind}]"


def merged(spans: Iterable[Span]) -> list[Span]:
    """The spans in order of place, overlapping ones as one; it has the kind of the one that was given first."""
    ranked = sorted(enumerate(spans), key=lambda pair: (pair[1].start, pair[0]))
    result: list[tuple[int, Span]] = []
    for rank, span in ranked:
        if result and span.start < result[-1][1].end:
            first, previous = result[-1]
            kind = previous.kind if first <= rank else span.kind
            result[-1] = (min(first, rank), Span(previous.start, max(previous.end, span.end), kind))
        else:
            result.append((rank, span))
    return [span for _, span in result]


def outside_marks(text: str, spans: Iterable[Span]) -> list[Span]:
    """The parts of the spans that are not marks already."""
    marks = [match.span() for match in MARK.finditer(text)] if "[REDACTED:" in text else []
    if not marks:
        return list(spans)
    ends = [end for _, end in marks]
    result: list[Span] = []
    for span in spans:
        start, index = span.start, bisect_right(ends, span.start)
        while index < len(marks) and marks[index][0] < span.end:
            if start < marks[index][0]:
                result.append(Span(start, marks[index][0], span.kind))
            start, index = marks[index][1], index + 1
        if start < span.end:
            result.append(Span(start, span.end, span.kind))
    return result


class Replaced:
    """A text whose spans were replaced by their marks, and the way back from its indices."""

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        pieces: list[str] = []
        self._starts: list[int] = [0]
        self._shifts: list[int] = [0]
        position = length = 0
        for span in spans:
            pieces += [text[position : span.start], span.mark]
            length += span.start - position + len(span.mark)
            position = span.end
            self._starts.append(length)
            self._shifts.append(position - length)
        pieces.append(text[position:])
        self.text = "".join(pieces)

    def original(self, spans: Iterable[Span]) -> list[Span]:
        """Spans of the replaced text, none of which touches a mark, as spans of the text it was made from."""
        return [
            Span(span.start + self._shift(span.start), span.end + self._shift(span.start), span.kind) for span in spans
        ]

    def _shift(self, index: int) -> int:
        return self._shifts[bisect_right(self._starts, index) - 1]
