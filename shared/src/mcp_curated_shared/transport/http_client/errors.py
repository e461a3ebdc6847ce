"""What can go wrong on the way to another host and back, in words that hold no URL, no header and no body."""

import os
import ssl
from collections.abc import Iterator
from typing import Final

import httpcore
import httpx

from mcp_curated_shared.errors import (
    CuratedError,
    InvalidArgumentError,
    NotAllowedError,
    TimedOutError,
    TooLargeError,
    UnavailableError,
)


class UnreachableError(UnavailableError):
    """No connection came about, or it broke before the answer was whole."""

    kind = "unreachable"


class CertificateError(UnavailableError):
    """TLS failed: the certificate is not one for this host, or is not trusted."""

    kind = "certificate"


class BadResponseError(CuratedError):
    """The answer is no valid HTTP, or is encoded in a way that was not asked for."""

    kind = "bad_response"


class RedirectError(BadResponseError):
    """Too many redirects, or one to somewhere that is no URL."""

    kind = "redirect"


class ResponseTooLargeError(TooLargeError):
    """The answer is longer than the caller takes."""


class SecretInRequestError(NotAllowedError):
    """What was to be sent holds a secret; nothing was sent."""

    kind = "secret_in_request"


TransportFailure = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, httpcore.ProxyError)
"""What httpcore raises for a failed exchange; `httpx.TransportError` is what its mocks raise."""


def translate(error: Exception, host: str) -> CuratedError:
    """The foreseen failure that an exception of the HTTP library is; its text is never used as it is.

    Args:
        error: One of `TransportFailure`, or an `httpx.TransportError`.
        host: The canonical host that was asked.
    """
    certificate = _certificate(error, host)
    if certificate is not None:
        return certificate
    told = next(((kind, text, step) for types, kind, text, step in _TOLD if isinstance(error, types)), None)
    if told is None:
        return _connection(error, host)
    kind, text, step = told
    if kind is BadResponseError and "disconnected" in str(error):  # before the first byte of an answer
        return UnreachableError(f"{host} closed the connection without an answer.", _LATER)
    return kind(text.format(host=host), step)


_LATER: Final = "Try again later."
_Told = tuple[tuple[type[Exception], type[Exception]], type[CuratedError], str, str]
_TOLD: Final[tuple[_Told, ...]] = (
    (
        (httpcore.ConnectTimeout, httpx.ConnectTimeout),
        TimedOutError,
        "{host} did not accept a connection in time.",
        _LATER,
    ),
    ((httpcore.TimeoutException, httpx.TimeoutException), TimedOutError, "{host} did not answer in time.", _LATER),
    (
        (httpcore.ProxyError, httpx.ProxyError),
        UnreachableError,
        "The proxy did not connect to {host}.",
        "Check the proxy's settings.",
    ),
    (
        (httpcore.LocalProtocolError, httpx.LocalProtocolError),
        InvalidArgumentError,
        "The request cannot be sent: a header or the body is not valid.",
        "",
    ),
    (
        (httpcore.RemoteProtocolError, httpx.RemoteProtocolError),
        BadResponseError,
        "{host} did not answer in valid HTTP, or not to the end.",
        _LATER,
    ),
)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What led to an exception, the nearest first; httpcore's pool raises its own again `from None`."""
    cause = error.__cause__ or error.__context__
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _certificate(error: Exception, host: str) -> CertificateError | None:
    cause = next((one for one in _causes(error) if isinstance(one, ssl.SSLError)), None)
    if isinstance(cause, ssl.SSLCertVerificationError):
        why = cause.verify_message.rstrip(".") or "it could not be verified"
        fix = "If a company's proxy or an own authority signs it, the operator can name its file with --ca-file."
        return CertificateError(f"The certificate of {host} is refused: {why}.", fix)
    if cause is not None:
        return CertificateError(f"No secure connection to {host} came about.", "Check that it serves https there.")
    return None


def _connection(error: Exception, host: str) -> UnreachableError:
    if not isinstance(error, httpcore.ConnectError | httpx.ConnectError):
        return UnreachableError(f"The connection to {host} broke.", _LATER)
    number = next((one.errno for one in _causes(error) if isinstance(one, OSError) and one.errno), None)
    why = f": {os.strerror(number).lower()}" if number else ""
    return UnreachableError(f"{host} cannot be reached{why}.", "Check the host and port, or try again later.")
