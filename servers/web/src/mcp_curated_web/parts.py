"""What the server asks the web with, made of the settings when it is first needed."""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from mcp_curated_shared.work import WorkPool
from mcp_curated_web.fetching.fetcher import Fetcher
from mcp_curated_web.search.engine import SearchEngine, make_providers
from mcp_curated_web.search.making import Making
from mcp_curated_web.settings import WebSettings

if TYPE_CHECKING:  # the HTTP library is loaded by the first request
    from mcp_curated_shared.transport.http_client import HttpClient, HttpOptions

DISTRIBUTION = "mcp-curated-web"


def user_agent(settings: WebSettings) -> str:
    """What every request says it is; begins with the product token that robots.txt is matched with."""
    try:
        number = version(DISTRIBUTION)
    except PackageNotFoundError:
        number = "0"
    return settings.user_agent or f"{DISTRIBUTION}/{number} (MCP server; fetches what a model or its user asks for)"


def options(settings: WebSettings) -> "HttpOptions":
    """How everything is asked.

    Raises:
        SettingsError: A proxy of the environment cannot be used.
    """
    from mcp_curated_shared.transport.http_client import HttpLimits, HttpOptions, Retries

    limits = settings.limits
    return HttpOptions(
        user_agent=user_agent(settings),
        limits=HttpLimits(
            total_seconds=limits.fetch_seconds,
            connect_seconds=min(10.0, limits.fetch_seconds),
            body_bytes=limits.body_bytes,
            at_once=limits.at_once,
            at_once_per_host=limits.at_once_per_host,
        ),
        retries=Retries(most=1, statuses=frozenset()),  # a status is told, not waited for
        proxies=settings.egress.proxies(),
        ca_file=settings.egress.ca_file,
    )


def page_client(settings: WebSettings) -> "HttpClient":
    """The client for what a model names.

    Raises:
        SettingsError: A proxy or the file with authorities cannot be used.
    """
    from mcp_curated_shared.transport.http_client import HttpClient

    return HttpClient(settings.egress.policy(), options(settings))


def make_fetcher(settings: WebSettings, client: "HttpClient", pool: WorkPool) -> Fetcher:
    """What fetches pages."""
    return Fetcher(client, pool, seconds=settings.limits.fetch_seconds, keeps_to_robots=settings.robots)


def make_engine(settings: WebSettings) -> SearchEngine:
    """What searches."""
    return SearchEngine(make_providers(settings.search, Making(options(settings))))
