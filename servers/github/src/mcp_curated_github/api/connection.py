"""The way to the API: bounds, the token for one exact origin, and the library of HTTP only once it is needed."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio

from mcp_curated_github.addresses import ApiUrl
from mcp_curated_github.api.media import API_VERSION
from mcp_curated_shared.security.egress import EgressPolicy, ProxyRoutes
from mcp_curated_shared.settings import Secret

if TYPE_CHECKING:  # the HTTP library is loaded by the first request: a host starts every server at once
    from mcp_curated_shared.transport.http_client import BodyForm, HttpClient, HttpLimits, HttpRequest


@dataclass(frozen=True, slots=True)
class Connection:
    """How the API is reached.

    Attributes:
        user_agent: Says who asks.
        proxies: Through which proxies; none by default.
        ca_file: Further certificate authorities.
        limits: Bounds of time and size of one request; None for those of `usual_limits`.
        wait: Awaited with the seconds of a pause.
        now: The time in seconds since 1970.
    """

    user_agent: str = "mcp-curated-github"
    proxies: ProxyRoutes = field(default_factory=ProxyRoutes)
    ca_file: str | None = None
    limits: "HttpLimits | None" = None
    wait: Callable[[float], Awaitable[None]] = anyio.sleep
    now: Callable[[], float] = time.time


def usual_limits() -> "HttpLimits":
    """Twice these, a pause and a retry stay below the minute after which some hosts give a call up."""
    from mcp_curated_shared.transport.http_client import HttpLimits

    return HttpLimits(total_seconds=20.0, connect_seconds=8.0, read_seconds=10.0, body_bytes=16 * (1 << 20))


def open_client(api: ApiUrl, token: Secret | None, connection: Connection, *, writes: bool = False) -> "HttpClient":
    """A client that reaches nothing but the API's origin, and gives the token to nobody else.

    Args:
        api: Where the API is.
        token: None to ask without.
        connection: How to get there.
        writes: For one write: its connection is used for nothing else, and what it sends is not searched for
            secrets, since its caller did that and showed a person the result.

    Raises:
        SettingsError: The file with certificate authorities cannot be used.
    """
    from mcp_curated_shared.transport.http_client import Credential, HttpClient, HttpOptions, Retries

    credentials = () if token is None else (Credential(api.origin, Secret(f"Bearer {token.reveal()}")),)
    headers = (("X-GitHub-Api-Version", API_VERSION),)
    options = HttpOptions(
        user_agent=connection.user_agent,
        headers=(*headers, ("Connection", "close")) if writes else headers,
        credentials=credentials,
        limits=connection.limits or usual_limits(),
        retries=Retries(most=0),  # what is asked again is decided here, by GitHub's own rules
        proxies=connection.proxies,
        ca_file=connection.ca_file,
    )
    return HttpClient(EgressPolicy.only(api.origin), replace(options, scan=None) if writes else options)


def request(
    url: str,
    method: str = "GET",
    *,
    headers: tuple[tuple[str, str], ...],
    content: bytes = b"",
    body: "BodyForm" = "whole",
    body_bytes: int | None = None,
) -> "HttpRequest":
    """A request whose redirects come back as they are: where they lead is decided here."""
    from mcp_curated_shared.transport.http_client import HttpRequest

    return HttpRequest(url, method, headers, content, "none", body, body_bytes)


def hiding(token: Secret | None) -> Callable[[str], str]:
    """Replaces the token, in every spelling in which one leaves, by a mark."""
    if token is None:
        return str
    from mcp_curated_shared.security.redaction.known import KnownSecrets

    known = KnownSecrets((token.reveal(),))

    def hide(text: str) -> str:
        spans = sorted(known.find(text), key=lambda one: (one.start, -one.end))
        if not spans:
            return text
        parts: list[str] = []
        end = 0
        for span in spans:
            if span.start >= end:
                parts += [text[end : span.start], "[REDACTED:token]"]
            end = max(end, span.end)
        return "".join((*parts, text[end:]))

    return hide
