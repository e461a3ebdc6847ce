"""The question and the answer of a search, the same for every provider."""

from dataclasses import dataclass
from typing import Literal, Protocol

from mcp_curated_shared.errors import CuratedError, InvalidArgumentError, NotAllowedError, UnavailableError

Freshness = Literal["day", "week", "month", "year"]
SafeSearch = Literal["off", "moderate", "strict"]

LONGEST_QUERY = 400


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is looked for.

    Attributes:
        text: The words.
        count: Most results.
        page: From 1.
        freshness: Only what is not older.
        country: ISO 3166-1 alpha-2, in capitals; empty for none.
        language: ISO 639-1, in small letters; empty for none.
        site: Only this host and those below it; empty for all.
        safe_search: How strictly adult results are left out; None for the provider's own way.
    """

    text: str
    count: int = 10
    page: int = 1
    freshness: Freshness | None = None
    country: str = ""
    language: str = ""
    site: str = ""
    safe_search: SafeSearch | None = None

    def asked(self) -> tuple[str, ...]:
        """The names of the optional parameters that are given."""
        given = {
            "freshness": self.freshness,
            "country": self.country,
            "language": self.language,
            "site": self.site,
            "safe_search": self.safe_search,
        }
        return tuple(name for name, value in given.items() if value)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result.

    Attributes:
        title: Plain text.
        url: An http or https URL.
        snippet: Plain text; may be empty.
        published: A date or age as the provider gives it; empty when it gives none.
        source: The host, or the engine that found it.
    """

    title: str
    url: str
    snippet: str
    published: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What one provider answered.

    Attributes:
        provider: Its name.
        results: In its order; empty only when it really found nothing.
        more: Whether a further page may hold more.
        notices: What the reader should know.
    """

    provider: str
    results: tuple[SearchResult, ...]
    more: bool = False
    notices: tuple[str, ...] = ()


class SearchProvider(Protocol):
    """Somebody who is asked. One module each; see the README for how to add one."""

    @property
    def name(self) -> str:
        """The word that settings and the argument `provider` use."""
        ...

    @property
    def knows(self) -> frozenset[str]:
        """Which optional parameters of a query it takes; the others are dropped with a notice."""
        ...

    async def ask(self, query: SearchQuery) -> SearchAnswer:
        """Ask it.

        Raises:
            SearchLimitError: Its quota or rate is used up.
            SearchKeyError: It does not take the key.
            SearchRefusedError: It does not take the query.
            SearchBrokenError: Its answer is no answer: blocked, changed, or down.
        """
        ...

    async def aclose(self) -> None:
        """Close its connections."""
        ...


class SearchLimitError(UnavailableError):
    """The provider's quota or rate is used up."""

    kind = "search_limit"

    def __init__(self, text: str, next_step: str = "", *, retry_after_s: int | None = None) -> None:
        super().__init__(text, next_step)
        self.retry_after_s = retry_after_s


class SearchKeyError(NotAllowedError):
    """The provider does not take the key."""

    kind = "search_key"


class SearchRefusedError(InvalidArgumentError):
    """The provider does not take the query."""

    kind = "search_refused"


class SearchBrokenError(CuratedError):
    """What came is no search answer."""

    kind = "search_broken"
