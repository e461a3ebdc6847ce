r"""Regular expressions in linear time, with the extra package `google-re2`, where both engines mean the same.

RE2 knows no backreferences and no lookaround, reads some escapes and flags in its own way, and classes such as `\w` as
ASCII. It is used for patterns without those, on text that is all ASCII; for everything else the `regex` package is.
"""

import importlib
import re
from collections.abc import Callable

_OWN_MEANING = re.compile(r"\\[AzZCQEGvhHNRXKpPL]|\(\?[^P:=!<]|\\\d|\[\[:|\\x\{")
"""What one engine has and the other has not, or reads otherwise."""

_Search = Callable[[str, int], tuple[int, int] | None]


def linear_search(pattern: str, *, ignore_case: bool) -> _Search | None:
    """Compile a pattern for RE2.

    Returns:
        A search over ASCII text, every match within a line; None if the package is not installed or this pattern is not
        one that both engines read alike.
    """
    if _OWN_MEANING.search(pattern) or not pattern.isascii():
        return None
    try:
        engine = importlib.import_module("re2")
    except ImportError:
        return None
    options = engine.Options()
    options.never_nl = True
    options.log_errors = False
    options.case_sensitive = not ignore_case
    try:
        search = engine.compile(f"(?m){pattern}", options).search
    except engine.error:
        return None
    last: tuple[str, bytes] = ("", b"")

    def find(text: str, position: int) -> tuple[int, int] | None:
        nonlocal last
        if last[0] is not text:  # one text is asked about once for each of its matches
            last = text, text.encode("ascii")
        found = search(last[1], position)
        return None if found is None else (found.start(), found.end())

    return find
