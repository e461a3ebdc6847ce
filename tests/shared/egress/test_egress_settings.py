"""What the operator writes: flags, proxies, and what of the environment counts."""

from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.egress import EgressPolicy, EgressSettings, HostRule, Proxy, ProxyRoutes, Target
from mcp_curated_shared.security.egress.proxies import unused_proxies
from mcp_curated_shared.settings import Settings, load, render


@dataclass(frozen=True, slots=True)
class SampleSettings(Settings):
    environment_prefix: ClassVar[str] = "MCP_SAMPLE_"
    egress: EgressSettings = field(default_factory=EgressSettings)


def read(*arguments: str, **environment: str) -> EgressSettings:
    return load(SampleSettings, list(arguments), environment).settings.egress


def test_flags_become_the_policy():
    given = read(
        *("--allow-host", "wiki.internal:8443", "--allow-cidr", "10.0.0.0/8", "--allow-cidr", "fd00::/8"),
        *("--allow-port", "8080", "--deny-host", "ads.example"),
    )
    policy = given.policy()
    assert policy.allow_hosts == (HostRule("wiki.internal", 8443),)
    assert [str(network) for network in policy.allow_cidrs] == ["10.0.0.0/8", "fd00::/8"]
    assert policy.allow_ports == (8080,)
    assert policy.deny_hosts == (HostRule("ads.example"),)
    assert read().policy() == EgressPolicy()


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("--allow-host", "https://a.example/"),
        ("--allow-host", "*.example"),
        ("--allow-cidr", "10.1.2.3/8"),
        ("--allow-port", "0"),
        ("--proxy", "socks5://127.0.0.1:1080"),
        ("--proxy", "http://[bad"),
        ("--ca-file", "relative.pem"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_with_its_flag(flag: str, text: str):
    with pytest.raises(SettingsError, match=flag):
        read(flag, text)


def test_a_proxys_password_is_shown_nowhere():
    password = "pw" * 8
    given = read("--proxy", f"http://me:{password}@proxy.example:3128")
    proxy = given.proxies({}).https
    assert proxy is not None and proxy.password is not None
    assert proxy.password.reveal() == password
    assert password not in f"{proxy} {proxy!r} {given!r}"
    loaded = load(SampleSettings, ["--proxy", f"http://me:{password}@proxy.example:3128"], {})
    assert password not in render(loaded)


def test_no_proxy_is_taken_from_the_environment_unless_asked():
    environment = {"HTTPS_PROXY": "http://proxy.example:3128", "http_proxy": "http://other.example"}
    assert read().proxies(environment) == ProxyRoutes()
    assert unused_proxies(environment) == ("HTTPS_PROXY", "HTTP_PROXY")
    asked = read("--proxy", "environment").proxies(environment)
    assert str(asked.https) == "http://proxy.example:3128"
    assert str(asked.http) == "http://other.example:80"


def test_lower_case_comes_first_and_all_proxy_last():
    routes = ProxyRoutes.from_environment(
        {"https_proxy": "http://a.example", "HTTPS_PROXY": "http://b.example", "ALL_PROXY": "http://c.example:1"}
    )
    assert (str(routes.https), str(routes.http)) == ("http://a.example:80", "http://c.example:1")


def test_a_proxy_variable_that_cannot_be_used_is_named():
    with pytest.raises(SettingsError, match="ALL_PROXY: socks5 proxies are not supported"):
        ProxyRoutes.from_environment({"ALL_PROXY": "socks5://127.0.0.1:1080"})


def test_under_cgi_the_upper_case_http_proxy_is_a_callers_header_and_ignored():
    routes = ProxyRoutes.from_environment({"REQUEST_METHOD": "GET", "HTTP_PROXY": "http://evil.example"})
    assert routes.http is None


@pytest.mark.parametrize(
    ("no_proxy", "url", "direct"),
    [
        ("*", "http://example.com/", True),
        ("example.com", "http://www.example.com/", True),
        (".example.com", "http://example.com/", True),
        ("*.example.com", "http://a.example.com/", True),
        ("example.com", "http://notexample.com/", False),
        ("example.com:8080", "http://example.com/", False),
        ("example.com:8080", "http://example.com:8080/", True),
        ("10.0.0.0/8", "http://10.9.9.9/", True),
        ("10.0.0.0/8", "http://11.0.0.1/", False),
        ("127.0.0.1,::1", "http://[::1]/", True),
        ("localhost, internal", "http://a.internal/", True),
        ("bad/cidr, [x", "http://example.com/", False),
    ],
)
def test_no_proxy_names_what_is_fetched_directly(no_proxy: str, url: str, direct: bool):
    routes = ProxyRoutes.from_environment({"ALL_PROXY": "http://proxy.example:3128", "NO_PROXY": no_proxy})
    assert (routes.route(Target.parse(url)) is None) is direct


def test_a_proxy_needs_no_scheme():
    assert str(Proxy.parse("proxy.example:3128")) == "http://proxy.example:3128"
