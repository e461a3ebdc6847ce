"""What a page holds that its reader does not see. Instructions for models are hidden that way."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from mcp_curated_web.extraction.tree import HiddenBy, Tree

_MOST_CSS: Final = 300_000
_RULE: Final = re.compile(r"([^{}@;]{1,400})\{([^{}]{0,2000})\}")
_SIMPLE: Final = re.compile(r"(?:[a-z][a-z0-9]*)?[.#][A-Za-z_][\w-]*")
_NUMBER: Final = re.compile(r"^(-?[0-9]*\.?[0-9]+)")
_RGB: Final = re.compile(r"rgba?\(\s*([0-9]+)[\s,]+([0-9]+)[\s,]+([0-9]+)")
_COLOURS: Final = {"white": "ffffff", "black": "000000"}
_FAR: Final = 999.0
_FAR_IN: Final = {"em": 60.0, "rem": 60.0, "ch": 100.0, "vw": 99.0, "vh": 99.0, "%": 99.0}
_LENGTH: Final = re.compile(r"(-[0-9]{0,9}\.?[0-9]{1,9})\s*([a-z%]*)")
_SIZE: Final = re.compile(r"\s*([0-9]{1,9}\.?[0-9]{0,9}|\.[0-9]{1,9})\s*([a-z%]*)")
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|([^0-9a-fA-F\n]))")
_OPACITY: Final = re.compile(r"opacity\(\s*([^)]{0,20})\)")
_NOTHING: Final = re.compile(r"scale[xy3d]{0,2}\(\s*0*\.?0*[\s,)]")
_MOVED: Final = re.compile(r"translate[xy3d]{0,2}\(\s*([^),]{1,20})")
_CUT_AWAY: Final = re.compile(
    r"inset\(\s*(?:[5-9][0-9]|100)%|circle\(\s*0(?![.0-9]*[1-9])|polygon\(\s*0(?:px)?(?:[\s,]+0(?:px)?)*\s*\)"
)
_CLEAR: Final = re.compile(
    r"(?:rgba?|hsla?)\((?:[^,/)]*,[^,/)]*,[^,/)]*,|[^,/)]*/)\s*0*\.?0*%?\s*\)|#(?:[0-9a-f]{6}00|[0-9a-f]{3}0)"
)

LATER: Final = "not shown yet"
"""Hidden as pages do that show their parts one after the other, by a script."""
NEVER: Final = "never seen"
"""Hidden by being made too small, transparent, out of sight, or of the colour of its background."""


@dataclass(frozen=True, slots=True)
class Hiding:
    """What was done about hidden text.

    Attributes:
        removed: Blocks that were taken out.
        kept: Whether hidden text stayed, being most of the page.
    """

    removed: int
    kept: bool


def hidden_by(parser: LexborHTMLParser) -> HiddenBy:
    """How an element of this page is hidden: by its attributes, its style, or a simple rule of the page's styles."""
    rules = dict(_simple_rules(parser))

    def hidden(tag: str, attributes: dict[str, str | None]) -> str:
        if not attributes:
            return ""
        if "hidden" in attributes and attributes["hidden"] != "until-found":
            return LATER
        if (attributes.get("aria-hidden") or "").lower() == "true":
            return LATER
        style = attributes.get("style")
        how = _style_hides(style) if style else ""
        if how or not rules:
            return how
        for key in _keys(tag, attributes):
            if key in rules:
                return rules[key]
        return ""

    return hidden


def remove_hidden(tree: Tree) -> Hiding:
    """Take hidden text out of a tree; what is only not shown yet stays where it is more than half of all the text.

    Streamed pages send their content hidden and let a script show it: without it nothing but "Loading" is left. What
    was made invisible for good is always removed.
    """
    total = tree.root.length
    later = sum(element.length for element, how in tree.hidden if how == LATER)
    keep = later > total / 2
    gone = [element for element, how in tree.hidden if not (keep and how == LATER)]
    if keep:  # inside what is kept, what is invisible for good still goes
        gone += [one for one in tree.order if one.attributes and _style_hides(one.get("style")) == NEVER]
    return Hiding(tree.remove(gone), keep)


def _keys(tag: str, attributes: Mapping[str, str | None]) -> Iterator[str]:
    identifier = attributes.get("id")
    names = [f".{name}" for name in (attributes.get("class") or "").split()]
    for key in (*names, f"#{identifier}") if identifier else names:
        yield key
        yield tag + key


def _simple_rules(parser: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    css = "".join(node.text() for node in parser.css("style"))[:_MOST_CSS]
    for rule in _RULE.finditer(_outside_at_rules(_without_comments(css))):
        how = _style_hides(rule[2])
        if how:
            yield from ((word, how) for part in rule[1].split(",") if _SIMPLE.fullmatch(word := part.strip()))


def _without_comments(css: str) -> str:
    """In one pass: a pattern would look for the end of every comment that is not closed."""
    parts: list[str] = []
    rest = css
    while rest:
        before, opened, rest = rest.partition("/*")
        parts.append(before)
        if opened and "*/" not in rest:
            break
        rest = rest.partition("*/")[2] if opened else ""
    return "".join(parts)


def _outside_at_rules(css: str) -> str:
    """The style sheet without the blocks of its @-rules: what hides on paper or on a phone is seen on a screen."""
    kept: list[str] = []
    depth = start = at = 0
    for match in re.finditer(r"[{}@;]", css):
        mark = match[0]
        if mark == "@" and depth == 0 and not at:
            kept.append(css[start : match.start()])
            at = 1
        elif mark == ";" and depth == 0 and at:  # @import and @charset have no block
            at, start = 0, match.end()
        elif mark == "{":
            depth += 1
        elif mark == "}":
            depth = max(0, depth - 1)
            if depth == 0 and at:
                at, start = 0, match.end()
    return "".join(kept) + ("" if at else css[start:])


def _style_hides(style: str) -> str:
    values: dict[str, str] = {}
    plain = _ESCAPE.sub(_unescaped, _without_comments(style[:4_000])).lower()
    for declaration in plain.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            values[name.strip()] = value.partition("!")[0].strip()
    if values.get("display") == "none" or values.get("content-visibility") == "hidden":
        return LATER
    if values.get("visibility") in {"hidden", "collapse"}:
        return LATER
    return NEVER if _is_invisible(values) else ""


def _unescaped(match: re.Match[str]) -> str:
    r"""The character that an escape of CSS stands for (CSS Syntax 3, 4.3.7): `n\\6fne` is `none`."""
    code = int(match[1], 16) if match[1] else ord(match[2])
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def _is_invisible(values: Mapping[str, str]) -> bool:
    return (
        _is_zero(values.get("opacity"))
        or _is_zero((_OPACITY.search(values.get("filter", "")) or [""] * 2)[1])
        or _is_tiny(values.get("font-size", ""))
        or _is_tiny(values.get("font", "").partition("/")[0])
        or _NOTHING.search(values.get("transform", "")) is not None
        or _is_far(values)
        or _is_clipped(values)
        or _has_one_colour(values)
    )


def _amount(value: str | None) -> float | None:
    match = _NUMBER.match(value or "")
    return float(match[1]) if match else None


def _is_zero(value: str | None) -> bool:
    amount = _amount(value)
    return amount is not None and abs(amount) < 0.02 if value and "%" not in value else amount == 0


def _is_tiny(size: str) -> bool:
    """A font of less than two pixels; a size with another unit, or none, counts when it is next to nothing."""
    match = _SIZE.match(size)
    if match is None:
        return False
    amount, unit = float(match[1]), match[2]
    return amount < {"px": 2, "pt": 1.5, "%": 10}.get(unit, 0.1)


def _is_far(values: Mapping[str, str]) -> bool:
    placed = values.get("position") in {"absolute", "fixed", "relative"}
    names = ("left", "top", "right", "bottom", "inset") if placed else ()
    moved = _MOVED.search(values.get("transform", ""))
    away = [values.get(name, "") for name in (*names, "text-indent", "margin", "margin-left", "margin-top")]
    return any(_is_away(value) for value in (*away, moved[1] if moved else ""))


def _is_away(length: str) -> bool:
    match = _LENGTH.match(length)
    return match is not None and float(match[1]) <= -_FAR_IN.get(match[2], _FAR)


def _is_clipped(values: Mapping[str, str]) -> bool:
    clip = re.sub(r"[\s,]|px", "", values.get("clip", ""))
    if values.get("position") in {"absolute", "fixed"} and clip in {"rect(0000)", "rect(1111)"}:
        return True
    if _CUT_AWAY.search(values.get("clip-path", "")):
        return True
    sizes = (_amount(values.get(name)) for name in ("width", "height", "max-width", "max-height"))
    small = any(amount is not None and amount <= 1 for amount in sizes)
    return small and any(values.get(name) in {"hidden", "clip"} for name in ("overflow", "overflow-x", "overflow-y"))


def _has_one_colour(values: Mapping[str, str]) -> bool:
    front = _colour(values.get("-webkit-text-fill-color", "") or values.get("color", ""))
    behind = _colour(values.get("background-color", "") or values.get("background", ""))
    return front == "transparent" or (front != "" and front == behind)


def _colour(value: str) -> str:
    if _CLEAR.fullmatch(value):
        return "transparent"
    word = (value.split() or [""])[0] if not value.startswith("rgb") else value
    rgb = _RGB.match(word)
    if rgb is not None:
        return "".join(f"{min(255, int(part[:4])):02x}" for part in rgb.groups())
    word = _COLOURS.get(word, word.removeprefix("#"))
    return "".join(letter * 2 for letter in word) if re.fullmatch("[0-9a-f]{3}", word) else word
