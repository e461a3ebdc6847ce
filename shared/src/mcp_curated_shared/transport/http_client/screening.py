"""What leaves with a request: the caller's headers, the credential of an exact origin, and no secret beside it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import unquote_plus

from mcp_curated_shared.errors import InvalidArgumentError
from mcp_curated_shared.security.egress import Origin
from mcp_curated_shared.settings.kinds import Secret
from mcp_curated_shared.transport.http_client.errors import SecretInRequestError

Headers = tuple[tuple[str, str], ...]

_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)  # RFC 9110, 5.6.2
_VALUE: Final = re.compile(r"[\x20-\x7e\t]*", re.ASCII)  # RFC 9110, 5.5, without obs-text
_CONNECTION: Final = ("host", "connection", "keep-alive", "te", "trailer", "upgrade", "expect", "transfer-encoding")
_SECRET: Final = ("authorization", "cookie", "proxy-authorization", "proxy-connection")
_OURS: Final = frozenset({*_CONNECTION, *_SECRET, "content-length", "accept-encoding"})
_HARMLESS: Final = frozenset({"accept", "accept-language"})


class Found(Protocol):
    """One secret in a text."""

    @property
    def kind(self) -> str:
        """What sort of secret it is; may be told."""
        ...


Scan = Callable[[str], Sequence[Found]]
"""`scan(text)`: the secrets in it. `security.redaction.scan` is one."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret header that one exact origin gets, and nobody else.

    It is attached when a request starts at that origin, and no longer once a redirect has left it, not even when a
    further one leads back: the path would then be somebody else's choice.

    Attributes:
        origin: Scheme, host and port; all three must match.
        value: The header's whole value: `Bearer ...`.
        header: Its name.
    """

    origin: Origin
    value: Secret
    header: str = "Authorization"


def find_secrets(text: str) -> Sequence[Found]:
    """The secrets that `security.redaction` finds, loaded when the first request is made."""
    from mcp_curated_shared.security.redaction import scan

    return scan(text)


def check_headers(headers: Headers) -> None:
    """Refuse headers that only this client may set, or that HTTP cannot carry. No value is quoted.

    Raises:
        InvalidArgumentError: A name or value is not valid.
        ValueError: A header that belongs to the client; a credential is given as `Credential`.
    """
    for name, value in headers:
        if name.lower() in _OURS:
            raise ValueError(f"The header {name} is set by the client; give a secret as a Credential.")
        if _TOKEN.fullmatch(name) is None or _VALUE.fullmatch(value) is None:
            raise InvalidArgumentError("A request header has a name or value that HTTP cannot carry.")


def headers_elsewhere(headers: Headers) -> Headers:
    """What of the caller's headers goes along to another origin: what kind of answer is wanted, nothing more."""
    return tuple((name, value) for name, value in headers if name.lower() in _HARMLESS)


def refuse_secrets(scan: Scan, url: str, headers: Headers, content: bytes) -> None:
    """Refuse a request in which a secret would leave: in its URL, as it is or decoded, its headers or its body.

    Raises:
        SecretInRequestError: One is there; its kind is named, the text is not.
    """
    places = {
        "URL": (url, unquote_plus(url)),
        "headers": tuple(f"{name}: {value}" for name, value in headers),
        "body": (content.decode("utf-8", "replace"),) if content else (),
    }
    for place, texts in places.items():
        for text in dict.fromkeys(texts):
            found = scan(text)
            if found:
                raise SecretInRequestError(
                    f"Nothing was sent: the {place} would have held a secret ({found[0].kind}).", "Take it out."
                )
