"""Judging what stands where a secret could stand: a secret, a placeholder, a reference to one, or plain words."""

import re
from itertools import pairwise
from typing import Final

from mcp_curated_shared.security.redaction.words import reads_like_words, word_set

_MASKED: Final = re.compile(r"[x*•●.·_#?\-=…\s]+", re.IGNORECASE)
_MASKED_PART: Final = re.compile(r"\*{3}|x{6}|•{3}|●{3}|\.{3}|…|_{5}|-{5}|\#{5}")
_STAND_INS: Final = ("example", "placeholder", "redacted", "changeme", "dummy", "sample", "fixme", "sanitized")
_STAND_IN_START: Final = re.compile(
    r"(?:change|replace)[-_ ]?(?:me|with|this|it)|your[-_ ]|(?:your|my)[a-z_-]{0,40}(?:token|key|secret|password)"
    r"|to[-_]?do\b|insert[-_ ]|fake[-_]|enter[-_ ]|hidden[-_]|not[-_]?a?[-_]?real"
    r"|foo(?:bar|baz)*$|<[^<>]*>$|\[[^\[\]]*\]$"
)
_STAND_IN_END: Final = ("-here", "_here", "-hidden", "_hidden", "<your")
_INNER_YOUR: Final = ("-your-", "_your_", " your ", "<your", "[your", "{your")
_CONSTANT_WORDS: Final = word_set(
    "null none nil undefined nan true false yes no on off empty unset default required optional disabled enabled "
    "string str int integer number bool boolean float object any bytes text varchar char void array list dict map "
    "bearer basic digest negotiate token password passwd pass pwd secret key apikey pw user username value data "
    "env auto test xxx hidden masked redacted unknown missing invalid expired"
)
_TEMPLATE_SIGN: Final = re.compile(r"[${%<\\]|^[:@]")
_TEMPLATE: Final = re.compile(
    r"^\$\{|\$\{[\w.:?+/ -]*\}|\$\([^()]*\)?|\{\{[^{}]*\}\}|\{%|%\([A-Za-z_]\w*\)[sdr]|<%|#\{[^{}]*\}|@\{[^{}]*\}"
    r"|^\$?\{?[A-Za-z_]\w*\}$|^%[sdrvq]$|^%[A-Za-z_]+%$|^:[a-z_]+$|^@[A-Za-z_]+$|^\$[A-Z_][A-Z0-9_]*$|^\$[a-z_]+$"
    r"|^\$env:\w+$|^\{\}$|^\$\d$|\\\([a-z]|\{[a-z_][a-z_0-9.]*(?:\([^{}]*\)|\[[^{}]*\]|![rsa]|:[^{}]{0,20})?\}"
)
_REFERENCE: Final = re.compile(
    r"[A-Za-z_$@&*!][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*[ \t]?[(\[]"
    r"|(?:process\.env|os\.environ|import\.meta|secrets|vars|env|var|local|data|module|self|this|cls|config|settings|request|req|"
    r"args|options|ctx|context|params|props|state|event|response|res|steps|inputs|github|values)\.[A-Za-z_]"
)
_POINTER: Final = re.compile(r"arn:|vault:|ref\+|secretsmanager:|ssm:|keyvault|op://|file://|sha[0-9]{1,3}[:-]|md5[:-]")
_DOT: Final = re.compile(r"\.|->|::|\?\.")
_DOTTED: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.|\\)[A-Za-z_$][\w$]*)+;?")
_PATH: Final = re.compile(r"(?:\.{0,2}|~|@|[A-Za-z]:)?[/\\]|[\w.-]+/[\w./-]+$")
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]{1,20}:\\?/\\?/", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
_NUMERIC: Final = re.compile(
    r"[-+~<>=^v]{0,2}[0-9][0-9.,:_/%\sTZx+-]*(?:[a-z]{1,3})?|0x[0-9a-fA-F]{1,8}|#[0-9a-fA-F]{3,8}", re.IGNORECASE
)
_VERSION: Final = re.compile(r"[-+~<>=^v]{0,2}[0-9]+(?:\.[0-9x*]+)+(?:[-+.][\w.-]*)?", re.IGNORECASE)
_SYMBOL: Final = re.compile(r"[!@#$%^&*+=~?]")
_WORD_CHARACTER: Final = re.compile(r"[A-Za-z0-9]")
_ESCAPES: Final = re.compile(r"\\u[0-9a-fA-F]{4}|\\[nrtb]")
_COUNTED: Final = re.compile(r"[0-9]{1,4}[-_*]?[a-z]{1,10}(?:-[a-z]{1,10}){0,4}", re.IGNORECASE)
_EXPRESSION: Final = re.compile(
    r"\^.*\$$|^/\^?.*/[gimsuy]{0,6}$|\[[^\]]{2,}\](?:[+*]|\{[0-9])|\(\?[:P<!=]|\\[wdsS][+*{]"
)
_CHANGE: Final = re.compile(r"\d|[a-z][A-Z]")
_EMPTY_SETTING: Final = re.compile(r"[\w.-]{1,40}=")
_SECURITY_ID: Final = re.compile(r"S-1-[0-9-]{1,60}")
_EXPRESSION_SIGN: Final = re.compile(r"[\^$/\[(\\]")
_PLAIN_FORMS: Final = (_NUMERIC, _VERSION, _ADDRESS, _SECURITY_ID)
_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def is_placeholder(value: str) -> bool:
    """Whether a value stands for a secret without being one: masked, EXAMPLE, ascending, of hardly any characters."""
    if not value or _MASKED.fullmatch(value):
        return True
    small = value.lower()
    if _MASKED_PART.search(small) or is_stand_in(small):
        return True
    length = len(value)
    if length < 8:
        return False
    if len(set(value)) <= 3:
        return True
    codes = [ord(character) for character in value[:32]]
    return sum(second - first in (0, 1) for first, second in pairwise(codes)) >= 0.6 * (len(codes) - 1)


def is_stand_in(small: str) -> bool:
    """Whether a value, given in lower case, says in words that it is none."""
    if any(word in small for word in _STAND_INS) or small.endswith(_STAND_IN_END):
        return True
    return bool(_STAND_IN_START.match(small)) or any(word in small for word in _INNER_YOUR)


def without_stand_ins(value: str) -> str:
    """A value without the words that say that it is none: what is left may be one all the same."""
    small = value.lower()
    for word in _STAND_INS:
        while (start := small.find(word)) >= 0:
            value = value[:start] + value[start + len(word) :]
            small = value.lower()
    return value


def is_template(value: str) -> bool:
    """Whether a value is filled in elsewhere: `${TOKEN}`, `{{ token }}`, `%(token)s`, `<token>`, `%s`."""
    return bool(_TEMPLATE_SIGN.search(value) and _TEMPLATE.search(value))


def is_reference(value: str) -> bool:
    """Whether an unquoted value names where the secret is: a call, an attribute, an index, a path, an address."""
    if _REFERENCE.match(value):
        return True
    if _DOTTED.fullmatch(value):
        first, last = _DOT.split(value, maxsplit=1)[0], _DOT.split(value)[-1]
        return reads_like_words(value, digits=2) or (len(first) <= 12 and reads_like_words(last))
    return value.startswith(("$", "&", "*", "!")) and reads_like_words(value) and value[1:].isidentifier()


def is_pointer(value: str) -> bool:
    """Whether a value, quoted or not, is an address of a secret store, or a digest named as one."""
    return bool(_POINTER.match(value) or _URL.match(value))


def is_plain(value: str, *, digits: int = 0) -> bool:
    """Whether a value is something ordinary: a word or words, a number, a version, a date, a path, an address.

    Args:
        value: The text, without quotes.
        digits: How many digits words may hold and still be words.
    """
    if value.lower() in _CONSTANT_WORDS or not _WORD_CHARACTER.search(_ESCAPES.sub("", value)):
        return True
    if any(pattern.fullmatch(value) for pattern in _PLAIN_FORMS) or _URL.match(value) or _is_expression(value):
        return True
    if _COUNTED.fullmatch(value) and reads_like_words(value.lstrip("0123456789-_*")):
        return True
    if _PATH.match(value) and reads_like_words(value, digits=4):
        return True
    if " " in value:
        return _is_phrase(value)
    bare = value.removesuffix("=") if _EMPTY_SETTING.fullmatch(value) else value.strip("!?*")
    return not _SYMBOL.search(bare) and reads_like_words(value, digits=digits)


def _is_expression(value: str) -> bool:
    return bool(_EXPRESSION_SIGN.search(value) and _EXPRESSION.search(value))


def _is_phrase(value: str) -> bool:
    """Several words: what a person reads, unless one of few is no word at all."""
    words = value.split()
    odd = [
        word
        for word in words
        if not reads_like_words(word.strip(".,;:!?()'\""), digits=1) and not _NUMERIC.fullmatch(word)
    ]
    return not odd or len(words) > 5 or len(odd) * 3 < len(words)


def looks_random(value: str, *, least: int = 16) -> bool:
    """Whether a value can hardly be anything but a key: no stand-in, long, of mixed characters, no words."""
    return not is_placeholder(value) and not is_template(value) and is_mixed(value, least=least)


def is_mixed(value: str, *, least: int) -> bool:
    """Whether a value is at least so long, of mixed characters, and no words."""
    if not can_be_mixed(value) or len(value) < least or len(set(value)) < min(10, least // 2):
        return False
    return not is_plain(value, digits=4)


def can_be_mixed(value: str) -> bool:
    """Whether a value has a digit or changes from small letters to capitals: without, it is never `is_mixed`."""
    return bool(_CHANGE.search(value))


def is_uuid(value: str) -> bool:
    """Whether a value is a UUID."""
    return bool(_UUID.fullmatch(value))
