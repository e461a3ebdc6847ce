"""Serving Streamable HTTP on loopback, in a process of its own."""

import json
import signal
import socket
from collections.abc import AsyncGenerator, Callable
from typing import Any

import anyio
import httpx
import pytest
from mcp.client import Client

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings.common import TransportSettings
from mcp_curated_shared.transport.listening import Listening, listen, loopback_address

Start = Callable[..., Any]

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", ["legacy", "auto"])
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
VERSION = "2026-07-28"


def modern(method: str, params: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """A request of 2026-07-28 and its headers."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**(params or {}), "_meta": meta}}
    headers = {**JSON, "mcp-protocol-version": VERSION, "mcp-method": method}
    if params and "name" in params:
        headers["mcp-name"] = params["name"]
    return body, headers


@pytest.fixture
async def http() -> AsyncGenerator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=20, trust_env=False) as client:
        yield client


@pytest.fixture
def server(start: Start) -> Any:
    return start("http")


@pytest.fixture(scope="module")
def standing(start_for_module: Start) -> Any:
    """One server for the tests that leave it as it is."""
    return start_for_module("http")


@ERAS
async def test_tools_are_listed_and_called_in_both_eras(standing: Any, era: str) -> None:
    async with Client(standing.url, mode=era) as client:
        assert "echo" in [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("echo", {"text": "hello"})
        assert result.content[0].text == "hello"  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test


@ERAS
async def test_progress_reaches_the_caller_in_both_eras(standing: Any, era: str) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with Client(standing.url, mode=era) as client:
        await client.call_tool("steps", {}, progress_callback=note)
    assert seen == [(1, 2, "half")]


@pytest.mark.slow
@ERAS
async def test_a_twelve_megabyte_argument_arrives_whole(standing: Any, era: str) -> None:
    async with Client(standing.url, mode=era) as client:
        result = await client.call_tool("size", {"text": "x" * 12_000_000})
        assert result.content[0].text == "12000000"  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test


async def test_a_body_of_forty_megabytes_is_refused_with_413_and_the_server_goes_on(
    standing: Any, http: httpx.AsyncClient
) -> None:
    response = await http.post(standing.url, content=b"x" * 40_000_000, headers=JSON)
    assert response.status_code == 413
    assert (await http.get(standing.url.replace("/mcp", "/readyz"))).status_code == 200


async def test_a_body_of_unknown_length_that_grows_too_large_is_refused_with_413(
    standing: Any, http: httpx.AsyncClient
) -> None:
    async def pieces() -> AsyncGenerator[bytes]:
        for _ in range(40):
            yield b"x" * 1_000_000

    response = await http.post(standing.url, content=pieces(), headers=JSON)
    assert response.status_code == 413


def test_a_client_that_asks_first_is_refused_before_it_sends_a_large_body(standing: Any) -> None:
    with socket.create_connection(("127.0.0.1", httpx.URL(standing.url).port or 0), timeout=10) as wire:
        wire.sendall(
            f"POST /mcp HTTP/1.1\r\nHost: {standing.url[7:].partition('/')[0]}\r\nContent-Type: application/json\r\n"
            "Content-Length: 40000000\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        assert wire.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("path", ["/mcp", "/healthz", "/readyz", "/other"])
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example"]
)
async def test_a_foreign_host_header_gets_421_on_every_path(
    standing: Any, http: httpx.AsyncClient, path: str, host: str
) -> None:
    url = standing.url.replace("/mcp", path)
    assert (await http.post(url, headers={**JSON, "host": host}, content=b"{}")).status_code == 421
    assert (await http.get(url, headers={"host": host})).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1", "http://localhost:1", "https://127.0.0.1", "file://"]
)
async def test_a_foreign_origin_gets_403(standing: Any, http: httpx.AsyncClient, origin: str) -> None:
    body, headers = modern("tools/list")
    assert (await http.post(standing.url, json=body, headers={**headers, "origin": origin})).status_code == 403


async def test_the_servers_own_origin_and_names_are_accepted(standing: Any, http: httpx.AsyncClient) -> None:
    body, headers = modern("tools/list")
    port = httpx.URL(standing.url).port
    for name in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}"):
        own = {**headers, "host": name, "origin": f"http://{name.lower()}"}
        assert (await http.post(standing.url, json=body, headers=own)).status_code == 200


async def test_hosts_and_origins_of_the_operator_are_accepted(start: Start, http: httpx.AsyncClient) -> None:
    server = start(
        "http",
        "--allowed-host",
        "tools.example",
        "--allowed-host",
        "any.example:*",
        "--allowed-origin",
        "https://a.example",
    )
    body, headers = modern("tools/list")
    for host in ("tools.example", "any.example:4711"):
        asked = {**headers, "host": host, "origin": "https://a.example"}
        assert (await http.post(server.url, json=body, headers=asked)).status_code == 200
    for host in ("tools.example:1", "any.example", "any.example:x", "many.example:1"):
        assert (await http.post(server.url, json=body, headers={**headers, "host": host})).status_code == 421


async def test_a_preflight_of_a_browser_gets_no_permission(standing: Any, http: httpx.AsyncClient) -> None:
    response = await http.options(standing.url, headers={"origin": "http://evil.example"})
    assert response.status_code == 403
    assert "access-control-allow-origin" not in response.headers


async def test_health_and_readiness_are_told_without_a_secret(standing: Any, http: httpx.AsyncClient) -> None:
    for path in ("/healthz", "/readyz"):
        response = await http.get(standing.url.replace("/mcp", path))
        assert (response.status_code, response.text) == (200, "ok")
        assert "server" not in response.headers


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_server_in_order(server: Any, number: signal.Signals) -> None:
    async with Client(server.url, mode="legacy") as client:  # keeps a stream open
        await client.list_tools()
        server.signal(number)
        assert await anyio.to_thread.run_sync(server.ended) == 0
    assert "lifespan left" in server.log
    assert "Traceback" not in server.log


@ERAS
async def test_a_signal_ends_the_server_in_order_while_calls_run(server: Any, era: str) -> None:
    async with Client(server.url, mode=era) as client, anyio.create_task_group() as group:

        async def call(tool: str, **arguments: Any) -> None:
            with anyio.CancelScope():
                try:
                    await client.call_tool(tool, arguments)
                except Exception as error:
                    assert error

        group.start_soon(call, "stuck")
        await anyio.to_thread.run_sync(server.told, "stuck began")
        server.signal(signal.SIGTERM)
        assert await anyio.to_thread.run_sync(server.ended) == 0
        group.cancel_scope.cancel()
    assert "lifespan left" in server.log
    assert "Traceback" not in server.log


async def test_a_call_that_ends_soon_is_answered_after_the_signal(server: Any, http: httpx.AsyncClient) -> None:
    body, headers = modern("tools/call", {"name": "brief", "arguments": {}})
    answers: list[httpx.Response] = []
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            answers.append(await http.post(server.url, json=body, headers=headers))

        group.start_soon(ask)
        await anyio.to_thread.run_sync(server.told, "brief began")
        server.signal(signal.SIGTERM)
    assert answers[0].status_code == 200
    assert answers[0].json()["result"]["content"][0]["text"] == "brief"
    assert await anyio.to_thread.run_sync(server.ended) == 0


async def test_a_disconnect_of_2026_cancels_the_call(server: Any, http: httpx.AsyncClient) -> None:
    body, headers = modern("tools/call", {"name": "wait", "arguments": {"name": "m"}})
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: http.post(server.url, json=body, headers=headers))
        await anyio.to_thread.run_sync(server.told, "wait m began")
        group.cancel_scope.cancel()
    await anyio.to_thread.run_sync(server.told, "wait m was cancelled")


async def test_a_disconnect_of_an_older_client_leaves_the_call_running(server: Any, http: httpx.AsyncClient) -> None:
    session = await legacy_session(http, server.url)
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "wait", "arguments": {"name": "l"}}}
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: http.post(server.url, json=call, headers=session))
        await anyio.to_thread.run_sync(server.told, "wait l began")
        group.cancel_scope.cancel()
    release = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "release", "arguments": {}}}
    await http.post(server.url, json=release, headers=session)
    await anyio.to_thread.run_sync(server.told, "wait l ended")
    assert "wait l was cancelled" not in server.log


async def test_a_session_that_is_idle_too_long_is_closed(start: Start, http: httpx.AsyncClient) -> None:
    server = start("http", "--idle", "0.2", "--level", "debug")
    session = await legacy_session(http, server.url)
    await anyio.to_thread.run_sync(server.told, "idle timeout")
    ping = {"jsonrpc": "2.0", "id": 9, "method": "ping"}
    assert (await http.post(server.url, json=ping, headers=session)).status_code == 404


async def test_calls_beyond_the_concurrency_limit_get_503(start: Start, http: httpx.AsyncClient) -> None:
    server = start("http", "--concurrency", "1")
    body, headers = modern("tools/call", {"name": "wait", "arguments": {"name": "w"}})
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: http.post(server.url, json=body, headers=headers))
        await anyio.to_thread.run_sync(server.told, "wait w began")
        refused = await http.post(server.url, json=body, headers=headers)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert (await http.get(server.url.replace("/mcp", "/healthz"))).status_code == 200
        group.cancel_scope.cancel()
    await anyio.to_thread.run_sync(server.told, "wait w was cancelled")


@ERAS
async def test_twenty_parallel_calls_are_all_answered(standing: Any, era: str) -> None:
    answers: list[str] = []
    async with Client(standing.url, mode=era) as client, anyio.create_task_group() as group:

        async def call(number: int) -> None:
            result = await client.call_tool("echo", {"text": str(number)})
            answers.append(result.content[0].text)  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test

        for number in range(20):
            group.start_soon(call, number)
    assert sorted(answers, key=int) == [str(number) for number in range(20)]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_an_address_beyond_loopback_refuses_to_start(start: Start, host: str) -> None:
    server = start("http", "--host", host)
    assert server.ended() == 2
    assert "authentication" in server.log
    assert "lifespan entered" not in server.log


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", " ", "*", "0", "169.254.1.1", "::ffff:192.0.2.1", "localhost.example"]
)
def test_no_spelling_of_another_address_passes_for_loopback(host: str) -> None:
    with pytest.raises(SettingsError):
        loopback_address(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.255.0.9", "::ffff:127.0.0.1"])
def test_every_spelling_of_loopback_is_accepted(host: str) -> None:
    assert loopback_address(host)


def closed(listening: Listening) -> Listening:
    listening.socket.close()
    return listening


def test_a_free_port_is_chosen_and_told_in_the_url() -> None:
    listening = closed(listen(TransportSettings(transport="http", port=0)))
    port = httpx.URL(listening.url).port
    assert port and port > 0
    assert listening.hosts == {f"127.0.0.1:{port}", f"localhost:{port}"}
    assert listening.origins == {f"http://127.0.0.1:{port}", f"http://localhost:{port}"}


def test_a_taken_port_is_a_settings_error_that_names_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=f"Port {port} .* taken"):
            listen(TransportSettings(transport="http", port=port))


def test_the_address_is_told_in_json_too_and_at_any_level(start: Start) -> None:
    server = start("http", "--format", "json", "--level", "error")
    event = json.loads(server.told("Listening on "))
    assert event["message"].startswith("Listening on http://127.0.0.1:")


async def legacy_session(http: httpx.AsyncClient, url: str) -> dict[str, str]:
    """The headers of an initialized session of 2025-11-25."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    opened = await http.post(
        url, json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}, headers=JSON
    )
    headers = {**JSON, "mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
    await http.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
    return headers


async def test_a_media_type_in_capitals_is_taken(standing: Any, http: httpx.AsyncClient) -> None:
    """Media types are the same in any case (RFC 9110, 8.3.1)."""
    body, headers = modern("tools/list")
    headers |= {"content-type": "APPLICATION/JSON; charset=UTF-8", "accept": "Application/JSON, Text/Event-Stream"}
    assert (await http.post(standing.url, json=body, headers=headers)).status_code == 200


async def test_a_session_that_is_ended_for_a_newcomer_is_really_gone(start: Start, http: httpx.AsyncClient) -> None:
    server = start("http", "--sessions", "2", "--unused", "0")
    first, second, third = [await legacy_session(http, server.url) for _ in range(3)]
    ping = {"jsonrpc": "2.0", "id": 9, "method": "ping"}
    statuses = [(await http.post(server.url, json=ping, headers=one)).status_code for one in (first, second, third)]
    assert statuses == [404, 200, 200]
