"""Which part of a page is worth reading: the whole main region of documentation, the article of an article page."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from mcp_curated_web.extraction.tree import Element, Tree

Locator = Callable[[], Sequence[str]]
"""The lines that a locator takes for the article; asked only when the page is no documentation."""

_MAIN_IDS: Final = frozenset(
    {"content", "main", "main-content", "maincontent", "page-content", "bodycontent", "article"}
)
_MAIN_CLASSES: Final = frozenset(
    {"main-content", "page-content", "markdown-body", "document", "entry-content", "post-content"}
)
_LEAST_SHARE: Final = 0.2
_DOCUMENTATION: Final = 3.0
_WHOLE: Final = 0.95
_COVERED: Final = 0.92
_OPENING: Final = frozenset({"h1", "h2"})
_CLOSING: Final = frozenset({"pre", "code", "table", "thead", "tbody", "tr", "th", "td"})
_CERTAIN: Final = 12
_PARAGRAPHS: Final = frozenset({"p", "pre", "blockquote", "td", "li", "div", "section", "dd"})
_PROBE: Final = 30
_PROSE: Final = 60
_LEAST_ARTICLE: Final = 100
_NEVER: Final = frozenset({"nav", "menu", "search"})
_NAVIGATION_ROLES: Final = frozenset(
    {
        "navigation",
        "search",
        "banner",
        "contentinfo",
        "menu",
        "menubar",
        "toolbar",
        "dialog",
        "alertdialog",
        "complementary",
    }
)
_CLUTTER: Final = re.compile(
    r"(?:^|[\s_-])(?:share|sharing|social|related|recommend\w*|newsletter|subscribe|promo\w*|sponsor\w*|advert\w*|ads?|"
    r"cookie\w*|consent|comments?|disqus|breadcrumbs?|pagination|pager|sidebar|toc-?nav|popup|modal|outbrain|taboola|"
    r"author-?bio|tags?-?list|read-?more|more-?stories|trending|popular|skip-?link|signup|paywall|print-?only|"
    r"byline|dateline|credits?|widget)(?:$|[\s_-])"
)
_WORDS: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Region:
    """What was chosen.

    Attributes:
        element: The region.
        kind: "documentation", "article", "main" or "body".
        method: How it was chosen, for the reader of the result.
    """

    element: Element
    kind: str
    method: str


def choose_region(tree: Tree, locator: Locator | None) -> Region:
    """Choose the region of a page; the tree loses its navigation.

    Args:
        tree: Without hidden text.
        locator: Gives the lines of the article, or None where there is none.
    """
    _drop_navigation(tree)
    main, named = _main_region(tree)
    if not main.length:
        return Region(tree.root, "body", "whole")
    if _documentation_score(main) >= _DOCUMENTATION:
        return Region(main, "documentation", "whole")
    if locator is not None:
        lines = [line for line in (_squeeze(line) for line in locator()) if line]
        found = _located(tree, main, lines)
        if found is not None:
            return found
    article = _scored(main)
    if article is None or article.length >= main.length * _WHOLE:
        return Region(main, "main" if named else "body", "whole")
    _prune(tree, article, ())
    return Region(article, "article", "scored")


def _drop_navigation(tree: Tree) -> None:
    total = tree.root.length
    titled = _with_ancestors(element for element in tree.order if element.tag == "h1")
    tree.remove(
        element
        for element in tree.order[1:]
        if element.length < total * 0.6
        and _is_navigation(element)
        and not (element.tag == "header" and element in titled)
    )


def _is_navigation(element: Element) -> bool:
    tag = element.tag
    if tag in _NEVER or (element.attributes and element.get("role").lower() in _NAVIGATION_ROLES):
        return True
    if tag == "footer":
        return not any(above.tag in ("article", "blockquote", "main") for above in element.ancestors())
    if tag == "aside":
        return element.linked > element.length * 0.5
    if tag == "header":
        return not any(above.tag in ("article", "main", "section") for above in element.ancestors())
    return False


def _with_ancestors(elements: Iterable[Element]) -> set[Element]:
    """The elements and everything that holds one of them."""
    found: set[Element] = set()
    for element in elements:
        one: Element | None = element
        while one is not None and one not in found:
            found.add(one)
            one = one.parent
    return found


def _main_region(tree: Tree) -> tuple[Element, bool]:
    """The region that the page itself marks as its content, if it holds a fair part of the text; else the body."""
    total = tree.root.length
    best: tuple[float, Element] | None = None
    articles = sum(element.tag == "article" for element in tree.order)
    for element in tree.order:
        if not element.attributes and element.tag not in ("main", "article"):
            continue
        weight = _main_weight(element, articles)
        if weight and element.length >= total * _LEAST_SHARE:
            score = weight + element.length / max(1, total)
            if best is None or score > best[0]:
                best = (score, element)
    return (tree.root, False) if best is None else (best[1], True)


def _main_weight(element: Element, articles: int) -> float:
    if element.tag == "main" or element.get("role").lower() == "main":
        return 2.0
    if element.tag == "article" and articles == 1:
        return 1.6
    if element.get("itemprop").lower() == "articlebody":
        return 1.5
    if element.get("id").lower() in _MAIN_IDS:
        return 1.2
    if _MAIN_CLASSES & set(element.get("class").lower().split()):
        return 1.0
    return 0.0


def _documentation_score(region: Element) -> float:
    counts = Counter(element.tag for element in region.walk())
    return counts["pre"] + counts["th"] / 3 + counts["dt"] / 3 + counts["code"] / 8


def _squeeze(text: str) -> str:
    return "".join(_WORDS.findall(text.lower()))


def _located(tree: Tree, main: Element, lines: Sequence[str]) -> Region | None:
    total = sum(map(len, lines))
    if total < _LEAST_ARTICLE:
        return None
    hits = _hits(tree, lines)
    covered = sum(hits.values())
    if covered < total * 0.3:
        return None
    below = set(main.walk())
    inside = sum(size for element, size in hits.items() if element in below)
    if inside >= len(_squeeze("".join(main.texts()))) * _WHOLE:
        return Region(main, "main", "whole")
    words = {element: _squeeze("".join(element.texts())) for element in hits}
    article = _lowest(tree, hits, words)
    _prune(tree, article, [element for element in article.walk() if element in hits])
    return Region(article, "article", "located")


def _hits(tree: Tree, lines: Sequence[str]) -> dict[Element, int]:
    """The innermost blocks whose words the article has, and how many letters of them."""
    known = _Lines(lines)
    hits: dict[Element, int] = {}
    for element in tree.root.walk():
        if element.length < 2 or _in_inline(element):
            continue
        if element.has_block:  # only the text that stands between its blocks
            parts = [words for child in element.children if isinstance(child, str) and (words := _squeeze(child))]
            own = sum(len(words) for words in parts if len(words) >= _CERTAIN and known.hold(words))
        else:
            words = _squeeze("".join(element.texts()))
            own = len(words) if known.hold(words) else 0
        if own:
            hits[element] = own
    return hits


class _Lines:
    """The words of an article without what stands between them."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = frozenset(lines)
        self._whole = "".join(lines)

    def hold(self, words: str) -> bool:
        """Whether these words are a line of it, or lie in it, or most of them do."""
        if len(words) < _CERTAIN:
            return words in self._lines
        if words in self._whole:
            return True
        step = max(1, (len(words) - _PROBE) // 4)
        probes = [words[at : at + _PROBE] for at in range(0, len(words) - _PROBE + 1, step)][:5]
        return len(words) >= 3 * _PROBE and sum(probe in self._whole for probe in probes) * 2 > len(probes)


_INLINE: Final = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "label", "mark",
     "q",      "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "br", "img"}
)  # fmt: skip


def _in_inline(element: Element) -> bool:
    """Whether it is part of a paragraph that is looked at as a whole."""
    parent = element.parent
    return element.tag in _INLINE and parent is not None and not parent.has_block


def _lowest(tree: Tree, hits: dict[Element, int], words: dict[Element, str]) -> Element:
    """The lowest element that holds nearly all of the hits' different words; teasers repeat them elsewhere."""
    ranges = _ranges(tree, hits)
    found = list(hits)
    enough = sum(map(len, set(words.values()))) * _COVERED
    best = tree.root
    while True:
        inside = [
            child
            for child in best.elements()
            if child in ranges
            and child.has_block
            and (
                ranges[child] == ranges[best]
                or sum(map(len, {words[one] for one in found[slice(*ranges[child])]})) >= enough
            )
        ]
        if not inside:
            return best
        best = min(inside, key=lambda child: child.length)


def _ranges(tree: Tree, hits: dict[Element, int]) -> dict[Element, tuple[int, int]]:
    """Where the hits of each element lie among all of them; in document order those of one element stand together."""
    ranges: dict[Element, tuple[int, int]] = {}
    for number, element in enumerate(hits):
        ranges[element] = (number, number + 1)
    for element in reversed(tree.order):
        own, parent = ranges.get(element), element.parent
        if own is not None and parent is not None:
            before = ranges.get(parent, own)
            ranges[parent] = (min(before[0], own[0]), max(before[1], own[1]))
    return ranges


def _prune(tree: Tree, region: Element, hits: Iterable[Element]) -> None:
    """Take link lists and clutter out of an article, but nothing that holds a hit."""
    needed = _with_ancestors(hits)
    others = [element for element in region.walk() if element is not region and element not in needed]
    outside = _outside(region, set(hits))
    tree.remove(element for element in others if element in outside or _is_clutter(element))


def _outside(region: Element, hits: set[Element]) -> set[Element]:
    """What stands before the first hit and after the last, but for headings before and code and tables after."""
    if not hits:
        return set()
    order = list(region.walk())
    places = [place for place, element in enumerate(order) if element in hits]
    first, last = places[0], places[-1]
    in_last = set(order[last].walk())
    parents = {element.parent for element in hits if element.tag == "p"}
    before = {element for element in order[:first] if element.tag not in _OPENING and not element.has_block}
    after = {element for element in order[last + 1 :] if element.tag not in _CLOSING and element not in in_last}
    kept = _with_ancestors(element for element in after if element.parent in parents and _is_prose(element))
    return before | {element for element in after if element not in kept and not _in_inline(element)}


def _is_prose(element: Element) -> bool:
    """A paragraph that a locator may have passed over."""
    return element.tag == "p" and element.length >= _PROSE and element.linked < element.length * 0.3


def _is_clutter(element: Element) -> bool:
    if element.tag in ("aside", "footer", "form"):
        return True
    if element.tag not in ("div", "section", "ul", "ol", "p", "figure", "span", "header", "table", "dl", "li"):
        return False
    if _CLUTTER.search(element.names):
        return True
    return element.tag not in ("p", "span", "li") and element.length > 20 and element.linked > element.length * 0.6


def _scored(main: Element) -> Element | None:
    """The element whose paragraphs weigh most, when there is no locator; lengths and commas, as prose has them."""
    scores: Counter[Element] = Counter()
    for element in main.walk():
        if element.tag not in _PARAGRAPHS or element.has_block or element.length < 25:
            continue
        weight = _weight(element)
        for share, above in zip((1.0, 0.5, 0.25), element.ancestors(), strict=False):
            scores[above] += int(weight * share * 100)
    if not scores:
        return None
    best = max(scores, key=lambda element: scores[element] * (1 - element.linked / max(1, element.length)))
    return _widened(best, main, scores)


def _weight(element: Element) -> float:
    text = "".join(element.texts())
    commas = text.count(",") + text.count("\uff0c") + text.count("\u3001")
    prose = 1 - element.linked / max(1, element.length)
    return (1 + commas + min(element.length / 100, 3)) * prose


def _widened(best: Element, main: Element, scores: Counter[Element]) -> Element:
    """Up to where the prose does not grow by much any more: an article may lie in several parts."""
    while best is not main and best.parent is not None:
        parent = best.parent
        prose, wider = best.length - best.linked, parent.length - parent.linked
        heading = any(child.tag in ("h1", "header") for child in parent.elements())
        if not heading and (wider > prose * 1.4 or wider < prose * 1.05) and scores[parent] < scores[best] * 0.9:
            break
        if wider > prose * 2:
            break
        best = parent
    return best
