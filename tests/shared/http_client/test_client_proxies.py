"""Through a proxy: only when asked for, said once, and what can be seen from here is still refused."""

import asyncio
import base64
import contextlib
import secrets
import ssl
from pathlib import Path

import pytest
import trustme

from mcp_curated_shared.security.egress import PROXY_NOTICE, EgressRefusedError, Origin, Proxy, ProxyRoutes
from mcp_curated_shared.settings import Secret
from mcp_curated_shared.transport.http_client import Credential, HttpClient, HttpOptions, HttpRequest, UnreachableError
from tests.shared.http_client.loopback import PRIVATE, PUBLIC, Asked, Names, Server, answer, policy, redirect

pytestmark = pytest.mark.anyio

PASSWORD = secrets.token_hex(8)


def client(proxy: Server, names: Names, **more: object) -> HttpClient:
    one = Proxy.parse(f"me:{PASSWORD}@{proxy.address}:{proxy.port}")
    options = HttpOptions(proxies=ProxyRoutes(one, one), resolver=names, **more)  # pyright: ignore[reportArgumentType]  # fields by name
    return HttpClient(policy(), options)


async def test_an_http_request_goes_to_the_proxy_whole_and_the_answer_says_so():
    async with (
        Server([redirect("http://far.example/b"), answer(b"far")], PRIVATE) as proxy,
        client(proxy, Names()) as http,
    ):
        response = await http.get("http://far.example/a")
    assert response.body == b"far"
    assert response.notices == (PROXY_NOTICE,)
    assert [one.line for one in proxy.asked] == [
        "GET http://far.example/a HTTP/1.1",
        "GET http://far.example/b HTTP/1.1",
    ]
    login = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
    assert proxy.asked[0].headers["proxy-authorization"] == f"Basic {login}"


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://0x7f.1/", "http://[::1]/", "http://localhost/", "http://db/", "http://a.internal/"],
)
async def test_literals_and_local_names_are_refused_before_the_proxy_hears_of_them(url: str):
    async with Server([answer(b"SECRET")], PRIVATE) as proxy, client(proxy, Names()) as http:
        with pytest.raises(EgressRefusedError):
            await http.get(url)
        proxy.answers = [redirect(url)]
        with pytest.raises(EgressRefusedError):
            await http.get("http://far.example/")
    assert len(proxy.asked) == 1


async def test_a_name_that_this_machine_finds_on_its_own_network_is_refused():
    async with Server(address=PRIVATE) as proxy, client(proxy, Names(split_example=[[PRIVATE]])) as http:
        with pytest.raises(EgressRefusedError):
            await http.get("http://split.example/")
    assert proxy.connections == 0


async def test_a_lookup_that_hangs_does_not_keep_the_proxy_from_being_asked():
    async def hang(_: str) -> list[str]:
        await asyncio.Event().wait()
        return []

    async with Server(address=PRIVATE) as proxy:
        routes = ProxyRoutes(Proxy.parse(f"{proxy.address}:{proxy.port}"))
        async with HttpClient(policy(), HttpOptions(proxies=routes, resolver=hang)) as http:
            assert (await http.get("http://far.example/")).status == 200


async def test_what_the_operator_excepted_is_fetched_directly_under_the_whole_policy():
    async with Server(address=PRIVATE) as proxy, Server([answer(b"DIRECT")]) as server:
        routes = ProxyRoutes.from_environment(
            {"ALL_PROXY": f"http://{proxy.address}:{proxy.port}", "NO_PROXY": "near.example"}
        )
        names = Names(near_example=[[PUBLIC], [PRIVATE]])
        async with HttpClient(policy(), HttpOptions(proxies=routes, resolver=names)) as http:
            response = await http.send(HttpRequest(server.url(host="near.example")))
            assert (response.body, response.notices) == (b"DIRECT", ())
            server.answers = [answer(b"", Connection="close")]
            await http.get(server.url(host="near.example"))
            with pytest.raises(EgressRefusedError):
                await http.get(server.url(host="near.example"))
    assert proxy.connections == 0


async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


class Tunnel:
    """A proxy that connects every CONNECT to one server, whatever was asked for."""

    def __init__(self, port: int) -> None:
        self.heads: list[bytes] = []
        self._port = port
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "Tunnel":
        self._server = await asyncio.start_server(self._accept, PRIVATE, 0)
        self.address, self.port = self._server.sockets[0].getsockname()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        there, back = await asyncio.open_connection(PUBLIC, self._port)
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        for pair in ((reader, back), (there, writer)):
            task = asyncio.create_task(relay(*pair))
            self._tasks.add(task)


async def test_an_https_request_goes_through_the_proxy_unread_and_the_certificate_is_checked_by_name(tmp_path: Path):
    authority = trustme.CA()
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("far.example").configure_cert(context)
    token = Secret("Bearer " + secrets.token_hex(8))
    async with Server([answer(b"TUNNEL")], context=context) as server, Tunnel(server.port) as tunnel:
        proxy = Proxy.parse(f"me:{PASSWORD}@{tunnel.address}:{tunnel.port}")
        options = HttpOptions(
            proxies=ProxyRoutes(https=proxy),
            resolver=Names(),
            ca_file=str(ca_file),
            credentials=(Credential(Origin.parse("https://far.example"), token),),
        )
        async with HttpClient(policy(), options) as http:
            response = await http.get("https://far.example/secret-path")
    assert (response.body, response.notices) == (b"TUNNEL", (PROXY_NOTICE,))
    assert server.names == ["far.example"]
    assert server.asked[0].headers["authorization"] == token.reveal()
    assert "proxy-authorization" not in server.asked[0].headers
    assert tunnel.heads[0].startswith(b"CONNECT far.example:443 ")
    assert b"secret-path" not in tunnel.heads[0] and token.reveal().encode() not in tunnel.heads[0]


@pytest.mark.parametrize("status", ["407 Proxy Authentication Required", "403 Forbidden", "502 Bad"])
async def test_a_proxy_that_refuses_is_said_to_be_the_one_that_refuses(status: str):
    async def refuse(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(b"", status))

    async with Server([refuse], PRIVATE) as proxy, client(proxy, Names()) as http:
        with pytest.raises(UnreachableError, match="The proxy did not connect") as caught:
            await http.get("https://far.example/")
    assert PASSWORD not in str(caught.value)
