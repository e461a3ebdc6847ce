"""What kind of thing came, and its text: pages, Markdown, PDF, JSON, XML, feeds, plain text, images; nothing else."""

import json
import re
from typing import Final, Literal

from mcp_curated_web.extraction import extract_page
from mcp_curated_web.extraction.code import fenced
from mcp_curated_web.fetching import feeds, pdfs
from mcp_curated_web.fetching.charset import Decoded, decode
from mcp_curated_web.fetching.documents import Document, of_page, of_text
from mcp_curated_web.fetching.errors import ChallengeError, UnsupportedContentError
from mcp_curated_web.fetching.snapshots import Snapshot
from mcp_curated_web.fetching.standins import is_challenge, shell_text

Form = Literal["markdown", "text", "raw"]
Kind = Literal["html", "markdown", "text", "json", "xml", "pdf", "image", "binary"]

IMAGES: Final = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/webp": b"RIFF"}
_TEXTUAL: Final = frozenset(
    {
        "application/javascript", "application/x-javascript", "application/x-yaml", "application/yaml",
        "application/toml", "application/sql", "application/x-sh", "application/graphql", "application/x-ndjson",
        "application/jsonl", "application/x-www-form-urlencoded", "application/rtf", "application/x-tex",
    }
)  # fmt: skip
_KINDS: Final[dict[str, Kind]] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "application/markdown": "markdown",
    "application/json": "json",
    "text/json": "json",
    **dict.fromkeys(IMAGES, "image"),
    **dict.fromkeys(_TEXTUAL, "text"),
}
_MAYBE_TEXT: Final = frozenset({"", "application/octet-stream", "binary/octet-stream", "unknown/unknown"})
_LOOKS_HTML: Final = re.compile(rb"<(?:!doctype html|html|head|body|title|h1|div|p)\b", re.IGNORECASE)
_MEDIA_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]{1,60}/[a-z0-9!#$&^_.+-]{1,80}", re.ASCII)  # RFC 6838, 4.2
_DAMAGED: Final = "Some characters could not be read; the text may have come damaged."


def media_type_of(content_type: str) -> str:
    """The media type without its parameters, in lower case; empty for what is none, such as a sentence."""
    media = content_type.partition(";")[0].strip().lower()
    return media if _MEDIA_TYPE.fullmatch(media) else ""


def kind_of(content_type: str, body: bytes) -> Kind:
    """What came, by its declared type; looked at where that is missing or says nothing."""
    media = media_type_of(content_type)
    if media in _MAYBE_TEXT:
        return _looked_at(body)
    if media == "application/pdf" or (media.startswith("text/") and body.startswith(b"%PDF-")):
        return "pdf"
    if media in _KINDS:
        return _KINDS[media]
    if media.endswith("+json"):
        return "json"
    if media.endswith(("/xml", "+xml")) and media != "image/svg+xml":
        return "html" if b"http://www.w3.org/1999/xhtml" in body[:1_000] and b"<html" in body[:2_000] else "xml"
    return "text" if media.startswith("text/") else "binary"


def _looked_at(body: bytes) -> Kind:
    if body.startswith(b"%PDF-"):
        return "pdf"
    if any(body.startswith(mark) for mark in IMAGES.values()):
        return "image"
    start = body[:2_000]
    if start.startswith((b"\xfe\xff", b"\xff\xfe")):
        return "text"
    if b"\x00" in start or sum(byte < 9 or 13 < byte < 32 for byte in start) * 50 > len(start):
        return "binary"
    if _LOOKS_HTML.match(_after_comments(start)):
        return "html"
    return "xml" if start.lstrip().startswith(b"<?xml") else "text"


def _after_comments(start: bytes) -> bytes:
    """What follows the comments at the beginning; in one pass, since a pattern tries every way to share them out."""
    rest = start.lstrip()
    while rest.startswith(b"<!--") and b"-->" in rest:
        rest = rest.partition(b"-->")[2].lstrip()
    return rest


def document_of(snapshot: Snapshot, form: Form) -> Document:
    """The text of an answer in a form; made once.

    Raises:
        UnsupportedContentError: It has none.
        ChallengeError: The site gave a challenge in its place.
        MissingExtraError: It is a PDF, and the extra for those is not installed.
    """
    known = snapshot.documents.get(form)
    if known is None:
        known = snapshot.documents[form] = _make(snapshot, form)
    return known


def _make(snapshot: Snapshot, form: Form) -> Document:
    kind = kind_of(snapshot.content_type, snapshot.body)
    if kind in ("binary", "image"):
        raise unsupported(snapshot)
    if kind == "pdf":
        return pdfs.read_pdf(snapshot.body)
    decoded = decode(snapshot.body, snapshot.content_type)
    if kind == "html":
        return _page(snapshot, decoded, form)
    if form != "raw" and kind == "json":
        return _json(decoded)
    if form != "raw" and kind == "xml":
        return _xml(snapshot, decoded)
    media = "text/markdown" if kind == "markdown" else "text/plain"
    return _as_is(decoded, "source" if form == "raw" else f"{kind} as sent", media)


def unsupported(snapshot: Snapshot) -> UnsupportedContentError:
    """The refusal of what has no text, with its type and size."""
    media = media_type_of(snapshot.content_type) or "of an unknown type"
    return UnsupportedContentError(
        f"The answer is {media}, {len(snapshot.body):,} bytes: not a page, text, PDF or image that can be shown.",
        "Look for a page that describes it.",
    )


def _page(snapshot: Snapshot, decoded: Decoded, form: Form) -> Document:
    if form == "raw":
        return _as_is(decoded, "source", "text/html")
    extracted = extract_page(decoded.text, snapshot.final_url, marked=form == "markdown")
    if is_challenge(decoded.text, extracted, snapshot.status):
        raise ChallengeError(
            f"{snapshot.final_url.split('/')[2]} answers with a challenge for browsers in place of the page.",
            "A person can open it in a browser; a search may find the same text elsewhere.",
        )
    notices = (_DAMAGED,) if "\ufffd" in extracted.text else ()
    document = of_page(extracted, decoded.charset, decoded.source, notices)
    shell = shell_text(extracted)
    if shell is None:
        return document
    told = of_text(shell, extraction="description only")
    return Document(
        text=told.text,
        title=extracted.title,
        borders=told.borders,
        extraction="description only",
        charset=decoded.charset,
        charset_source=decoded.source,
        notices=(*document.notices, "The page is an empty shell that scripts fill in a browser; scripts are not run "
                 "here. Given are its title, description and embedded data."),
    )  # fmt: skip


def _as_is(decoded: Decoded, extraction: str, media_type: str) -> Document:
    text = decoded.text.replace("\r\n", "\n")
    return of_text(text, extraction=extraction, media_type=media_type, charset=decoded.charset, source=decoded.source)


def _json(decoded: Decoded) -> Document:
    try:
        text = json.dumps(json.loads(decoded.text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        text = decoded.text
    return of_text(
        fenced(text, "json"),
        extraction="json",
        media_type="text/markdown",
        charset=decoded.charset,
        source=decoded.source,
    )


def _xml(snapshot: Snapshot, decoded: Decoded) -> Document:
    feed = feeds.feed_markdown(decoded.text, snapshot.final_url)
    if feed is not None:
        return of_text(
            feed, extraction="feed", media_type="text/markdown", charset=decoded.charset, source=decoded.source
        )
    return of_text(
        fenced(decoded.text.strip(), "xml"),
        extraction="xml",
        media_type="text/markdown",
        charset=decoded.charset,
        source=decoded.source,
    )
