"""RSS and Atom as a list. Read as loose markup: no entity is expanded and nothing is loaded (CWE-611, CWE-776)."""

import re
from typing import Final
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

_FEED: Final = re.compile(r"<(?:rss|feed|rdf:RDF)\b", re.IGNORECASE)
_LINK: Final = re.compile(r"<link>\s*([^<\s]{1,2000})\s*</link>", re.IGNORECASE)
_MOST_ENTRIES: Final = 200
_LONGEST_SUMMARY: Final = 500


def feed_markdown(text: str, url: str) -> str | None:
    """A feed's entries as Markdown; None when the text is no feed."""
    if not _FEED.search(text[:3_000]):
        return None
    # HTML has a void element <link>: RSS writes its URL inside one, which a parser of HTML would lose.
    loose = _LINK.sub(r"<feed-link>\1</feed-link>", _without_cdata(text))
    parser = LexborHTMLParser(loose)
    entries = [*parser.css("item"), *parser.css("entry")][:_MOST_ENTRIES]
    title = _text(parser.css_first("title"))
    lines = [f"# {title}"] if title else []
    lines += [_entry(entry, url) for entry in entries]
    return "\n\n".join(lines)


def _without_cdata(text: str) -> str:
    """Sections of character data as escaped text, in one pass."""
    parts: list[str] = []
    for number, part in enumerate(text.split("<![CDATA[")):
        inside, closed, rest = part.partition("]]>")
        parts.append(_escape(inside) + rest if number and closed else part)
    return "".join(parts)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _entry(entry: LexborNode, base: str) -> str:
    title = _text(entry.css_first("title")) or "(no title)"
    link = _link(entry, base)
    date = next((found for name in ("pubdate", "published", "updated") if (found := _text(entry.css_first(name)))), "")
    summary = next(
        (found for name in ("description", "summary", "content") if (found := _text(entry.css_first(name)))), ""
    )
    head = f"- [{title}]({link})" if link else f"- {title}"
    head += f" ({date})" if date else ""
    short = summary if len(summary) <= _LONGEST_SUMMARY else summary[: _LONGEST_SUMMARY - 1] + "…"
    return f"{head}\n  {short}" if short else head


def _link(entry: LexborNode, base: str) -> str:
    node = entry.css_first("feed-link")
    found = _text(node)
    if not found:
        linked = entry.css_first('link[rel="alternate"]') or entry.css_first("link[href]")
        found = (linked.attributes.get("href") or "") if linked is not None else ""
    try:
        url = urljoin(base, found.strip()) if found else ""
    except ValueError:
        return ""
    return url.replace(" ", "%20").replace(")", "%29") if url.startswith(("http://", "https://")) else ""


def _text(node: LexborNode | None) -> str:
    if node is None:
        return ""
    words = node.text()
    if "<" in words:
        words = LexborHTMLParser(words).text()
    return " ".join(words.split()).replace("[", "(").replace("]", ")")
