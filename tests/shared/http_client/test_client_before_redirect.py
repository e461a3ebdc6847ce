"""What is asked before a redirect is followed: it sees each next URL, and its refusal stops there."""

import pytest

from mcp_curated_shared.errors import NotAllowedError
from mcp_curated_shared.transport.http_client import HttpClient, HttpOptions, HttpRequest
from tests.shared.http_client.loopback import PUBLIC, Names, Server, answer, policy, redirect

pytestmark = pytest.mark.anyio


async def test_before_each_redirect_the_next_url_is_told():
    told: list[str] = []

    async def check(url: str) -> None:
        told.append(url)

    names = Names(a_example=[[PUBLIC]])
    async with (
        Server([redirect("/second?q=1"), redirect("/third"), answer(b"there")]) as server,
        HttpClient(policy(), HttpOptions(resolver=names)) as http,
    ):
        first = server.url("/first", host="a.example")
        response = await http.send(HttpRequest(first, before_redirect=check))
    assert response.body == b"there"
    assert told == [first.replace("/first", "/second?q=1"), first.replace("/first", "/third")]


async def test_a_redirect_that_the_caller_refuses_is_not_asked_for():
    async def check(url: str) -> None:
        raise NotAllowedError(f"{url} is not wanted.")

    names = Names(a_example=[[PUBLIC]])
    async with (
        Server([redirect("/second"), answer(b"not wanted")]) as server,
        HttpClient(policy(), HttpOptions(resolver=names)) as http,
    ):
        with pytest.raises(NotAllowedError, match="is not wanted"):
            await http.send(HttpRequest(server.url("/first", host="a.example"), before_redirect=check))
    assert [asked.path for asked in server.asked] == ["/first"]
