"""What goes along with a request, and to whom: tokens, the caller's headers, cookies, secrets."""

import logging
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import pytest
import respx

from mcp_curated_shared.errors import InvalidArgumentError
from mcp_curated_shared.security.egress import EgressRefusedError, InvalidUrlError, Origin
from mcp_curated_shared.settings import Secret
from mcp_curated_shared.transport.http_client import (
    Credential,
    HttpClient,
    HttpOptions,
    HttpRequest,
    RedirectError,
    SecretInRequestError,
    guarded_client,
)
from tests.shared.http_client.loopback import PUBLIC, Names, Server, answer, policy, redirect

pytestmark = pytest.mark.anyio

TOKEN = "tok-" + secrets.token_hex(16)
NAMES = {"home_example": [[PUBLIC]], "away_example": [[PUBLIC]]}


def with_token(origin: str) -> HttpClient:
    credential = Credential(Origin.parse(origin), Secret(f"Bearer {TOKEN}"))
    return HttpClient(policy(), HttpOptions(credentials=(credential,), resolver=Names(**NAMES)))


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as one:
        yield one


async def test_a_token_goes_to_its_origin(server: Server):
    async with with_token(server.url(host="home.example")) as http:
        server.answers = [answer(), redirect("/b"), answer()]
        await http.get(server.url("/a", host="HOME.example."))
        await http.get(server.url("/c", host="home.example"))
    assert [one.headers.get("authorization") for one in server.asked] == [f"Bearer {TOKEN}"] * 3


async def test_a_token_goes_to_no_other_scheme_host_or_port(server: Server):
    other = Server()
    async with other, with_token(server.url(host="home.example")) as http:
        await http.get(server.url(host="away.example"))
        await http.get(server.url())
        await http.get(other.url(host="home.example"))
    async with with_token(server.url(host="home.example").replace("http:", "https:")) as http:
        await http.get(server.url(host="home.example"))
    assert all("authorization" not in one.headers for one in (*server.asked, *other.asked))


async def test_a_token_does_not_follow_a_redirect_elsewhere_nor_come_back_with_one(server: Server):
    home, away = server.url("/back", host="home.example"), server.url("/away", host="away.example")
    server.answers = [redirect(away), redirect(home), answer()]
    async with with_token(home) as http:
        await http.get(server.url("/start", host="home.example"))
    assert [(one.path, "authorization" in one.headers) for one in server.asked] == [
        ("/start", True),
        ("/away", False),
        ("/back", False),
    ]


async def test_a_page_elsewhere_cannot_send_a_token_home_by_a_redirect(server: Server):
    server.answers = [redirect(server.url("/delete", host="home.example")), answer()]
    async with with_token(server.url(host="home.example")) as http:
        await http.get(server.url("/start", host="away.example"))
    assert all("authorization" not in one.headers for one in server.asked)


async def test_on_the_same_origin_only_means_that_a_redirect_elsewhere_is_an_error(server: Server):
    server.answers = [redirect(server.url("/", host="away.example"))]
    async with with_token(server.url(host="home.example")) as http:
        with pytest.raises(RedirectError, match=r"away\.example"):
            await http.send(HttpRequest(server.url(host="home.example"), redirects="same_origin"))
    assert len(server.asked) == 1


async def test_the_callers_headers_stay_at_the_first_origin(server: Server):
    server.answers = [redirect("/same"), redirect(server.url("/away", host="away.example")), answer()]
    sent = (("X-Api-Key", "k"), ("Accept", "text/markdown"), ("Accept-Language", "de"))
    async with HttpClient(policy(), HttpOptions(resolver=Names(**NAMES), user_agent="test/1")) as http:
        await http.get(server.url("/start", host="home.example"), sent)
    assert [one.headers.get("x-api-key") for one in server.asked] == ["k", "k", None]
    assert [one.headers.get("accept") for one in server.asked] == ["text/markdown"] * 3
    assert [one.headers.get("accept-language") for one in server.asked] == ["de"] * 3
    assert [one.headers.get("user-agent") for one in server.asked] == ["test/1"] * 3


async def test_a_redirect_from_https_to_http_is_said():
    with respx.mock() as mock:
        mock.get("https://home.example/").respond(302, headers={"Location": "http://home.example/x"})
        mock.get("http://home.example/x").respond(200, text="plain")
        async with HttpClient(policy(), HttpOptions(resolver=Names())) as http:
            response = await http.get("https://home.example/")
    assert response.body == b"plain"
    assert any("https to http" in notice for notice in response.notices)


@pytest.mark.parametrize("name", ["Authorization", "cookie", "HOST", "Content-Length", "Accept-Encoding", "Connection"])
async def test_headers_that_the_client_answers_for_are_not_the_callers(server: Server, name: str):
    async with HttpClient(policy()) as http:
        with pytest.raises(ValueError, match="set by the client"):
            await http.get(server.url(), ((name, "x"),))
    assert server.connections == 0


@pytest.mark.parametrize(
    "header", [("X-A", "b\r\nX-C: d"), ("X A", "b"), ("X-A", "b\x00"), ("X-A\n", "b"), ("X-A", "ü")]
)
async def test_a_header_cannot_bring_another_one_along(server: Server, header: tuple[str, str]):
    async with HttpClient(policy()) as http:
        with pytest.raises(InvalidArgumentError):
            await http.get(server.url(), (header,))
    assert server.connections == 0


@dataclass(frozen=True)
class Span:
    kind: str


def scan(text: str) -> Sequence[Span]:
    return [Span("sample-token")] if TOKEN in text else []


@pytest.mark.parametrize("place", ["path", "query", "encoded", "header", "body"])
async def test_a_secret_in_what_would_be_sent_is_refused_and_not_told(server: Server, place: str):
    encoded = "".join(f"%{ord(character):02x}" for character in TOKEN)
    requests = {
        "path": HttpRequest(server.url(f"/{TOKEN}")),
        "query": HttpRequest(server.url(f"/?q={TOKEN}")),
        "encoded": HttpRequest(server.url(f"/?q={encoded}")),
        "header": HttpRequest(server.url(), headers=(("X-Note", TOKEN),)),
        "body": HttpRequest(server.url(), method="POST", content=TOKEN.encode()),
    }
    async with HttpClient(policy(), HttpOptions(scan=scan)) as http:
        with pytest.raises(SecretInRequestError, match="sample-token") as caught:
            await http.send(requests[place])
        await http.get(server.url("/innocent"))
    assert TOKEN not in str(caught.value)
    assert [one.path for one in server.asked] == ["/innocent"]


async def test_a_secret_is_found_without_being_asked_for(server: Server):
    token = "ghp_" + secrets.token_hex(18)
    async with HttpClient(policy()) as http:
        with pytest.raises(SecretInRequestError, match="github-token") as caught:
            await http.get(server.url(f"/?q={token}"))
        async with HttpClient(policy(), HttpOptions(scan=None)) as trusting:
            await trusting.get(server.url(f"/?q={token}"))
    assert token not in str(caught.value)
    assert len(server.asked) == 1


async def test_no_log_line_holds_a_url_a_header_or_a_token(server: Server, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    server.answers = [redirect("/b"), answer()]
    async with with_token(server.url(host="home.example")) as http:
        await http.get(server.url("/private-path", host="home.example"))
    async with guarded_client(policy()) as plain:
        await plain.get(server.url("/private-path"))
    assert "private-path" not in caplog.text
    assert TOKEN not in caplog.text


async def test_a_credential_is_not_shown(server: Server):
    credential = Credential(Origin.parse(server.url()), Secret(TOKEN))
    assert TOKEN not in repr(HttpOptions(credentials=(credential,)))


async def test_cookies_live_for_one_journey_and_at_their_host(server: Server):
    server.answers = [
        answer(b"", "302 Found", Location="/next", Set_Cookie="sid=1"),
        redirect(server.url("/away", host="away.example")),
        answer(),
    ]
    async with HttpClient(policy(), HttpOptions(resolver=Names(**NAMES))) as http:
        for _ in range(2):
            server.asked.clear()
            await http.get(server.url("/start", host="home.example"))
            assert [one.headers.get("cookie") for one in server.asked] == [None, "sid=1", None]


async def test_neither_user_info_nor_control_characters_are_sent_or_echoed(server: Server):
    async with HttpClient(policy()) as http:
        for url in (server.url().replace("://", f"://me:{TOKEN}@"), server.url(f"/\x1b]0;{TOKEN}\x07")):
            with pytest.raises(InvalidUrlError) as caught:
                await http.get(url)
            assert TOKEN not in str(caught.value)
            assert str(caught.value).isprintable()
    assert server.connections == 0


async def test_what_a_policy_refuses_is_refused_under_respx_too():
    with respx.mock(assert_all_called=False) as mock:
        route = mock.get("http://127.0.0.1/").respond(200)
        async with HttpClient(policy()) as http:
            with pytest.raises(EgressRefusedError):
                await http.get("http://127.0.0.1/")
    assert not route.called


async def test_an_answer_is_given_in_plain_types(server: Server):
    server.answers = [answer(b'{"a": [1]}', Content_Type="application/json", X_Twice="1")]
    async with HttpClient(policy()) as http:
        response = await http.get(server.url())
    assert response.json() == {"a": [1]}
    assert response.headers["CONTENT-type"] == "application/json"
    assert dict(response.headers)["x-twice"] == "1"
