"""A text as a reader sees it: without invisible characters, with the way back to where its parts really stand.

One zero-width character in the middle of a token hides it from every pattern and from no reader of the bytes
(github/gh-aw#28036); a model reads over it too.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Final

from mcp_curated_shared.security.redaction.spans import Span
from mcp_curated_shared.security.untrusted import INVISIBLE

_WIDE: Final = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]{4}")
_NARROW: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code - 0xFEE0).isalnum()} | {
    0xFF3F: "_",
    0xFF0D: "-",
    0xFF0E: ".",
}
"""Full-width forms of letters and digits (Unicode, FF00 block), one for one: readers of them see the same token."""


class View:
    """The visible characters of a text, full-width letters and digits as plain ones.

    Attributes:
        text: Them, joined.
    """

    def __init__(self, original: str) -> None:
        self.text = original.translate(_NARROW) if _WIDE.search(original) else original
        self._after: list[int] = []
        """Where in `text` something was taken out: the index of the visible character that follows."""
        self._removed: list[int] = [0]
        """How much was taken out up to there."""
        if not original.isascii():
            self._take_out(self.text)

    def _take_out(self, original: str) -> None:
        pieces: list[str] = []
        position = removed = 0
        for match in INVISIBLE.finditer(original):
            start, end = match.span()
            pieces.append(original[position:start])
            self._after.append(start - removed)
            removed += end - start
            self._removed.append(removed)
            position = end
        if pieces:
            pieces.append(original[position:])
            self.text = "".join(pieces)

    def original(self, spans: Iterable[Span]) -> list[Span]:
        """Spans of the view as spans of the original: invisible characters inside are in, those beside are not."""
        if not self._after:
            return list(spans)
        return [
            Span(
                span.start + self._removed[bisect_right(self._after, span.start)],
                span.end + self._removed[bisect_left(self._after, span.end)],
                span.kind,
            )
            for span in spans
        ]


def lowered(text: str) -> str:
    """`text` in lower case, as long as before: the one character whose lower case is two (U+0130) becomes "i"."""
    small = text.lower()
    return small if len(small) == len(text) else text.replace("\u0130", "i").lower()
