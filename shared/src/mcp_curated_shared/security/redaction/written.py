"""Reading one value as it is written: quoted at any depth of escaping, in brackets, wrapped in a call, or bare."""

import re
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 1024
"""So far a closing quote is looked for."""

JUDGED: Final = 96
"""So much of a value is looked at to judge it; a longer one is then hidden to its end."""

_QUOTE: Final = r"(?:\"\"\"|'''|\\{0,4}[\"'`]|&quot;|&\#0?3[49];|%2[27]|\\u002[27])"
_OPENING: Final = re.compile(
    rf"""
    (?:\*{{1,2}}[ \t]+)?
    (?:!{{1,2}}[A-Za-z]{{2,12}}[ \t]+|[|>][-+]?[0-9]?[ \t]{{0,4}}\\?\n[ \t]{{1,40}})?
    (?:<[A-Za-z]\w{{0,30}}>(?=[\"'`]))?
    (?P<call>(?:await[ ]|new[ ])?[A-Za-z_][\w.:!]{{0,48}}\([ \t\n]{{0,40}}(?=[A-Za-z]?[\"'`]))?
    (?P<list>[\[({{][ \t\n]{{0,40}}(?={_QUOTE}))?
    (?:(?:[rbRB]{{2}}|[rbufLRBUF@$])(?=[\"'`]))?
    (?P<quote>{_QUOTE})?
    """,
    re.VERBOSE,
)
_BREAK_BEFORE_QUOTE: Final = re.compile(r"\s{0,80}(?=([\"'])(?!\1))")
_BARE: Final = re.compile(
    r"(?:[^\s\"'`<>\\|\u3000-\u303f\u3400-\u9fff\uff00-\uffef]|\\(?![nrtu\"'`\\])|\|(?=[\w!@#$%^&*])|[\"'`](?=[\w@#$%^&*!~+]))+"
)
_BARE_END: Final = re.compile(
    r"&(?:amp;)?[\w.%\[\]-]{1,40}=|;[\w .-]{1,30}=|,[\w.-]{1,30}[=:]|[;,]\Z|&&|\|\||%26|%0[aAdD]|%2[27]|&quot;|&\#"
)
_NEXT: Final = re.compile(rf"{_QUOTE}?[ \t]{{0,8}},\s{{0,40}}(?={_QUOTE})")
_OVERLAP: Final = 2
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Written:
    """A value in a text.

    Attributes:
        text: The value itself, without quotes; of a very long one the beginning.
        start: Where it begins.
        end: Where it ends.
        quoted: Whether it stands in quotes.
        called: Whether it is an argument of a call.
        next: Where a next value of the same name may begin; 0 if there is none.
    """

    text: str
    start: int
    end: int
    quoted: bool
    called: bool
    next: int


def written_value(text: str, position: int) -> Written | None:
    """The value that begins here, after blanks; None if there is none on this line."""
    while text.startswith((" ", "\t"), position):
        position += 1
    if text.startswith("\n", position) or text.startswith("\r\n", position):
        broken = _BREAK_BEFORE_QUOTE.match(text, position)
        if broken is None:
            return None
        position = broken.end()
    opening = _OPENING.match(text, position)
    if opening is None:
        return None
    called = bool(opening["call"])
    quote = opening["quote"]
    if not quote:
        return _bare(text, opening.end(), called)
    start = opening.end()
    end = _closing(text, start, quote)
    if end < 0:
        return _bare(text, start, called)
    following = _NEXT.match(text, end) if opening["list"] or called else None
    return Written(
        text[start : min(end, start + JUDGED)], start, end, True, called, following.end() if following else 0
    )


def _closing(text: str, start: int, quote: str) -> int:
    """Where the quotation ends, or -1: quotes escaped inside it do not end it, nor may it cross a line."""
    limit = start + LONGEST
    end = text.find(quote, start, limit)
    while end >= 0 and _is_escaped(text, end):
        end = text.find(quote, end + len(quote), limit)
    if end < 0 or (len(quote) != 3 and quote != "`" and "\n" in text[start:end]):
        return -1
    return end


def _is_escaped(text: str, index: int) -> bool:
    before = text[max(0, index - 16) : index]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _bare(text: str, start: int, called: bool) -> Written | None:
    match = _BARE.match(text, start, start + JUDGED)
    if match is None:
        return None
    value = match.group()
    cut = _BARE_END.search(value)
    if cut:
        value = value[: cut.start()]
    value = _without_trailing_marks(value)
    return Written(value, start, start + len(value), False, called, 0) if value else None


def whole_end(text: str, value: Written) -> int:
    """Where a value really ends that may have been read in part only; for secrets, which are not read twice."""
    if value.quoted or value.end < value.start + JUDGED - _OVERLAP:
        return value.end
    match = _BARE.match(text, value.start)
    end = match.end() if match else value.end
    cut = _BARE_END.search(text, value.end - _OVERLAP, end)
    return cut.start() if cut else end


def _without_trailing_marks(value: str) -> str:
    """A value without the full stop, comma or bracket that closes what it stands in."""
    while value and (value[-1] in ".,;:" or (value[-1] in _PAIRS and _PAIRS[value[-1]] not in value)):
        value = value[:-1]
    return value.removesuffix("**")
