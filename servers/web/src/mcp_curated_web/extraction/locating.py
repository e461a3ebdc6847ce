"""The locator: trafilatura, where the extra `article` is installed. It says where an article is; its text is ours."""

import functools
import importlib
import logging
from collections.abc import Callable, Sequence
from typing import Final, cast

LARGEST: Final = 1_000_000
"""Characters of HTML that it is asked about: its time grows faster than the page (17 s for 5 MB, measured)."""

MOST_ELEMENTS: Final = 12_000
"""Elements of a page that it is asked about; a page of 1 MB can hold ten times as many, and take half a minute."""


@functools.cache
def _extract() -> Callable[..., str | None] | None:
    try:
        module = importlib.import_module("trafilatura")
    except ImportError:
        return None
    for name in ("trafilatura", "htmldate", "courlan", "justext", "charset_normalizer"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # they log parts of pages
    return cast("Callable[..., str | None]", module.extract)


def article_lines(html: str, url: str) -> Sequence[str]:
    """The lines of the article, none when the extra is missing, the page is too large, or nothing was found."""
    if len(html) > LARGEST:
        return ()
    extract = _extract()
    if extract is None:
        return ()
    try:
        text = extract(html, url=url, fast=True, include_comments=False, include_tables=True, output_format="txt")
    except Exception:  # whatever a page does to it, the page itself can still be read
        logging.getLogger(__name__).debug("The locator failed on a page.")
        return ()
    return (text or "").split("\n")


def installed() -> bool:
    """Whether the extra is there; loads it."""
    return _extract() is not None
