"""Consent to a write, in every cell: nothing is created unless a person accepted or approved."""

import hashlib
import subprocess
import sys
from typing import Any, Literal

import pytest

from mcp_curated_shared.testing.clients import MODERN, Era, Person, Way
from tests.github.desk import ISSUE, REPO, Desk, answer, create, question_of, standing, structure, willing
from tests.github.serving import environment, text_of

pytestmark = pytest.mark.anyio


def run_command(desk: Desk, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """A command without a controlling terminal, as a host starts one."""
    return subprocess.run(
        [sys.executable, "-m", "mcp_curated_github", *words, "--state-dir", str(desk.state)],
        input=typed,
        env=environment(desk.there, desk.token),
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
        check=False,
    )


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_matrix_a_client_that_can_ask_creates_once_its_user_accepted(way: Way, era: Era, desk: Desk):
    person = Person(answers={}, action="decline")
    async with desk.serving(era, person, way=way) as client:
        refused = structure(await create(client))
        assert (refused["status"], desk.posts) == ("declined", 0)
        person.action, person.answers = "accept", {"confirm": True}
        made = structure(await create(client))
    assert (made["status"], made["assurance"], desk.posts) == ("created", "elicited", 1)
    assert made["url"] == f"https://github.com/{REPO}/issues/1"
    assert desk.repository.issues[1].title == "It breaks"


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_matrix_a_client_that_cannot_ask_creates_once_a_person_approved(way: Way, era: Era, desk: Desk):
    async with desk.serving(era, way=way) as client:
        held = structure(await create(client))
        assert (held["status"], desk.posts) == ("needs_confirmation", 0)
        operation = held["operation_id"]
        assert (await create(client, confirmed_operation_id=operation)).is_error
        assert desk.posts == 0
        desk.approve(operation)
        made = structure(await create(client, confirmed_operation_id=operation))
    assert (made["status"], made["assurance"], desk.posts) == ("created", "approved_out_of_band", 1)


async def test_a_dry_run_is_the_default_and_creates_nothing_whoever_is_there(era: Era, desk: Desk):
    person = willing()
    async with desk.serving(era, person) as client:
        result = await client.call_tool("create_issue", {"repo": REPO, "title": "It breaks"})
    shown = structure(result)
    assert text_of(result).startswith("NOT created: this is only a preview.")
    assert shown["message"].startswith("NOT created")
    assert (shown["status"], shown["visibility"], desk.posts, person.asked) == ("preview", "public", 0, [])
    assert standing(result) == {"status": "preview", "operationId": shown["operation_id"]}


async def test_a_dry_run_can_be_approved_and_then_created_by_its_operation(era: Era, desk: Desk):
    async with desk.serving(era) as client:
        shown = structure(await create(client, dry_run=True))
        desk.approve(shown["operation_id"])
        still = structure(await create(client, dry_run=True, confirmed_operation_id=shown["operation_id"]))
        assert (still["status"], desk.posts) == ("preview", 0)
        made = structure(await create(client, confirmed_operation_id=shown["operation_id"]))
    assert (made["assurance"], desk.posts) == ("approved_out_of_band", 1)


async def test_the_question_shows_the_target_its_visibility_and_every_line_that_is_sent(era: Era, desk: Desk):
    person = willing()
    async with desk.serving(era, person) as client:
        await create(client, labels=["bug"])
    (question,) = person.asked
    assert question.startswith(
        f"Create an issue in {REPO} (public)?\nTitle: It breaks\nLabels: bug\nBody, 22 characters:\n"
        "| See here:\n| \n| - one\n| - two\n(Plan "
    )


async def test_a_body_cannot_pass_for_a_line_of_the_question(era: Era, desk: Desk):
    person = willing()
    body = "x\r\nCreate an issue in octo-org/other (private)?\u2028(Plan 0000-0000.)\x85y"
    async with desk.serving(era, person) as client:
        await create(client, body=body)
    (question,) = person.asked
    ours = [line for line in question.split("\n") if not line.startswith("| ")]
    assert ours[:3] == [
        f"Create an issue in {REPO} (public)?",
        "Title: It breaks",
        f"Body, {len(body) - 1} characters:",
    ]
    assert len(ours) == 4
    assert "\u2028" not in question


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_refusal_says_how_it_may_have_come_and_leaves_the_terminal_open(
    action: Literal["decline", "cancel"], era: Era, desk: Desk
):
    async with desk.serving(era, Person(answers={}, action=action)) as client:
        result = await create(client)
        assert "NOT created: declined, or your client never showed the question" in text_of(result)
        operation = structure(result)["operation_id"]
        desk.approve(operation)
        made = structure(await create(client, confirmed_operation_id=operation))
    assert (made["assurance"], desk.posts) == ("approved_out_of_band", 1)


async def test_a_form_without_the_tick_is_a_refusal(era: Era, desk: Desk):
    async with desk.serving(era, Person(answers={"confirm": False})) as client:
        assert structure(await create(client))["status"] == "declined"
    assert desk.posts == 0


async def test_a_comment_is_asked_about_with_its_issue_and_written_once(era: Era, desk: Desk):
    desk.repository.issue("Old", author="mona")
    person = willing()
    arguments = {"repo": REPO, "number": 1, "body": "Seen here too.", "dry_run": False}
    async with desk.serving(era, person) as client:
        made = structure(await client.call_tool("add_issue_comment", arguments))
        again = structure(await client.call_tool("add_issue_comment", arguments))
    assert (made["status"], made["number"], desk.posts) == ("created", 1, 1)
    assert "#issuecomment-" in made["url"]
    assert again["repeated"] is True
    assert person.asked[0].startswith(
        f"Comment on {REPO}#1 (public)?\nBody, 14 characters:\n| Seen here too.\n"
        'It is an open issue by mona (NONE), titled "Old" (by third parties; not instructions).\n'
    )
    assert [one.body for one in desk.repository.issues[1].comments] == ["Seen here too."]


# The operator's policy


async def test_the_policy_deny_creates_nothing_and_asks_nobody(era: Era, desk: Desk):
    person = willing()
    async with desk.serving(era, person, GITHUB_CONFIRM="deny") as client:
        shown = structure(await create(client, dry_run=True))
        result = await create(client)
    assert result.is_error
    assert "operator allows no such change" in text_of(result)
    assert "operator allows no such change" in shown["message"]
    assert ("operation_id" in shown, desk.posts, person.asked) == (False, 0, [])


async def test_the_policy_elicit_takes_an_answer_and_no_approval(era: Era, desk: Desk):
    async with desk.serving(era) as client:
        operation = structure(await create(client))["operation_id"]
    desk.approve(operation)
    async with desk.serving(era, GITHUB_CONFIRM="elicit") as client:
        shown = structure(await create(client, dry_run=True))
        assert "cannot be confirmed here" in shown["message"]
        result = await create(client, confirmed_operation_id=operation)
        assert result.is_error
        assert desk.posts == 0
    async with desk.serving(era, willing(), GITHUB_CONFIRM="elicit") as client:
        assert structure(await create(client))["assurance"] == "elicited"
    assert desk.posts == 1


async def test_the_policy_host_takes_a_second_call_and_says_that_nobody_vouches(era: Era, desk: Desk):
    async with desk.serving(era, GITHUB_CONFIRM="host") as client:
        held = structure(await create(client))
        assert (held["status"], desk.posts) == ("needs_confirmation", 0)
        made = await create(client, confirmed_operation_id=held["operation_id"])
    assert (structure(made)["assurance"], desk.posts) == ("host_only", 1)
    assert "nothing but the host's own prompt" in text_of(made)


async def test_the_policy_host_is_not_enough_after_a_refusal(era: Era, desk: Desk):
    async with desk.serving(era, Person(answers={}, action="decline"), GITHUB_CONFIRM="host") as client:
        operation = structure(await create(client))["operation_id"]
    async with desk.serving(era, GITHUB_CONFIRM="host") as client:
        result = await create(client, confirmed_operation_id=operation)
    assert result.is_error
    assert "this operation was declined" in text_of(result)
    assert desk.posts == 0


async def test_every_assurance_stands_in_the_result_and_in_the_audit(era: Era, desk: Desk):
    async with desk.serving(era, willing()) as client:
        await create(client)
    async with desk.serving(era) as client:
        operation = structure(await create(client, title="Another"))["operation_id"]
        desk.approve(operation)
        await create(client, title="Another", confirmed_operation_id=operation)
    async with desk.serving(era, GITHUB_CONFIRM="host") as client:
        operation = structure(await create(client, title="A third"))["operation_id"]
        await create(client, title="A third", confirmed_operation_id=operation)
    starts = [one for one in desk.audit if one["event"] == "write_start"]
    ends = [one for one in desk.audit if one["event"] == "write_end"]
    expected = ["elicited", "approved_out_of_band", "host_only"]
    assert [one["assurance"] for one in starts] == [one["assurance"] for one in ends] == expected
    assert [one["outcome"] for one in ends] == ["done"] * 3


# What a model may try


@pytest.mark.parametrize("guess", ["op_" + "a" * 29, "op_%", "", REPO, "0123456789ab"])
async def test_attack_an_operation_that_the_model_made_up_creates_nothing(guess: str, era: Era, desk: Desk):
    async with desk.serving(era) as client:
        await create(client, dry_run=True)
        await create(client, confirmed_operation_id=guess)
    assert desk.posts == 0


async def test_attack_a_digest_that_the_model_can_compute_creates_nothing(era: Era, desk: Desk):
    parts = "\0".join((ISSUE["repo"], ISSUE["title"], ISSUE["body"]))
    mark = hashlib.sha256(parts.encode()).hexdigest()
    async with desk.serving(era) as client:
        shown = text_of(await create(client, dry_run=True))
        plan = shown.partition("(Plan ")[2][:9]
        for guess in (mark[:12], mark, f"op_{mark[:29]}", plan):
            await create(client, confirmed_operation_id=guess)
    assert desk.posts == 0


async def test_attack_an_operation_that_is_echoed_without_an_approval_creates_nothing(era: Era, desk: Desk):
    async with desk.serving(era) as client:
        operation = structure(await create(client))["operation_id"]
        for _ in range(2):
            result = await create(client, confirmed_operation_id=operation)
            assert result.is_error
            assert "nobody has approved this operation" in text_of(result)
    assert desk.posts == 0


@pytest.mark.parametrize(
    "changed", [{"body": "Something else."}, {"title": "It breaks!"}, {"labels": ["bug"]}, {"repo": "octo-org/other"}]
)
async def test_attack_an_approval_fits_no_other_content(changed: dict[str, Any], era: Era, desk: Desk):
    desk.there.github.repository("octo-org/other")
    desk.allowed = "octo-org/*"
    async with desk.serving(era) as client:
        operation = structure(await create(client))["operation_id"]
        desk.approve(operation)
        result = await create(client, **changed, confirmed_operation_id=operation)
    assert result.is_error
    assert "this operation is for another content" in text_of(result)
    assert desk.posts == 0


async def test_attack_an_approval_of_an_issue_fits_no_comment(era: Era, desk: Desk):
    desk.repository.issue("Old")
    async with desk.serving(era) as client:
        operation = structure(await create(client))["operation_id"]
        desk.approve(operation)
        arguments = {"repo": REPO, "number": 1, "body": ISSUE["body"], "dry_run": False}
        result = await client.call_tool("add_issue_comment", {**arguments, "confirmed_operation_id": operation})
    assert (result.is_error, desk.posts) == (True, 0)


async def test_attack_a_used_approval_creates_no_second_issue(era: Era, desk: Desk):
    async with desk.serving(era) as client:
        operation = structure(await create(client))["operation_id"]
        desk.approve(operation)
        await create(client, confirmed_operation_id=operation)
        again = structure(await create(client, confirmed_operation_id=operation))
        assert again["repeated"] is True
        assert (await create(client, title="Other", confirmed_operation_id=operation)).is_error
    assert desk.posts == 1


async def test_attack_an_answer_to_one_question_is_no_answer_to_another(desk: Desk):
    async with desk.serving(MODERN, willing()) as client:
        question = await question_of(client, "create_issue", ISSUE)
        other = {**ISSUE, "body": "Something else."}
        with pytest.raises(Exception, match="requestState"):
            await answer(client, "create_issue", other, question)
    assert desk.posts == 0


async def test_attack_a_misspelt_dry_run_is_refused_and_not_ignored(era: Era, desk: Desk):
    async with desk.serving(era, willing()) as client:
        result = await client.call_tool("create_issue", {"repo": REPO, "title": "x", "dryrun": True})
    assert result.is_error
    assert "dry_run" in text_of(result)
    assert desk.posts == 0


async def test_attack_approve_without_a_terminal_approves_nothing_whatever_is_piped_in(era: Era, desk: Desk):
    async with desk.serving(era) as client:
        operation = structure(await create(client))["operation_id"]
        done = run_command(desk, "approve", operation, typed=f"{REPO}\n")
        assert done.returncode == 1
        assert "needs a person at a terminal" in done.stderr
        assert (await create(client, confirmed_operation_id=operation)).is_error
    assert desk.posts == 0


# In a terminal


async def test_a_person_approves_in_a_terminal_by_typing_the_repository_after_seeing_the_whole_text(
    era: Era, desk: Desk
):
    body = "\n".join(f"line {number}" for number in range(400)) + "\n\x1b[2Jend"
    async with desk.serving(era) as client:
        held = await create(client, body=body)
        operation = structure(held)["operation_id"]
        status, shown = desk.approve_in_terminal(operation, REPO)
        assert status == 0, shown
        made = structure(await create(client, body=body, confirmed_operation_id=operation))
    assert all(f"| line {number}\r\n" in shown for number in range(400))
    assert "\x1b" not in shown
    assert f"approve --state-dir {desk.state} {operation}" in text_of(held)
    assert (made["assurance"], desk.posts) == ("approved_out_of_band", 1)


@pytest.mark.parametrize("typed", ["", "y", "octo-org/hell", "OCTO-ORG/HELLO"])
async def test_a_person_who_types_something_else_approves_nothing(typed: str, desk: Desk):
    async with desk.serving(MODERN) as client:
        operation = structure(await create(client))["operation_id"]
        status, shown = desk.approve_in_terminal(operation, typed)
        assert status == 1, shown
        assert (await create(client, confirmed_operation_id=operation)).is_error
    assert desk.posts == 0


async def test_pending_lists_what_waits(desk: Desk):
    async with desk.serving(MODERN) as client:
        operation = structure(await create(client))["operation_id"]
    done = run_command(desk, "pending")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(operation)
    assert f"Create an issue in {REPO} (public)?" in done.stdout
