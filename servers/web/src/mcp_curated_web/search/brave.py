"""Brave Search: GET /res/v1/web/search (api-dashboard.search.brave.com, Web search)."""

from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from mcp_curated_shared.security.egress import EgressPolicy, Origin
from mcp_curated_shared.settings import Secret
from mcp_curated_web.search.asking import Members, ask_json, broken, items, members, result, results, string, with_site
from mcp_curated_web.search.making import Making
from mcp_curated_web.search.model import SearchAnswer, SearchQuery, SearchResult

if TYPE_CHECKING:  # the HTTP library is loaded by the first request
    from mcp_curated_shared.transport.http_client import HttpClient

API: Final = "https://api.search.brave.com"
_PATH: Final = "/res/v1/web/search"
_FRESHNESS: Final = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
# The countries that the API documents; another one is answered with 422.
COUNTRIES: Final = frozenset(
    {
        "AR", "AU", "AT", "BE", "BR", "CA", "CL", "DK", "FI", "FR", "DE", "GR", "HK", "IN",
        "ID", "IT", "JP", "KR", "MY", "MX", "NL", "NZ", "NO", "CN", "PL", "PT", "PH", "RU",
        "SA", "ZA", "ES", "SE", "CH", "TW", "TR", "GB", "US",
    }
)  # fmt: skip
_SECONDS: Final = 1.0  # the smallest plan allows one question a second
_MOST_PAGES: Final = 10


class Brave:
    """Asks Brave Search.

    Args:
        key: The key of the API.
        making: How its client is made.
    """

    name: str = "brave"
    knows: frozenset[str] = frozenset({"freshness", "country", "language", "site", "safe_search"})

    def __init__(self, key: Secret, making: Making) -> None:
        from mcp_curated_shared.transport.http_client import Credential

        origin = Origin.parse(API)
        credential = Credential(origin, key, "X-Subscription-Token")
        self._client: HttpClient = making.client(EgressPolicy.only(origin), credential)
        self._pace = making.pace(_SECONDS)

    async def ask(self, query: SearchQuery) -> SearchAnswer:
        """See `SearchProvider`."""
        from mcp_curated_shared.transport.http_client import HttpRequest

        parameters, notices = _parameters(query)
        if query.page > _MOST_PAGES:
            return SearchAnswer(self.name, (), notices=(f"Brave gives at most {_MOST_PAGES} pages.",))
        request = HttpRequest(f"{API}{_PATH}?{urlencode(parameters)}", headers=(("Accept", "application/json"),))
        answer = await ask_json(self._client, request, "Brave Search", self._pace)
        if answer.get("type") not in ("search", None) or ("web" not in answer and "query" not in answer):
            raise broken("Brave Search", "its answer has another form than it documents")
        web = members(answer.get("web"))
        found = [_one(entry) for entry in items(web.get("results", []), "Brave Search")]
        more = members(answer.get("query")).get("more_results_available") is True
        return SearchAnswer(self.name, results(found, "Brave Search"), more, tuple(notices))

    async def aclose(self) -> None:
        """See `SearchProvider`."""
        await self._client.aclose()


def _parameters(query: SearchQuery) -> tuple[dict[str, str], list[str]]:
    notices: list[str] = []
    parameters = {
        "q": with_site(query.text, query.site),
        "count": str(min(20, query.count)),
        "offset": str(query.page - 1),
        "result_filter": "web",
        "text_decorations": "false",
    }
    if query.freshness:
        parameters["freshness"] = _FRESHNESS[query.freshness]
    if query.country in COUNTRIES:
        parameters["country"] = query.country
    elif query.country:
        notices.append(f"Brave has no results by country for {query.country}; it was not asked for.")
    if query.language:
        parameters["search_lang"] = query.language
    if query.safe_search:
        parameters["safesearch"] = query.safe_search
    return parameters, notices


def _one(entry: Members) -> SearchResult | None:
    return result(
        string(entry, "title"),
        string(entry, "url"),
        string(entry, "description"),
        string(entry, "page_age", "age"),
        string(members(entry.get("profile")), "name"),
    )
