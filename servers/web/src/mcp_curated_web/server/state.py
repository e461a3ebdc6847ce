"""What a running web server holds; the HTTP library is loaded by the first call that asks something."""

from typing import TYPE_CHECKING

from mcp.server.mcpserver import Context

from mcp_curated_shared.work import WorkPool
from mcp_curated_web.settings import WebSettings

if TYPE_CHECKING:  # loaded by the first call: a host starts every server at once
    from mcp_curated_shared.transport.http_client import HttpClient
    from mcp_curated_web.fetching.fetcher import Fetcher
    from mcp_curated_web.search.engine import SearchEngine

WebContext = Context["Web"]


class Web:
    """The lifespan state of the server.

    Args:
        settings: The operator's.
    """

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self.pool = WorkPool(threads=4, lane_threads=4, lane_noun="work")
        self._client: HttpClient | None = None
        self._fetcher: Fetcher | None = None
        self._engine: SearchEngine | None = None

    @property
    def fetcher(self) -> "Fetcher":
        """What fetches pages."""
        if self._fetcher is None:
            from mcp_curated_web.parts import make_fetcher, page_client

            self._client = page_client(self.settings)
            self._fetcher = make_fetcher(self.settings, self._client, self.pool)
        return self._fetcher

    @property
    def engine(self) -> "SearchEngine":
        """What searches."""
        if self._engine is None:
            from mcp_curated_web.parts import make_engine

            self._engine = make_engine(self.settings)
        return self._engine

    async def aclose(self) -> None:
        """Close every connection and let the threads end."""
        if self._client is not None:
            await self._client.aclose()
        if self._engine is not None:
            await self._engine.aclose()
        self.pool.close()


def state_of(context: WebContext) -> Web:
    """The state of the server that answers this request."""
    return context.request_context.lifespan_context
