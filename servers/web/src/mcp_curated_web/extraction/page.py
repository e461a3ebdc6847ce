"""One HTML page, read: title, text in blocks, headings, links, and what was left out."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser

from mcp_curated_shared.security.untrusted import clean, safe_text
from mcp_curated_web.extraction.hiding import hidden_by, remove_hidden
from mcp_curated_web.extraction.links import LONGEST_LINK, Addresses
from mcp_curated_web.extraction.locating import LARGEST, MOST_ELEMENTS, article_lines
from mcp_curated_web.extraction.regions import Region, choose_region
from mcp_curated_web.extraction.tree import build_tree
from mcp_curated_web.extraction.writing import Piece, Writer

MOST_MARKS: Final = 250_000
"""Tags of one page, beginnings and ends; a page of prose of 5 MB has some 100,000."""

_LONGEST_TITLE: Final = 300
_JSON_TEXTS: Final = ("headline", "name", "description", "articleBody", "text")
_MOST_JSON: Final = 20_000


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading of a text.

    Attributes:
        level: From 1 to 6.
        title: Its words.
        start: Where it begins in the text, in characters.
        anchor: Its id in the page.
    """

    level: int
    title: str
    start: int
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a text: its words and its absolute URL."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """A page as text.

    Attributes:
        title: Its title, cleaned; may be empty.
        text: The whole text.
        borders: Where blocks begin after the first, ascending.
        headings: In order.
        links: In order.
        region: What was kept: documentation, article, main or body.
        method: How it was chosen: whole, located or scored.
        hidden_blocks: How many hidden blocks were removed.
        invisible: How many invisible characters were removed.
        notices: What the reader should know.
        visible_length: Characters of text that the page itself shows.
        description: The page's own description and the texts of its JSON-LD.
        scripts: How many scripts it has.
    """

    title: str
    text: str
    borders: tuple[int, ...]
    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    region: str
    method: str
    hidden_blocks: int
    invisible: int
    notices: tuple[str, ...]
    visible_length: int
    description: str
    scripts: int


def extract_page(html: str, url: str, *, marked: bool = True) -> Extracted:
    """Read a page.

    Args:
        html: Its source.
        url: Where it came from, after redirects.
        marked: Markdown; False for plain text.
    """
    marks = html.count("<")
    if marks > MOST_MARKS:  # the parser takes some 300 bytes for every element, before anything of it is looked at
        html = html[: len(html) * MOST_MARKS // marks]
    parser = LexborHTMLParser(html)
    base = _base(parser, url)
    tree = build_tree(parser, hidden_by(parser))
    hiding = remove_hidden(tree)
    visible = tree.root.length
    title = _title(parser, next((one.text() for one in tree.order if one.tag == "h1" and one.length), ""))
    description, scripts = _description(parser), len(parser.css("script"))
    del parser  # some 300 bytes an element: let go before the text is made
    locator = (lambda: article_lines(html, url)) if len(html) <= LARGEST and len(tree.order) <= MOST_ELEMENTS else None
    region = choose_region(tree, locator)
    writer = Writer(Addresses(base), marked)
    writer.write(region.element)
    notices = list(_notices(hiding.removed, hiding.kept, tree.cut or marks > MOST_MARKS))
    if writer.addresses.room < 0:
        notices.append("The page's links are longer than are given; the last ones are left out, their words are not.")
    extracted = replace(
        _assembled(writer, region, notices),
        title=title,
        hidden_blocks=hiding.removed,
        visible_length=visible,
        description=description,
        scripts=scripts,
    )
    tree.clear()
    return extracted


def _assembled(writer: Writer, region: Region, notices: list[str]) -> Extracted:
    text, borders, headings, invisible = join_pieces(writer.pieces)
    if invisible:
        notices.append(f"{invisible} invisible characters were removed.")
    return Extracted(
        title="",
        text=text,
        borders=borders,
        headings=headings,
        links=tuple(Link(one_line(words), address) for words, address in dict.fromkeys(writer.links)),
        region=region.kind,
        method=region.method,
        hidden_blocks=0,
        invisible=invisible,
        notices=tuple(notices),
        visible_length=0,
        description="",
        scripts=0,
    )


def join_pieces(pieces: Sequence[Piece]) -> tuple[str, tuple[int, ...], tuple[Heading, ...], int]:
    """The blocks as one clean text, where they begin, the headings, and how many invisible characters went."""
    parts: list[str] = []
    borders: list[int] = []
    headings: list[Heading] = []
    at = invisible = 0
    for piece in pieces:
        cleaned = clean(piece.text.replace("\x00", "\ufffd"))
        invisible += cleaned.removed
        body = safe_text(cleaned.text)
        if parts:
            parts.append("\n" if piece.tight else "\n\n")
            at += len(parts[-1])
            borders.append(at)
        if piece.level:
            headings.append(Heading(piece.level, one_line(piece.title), at, piece.anchor[:200]))
        parts.append(body)
        at += len(body)
    return "".join(parts), tuple(borders), tuple(headings), invisible


def one_line(text: str, longest: int = _LONGEST_TITLE) -> str:
    """A title or name on one line, nothing invisible in it."""
    line = " ".join(safe_text(clean(text).text).replace("\x00", " ").split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _notices(removed: int, kept: bool, cut: bool) -> Iterator[str]:
    if removed:
        yield f"{removed} hidden block{'s were' if removed > 1 else ' was'} removed."
    if kept:
        yield "Most of the text is hidden until scripts run; it was kept, and may hold what no reader of the page sees."
    if cut:
        yield "The page has more elements than are read; its end is missing."


def _base(parser: LexborHTMLParser, url: str) -> str:
    node = parser.css_first("base[href]")
    href = (node.attributes.get("href") or "") if node is not None else ""
    if len(href) > LONGEST_LINK:
        return url
    try:
        joined = urljoin(url, href.strip())
    except ValueError:
        return url
    return joined if joined.startswith(("http://", "https://")) else url


def _title(parser: LexborHTMLParser, shown: str) -> str:
    node = parser.css_first("head > title") or parser.css_first("title")
    title = one_line(node.text()) if node is not None else ""
    return title or one_line(shown) or one_line(_meta(parser, "og:title"))


def _meta(parser: LexborHTMLParser, name: str) -> str:
    node = parser.css_first(f'meta[name="{name}"], meta[property="{name}"]')
    return (node.attributes.get("content") or "") if node is not None else ""


def _description(parser: LexborHTMLParser) -> str:
    found = [_meta(parser, "description") or _meta(parser, "og:description")]
    for node in parser.css('script[type="application/ld+json"]')[:10]:
        found += _json_texts(node.text())
    lines = dict.fromkeys(one_line(text, 4_000) for text in found if text.strip())
    return "\n\n".join(lines)[:_MOST_JSON]


def _json_texts(text: str) -> list[str]:
    try:
        value: object = json.loads(text[:500_000])
    except (ValueError, RecursionError):
        return []
    stack, found = [value], list[str]()
    while stack and len(found) < 40:
        one = stack.pop()
        if isinstance(one, list):
            stack.extend(reversed(cast("list[object]", one)[:50]))
        elif isinstance(one, dict):
            members = cast("dict[str, object]", one)
            found += [re.sub(r"<[^<>]{0,500}>", " ", v) for k in _JSON_TEXTS if isinstance(v := members.get(k), str)]
            stack.extend(members.values())
    return found
