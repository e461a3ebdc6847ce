"""Looking up once: what the resolver says is decided, and a lookup that hangs holds nobody."""

import asyncio
import socket
import threading
from collections.abc import Sequence

import pytest

from mcp_curated_shared.security.egress import (
    EgressPolicy,
    EgressRefusedError,
    UnknownHostError,
    check_peer,
    resolve,
    system_resolver,
)

pytestmark = pytest.mark.anyio


class Answers:
    """A resolver that gives one answer after the other and counts."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


async def test_a_name_is_looked_up_once_and_its_addresses_are_what_is_connected_to():
    resolver = Answers(["93.184.216.34"], ["127.0.0.1"])
    found = await resolve("a.example", 443, EgressPolicy(), resolver)
    assert [str(address) for address in found] == ["93.184.216.34"]
    assert resolver.asked == ["a.example"]


async def test_a_literal_address_is_never_looked_up():
    resolver = Answers(["93.184.216.34"])
    with pytest.raises(EgressRefusedError):
        await resolve("127.0.0.1", 80, EgressPolicy(), resolver)
    assert resolver.asked == []


@pytest.mark.parametrize(
    "answer", [["93.184.216.34", "10.0.0.1"], ["::1", "93.184.216.34"], ["fe80::1%eth0"], ["0.0.0.0"]]
)
async def test_a_mixed_or_local_answer_refuses_the_name(answer: list[str]):
    with pytest.raises(EgressRefusedError):
        await resolve("a.example", 443, EgressPolicy(), Answers(answer))


@pytest.mark.parametrize("answer", [[], ["no address"]])
async def test_an_answer_without_an_address_is_an_unknown_host(answer: list[str]):
    with pytest.raises(UnknownHostError):
        await resolve("a.example", 443, EgressPolicy(), Answers(answer))


async def test_the_systems_resolver_answers_and_says_unknown():
    assert set(await system_resolver("localhost")) <= {"127.0.0.1", "::1"}
    with pytest.raises(UnknownHostError):
        await resolve("does-not-exist.invalid", 443, EgressPolicy())


async def test_a_lookup_that_hangs_ends_with_its_caller(monkeypatch: pytest.MonkeyPatch):
    started, release = threading.Event(), threading.Event()

    def hang(*_: object, **__: object) -> list[object]:
        started.set()
        release.wait(20)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    task = asyncio.create_task(resolve("slow.example", 443, EgressPolicy()))
    await asyncio.to_thread(started.wait, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "name-lookup")
    release.set()


async def test_the_other_end_of_a_socket_is_decided_on_again():
    check_peer("93.184.216.34", "a.example", 443, EgressPolicy())
    for peer in ("127.0.0.1", "::ffff:127.0.0.1", "fe80::1%eth0"):
        with pytest.raises(EgressRefusedError):
            check_peer(peer, "a.example", 443, EgressPolicy())
