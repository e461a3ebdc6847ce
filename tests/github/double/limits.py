"""How many requests each caller may make, and what GitHub's headers tell of it."""

import time
from dataclasses import dataclass

from tests.github.double.answers import Headers, JsonObject
from tests.github.double.credentials import Token

# docs.github.com, "Rate limits for the REST API": requests an hour (core) and a minute (searches).
_ANONYMOUS = {"core": 60, "search": 10, "code_search": 10}
_KNOWN = {"core": 5000, "search": 30, "code_search": 10}
_SECONDS = {"core": 3600, "search": 60, "code_search": 60}


@dataclass(slots=True)
class Window:
    """What is left of one limit until `reset` (seconds since 1970)."""

    limit: int
    reset: int
    used: int = 0

    @property
    def remaining(self) -> int:
        """Requests that may still be made."""
        return max(self.limit - self.used, 0)

    def take(self, *, to_the_end: bool) -> None:
        """Count a request; the last one is left unless `to_the_end`, lest an answer claim a limit that holds nobody."""
        self.used = min(self.used + 1, self.limit if to_the_end else self.limit - 1)

    def document(self) -> JsonObject:
        """The window as `GET /rate_limit` has it."""
        return {"limit": self.limit, "used": self.used, "remaining": self.remaining, "reset": self.reset}

    def headers(self, resource: str) -> Headers:
        """The window as every answer's headers have it."""
        return (
            *((f"X-RateLimit-{name.title()}", str(value)) for name, value in self.document().items()),
            ("X-RateLimit-Resource", resource),
        )


class Limits:
    """The windows of every caller; `given` overrides a limit by its name."""

    def __init__(self, given: dict[str, int]) -> None:
        self._given = given
        self._windows: dict[tuple[str, str], Window] = {}

    def window(self, viewer: Token | None, resource: str) -> Window:
        """The caller's window of this resource; a new one where the last has passed."""
        key, now = (viewer.text if viewer else "", resource), int(time.time())
        found = self._windows.get(key)
        if found is None or found.reset <= now:
            usual = _ANONYMOUS if viewer is None else _KNOWN
            found = Window(self._given.get(resource, usual[resource]), now + _SECONDS[resource])
            self._windows[key] = found
        return found

    def windows(self, viewer: Token | None) -> dict[str, Window]:
        """All windows of a caller."""
        return {resource: self.window(viewer, resource) for resource in _SECONDS}


def resource_of(operation: str) -> str:
    """The limit that an operation counts against."""
    if operation == "search/code":
        return "code_search"
    return "search" if operation.startswith("search/") else "core"
