"""Wikipedia: the search of the MediaWiki API (mediawiki.org, API:Search). Needs no key: a fresh install works."""

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

from mcp_curated_shared.security.egress import EgressPolicy, Origin
from mcp_curated_web.search.asking import Members, ask_json, broken, items, members, plain, result, results, string
from mcp_curated_web.search.making import Making
from mcp_curated_web.search.model import SearchAnswer, SearchQuery, SearchRefusedError, SearchResult

if TYPE_CHECKING:  # the HTTP library is loaded by the first request
    from mcp_curated_shared.transport.http_client import HttpClient

NOTICE: Final = (
    "No web search provider is configured, so only Wikipedia was searched. The operator can set BRAVE_API_KEY, "
    "TAVILY_API_KEY or SEARXNG_URL."
)
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}")


class Wikipedia:
    """Asks Wikipedia, in the query's language.

    Args:
        making: How its clients are made.
        only: Whether nothing else is configured, so that the reader is told.
    """

    name: str = "wikipedia"
    knows: frozenset[str] = frozenset({"language"})

    def __init__(self, making: Making, *, only: bool) -> None:
        self._making = making
        self._notices = (NOTICE,) if only else ()
        self._clients: dict[str, HttpClient] = {}
        self._pace = making.pace(0.0)

    async def ask(self, query: SearchQuery) -> SearchAnswer:
        """See `SearchProvider`."""
        from mcp_curated_shared.transport.http_client import HttpRequest

        language = query.language or "en"
        if not _LANGUAGE.fullmatch(language):
            raise SearchRefusedError("language must be an ISO 639 code such as en.")
        site = f"https://{language}.wikipedia.org"
        offset = (query.page - 1) * query.count
        parameters = {
            "action": "query",
            "list": "search",
            "srsearch": query.text,
            "srlimit": str(query.count),
            "sroffset": str(offset),
            "format": "json",
            "formatversion": "2",
        }
        request = HttpRequest(f"{site}/w/api.php?{urlencode(parameters)}", headers=(("Accept", "application/json"),))
        answer = await ask_json(self._client(site), request, "Wikipedia", self._pace)
        error = members(answer.get("error"))  # the API answers 200 with an error inside
        if error:
            said = plain(string(error, "info", "code"), 300)
            raise SearchRefusedError(f'Wikipedia refuses the query. It says: "{said}"', "Change the query.")
        if "query" not in answer:
            raise broken("Wikipedia", "its answer has another form than it documents")
        found = items(members(answer["query"]).get("search"), "Wikipedia")
        more = "sroffset" in members(answer.get("continue"))
        return SearchAnswer(self.name, results([_one(one, site) for one in found], "Wikipedia"), more, self._notices)

    async def aclose(self) -> None:
        """See `SearchProvider`."""
        for client in self._clients.values():
            await client.aclose()

    def _client(self, site: str) -> "HttpClient":
        client = self._clients.get(site)
        if client is None:
            client = self._clients[site] = self._making.client(EgressPolicy.only(Origin.parse(site)))
        return client


def _one(entry: Members, site: str) -> SearchResult | None:
    title = string(entry, "title")
    url = f"{site}/wiki/{quote(title.replace(' ', '_'), safe='/:()')}" if title else ""
    return result(title, url, string(entry, "snippet"), string(entry, "timestamp"), "Wikipedia")
