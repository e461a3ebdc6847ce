"""SearXNG: GET /search?format=json (docs.searxng.org, Search API), on an instance that the operator names."""

from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from mcp_curated_shared.security.egress import EgressPolicy, Origin
from mcp_curated_web.search.asking import Members, ask_json, broken, items, plain, result, results, string, with_site
from mcp_curated_web.search.making import Making
from mcp_curated_web.search.model import SearchAnswer, SearchKeyError, SearchQuery, SearchResult

if TYPE_CHECKING:  # the HTTP library is loaded by the first request
    from mcp_curated_shared.transport.http_client import HttpClient

_SAFE: Final = {"off": "0", "moderate": "1", "strict": "2"}


class Searxng:
    """Asks a SearXNG instance.

    Args:
        url: Its address without a slash at the end; it may be private.
        making: How its client is made.
    """

    name: str = "searxng"
    knows: frozenset[str] = frozenset({"freshness", "language", "site", "safe_search"})

    def __init__(self, url: str, making: Making) -> None:
        self._url = url
        self._client: HttpClient = making.client(EgressPolicy.only(Origin.parse(url)))
        self._pace = making.pace(0.0)

    async def ask(self, query: SearchQuery) -> SearchAnswer:
        """See `SearchProvider`."""
        from mcp_curated_shared.transport.http_client import HttpRequest

        request = HttpRequest(
            f"{self._url}/search?{urlencode(_parameters(query))}",
            headers=(("Accept", "application/json"),),
            redirects="same_origin",
        )
        try:
            answer = await ask_json(self._client, request, "SearXNG", self._pace)
        except SearchKeyError:
            raise SearchKeyError(
                "The SearXNG instance refuses the format json (403).",
                "Its operator can allow it: search.formats in settings.yml must list json.",
            ) from None
        if "results" not in answer:
            raise broken("SearXNG", "its answer has no list of results")
        found = results([_one(entry) for entry in items(answer["results"], "SearXNG")], "SearXNG")
        silent = _unresponsive(answer)
        if not found and silent:
            raise broken("SearXNG", f"none of its engines answered ({silent})")
        notices = (f"These engines did not answer: {silent}.",) if silent else ()
        return SearchAnswer(self.name, found[: query.count], bool(found), notices)

    async def aclose(self) -> None:
        """See `SearchProvider`."""
        await self._client.aclose()


def _parameters(query: SearchQuery) -> dict[str, str]:
    parameters = {"q": with_site(query.text, query.site), "format": "json", "pageno": str(query.page)}
    if query.freshness:
        parameters["time_range"] = query.freshness
    if query.language:
        parameters["language"] = query.language
    if query.safe_search:
        parameters["safesearch"] = _SAFE[query.safe_search]
    return parameters


def _unresponsive(answer: Members) -> str:
    value = answer.get("unresponsive_engines")
    names: list[str] = []
    for entry in value if isinstance(value, list) else ():  # pyright: ignore[reportUnknownVariableType]  # any JSON
        first: object = entry[0] if isinstance(entry, list) and entry else entry  # pyright: ignore[reportUnknownVariableType]  # any JSON
        if isinstance(first, str):
            names.append(plain(first, 40))
    return ", ".join(names[:10])


def _one(entry: Members) -> SearchResult | None:
    return result(
        string(entry, "title"),
        string(entry, "url"),
        string(entry, "content"),
        string(entry, "publishedDate", "pubdate"),
        string(entry, "engine"),
    )
