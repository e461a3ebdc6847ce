"""Where a client can be led: nowhere that its policy does not admit. What reached the private server is counted."""

import asyncio
from collections.abc import AsyncIterator

import httpcore
import pytest

from mcp_curated_shared.security.egress import EgressPolicy, EgressRefusedError, HostRule, Origin, Target, read_network
from mcp_curated_shared.security.egress.addresses import Address
from mcp_curated_shared.transport.http_client import (
    HttpClient,
    HttpOptions,
    HttpRequest,
    RedirectError,
    UnreachableError,
    guarded_client,
)
from mcp_curated_shared.transport.http_client.backend import GuardedBackend, connect_first, in_turns
from tests.shared.http_client.loopback import PRIVATE, PUBLIC, Names, Server, answer, policy, redirect

pytestmark = pytest.mark.anyio


@pytest.fixture
async def web() -> AsyncIterator[tuple[Server, Server]]:
    """The public server, and a private one that listens on the same port."""
    async with Server([answer(b"PUBLIC")]) as public, Server([answer(b"SECRET")], PRIVATE, public.port) as private:
        yield public, private


def client(names: Names, rules: EgressPolicy | None = None) -> HttpClient:
    return HttpClient(rules or policy(), HttpOptions(resolver=names))


async def test_a_name_that_changes_its_address_is_looked_up_once_and_kept_to_it(web: tuple[Server, Server]):
    public, private = web
    names = Names(a_example=[[PUBLIC], [PRIVATE]])
    async with client(names) as http:
        response = await http.get(public.url(host="a.example"))
    assert response.body == b"PUBLIC"
    assert names.asked == ["a.example"]
    assert private.connections == 0
    assert public.asked[0].headers["host"] == f"a.example:{public.port}"


@pytest.mark.parametrize(
    "addresses", [[PRIVATE], [PUBLIC, PRIVATE], [PRIVATE, PUBLIC], [PUBLIC, "::1"], ["::ffff:127.0.0.1"]]
)
async def test_a_name_with_any_private_address_is_reached_nowhere(web: tuple[Server, Server], addresses: list[str]):
    public, private = web
    async with client(Names(a_example=[addresses])) as http:
        with pytest.raises(EgressRefusedError):
            await http.get(public.url(host="a.example"))
    assert (public.connections, private.connections) == (0, 0)


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.1", "localhost", "localhost.", "[::1]"),
        *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "１２７。０。０。１", "0", "0.0.0.0", "[::]"),  # noqa: RUF001 - spellings are the subject
    ],
)
async def test_no_spelling_of_this_machine_reaches_it(web: tuple[Server, Server], host: str):
    public, private = web
    async with HttpClient(policy()) as http:
        with pytest.raises(EgressRefusedError):
            await http.get(public.url(host=host))
        public.answers = [redirect(public.url(host=host))]
        with pytest.raises(EgressRefusedError):
            await http.get(public.url())
    assert private.connections == 0


async def test_a_redirect_to_a_private_name_or_scheme_is_refused(web: tuple[Server, Server]):
    public, private = web
    names = Names(inside_example=[[PRIVATE]])
    async with client(names) as http:
        public.answers = [redirect(private.url(host="inside.example"))]
        with pytest.raises(EgressRefusedError):
            await http.get(public.url())
        for location in (
            "file:///etc/passwd",
            "http://me:pw@127.1.0.1/",
            "/\\127.0.0.1/",
            "gopher://127.0.0.1:6379/_x",
        ):
            public.answers = [redirect(location)]
            with pytest.raises(RedirectError) as caught:
                await http.get(public.url())
            assert "pw" not in str(caught.value)
    assert private.connections == 0


async def test_httpx_itself_cannot_follow_a_redirect_out_of_the_policy(web: tuple[Server, Server]):
    public, private = web
    public.answers = [redirect(private.url())]
    async with guarded_client(policy()) as http:
        with pytest.raises(EgressRefusedError):
            await http.get(public.url(), follow_redirects=True)
    assert private.connections == 0


async def test_a_kept_connection_is_used_again_and_a_new_one_is_decided_again(web: tuple[Server, Server]):
    public, private = web
    names = Names(a_example=[[PUBLIC], [PRIVATE]])
    async with client(names) as http:
        for _ in range(3):
            assert (await http.get(public.url(host="a.example"))).body == b"PUBLIC"
        assert (public.connections, names.asked) == (1, ["a.example"])
        public.answers = [answer(b"LAST", Connection="close")]
        assert (await http.get(public.url(host="a.example"))).body == b"LAST"
        with pytest.raises(EgressRefusedError):
            await http.get(public.url(host="a.example"))
    assert private.connections == 0


async def test_a_client_of_another_policy_does_not_share_connections(web: tuple[Server, Server]):
    _, private = web
    opened = EgressPolicy(origins=(Origin.parse(private.url()),))
    async with client(Names(), opened) as trusted, client(Names()) as http:
        assert (await trusted.get(private.url())).body == b"SECRET"
        with pytest.raises(EgressRefusedError):
            await http.get(private.url())
    assert private.connections == 1


async def test_proxies_of_the_environment_are_not_used(web: tuple[Server, Server], monkeypatch: pytest.MonkeyPatch):
    public, private = web
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, private.url())
    async with HttpClient(policy()) as http:
        assert (await http.get(public.url())).body == b"PUBLIC"
        await public.__aexit__()
        with pytest.raises(UnreachableError, match="HTTPS_PROXY is set but not used"):
            await http.get("http://127.1.0.1:1/")
    assert private.connections == 0


async def test_the_operators_openings_reach_what_they_name(web: tuple[Server, Server]):
    public, private = web
    rules = EgressPolicy(allow_hosts=(HostRule.parse(f"inside.example:{private.port}"),))
    async with client(Names(inside_example=[[PRIVATE]], other_example=[[PRIVATE]]), rules) as http:
        assert (await http.get(private.url(host="inside.example"))).body == b"SECRET"
        with pytest.raises(EgressRefusedError):
            await http.get(private.url(host="other.example"))
    async with HttpClient(EgressPolicy(allow_cidrs=(read_network("127.0.0.0/8"),))) as http:
        assert (await http.get(private.url())).body == b"SECRET"
        assert (await http.get(public.url())).body == b"PUBLIC"


async def test_a_unix_socket_is_refused():
    with pytest.raises(EgressRefusedError):
        await GuardedBackend(policy(), Names()).connect_unix_socket("/var/run/docker.sock")


class Stream(httpcore.AsyncMockStream):
    """A connection whose other end has an address of choice."""

    def __init__(self, peer: str = PUBLIC) -> None:
        super().__init__([])
        self.peer = peer
        self.closed = False

    def get_extra_info(self, info: str) -> object:
        return (self.peer, 80) if info == "server_addr" else None

    async def aclose(self) -> None:
        self.closed = True


async def test_a_connection_whose_other_end_is_private_is_closed_at_once(monkeypatch: pytest.MonkeyPatch):
    stream = Stream(PRIVATE)

    async def connect(*_: object) -> Stream:
        return stream

    backend = GuardedBackend(policy(), Names(a_example=[[PUBLIC]]))
    monkeypatch.setattr(backend._plain, "connect_tcp", connect)
    with pytest.raises(EgressRefusedError):
        await backend.connect_tcp("a.example", 80)
    assert stream.closed


def addresses(*texts: str) -> tuple[Address, ...]:
    found = [Target.parse(f"http://{f'[{text}]' if ':' in text else text}/").address for text in texts]
    return tuple(one for one in found if one is not None)


async def test_an_address_that_refuses_or_hangs_is_followed_by_the_next():
    hanging, refusing, good = addresses("2606:4700::1", "1.1.1.1", "1.1.1.2")
    tried: list[Address] = []

    async def connect(address: Address) -> httpcore.AsyncNetworkStream:
        tried.append(address)
        if address == hanging:
            await asyncio.Event().wait()
        if address == refusing:
            raise httpcore.ConnectError
        return Stream()

    assert isinstance(await connect_first(connect, (hanging, refusing, good)), Stream)
    assert tried == [hanging, refusing, good]
    with pytest.raises(httpcore.ConnectError):
        await connect_first(connect, (refusing, refusing))


async def test_of_two_connections_that_come_about_at_once_one_is_closed():
    both = asyncio.Barrier(2)
    streams: list[Stream] = []

    async def connect(_: Address) -> httpcore.AsyncNetworkStream:
        await both.wait()
        streams.append(Stream())
        return streams[-1]

    kept = await connect_first(connect, addresses("1.1.1.1", "1.1.1.2"))
    assert [stream for stream in streams if not stream.closed] == [kept]


def test_address_families_take_turns():
    mixed = addresses("2606::1", "2606::2", "2606::3", "1.1.1.1")
    assert [address.version for address in in_turns(mixed)] == [6, 4, 6, 6]


async def test_the_request_form_none_returns_a_redirect_unfollowed(web: tuple[Server, Server]):
    public, private = web
    public.answers = [redirect(private.url())]
    async with HttpClient(policy()) as http:
        response = await http.send(HttpRequest(public.url(), redirects="none"))
        assert response.status == 302
        written = await http.send(HttpRequest(public.url(), method="POST", content=b"x"))
        assert written.status == 302
    assert private.connections == 0
