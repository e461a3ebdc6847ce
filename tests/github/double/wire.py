"""HTTP/1.1 as far as a test double needs it: a request as it was sent, and an answer as bytes."""

import asyncio
import json
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from urllib.parse import parse_qsl

from tests.github.double.answers import Answer, Headers

LARGEST_HEAD = 64 * 1024
LARGEST_BODY = 1024 * 1024


class MalformedError(Exception):
    """What came is no HTTP/1.1 request that this double reads."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request; `target` and `path` exactly as sent, nothing decoded."""

    method: str
    target: str
    headers: Headers
    body: bytes = b""

    @property
    def path(self) -> str:
        """The target up to its query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        """The decoded parameters; of a repeated one the last."""
        return dict(parse_qsl(self.target.partition("?")[2], keep_blank_values=True))

    @property
    def json(self) -> object:
        """The body as JSON; raises ValueError where it is none."""
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        """The value of the first header of this name, in any letter case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection; None once the other side has closed it.

    Raises:
        MalformedError: what came is no request, is larger than the limits, or ended in the middle.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise MalformedError("the connection ended within the head of a request") from None
        return None
    except asyncio.LimitOverrunError:
        raise MalformedError("the head of a request is too long") from None
    method, target, headers = _head(head)
    request = Request(method, target, headers)
    if request.header("Transfer-Encoding") is not None:
        raise MalformedError("GitHub's clients send a length, not chunks")
    length = int(request.header("Content-Length") or "0")
    if length > LARGEST_BODY:
        raise MalformedError("the body of a request is too long")
    try:
        return Request(method, target, headers, await reader.readexactly(length))
    except asyncio.IncompleteReadError:
        raise MalformedError("the connection ended within the body of a request") from None


def _head(head: bytes) -> tuple[str, str, Headers]:
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or words[2] != "HTTP/1.1" or not words[1].startswith("/"):
        raise MalformedError(f"{first!r} begins no request")
    pairs = [line.partition(":") for line in lines]
    return words[0], words[1], tuple((name, value.strip()) for name, _, value in pairs)


def head_of(answer: Answer) -> bytes:
    """The bytes before an answer's body."""
    phrase = HTTPStatus(answer.status).phrase
    headers = answer.with_headers(("Date", formatdate(usegmt=True)), ("Server", "github.com")).headers
    length = () if answer.status == 304 else (("Content-Length", str(len(answer.body))),)
    lines = [f"{name}: {value}" for name, value in headers + length]
    return "\r\n".join([f"HTTP/1.1 {answer.status} {phrase}", *lines, "", ""]).encode("latin-1")


def whole(answer: Answer) -> bytes:
    """The whole answer."""
    return head_of(answer) + answer.body
