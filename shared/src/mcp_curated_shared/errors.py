"""Foreseen failures: the only texts that a model ever sees.

Every failure that a caller can do something about is a `CuratedError`: a stable `kind` for programs, one
sentence that names the thing, and the next step. They are plain exceptions; `transport/server.py` is the one
place that turns them into protocol errors. Anything else that escapes is a crash: the model learns the tool's
name, the log gets the traceback.
"""


class CuratedError(Exception):
    """A failure that was foreseen, told in words that its reader can act on.

    Args:
        text: One sentence that names the thing and what is wrong with it, without a secret in it.
        next_step: What the caller can do now; empty when `text` already says it.
        kind: Overrides the class's own kind with a finer one.
    """

    kind: str = "error"
    retry_after_s: int | None = None
    """Seconds after which the same call may succeed, where that is known; set by a subclass."""

    def __init__(self, text: str, next_step: str = "", *, kind: str | None = None) -> None:
        super().__init__(text, next_step)
        self.text = text
        self.next_step = next_step
        if kind is not None:
            self.kind = kind

    def __str__(self) -> str:
        return f"{self.text} {self.next_step}".rstrip()


class InvalidArgumentError(CuratedError):
    """An argument has a value that the operation cannot take."""

    kind = "invalid_argument"


class NotFoundError(CuratedError):
    """The named thing does not exist."""

    kind = "not_found"


class NotAllowedError(CuratedError):
    """A rule of the operator forbids it; no other argument to the same thing helps."""

    kind = "not_allowed"


class UnavailableError(CuratedError):
    """The thing exists in the settings but cannot be used now; a later try may succeed."""

    kind = "unavailable"


class ConflictError(CuratedError):
    """The thing changed under the caller, or already exists."""

    kind = "conflict"


class TooLargeError(CuratedError):
    """It is beyond a stated limit."""

    kind = "too_large"


class TimedOutError(CuratedError):
    """The time budget ended before the work did."""

    kind = "timed_out"


class CancelledError(CuratedError):
    """The caller withdrew the request while it was running."""

    kind = "cancelled"


class SettingsError(CuratedError):
    """The server was started with settings that it refuses; `next_step` is the fix."""

    kind = "settings"
