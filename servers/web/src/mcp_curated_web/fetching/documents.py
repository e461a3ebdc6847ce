"""A text made of an answer, and its pages: cut at block borders, adding up to the whole."""

import bisect
import re
from dataclasses import dataclass
from typing import Final

from mcp_curated_shared.errors import NotFoundError
from mcp_curated_web.extraction.page import Extracted, Heading, Link, join_pieces
from mcp_curated_web.extraction.writing import Piece

_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n+")
_MARKDOWN_HEADING: Final = re.compile(r"^(#{1,6})[ \t]([^\n]*)$", re.MULTILINE)
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_MOST_SECTIONS_TOLD: Final = 12
_LONGEST_TOLD: Final = 60


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its structure.

    Attributes:
        text: The whole of it.
        title: Its title; may be empty.
        borders: Where blocks begin after the first, ascending.
        headings: In order.
        links: In order; may be empty.
        extraction: How it was made of what came: "article (located)", "json", "pdf" and so on.
        charset: The charset it was read in; empty for none.
        charset_source: How that was found; empty for none.
        notices: What its reader should know.
        media_type: Of the text as it is given.
    """

    text: str
    title: str = ""
    borders: tuple[int, ...] = ()
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    extraction: str = "none"
    charset: str = ""
    charset_source: str = ""
    notices: tuple[str, ...] = ()
    media_type: str = "text/markdown"


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a text.

    Attributes:
        text: The part.
        start: Where it begins.
        following: Where the next part begins; None at the end.
        total: Characters of the whole.
    """

    text: str
    start: int
    following: int | None
    total: int


def page_of(document: Document, start: int, longest: int) -> Page:
    """One page of a text.

    Args:
        document: The text.
        start: Its first character; past the end is an empty page.
        longest: The most characters.
    """
    total = len(document.text)
    if start >= total:
        return Page("", start, None, total)
    end = min(total, start + longest)
    if end < total:
        end = _cut(document, start, end)
    return Page(document.text[start:end], start, end if end < total else None, total)


def _cut(document: Document, start: int, end: int) -> int:
    """The last block border up to `end`, if it leaves no tiny page; else a line's or word's end."""
    least = start + max(1, (end - start) // 4)
    at = bisect.bisect_right(document.borders, end) - 1
    if at >= 0 and document.borders[at] >= least:
        return document.borders[at]
    for mark in ("\n", " "):
        found = document.text.rfind(mark, least, end)
        if found >= 0:
            return found + 1
    return end


def section_of(document: Document, wanted: str) -> Document:
    """The part of a text under one heading, up to the next heading of its level or above.

    Args:
        document: The text.
        wanted: The heading's words or anchor; case does not count, and a part is enough when only one has it.

    Raises:
        NotFoundError: No heading is meant, or several are.
    """
    found = _heading(document, wanted)
    following = (one.start for one in document.headings if one.start > found.start and one.level <= found.level)
    end = next(following, len(document.text))
    return Document(
        text=document.text[found.start : end].rstrip("\n"),
        title=document.title,
        borders=tuple(border - found.start for border in document.borders if found.start < border < end),
        headings=tuple(
            Heading(one.level, one.title, one.start - found.start, one.anchor)
            for one in document.headings
            if found.start <= one.start < end
        ),
        links=document.links,
        extraction=document.extraction,
        charset=document.charset,
        charset_source=document.charset_source,
        notices=document.notices,
        media_type=document.media_type,
    )


def _heading(document: Document, wanted: str) -> Heading:
    word = " ".join(wanted.lower().lstrip("#").split())
    exact = [one for one in document.headings if word in (one.title.lower(), one.anchor.lower())]
    partial = [one for one in document.headings if word and word in one.title.lower()]
    if exact or len(partial) == 1:
        return (exact or partial)[0]
    if not document.headings:
        raise NotFoundError("The page has no headings.", "Leave section out.")
    names = ", ".join(f'"{_quoted(one.title)}"' for one in (partial or document.headings)[:_MOST_SECTIONS_TOLD])
    which = "Several headings match section" if partial else "No heading matches section"
    raise NotFoundError(f"{which}; the page has, for example, {names}.", "Call with outline for all of them.")


def _quoted(title: str) -> str:
    """A page's words for the inside of an error: short, and unable to end their quotes."""
    return re.sub('["\u201c\u201d]', "'", title if len(title) <= _LONGEST_TOLD else title[: _LONGEST_TOLD - 1] + "…")


def outline_of(document: Document) -> str:
    """The headings as an indented list, each with where it begins."""
    return "\n".join(f"{'  ' * (one.level - 1)}- {one.title} (start_index {one.start})" for one in document.headings)


def of_page(extracted: Extracted, charset: str, source: str, notices: tuple[str, ...] = ()) -> Document:
    """The document of an HTML page."""
    return Document(
        text=extracted.text,
        title=extracted.title,
        borders=extracted.borders,
        headings=extracted.headings,
        links=extracted.links,
        extraction=f"{extracted.region} ({extracted.method})",
        charset=charset,
        charset_source=source,
        notices=(*extracted.notices, *notices),
    )


def of_text(
    text: str, *, extraction: str, title: str = "", media_type: str = "text/plain", charset: str = "", source: str = ""
) -> Document:
    """The document of a text that is given as it is, but for invisible characters."""
    cleaned, _, _, invisible = join_pieces([Piece(text)])
    notices = (f"{invisible} invisible characters were removed.",) if invisible else ()
    fences = _fenced(cleaned) if media_type == "text/markdown" else []
    borders = tuple(m.end() for m in _BLANK_LINE.finditer(cleaned) if not _inside(fences, m.end()))
    headings: tuple[Heading, ...] = ()
    if media_type == "text/markdown":
        headings = tuple(
            Heading(len(m[1]), m[2].strip().rstrip("#").strip()[:300], m.start())
            for m in _MARKDOWN_HEADING.finditer(cleaned)
            if m[2].strip("# \t") and not _inside(fences, m.start())
        )
    title = title or next((one.title for one in headings), "")
    return Document(cleaned, title, borders, headings, (), extraction, charset, source, notices, media_type)


def _fenced(text: str) -> list[tuple[int, int]]:
    """Where fenced code begins and ends."""
    spans: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for match in _FENCE.finditer(text):
        if opened is None:
            opened = (match.start(), match[1])
        elif match[1].startswith(opened[1]):
            spans.append((opened[0], match.end()))
            opened = None
    return spans


def _inside(spans: list[tuple[int, int]], place: int) -> bool:
    at = bisect.bisect_right(spans, (place, len(spans) and spans[-1][1] + 1)) - 1
    return at >= 0 and spans[at][0] < place < spans[at][1]
