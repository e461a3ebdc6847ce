"""Pages: the number of the next one, from a Link header (RFC 8288).

Only the number is taken. GitHub's links lead to `/repositories/1000/issues?page=2`, and a link is somebody else's
choice of an address: the next page is asked for by the route of the first.
"""

import re
from typing import Final
from urllib.parse import parse_qs

_NEXT: Final = re.compile(r'<([^<>]{1,4000})>\s*;\s*rel="?next"?(?:[;,\s]|\Z)', re.IGNORECASE)
_LONGEST: Final = 16_384


def next_page(header: str | None) -> int | None:
    """The number of the next page; None where there is none, or none that can be read."""
    match = _NEXT.search((header or "")[:_LONGEST])
    if match is None:
        return None
    numbers = parse_qs(match[1].partition("?")[2]).get("page", [])
    if len(numbers) != 1 or re.fullmatch(r"[0-9]{1,9}", numbers[0], re.ASCII) is None:
        return None
    return int(numbers[0]) or None
