"""Requests to other hosts: the one place that knows the HTTP library.

    policy = settings.egress.policy()                      # or EgressPolicy.only(Origin.parse(api_url))
    async with HttpClient(policy, HttpOptions(user_agent="mcp-curated-web/0.1")) as client:
        answer = await client.send(HttpRequest(url, body="partial"))

Needs the extra `http` of the distribution. Knows nothing of the protocol, and domain modules may import it.
"""

from mcp_curated_shared.transport.http_client.client import HttpClient, HttpOptions, guarded_client
from mcp_curated_shared.transport.http_client.errors import (
    BadResponseError,
    CertificateError,
    RedirectError,
    ResponseTooLargeError,
    SecretInRequestError,
    UnreachableError,
)
from mcp_curated_shared.transport.http_client.limits import HttpLimits
from mcp_curated_shared.transport.http_client.requests import BodyForm, HttpRequest, Redirects
from mcp_curated_shared.transport.http_client.responses import HttpResponse, Received, ResponseHead, ResponseHeaders
from mcp_curated_shared.transport.http_client.retrying import IDEMPOTENT, Retries, retry_after_seconds
from mcp_curated_shared.transport.http_client.screening import Credential, Found, Headers, Scan

__all__ = [
    "IDEMPOTENT",
    "BadResponseError",
    "BodyForm",
    "CertificateError",
    "Credential",
    "Found",
    "Headers",
    "HttpClient",
    "HttpLimits",
    "HttpOptions",
    "HttpRequest",
    "HttpResponse",
    "Received",
    "RedirectError",
    "Redirects",
    "ResponseHead",
    "ResponseHeaders",
    "ResponseTooLargeError",
    "Retries",
    "Scan",
    "SecretInRequestError",
    "UnreachableError",
    "guarded_client",
    "retry_after_seconds",
]
