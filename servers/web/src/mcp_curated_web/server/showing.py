"""A fetched page as a model reads it: facts and the next call, then the page's text between two marks."""

import base64

from mcp_types import CallToolResult, ImageContent, TextContent

from mcp_curated_shared.security.limits import call_text
from mcp_curated_shared.security.untrusted import META_KEY, Provenance, Wrapped, wrap
from mcp_curated_web.fetching.contents import IMAGES, kind_of, media_type_of
from mcp_curated_web.fetching.documents import Document, Page
from mcp_curated_web.fetching.errors import ContentTooLargeError, UnsupportedContentError
from mcp_curated_web.fetching.fetcher import Fetched
from mcp_curated_web.models import FetchedPage

_MOST_LINKS = 200


def wrapped(text: str, fetched: Fetched) -> Wrapped:
    """A page's text between marks that it cannot forge."""
    return wrap(text, Provenance(fetched.snapshot.final_url))


def facts(fetched: Fetched, document: Document, page: Page, following: dict[str, object] | None) -> str:
    """What is known about a page, and the call that gives what follows it."""
    snapshot = fetched.snapshot
    lines = [f"{snapshot.final_url} (status {snapshot.status}, {media_type_of(snapshot.content_type) or 'no type'})"]
    if not page.text and page.start:
        lines.append(f"start_index {page.start} is past the end: the text has {page.total:,} characters.")
    else:
        end = page.start + len(page.text)
        lines.append(f"Characters {page.start:,} to {end:,} of {page.total:,}; snapshot {snapshot.identifier}.")
    if page.following is not None and following is not None:
        lines.append("Next: " + call_text("fetch_url", **following))
    return "\n".join(lines)


def notices_of(fetched: Fetched, document: Document) -> list[str]:
    """Everything that the reader should know."""
    return list(dict.fromkeys((*fetched.snapshot.notices, *document.notices)))


def page_result(
    fetched: Fetched, document: Document, page: Page, following: dict[str, object] | None, *, links: bool
) -> CallToolResult:
    """The result of `fetch_url` for a text."""
    notices = notices_of(fetched, document)
    if links and len(document.links) > _MOST_LINKS:
        notices.append(f"Only the first {_MOST_LINKS} of {len(document.links)} links are listed.")
    shown = _with_links(document, page) if links else page.text
    body = wrapped(f"Title: {document.title}\n\n{shown}" if document.title else shown, fetched)
    head = "\n".join((facts(fetched, document, page, following), *(f"Note: {notice}" for notice in notices)))
    structure = FetchedPage.of(fetched, document, page, notices, links)
    if structure.links is not None:
        structure.links = structure.links[:_MOST_LINKS]
    return CallToolResult(
        content=[TextContent(type="text", text=f"{head}\n\n{body.text}")],
        structured_content=structure.structured(),
        _meta={META_KEY: body.machine_form},
    )


def _with_links(document: Document, page: Page) -> str:
    listed = "\n".join(f"- {one.text}: {one.url}" for one in document.links[:_MOST_LINKS])
    return f"{page.text}\n\nLinks:\n{listed}" if listed else page.text


def is_image(fetched: Fetched) -> bool:
    """Whether an image came."""
    return kind_of(fetched.snapshot.content_type, fetched.snapshot.body) == "image"


def image_of(fetched: Fetched, most: int) -> tuple[str, str]:
    """An image as base64, and its type by its own first bytes.

    Raises:
        ContentTooLargeError: It is larger than may be sent.
        UnsupportedContentError: It is not what it says.
    """
    snapshot = fetched.snapshot
    media = next((name for name, mark in IMAGES.items() if snapshot.body.startswith(mark)), "")
    if not media:
        raise UnsupportedContentError("The answer says that it is an image, and is none that can be shown.")
    if len(snapshot.body) * 4 // 3 > most:
        raise ContentTooLargeError(
            f"The image ({media}) has {len(snapshot.body):,} bytes; at most {most * 3 // 4:,} are sent.",
            "Look for a smaller version of it.",
        )
    return base64.b64encode(snapshot.body).decode("ascii"), media


def image_result(fetched: Fetched, most: int) -> CallToolResult:
    """The result of `fetch_url` for an image."""
    data, media = image_of(fetched, most)
    document = Document("", extraction="image")
    page = Page("", 0, None, 0)
    structure = FetchedPage.of(fetched, document, page, notices_of(fetched, document))
    said = f"{fetched.snapshot.final_url}: an image, {media}, {len(fetched.snapshot.body):,} bytes."
    return CallToolResult(
        content=[TextContent(type="text", text=said), ImageContent(type="image", data=data, mime_type=media)],
        structured_content=structure.structured(),
    )
