"""Every setting of the github server, declared once."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from mcp_curated_github.addresses import DEFAULT, ApiUrl
from mcp_curated_github.names import REPOSITORY
from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.allowlist import Allowlist
from mcp_curated_shared.security.egress.settings import EgressSettings, ProxyChoice, read_proxy
from mcp_curated_shared.settings import (
    AuditSettings,
    Boolean,
    Choice,
    ConfirmPolicy,
    FilePath,
    Integer,
    LedgerSettings,
    LogSettings,
    Parsed,
    Secret,
    SecretText,
    Settings,
    StateSettings,
    TransportSettings,
    optional,
    setting,
)

OnSecret = Literal["redact", "block"]

LONGEST_BODY = 65_536
"""Characters that GitHub takes in the body of an issue or a comment."""


def read_repositories(text: str) -> Allowlist:
    """A list of repositories: `owner/name` or `owner/*`, separated by commas or white space.

    Raises:
        SettingsError: The first item that is malformed, by its text.
    """
    return Allowlist.read([text], REPOSITORY)


def read_some_repositories(text: str) -> Allowlist:
    """The same, where a list of nothing cannot be meant.

    Raises:
        SettingsError: An item is malformed, or there is none.
    """
    found = read_repositories(text)
    if not found:
        raise SettingsError("The list names no repository.", "Name one, or unset the variable to allow every one.")
    return found


def show_repositories(listed: Allowlist) -> str:
    """The list as `read_repositories` takes it."""
    return ", ".join(listed.entries())


@dataclass(frozen=True, slots=True)
class ConnectionSettings(Settings):
    """How the API is reached."""

    prompted: ClassVar[bool] = False

    proxy: ProxyChoice = setting(
        Parsed[ProxyChoice](read_proxy, 'a proxy\'s URL, or "environment"', metavar="URL"),
        default="",
        help="HTTP proxy for every request; environment takes HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, which "
        "are ignored otherwise.",
        example="http://proxy.example:3128",
    )
    ca_file: str | None = optional(
        FilePath(),
        help="File with further certificate authorities (PEM), trusted beside the system's.",
        example="/etc/ssl/company-ca.pem",
    )

    def egress(self) -> EgressSettings:
        """The same in the form that the HTTP client's options come from."""
        return EgressSettings(proxy=self.proxy, ca_file=self.ca_file)


@dataclass(frozen=True, slots=True)
class GithubSettings(Settings):
    """What the operator of a github server decides.

    Its own variables begin with `GITHUB_`, as everybody expects, though GitHub Actions and Codespaces set many others
    that do; so those it shares with every server begin with `MCP_GITHUB_`, and only near misses are refused.
    """

    environment_prefix: ClassVar[str] = "MCP_GITHUB_"

    token: Secret | None = optional(
        SecretText("a GitHub token, on one line"),
        help="The token to ask with. Without any, public data is read and nothing is written.",
        environment=("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_PERSONAL_ACCESS_TOKEN"),
    )
    use_gh: bool = setting(
        Boolean(),
        default=False,
        help="Without a token, ask the GitHub CLI for its own (gh auth token).",
        environment=("GITHUB_USE_GH",),
    )
    allowed_repos: Allowlist = setting(
        Parsed(
            read_repositories, 'repositories as "owner/name" or "owner/*"', show_repositories, metavar="OWNER/NAME,..."
        ),
        default=Allowlist(REPOSITORY),
        help="Repositories in which issues and comments may be written, owner/name or owner/*. None: the writing tools "
        "are not even listed.",
        environment=("GITHUB_ALLOWED_REPOS",),
        example="octo-org/hello-world",
    )
    read_repos: Allowlist | None = optional(
        Parsed(
            read_some_repositories,
            'repositories as "owner/name" or "owner/*"',
            show_repositories,
            metavar="OWNER/NAME,...",
        ),
        help="The only repositories that may be read, owner/name or owner/*. Unset: whatever the token sees.",
        environment=("GITHUB_READ_REPOS",),
        example="octo-org/*",
    )
    api_url: ApiUrl = setting(
        Parsed(ApiUrl.parse, "the https URL of a GitHub API", metavar="URL"),
        default=DEFAULT,
        help="The API; for an Enterprise server https://HOST/api/v3. The token goes to exactly this origin.",
        environment=("GITHUB_API_URL",),
        example="https://ghe.example/api/v3",
    )
    confirm: ConfirmPolicy = setting(
        Choice[ConfirmPolicy](("ask", "elicit", "host", "deny")),
        default="ask",
        help="Consent to a write: ask, an answer in the client or an approval in a terminal; elicit, only the former; "
        "host, where the client cannot ask, the host's own prompt is enough; deny, never.",
        environment=("GITHUB_CONFIRM",),
    )
    on_secret: OnSecret = setting(
        Choice[OnSecret](("redact", "block")),
        default="redact",
        help="A secret in what is to be written: redact, it is replaced and what is shown is what is sent; block, "
        "nothing is sent.",
        environment=("GITHUB_ON_SECRET",),
    )
    max_body: int = setting(
        Integer(1, LONGEST_BODY, "characters"),
        default=4_000,
        help="Longest body of an issue or a comment.",
        environment=("GITHUB_MAX_BODY",),
    )
    connection: ConnectionSettings = field(default_factory=ConnectionSettings)
    ledger: LedgerSettings = field(default_factory=LedgerSettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    state: StateSettings = field(default_factory=StateSettings)
    transport: TransportSettings = field(default_factory=TransportSettings)
    logs: LogSettings = field(default_factory=LogSettings)
