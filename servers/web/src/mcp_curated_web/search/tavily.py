"""Tavily: POST /search (docs.tavily.com, Search)."""

import json
from typing import TYPE_CHECKING, Final

from mcp_curated_shared.security.egress import EgressPolicy, Origin
from mcp_curated_shared.settings import Secret
from mcp_curated_web.search.asking import Members, ask_json, broken, items, result, results, string
from mcp_curated_web.search.countries import COUNTRY_NAMES
from mcp_curated_web.search.making import Making
from mcp_curated_web.search.model import SearchAnswer, SearchQuery, SearchResult

if TYPE_CHECKING:  # the HTTP library is loaded by the first request
    from mcp_curated_shared.transport.http_client import HttpClient

API: Final = "https://api.tavily.com"


class Tavily:
    """Asks Tavily.

    Args:
        key: The key of the API.
        making: How its client is made.
    """

    name: str = "tavily"
    knows: frozenset[str] = frozenset({"freshness", "country", "site"})

    def __init__(self, key: Secret, making: Making) -> None:
        from mcp_curated_shared.transport.http_client import Credential

        origin = Origin.parse(API)
        bearer = Credential(origin, Secret(f"Bearer {key.reveal()}"))
        self._client: HttpClient = making.client(EgressPolicy.only(origin), bearer)
        self._pace = making.pace(0.0)

    async def ask(self, query: SearchQuery) -> SearchAnswer:
        """See `SearchProvider`."""
        from mcp_curated_shared.transport.http_client import HttpRequest

        if query.page > 1:
            return SearchAnswer(self.name, (), notices=("Tavily has no further pages; ask for a larger count.",))
        body, notices = _body(query)
        request = HttpRequest(
            f"{API}/search",
            method="POST",
            headers=(("Accept", "application/json"), ("Content-Type", "application/json")),
            content=json.dumps(body).encode(),
        )
        answer = await ask_json(self._client, request, "Tavily", self._pace)
        if "results" not in answer:
            raise broken("Tavily", "its answer has no list of results")
        found = results([_one(entry) for entry in items(answer["results"], "Tavily")], "Tavily")
        inside = tuple(one for one in found if _belongs(one, query.site))
        if len(inside) < len(found):
            notices.append(f"{len(found) - len(inside)} results of other sites than {query.site} were left out.")
        return SearchAnswer(self.name, inside, False, tuple(notices))

    async def aclose(self) -> None:
        """See `SearchProvider`."""
        await self._client.aclose()


def _body(query: SearchQuery) -> tuple[dict[str, object], list[str]]:
    notices: list[str] = []
    body: dict[str, object] = {"query": query.text, "max_results": min(20, query.count), "search_depth": "basic"}
    if query.freshness:
        body["time_range"] = query.freshness
    if query.site:
        body["include_domains"] = [query.site]
    name = COUNTRY_NAMES.get(query.country)
    if name:
        body["country"] = name
    elif query.country:
        notices.append(f"Tavily has no results by country for {query.country}; it was not asked for.")
    return body, notices


def _belongs(one: SearchResult, site: str) -> bool:
    """Whether a result is of a site; the API does not always keep to `include_domains`."""
    host = one.url.split("/")[2].partition(":")[0]
    return not site or host == site or host.endswith("." + site)


def _one(entry: Members) -> SearchResult | None:
    return result(
        string(entry, "title"), string(entry, "url"), string(entry, "content"), string(entry, "published_date")
    )
