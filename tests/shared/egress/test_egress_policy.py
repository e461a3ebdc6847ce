"""The policy: what it lets through, what only the operator opens, what nothing opens."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.egress import (
    EgressPolicy,
    EgressRefusedError,
    HostRule,
    InvalidUrlError,
    Origin,
    Target,
    UnknownHostError,
    is_public,
    read_network,
)
from mcp_curated_shared.security.egress.addresses import Address, read_address

PUBLIC = read_address("93.184.216.34")
PRIVATE = read_address("10.1.2.3")


def addresses(*texts: str) -> tuple[Address, ...]:
    return tuple(read_address(text) for text in texts)


def allowed(policy: EgressPolicy, url: str) -> bool:
    try:
        policy.check(Target.parse(url))
    except EgressRefusedError:
        return False
    return True


any_address = st.ip_addresses()


@given(st.lists(any_address, min_size=1, max_size=5))
def test_a_host_is_admitted_only_when_every_one_of_its_addresses_is_public(answer: list[Address]):
    policy = EgressPolicy()
    if all(is_public(address) for address in answer):
        assert policy.admit("a.example", 443, answer) == tuple(dict.fromkeys(answer))
    else:
        with pytest.raises(EgressRefusedError):
            policy.admit("a.example", 443, answer)


@given(any_address, any_address)
def test_one_closed_address_among_the_answers_refuses_the_host_wherever_it_stands(one: Address, other: Address):
    closed = ipaddress.IPv4Address("127.0.0.1")
    for answer in ([closed, one, other], [one, closed, other], [one, other, closed]):
        with pytest.raises(EgressRefusedError):
            EgressPolicy().admit("a.example", 80, answer)


def test_a_name_without_an_address_is_unknown():
    with pytest.raises(UnknownHostError):
        EgressPolicy().admit("a.example", 80, ())


def test_a_refusal_of_a_name_does_not_tell_its_address():
    with pytest.raises(EgressRefusedError) as caught:
        EgressPolicy().admit("intern.example", 80, (PRIVATE,))
    assert "intern.example" in str(caught.value)
    assert "10." not in str(caught.value) and "private" not in str(caught.value)


def test_a_literal_address_is_refused_before_anything_is_looked_up_and_says_why():
    with pytest.raises(EgressRefusedError, match=r"127\.0\.0\.1 is a loopback address"):
        EgressPolicy().check(Target.parse("http://0x7f.1/"))


def test_only_the_webs_ports_are_open_until_the_operator_opens_more():
    assert allowed(EgressPolicy(), "https://example.com/")
    assert allowed(EgressPolicy(), "http://example.com/")
    assert not allowed(EgressPolicy(), "http://example.com:22/")
    assert not allowed(EgressPolicy(), "http://93.184.216.34:6379/")
    assert allowed(EgressPolicy(allow_ports=(8080,)), "http://example.com:8080/")
    with pytest.raises(EgressRefusedError, match="Port 25"):
        EgressPolicy().admit("example.com", 25, (PUBLIC,))


def test_an_opened_port_opens_no_private_address():
    with pytest.raises(EgressRefusedError):
        EgressPolicy(allow_ports=(8080,)).admit("a.example", 8080, (PRIVATE,))


def test_an_opened_host_may_be_anywhere_on_any_port():
    policy = EgressPolicy(allow_hosts=(HostRule.parse("wiki.internal"),))
    assert allowed(policy, "http://WIKI.internal:8443/")
    assert policy.admit("wiki.internal", 8443, (PRIVATE,)) == (PRIVATE,)
    assert not allowed(policy, "http://other.internal:8443/")
    with pytest.raises(EgressRefusedError):
        policy.admit("a.wiki.internal", 80, (PRIVATE,))


def test_an_opened_host_with_a_port_is_opened_there_only():
    policy = EgressPolicy(allow_hosts=(HostRule.parse("127.0.0.1:9000"),))
    assert allowed(policy, "http://127.1:9000/")
    assert not allowed(policy, "http://127.0.0.1/")
    assert not allowed(policy, "http://127.0.0.1:9001/")


def test_an_opened_network_may_be_reached_on_any_port_by_whatever_name():
    policy = EgressPolicy(allow_cidrs=(read_network("10.1.0.0/16"),))
    assert allowed(policy, "http://10.1.2.3:5000/")
    assert allowed(policy, "http://name.example:5000/")  # its address decides
    assert policy.admit("name.example", 5000, (PRIVATE,)) == (PRIVATE,)
    for answer in (addresses("10.2.0.1"), addresses("10.1.0.1", "10.2.0.1"), addresses("93.184.216.34")):
        with pytest.raises(EgressRefusedError):
            policy.admit("name.example", 5000, answer)


def test_a_denied_host_is_denied_with_everything_below_it_whatever_else_is_open():
    rules = (HostRule.parse("example.com"),)
    policy = EgressPolicy(allow_hosts=rules, deny_hosts=rules, origins=(Origin.parse("https://example.com"),))
    assert not allowed(policy, "https://example.com/")
    assert not allowed(policy, "https://www.EXAMPLE.com./")
    assert allowed(policy, "https://notexample.com/")


def test_a_denied_address_is_denied_under_every_name_and_form():
    policy = EgressPolicy(deny_hosts=(HostRule.parse("93.184.216.34"),))
    for answer in (addresses("93.184.216.34"), addresses("::ffff:93.184.216.34"), addresses("64:ff9b::5db8:d822")):
        with pytest.raises(EgressRefusedError, match="deny-host"):
            policy.admit("name.example", 443, answer)
    assert not allowed(policy, "http://1572395042/")


def test_a_configured_origin_may_be_private_and_only_exactly_it():
    policy = EgressPolicy(origins=(Origin.parse("http://search.internal:8888"),))
    assert allowed(policy, "http://search.internal:8888/search?q=1")
    assert policy.admit("search.internal", 8888, (PRIVATE,)) == (PRIVATE,)
    assert not allowed(policy, "https://search.internal:8888/")
    assert not allowed(policy, "http://search.internal:8889/")
    with pytest.raises(EgressRefusedError):
        policy.admit("search.internal", 80, (PRIVATE,))
    assert allowed(policy, "https://example.com/")


def test_a_policy_for_one_service_reaches_nothing_else():
    policy = EgressPolicy.only(Origin.parse("https://api.example/v3"))
    assert allowed(policy, "https://api.example/repos")
    for url in ("https://example.com/", "http://api.example/", "https://api.example:8443/", "https://www.api.example/"):
        assert not allowed(policy, url), url


def test_behind_a_proxy_literals_and_local_names_are_still_refused():
    policy = EgressPolicy(allow_hosts=(HostRule.parse("wiki.internal"),))
    for url in ("http://127.1/", "http://localhost/", "http://db/", "http://x.internal/", "http://example.com:22/"):
        with pytest.raises(EgressRefusedError):
            policy.check_unresolved(Target.parse(url))
    policy.check_unresolved(Target.parse("https://example.com/"))
    policy.check_unresolved(Target.parse("http://wiki.internal:8443/"))


@pytest.mark.parametrize(
    "text", ["", "http://a.example", "a.example/", "*.example", "a:0", "a:70000", "a@b", "a b", "::1"]
)
def test_a_host_rule_is_a_host_and_nothing_else(text: str):
    with pytest.raises(InvalidUrlError):
        HostRule.parse(text)


def test_a_host_rule_is_shown_as_it_would_be_written():
    for text in ("a.example", "a.example:8080", "[::1]", "[::1]:8080", "127.0.0.1"):
        assert str(HostRule.parse(text)) == text


def test_a_network_with_bits_behind_its_prefix_is_refused_with_the_one_that_may_be_meant():
    with pytest.raises(SettingsError, match=r"10\.1\.0\.0/16"):
        read_network("10.1.2.3/16")
    with pytest.raises(SettingsError):
        read_network("everything")
