"""Networks as an operator writes them."""

import ipaddress

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.egress.addresses import Network


def read_network(text: str) -> Network:
    """A network in CIDR form (RFC 4632): `10.1.0.0/16`, `fd00::/8`; a bare address is a network of one.

    Raises:
        SettingsError: It is none, or has bits behind its prefix, so that one cannot tell which was meant.
    """
    try:
        return ipaddress.ip_network(text.strip())
    except ValueError:
        pass
    try:
        meant = ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        raise SettingsError("It is no network.", 'Write it as "10.1.0.0/16" or "fd00::/8".') from None
    raise SettingsError("It has bits set behind its prefix.", f'Write "{meant}" if the whole network is meant.')
