"""Which addresses are public, against a table that is written another way: bounds as numbers, every edge of them."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.security.egress import is_public, read_network, unwrap, why_closed
from mcp_curated_shared.security.egress.addresses import inside, read_address

# First and last closed address of each run, as octets: written from the registry, not from the module under test.
CLOSED_V4 = [
    ((0, 0, 0, 0), (0, 255, 255, 255)),
    ((10, 0, 0, 0), (10, 255, 255, 255)),
    ((100, 64, 0, 0), (100, 127, 255, 255)),
    ((127, 0, 0, 0), (127, 255, 255, 255)),
    ((168, 63, 129, 16), (168, 63, 129, 16)),
    ((169, 254, 0, 0), (169, 254, 255, 255)),
    ((172, 16, 0, 0), (172, 31, 255, 255)),
    ((192, 0, 0, 0), (192, 0, 0, 255)),
    ((192, 0, 2, 0), (192, 0, 2, 255)),
    ((192, 31, 196, 0), (192, 31, 196, 255)),
    ((192, 52, 193, 0), (192, 52, 193, 255)),
    ((192, 88, 99, 0), (192, 88, 99, 255)),
    ((192, 168, 0, 0), (192, 168, 255, 255)),
    ((192, 175, 48, 0), (192, 175, 48, 255)),
    ((198, 18, 0, 0), (198, 19, 255, 255)),
    ((198, 51, 100, 0), (198, 51, 100, 255)),
    ((203, 0, 113, 0), (203, 0, 113, 255)),
    ((224, 0, 0, 0), (255, 255, 255, 255)),
]


def number(octets: tuple[int, ...]) -> int:
    return int.from_bytes(bytes(octets), "big")


def closed_v4(value: int) -> bool:
    return any(number(first) <= value <= number(last) for first, last in CLOSED_V4)


def closed_v6(value: int) -> bool:
    """By the leading bits only; wrapped IPv4 addresses are judged as IPv4."""
    if value >> 32 == 0xFFFF or value >> 32 == 0x0064_FF9B_0000_0000_0000_0000:
        return closed_v4(value & 0xFFFF_FFFF)
    groups = (value >> 112, (value >> 96) & 0xFFFF)
    if not 0x2000 <= groups[0] <= 0x3FFF:
        return True
    if groups[0] == 0x2001 and (groups[1] < 0x0200 or groups[1] == 0x0DB8):
        return True
    return groups[0] == 0x2002 or (groups[0] == 0x3FFF and groups[1] < 0x1000)


EDGES_V4 = sorted(
    {
        edge + step
        for first, last in CLOSED_V4
        for edge in (number(first), number(last))
        for step in (-1, 0, 1)
        if 0 <= edge + step < 1 << 32
    }
)


@pytest.mark.parametrize("value", EDGES_V4, ids=lambda value: str(ipaddress.IPv4Address(value)))
def test_an_ipv4_address_beside_every_border_is_on_the_right_side(value: int):
    assert is_public(ipaddress.IPv4Address(value)) is not closed_v4(value)


@given(st.integers(0, (1 << 32) - 1))
def test_any_ipv4_address_is_public_exactly_when_the_registry_does_not_list_it(value: int):
    assert is_public(ipaddress.IPv4Address(value)) is not closed_v4(value)


@given(st.integers(0, (1 << 128) - 1) | st.integers(0x2000 << 112, (0x4000 << 112) - 1))
def test_any_ipv6_address_is_public_only_inside_global_unicast_without_its_exceptions(value: int):
    assert is_public(ipaddress.IPv6Address(value)) is not closed_v6(value)


@given(st.integers(0, (1 << 32) - 1), st.sampled_from(["::ffff:0:0", "64:ff9b::"]))
def test_an_ipv4_address_wrapped_in_ipv6_is_judged_as_itself(value: int, prefix: str):
    wrapped = ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) + value)
    assert unwrap(wrapped) == ipaddress.IPv4Address(value)
    assert is_public(wrapped) is not closed_v4(value)


@pytest.mark.parametrize(
    "text",
    [
        # True for ipaddress.is_global on Python 3.11 although none of them is public.
        *(
            "192.0.0.8",
            "192.88.99.1",
            "224.0.0.1",
            "::127.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
        ),
        *("fec0::1", "ff02::1", "::ffff:0:127.0.0.1", "5f00::1", "3fff::1"),
        # Where clouds keep their metadata.
        *("169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254", "fe80::a9fe:a9fe"),
        *("::", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "fc00::1", "fe80::1%1", "2001::1", "2001:db8::1", "100::1"),
        *("0.0.0.0", "127.0.0.1", "127.255.255.254", "255.255.255.255", "10.0.0.1", "172.31.0.1", "192.168.1.1"),
    ],
)
def test_addresses_that_other_guards_have_let_through_are_closed_and_say_what_they_are(text: str):
    assert why_closed(read_address(text)).startswith(("a ", "an "))


@pytest.mark.parametrize(
    "text", ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "2a00:1450::1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1"]
)
def test_ordinary_addresses_of_the_internet_are_public(text: str):
    assert why_closed(read_address(text)) == ""


def test_a_network_holds_an_address_in_whatever_form_it_comes():
    network = (read_network("10.1.0.0/16"),)
    assert inside(read_address("10.1.2.3"), network)
    assert inside(read_address("::ffff:10.1.2.3"), network)
    assert inside(read_address("64:ff9b::10.1.2.3"), network)
    assert not inside(read_address("10.2.0.0"), network)
    assert not inside(read_address("2606:4700::1"), network)
