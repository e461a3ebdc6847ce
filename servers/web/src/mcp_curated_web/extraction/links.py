"""Links made absolute, in a spelling that Markdown cannot misread, and no longer together than a page may be."""

import re
from typing import Final
from urllib.parse import urljoin

LONGEST_LINK: Final = 2_000
MOST_LINKED: Final = 4_000_000
"""Characters of all URLs of a page."""

_ENCODED: Final = {
    letter: "".join(f"%{byte:02X}" for byte in letter.encode())
    for letter in (*map(chr, range(33)), *map(chr, range(0x7F, 0xA1)), *"()<>\\`", "\u2028", "\u2029", "\u3000")
}
UNSAFE: Final = str.maketrans(_ENCODED)
_ROOTED: Final = re.compile(r"/(?:[A-Za-z0-9_~%=&,+-]+/)*[A-Za-z0-9_~%-]*(?:\?[A-Za-z0-9_~%=&,+.-]+)?")
_BLANKS: Final = re.compile(r"[\t\n\r]")


class Addresses:
    """The URLs of one page.

    Attributes:
        room: Characters that URLs may still take; below zero some were left out.

    Args:
        base: What links are relative to.
    """

    def __init__(self, base: str) -> None:
        self._base = base
        self.room = MOST_LINKED

    def take(self, reference: str) -> str:
        """The absolute URL of a link while there is room; empty for one that is not followed or too long.

        A base of 8,000 characters before 100,000 short links would be a gigabyte.
        """
        url = self.absolute(reference) if self.room >= 0 else ""
        self.room -= len(url)
        return url if len(url) <= LONGEST_LINK and self.room >= 0 else ""

    def absolute(self, reference: str) -> str:
        """The URL that a link leads to; empty for one inside the page or of a scheme that is not followed."""
        reference = reference.strip()
        if not reference or reference.startswith("#"):
            return ""
        if _ROOTED.fullmatch(reference):  # most links of most pages, and urljoin takes its time
            return self._origin() + reference
        try:
            url = urljoin(self._base, _BLANKS.sub("", reference))
        except ValueError:
            return ""
        if not url.lower().startswith(("http://", "https://", "mailto:")):
            return ""
        return url.translate(UNSAFE)

    def _origin(self) -> str:
        scheme, _, rest = self._base.partition("://")
        return f"{scheme}://{rest.partition('/')[0].partition('?')[0].partition('#')[0]}"
