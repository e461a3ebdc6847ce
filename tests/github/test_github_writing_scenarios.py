"""What users of GitHub servers asked for and complained about, as far as writing goes; numbers as in the collection.

Each is named after the issue that it comes from. Those about reading stand in tests/github/server.
"""

from collections.abc import Callable
from typing import Any

import pytest

from mcp_curated_shared.testing.clients import LEGACY, MODERN, Era, Person
from tests.github.desk import ISSUE, REPO, Desk, answer, create, question_of, structure, willing
from tests.github.double import faults
from tests.github.double.faults import Fault
from tests.github.serving import refused, text_of

pytestmark = pytest.mark.anyio


async def test_16_gmcp_844_a_public_target_is_warned_about_after_private_reads(era: Era, desk: Desk):
    github = desk.there.github
    github.repository("octocat/secret", private=True).file("plan.txt", "hidden").issue("Hidden", "matter")
    github.repository("octo-org/open").file("README.md", "open")
    person = willing()
    warning = "Warning: everybody can read this repository, and private repositories were read before."
    for tool, arguments in (
        ("get_file", {"repo": "octocat/secret", "path": "plan.txt"}),
        ("get_issue", {"repo": "octocat/secret", "number": 1}),
        ("search_issues", {"query": "matter"}),
        ("search_repos", {"query": "secret"}),
    ):
        async with desk.serving(era, person) as client:
            assert not (await client.call_tool("get_readme", {"repo": "octo-org/open"})).is_error
            assert warning not in text_of(await create(client, dry_run=True))
            assert not (await client.call_tool(tool, arguments)).is_error
            assert warning in text_of(await create(client, dry_run=True)), tool
            await create(client, title=tool)
            assert warning in person.asked[-1]


async def test_16_gmcp_844_a_private_target_is_named_as_private_and_not_warned_about(era: Era, desk: Desk):
    desk.repository.private = True
    desk.repository.file("README.md", "hidden")
    async with desk.serving(era) as client:
        await client.call_tool("get_readme", {"repo": REPO})
        told = text_of(await create(client))
    assert f"Create an issue in {REPO} (private)?" in told
    assert "Warning" not in told


@pytest.mark.parametrize("allowed", ["", " ", ",", " ,\n"])
async def test_19_projects_4_an_empty_list_allows_no_write(allowed: str, era: Era, desk: Desk):
    desk.allowed = allowed
    async with desk.serving(era, willing()) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert not {"create_issue", "add_issue_comment"} & names


async def test_20_gmcp_798_a_preview_says_in_both_forms_that_nothing_was_created(era: Era, desk: Desk):
    async with desk.serving(era) as client:
        result = await create(client, dry_run=True)
    shown = structure(result)
    assert text_of(result).startswith("NOT created")
    assert (shown["status"], shown["message"][:11]) == ("preview", "NOT created")
    assert "number" not in shown
    assert "url" not in shown
    assert desk.posts == 0


@pytest.mark.parametrize("repo", ["evil/hello", "octo-org/hello2", "octo-org/hell", "OCTO-ORG-X/hello"])
async def test_21_servers_3751_a_repository_that_is_not_listed_is_refused_without_a_request(
    repo: str, era: Era, desk: Desk
):
    desk.there.github.repository("evil/hello")
    async with desk.serving(era, willing()) as client:
        for dry_run in (True, False):
            told, facts = await refused(client, "create_issue", **{**ISSUE, "repo": repo, "dry_run": dry_run})
            assert facts["kind"] == "not_allowed", told
            assert "GITHUB_ALLOWED_REPOS" in told
        comment = {"repo": repo, "number": 1, "body": "x", "dry_run": False}
        assert (await refused(client, "add_issue_comment", **comment))[1]["kind"] == "not_allowed"
    assert len(desk.there.journal) == 0


async def test_21_the_letter_case_of_a_listed_repository_does_not_count(era: Era, desk: Desk):
    async with desk.serving(era, willing()) as client:
        made = structure(await create(client, repo="Octo-Org/HELLO"))
        again = structure(await create(client))
    assert (made["repo"], again["repeated"], desk.posts) == (REPO, True, 1)


BAD_NAMES = (
    *("", "hello", "a/b/c", "../hello", "octo-org/..", "octo-org/.", "octo-org/hello/../../other/private"),
    *("octo-org/hello?x=", "octo-org/hello#x", "octo-org/hello%2F..", "octo-org/hello.git", "\u043ecto-org/hello"),
    *("octo-org/hel lo", "octo-org/hello\n"),
)


@pytest.mark.parametrize("repo", BAD_NAMES)
async def test_22_servers_4492_a_name_that_is_none_is_refused_without_a_request(repo: str, desk: Desk):
    desk.allowed = "octo-org/*"
    async with desk.serving(MODERN, willing()) as client:
        result = await create(client, repo=repo)
    assert result.is_error
    assert len(desk.there.journal) == 0


async def test_29_gmcp_144_without_a_token_a_write_says_how_to_give_one(era: Era, desk: Desk):
    desk.token = ""
    async with desk.serving(era, willing(), GITHUB_TOKEN_FILE="") as client:
        assert "create_issue" in [tool.name for tool in (await client.list_tools()).tools]
        told, facts = await refused(client, "create_issue", **ISSUE)
    assert facts["kind"] == "no_token"
    assert "set GITHUB_TOKEN, or GITHUB_TOKEN_FILE, or GITHUB_USE_GH=1" in told
    assert desk.posts == 0


REFUSALS: list[tuple[Fault, str, str]] = [
    (faults.bad_token(), "bad_token", "does not take the token"),
    (faults.rate_limited(seconds=120), "rate_limit", "rate limit is used up"),
    (faults.secondary_limit(retry_after=None), "secondary_rate_limit", "Wait 60 s"),
    (faults.secondary_limit(retry_after=5, status=429), "secondary_rate_limit", "Wait 5 s"),
    (faults.abuse_detected(), "secondary_rate_limit", "Wait 60 s"),
    (faults.sso_required("octo-org"), "sso_required", "single sign-on of the organisation octo-org"),
    (faults.ip_blocked(), "ip_blocked", "IP allow list"),
    (faults.forbidden("issues=write"), "forbidden", "needs a token with issues=write"),
    (faults.missing(), "not_found_or_hidden", "It is not on 127.0.0.1, or this token cannot see it"),
    (faults.issues_disabled(), "issues_disabled", "issues switched off"),
    (faults.invalid_fields(), "validation", "Label name invalid"),
]


@pytest.mark.parametrize(("fault", "kind", "words"), REFUSALS, ids=lambda one: getattr(one, "name", None))
async def test_31_to_42_a_write_that_github_refuses_tells_why_and_is_not_repeated(
    fault: Fault, kind: str, words: str, desk: Desk
):
    desk.there.faults.on("issues/create", fault)
    async with desk.serving(MODERN, willing()) as client:
        told, facts = await refused(client, "create_issue", **ISSUE)
    assert facts["kind"] == kind
    assert words.lower().replace(".name", " name") in told.lower().replace(".name", " name")
    assert (desk.posts, len(desk.repository.issues)) == (1, 0)
    assert [one["outcome"] for one in desk.audit if one["event"] == "write_end"] == ["failed"]


async def test_36_gmcp_2386_a_limit_tells_a_program_when_to_come_back(era: Era, desk: Desk):
    desk.there.faults.on("issues/create", faults.rate_limited(seconds=120))
    async with desk.serving(era, willing()) as client:
        _, facts = await refused(client, "create_issue", **ISSUE)
    assert 100 <= facts["retry_after_s"] <= 120


async def test_39_servers_488_a_validation_error_lists_its_fields_and_at_most_five(era: Era, desk: Desk):
    fields: list[dict[str, object]] = [
        {"resource": "Label", "field": f"name{one}", "code": "invalid"} for one in range(7)
    ]
    desk.there.faults.on("issues/create", faults.invalid_fields(*fields))
    async with desk.serving(era, willing()) as client:
        told, _ = await refused(client, "create_issue", **ISSUE)
    assert all(f"name{one} invalid" in told for one in range(5))
    assert "and 2 more" in told


async def test_40_gmcp_1317_only_given_fields_are_sent(era: Era, desk: Desk):
    async with desk.serving(era, willing()) as client:
        await create(client)
        await create(client, title="With labels", labels=["bug"])
    sent: list[Any] = [post.json for post in desk.there.journal.posts]
    assert [sorted(one) for one in sent] == [["body", "title"], ["body", "labels", "title"]]


async def test_41_servers_720_a_repository_that_is_not_there_is_told_before_anybody_is_asked(era: Era, desk: Desk):
    person = willing()
    desk.allowed = "octo-org/*"
    async with desk.serving(era, person) as client:
        told, facts = await refused(client, "create_issue", **{**ISSUE, "repo": "octo-org/missing"})
    assert facts["kind"] == "not_found_or_hidden"
    assert "fine-grained tokens hide repositories" in told
    assert (desk.posts, person.asked) == (0, [])


async def test_42_a_repository_without_issues_is_told_before_anybody_is_asked(era: Era, desk: Desk):
    desk.repository.has_issues = False
    person = willing()
    async with desk.serving(era, person) as client:
        told, facts = await refused(client, "create_issue", **ISSUE)
    assert facts["kind"] == "issues_disabled"
    assert "Do not try again" in told
    assert (desk.posts, person.asked) == (0, [])


async def test_42_an_archived_repository_is_told_before_anybody_is_asked(era: Era, desk: Desk):
    desk.repository.archived = True
    person = willing()
    async with desk.serving(era, person) as client:
        _, facts = await refused(client, "create_issue", **ISSUE)
    assert (facts["kind"], desk.posts, person.asked) == ("archived", 0, [])


@pytest.mark.parametrize("labels", ['["bug", "question"]', ["bug", "question"]])
async def test_43_servers_715_labels_are_taken_as_a_list_or_as_its_json(labels: Any, era: Era, desk: Desk):
    async with desk.serving(era, willing()) as client:
        assert "warnings" not in structure(await create(client, labels=labels))
    assert desk.repository.issues[1].labels == ["bug", "question"]


@pytest.mark.parametrize("labels", ["bug", [{"name": "bug"}], "[1]", {"name": "bug"}])
async def test_43_servers_715_labels_in_another_form_are_refused_in_one_clear_line(labels: Any, era: Era, desk: Desk):
    async with desk.serving(era, willing()) as client:
        told, _ = await refused(client, "create_issue", **ISSUE, labels=labels)
    assert "labels" in told
    assert len(desk.there.journal) == 0


async def test_44_gmcp_2413_labels_that_were_not_set_are_a_warning_and_no_error(era: Era, desk: Desk):
    desk.repository.collaborators.clear()
    async with desk.serving(era, willing()) as client:
        made = structure(await create(client, labels=["bug", "Question"]))
        again = structure(await create(client, labels=["bug", "Question"]))
    assert made["status"] == "created"
    assert made["warnings"] == ["These labels were not set, since the token's account may not: bug, Question."]
    assert (again["warnings"], desk.posts) == (made["warnings"], 1)


async def test_44_many_long_labels_that_were_not_set_leave_the_reply_short(desk: Desk):
    desk.repository.collaborators.clear()
    labels = [f"{number:03}" + "\U0001f600" * 47 for number in range(100)]
    async with desk.serving(MODERN, willing()) as client:
        result = await create(client, labels=labels)
    assert structure(result)["warnings"]
    assert len(result.model_dump_json().encode()) <= 24_000


async def test_46_charlie_85_a_renamed_repository_is_asked_about_by_its_new_name(era: Era, desk: Desk):
    desk.allowed = f"{REPO} octo-org/new"
    desk.repository.rename("octo-org/new")
    person = willing()
    async with desk.serving(era, person) as client:
        made = structure(await create(client))
    assert person.asked[0].startswith("Create an issue in octo-org/new (public)?")
    assert f"Note: {REPO} is called octo-org/new now." in person.asked[0]
    assert made["repo"] == "octo-org/new"
    assert [post.path for post in desk.there.journal.posts] == ["/repos/octo-org/new/issues"]


async def test_46_ghi_267_a_new_name_that_is_not_listed_is_refused(era: Era, desk: Desk):
    desk.repository.rename("evil/new")
    person = willing()
    async with desk.serving(era, person) as client:
        told, facts = await refused(client, "create_issue", **ISSUE)
    assert facts["kind"] == "not_allowed"
    assert f"{REPO} is now evil/new" in told
    assert (desk.posts, person.asked) == (0, [])


async def test_46_a_rename_after_the_consent_is_not_followed_and_asked_about_again(era: Era, desk: Desk):
    desk.allowed = "octo-org/*"

    class Renamer(Person):
        async def answer(self, context: Any, params: Any) -> Any:
            if not self.asked:
                desk.there.faults.on(
                    "issues/create",
                    faults.redirected(f"{desk.there.url}/repositories/{desk.repository.id}/issues", 307),
                )
            return await super().answer(context, params)

    person = Renamer(answers={"confirm": True})
    async with desk.serving(era, person) as client:
        told, facts = await refused(client, "create_issue", **ISSUE)
        assert facts["kind"] == "renamed", told
        assert "Nothing was written" in told
        desk.repository.rename("octo-org/new")
        assert structure(await create(client))["repo"] == "octo-org/new"
    assert (desk.posts, len(person.asked), len(desk.repository.issues)) == (2, 2, 1)


async def test_46_an_approval_is_for_the_repository_and_not_for_who_takes_its_name(era: Era, desk: Desk):
    async with desk.serving(era) as client:
        operation = structure(await create(client))["operation_id"]
        desk.approve(operation)
        desk.repository.rename("octo-org/moved")
        squatter = desk.there.github.repository(REPO)
        result = await create(client, confirmed_operation_id=operation)
    assert result.is_error
    assert "for another content" in text_of(result)
    assert (desk.posts, squatter.issues) == (0, {})


async def test_46_a_repository_that_becomes_public_while_its_question_is_open_is_asked_about_again(desk: Desk):
    desk.repository.private = True
    async with desk.serving(MODERN, willing()) as client:
        question = await question_of(client, "create_issue", ISSUE)
        desk.repository.private = False
        again = await answer(client, "create_issue", ISSUE, question)
    assert desk.posts == 0
    assert again.input_requests


class Meddler(Person):
    """While this one reads the question, something else happens."""

    def __init__(self, meddle: Callable[[], object]) -> None:
        super().__init__(answers={"confirm": True})
        self.meddle = meddle

    async def answer(self, context: Any, params: Any) -> Any:
        if not self.asked:
            self.meddle()
        return await super().answer(context, params)


async def test_46_what_becomes_public_before_the_answer_to_its_question_is_not_written(desk: Desk):
    desk.repository.private = True
    person = Meddler(lambda: setattr(desk.repository, "private", False))
    async with desk.serving(LEGACY, person) as client:
        told, facts = await refused(client, "create_issue", **ISSUE)
        assert (facts["kind"], desk.posts) == ("changed", 0), told
        made = structure(await create(client))
    assert "(private) is not what it was" in told
    assert "(public)" in person.asked[1]
    assert (made["status"], made["visibility"], desk.posts) == ("created", "public", 1)


@pytest.mark.parametrize("tool", ["create_issue", "add_issue_comment"])
async def test_46_who_takes_the_name_before_the_answer_to_its_question_gets_nothing(tool: str, desk: Desk):
    desk.allowed = "octo-org/*"
    desk.repository.issue("There")

    def meddle() -> None:
        desk.repository.rename("octo-org/moved")
        squatter = desk.there.github.repository(REPO)
        squatter.collaborators.add("octocat")
        squatter.issue("Another")

    arguments = ISSUE if tool == "create_issue" else {"repo": REPO, "number": 1, "body": "x", "dry_run": False}
    async with desk.serving(LEGACY, Meddler(meddle)) as client:
        told, facts = await refused(client, tool, **arguments)
    assert (facts["kind"], desk.posts) == ("changed", 0), told


@pytest.mark.parametrize("changed", [{"id": None}, {"id": 0}, {"full_name": "../x"}, {"full_name": None}])
async def test_46_a_repository_that_says_not_which_it_is_is_not_written_to(changed: dict[str, Any], desk: Desk):
    odd = {"id": 7, "full_name": REPO, "visibility": "public"} | changed
    desk.there.faults.always(faults.wrong_shape(odd), on="repos/get")
    async with desk.serving(MODERN, willing()) as client:
        told, facts = await refused(client, "create_issue", **ISSUE)
    assert (facts["kind"], desk.posts) == ("bad_response", 0), told


async def test_46_an_issue_that_was_moved_to_another_repository_gets_no_comment(era: Era, desk: Desk):
    other = desk.there.github.repository("octo-org/other")
    issue = desk.repository.issue("Moved")
    issue.moved_to = (other, other.issue("Moved").number)
    async with desk.serving(era, willing()) as client:
        told, facts = await refused(client, "add_issue_comment", repo=REPO, number=1, body="x", dry_run=False)
    assert facts["kind"] == "renamed", told
    assert "octo-org/other" in told
    assert desk.posts == 0


async def test_18_a_target_that_may_not_be_read_may_be_written_to_and_gives_nothing_away(era: Era, desk: Desk):
    desk.repository.issue("Hidden title", "matter")
    person = willing()
    async with desk.serving(era, person, GITHUB_READ_REPOS="octo-org/other") as client:
        assert (await client.call_tool("get_issue", {"repo": REPO, "number": 1})).is_error
        result = await client.call_tool("add_issue_comment", {"repo": REPO, "number": 1, "body": "x", "dry_run": False})
    assert structure(result)["status"] == "created"
    assert "Hidden" not in text_of(result) + "".join(person.asked)


async def test_17_gmcp_3112_no_header_and_no_policy_switches_the_question_off(era: Era, desk: Desk):
    for policy in ("ask", "elicit", "host", "deny"):
        for tool, more in (("create_issue", {"title": "x"}), ("add_issue_comment", {"number": 1})):
            async with desk.serving(era, GITHUB_CONFIRM=policy) as client:
                arguments = {"repo": REPO, "body": "x", "dry_run": False, **more}
                await client.call_tool(tool, arguments)
    assert desk.posts == 0
