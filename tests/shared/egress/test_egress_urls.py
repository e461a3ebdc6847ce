"""URLs: one reading, whatever the spelling; what is ambiguous is refused and never quoted."""

import ipaddress
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.security.egress import InvalidUrlError, Origin, Target, canonical_host, is_local_name

LOOPBACK_SPELLINGS = [
    *("127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7F.1", "0x7f.0x0.0x0.0x1", "0177.0.0.1"),
    *("017700000001", "0177.1", "127.0.0.0x1", "00000177.0.0.1", "127.0.0.1.", "0x7f.0.1"),
    *("１２７.0.0.1", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "①②⑦.0.0.1", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "０ｘ７ｆ.1"),  # noqa: RUF001 - these spellings are the subject
]


@pytest.mark.parametrize("spelling", LOOPBACK_SPELLINGS)
def test_every_spelling_of_a_loopback_address_becomes_that_address(spelling: str):
    target = Target.parse(f"http://{spelling}/")
    assert target.address == ipaddress.IPv4Address("127.0.0.1")
    assert target.url == "http://127.0.0.1/"


def spell(value: int, parts: int, bases: list[int]) -> str:
    """An IPv4 address in `parts` numbers, each in its base."""
    octets = value.to_bytes(4, "big")
    numbers = [*octets[: parts - 1], int.from_bytes(octets[parts - 1 :], "big")]
    forms = {8: lambda n: f"0{n:o}", 10: str, 16: lambda n: f"0X{n:x}"}
    return ".".join(forms[base](number) for number, base in zip(numbers, bases, strict=False))


@given(
    st.integers(0, (1 << 32) - 1),
    st.integers(1, 4),
    st.lists(st.sampled_from([8, 10, 16]), min_size=4, max_size=4),
    st.booleans(),
)
def test_any_spelling_of_any_ipv4_address_becomes_that_address(value: int, parts: int, bases: list[int], wide: bool):
    text = spell(value, parts, bases)
    if wide:
        text = "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else "。" for c in text)
    assert canonical_host(text) == str(ipaddress.IPv4Address(value))


@given(st.integers(0, (1 << 128) - 1), st.booleans())
def test_any_spelling_of_any_ipv6_address_becomes_one(value: int, exploded: bool):
    address = ipaddress.IPv6Address(value)
    text = address.exploded.upper() if exploded else address.compressed
    assert Target.parse(f"http://[{text}]/").address == address


@pytest.mark.parametrize("host", ["[::ffff:127.0.0.1]", "[::FFFF:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]"])
def test_mapped_addresses_are_read_in_each_of_their_spellings(host: str):
    assert Target.parse(f"http://{host}:8080/").host == "[::ffff:7f00:1]"


@pytest.mark.parametrize(
    "text",
    [
        "http://user@example.com/",
        "http://user:pass@example.com/",
        "http://@example.com/",
        "http://example.com\\@evil.example/",
        "http:\\\\example.com/",
        "http://example.com/\\..\\",
        "http://example.com/\r\nX: y",
        "http://exam\tple.com/",
        "http://exam\nple.com/",
        "http://example.com/\x00",
        "http://example.com/\x7f",
        "http://example.com/a b",
        " http://example.com/",
        "http://example.com/ ",
        "http://example.com/\u00a0",
        "http://example.com/\u2028",
        "http://exa\u200bmple.com/",
        "http://exam\u00adple.com/",
        "http://example.com/\u202egnp.exe",
        "http://example.com/\U000e0041",
        "http://example.com/\ud800",
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://example.com:70/",
        "javascript:alert(1)",
        "data:text/html,x",
        "unix:///var/run/docker.sock",
        "http+unix://%2Fvar%2Frun/",
        "//example.com/",
        "example.com",
        "",
        "http://",
        "http:///path",
        "http:example.com",
        "http://?q",
        "http://:80/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:80:80/",
        "http://example.com:8o/",
        "http://example.com:-1/",
        "http://example.com:８０/",  # noqa: RUF001 - full-width digits are the subject
        "http://[::1/",
        "http://[::1]x/",
        "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[v1.x]/",
        "http://[127.0.0.1]/",
        "http://::1/",
        "http://256.1.1.1/",
        "http://1.2.3.4.5/",
        "http://1.2.3.256/",
        "http://09.0.0.1/",
        "http://0x1ffffffff/",
        "http://4294967296/",
        "http://1..2/",
        "http://example..com/",
        "http://.example.com/",
        "http://exa%6dple.com/",
        "http://%31%32%37.0.0.1/",
        "http://exam ple.com/",
        "http://exa$mple.com/",
        "http://a" + "b" * 63 + ".example/",
        "http://" + "a." * 130 + "example/",
        "http://ex／ample.com/",  # noqa: RUF001 - folds to a slash
        "http://ex＠ample.com/",  # noqa: RUF001 - folds to an at sign
        "http://℀.example/",
        "http://example.com/" + "a" * 8_000,
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(text: str):
    with pytest.raises(InvalidUrlError):
        Target.parse(text)


@given(st.text(max_size=30), st.text(min_size=1, max_size=20), st.text(max_size=20))
def test_no_refusal_quotes_user_info_or_what_a_terminal_obeys(before: str, secret: str, after: str):
    marked = "Zq7" + secret
    try:
        Target.parse(f"http://{before}{marked}:{marked}@{after}/")
    except InvalidUrlError as error:
        assert "Zq7" not in str(error)
        assert str(error).isprintable()
    else:  # a fragment or path began before the sign
        assert any(character in before + secret for character in "/?#")


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_a_url_in_one_spelling_or_is_refused(text: str):
    for url in (text, f"http://{text}", f"https://example.com/{text}"):
        try:
            target = Target.parse(url)
        except InvalidUrlError as error:
            assert str(error).isprintable()
            continue
        assert target.url.isascii() and target.url.isprintable()
        assert "@" not in target.origin.host
        again = Target.parse(target.url)
        assert (again.origin, again.url) == (target.origin, target.url)


@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=20))
def test_our_reading_of_a_host_is_the_http_librarys_reading(host: str):
    import httpx

    from mcp_curated_shared.transport.http_client.transport import checked_target

    try:
        target = Target.parse(f"http://{host}/")
    except InvalidUrlError:
        return
    assert checked_target(httpx.URL(target.url)) == target


def test_names_of_other_scripts_become_punycode():
    assert canonical_host("Bücher.example") == "xn--bcher-kva.example"
    assert canonical_host("faß.example") == "xn--fa-hia.example"
    assert canonical_host(unicodedata.normalize("NFD", "bücher.example")) == "xn--bcher-kva.example"
    assert canonical_host("例え。テスト") == "xn--r8jz45g.xn--zckzah"


def test_a_url_is_built_from_its_parts():
    target = Target.parse("HTTPS://EXAMPLE.com.:443/Straße?q=ü#frag")
    assert target.url == "https://example.com/Stra%C3%9Fe?q=%C3%BC"
    assert str(target.origin) == "https://example.com"
    assert Target.parse("http://example.com?q=1").url == "http://example.com/?q=1"
    assert str(Origin.parse("http://[::1]:8080/x")) == "http://[::1]:8080"


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b", "https://example.com/b"),
        ("c?d=1", "https://example.com/a/c?d=1"),
        ("//other.example/x", "https://other.example/x"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        (" /with blank ", "https://example.com/with%20blank"),
        ("?only=query", "https://example.com/a/b?only=query"),
    ],
)
def test_a_redirect_is_read_against_the_page_it_comes_from(location: str, url: str):
    assert Target.parse("https://example.com/a/b").join(location).url == url


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "https://a:b@example.com/", "/\\evil.example", "http://[bad/", "/a\x00b"]
)
def test_a_redirect_is_refused_for_what_a_url_is_refused_for(location: str):
    with pytest.raises(InvalidUrlError):
        Target.parse("https://example.com/a/b").join(location)


def test_names_that_only_a_local_network_answers_are_known():
    for host in ("localhost", "a.localhost", "intranet", "nas.local", "metadata.google.internal", "x.home.arpa"):
        assert is_local_name(host), host
    for host in ("example.com", "127.0.0.1", "[::1]", "local.example", "internal-tools.example"):
        assert not is_local_name(host), host
