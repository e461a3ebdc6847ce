"""Which IP addresses are public: an explicit deny list for IPv4, an allow list for IPv6.

`ipaddress.is_global` is not asked: on Python 3.11 it is True for at least twelve ranges that are not public, among
them 192.88.99.0/24, multicast, IPv4-compatible, NAT64 and 6to4 addresses, fec0::/10 and 3fff::/20.

Sources: the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its updates), the IANA IPv6 Global
Unicast allocation (2000::/3), and the clouds' own pages on what their virtual machines can reach.
"""

import ipaddress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_IPV4_CLOSED: Final = {
    IPv4Network(block): name
    for block, name in {
        "0.0.0.0/8": "an unspecified address",  # RFC 791: "this network"; Linux connects 0.0.0.0 to itself
        "10.0.0.0/8": "a private address",  # RFC 1918
        "100.64.0.0/10": "a shared (carrier-grade NAT) address",  # RFC 6598
        "127.0.0.0/8": "a loopback address",  # RFC 1122, 3.2.1.3
        "168.63.129.16/32": "a cloud platform's internal address",  # Azure's WireServer, inside every Azure machine
        "169.254.0.0/16": "a link-local address",  # RFC 3927; the clouds' metadata services
        "172.16.0.0/12": "a private address",  # RFC 1918
        "192.0.0.0/24": "a reserved address",  # RFC 6890: protocol assignments; 192.0.0.192 is Oracle's metadata
        "192.0.2.0/24": "a documentation address",  # RFC 5737
        "192.31.196.0/24": "a reserved address",  # RFC 7535: AS112
        "192.52.193.0/24": "a reserved address",  # RFC 7450: multicast tunnels
        "192.88.99.0/24": "a reserved address",  # RFC 7526: the former 6to4 relays
        "192.168.0.0/16": "a private address",  # RFC 1918
        "192.175.48.0/24": "a reserved address",  # RFC 7534: AS112
        "198.18.0.0/15": "a benchmarking address",  # RFC 2544
        "198.51.100.0/24": "a documentation address",  # RFC 5737
        "203.0.113.0/24": "a documentation address",  # RFC 5737
        "224.0.0.0/4": "a multicast address",  # RFC 5771
        "240.0.0.0/4": "a reserved address",  # RFC 1112, 4; 255.255.255.255 is RFC 919's broadcast
    }.items()
}

_IPV6_OPEN: Final = IPv6Network("2000::/3")  # RFC 4291, 2.4: the only part that was ever allocated as global unicast

_IPV6_CLOSED: Final = {
    IPv6Network(block): name
    for block, name in {
        "2001::/23": "a reserved address",  # RFC 2928: protocol assignments; Teredo (RFC 4380) holds an IPv4 address
        "2001:db8::/32": "a documentation address",  # RFC 3849
        "2002::/16": "a 6to4 address",  # RFC 3056: holds an IPv4 address
        "3fff::/20": "a documentation address",  # RFC 9637
    }.items()
}

_IPV6_NAMED: Final = {
    IPv6Network(block): name
    for block, name in {
        "::/128": "an unspecified address",
        "::1/128": "a loopback address",
        "fc00::/7": "a private address",  # RFC 4193
        "fe80::/10": "a link-local address",
        "fec0::/10": "a private address",  # RFC 3879
        "ff00::/8": "a multicast address",
    }.items()
}

_NAT64: Final = IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are the IPv4 address that is reached


def unwrap(address: Address) -> Address:
    """The IPv4 address that `::ffff:a.b.c.d` and `64:ff9b::a.b.c.d` stand for; any other address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def why_closed(address: Address) -> str:
    """What keeps an address from being public, as a noun phrase ("a loopback address"); empty for a public one."""
    address = unwrap(address)
    if isinstance(address, IPv4Address):
        return next((name for block, name in _IPV4_CLOSED.items() if address in block), "")
    if address in _IPV6_OPEN:
        return next((name for block, name in _IPV6_CLOSED.items() if address in block), "")
    return next((name for block, name in _IPV6_NAMED.items() if address in block), "a reserved address")


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet, decided by the tables of this module."""
    return not why_closed(address)


def inside(address: Address, networks: tuple[Network, ...]) -> bool:
    """Whether the address, as it is or unwrapped, lies in one of the networks."""
    forms = {address, unwrap(address)}
    return any(form in network for network in networks for form in forms if form.version == network.version)


def read_address(text: str) -> Address:
    """An address as a resolver or a socket writes it; a zone (`fe80::1%eth0`) is kept.

    Raises:
        ValueError: It is none.
    """
    return ipaddress.ip_address(text)
