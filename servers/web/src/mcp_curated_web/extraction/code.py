"""Code blocks: their language, as the usual highlighters write it, and a fence that the code cannot close."""

import re
from typing import Final

from mcp_curated_web.extraction.tree import Element

_NAMED: Final = re.compile(r"(?:^|\s)(?:lang(?:uage)?|highlight(?:-source)?|sourceCode|code)[-\s]([\w+#.-]{1,30})")
_BRUSH: Final = re.compile(r"brush:\s*([\w+#.-]{1,30})")
ANCHORS: Final = re.compile(r"headerlink|anchor(?:js)?-?link|permalink|heading-anchor|footnote-?back(?:ref|link)?")
"""Class names of links from a heading or a line to itself."""

_LINE_NUMBERS: Final = re.compile(r"\b(?:linenos?|line-numbers?-rows|lineno|gutter)\b")
_TICKS: Final = re.compile(r"`{3,}")
_NO_LANGUAGE: Final = frozenset(
    {
        "none",
        "default",
        "text",
        "plain",
        "plaintext",
        "notranslate",
        "block",
        "wrapper",
        "toolbar",
        "numbers",
        "nohighlight",
    }
)


def language_of(element: Element) -> str:
    """The language of a code block, empty when nothing says it."""
    inside = [one for one in element.elements() if one.tag == "code"]
    around = list(_near(element))
    for one in (*inside, element, *around):
        data = one.get("data-lang") or one.get("data-language")
        names = one.get("class")
        match = _NAMED.search(names) or _BRUSH.search(names)
        word = (data or (match[1] if match else "")).lower()
        if word not in _NO_LANGUAGE and re.fullmatch(r"[\w+#.-]{1,30}", word):
            return word
        if "sourcecode" in names.lower().split() and len(names.split()) > 1:
            return next((name for name in names.split() if name.lower() != "sourcecode"), "")
    return ""


def _near(element: Element) -> list[Element]:
    above = element.parent
    near: list[Element] = []
    while above is not None and len(near) < 3 and above.tag in ("div", "figure", "td", "span"):
        near.append(above)
        above = above.parent
    return near


def fenced(text: str, language: str = "") -> str:
    """A text between fences that are longer than any in it."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def code_text(element: Element) -> str:
    """The text of a `pre` as written, without line numbers that a highlighter put in."""
    parts: list[str] = []
    stack: list[Element | str] = [element]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            parts.append(node)
        elif node.tag == "br":
            parts.append("\n")
        elif not _LINE_NUMBERS.search(node.names) and not ANCHORS.search(node.names):
            stack.extend(reversed(node.children))
    return "".join(parts).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
