"""Finding secrets in text and hiding them, with nothing but the standard library.

`scan` and `redact` know formats; a `Redactor` also knows the process's own secrets.
"""

from typing import TypeVar

from mcp_curated_shared.security.redaction.failures import RedactedError
from mcp_curated_shared.security.redaction.redactor import Redactor
from mcp_curated_shared.security.redaction.spans import Span

__all__ = ["RedactedError", "Redactor", "Span", "redact", "redact_json", "scan"]

_Json = TypeVar("_Json")

_FORMATS_ONLY = Redactor()


def scan(text: str) -> list[Span]:
    """`Redactor.scan` without secrets of one's own."""
    return _FORMATS_ONLY.scan(text)


def redact(text: str) -> str:
    """`Redactor.redact` without secrets of one's own."""
    return _FORMATS_ONLY.redact(text)


def redact_json(value: _Json) -> _Json:
    """`Redactor.redact_json` without secrets of one's own."""
    return _FORMATS_ONLY.redact_json(value)
