"""Finding the tokens of known providers in a text."""

import re
from functools import cache
from typing import Final

from mcp_curated_shared.security.redaction.formats import FORMATS, Format
from mcp_curated_shared.security.redaction.spans import Span
from mcp_curated_shared.security.redaction.values import is_placeholder, without_stand_ins
from mcp_curated_shared.security.redaction.words import reads_like_words

_RUN: Final = re.compile(r"[A-Za-z0-9_\-./+=~:%$!@?\\\[\x1b]{12,}+")
"""Where a token can be: what is between them is prose, and never searched."""

_LITERALS: Final = tuple((literal, form) for form in FORMATS for literal in form.literals)
_RANKS: Final = {form: rank for rank, form in enumerate(FORMATS)}

_AWS_SECRET: Final = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_AWS_SECRET_DISTANCE: Final = 160

_DIGEST: Final = re.compile(r"(?:\bsha(?:1|224|256|384|512)[-:=]|\bmd5[-:=]|\bh1:)\Z")
_DIGEST_LENGTH: Final = 96
_BASE64: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

_BREAK: Final = re.compile(r"[=\\]?\r?\n[ \t>|]{0,16}|\"[ \t]{0,4}\+?[ \t]{0,4}\\?\r?\n?[ \t]{0,16}\"")
_SPLIT_WINDOW: Final = 400
_LEAST_PIECE: Final = 6
_LEAST_REST: Final = 24


def find_tokens(text: str) -> list[Span]:
    """Every token of a known provider; one pass finds which of their literals are there at all.

    Placeholders (`ghp_xxxx`, AWS's EXAMPLE keys, an ascending alphabet) are no tokens.
    """
    runs = "\n".join(_RUN.findall(text))
    if not runs:
        return []
    present = {form for literal, form in _LITERALS if literal in runs}
    found: list[Span] = []
    for form in sorted(present, key=_RANKS.__getitem__):
        pattern = _pattern(form.expression)
        if pattern.search(runs):
            found += _matches(form, pattern, text)
    found += _split_tokens(text, present, found)
    return found + _aws_secrets(text, found)


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def _matches(form: Format, pattern: re.Pattern[str], text: str) -> list[Span]:
    group = "secret" if "secret" in pattern.groupindex else 0
    found: list[Span] = []
    for match in pattern.finditer(text):
        value = match.group(group)
        start = match.start(group)
        if not _is_token(form, value) or _is_in_digest(text, start, value):
            continue
        found.append(Span(start, start + len(value.rstrip(".,")), form.kind))
    return found


def _is_in_digest(text: str, start: int, value: str) -> bool:
    """Whether this place is in a digest or another blob of base64, where any four letters come up in time."""
    if value[:4].strip(_BASE64) or value.startswith("http"):
        return False
    before = text[max(0, start - _DIGEST_LENGTH) : start]
    rest = before.rstrip(_BASE64)
    run = before[len(rest) :]
    return bool(_DIGEST.search(rest)) or (len(run) >= 8 and not reads_like_words(run, digits=4))


def _is_token(form: Format, value: str) -> bool:
    body = value
    if form.trust != "inner":
        body = value[max((len(one) for one in form.literals if value.startswith(one)), default=0) :]
    if is_placeholder(body) and not _is_more_than_stand_in(body):
        return False
    return form.trust != "short" or not reads_like_words(body)


def _is_more_than_stand_in(body: str) -> bool:
    """Whether a token goes on into a word such as "example", or was given one to hide behind."""
    rest = without_stand_ins(body)
    return (
        len(rest) >= _LEAST_REST and len(rest) < len(body) and not is_placeholder(rest) and not reads_like_words(rest)
    )


def _split_tokens(text: str, present: set[Format], found: list[Span]) -> list[Span]:
    """Tokens that were wrapped onto a second line or cut into two string literals: too short on the first alone."""
    if "\n" not in text and '"' not in text:
        return []
    taken = {span.start for span in found}
    result: list[Span] = []
    for literal, form in _LITERALS:
        if form not in present or form.trust != "distinctive" or len(literal) < 4:
            continue
        start = text.find(literal)
        while start >= 0:
            blocked = start in taken or _is_in_digest(text, start, literal)
            end = 0 if blocked else _split_end(text, start, form)
            if end:
                result.append(Span(start, end, form.kind))
            start = text.find(literal, max(end, start + len(literal)))
    return result


def _split_end(text: str, start: int, form: Format) -> int:
    """Where the token that begins here and goes on after one break ends; 0 if there is none."""
    window = text[start : start + _SPLIT_WINDOW]
    gap = _BREAK.search(window)
    if gap is None or gap.start() < _LEAST_PIECE:
        return 0
    joined = window[: gap.start()] + window[gap.end() :]
    match = _pattern(form.expression).match(joined)
    if match is None or match.end() < gap.start() + 4 or not _is_token(form, match.group()):
        return 0
    return start + match.end() + len(gap.group())


def _aws_secrets(text: str, found: list[Span]) -> list[Span]:
    """The 40 characters that stand near an access key id, as in a credentials file or a CSV download."""
    result: list[Span] = []
    for span in found:
        if span.kind != "aws-access-key":
            continue
        match = _AWS_SECRET.search(text, span.end, span.end + _AWS_SECRET_DISTANCE)
        if match and _is_aws_secret(match.group()):
            result.append(Span(match.start(), match.end(), "aws-secret-key"))
    return result


def _is_aws_secret(value: str) -> bool:
    return bool(re.search("[a-z]", value) and re.search("[A-Z]", value) and re.search("[0-9]", value))
