"""The serialiser: a region of a page as Markdown or as plain text. Iterative; linear but for what nesting indents."""

import re
from dataclasses import dataclass, field
from typing import Final

from mcp_curated_web.extraction.code import ANCHORS, code_text, fenced, language_of
from mcp_curated_web.extraction.links import Addresses
from mcp_curated_web.extraction.tables import is_data_table, rows_of
from mcp_curated_web.extraction.tree import BLOCKS, Element

DEEPEST_INDENT: Final = 12
"""Levels of lists and quotes that are told apart; indentation grows with the square of the depth."""

_SPACES: Final = re.compile(r"[ \t\n\r\f]+")
_SPECIAL: Final = re.compile(r"[\\`*]|<(?=[A-Za-z/!?])|\](?=[(\[:])|_(?:(?<![^\W_]_)|(?![^\W_]))|!(?=\[)")
_AT_START: Final = re.compile(r"\A(?:#{1,6}(?=\s|$)|[-+](?=\s|$)|>|~~~|={2,}\s*$|-{2,}\s*$|[0-9]{1,9}(?=[.)](?:\s|$)))")
_MEETING: Final = re.compile(r"\][(\[:]|<[A-Za-z/!?]|!\[")
"""The last character of one element and the first of the next that would be a link, a tag or an image together."""
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_MARKS: Final = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~", "strike": "~~"}
_CODES: Final = frozenset({"code", "kbd", "samp", "tt"})
_SYMBOLS: Final = frozenset({"¶", "#", "§", "🔗", "↩", "↩︎", "^"})
_LONGEST_ALT: Final = 200
_UNSEEN_SIZES: Final = frozenset({"0", "1", "0px", "1px"})


@dataclass(frozen=True, slots=True)
class Piece:
    """One block of the result.

    Attributes:
        text: Its lines, indented.
        level: Of a heading, from 1; 0 for everything else.
        title: Of a heading: its words without marks.
        anchor: Of a heading: its id.
        tight: Whether no blank line stands before it.
    """

    text: str
    level: int = 0
    title: str = ""
    anchor: str = ""
    tight: bool = False


@dataclass(slots=True)
class _Level:
    """One open list item or quote: what its lines begin with."""

    first: str
    rest: str
    fresh: bool = True
    item: bool = False


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int
    start: int


@dataclass(slots=True)
class Writer:
    """Writes the blocks of a region.

    Attributes:
        addresses: Makes links absolute.
        marked: Markdown; False for plain text.
        pieces: The blocks so far.
        links: The links so far: text and absolute URL.
    """

    addresses: Addresses
    marked: bool = True
    pieces: list[Piece] = field(default_factory=list[Piece])
    links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _line: list[str] = field(default_factory=list[str])
    _levels: list[_Level] = field(default_factory=list[_Level])
    _lists: list[_List] = field(default_factory=list[_List])
    _marks: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    _open_link: str = ""
    _last_list: _List | None = None
    _heading: Element | None = None

    def write(self, region: Element) -> None:
        """Write a region."""
        stack: list[tuple[Element | str, bool]] = [(region, False)]
        while stack:
            node, closing = stack.pop()
            if isinstance(node, str):
                self._say(node)
            elif closing:
                self._close(node)
            elif self._open(node):
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.children))
        self._flush()

    def _say(self, text: str) -> None:
        words = " ".join(text.split())
        plain = f"{' ' * text[0].isspace()}{words}{' ' * text[-1].isspace()}" if words else " " * bool(text)
        self._join(_SPECIAL.sub(r"\\\g<0>", plain) if self.marked else plain)

    def _join(self, shown: str) -> None:
        if self.marked and self._line and _MEETING.fullmatch(self._line[-1][-1:] + shown[:1]):
            self._line[-1] = f"{self._line[-1][:-1]}\\{self._line[-1][-1]}"
        self._line.append(shown)

    def _open(self, element: Element) -> bool:
        """Begin an element; False when it is done already, its children included."""
        tag = element.tag
        if tag in BLOCKS:
            self._flush()
            return self._open_block(element, tag)
        if tag == "br":
            self._line.append("\n")
        elif tag == "img":
            self._image(element)
        elif tag == "a":
            return self._open_anchor(element)
        elif tag in _CODES and not element.has_block:
            self._code(element)
            return False
        elif tag in _MARKS:
            self._marks.append((len(self._line), _MARKS[tag]))
        elif tag == "q":
            self._line.append('"')
        return tag != "img"

    def _open_block(self, element: Element, tag: str) -> bool:
        if tag == "pre":
            return self._preformatted(element)
        if tag == "table" and is_data_table(element):
            self._table(element)
            return False
        if tag in ("ul", "ol", "menu"):
            start = element.get("start")
            first = int(start) if start.isdecimal() and len(start) < 9 else 1
            self._lists.append(_List(tag == "ol", first, first))
        elif tag == "li":
            self._item(element)
        elif tag == "blockquote":
            self._enter("> ", "> ")
        elif tag in _HEADINGS:
            self._heading = element
        elif tag == "hr":
            self._add("---" if self.marked else "")
        return True

    def _close(self, element: Element) -> None:
        tag = element.tag
        if tag in BLOCKS:
            self._flush()
            if tag in ("ul", "ol", "menu"):
                self._lists.pop()
            elif tag in ("li", "blockquote"):
                self._levels.pop()
            elif element is self._heading:
                self._heading = None
        elif tag == "a":
            self._close_anchor(element)
        elif tag in _MARKS:
            self._close_mark()
        elif tag == "q":
            self._line.append('"')

    def _item(self, element: Element) -> None:
        parent = element.parent
        inside = self._lists[-1] if self._lists and parent is not None and parent.tag in ("ul", "ol", "menu") else None
        marker = "- "
        if inside is not None and inside.ordered:
            marker = f"{inside.number}. "
            inside.number += 1
        self._enter(marker, " " * len(marker), item=True)

    def _enter(self, first: str, rest: str, item: bool = False) -> None:
        if len(self._levels) >= DEEPEST_INDENT:
            first = rest = ""
        if not self.marked and first == "> ":
            first = rest = ""
        self._levels.append(_Level(first, rest, item=item))

    def _flush(self) -> None:
        """End the paragraph under way."""
        if not self._line:
            return
        raw = "".join(self._line)
        self._line.clear()
        self._marks.clear()
        text = "\n".join(" ".join(line.split()) for line in raw.strip().split("\n"))
        if not text.strip("*~ \n\xa0"):
            return
        if self._open_link:
            text = self._linked(text, self._open_link)
            self._open_link = ""
        if self._heading is not None:
            self._head(self._heading, text)
        else:
            self._add(self._paragraph(text))

    def _paragraph(self, text: str) -> str:
        if not self.marked:
            return re.sub(r"\n{3,}", "\n\n", text)
        lines = [line for line in text.split("\n") if line]
        return "\\\n".join(_AT_START.sub(_escape_start, line, count=1) for line in lines)

    def _head(self, element: Element, text: str) -> None:
        line = text.replace("\n", " ")
        level = _HEADINGS[element.tag]
        anchor = element.get("id") or _anchor_around(element)
        shown = f"{'#' * level} {line}" if self.marked else line
        self._add(shown, level, element.text().rstrip("¶#§ "), anchor)

    def _add(self, text: str, level: int = 0, title: str = "", anchor: str = "") -> None:
        if not text:
            return
        levels = self._levels[:DEEPEST_INDENT]
        outermost = self._lists[0] if self._lists and levels else None
        tight = outermost is not None and outermost is self._last_list and self._continues(levels)
        self._last_list = outermost
        first = "".join(one.first if one.fresh else one.rest for one in levels)
        rest = "".join(one.rest for one in levels)
        for one in levels:
            one.fresh = False
        lines = text.split("\n")
        following = [rest + line if line else rest.rstrip() for line in lines[1:]]
        self.pieces.append(Piece("\n".join([first + lines[0], *following]), level, title, anchor, tight))

    def _continues(self, levels: list[_Level]) -> bool:
        """Whether what is written begins a list item that needs no blank line before it."""
        if not any(one.fresh and one.item for one in levels):
            return False
        inner = self._lists[-1]  # a list that begins with another number than 1 cannot follow a paragraph's line
        return not (inner.ordered and inner.start != 1 and inner.number == inner.start + 1)

    def _open_anchor(self, element: Element) -> bool:
        if (len(element.attributes) > 1 and ANCHORS.search(element.names)) or element.get("role") == "doc-backlink":
            return False
        if not element.length and not element.children:
            return False
        if element.length <= 2 and "".join(element.texts()).strip() in _SYMBOLS and element.get("href")[:1] == "#":
            return False
        if element.has_block:
            self._flush()
            self._open_link = self.addresses.take(element.get("href"))
        else:
            self._marks.append((len(self._line), ""))
        return True

    def _close_anchor(self, element: Element) -> None:
        if element.has_block:
            self._flush()
            self._open_link = ""
            return
        start = self._marks.pop()[0] if self._marks else len(self._line)
        url = self.addresses.take(element.get("href"))
        text = "".join(self._line[start:])
        words = text.strip(" \n")
        if url and words:
            del self._line[start:]
            before, after = " " * text.startswith((" ", "\n")), " " * text.endswith((" ", "\n"))
            self._join(f"{before}{self._linked(words.replace(chr(10), ' '), url)}{after}")

    def _linked(self, text: str, url: str) -> str:
        if not url:
            return text
        self.links.append((text, url))
        return f"[{text}]({url})" if self.marked else text

    def _image(self, element: Element) -> None:
        alt = _SPACES.sub(" ", element.get("alt")).strip()[:_LONGEST_ALT]
        if not alt or not self.marked or {element.get("width"), element.get("height")} & _UNSEEN_SIZES:
            return
        source = self.addresses.take(element.get("src"))
        shown = _SPECIAL.sub(r"\\\g<0>", alt)
        self._line.append(f"![{shown}]({source})" if source and not source.startswith("mailto:") else shown)

    def _code(self, element: Element) -> None:
        text = _SPACES.sub(" ", "".join(element.texts()))
        if not self.marked or not text.strip():
            self._line.append(text)
            return
        ticks = "`" * (1 + max(map(len, _TICKS.findall(text)), default=0))
        pad = " " if text.strip()[0] == "`" or text.strip()[-1] == "`" else ""
        before, after = " " * text.startswith(" "), " " * text.endswith(" ")
        link = next((one for one in element.walk() if one.tag == "a"), None) if element.linked else None
        code = f"{ticks}{pad}{text.strip()}{pad}{ticks}"
        whole = link is not None and link.length == element.length
        url = self.addresses.take(link.get("href")) if link is not None and whole else ""
        self._join(before + self._linked(code, url) + after)

    def _close_mark(self) -> None:
        if not self._marks:
            return
        start, mark = self._marks.pop()
        text = "".join(self._line[start:])
        words = text.strip()
        if not self.marked or not words or "\n" in words or self._heading is not None:
            return
        del self._line[start:]
        lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        self._line.append(f"{lead}{mark}{words}{mark}{tail}")

    def _preformatted(self, element: Element) -> bool:
        if any(one.tag == "table" or one.tag in _HEADINGS for one in element.walk()):
            return True
        text = code_text(element)
        if text.strip():
            self._add(fenced(text, language_of(element)) if self.marked else text)
        return False

    def _table(self, element: Element) -> None:
        for caption in (one for one in element.elements() if one.tag == "caption"):
            self._add(self._cell(caption))
        rows = [[self._cell(cell) for cell in row] for row in rows_of(element)]
        width = max(map(len, rows), default=0)
        if not self.marked:
            self._add("\n".join("\t".join(row) for row in rows))
            return
        lines = ["| " + " | ".join((*row, *[""] * (width - len(row)))) + " |" for row in rows]
        lines.insert(1, "|" + " --- |" * width)
        self._add("\n".join(lines))

    def _cell(self, cell: Element) -> str:
        """What a cell holds, on one line."""
        inner = Writer(self.addresses, self.marked)
        inner._line = []
        stack: list[tuple[Element | str, bool]] = [(child, False) for child in reversed(cell.children)]
        while stack:
            node, closing = stack.pop()
            if isinstance(node, str):
                inner._say(node)
            elif closing:
                inner._close_in_cell(node)
            elif inner._open_in_cell(node):
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.children))
        self.links += inner.links
        text = _SPACES.sub(" ", "".join(inner._line)).strip()
        return text.replace("|", "\\|") if self.marked else text

    def _open_in_cell(self, element: Element) -> bool:
        if element.tag == "pre":
            self._code(element)
            return False
        if element.tag in BLOCKS:
            self._line.append(" ")
            return True
        if element.tag == "a" and element.has_block:
            return True
        return self._open(element)

    def _close_in_cell(self, element: Element) -> None:
        if element.tag in BLOCKS:
            self._line.append(" ")
        elif not (element.tag == "a" and element.has_block):
            self._close(element)


_TICKS: Final = re.compile("`+")


def _escape_start(match: re.Match[str]) -> str:
    start = match[0]
    return f"{start}\\" if start[0].isdigit() else f"\\{start}"


def _anchor_around(element: Element) -> str:
    parent = element.parent
    if parent is None or parent.tag not in ("section", "div"):
        return ""
    first = next(parent.elements(), None)
    return parent.get("id") if first is element else ""
