"""`db:` URIs: one parser for every form, since the forms overlap and a matcher would guess.

    db://SOURCE                     its schemas
    db://SOURCE/SCHEMA              the tables of one
    db://SOURCE/SCHEMA/TABLE        everything about one table
    db://TABLE/schema               the same, wherever the table is
    db://query/NAME?parameter=value the rows of a saved query

`db://X/schema` is the table X where there is one, else the schema named "schema" of the source X. No source is called
"query".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote_to_bytes

from mcp_curated_shared.errors import InvalidArgumentError

_FORMS: Final = "Write db://SOURCE, db://SOURCE/SCHEMA/TABLE, db://TABLE/schema or db://query/NAME?parameter=value."


@dataclass(frozen=True, slots=True)
class OfSource:
    """A source, one of its schemas, or one table."""

    source: str
    schema: str | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True)
class OfTable:
    """A table in any source, or the schema named "schema" of a source of that name."""

    table: str


@dataclass(frozen=True, slots=True)
class OfQuery:
    """A saved query with the texts of its parameters."""

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])


Meant = OfSource | OfTable | OfQuery


def read_uri(uri: str) -> Meant:
    """What a `db:` URI means.

    Raises:
        InvalidArgumentError: It is none of the forms.
    """
    match = re.fullmatch(r"(?i:db)://([^?#]*)(?:\?([^#]*))?", uri)
    if match is None:
        raise InvalidArgumentError(f"{uri[:200]!r} cannot be read.", _FORMS)
    parts = [_decoded(part) for part in match[1].removesuffix("/").split("/")]
    if not all(parts) or len(parts) > 3:
        raise InvalidArgumentError(f"{uri[:200]!r} cannot be read.", _FORMS)
    if parts[0].lower() == "query":
        if len(parts) != 2:
            raise InvalidArgumentError("A saved query is db://query/NAME.", _FORMS)
        return OfQuery(parts[1], _parameters(match[2] or ""))
    if match[2] is not None:
        raise InvalidArgumentError("Only db://query/NAME takes parameters.", _FORMS)
    if len(parts) == 2 and parts[1] == "schema":
        return OfTable(parts[0])
    return OfSource(*parts)


def _parameters(query: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in query.split("&") if query else ():
        name, equals, value = part.partition("=")
        key = _decoded(name.replace("+", " "))
        if not equals or not key or key in found:
            raise InvalidArgumentError(f"{part[:60]!r} is no parameter, or it is given twice.", _FORMS)
        found[key] = _decoded(value.replace("+", " "))
    return found


def _decoded(text: str) -> str:
    if re.search(r"%(?![0-9A-Fa-f]{2})", text):
        raise InvalidArgumentError(f"{text[:60]!r} holds a % that is no escape.", "Write it %25.")
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        raise InvalidArgumentError(f"{text[:60]!r} is not UTF-8.", "Escape the bytes of UTF-8.") from None
