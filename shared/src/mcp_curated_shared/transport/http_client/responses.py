"""What comes back, in plain types: no type of the HTTP library crosses this border."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from mcp_curated_shared.transport.http_client.errors import BadResponseError
from mcp_curated_shared.transport.http_client.retrying import retry_after_seconds

Received = Literal["whole", "cut", "broken", "unwanted"]


class ResponseHeaders(Mapping[str, str]):
    """Headers by name in any letter case; several of one name are joined with commas (RFC 9110, 5.3)."""

    __slots__ = ("_values",)

    def __init__(self, pairs: Mapping[str, str]) -> None:
        self._values = {name.lower(): value for name, value in pairs.items()}

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<{len(self)} headers>"  # their values may be secret


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """An answer before its body.

    Attributes:
        url: Where it came from, after redirects.
        status: The status code.
        headers: The headers.
    """

    url: str
    status: int
    headers: ResponseHeaders

    @property
    def retry_after_seconds(self) -> float | None:
        """What the server asks to wait before the next request; None for nothing."""
        return retry_after_seconds(self.headers)


@dataclass(frozen=True, slots=True)
class HttpResponse(ResponseHead):
    """A whole answer.

    Attributes:
        body: Decoded as Content-Encoding says; empty when it was not wanted.
        received: How it ended: "whole"; "cut" at the limit; "broken" off by the other end; "unwanted" by the caller.
        redirects: The URLs that led here, the asked one first; empty without redirects.
        notices: What the reader of the answer should know about how it was fetched.
    """

    body: bytes = b""
    received: Received = "whole"
    redirects: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def json(self) -> object:
        """The body as JSON.

        Raises:
            BadResponseError: It is none.
        """
        try:
            value: object = json.loads(self.body)
        except (ValueError, RecursionError):
            raise BadResponseError("The answer is not JSON.", "Perhaps a proxy or a login page answered.") from None
        return value
