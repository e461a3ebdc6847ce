"""Whether a value that a name announces is a secret."""

import re
from typing import Final, Literal

from mcp_curated_shared.security.redaction.keys import Level, level_of
from mcp_curated_shared.security.redaction.values import (
    can_be_mixed,
    is_mixed,
    is_placeholder,
    is_plain,
    is_pointer,
    is_reference,
    is_template,
    is_uuid,
)
from mcp_curated_shared.security.redaction.words import reads_like_words
from mcp_curated_shared.security.redaction.written import Written

Manner = Literal["assigned", "element", "listed", "option", "line", "told", "quoted"]
"""How a value is joined to its name.

"assigned": `name = value`, `name: value`, an attribute. "element": `<name>value</name>`. "listed": `("name", "value")`,
`name("value")`. "option": `--name value`, netrc. "line": a line of its own, as directives are
written. "told": in a sentence or a table. "quoted": nothing but a blank between
the name and a quotation.
"""

_NO_VALUE: Final = (",", ")", "]", "}", ";", "+ ", " ", "<")
_JOINED: Final = re.compile(r"[+.&|].*[+.&|]")
_ODD: Final = re.compile(r"[0-9!@#$%^&*+=~?]")
_PAIR: Final = re.compile(r"(?:id|src|source|target|env|type|name|key|value|from|file)=[^=]")
_SETTING: Final = re.compile(r"[\w?.-]{1,40}=\w*")
_MIXED: Final = re.compile(
    r"[A-Za-z].*[0-9].*[0-9]|[0-9].*[0-9].*[A-Za-z]|[0-9].*[A-Za-z].*[0-9]|[A-Za-z].*[!@#$%^&*+~]"
)
_DIGITS: Final = re.compile(r"[0-9]{6,32}")


def is_secret(value: Written, level: Level, manner: Manner) -> bool:
    """Whether to hide this value.

    Args:
        value: What is written.
        level: How much its name says.
        manner: How it is joined to it.
    """
    text = value.text
    weak = level in ("weak", "bare") or value.called
    if (weak and not can_be_mixed(text)) or _is_no_value(value, level, manner):
        return False
    if is_pointer(text):
        return level == "token" and any(is_mixed(part, least=20) for part in re.split(r"[/?=&]", text)[3:])
    if weak:
        announced = not value.called and manner not in ("line", "told", "quoted")  # "session <UUID>" is an identifier
        return announced if is_uuid(text) else is_mixed(text, least=12)
    if manner in ("told", "quoted", "line"):
        return _is_told_secret(value, level, manner)
    return _is_assigned_secret(value, level, manner)


def _is_no_value(value: Written, level: Level, manner: Manner) -> bool:
    """Whether this is code, a stand-in, or nothing that the name could mean."""
    text = value.text
    if manner == "listed" and not value.quoted:
        return True
    if text.startswith(_NO_VALUE) or is_placeholder(text) or is_template(text) or (value.quoted and _is_joined(text)):
        return True
    if manner in ("listed", "told", "quoted") and (" " in text or "|" in text or level_of(text)):
        return True
    if (manner == "listed" or not value.quoted) and is_reference(text):
        return True
    return level == "bare" and manner not in ("told", "quoted")


def _is_joined(text: str) -> bool:
    """Whether this is what stands between two pieces of code that are joined: `'+token+'`."""
    return bool(_JOINED.fullmatch(text)) and reads_like_words(text, digits=1)


def _is_told_secret(value: Written, level: Level, manner: Manner) -> bool:
    """In a sentence only what cannot be a word of it."""
    text = value.text
    if manner == "quoted" and not value.quoted:
        return False
    if len(text) < 6 or is_plain(text, digits=1) or _SETTING.fullmatch(text):
        return False
    if not _ODD.search(text.rstrip("!?")):
        return value.quoted and len(text) >= 10
    return level == "password" or (len(text) >= 8 and bool(_MIXED.search(text)))


def _is_assigned_secret(value: Written, level: Level, manner: Manner) -> bool:
    text = value.text
    if manner == "option" and (text.startswith("-") or _PAIR.match(text)):
        return False
    if level == "password" and _DIGITS.fullmatch(text):
        return True
    if len(text) < (4 if value.quoted else 5):
        return False
    digits = 0 if value.quoted and level == "password" else 1
    return not is_plain(text, digits=digits) and (len(text) >= 6 or bool(_ODD.search(text)))
