"""What may go wrong on demand, queued for an operation or for whatever comes next."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.github.double.answers import Answer, failure, json_answer
from tests.github.double.contract import contract
from tests.github.double.delivery import WHOLE, Cut, Delivery, Dripped, Hold, Late, Lost, Whole
from tests.github.double.routes.call import moved
from tests.github.double.routes.pulls import too_large


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    The request is handled as ever if `takes_effect`, after `before` has let it go on. `answer` takes the place of the
    real one; `delivery` says what becomes of it.
    """

    name: str
    answer: Callable[[], Answer] | None = None
    takes_effect: bool = True
    before: Hold | None = None
    delivery: Delivery = WHOLE

    def after_effect(self) -> "Fault":
        """The same fault, after the request took effect: a gateway that gave up on a write that was carried out."""
        return replace(self, name=f"{self.name} after effect", takes_effect=True)

    def delivered(self, delivery: Delivery) -> "Fault":
        """The same fault, whose answer goes out in another way."""
        return replace(self, delivery=delivery)


class Faults:
    """The waiting faults; those of an operation come before those for any request. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: deque[Fault] = deque()
        self._on: dict[str, deque[Fault]] = {}
        self._always: dict[str | None, Fault] = {}

    def next(self, *faults: Fault) -> None:
        """Have these befall the next requests, one each."""
        with self._lock:
            self._next.extend(faults)

    def on(self, route: str, *faults: Fault) -> None:
        """Have these befall the next requests of one operation (`issues/create`, or `POST /repos/...`), one each."""
        identity = contract().named(route).identity
        with self._lock:
            self._on.setdefault(identity, deque()).extend(faults)

    def always(self, fault: Fault, on: str | None = None) -> None:
        """Have this befall every request that no other fault waits for, of one operation or of any."""
        identity = None if on is None else contract().named(on).identity
        with self._lock:
            self._always[identity] = fault

    def clear(self) -> None:
        """Forget every fault."""
        with self._lock:
            self._next.clear()
            self._on.clear()
            self._always.clear()

    @property
    def waiting(self) -> list[str]:
        """The names of the faults that no request has met yet."""
        with self._lock:
            return [one.name for queue in (*self._on.values(), self._next) for one in queue]

    def take(self, operation: str | None) -> Fault | None:
        """The fault that befalls this request."""
        with self._lock:
            for queue in (self._on.get(operation or ""), self._next):
                if queue:
                    return queue.popleft()
            return self._always.get(operation) or self._always.get(None)


def none() -> Fault:
    """No fault: a place in the queue for a request that goes well."""
    return Fault("none")


def _answering(name: str, answer: Callable[[], Answer]) -> Fault:
    return Fault(name, answer, takes_effect=False)


def bad_token() -> Fault:
    """401: the token is wrong, revoked or expired."""
    return _answering("bad_token", lambda: failure(401, "Bad credentials"))


def rate_limited(*, seconds: int = 120, status: int = 403) -> Fault:
    """The primary rate limit is spent; it begins again in `seconds` (which may be negative: a clock that is ahead)."""

    def answer() -> Answer:
        headers = (
            ("X-RateLimit-Limit", "60"),
            ("X-RateLimit-Remaining", "0"),
            ("X-RateLimit-Used", "60"),
            ("X-RateLimit-Reset", str(int(time.time()) + seconds)),
            ("X-RateLimit-Resource", "core"),
        )
        return failure(status, "API rate limit exceeded for 127.0.0.1.", headers=headers)

    return _answering("rate_limited", answer)


def secondary_limit(*, retry_after: int | str | None = 30, status: int = 403) -> Fault:
    """The secondary rate limit; without `retry_after` only the body tells."""
    headers = () if retry_after is None else (("Retry-After", str(retry_after)),)
    message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return _answering("secondary_limit", lambda: failure(status, message, headers=headers))


def abuse_detected() -> Fault:
    """The secondary rate limit in its old words."""
    message = "You have triggered an abuse detection mechanism. Please wait a few minutes before you try again."
    return _answering("abuse_detected", lambda: failure(403, message))


def sso_required(organisation: str = "octo-org") -> Fault:
    """403: the token is not authorised for the organisation's single sign-on; the address holds a one-time request."""
    url = f"https://github.com/orgs/{organisation}/sso?authorization_request=A{int(time.time())}"
    message = "Resource protected by organization SAML enforcement. You must grant your token access."
    headers = (("X-GitHub-SSO", f"required; url={url}"),)
    return _answering("sso_required", lambda: failure(403, message, headers=headers))


def ip_blocked(organisation: str = "octo-org") -> Fault:
    """403: the organisation lets only some addresses in."""
    message = (
        f"Although you appear to have the correct authorization credentials, the `{organisation}` organization has an "
        "IP allow list enabled, and your IP address is not permitted to access this resource."
    )
    return _answering("ip_blocked", lambda: failure(403, message))


def forbidden(accepted: str | None = "issues=write") -> Fault:
    """403: the token lacks a permission, which a header names."""
    headers = () if accepted is None else (("X-Accepted-GitHub-Permissions", accepted),)
    message = "Resource not accessible by personal access token"
    return _answering("forbidden", lambda: failure(403, message, headers=headers))


def missing() -> Fault:
    """404."""
    return _answering("missing", lambda: failure(404, "Not Found"))


def redirected(location: str, status: int = 301) -> Fault:
    """301, 302, 307 or 308 to any address."""
    return _answering("redirected", lambda: moved(location, status))


def diff_too_large(status: int = 406) -> Fault:
    """406: the diff has too many files or lines; 422 in the form that other operations give."""
    if status == 406:
        return _answering("diff_too_large", too_large)
    errors = [{"resource": "PullRequest", "field": "diff", "code": "too_large"}]
    return _answering("diff_too_large", lambda: failure(status, "Validation Failed", errors=errors))


def empty_repository() -> Fault:
    """409: nothing was ever pushed."""
    return _answering("empty_repository", lambda: failure(409, "Git Repository is empty."))


def issues_disabled() -> Fault:
    """410: the repository has no issues."""
    return _answering("issues_disabled", lambda: failure(410, "Issues has been disabled in this repository."))


def invalid_fields(*errors: dict[str, object], message: str = "Validation Failed") -> Fault:
    """422 with the fields at fault; one of a label, if none is given."""
    fields = errors or ({"resource": "Label", "field": "name", "code": "invalid"},)
    return _answering("invalid_fields", lambda: failure(422, message, errors=fields))


def server_error(status: int = 502) -> Fault:
    """5xx, in JSON as the API gives it."""
    return _answering(f"server_error {status}", lambda: failure(status, "Server Error"))


def unicorn(status: int = 502) -> Fault:
    """5xx as a page, as what stands before the API gives it."""
    page = b"<!DOCTYPE html><html><head><title>Unicorn!</title></head><body>This page is taking too long.</body></html>"
    typed = (("Content-Type", "text/html; charset=utf-8"),)
    return _answering(f"unicorn {status}", lambda: Answer(status, typed, page))


def not_json(
    body: bytes = b"<html><body>Log in to the network first.</body></html>", media: str = "text/html"
) -> Fault:
    """200 with something that is not JSON, as a proxy answers."""
    return _answering("not_json", lambda: Answer(200, (("Content-Type", media),), body))


def wrong_shape(document: object = None) -> Fault:
    """200 with JSON that the operation does not give; it is not held to the contract."""
    return _answering("wrong_shape", lambda: replace(json_answer(document), checked=False))


def slow_before(hold: Hold | None = None) -> Fault:
    """No answer, and no effect either, until `hold` is released or the client has gone (then it never has any)."""
    return Fault("slow_before", before=hold or Hold())


def slow_headers(hold: Hold | None = None) -> Fault:
    """The request takes effect at once; not even headers come until `hold` is released."""
    return Fault("slow_headers", delivery=Late(hold or Hold()))


def slow_body(pause: float = 0.05, size: int = 1) -> Fault:
    """Headers at once, the body `size` bytes every `pause` seconds."""
    return Fault("slow_body", delivery=Dripped(pause, size))


def closed_before(*, reset: bool = False) -> Fault:
    """The connection ends without an answer; the request had no effect."""
    return Fault("closed_before", takes_effect=False, delivery=Lost(reset))


def closed_after(*, reset: bool = False) -> Fault:
    """The connection ends without an answer; the request took effect."""
    return Fault("closed_after", delivery=Lost(reset))


def cut_body(size: int | None = None) -> Fault:
    """The request took effect; its answer ends too early."""
    return Fault("cut_body", delivery=Cut(size))


def answered_twice() -> Fault:
    """The request took effect once; its answer comes twice, so that the next request could meet the second."""
    return Fault("answered_twice", delivery=Whole(2))
