"""Who is asked, in which order, and who is asked next when one has no quota left."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from mcp_curated_shared.errors import InvalidArgumentError
from mcp_curated_shared.nearest import nearest
from mcp_curated_web.search.brave import Brave
from mcp_curated_web.search.making import Making
from mcp_curated_web.search.model import SearchAnswer, SearchLimitError, SearchProvider, SearchQuery
from mcp_curated_web.search.searxng import Searxng
from mcp_curated_web.search.tavily import Tavily
from mcp_curated_web.search.wikipedia import Wikipedia
from mcp_curated_web.settings import PROVIDERS, ProviderName, SearchSettings


def provider_names(settings: SearchSettings) -> tuple[ProviderName, ...]:
    """The providers that are asked, in order: those named, else those configured, else Wikipedia."""
    if settings.providers:
        return settings.providers
    configured: tuple[ProviderName, ...] = tuple(
        name
        for name in PROVIDERS
        if settings.key_of(name) is not None or (name == "searxng" and settings.searxng_url is not None)
    )
    return configured or ("wikipedia",)


def make_providers(settings: SearchSettings, making: Making) -> tuple[SearchProvider, ...]:
    """The providers in order. A further one is a module with a class, and a line here."""
    names = provider_names(settings)
    makers: dict[ProviderName, Callable[[], SearchProvider | None]] = {
        "brave": lambda: Brave(key, making) if (key := settings.key_of("brave")) else None,
        "tavily": lambda: Tavily(key, making) if (key := settings.key_of("tavily")) else None,
        "searxng": lambda: Searxng(url, making) if (url := settings.searxng_url) else None,
        "wikipedia": lambda: Wikipedia(making, only=not settings.providers and names == ("wikipedia",)),
    }
    return tuple(made for name in names if (made := makers[name]()) is not None)


class SearchEngine:
    """Asks the first provider that can answer.

    Args:
        providers: In their order; at least one.
    """

    def __init__(self, providers: Sequence[SearchProvider]) -> None:
        self._providers = tuple(providers)

    @property
    def names(self) -> tuple[str, ...]:
        """The providers' names in order."""
        return tuple(provider.name for provider in self._providers)

    async def search(self, query: SearchQuery, provider: str | None = None) -> SearchAnswer:
        """Ask.

        Args:
            query: What is looked for.
            provider: Ask this one only.

        Raises:
            InvalidArgumentError: There is no such provider.
            CuratedError: What the last one that was asked says.
        """
        asked = self._providers if provider is None else (self._named(provider),)
        notices: list[str] = []
        for number, one in enumerate(asked, 1):
            try:
                answer = await one.ask(query)
            except SearchLimitError as error:
                if number == len(asked):
                    raise
                notices.append(f"{error.text} {asked[number].name} was asked instead.")
                continue
            dropped = [name for name in query.asked() if name not in one.knows]
            if dropped:
                notices.append(f"{one.name} does not know {', '.join(dropped)}; ignored.")
            return replace(answer, notices=(*notices, *answer.notices))
        raise InvalidArgumentError("No search provider is configured.")

    async def aclose(self) -> None:
        """Close every provider's connections."""
        for provider in self._providers:
            await provider.aclose()

    def _named(self, name: str) -> SearchProvider:
        for provider in self._providers:
            if provider.name == name:
                return provider
        meant = nearest(name, self.names)
        hint = f"did you mean {meant}?" if meant else f"configured: {', '.join(self.names)}."
        raise InvalidArgumentError(f"provider is none that is configured; {hint}")
