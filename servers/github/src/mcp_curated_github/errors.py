"""What GitHub refuses, as typed errors: a kind, how long to wait, and one next step.

The rules stand in the order in which they are tried; the first that matches decides. A rate limit comes before anything
about permissions, since both are 403 (github-mcp-server 24dc8b08 told the one as the other).
"""

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.untrusted import clean, safe_text

if TYPE_CHECKING:  # the HTTP library is loaded by the first request
    from mcp_curated_shared.transport.http_client import HttpResponse

HOW_TO_GIVE_ONE: Final = "The operator can set GITHUB_TOKEN, or GITHUB_TOKEN_FILE, or GITHUB_USE_GH=1."
UNTOLD_SECONDS: Final = 60
"""How long to wait for a secondary limit that does not say (GitHub: "wait for at least one minute")."""

_LONGEST_WAIT: Final = 3_600
_LONGEST_MESSAGE: Final = 200
_MOST_FIELDS: Final = 5
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SECONDARY: Final = re.compile(r"secondary rate limit|abuse detection", re.IGNORECASE)
_IP_LIST: Final = re.compile(r"\bIP allow list\b", re.IGNORECASE)
_SSO_ORGANISATION: Final = re.compile(r"/orgs/([A-Za-z0-9_-]{1,60})/sso", re.ASCII)
_PERMISSIONS: Final = re.compile(r"[a-z0-9_=,; -]{1,200}", re.ASCII)
_EMPTY: Final = re.compile(r"repository is empty", re.IGNORECASE)


class GitHubError(CuratedError):
    """GitHub did not do it.

    Args:
        kind: As in the table of docs: `rate_limit`, `not_found_or_hidden`, ...
        text: What is wrong.
        next_step: What to do now.
        retry_after_s: Seconds after which the same call may succeed.
        status: GitHub's status code.
    """

    kind = "github"

    def __init__(
        self, kind: str, text: str, next_step: str, *, retry_after_s: int | None = None, status: int | None = None
    ) -> None:
        super().__init__(text, next_step, kind=kind)
        self.retry_after_s = retry_after_s
        self.status = status


def no_token(what: str) -> GitHubError:
    """The error for what only an account can do.

    Args:
        what: As the beginning of a sentence: "Starred repositories".
    """
    return GitHubError("no_token", f"{what} cannot be had: this server has no token.", HOW_TO_GIVE_ONE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is no success, taken apart.

    Attributes:
        status: The status code.
        headers: Names in any letter case.
        message: GitHub's own words, on one line, cleaned and short; empty for none.
        errors: What it lists beside them.
        host: Who answered.
        with_token: Whether a token was sent.
        now: The time in seconds since 1970.
    """

    status: int
    headers: Mapping[str, str]
    message: str
    errors: tuple[Mapping[str, object], ...]
    host: str
    with_token: bool
    now: float

    @classmethod
    def of(cls, answer: "HttpResponse", *, host: str, with_token: bool, now: float | None = None) -> "Refusal":
        """Take an answer apart; a body that is no JSON has no message."""
        try:
            document: object = json.loads(answer.body)
        except (ValueError, RecursionError):
            document = None
        body = cast("Mapping[str, object]", document if isinstance(document, dict) else {})
        return cls(
            answer.status,
            answer.headers,
            one_line(body.get("message")),
            _listed(body.get("errors")),
            host,
            with_token,
            time.time() if now is None else now,
        )

    def has_code(self, code: str) -> bool:
        """Whether one of the listed errors has this code."""
        return any(one.get("code") == code for one in self.errors)

    @property
    def said(self) -> str:
        """GitHub's own words as the end of a sentence; empty for none."""
        return f': "{self.message}"' if self.message else ""


def one_line(value: object, longest: int = _LONGEST_MESSAGE) -> str:
    """A text by GitHub as an error shows it: one line, nothing invisible, short; empty for what is no text."""
    if not isinstance(value, str):
        return ""
    line = _CONTROLS.sub(" ", safe_text(clean(value[: 4 * longest]).text)).strip().rstrip(".")
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _listed(errors: object) -> tuple[Mapping[str, object], ...]:
    if not isinstance(errors, list):
        return ()
    items = cast("list[object]", errors)[:50]
    return tuple(cast("Mapping[str, object]", one) if isinstance(one, dict) else {"message": one} for one in items)


def failure_of(refusal: Refusal) -> GitHubError:
    """The error for an answer that is no success; the first rule that matches decides."""
    found = next((error for rule in _RULES if (error := rule(refusal)) is not None), None)
    error = found or _unforeseen(refusal)
    error.status = refusal.status
    return error


def _unforeseen(refusal: Refusal) -> GitHubError:
    if refusal.status >= 500:
        text = f"{refusal.host} failed with status {refusal.status}{refusal.said}."
        return GitHubError("server_error", text, "Try again in a minute.", retry_after_s=UNTOLD_SECONDS)
    text = f"{refusal.host} answered with status {refusal.status}{refusal.said}."
    return GitHubError("refused", text, "Check the arguments.")


def _bad_token(refusal: Refusal) -> GitHubError | None:
    if refusal.status != 401:
        return None
    if not refusal.with_token:
        return GitHubError(
            "no_token", f"{refusal.host} wants an account for this, and there is no token.", HOW_TO_GIVE_ONE
        )
    text = f"{refusal.host} does not take the token: it is wrong, expired or revoked."
    return GitHubError("bad_token", text, "The operator must set a new one; do not try again.")


def _limited(refusal: Refusal) -> bool:
    return refusal.status in {403, 429}


def _secondary_by_header(refusal: Refusal) -> GitHubError | None:
    if not _limited(refusal) or "retry-after" not in refusal.headers:
        return None
    asked = asked_seconds(refusal.headers, refusal.now)
    return secondary_limit(UNTOLD_SECONDS if asked is None else int(-(-asked // 1)))


def asked_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """What a Retry-After header asks to wait; None where it cannot be read."""
    from mcp_curated_shared.transport.http_client import retry_after_seconds

    return retry_after_seconds(headers, now)


def secondary_limit(seconds: int) -> GitHubError:
    """The error for too many requests in a short time."""
    wait = min(max(seconds, 1), _LONGEST_WAIT)
    text = "GitHub's secondary rate limit is reached: too many requests in a short time."
    return GitHubError("secondary_rate_limit", text, f"Wait {wait} s, then ask less often.", retry_after_s=wait)


def _primary(refusal: Refusal) -> GitHubError | None:
    if not _limited(refusal) or refusal.headers.get("x-ratelimit-remaining") != "0":
        return None
    reset = refusal.headers.get("x-ratelimit-reset", "")
    seconds = (
        int(reset) - int(refusal.now) if reset.isascii() and reset.isdigit() and len(reset) < 15 else UNTOLD_SECONDS
    )
    wait = min(max(seconds, 1), _LONGEST_WAIT)
    more = "" if refusal.with_token else " A token would allow far more requests."
    text = "GitHub's rate limit is used up."
    return GitHubError("rate_limit", text, f"Try again in {wait} s.{more}", retry_after_s=wait)


def _secondary_by_words(refusal: Refusal) -> GitHubError | None:
    if _limited(refusal) and _SECONDARY.search(refusal.message):
        return secondary_limit(UNTOLD_SECONDS)
    return None


def _sso(refusal: Refusal) -> GitHubError | None:
    header = refusal.headers.get("x-github-sso")
    if refusal.status != 403 or header is None:
        return None
    named = _SSO_ORGANISATION.search(header)  # the address itself holds a one-time request, and is not passed on
    organisation = f"the organisation {named[1]}" if named else "the organisation"
    text = f"The token is not authorised for the single sign-on of {organisation}."
    return GitHubError(
        "sso_required", text, "Its owner must authorise it: GitHub, Settings, Tokens, Configure SSO; then try again."
    )


def _ip_blocked(refusal: Refusal) -> GitHubError | None:
    if refusal.status != 403 or _IP_LIST.search(refusal.message) is None:
        return None
    step = "An administrator of the organisation must allow this address."
    return GitHubError("ip_blocked", f"{refusal.message}.", step)


def _blob_too_large(refusal: Refusal) -> GitHubError | None:
    if refusal.status not in {403, 406, 422} or not refusal.has_code("too_large"):
        return None
    return GitHubError("too_large", f"It is too large for GitHub's API{refusal.said}.", "Ask for a smaller part of it.")


def _forbidden(refusal: Refusal) -> GitHubError | None:
    if refusal.status not in {403, 451}:
        return None
    needed = refusal.headers.get("x-accepted-github-permissions", "")
    if needed and _PERMISSIONS.fullmatch(needed):
        step = f"It needs a token with {needed}; the operator can give it."
    else:
        step = "It needs a token with more rights, or nobody may do it."
    return GitHubError("forbidden", f"GitHub forbids it{refusal.said}.", step)


def _not_found(refusal: Refusal) -> GitHubError | None:
    if refusal.status != 404:
        return None
    if _EMPTY.search(refusal.message):
        return _empty()
    if refusal.message and refusal.message != "Not Found":
        text = f'{refusal.host} does not find it: "{refusal.message}".'
    elif refusal.with_token:
        text = (
            f"It is not on {refusal.host}, or this token cannot see it (fine-grained tokens hide repositories that "
            "they were not given)."
        )
    else:
        text = f"It is not on {refusal.host}, or it is private: this server has no token."
    return GitHubError("not_found_or_hidden", text, "Check the name; if it is right, the operator must give access.")


def _redirected(refusal: Refusal) -> GitHubError | None:
    if refusal.status not in {301, 302, 303, 307, 308}:
        return None
    return GitHubError("renamed", f"{refusal.host} says that it has moved.", "Look for its new name with search_repos.")


def _not_acceptable(refusal: Refusal) -> GitHubError | None:
    if refusal.status != 406:
        return None
    return GitHubError("too_large", f"GitHub does not give it in this form{refusal.said}.", "Ask for a part of it.")


def _conflict(refusal: Refusal) -> GitHubError | None:
    if refusal.status != 409:
        return None
    if _EMPTY.search(refusal.message):
        return _empty()
    return GitHubError("conflict", f"GitHub reports a conflict{refusal.said}.", "Look at its state and try again.")


def _empty() -> GitHubError:
    return GitHubError(
        "empty_repository", "The repository is empty: nothing was ever pushed.", "There is nothing to read."
    )


def _gone(refusal: Refusal) -> GitHubError | None:
    if refusal.status != 410:
        return None
    if "disabled" in refusal.message.lower():
        return GitHubError("issues_disabled", "The repository has its issues switched off.", "Do not try again.")
    return GitHubError("gone", f"It is gone for good{refusal.said}.", "Do not try again.")


def _validation(refusal: Refusal) -> GitHubError | None:
    if refusal.status != 422:
        return None
    fields = [text for one in refusal.errors[:_MOST_FIELDS] if (text := _field(one))]
    more = len(refusal.errors) - _MOST_FIELDS
    told = "; ".join(fields) + (f"; and {more} more" if more > 0 else "")
    reason = f"{refusal.said}: {told}" if told and refusal.said else refusal.said or (f": {told}" if told else "")
    return GitHubError("validation", f"GitHub does not accept the values{reason}.", "Correct them and try again.")


def _field(error: Mapping[str, object]) -> str:
    """One listed error: `Label.name invalid`, with its message if it has one."""
    place = ".".join(part for name in ("resource", "field") if (part := one_line(error.get(name), 60)))
    words = (place, one_line(error.get("code"), 60), one_line(error.get("message")))
    return " ".join(word for word in words if word)


_RULES: Final[tuple[Callable[[Refusal], GitHubError | None], ...]] = (
    _bad_token,
    _secondary_by_header,
    _primary,
    _secondary_by_words,
    _sso,
    _ip_blocked,
    _blob_too_large,
    _forbidden,
    _not_found,
    _redirected,
    _not_acceptable,
    _conflict,
    _gone,
    _validation,
)
