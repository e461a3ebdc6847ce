"""A write happens at most once: replays, lost answers, crashes, restarts; each POST is counted at the double."""

import os
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from mcp_curated_github.writing.sending import LOST_ANSWER
from mcp_curated_shared.testing.clients import MODERN, Era
from mcp_curated_shared.testing.wire import running
from tests.github.desk import ISSUE, REPO, Desk, answer, create, question_of, standing, structure, willing
from tests.github.double import Hold, faults
from tests.github.double.faults import Fault
from tests.github.serving import refused, text_of

pytestmark = pytest.mark.anyio


async def create_approved(client: Client, operation: str) -> None:
    await create(client, confirmed_operation_id=operation)


COMMENT: dict[str, Any] = {"repo": REPO, "number": 1, "body": "Seen here too.", "dry_run": False}


async def test_three_replays_in_a_row_make_one_issue_and_ask_once(era: Era, desk: Desk):
    person = willing()
    async with desk.serving(era, person) as client:
        results = [structure(await create(client)) for _ in range(3)]
    assert [one.get("repeated") for one in results] == [None, True, True]
    assert {one["url"] for one in results} == {f"https://github.com/{REPO}/issues/1"}
    assert (desk.posts, len(person.asked)) == (1, 1)


async def test_five_replays_at_once_make_one_issue(era: Era, desk: Desk):
    results: list[dict[str, Any]] = []
    async with desk.serving(era, willing()) as client:

        async def call() -> None:
            results.append(structure(await create(client)))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(call)
    assert desk.posts == 1
    assert sorted(bool(one.get("repeated")) for one in results) == [False, True, True, True, True]


async def test_one_accepted_answer_replayed_in_a_row_and_at_once_makes_one_issue(desk: Desk):
    results: list[Any] = []
    async with desk.serving(MODERN, willing()) as client:
        question = await question_of(client, "create_issue", ISSUE)

        async def replay() -> None:
            results.append(await answer(client, "create_issue", ISSUE, question))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(replay)
        for _ in range(3):
            await replay()
    assert desk.posts == 1
    assert [standing(one)["repeated"] for one in results].count(False) == 1


async def test_an_approved_operation_used_five_times_at_once_makes_one_issue(era: Era, desk: Desk):
    async with desk.serving(era) as client:
        operation = structure(await create(client))["operation_id"]
        desk.approve(operation)
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(create_approved, client, operation)
    assert desk.posts == 1


async def test_a_restarted_server_answers_a_repetition_with_the_first_result(era: Era, desk: Desk):
    for expected in (None, True):
        async with desk.serving(era, willing()) as client:
            made = structure(await create(client))
            assert made.get("repeated") is expected
    assert desk.posts == 1


async def test_a_preview_of_what_exists_already_says_so(era: Era, desk: Desk):
    async with desk.serving(era, willing()) as client:
        await create(client)
        shown = structure(await create(client, dry_run=True))
    assert (shown["status"], shown["repeated"], desk.posts) == ("created", True, 1)


async def test_the_same_text_with_other_line_breaks_is_the_same_issue(era: Era, desk: Desk):
    async with desk.serving(era, willing()) as client:
        await create(client, body="one\ntwo")
        again = structure(await create(client, body="one\r\ntwo"))
    assert (again["repeated"], desk.posts) == (True, 1)


async def test_a_warning_that_comes_up_later_makes_no_second_issue(era: Era, desk: Desk):
    other = desk.there.github.repository("octocat/secret", private=True)
    other.file("README.md", "hidden")
    async with desk.serving(era, willing()) as client:
        await create(client)
        assert not (await client.call_tool("get_readme", {"repo": "octocat/secret"})).is_error
        assert structure(await create(client))["repeated"] is True
    assert desk.posts == 1


LOST = (
    faults.closed_after(),
    faults.closed_after(reset=True),
    faults.cut_body(),
    faults.unicorn().after_effect(),
    faults.server_error(500).after_effect(),
    faults.not_json().after_effect(),
    faults.wrong_shape([]).after_effect(),
)


@pytest.mark.parametrize("fault", LOST, ids=lambda one: one.name)
async def test_an_issue_whose_answer_is_lost_is_found_and_not_sent_again(fault: Fault, era: Era, desk: Desk):
    desk.there.faults.on("issues/create", fault)
    async with desk.serving(era, willing()) as client:
        made = structure(await create(client))
        again = structure(await create(client))
    assert (made["status"], made["number"], desk.posts) == ("created", 1, 1)
    assert (again["repeated"], again["url"]) == (True, made["url"])
    assert again["warnings"] == made["warnings"] == [LOST_ANSWER]


async def test_a_comment_whose_answer_is_lost_is_found_and_not_sent_again(era: Era, desk: Desk):
    desk.repository.issue("Old", comments=["Seen here too."])  # somebody said the same long before
    desk.there.faults.on("issues/create-comment", faults.closed_after())
    async with desk.serving(era, willing()) as client:
        made = structure(await client.call_tool("add_issue_comment", COMMENT))
        await client.call_tool("add_issue_comment", COMMENT)
    assert desk.posts == 1
    assert made["url"].endswith(f"#issuecomment-{desk.repository.issues[1].comments[1].id}")


async def test_an_issue_that_is_not_found_again_stays_unknown_and_is_never_sent_again(desk: Desk):
    github = desk.there.github
    # The same text from long ago, though somebody has answered it just now.
    desk.repository.issue(ISSUE["title"], ISSUE["body"], author="octocat").comment("Still so.", at=github.now())
    desk.repository.issue(ISSUE["title"], ISSUE["body"], author="mona", at=github.now())  # by another
    desk.there.faults.on("issues/create", faults.closed_before())
    async with desk.serving(MODERN, willing()) as client:
        told, facts = await refused(client, "create_issue", **ISSUE)
        assert facts["kind"] == "unknown_outcome"
        assert "nobody can say whether it was written" in told
        told, facts = await refused(client, "create_issue", **ISSUE)
        assert facts["kind"] == "unknown_outcome"
    assert desk.posts == 1
    assert [one["outcome"] for one in desk.audit if one["event"] == "write_end"] == ["unknown"]


async def test_a_comment_by_somebody_else_is_not_taken_for_a_lost_one(desk: Desk):
    desk.repository.issue("Old").comment(COMMENT["body"], author="mona", at=desk.there.github.now())
    desk.there.faults.on("issues/create-comment", faults.closed_before())
    async with desk.serving(MODERN, willing()) as client:
        _, facts = await refused(client, "add_issue_comment", **COMMENT)
    assert (facts["kind"], desk.posts) == ("unknown_outcome", 1)


async def test_an_unknown_write_that_turns_up_later_is_told_as_created(desk: Desk):
    desk.there.faults.on("issues/create", faults.closed_before())
    async with desk.serving(MODERN, willing()) as client:
        await refused(client, "create_issue", **ISSUE)
        desk.repository.issue(ISSUE["title"], ISSUE["body"], author="octocat", at=desk.there.github.now())
        made = structure(await create(client))
    assert (made["status"], made["repeated"], desk.posts) == ("created", True, 1)


async def test_an_installation_whose_answer_is_lost_finds_what_an_app_wrote(era: Era, desk: Desk):
    desk.token = desk.there.github.token("helper[bot]", "installation")
    desk.there.faults.on("issues/create", faults.closed_after())
    async with desk.serving(era, willing()) as client:
        assert structure(await create(client))["number"] == 1
    assert desk.posts == 1


def test_a_server_that_is_killed_between_the_post_and_the_ledger_makes_one_issue(era: Era, desk: Desk):
    hold = Hold()
    desk.there.faults.on("issues/create", faults.slow_headers(hold))
    operation = _approved(desk, era)
    call = {"name": "create_issue", "arguments": {**ISSUE, "confirmed_operation_id": operation}}
    with running(desk.command(), era) as server:
        server.send("tools/call", call)
        hold.wait_reached(20.0)
        server.process.kill()
        server.process.wait()
    hold.release()
    for _ in range(2):
        with running(desk.command(), era) as server:
            result = server.call("tools/call", call)["result"]
            made = result["structuredContent"]
            assert (made["status"], made["repeated"], made["number"]) == ("created", True, 1)
    assert desk.posts == 1


def _approved(desk: Desk, era: Era) -> str:
    with running(desk.command(), era) as server:
        held = server.call("tools/call", {"name": "create_issue", "arguments": ISSUE})["result"]["structuredContent"]
    desk.approve(held["operation_id"])
    return str(held["operation_id"])


async def test_a_call_that_is_given_up_while_the_post_is_under_way_makes_one_issue(era: Era, desk: Desk):
    hold = Hold()
    desk.there.faults.on("issues/create", faults.slow_headers(hold))
    async with desk.serving(era, willing()) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(create, client)
            await anyio.to_thread.run_sync(hold.wait_reached, 20.0)
            tasks.cancel_scope.cancel()
        made = structure(await create(client))
    hold.release()
    assert (made["status"], made["repeated"], desk.posts) == ("created", True, 1)


async def test_what_github_refused_may_be_sent_again_after_another_answer(era: Era, desk: Desk):
    desk.there.faults.on("issues/create", faults.secondary_limit(retry_after=30))
    person = willing()
    async with desk.serving(era, person) as client:
        told, facts = await refused(client, "create_issue", **ISSUE)
        assert (facts["kind"], facts["retry_after_s"]) == ("secondary_rate_limit", 30), told
        assert structure(await create(client))["status"] == "created"
    assert (desk.posts, len(person.asked)) == (2, 2)
    assert len(desk.repository.issues) == 1


# The audit


async def test_the_start_of_a_write_is_on_the_disk_before_the_post(desk: Desk):
    hold = Hold()
    desk.there.faults.on("issues/create", faults.slow_before(hold))
    async with desk.serving(MODERN, willing()) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(create, client)
        await anyio.to_thread.run_sync(hold.wait_reached, 20.0)
        last = [one["event"] for one in desk.audit if one["event"].startswith("write")]
        assert (last, len(desk.repository.issues)) == (["write_start"], 0)
        hold.release()
    assert [one["event"] for one in desk.audit if one["event"].startswith("write")] == ["write_start", "write_end"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is always full")
async def test_on_a_full_disk_nothing_is_sent(era: Era, desk: Desk, monkeypatch: pytest.MonkeyPatch):
    full = os.open("/dev/full", os.O_WRONLY)
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        inside = os.path.realpath(f"/proc/self/fd/{descriptor}").startswith(str(desk.state))
        return real(full if inside else descriptor, data)

    async with desk.serving(era, willing()) as client:
        await client.call_tool("whoami", {})
        monkeypatch.setattr(os, "write", write)
        result = await create(client)
        monkeypatch.undo()
    os.close(full)
    assert result.is_error
    assert "NOT created: it could not be recorded" in text_of(result)
    assert desk.posts == 0
