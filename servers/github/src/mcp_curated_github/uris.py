"""The URIs of resources, read by one strict parser.

The SDK's own matching lets `%3F` through a segment, and a template with a query drops what it does not know. Here a URI
has the segments of its template and nothing else, each decoded exactly once.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import unquote_to_bytes

from mcp_curated_github.names import RepoName
from mcp_curated_shared.errors import InvalidArgumentError, NotFoundError

README: Final = "github://repos/{owner}/{repo}/readme"
CONTENTS: Final = "github://repos/{owner}/{repo}/contents/{+path}"
STARRED: Final = "github://user/starred"

_SCHEME: Final = re.compile(r"github://", re.IGNORECASE)
_UNESCAPED: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_LONGEST: Final = 8_000


@dataclass(frozen=True, slots=True)
class ResourceName:
    """What a URI names.

    Attributes:
        kind: Which of the three templates it is of.
        repo: The repository, for the first two.
        path: Below the top of the repository; empty for the top itself.
    """

    kind: Literal["readme", "contents", "starred"]
    repo: RepoName | None = None
    path: str = ""


def read_uri(uri: str) -> ResourceName:
    """Read a URI as the client wrote it.

    Raises:
        InvalidArgumentError: It has a query, a fragment, an empty or dotted segment, or an escape that is none.
        NotFoundError: It has the form of no template.
    """
    match = _SCHEME.match(uri)
    if match is None or len(uri) > _LONGEST:
        raise _unknown()
    rest = uri[match.end() :]
    if "?" in rest or "#" in rest:
        raise InvalidArgumentError("The URI has a query or a fragment.", "Write ? as %3F and # as %23 in a path.")
    segments = [_decoded(part) for part in rest.split("/")]
    match segments:
        case ["user", "starred"]:
            return ResourceName("starred")
        case ["repos", owner, name, "readme"]:
            return ResourceName("readme", _repo(owner, name))
        case ["repos", owner, name, "contents", *parts]:
            return ResourceName("contents", _repo(owner, name), "/".join(_trimmed(parts)))
        case _:
            raise _unknown()


def _trimmed(parts: list[str]) -> list[str]:
    """Without the empty part that a slash at the end leaves."""
    kept = parts[:-1] if parts and not parts[-1] else parts
    if "" in kept:
        raise InvalidArgumentError("The URI has an empty part.", "Write one slash between two parts.")
    return kept


def _repo(owner: str, name: str) -> RepoName:
    return RepoName.parse(f"{owner}/{name}")


def _decoded(part: str) -> str:
    if _UNESCAPED.search(part):
        raise InvalidArgumentError("The URI has a % that begins no escape.", "Write it as %25.")
    try:
        text = unquote_to_bytes(part).decode()
    except UnicodeError:
        raise InvalidArgumentError("The URI has an escape that is no UTF-8.", "Escape the bytes of UTF-8.") from None
    if "/" in text:
        raise InvalidArgumentError("The URI has an escaped slash, and no name holds one.", "Write it as it is.")
    return text


def _unknown() -> NotFoundError:
    return NotFoundError("There is no such resource.", f"URIs are {README}, {CONTENTS} and {STARRED}.")
