"""One request on its way to an answer: what was asked, by whom, of which repository, in which form and page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from tests.github.double.answers import Answer, Failed, Headers, failure, json_answer, not_found
from tests.github.double.contract import Operation
from tests.github.double.credentials import Token
from tests.github.double.limits import Limits
from tests.github.double.shaping.view import View
from tests.github.double.state import GitHub, Repository
from tests.github.double.wire import Request

LARGEST_PAGE = 100
_ACCEPTED = re.compile(
    r"(?:application|text)/vnd\.github(?:\.v3)?(?:\.(?P<form>raw|html|diff|patch|object|star|text-match|text|full))?(?:\+json)?"
)
_PLAIN = ("*/*", "application/*", "application/json", "text/html", "text/plain")


@dataclass(frozen=True, slots=True)
class Call:
    """A request that means `operation`; `repository_id` is given where the path names the repository by it."""

    view: View
    request: Request
    operation: Operation
    parameters: dict[str, str]
    limits: Limits
    repository_id: int | None = None

    @property
    def github(self) -> GitHub:
        """The state."""
        return self.view.github

    @property
    def form(self) -> str:
        """The form that the Accept header asks for: `json` or one of GitHub's own; raises Failed (415) for another."""
        asked = self.request.header("Accept") or "*/*"
        for one in asked.split(","):
            media = one.partition(";")[0].strip()
            if media in _PLAIN:
                return "json"
            match = _ACCEPTED.fullmatch(media)
            if match:
                return match["form"] or "json"
        raise Failed(failure(415, f"Unsupported 'Accept' header: {[asked]}. Must accept 'application/json'."))

    def number(self, name: str) -> int:
        """A parameter of the path that must be a number; else there is nothing at this path."""
        text = self.parameters[name]
        if not re.fullmatch(r"\d{1,18}", text):
            raise not_found()
        return int(text)

    def repository(self) -> Repository:
        """The repository that the path names.

        Raises:
            Failed: 404 where the caller may not see it; the redirection where this is a former name of it.
        """
        by_id = self.repository_id is not None
        asked = f"{self.parameters['owner']}/{self.parameters['repo']}"
        found = self.github.repositories.get(self.repository_id or 0) if by_id else self.github.find(asked)
        if found is None or not self.github.sees(self.view.viewer, found):
            raise not_found()
        if not by_id and asked.lower() != found.full_name.lower():
            raise Failed(self._moved(found))
        return found

    def _moved(self, repository: Repository) -> Answer:
        rest = self.request.target.split("/", 4)[4:]
        location = "/".join([f"{self.view.api}/repositories/{repository.id}", *rest])
        return moved(location, 301 if self.request.method == "GET" else 307)

    def page(self, items: Sequence[object], base: str) -> tuple[list[object], Headers]:
        """The asked page of `items`, and the Link header that leads on from it (RFC 8288)."""
        size = min(max(self._positive("per_page", 30), 1), LARGEST_PAGE)
        page, last = self._positive("page", 1), max(1, -(-len(items) // size))
        links = {"prev": min(page - 1, last), "next": page + 1, "last": last, "first": 1}
        if page >= last:
            del links["next"], links["last"]
        if page <= 1:
            del links["prev"], links["first"]
        query = {name: value for name, value in self.request.query.items() if name != "page"}
        header = ", ".join(
            f'<{self.view.api}{base}?{urlencode({**query, "page": number})}>; rel="{relation}"'
            for relation, number in links.items()
        )
        return list(items[(page - 1) * size : page * size]), (("Link", header),) if links else ()

    def asks_beyond(self, most: int) -> bool:
        """Whether the asked page lies past the first `most` items."""
        return (self._positive("page", 1) - 1) * min(self._positive("per_page", 30), LARGEST_PAGE) >= most

    def _positive(self, name: str, otherwise: int) -> int:
        text = self.request.query.get(name, "")
        return max(int(text), 1) if re.fullmatch(r"\d{1,9}", text) else otherwise

    def needs_account(self) -> Token:
        """The caller's token; ends an anonymous call."""
        if self.view.viewer is None:
            raise Failed(failure(401, "Requires authentication"))
        return self.view.viewer


def moved(location: str, status: int) -> Answer:
    """A redirection in GitHub's form."""
    message = "Moved Permanently" if status in (301, 308) else "Temporary Redirect"
    return json_answer(
        {"message": message, "url": location, "documentation_url": "https://docs.github.com/rest"},
        status,
        headers=(("Location", location),),
    )
