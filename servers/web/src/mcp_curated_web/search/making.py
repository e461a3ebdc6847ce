"""How a provider's client is made: its own policy, the operator's proxies and authorities, the server's name."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcp_curated_shared.security.egress import EgressPolicy
from mcp_curated_web.search.asking import Pace

if TYPE_CHECKING:  # the HTTP library is loaded by the first request
    from mcp_curated_shared.transport.http_client import Credential, HttpClient, HttpOptions


@dataclass(frozen=True, slots=True)
class Making:
    """What every provider's client has in common.

    Attributes:
        options: Without credentials.
        rates: Whether a provider's rate is kept to here, by letting questions queue.
    """

    options: "HttpOptions"
    rates: bool = True

    def client(self, policy: EgressPolicy, *credentials: "Credential") -> "HttpClient":
        """A client of one service, with its credential."""
        from mcp_curated_shared.transport.http_client import HttpClient, Retries

        retries = Retries(most=2, statuses=frozenset({429, 502, 503, 504}), longest_seconds=5.0)
        return HttpClient(policy, replace(self.options, credentials=credentials, retries=retries))

    def pace(self, seconds: float) -> Pace:
        """The rate of a provider."""
        return Pace(seconds if self.rates else 0.0)
