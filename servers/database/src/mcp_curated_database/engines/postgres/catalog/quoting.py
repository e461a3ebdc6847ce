"""Names as SQL takes them."""

import re
from typing import Final

_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")


def quote(name: str) -> str:
    """A name in double quotes, whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def written(name: str) -> str:
    """A name as people write it: in double quotes only where it would be read as another without."""
    return name if _PLAIN.fullmatch(name) else quote(name)
