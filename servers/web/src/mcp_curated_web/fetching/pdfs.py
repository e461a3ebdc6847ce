"""The text of a PDF, with the extra `pdf`; so many pages and so long, since a PDF can be made to take for ever."""

import io
import logging
import time
from typing import Final

from mcp_curated_web.fetching.documents import Document, of_text
from mcp_curated_web.fetching.errors import MissingExtraError, UnsupportedContentError

MOST_PAGES: Final = 300
MOST_CHARACTERS: Final = 2_000_000
SECONDS: Final = 12.0


def read_pdf(body: bytes) -> Document:
    """The text of a PDF, a heading a page.

    Raises:
        MissingExtraError: The extra is not installed.
        UnsupportedContentError: It cannot be read, is locked, or holds no text.
    """
    try:
        from pypdf import PdfReader
    except ImportError:
        raise MissingExtraError(
            "The answer is a PDF, and this installation reads none.",
            "The operator can install mcp-curated-web[pdf].",
        ) from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it logs parts of documents
    try:
        reader = PdfReader(io.BytesIO(body))
        locked = reader.is_encrypted and not reader.decrypt("")
        pages: list[object] = [] if locked else list(reader.pages)
        title = (reader.metadata.title or "") if not locked and reader.metadata else ""
        parts, notices = _texts(pages)
    except Exception as error:  # a damaged file fails in any way at all
        raise UnsupportedContentError(f"The PDF cannot be read ({type(error).__name__}).") from None
    if locked:
        raise UnsupportedContentError("The PDF is locked with a password.")
    if not any(part.strip() for part in parts):
        raise UnsupportedContentError("The PDF holds no text; its pages are perhaps pictures.")
    text = "\n\n".join(f"## Page {number}\n\n{part.strip()}" for number, part in enumerate(parts, 1))
    made = of_text(text, extraction="pdf", title=str(title)[:300], media_type="text/markdown")
    return Document(
        made.text, str(title)[:300], made.borders, made.headings, (), "pdf", notices=(*made.notices, *notices)
    )


def _texts(pages: list[object]) -> tuple[list[str], tuple[str, ...]]:
    ends = time.monotonic() + SECONDS
    parts: list[str] = []
    size = 0
    for page in pages[:MOST_PAGES]:
        part = str(page.extract_text())  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]  # pypdf's pages
        parts.append(part)
        size += len(part)
        if time.monotonic() > ends or size > MOST_CHARACTERS:
            break
    cut = len(parts) < len(pages)
    return parts, ((f"Only the first {len(parts)} of {len(pages)} pages were read.",) if cut else ())
