"""Every setting of the web server, declared once."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.egress import EgressSettings, InvalidUrlError, Target
from mcp_curated_shared.settings import (
    AuditSettings,
    Boolean,
    Choice,
    Duration,
    Integer,
    LogSettings,
    Parsed,
    Secret,
    SecretText,
    Settings,
    Size,
    StateSettings,
    Text,
    TransportSettings,
    many,
    optional,
    setting,
)

ProviderName = Literal["brave", "tavily", "searxng", "wikipedia"]
PROVIDERS: tuple[ProviderName, ...] = ("brave", "tavily", "searxng", "wikipedia")
"""In the order in which configured ones are asked."""


def read_base_url(text: str) -> str:
    """The address of a search engine of the operator's own, without a slash at its end.

    Raises:
        SettingsError: It is no URL.
    """
    try:
        return Target.parse(text.strip()).url.rstrip("/")
    except InvalidUrlError as error:
        raise SettingsError(error.text, 'Write it as "https://search.example".') from None


@dataclass(frozen=True, slots=True)
class WebLimits(Settings):
    """What one call may take."""

    prompted: ClassVar[bool] = False

    reply_characters: int = setting(
        Integer(1_000, 200_000, "characters"),
        default=48_000,
        help="Longest text of one page of a reply; what is cut says how to go on.",
        flag="--max-reply-characters",
    )
    body_bytes: int = setting(
        Size(10_000, 64 << 20),
        default=5 << 20,
        help="Longest answer that is read, after decompression; a longer page is cut there and said to be.",
        flag="--max-body",
    )
    image_bytes: int = setting(
        Size(10_000, 8 << 20),
        default=1 << 20,
        help="Largest image in a reply, counted in base64 as it is sent.",
        flag="--max-image",
    )
    fetch_seconds: float = setting(
        Duration(1, 600),
        default=25.0,
        help="Time for a whole fetch: lookups, robots.txt, redirects, the body.",
        flag="--fetch-timeout",
    )
    at_once: int = setting(
        Integer(1, 256),
        default=16,
        help="Requests under way; further ones wait for their turn.",
        flag="--at-once",
    )
    at_once_per_host: int = setting(
        Integer(1, 256),
        default=4,
        help="Requests to one host under way.",
        flag="--at-once-per-host",
    )


@dataclass(frozen=True, slots=True)
class SearchSettings(Settings):
    """Who is asked for search results."""

    providers: tuple[ProviderName, ...] = many(
        Choice[ProviderName](PROVIDERS),
        help="Search providers in the order in which they are asked; the next one is asked when one has no quota left. "
        "By default every one that is configured, else Wikipedia, which needs no key.",
        flag="--provider",
        environment=("MCP_WEB_PROVIDERS", "SEARCH_PROVIDER"),
        example="brave",
    )
    api_key: Secret | None = optional(
        SecretText("the key of the search provider"),
        help="Key of the provider that SEARCH_PROVIDER names first.",
        environment=("SEARCH_API_KEY",),
    )
    brave_key: Secret | None = optional(
        SecretText("a key of the Brave Search API"),
        help="Key of the Brave Search API.",
        environment=("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"),
    )
    tavily_key: Secret | None = optional(
        SecretText("a key of the Tavily API"),
        help="Key of the Tavily API.",
        environment=("TAVILY_API_KEY",),
    )
    searxng_url: str | None = optional(
        Parsed(read_base_url, "the URL of a SearXNG instance", metavar="URL"),
        help="A SearXNG instance; its address may be private. Its settings must allow the format json.",
        environment=("SEARXNG_URL",),
        example="http://127.0.0.1:8888",
    )

    def key_of(self, name: ProviderName) -> Secret | None:
        """The key of a provider: its own, or the common one when it is named first."""
        own = {"brave": self.brave_key, "tavily": self.tavily_key}.get(name)
        first = self.providers[:1] == (name,)
        return own if own is not None or not first else self.api_key


@dataclass(frozen=True, slots=True)
class WebSettings(Settings):
    """What the operator of a web server decides."""

    environment_prefix: ClassVar[str] = "MCP_WEB_"

    search: SearchSettings = field(default_factory=SearchSettings)
    egress: EgressSettings = field(default_factory=EgressSettings)
    robots: bool = setting(
        Boolean(),
        default=True,
        help="Keep to robots.txt when a model asks for a page (RFC 9309); what a person asks for is fetched anyway.",
    )
    user_agent: str = setting(
        Text("a product with a contact behind it", metavar="TEXT"),
        default="",
        help="User-Agent of every request; by default this server's name, version and a note that a model asks.",
    )
    limits: WebLimits = field(default_factory=WebLimits)
    audit: AuditSettings = field(default_factory=AuditSettings)
    state: StateSettings = field(default_factory=StateSettings)
    transport: TransportSettings = field(default_factory=TransportSettings)
    logs: LogSettings = field(default_factory=LogSettings)

    def check(self) -> None:
        """Refuse a provider that is named but cannot work.

        Raises:
            SettingsError: Its key or its address is missing.
        """
        for name in self.search.providers:
            if name in ("brave", "tavily") and self.search.key_of(name) is None:
                raise SettingsError(
                    f"--provider {name} needs a key.", f"Set {name.upper()}_API_KEY, or take the provider out."
                )
            if name == "searxng" and self.search.searxng_url is None:
                raise SettingsError("--provider searxng needs its address.", "Set SEARXNG_URL.")
        if self.search.api_key is not None and not self.search.providers:
            raise SettingsError("SEARCH_API_KEY is set, but not for whom.", "Set SEARCH_PROVIDER to brave or tavily.")
