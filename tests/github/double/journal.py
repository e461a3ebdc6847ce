"""Every request that came, in order, as it was sent."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass

from tests.github.double.wire import Request


@dataclass(slots=True)
class Exchange:
    """A request and what became of it.

    `operation` is None where no operation was meant; `fault` names what went wrong on purpose; `status` is that of the
    answer that was made, None as long as there is none or where there never was one; `took_effect` tells of a write
    that was carried out; `sent`, whether all of the answer went out.
    """

    number: int
    request: Request
    operation: str | None
    fault: str = "none"
    status: int | None = None
    took_effect: bool = False
    sent: bool = False

    @property
    def method(self) -> str:
        """The request's method."""
        return self.request.method

    @property
    def path(self) -> str:
        """The path as sent."""
        return self.request.path

    @property
    def query(self) -> dict[str, str]:
        """The decoded parameters."""
        return self.request.query

    @property
    def body(self) -> bytes:
        """The body as sent."""
        return self.request.body

    @property
    def json(self) -> object:
        """The body as JSON; raises ValueError where it is none."""
        return self.request.json

    def header(self, name: str) -> str | None:
        """A header of the request."""
        return self.request.header(name)

    @property
    def wire(self) -> bytes:
        """All of the request, to look for what must not be in it."""
        head = [f"{self.method} {self.request.target}", *(f"{name}: {value}" for name, value in self.request.headers)]
        return "\r\n".join([*head, "", ""]).encode("latin-1") + self.body


class Journal:
    """The exchanges so far. Safe to read from any thread while the double is at work."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._exchanges: list[Exchange] = []

    def add(self, request: Request, operation: str | None) -> Exchange:
        """Write down a request that has just come."""
        with self._lock:
            made = Exchange(len(self._exchanges) + 1, request, operation)
            self._exchanges.append(made)
        return made

    def clear(self) -> None:
        """Forget what came so far."""
        with self._lock:
            self._exchanges.clear()

    def __iter__(self) -> Iterator[Exchange]:
        with self._lock:
            return iter(list(self._exchanges))

    def __len__(self) -> int:
        return len(self._exchanges)

    def of(self, operation: str) -> list[Exchange]:
        """The requests of one operation, by its name."""
        return [one for one in self if one.operation == operation]

    def by(self, method: str) -> list[Exchange]:
        """The requests with this method."""
        return [one for one in self if one.method == method]

    @property
    def posts(self) -> list[Exchange]:
        """The requests that write."""
        return [one for one in self if one.method != "GET"]

    @property
    def paths(self) -> list[str]:
        """`METHOD target` of every request, as sent."""
        return [f"{one.method} {one.request.target}" for one in self]

    @property
    def last(self) -> Exchange:
        """The newest request; raises IndexError where none came."""
        return list(self)[-1]
