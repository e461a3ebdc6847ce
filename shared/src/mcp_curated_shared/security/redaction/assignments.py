"""Secrets that a name announces: assignments, options, attributes, headers, sentences, in any notation.

For every sensitive word in the text: the name around it, what joins the name to its value, the value, the verdict. Each
step looks at a bounded piece of text, so the whole is linear.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mcp_curated_shared.security.redaction.keys import FOREIGN_WORDS, Level, kind_of, level_of
from mcp_curated_shared.security.redaction.spans import Span
from mcp_curated_shared.security.redaction.verdicts import Manner, is_secret
from mcp_curated_shared.security.redaction.written import Written, whole_end, written_value

_WORDS: Final = re.compile(
    "pass[wpc]?|pwd|pword|pw\\b|psk|recovery|secret|token|api[-_ ]?key|key|cred|auth|sess|cookie|csrf|xsrf|sid|jwt|"
    "sig(?:nature)?|salt|kennwort|senha|parola|wachtwoord|motdepasse|haslo|heslo|masterauth|" + FOREIGN_WORDS
)
_NAME_CHARACTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-"
_NAME_AFTER: Final = re.compile(r"[A-Za-z0-9_.-]{0,48}")
_FOREIGN_AFTER: Final = re.compile(r"[\u0430-\u044f\u0451]{0,6}")
_LONGEST_NAME: Final = 64

_RUSSIAN_VERBS: Final = r"\u0431\u0443\u0434\u0435\u0442|\u044d\u0442\u043e"  # "will be", "this is"
_QUOTE: Final = r"(?:\\{0,4}[\"'`]|&quot;|&\#0?3[49];|%2[27]|\\u002[27])"
_JOINT: Final = re.compile(
    rf"""
    (?P<close>(?:{_QUOTE}|[\])*]|</[A-Za-z]{{1,8}}>|[ \t]?\([^()\n]{{1,24}}\)
        |[ \t]?\uff08[^\uff08\uff09\n]{{1,24}}\uff09){{0,3}})
    (?:
      [ \t]{{0,24}}
      (?:
        (?P<typed>[?!]?:[ \t]{{0,4}}[&A-Za-z_][\w.<>\[\]&|?]{{0,40}}[ \t]{{0,4}}=(?![=>~])
          |\{{[ \t]{{0,4}}(?:get|set|init|private|protected)\b[^{{}}\n]{{0,40}}\}}[ \t]{{0,4}}=(?![=>~]))
      | (?P<operator>(?:\|\||\?\?)(?=[ \t]{{0,4}}[\"'`])
          |[|?+!:]?[|?]?={{1,3}}>?|:-|:{{1,2}}=?|\uff1a|\uff1d|->|→|\|(?!\|)|%3[AaDd]|\\u003[ad])
      | (?P<comma>,)
      | (?P<paren>\()
      | (?P<tag>(?:[ ][^<>\n]{{0,60}})?>)
      | (?P<verb>(?:[ \t](?:is|was|are|to|ist|est|es
          |{_RUSSIAN_VERBS})|是|为|為|は|\u2014|\u2013)(?:[ \t]{{0,4}}:|(?![A-Za-z])))
      )
    | (?P<gap>[ \t]{{1,8}}(?=\S)|[ \t]{{0,4}}\\?\n[ \t]{{1,24}}(?=\S))
    )
    """,
    re.VERBOSE,
)
_NAMED_VALUE: Final = re.compile(
    rf"{_QUOTE}?[\s,;]{{0,24}}(?:-[ \t])?{_QUOTE}?(?:value|Value|VALUE|val|content|newValue|defaultValue)"
    rf"{_QUOTE}?[ \t]{{0,4}}[:=][ \t]{{0,4}}"
)
_ROW: Final = re.compile(
    r"(?:</t[dh]>|</dt>)\s{0,16}<(?:t[dh]|dd)[^<>\n]{0,40}>\s{0,8}(?:<code>)?|</key>\s{0,16}<(?:string|data)>\s{0,8}"
)
_FORM_FIELD: Final = re.compile(r"\"?(?:\r?\n[Cc]ontent-[^\n]{1,80})?(?:\r?\n|\\r\\n){2}(?=\S)")
_RESOURCE: Final = re.compile(r"\b(?:arn|urn):[^\s\"']*:\Z")
_CREDENTIAL_FILE: Final = re.compile(r"\b(?:login|machine|account|username)\b")
_SETTING_COMMAND: Final = re.compile(
    r"(?:^|[\s;&|])(?:ENV|ARG|setx?|setenv|config(?:[ \t]+set)?)[ \t]+(?:-[a-zA-Z-]+[ \t]+)*[^\s\"']*\Z", re.MULTILINE
)
_LAST_WORD: Final = re.compile(r"[^\s\"'`]{6,200}[ \t]*(?:\r?\n|\Z)")
_NEARBY: Final = 96
_INDENT: Final = 16
_MANY: Final = 64


@dataclass(frozen=True, slots=True)
class _Name:
    """A sensitive name in a text."""

    text: str
    start: int
    end: int
    level: Level


def find_assignments(text: str, small: str) -> list[Span]:
    """Every value that a sensitive name announces.

    Args:
        text: A text without invisible characters.
        small: The same in lower case, of the same length.
    """
    found: list[Span] = []
    position = 0
    while match := _WORDS.search(small, position):
        name = _name_at(text, match.start(), match.end())
        if name is None:
            position = match.end()
            continue
        spans = list(_values_of(text, small, name))
        found += spans
        position = max(name.end, spans[-1].end if spans else 0)
    return found


def _name_at(text: str, start: int, end: int) -> _Name | None:
    """The name around a word, if what follows could join it to a value and if its last word is sensitive."""
    after = (_NAME_AFTER if text[end - 1].isascii() else _FOREIGN_AFTER).match(text, end)
    stop = after.end() if after else end
    while stop > end and text[stop - 1] in ".-":
        stop -= 1
    if not _JOINT.match(text, stop) and not _ROW.match(text, stop) and not _FORM_FIELD.match(text, stop):
        return None
    begin = _beginning(text, start)
    if text.startswith("-D", begin):
        begin += 2  # a property on Java's command line
    if text[begin - 1 : begin] == ":" and _RESOURCE.search(text, max(0, begin - _NEARBY), begin):
        return None
    level = level_of(text[begin:stop])
    return _Name(text[begin:stop], begin, stop, level) if level else None


def _beginning(text: str, start: int) -> int:
    window = text[max(0, start - _LONGEST_NAME) : start]
    begin = start - len(window) + len(window.rstrip(_NAME_CHARACTERS))
    if begin < start and text[begin] in "nrt" and text[begin - 1 : begin] == "\\":
        begin += 1  # the end of an escaped line break in JSON
    return begin


def _values_of(text: str, small: str, name: _Name) -> Iterator[Span]:
    for position, manner in _places(text, small, name):
        hits = [
            Span(one.start, whole_end(text, one), kind_of(name.text)) for one in _written(text, position, manner, name)
        ]
        if hits:
            yield from hits
            return


def _places(text: str, small: str, name: _Name) -> Iterator[tuple[int, Manner]]:
    """Where the value of a name may begin, and in which manner it would be joined to it."""
    for pattern in (_NAMED_VALUE, _ROW):
        match = pattern.match(text, name.end)
        if match:
            yield match.end(), "assigned"
    field = _FORM_FIELD.match(text, name.end)
    if field and "form-data" in small[max(0, name.start - _NEARBY) : name.start]:
        yield field.end(), "assigned"
    joint = _JOINT.match(text, name.end)
    if joint is None:
        return
    manner = _manner(text, small, name, joint)
    if manner:
        yield joint.end(), manner


def _manner(text: str, small: str, name: _Name, joint: re.Match[str]) -> Manner | None:
    if joint["operator"] or joint["typed"]:
        return "told" if joint["operator"] == "|" else "assigned"
    if joint["comma"]:
        return "listed" if any(mark in joint["close"] for mark in "\"'`") else None
    if joint["paren"]:
        return None if joint["close"] else "listed"
    if joint["tag"]:
        return "element" if "<" in text[max(0, name.start - 12) : name.start].rpartition(">")[2] else None
    if joint["verb"]:
        return "told"
    return _manner_of_gap(text, small, name, joint)


def _manner_of_gap(text: str, small: str, name: _Name, joint: re.Match[str]) -> Manner | None:
    """A name and a value with only space between: an option, a line of netrc, or words before a quotation."""
    if name.level == "bare":
        return "quoted"
    if name.text.startswith("-") or _SETTING_COMMAND.search(text, max(0, name.start - _NEARBY), name.start):
        return "option"
    if _CREDENTIAL_FILE.search(small, max(0, name.start - _NEARBY), name.start):
        return "option"
    if "\n" in joint["gap"]:
        return None
    return "line" if _is_line(text, name.start, joint.end()) else "quoted"


def _is_line(text: str, start: int, end: int) -> bool:
    """Whether a name and one word after it fill a line, as in the files of redis or openvpn."""
    before = text[max(0, start - _INDENT) : start].rpartition("\n")
    return not before[2].strip() and (bool(before[1]) or start <= _INDENT) and bool(_LAST_WORD.match(text, end))


def _written(text: str, position: int, manner: Manner, name: _Name) -> Iterator[Written]:
    """The secret values at a place: one, or several in brackets."""
    element = manner == "element"
    for _ in range(_MANY):
        value = written_value(text, position)
        if value is None or (element and not text.startswith("<", value.end)):
            return
        if is_secret(value, name.level, manner):
            yield value
        if not value.next:
            return
        position = value.next
