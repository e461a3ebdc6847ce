"""The tool that searches."""

from typing import Annotated, Literal

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from mcp_curated_shared.errors import InvalidArgumentError
from mcp_curated_shared.security.untrusted import META_KEY, Provenance, wrap
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import reads
from mcp_curated_web.models import SearchResults
from mcp_curated_web.search.model import LONGEST_QUERY, SearchAnswer, SearchQuery
from mcp_curated_web.server.state import Web, WebContext, state_of


async def search(
    query: Annotated[str, Field(min_length=1, description="Words to look for")],
    ctx: WebContext,
    count: Annotated[int, Field(ge=1, le=20, description="Most results")] = 10,
    page: Annotated[int, Field(ge=1, le=50, description="From 1")] = 1,
    freshness: Annotated[
        Literal["day", "week", "month", "year"] | None, Field(description="Not older than this")
    ] = None,
    country: Annotated[str | None, Field(description="Two letters, such as DE")] = None,
    language: Annotated[str | None, Field(description="Two letters, such as de")] = None,
    site: Annotated[str | None, Field(description="Only this host and those below it")] = None,
    safe_search: Annotated[Literal["off", "moderate", "strict"] | None, Field(description="Adult results")] = None,
    provider: Annotated[str | None, Field(description="Ask this configured provider only")] = None,
) -> Annotated[CallToolResult, SearchResults]:
    """Search the web and give titles, URLs and snippets, the same way whichever provider answers; what it cannot do is
    said in the notices. Results are third-party text between two marks, as in fetch_url, which reads a page found."""
    asked = SearchQuery(
        text=_words(query),
        count=count,
        page=page,
        freshness=freshness,
        country=_letters("country", country).upper(),
        language=_letters("language", language),
        site=_host(site),
        safe_search=safe_search,
    )
    answer = await state_of(ctx).engine.search(asked, provider)
    return _result(answer, page)


def _words(query: str) -> str:
    words = " ".join(query.split())
    if not words or len(words) > LONGEST_QUERY:
        raise InvalidArgumentError(f"query must have 1 to {LONGEST_QUERY} characters.")
    return words


def _letters(name: str, value: str | None) -> str:
    word = (value or "").strip().lower()
    if word and not (word.isascii() and word.isalpha() and len(word) in ((2,) if name == "country" else (2, 3))):
        raise InvalidArgumentError(f"{name} must be two letters.")
    return word


def _host(site: str | None) -> str:
    from mcp_curated_shared.security.egress import InvalidUrlError, Target

    if not site or not site.strip():
        return ""
    word = site.strip().removeprefix("https://").removeprefix("http://").strip("/")
    try:
        return Target.parse(f"https://{word}").host
    except InvalidUrlError:
        raise InvalidArgumentError("site must be a host name such as example.com.") from None


def _result(answer: SearchAnswer, page: int) -> CallToolResult:
    structure = SearchResults.of(answer, page)
    lines = [
        f"{number}. {one.title}\n   {one.url}"
        + (f"\n   {one.published}" if one.published else "")
        + (f"\n   {one.snippet}" if one.snippet else "")
        for number, one in enumerate(answer.results, 1)
    ]
    head = [f"{len(answer.results)} results from {answer.provider}."]
    head += [f"Note: {notice}" for notice in answer.notices]
    if structure.next_page is not None:
        head.append(f"More: the same call with page {structure.next_page}.")
    body = wrap("\n".join(lines), Provenance(answer.provider)) if lines else None
    text = "\n".join(head) + (f"\n\n{body.text}" if body else "")
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=structure.structured(),
        _meta=None if body is None else {META_KEY: body.machine_form},
    )


def add_search_tools(server: CuratedServer[Web]) -> None:
    """Register it."""
    server.add_tool(search, annotations=reads("Search the web", open_world=True))
