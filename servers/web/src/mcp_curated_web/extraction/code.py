"""Code blocks: their language, as the usual highlighters write it, and a fence that the code cannot close."""

import re
from typing import Final

from mcp_curated_web.extraction.tree import Element

_NAMED: Final = re.compile(r"(?:^|\s)(?:lang(?:uage)?|highlight(?:-source)?|sourceCode|code)[-\s]([\w+#.-]{1,30})")
_BRUSH: Final = re.compile(r"brush:\s*([\w+#.-]{1,30})")
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
