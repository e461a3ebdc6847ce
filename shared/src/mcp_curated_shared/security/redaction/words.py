"""Whether a run of letters reads like words or like chance.

A table of which letter commonly follows which one in English and in identifiers (counted over the words of Python's
documentation and standard library) tells `invalid` from `kqxvzd` without a dictionary.
"""

import re
from typing import Final

_FOLLOWERS: Final = (
    "bcdfghiklmnprstuvwxy acdeijloprstuy acdehiklmorstuy abcdefgijlmnoprstuvy abcdefghiklmnopqrstuvwxyz adefilorstuy "
    "aceghilmnorstuy aeilmorstuy abcdefgklmnoprstvxz aeou aeilnosw abcdefgiklmnopstuvy abdeilmopstuy "
    "abcdefghiklmnopstuvxy abcdefghiklmnoprstuvwxy acdefhilnoprstuy u abcdefgiklmnoprstuvwy acdefghiklmnoprstuwy "
    "abcdefhilmnoprstuvwy abcdefgilmnoprst aeio adehilnors acefilmpt ceilmnopst aeio"
)
_UNLIKELY: Final = re.compile(
    "|".join(
        f"{first}(?=[^{followers}\\s])"
        for first, followers in zip("abcdefghijklmnopqrstuvwxyz", _FOLLOWERS.split(" "), strict=True)
        if len(followers) < 26
    )
)

_PIECE: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")

_TERM: Final = re.compile(
    r"(?:(?<![A-Za-z])|(?-i:(?<=[a-z])(?=[A-Z])))(?:u?int|float|utf|sha|md|crc|hs|rs|es|ps|ed|aes|rsa|des|oauth|base|ipv|http|tls|"
    r"ssl|pkcs|pbkdf|argon|x|h|v|p|k|s|ec|rfc|iso|cve|pep|python|py|java|mp|web|i|u|f|log|gpt|win|arm|amd)"
    r"[-_.]?[0-9]{1,5}(?![A-Za-z0-9]*[0-9])(?![a-z])"
    r"|(?<![A-Za-z])(?:i18n|l10n|a11y|k8s|p2p|b2b|e2e|s2s|u2f|fido2|oauth2|http2)(?![a-z0-9])",
    re.IGNORECASE,
)
"""Technical terms that hold digits, such as sha256, oauth2, utf-8, ed25519, RFC 7519, k8s."""

_TO: Final = re.compile("(?<=[a-z]{3})2(?=[A-Za-z][a-z]{2})")
"""As in str2int."""

_DIGIT: Final = re.compile("[0-9]")
_INSIDE: Final = re.compile("[0-9][A-Za-z]")
"""A digit before or inside a word, as in leet; names have theirs at the end."""


def reads_like_words(value: str, *, digits: int = 0) -> bool:
    """Whether a value is made of words, as an identifier, a phrase or a path is.

    Args:
        value: Any text. Characters other than ASCII letters and digits separate words.
        digits: How many digits it may hold besides those of technical terms.
    """
    rest = _TO.sub(" ", value)
    if _DIGIT.search(value):
        rest = _TERM.sub(" ", rest)
        if _INSIDE.search(rest):
            return False
    pieces = _PIECE.findall(rest)
    letters = [piece for piece in pieces if not piece.isdigit()]
    if sum(len(piece) for piece in pieces if piece.isdigit()) > digits:
        return False
    if not letters:
        return bool(pieces) or rest != value
    count = sum(map(len, letters))
    if len(letters) > 2 and count / len(letters) < (2.5 if len(letters) < 5 else 3.2):
        return False
    longest = max(map(len, letters))
    unlikely = len(_UNLIKELY.findall(" ".join(piece for piece in letters if not _is_acronym(piece)).lower()))
    return longest <= 24 and unlikely <= 0.25 * max(1, count - len(letters))


def _is_acronym(piece: str) -> bool:
    return len(piece) <= 4 and piece.isupper()


def word_set(text: str) -> frozenset[str]:
    """The words of a text written out as one line."""
    return frozenset(text.split())
