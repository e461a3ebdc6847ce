"""What a running GitHub server holds."""

from dataclasses import dataclass

from mcp.server.mcpserver import Context

from mcp_curated_github.api import GitHubApi
from mcp_curated_github.settings import GithubSettings
from mcp_curated_shared.security.audit import WriteWitness
from mcp_curated_shared.security.confirmation import Confirmation
from mcp_curated_shared.work import WorkPool

GitHubContext = Context["GitHub"]


@dataclass(frozen=True, slots=True)
class GitHub:
    """The lifespan state of the server.

    Attributes:
        settings: The operator's.
        api: Asks GitHub.
        pool: Runs what may block or takes long: the ledger, the redaction of a body.
        confirmation: Asks before something is written.
        witness: Records writes; None when the audit is off.
        secrets: Every secret of this process, the token that `gh` gave included: for the redactor.
    """

    settings: GithubSettings
    api: GitHubApi
    pool: WorkPool
    confirmation: Confirmation
    witness: WriteWitness | None
    secrets: tuple[str, ...] = ()


def state_of(context: GitHubContext) -> GitHub:
    """The state of the server that answers this request."""
    return context.request_context.lifespan_context
