"""What a client hears over HTTP of a body that is no message."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

import httpx
import pytest

Start = Callable[..., Any]

pytestmark = pytest.mark.anyio

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def standing(start_for_module: Start) -> Any:
    return start_for_module("http")


@pytest.fixture
async def http() -> AsyncGenerator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=20, trust_env=False) as client:
        yield client


@pytest.mark.parametrize("version", [None, "2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"3",
        b"null",
        b'{"a":1}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":3}',
        b'{"jsonrpc":"2.0","id":1,"method":["' + b"x" * 50_000 + b'"]}',
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    ],
    ids=["list", "number", "null", "no-envelope", "params", "method", "batch"],
)
async def test_a_body_that_is_no_message_is_refused_in_one_sentence(
    standing: Any, http: httpx.AsyncClient, version: str | None, body: bytes
) -> None:
    headers = JSON if version is None else {**JSON, "mcp-protocol-version": version}
    answer = await http.post(standing.url, content=body, headers=headers)
    error = answer.json()["error"]
    assert answer.status_code == 400
    assert int(answer.headers["content-length"]) == len(answer.content) < 300
    assert error["code"] == -32600
    assert "object" in error["message"]
    assert "validation" not in error["message"]


async def test_a_body_that_is_no_json_is_told_where_it_breaks(standing: Any, http: httpx.AsyncClient) -> None:
    answer = await http.post(standing.url, content=b'{"jsonrpc":', headers=JSON)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)
    assert "column" in answer.json()["error"]["message"]
