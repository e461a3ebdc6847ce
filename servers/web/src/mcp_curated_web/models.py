"""The shapes of structured results: a field that is not named here does not leave."""

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:  # the parser is loaded by the first page
    from mcp_curated_web.fetching.documents import Document, Page
    from mcp_curated_web.fetching.fetcher import Fetched
    from mcp_curated_web.search.model import SearchAnswer


class Structure(BaseModel):
    """A structured result; what does not apply is left out of it."""

    def structured(self) -> dict[str, Any]:
        """As `structuredContent`."""
        return self.model_dump(mode="json", exclude_none=True)


class PageLink(BaseModel):
    """One link of a page."""

    text: str
    url: str


class FetchedPage(Structure):
    """A part of a text. `content` and `title` were written by others; the parts of one snapshot add up to the whole."""

    url: str
    final_url: str
    status: int
    content_type: str
    charset: str | None = None
    charset_source: str | None = None
    title: str
    content: str
    start_index: int
    next_start_index: int | None = None
    total_length: int
    truncated: bool
    snapshot_id: str
    from_cache: bool
    fetched_at: str
    extraction: str
    links: list[PageLink] | None = None
    notices: list[str]

    @classmethod
    def of(
        cls, fetched: "Fetched", document: "Document", page: "Page", notices: list[str], links: bool = False
    ) -> "FetchedPage":
        """The structure of a page."""
        snapshot = fetched.snapshot
        return cls(
            url=snapshot.url,
            final_url=snapshot.final_url,
            status=snapshot.status,
            content_type=snapshot.content_type,
            charset=document.charset or None,
            charset_source=document.charset_source or None,
            title=document.title,
            content=page.text,
            start_index=page.start,
            next_start_index=page.following,
            total_length=page.total,
            truncated=page.following is not None,
            snapshot_id=snapshot.identifier,
            from_cache=fetched.from_cache,
            fetched_at=snapshot.fetched_at,
            extraction=document.extraction,
            links=[PageLink(text=one.text, url=one.url) for one in document.links] if links else None,
            notices=notices,
        )


class FoundPage(BaseModel):
    """One search result."""

    title: str
    url: str
    snippet: str
    published: str | None = None
    source: str


class SearchResults(Structure):
    """What a search provider answered; titles and snippets were written by others."""

    provider: str
    results: list[FoundPage]
    next_page: int | None = None
    notices: list[str]

    @classmethod
    def of(cls, answer: "SearchAnswer", page: int) -> "SearchResults":
        """The structure of an answer."""
        return cls(
            provider=answer.provider,
            results=[
                FoundPage(
                    title=one.title,
                    url=one.url,
                    snippet=one.snippet,
                    published=one.published or None,
                    source=one.source,
                )
                for one in answer.results
            ],
            next_page=page + 1 if answer.more else None,
            notices=list(answer.notices),
        )
