"""What a connection to another host can be refused for, in words that hold no secret, no path and no hidden address."""

from mcp_curated_shared.errors import InvalidArgumentError, NotAllowedError, UnavailableError


class InvalidUrlError(InvalidArgumentError):
    """The text is no URL that is fetched here. It is never quoted: it may hold a password or terminal escapes."""

    kind = "invalid_url"


class EgressRefusedError(NotAllowedError):
    """The policy does not let this process connect there. The text never tells what address a name has."""

    kind = "egress_refused"


class UnknownHostError(UnavailableError):
    """The name has no address, or none was told in time."""

    kind = "unknown_host"
