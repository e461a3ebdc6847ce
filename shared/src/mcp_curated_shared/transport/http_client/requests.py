"""One request, and where its redirects have led so far."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Literal

import httpx

from mcp_curated_shared.security.egress import InvalidUrlError, Target
from mcp_curated_shared.transport.http_client.errors import RedirectError
from mcp_curated_shared.transport.http_client.responses import ResponseHead
from mcp_curated_shared.transport.http_client.screening import Credential, Headers, headers_elsewhere

Redirects = Literal["follow", "same_origin", "none"]
BodyForm = Literal["whole", "partial"]

DOWNGRADE_NOTICE: Final = "A redirect led from https to http: this was not protected on its way."
_REDIRECTING: Final = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What to ask.

    Attributes:
        url: An absolute http or https URL.
        method: In capitals. Only GET and HEAD follow redirects: a write that is redirected is returned as it is.
        headers: The caller's own; they do not go along to another origin, but for Accept and Accept-Language.
        content: The body.
        redirects: "follow" them under the same policy; only on the "same_origin"; or return them ("none").
        body: "whole": anything less is an error. "partial": what came within the limit is returned, marked as less.
        body_bytes: Longest body; by default the client's.
        seconds: The deadline over everything; by default the client's.
        wanted: Asked with the head of the final answer; when False its body is not read.
        before_redirect: Awaited with the URL that a redirect leads to before it is asked; may raise to stop there.
    """

    url: str
    method: str = "GET"
    headers: Headers = ()
    content: bytes = b""
    redirects: Redirects = "follow"
    body: BodyForm = "whole"
    body_bytes: int | None = None
    seconds: float | None = None
    wanted: Callable[[ResponseHead], bool] | None = None
    before_redirect: Callable[[str], Awaitable[None]] | None = None


@dataclass(slots=True)
class Journey:
    """A request on its way through redirects.

    Attributes:
        request: What was asked.
        target: Where it is now.
        headers: The caller's headers that still go along.
        at_home: No redirect has left the first origin.
        passed: The URLs before this one.
        notices: What the reader should know.
        cookies: What the servers of this one journey have set; nothing is kept beyond it.
    """

    request: HttpRequest
    target: Target
    headers: Headers
    at_home: bool = True
    passed: list[str] = field(default_factory=list[str])
    notices: dict[str, None] = field(default_factory=dict[str, None])
    cookies: httpx.Cookies = field(default_factory=httpx.Cookies)

    def outgoing_headers(self, credentials: tuple[Credential, ...]) -> Headers:
        """The headers for this hop; a credential only where the journey began and as long as it has not left."""
        secrets = tuple(
            (one.header, one.value.reveal()) for one in credentials if self.at_home and one.origin == self.target.origin
        )
        return (*self.headers, *secrets)

    def location(self, head: ResponseHead) -> str | None:
        """Where the answer redirects to, when that is to be followed."""
        followed = self.request.redirects != "none" and self.request.method in {"GET", "HEAD"}
        return head.headers.get("location") if followed and head.status in _REDIRECTING else None

    def follow(self, location: str, most: int) -> None:
        """Go on to where a redirect leads.

        Raises:
            RedirectError: It is one too many, leads away although only the same origin is followed, or nowhere.
        """
        if len(self.passed) >= most:
            raise RedirectError(f"{self.target.host} redirects more than {most} times.", "The page cannot be reached.")
        try:
            following = self.target.join(location)
        except InvalidUrlError as error:
            raise RedirectError(f"{self.target.host} redirects to where nothing is fetched: {error.text}") from None
        self.passed.append(self.target.url)
        if following.origin != self.target.origin:
            if self.request.redirects == "same_origin":
                raise RedirectError(f"{self.target.host} redirects to {following.origin}, which is not followed.")
            self.at_home = False
            self.headers = headers_elsewhere(self.headers)
            if (self.target.scheme, following.scheme) == ("https", "http"):
                self.notices[DOWNGRADE_NOTICE] = None
        self.target = following
