"""A caller that leaves ends its work, and no other; one that waits hears how far it is."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_curated_shared.testing.clients import ERAS, LEGACY, MODERN, Era
from tests.filesystem.server.endurance import (
    KINDS,
    Kind,
    cancel_on_wire,
    lay_out_work,
    leave_over_http,
    remove_copy,
)
from tests.filesystem.server.processes import BOUND, over_wire, succeeded

pytestmark = pytest.mark.slow

MOST = 0.5
"""Seconds of processor time that may be spent for a caller that has left, a few milliseconds on an idle machine. The
work would take seconds more; on a busy machine the news of the leaving arrives late."""


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("work")
    lay_out_work(folder)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def no_copy(top: Path) -> Iterator[None]:
    yield
    remove_copy(top)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
def test_a_cancelled_call_ends_its_work_at_once_and_is_not_answered(top: Path, era: Era, kind: Kind) -> None:
    left = cancel_on_wire(top, era, kind)
    assert left.processor < MOST
    assert not left.answered
    assert left.found == [], "nothing is left of a cancelled copy"


@pytest.mark.parametrize("kind", ["search_content", "copy_file"])
def test_leaving_over_http_in_the_new_era_ends_the_work(top: Path, kind: Kind) -> None:
    left = leave_over_http(top, MODERN, kind)
    assert left.processor < MOST
    assert left.found == []


def test_leaving_over_http_in_the_old_era_lets_the_work_go_on(top: Path) -> None:
    """A broken connection is no cancellation there: the client may come back (2025-11-25, Transports)."""
    assert leave_over_http(top, LEGACY, "copy_file").found == ["copied"]


@pytest.mark.parametrize("era", ERAS)
def test_a_walk_of_more_than_a_second_tells_how_far_it_is(top: Path, era: Era) -> None:
    with over_wire(top, era, "--read-only", "--search-timeout", "2.2") as server:
        arguments = {"path": str(top / "many"), "pattern": r"dog [0-9]+x", "regex": True}
        params = {"name": "search_content", "arguments": arguments, "_meta": {"progressToken": "walk"}}
        request = server.send("tools/call", params)
        succeeded(server.reply(request, BOUND))
        messages = [json.loads(line) for line in server.lines]
    told = [message["params"] for message in messages if message.get("method") == "notifications/progress"]
    assert told, "a search of more than a second says nothing"
    assert all(one["progressToken"] == "walk" for one in told)
    done = [one["progress"] for one in told]
    assert done == sorted(set(done)), "progress only grows"
