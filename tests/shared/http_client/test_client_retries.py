"""Asking again: only what may be asked twice, a bounded number of times, after what the server asked for."""

import asyncio
import time
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
import respx
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.errors import TimedOutError
from mcp_curated_shared.transport.http_client import (
    CertificateError,
    HttpClient,
    HttpLimits,
    HttpOptions,
    HttpRequest,
    Retries,
    UnreachableError,
    retry_after_seconds,
)
from tests.shared.http_client.loopback import Asked, Names, Server, answer, policy

pytestmark = pytest.mark.anyio


class Waits:
    """Stands for the pauses between tries: none is waited, each is written down."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def client(waits: Waits, retries: Retries | None = None, seconds: float = 25.0) -> HttpClient:
    limits = HttpLimits(total_seconds=seconds)
    return HttpClient(policy(), HttpOptions(retries=retries or Retries(), wait=waits, limits=limits))


async def hang_up(_: Asked, writer: asyncio.StreamWriter) -> None:
    writer.close()


@pytest.mark.parametrize("failure", [answer(b"", "503 Busy"), answer(b"", "502 Bad"), answer(b"", "429 Slow"), hang_up])
async def test_a_read_that_failed_is_asked_once_more(failure: bytes):
    waits = Waits()
    async with Server([failure, answer(b"fine")]) as server, client(waits) as http:
        assert (await http.get(server.url())).body == b"fine"
    assert len(server.asked) == 2
    assert len(waits.seconds) == 1 and 0 <= waits.seconds[0] <= 0.5


@pytest.mark.parametrize("method", ["POST", "PATCH"])
@pytest.mark.parametrize("failure", [answer(b"", "503 Busy", Retry_After="0"), hang_up])
async def test_a_write_is_never_sent_twice(method: str, failure: bytes):
    waits = Waits()
    async with Server([failure, answer()]) as server, client(waits, Retries(most=5)) as http:
        try:
            response = await http.send(HttpRequest(server.url(), method=method, content=b"x"))
            assert response.status == 503
        except UnreachableError:
            assert failure is hang_up
    assert (len(server.asked), waits.seconds) == (1, [])


async def test_the_last_answer_is_returned_as_it_is():
    waits = Waits()
    async with Server([answer(b"busy", "503 Busy")]) as server, client(waits, Retries(most=3)) as http:
        assert (await http.get(server.url())).status == 503
    assert (len(server.asked), len(waits.seconds)) == (4, 3)


async def test_what_the_server_asks_to_wait_is_waited():
    waits = Waits()
    async with Server([answer(b"", "429 Slow", Retry_After="7"), answer()]) as server, client(waits) as http:
        assert (await http.get(server.url())).status == 200
    assert 7 <= waits.seconds[0] <= 7.1


async def test_who_asks_for_a_long_wait_gets_no_second_request_and_the_caller_the_number():
    waits = Waits()
    async with Server([answer(b"", "429 Slow", Retry_After="60")]) as server, client(waits) as http:
        response = await http.get(server.url())
    assert (response.status, response.retry_after_seconds, waits.seconds) == (429, 60, [])


async def test_a_pause_that_the_deadline_does_not_leave_is_not_begun():
    waits = Waits()
    async with Server([answer(b"", "503 Busy", Retry_After="5")]) as server, client(waits, seconds=4) as http:
        assert (await http.get(server.url())).status == 503
    assert waits.seconds == []


@pytest.mark.parametrize("status", ["200 OK", "304 Same", "400 Bad", "401 No", "404 Gone", "500 Broken"])
async def test_an_answer_that_says_nothing_of_later_is_not_asked_for_again(status: str):
    async with Server([answer(b"", status)]) as server, client(Waits()) as http:
        await http.get(server.url())
        assert len(server.asked) == 1


async def test_a_refused_connection_is_tried_again_and_names_the_reason():
    waits = Waits()
    async with client(waits) as http:
        with pytest.raises(UnreachableError, match=r"127\.1\.0\.1 cannot be reached: connection refused"):
            await http.get("http://127.1.0.1:1/")
    assert len(waits.seconds) == 1


async def test_a_simulated_failure_is_told_like_a_real_one():
    import httpx

    async with HttpClient(policy(), HttpOptions(resolver=Names(), wait=Waits())) as http:
        with respx.mock() as mock:
            mock.get("https://a.example/").mock(side_effect=httpx.ConnectTimeout)
            with pytest.raises(TimedOutError, match=r"a\.example"):
                await http.get("https://a.example/")
            route = mock.get("https://b.example/").mock(side_effect=[httpx.ConnectError("x"), httpx.Response(200)])
            assert (await http.get("https://b.example/")).status == 200
            assert route.call_count == 2


def test_a_failed_certificate_is_no_reason_to_ask_again():
    assert not issubclass(CertificateError, UnreachableError)


@given(st.integers(1, 20), st.none() | st.floats(0, 1_000))
def test_every_pause_is_within_its_bounds(tried: int, asked: float | None):
    retries = Retries(most=10, longest_seconds=8)
    pause = retries.pause(tried, asked)
    if tried > 10 or (asked or 0) > 8:
        assert pause is None
    else:
        assert pause is not None and (asked or 0) <= pause <= 8


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *[("0", 0), ("120", 120), (" 5 ", 5), ("99999999", 86_400)],
        *[("", None), ("-1", None), ("1.5", None), ("soon", None), ("٣", None), ("9" * 400, None), ("\x00", None)],
    ],
)
def test_retry_after_is_read_in_seconds(text: str, seconds: float | None):
    assert retry_after_seconds({"retry-after": text}) == seconds


def test_retry_after_is_read_as_a_date():
    now = time.time()
    header = format_datetime(datetime.fromtimestamp(now + 30, UTC), usegmt=True)
    assert retry_after_seconds({"retry-after": header}, now) == pytest.approx(30, abs=1)
    assert retry_after_seconds({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, now) == 0
    assert retry_after_seconds({}) is None


@given(st.text(max_size=40))
def test_any_retry_after_is_a_number_or_nothing(text: str):
    seconds = retry_after_seconds({"retry-after": text})
    assert seconds is None or 0 <= seconds <= 86_400
