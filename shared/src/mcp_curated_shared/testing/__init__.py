"""What every server's tests stand on: real clients in both protocol eras, and the contract each server must pass.

- `clients`: a client in either era over memory, stdio or Streamable HTTP, with or without a person to ask and roots.
- `wire`: a server process spoken to line by line, for what no client shows.
- `costs`: what starting a server costs beside a bare one.
- `contract`: what must hold for every server, as plain functions.
- `suite`: the same as a pytest class. It is the only module here that imports pytest.

Nothing of this is imported by a running server.
"""

from mcp_curated_shared.testing.clients import (
    ERAS,
    LEGACY,
    MODERN,
    WAYS,
    Command,
    Era,
    Person,
    Way,
    connect,
    over_http,
    over_memory,
    over_stdio,
)
from mcp_curated_shared.testing.contract import Call, Subject
from mcp_curated_shared.testing.costs import Cost, Ratios, startup_cost, startup_ratios
from mcp_curated_shared.testing.wire import ServerProcess, running

__all__ = [
    "ERAS",
    "LEGACY",
    "MODERN",
    "WAYS",
    "Call",
    "Command",
    "Cost",
    "Era",
    "Person",
    "Ratios",
    "ServerProcess",
    "Subject",
    "Way",
    "connect",
    "over_http",
    "over_memory",
    "over_stdio",
    "running",
    "startup_cost",
    "startup_ratios",
]
