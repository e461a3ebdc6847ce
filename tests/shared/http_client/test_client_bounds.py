"""Every way to take long or to send much ends within its bound."""

import asyncio
import gzip
import time
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from mcp_curated_shared.errors import TimedOutError
from mcp_curated_shared.transport.http_client import (
    BadResponseError,
    HttpClient,
    HttpLimits,
    HttpOptions,
    HttpRequest,
    RedirectError,
    ResponseHead,
    ResponseTooLargeError,
    Retries,
    UnreachableError,
)
from tests.shared.http_client.loopback import PUBLIC, Asked, Names, Server, answer, policy, redirect

pytestmark = pytest.mark.anyio

MIB = 1 << 20
DEADLINE = 0.4
LATE = 3.0  # a bound for a busy machine, far below what the other end would take


def http_client(**limits: float) -> HttpClient:
    bounds = HttpLimits(**limits)  # pyright: ignore[reportArgumentType]  # fields by name
    return HttpClient(policy(), HttpOptions(limits=bounds, retries=Retries(most=0)))


async def drip(writer: asyncio.StreamWriter, start: bytes, piece: bytes) -> None:
    writer.write(start)
    while True:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0.02)


async def drip_headers(_: Asked, writer: asyncio.StreamWriter) -> None:
    await drip(writer, b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n")


async def drip_body(_: Asked, writer: asyncio.StreamWriter) -> None:
    await drip(writer, b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"x")


async def drip_chunks(_: Asked, writer: asyncio.StreamWriter) -> None:
    await drip(writer, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n")


async def drip_chunk_size(_: Asked, writer: asyncio.StreamWriter) -> None:
    await drip(writer, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0")


async def drip_interim_answers(_: Asked, writer: asyncio.StreamWriter) -> None:
    await drip(writer, b"", b"HTTP/1.1 103 Early Hints\r\n\r\n")


async def drip_the_body_of_a_redirect(_: Asked, writer: asyncio.StreamWriter) -> None:
    await drip(writer, b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 4000\r\n\r\n", b"x")


async def say_nothing(_: Asked, __: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


@asynccontextmanager
async def ends_at_the_deadline() -> AsyncGenerator[None]:
    begun = time.monotonic()
    with pytest.raises(TimedOutError):
        yield
    assert DEADLINE * 0.9 < time.monotonic() - begun < LATE


@pytest.mark.parametrize(
    "behaviour",
    [
        drip_headers,
        drip_body,
        drip_chunks,
        drip_chunk_size,
        drip_interim_answers,
        drip_the_body_of_a_redirect,
        say_nothing,
    ],
)
async def test_a_server_that_drips_or_is_silent_is_given_up_at_the_deadline(
    behaviour: Callable[[Asked, asyncio.StreamWriter], Awaitable[None]],
):
    async with Server([behaviour]) as server, http_client(total_seconds=DEADLINE) as http, ends_at_the_deadline():
        await http.send(HttpRequest(server.url(), body="partial"))


async def test_a_lookup_that_hangs_is_given_up_at_the_deadline():
    async def hang(_: str) -> list[str]:
        await asyncio.Event().wait()
        return []

    async with (
        HttpClient(policy(), HttpOptions(resolver=hang, limits=HttpLimits(total_seconds=DEADLINE))) as http,
        ends_at_the_deadline(),
    ):
        await http.get("https://a.example/")


async def test_a_tls_handshake_that_is_never_answered_is_given_up_at_the_deadline():
    async with Server() as server, http_client(total_seconds=DEADLINE) as http, ends_at_the_deadline():
        await http.get(server.url().replace("http:", "https:"))


async def test_each_phase_has_a_limit_of_its_own():
    async with Server([say_nothing]) as server, http_client(read_seconds=DEADLINE) as http, ends_at_the_deadline():
        await http.get(server.url())


async def test_a_request_may_bring_a_deadline_of_its_own():
    async with Server([say_nothing]) as server, http_client() as http, ends_at_the_deadline():
        await http.send(HttpRequest(server.url(), seconds=DEADLINE))


async def test_redirects_share_the_deadline():
    async def slow(_: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(DEADLINE / 3)
        writer.write(redirect("/"))

    async with Server([slow]) as server, http_client(total_seconds=DEADLINE) as http, ends_at_the_deadline():
        await http.get(server.url())
        assert len(server.asked) <= 4


async def test_five_redirects_are_followed_and_a_sixth_is_not():
    async with Server([redirect("/")] * 5 + [answer(b"there")]) as server, http_client() as http:
        response = await http.get(server.url("/start"))
        assert (response.body, len(response.redirects)) == (b"there", 5)
        assert (response.url, response.redirects[0]) == (server.url(), server.url("/start"))
        assert server.connections == 1
    async with Server([redirect("/again")]) as server, http_client() as http:
        with pytest.raises(RedirectError):
            await http.get(server.url())
        assert len(server.asked) == 6


def bomb(deflate: bool) -> bytes:
    engine = zlib.compressobj(1, wbits=15 if deflate else 31)
    return b"".join([*(engine.compress(bytes(MIB)) for _ in range(64)), engine.flush()])


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "gzip, gzip"])
async def test_a_bomb_is_cut_at_the_limit(encoding: str):
    body = bomb(encoding == "deflate")
    body = gzip.compress(body) if "," in encoding else body
    async with Server([answer(body, Content_Encoding=encoding)]) as server, http_client(body_bytes=MIB) as http:
        response = await http.send(HttpRequest(server.url(), body="partial"))
        assert (len(response.body), response.received) == (MIB, "cut")
        assert "1,048,576" in response.notices[0]
        with pytest.raises(ResponseTooLargeError):
            await http.get(server.url())


async def test_an_endless_body_is_cut_at_the_limit():
    async def flood(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(bytes(1 << 16))
            await writer.drain()

    async with Server([flood]) as server, http_client() as http:
        response = await http.send(HttpRequest(server.url(), body="partial", body_bytes=100_000))
        assert (len(response.body), response.received) == (100_000, "cut")


async def test_a_header_block_without_end_is_refused():
    async def flood(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"X-More: " + b"x" * 8_000 + b"\r\n")
            await writer.drain()

    async with Server([flood]) as server, http_client() as http:
        with pytest.raises(BadResponseError):
            await http.get(server.url())


async def test_only_what_is_inflated_within_bounds_is_asked_for_and_read():
    async with Server([answer(b"x", Content_Encoding="br")]) as server, http_client() as http:
        with pytest.raises(BadResponseError):
            await http.get(server.url())
        assert server.asked[0].headers["accept-encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"half" + bytes(range(256)))[:-20],
    ],
)
async def test_a_body_that_breaks_off_is_an_error_unless_part_of_it_will_do(sent: bytes):
    async def break_off(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        writer.close()

    async with Server([break_off]) as server, http_client() as http:
        with pytest.raises(BadResponseError):
            await http.get(server.url())
        response = await http.send(HttpRequest(server.url(), body="partial"))
        assert (response.body[:4], response.received) == (b"half", "broken")


@pytest.mark.parametrize(
    "sent", [b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", b"\0" * 99]
)
async def test_what_is_no_http_is_refused(sent: bytes):
    async with Server([sent + b"\r\n\r\n"]) as server, http_client() as http:
        with pytest.raises((BadResponseError, UnreachableError)):
            await http.get(server.url())


async def test_a_body_that_the_caller_does_not_want_is_not_read():
    heads: list[ResponseHead] = []

    def wanted(head: ResponseHead) -> bool:
        heads.append(head)
        return False

    async with Server([redirect("/x"), drip_body]) as server, http_client() as http:
        response = await http.send(HttpRequest(server.url(), wanted=wanted))
        assert (response.status, response.body, response.received) == (200, b"", "unwanted")
        assert [head.url for head in heads] == [server.url("/x")]


async def test_a_cancelled_request_closes_its_connection():
    waiting, closed = asyncio.Event(), asyncio.Event()

    async def wait_for_the_end(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nx")
        waiting.set()
        try:
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.01)
        except ConnectionError:
            closed.set()

    async with Server([wait_for_the_end]) as server, http_client() as http:
        task = asyncio.create_task(http.get(server.url()))
        await asyncio.wait_for(waiting.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(closed.wait(), 5)


async def test_requests_take_turns_in_all_and_for_each_host():
    running: dict[str, int] = {}
    most: dict[str, int] = {}

    async def work(asked: Asked, writer: asyncio.StreamWriter) -> None:
        for key in ("all", asked.headers["host"]):
            running[key] = running.get(key, 0) + 1
            most[key] = max(most.get(key, 0), running[key])
        await asyncio.sleep(0.02)
        for key in ("all", asked.headers["host"]):
            running[key] -= 1
        writer.write(answer())
        await writer.drain()

    names = Names(**{f"h{number}_example": [[PUBLIC]] for number in range(5)})
    limits = HttpLimits(at_once=6, at_once_per_host=2)
    async with Server([work]) as server, HttpClient(policy(), HttpOptions(resolver=names, limits=limits)) as http:
        urls = [server.url(host=f"h{number % 5}.example") for number in range(40)]
        responses = await asyncio.gather(*map(http.get, urls))
        assert [response.status for response in responses] == [200] * 40
        # On a busy machine they may not all meet; more than the limits never do.
        assert 2 < most.pop("all") <= 6
        assert max(most.values()) == 2
        assert http._gate._hosts == {}


async def test_waiting_for_a_turn_counts_to_the_deadline():
    async with Server([say_nothing]) as server, http_client(at_once_per_host=1, total_seconds=DEADLINE) as http:
        begun = time.monotonic()
        results = await asyncio.gather(*(http.get(server.url()) for _ in range(3)), return_exceptions=True)
        assert [type(result) for result in results] == [TimedOutError] * 3
        assert time.monotonic() - begun < LATE
