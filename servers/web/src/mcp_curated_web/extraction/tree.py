"""A page as a light tree of plain objects, built once and without recursion: 20,000 nested elements are a page too."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

MOST_NODES: Final = 300_000
"""Elements and texts of one page; the rest is left out. A page of prose of 5 MB has some 140,000, a bomb ten times."""

DROPPED: Final = frozenset(
    {
        "script", "style", "noscript", "template", "iframe", "object", "embed", "applet", "svg", "canvas", "audio",
        "video", "map", "head", "link", "meta", "base", "dialog", "datalist", "select", "option", "textarea", "input",
        "button", "progress", "meter", "frame", "frameset", "noframes", "area", "source", "track", "param",
    }
)  # fmt: skip
"""Elements that hold no text of the page."""

BLOCKS: Final = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt",
        "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup",
        "hr", "html", "li", "legend", "main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary", "table",
        "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip

_SPACES: Final = re.compile(r"[ \t\n\r\f]+")


_FEW: Final = 50


class Element:
    """One element. `length` and `linked` count characters other than white space, inside it and inside its links."""

    __slots__ = ("attributes", "children", "has_block", "length", "linked", "parent", "tag")

    def __init__(self, tag: str, attributes: dict[str, str | None], parent: "Element | None") -> None:
        self.tag = tag
        self.attributes = attributes
        self.parent = parent
        self.children: list[Element | str] = []
        self.length = 0
        self.linked = 0
        self.has_block = False

    def get(self, name: str) -> str:
        """An attribute, empty where it is absent or has no value."""
        return self.attributes.get(name) or ""

    @property
    def names(self) -> str:
        """Its class and id, in lower case."""
        return f"{self.get('class')} {self.get('id')}".lower()

    def elements(self) -> Iterator["Element"]:
        """Its child elements."""
        return (child for child in self.children if isinstance(child, Element))

    def walk(self) -> Iterator["Element"]:
        """It and every element below it, in document order."""
        stack: list[Element] = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(child for child in reversed(element.children) if isinstance(child, Element))

    def ancestors(self, most: int = 64) -> Iterator["Element"]:
        """Its parent, and so on up, not farther than pages that people write are deep."""
        element = self.parent
        while element is not None and most > 0:
            most -= 1
            yield element
            element = element.parent

    def texts(self) -> Iterator[str]:
        """Every text below it, in document order, as written."""
        stack: list[Element | str] = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                yield node
            else:
                if node.tag == "br":
                    yield "\n"
                stack.extend(reversed(node.children))

    def text(self) -> str:
        """Its text with white space collapsed."""
        return _SPACES.sub(" ", "".join(self.texts())).strip()


@dataclass(slots=True)
class Tree:
    """A page.

    Attributes:
        root: The body.
        order: Every element, parents before children.
        hidden: The outermost elements that a reader does not see, each with how it is hidden.
        cut: Whether nodes were left out, since there were too many.
        made: Every element that was made, also those that were taken out since.
    """

    root: Element
    order: list[Element] = field(default_factory=list[Element])
    hidden: list[tuple[Element, str]] = field(default_factory=list[tuple[Element, str]])
    cut: bool = False
    made: list[Element] = field(default_factory=list[Element])

    def remove(self, elements: Iterable[Element]) -> int:
        """Take elements out, all at once, since every one of 20,000 ancestors counts what lies in it.

        Returns:
            How many of them held text.
        """
        gone = {element for element in elements if element.parent is not None}
        if not gone:
            return 0
        for parent in {element.parent for element in gone}:
            if parent is not None:
                parent.children = [child for child in parent.children if isinstance(child, str) or child not in gone]
        told = sum(element.length > 0 for element in gone)
        few = len(gone) <= _FEW
        for element in gone:
            above = element.parent if few else None
            while above is not None:
                above.length -= element.length
                above.linked -= element.linked
                above = above.parent
            element.parent = None
        self.order = list(self.root.walk())
        if not few:
            self.measure()
        return told

    def clear(self) -> None:
        """Let its elements go at once: each knows its parent, and such circles wait long for the collector."""
        for element in self.made:
            element.parent = None
            element.children = []

    def measure(self) -> None:
        """Count the characters of every element, children before parents."""
        for element in self.order:
            element.length = element.linked = 0
            element.has_block = False
        for element in reversed(self.order):
            for child in element.children:
                if isinstance(child, str):
                    element.length += sum(map(len, child.split()))
            if element.tag == "a":
                element.linked = element.length
            parent = element.parent
            if parent is not None:
                parent.length += element.length
                parent.linked += element.linked
                if element.has_block or element.tag in BLOCKS:
                    parent.has_block = True


HiddenBy = Callable[[str, dict[str, "str | None"]], str]
"""`hidden(tag, attributes)`: how an element is hidden, or nothing."""


def build_tree(parser: LexborHTMLParser, hidden: HiddenBy) -> Tree:
    """Make the tree of a parsed page, without what holds no text and without comments."""
    body = parser.body
    root = Element("body", {}, None)
    tree = Tree(root, [root])
    if body is not None:
        _fill(tree, body, hidden)
    tree.made = tree.order
    tree.measure()
    return tree


def _fill(tree: Tree, body: LexborNode, hidden: HiddenBy) -> None:
    # Last in, first out: within one parent the children are read in order, and every parent before its children.
    stack: list[tuple[LexborNode, Element, bool]] = [(body, tree.root, False)]
    left = MOST_NODES
    while stack:
        node, element, inside = stack.pop()
        children = element.children
        child = node.first_child
        while child is not None:
            left -= 1
            if left < 0:
                tree.cut = True
                return
            tag = child.tag or ""
            if tag == "-text":
                children.append(child.text_content or "")
            elif tag not in DROPPED and not tag.startswith(("-", "!")):
                attributes = child.attributes
                one = Element(tag, attributes, element)
                children.append(one)
                tree.order.append(one)
                how = "" if inside else hidden(tag, attributes)
                if how:
                    tree.hidden.append((one, how))
                stack.append((child, one, inside or bool(how)))
            child = child.next
