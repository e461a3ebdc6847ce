"""What was fetched lately, so that the pages of one long text come from one request."""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from mcp_curated_web.fetching.documents import Document

KEPT_SECONDS: Final = 300.0
MOST_ENTRIES: Final = 64
MOST_BYTES: Final = 32 << 20


@dataclass(slots=True)
class Snapshot:
    """One answer of the web, and the texts that were made of it.

    Attributes:
        url: As it was asked for.
        final_url: After redirects.
        status: The status code.
        content_type: The media type with its parameters, as sent.
        body: Decoded from its transfer, at most the limit.
        notices: What its reader should know about how it was fetched.
        fetched_at: In UTC, ISO 8601.
        documents: By form: "markdown", "text", "raw".
    """

    url: str
    final_url: str
    status: int
    content_type: str
    body: bytes
    notices: tuple[str, ...] = ()
    fetched_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    documents: dict[str, Document] = field(default_factory=dict[str, Document])

    @property
    def identifier(self) -> str:
        """Tells whether two pages of a text are of the same answer."""
        return hashlib.sha256(self.body).hexdigest()[:12]

    @property
    def size(self) -> int:
        """Bytes it takes, about."""
        return len(self.body) + sum(2 * len(one.text) for one in self.documents.values())


class Snapshots:
    """A bounded store of snapshots, oldest out first.

    Args:
        clock: Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Snapshot]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, url: str) -> Snapshot | None:
        """What was fetched from a URL within the last five minutes."""
        with self._lock:
            until, snapshot = self._kept.get(url, (0.0, None))
            if snapshot is None or until <= self._clock():
                self._kept.pop(url, None)
                return None
            self._kept.move_to_end(url)
            return snapshot

    def put(self, url: str, snapshot: Snapshot) -> None:
        """Keep one, in place of an older one of its URL."""
        with self._lock:
            self._kept.pop(url, None)
            self._kept[url] = (self._clock() + KEPT_SECONDS, snapshot)
            total = sum(one.size for _, one in self._kept.values())
            while len(self._kept) > MOST_ENTRIES or (total > MOST_BYTES and len(self._kept) > 1):
                _, (_, gone) = self._kept.popitem(last=False)
                total -= gone.size
