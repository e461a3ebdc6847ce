"""Why a page was not given, each kind with what its reader can do."""

from mcp_curated_shared.errors import CuratedError, NotAllowedError, TooLargeError, UnavailableError


class HttpStatusError(UnavailableError):
    """The server answered with an error; what it said is in the text, marked as its own words."""

    kind = "http_status"

    def __init__(self, text: str, next_step: str = "", *, retry_after_s: int | None = None) -> None:
        super().__init__(text, next_step)
        self.retry_after_s = retry_after_s


class RobotsError(NotAllowedError):
    """robots.txt forbids it, or could not be read (RFC 9309)."""

    kind = "robots"


class ChallengeError(UnavailableError):
    """The site wants proof that a person asks; this server gives none."""

    kind = "challenge"


class UnsupportedContentError(CuratedError):
    """What came is no text, document or image that can be given."""

    kind = "unsupported_content"


class ContentTooLargeError(TooLargeError):
    """What came is larger than its kind may be."""


class MissingExtraError(CuratedError):
    """An optional part of the installation is needed."""

    kind = "missing_extra"
