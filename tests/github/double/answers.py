"""What the double answers: a status, headers, and a body that is JSON or bytes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

JsonObject: TypeAlias = dict[str, object]
Headers: TypeAlias = tuple[tuple[str, str], ...]

DOCUMENTATION = "https://docs.github.com/rest"
JSON = "application/json"


class NotJson:
    """The document of an answer that is not JSON."""


NOT_JSON = NotJson()


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `described_as` is the media type under which the contract describes a JSON document."""

    status: int
    headers: Headers = ()
    body: bytes = b""
    document: object = NOT_JSON
    described_as: str = JSON
    checked: bool = True

    def header(self, name: str) -> str | None:
        """The value of the first header of this name, in any letter case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def with_headers(self, *added: tuple[str, str]) -> "Answer":
        """The same answer; a header it already has stays as it is."""
        mine = {key.lower() for key, _ in self.headers}
        return replace(self, headers=self.headers + tuple(one for one in added if one[0].lower() not in mine))


def json_answer(
    document: object, status: int = 200, *, headers: Headers = (), media: str = JSON, described_as: str = JSON
) -> Answer:
    """An answer that holds `document`; `media` is its Content-Type without the charset."""
    body = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    typed = (("Content-Type", f"{media}; charset=utf-8"),)
    return Answer(status, typed + headers, body, document, described_as)


def raw_answer(body: bytes, media: str, *, headers: Headers = ()) -> Answer:
    """An answer of bytes as they are: a file, a diff, a page."""
    return Answer(200, (("Content-Type", f"{media}; charset=utf-8"), *headers), body)


def failure(
    status: int,
    message: str,
    *,
    errors: Sequence[Mapping[str, object] | str] = (),
    headers: Headers = (),
    extra: Mapping[str, object] | None = None,
) -> Answer:
    """An error in GitHub's form: a message, the page that explains it, and the fields at fault."""
    document: JsonObject = {"message": message, **(extra or {})}
    if errors:
        document["errors"] = [one if isinstance(one, str) else dict(one) for one in errors]
    document |= {"documentation_url": DOCUMENTATION, "status": str(status)}
    return json_answer(document, status, headers=headers)


class Failed(Exception):
    """Ends the handling of a request with `answer`."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def not_found() -> Failed:
    """The answer for what is not there, and for what this caller may not see."""
    return Failed(failure(404, "Not Found"))


def invalid(*errors: Mapping[str, object], message: str = "Validation Failed") -> Failed:
    """422 with the fields at fault."""
    return Failed(failure(422, message, errors=errors))
