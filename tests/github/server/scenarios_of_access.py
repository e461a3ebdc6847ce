"""Scenarios about what may be read, hosts, tokens and rate limits."""

import logging
from typing import Any, Final

import pytest

from mcp_curated_github.settings import GithubSettings
from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings import load
from tests.github.double import ChangedFile, double, faults
from tests.github.double.credentials import token_text
from tests.github.server.scenes import Scene, scenario, whole
from tests.github.serving import found, refused

BAD_NAMES: Final = (
    "../x", "a/..", "a/b/c", "hello/../../other/private", "hello?x=/y", "a/b?x=1", "a/b#x", "a/%2e%2e", "a/b%2Fc", "a",
    "/b", "a/", "a b/c", "a/b.git",
)  # fmt: skip


# Trust


@scenario(17, "gmcp#3105")
async def what_may_be_read_bounds_every_tool_and_resource(scene: Scene) -> None:
    for name in ("octo-org/open", "evil/x"):
        made = scene.github.repository(name).file("README.md", "breaks here").file("a.py", "breaks")
        made.issue("breaks")
        made.pull_request("breaks too", files=[ChangedFile("a.py")])
        scene.github.account("octocat").star(made)
    evil = {"repo": "evil/x"}
    arguments: dict[str, dict[str, Any]] = {
        "search_repos": {"query": "x"}, "search_code": {"query": "breaks"}, "search_issues": {"query": "breaks"},
        "get_file": evil | {"path": "a.py"}, "get_readme": evil, "get_issue": evil | {"number": 1},
        "get_pull_request": evil | {"number": 2}, "list_starred": {}, "whoami": {},
    }  # fmt: skip
    async with scene.client(GITHUB_READ_REPOS="octo-org/*") as client:
        for tool in (await client.list_tools()).tools:
            result = await client.call_tool(tool.name, arguments[tool.name])
            assert result.is_error == ("repo" in arguments[tool.name]), tool.name
            hits = (result.structured_content or {}).get("hits", [])
            assert all(hit["repo"] == "octo-org/open" for hit in hits), tool.name
            assert "total" not in (result.structured_content or {})
        for uri in ("github://repos/evil/x/readme", "github://repos/evil/x/contents/a.py"):
            with pytest.raises(Exception, match="may be read"):
                await client.read_resource(uri)
        stars = await client.read_resource("github://user/starred")
        assert "evil" not in str(stars.contents)
    assert not any("evil" in one.request.target for one in scene.there.journal)


@scenario(18, "gmcp#1685")
async def a_repository_that_may_not_be_read_is_not_asked_for(scene: Scene) -> None:
    async with scene.client(GITHUB_READ_REPOS="octo/*") as client:
        told, facts = await refused(client, "get_file", repo="evil/x", path="a")
        assert facts["kind"] == "not_allowed" and "GITHUB_READ_REPOS" in told
        for tool, arguments in (
            ("search_issues", {"query": "x", "repo": "evil/x"}),
            ("search_code", {"query": "x", "owner": "evil"}),
            ("search_repos", {"query": "x user:evil"}),
        ):
            await refused(client, tool, **arguments)
    assert len(scene.there.journal) == 0


@scenario(19, "mcp-github-projects-PR#4")
async def no_allowlist_means_that_no_tool_writes(scene: Scene) -> None:
    for text in ("", ",", " , ,"):
        async with scene.client(GITHUB_ALLOWED_REPOS=text) as client:
            tools = (await client.list_tools()).tools
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)


# Paths and hosts


@scenario(22, "servers#4492")
async def a_bad_name_is_refused_before_any_request(scene: Scene) -> None:
    async with scene.client() as client:
        for name in BAD_NAMES:
            _, facts = await refused(client, "get_issue", repo=name, number=1)
            assert facts["kind"] == "invalid_argument"
        for path in ("../../../../user/emails", "a/../../b", "..", "./a", "a//b"):
            await refused(client, "get_file", repo="octo-org/hello", path=path)
    assert len(scene.there.journal) == 0


@scenario(24, "gmcp-51ea58e7")
async def escaped_dots_are_a_name_and_lead_nowhere(scene: Scene) -> None:
    scene.github.repository("octo-org/hello").file("a", "x")
    async with scene.client() as client:
        await refused(client, "get_file", repo="octo-org/hello", path="%2e%2e%2f%2e%2e/user")
    (asked,) = scene.there.journal
    assert asked.request.target == "/repos/octo-org/hello/contents/%252e%252e%252f%252e%252e/user"


@scenario(25, "gmcp#2000")
async def a_host_that_ends_alike_is_another_host(scene: Scene) -> None:
    scene.there.faults.next(faults.redirected("https://mycompanygithub.com/x"))
    async with scene.client() as client:
        _, facts = await refused(client, "get_issue", repo="octo-org/hello", number=1)
        assert facts["kind"] == "bad_response"
    with pytest.raises(SettingsError):
        load(GithubSettings, [], {"GITHUB_API_URL": "https://github.com"})


@scenario(26, "gmcp-0c825b42")
async def an_unprotected_host_stops_the_start(scene: Scene) -> None:
    del scene
    with pytest.raises(SettingsError) as refusal:
        load(GithubSettings, [], {"GITHUB_API_URL": "http://ghe.example/api/v3", "GITHUB_TOKEN": token_text("classic")})
    assert "GITHUB_API_URL" in str(refusal.value)


@scenario(27, "PowerToys#48782")
async def the_token_goes_to_nobody_else_and_addresses_in_texts_are_not_fetched(scene: Scene) -> None:
    async with double() as elsewhere:
        issue = scene.github.repository("octo-org/hello").issue("t", f"See {elsewhere.url}/repos/a/b/issues/1")
        issue.comment(f"![x]({elsewhere.url}/x.png)")
        scene.there.faults.on("pulls/get", faults.redirected(f"{elsewhere.url}/repos/octo-org/hello/pulls/1", 302))
        async with scene.client() as client:
            await found(client, "get_issue", repo="octo-org/hello", number=1)
            await refused(client, "get_pull_request", repo="octo-org/hello", number=1)
        assert len(elsewhere.journal) == 0


@scenario(28, "copilot-cli#3248")
async def what_is_not_found_names_the_host_that_was_asked(scene: Scene) -> None:
    async with scene.client() as client:
        told, _ = await refused(client, "get_readme", repo="octo-org/elsewhere")
        assert "127.0.0.1" in told


# Tokens


@scenario(29, "gmcp#144")
async def without_a_token_public_data_is_read(scene: Scene) -> None:
    scene.github.repository("octo-org/hello").file("README.md", "Hi")
    async with scene.client(anonymous=True) as client:
        assert len((await client.list_tools()).tools) == 9
        assert (await found(client, "search_repos", query="hello"))["hits"]
        assert (await found(client, "get_readme", repo="octo-org/hello"))["text"] == "Hi"
        assert (await found(client, "whoami"))["authenticated"] is False
        for tool, arguments in (("list_starred", {}), ("search_code", {"query": "x"})):
            told, facts = await refused(client, tool, **arguments)
            assert facts["kind"] == "no_token"
            assert "GITHUB_TOKEN, or GITHUB_TOKEN_FILE, or GITHUB_USE_GH=1" in told


@scenario(30, "gmcp#357")
async def the_token_may_have_other_names_and_is_never_a_placeholder(scene: Scene) -> None:
    for name in ("GH_TOKEN", "GITHUB_PERSONAL_ACCESS_TOKEN"):
        async with scene.client(anonymous=True, **{name: scene.token}) as client:
            assert (await found(client, "whoami"))["login"] == "octocat"
    with pytest.raises(SettingsError):
        load(GithubSettings, [], {"GITHUB_TOKEN": "${input:github_token}"})


@scenario(31, "servers#727")
async def a_hidden_repository_is_told_as_one_that_may_be_hidden(scene: Scene) -> None:
    scene.github.repository("mona/secret", private=True)
    async with scene.client() as client:
        told, facts = await refused(client, "get_readme", repo="mona/secret")
        assert facts["kind"] == "not_found_or_hidden"
        assert "token cannot see it" in told and "fine-grained" in told


@scenario(32, "gmcp#1121")
async def single_sign_on_names_the_organisation_only(scene: Scene) -> None:
    scene.there.faults.next(faults.sso_required("octo-org"))
    async with scene.client() as client:
        told, facts = await refused(client, "get_readme", repo="octo-org/hello")
        assert facts["kind"] == "sso_required" and "octo-org" in told and "authorization_request" not in told


@scenario(33, "gmcp#748")
async def an_address_that_is_not_let_in_is_told_so(scene: Scene) -> None:
    scene.there.faults.next(faults.ip_blocked())
    async with scene.client() as client:
        told, facts = await refused(client, "get_readme", repo="octo-org/hello")
        assert facts["kind"] == "ip_blocked" and "IP allow list" in told


@scenario(34, "usethis")
async def a_missing_permission_is_named(scene: Scene) -> None:
    scene.there.faults.next(faults.forbidden("issues=write"))
    async with scene.client() as client:
        told, facts = await refused(client, "get_readme", repo="octo-org/hello")
        assert facts["kind"] == "forbidden" and "issues=write" in told


@scenario(35, "cherry-studio#18648")
async def the_token_is_in_no_result(scene: Scene) -> None:
    repository = scene.github.repository("octo-org/hello").file("README.md", f"token: {scene.token}\n")
    repository.issue("t", f"{scene.token}", comments=[scene.token])
    logging.getLogger().setLevel(logging.DEBUG)
    try:
        async with scene.client() as client:
            for tool, arguments in (
                ("get_readme", {"repo": "octo-org/hello"}),
                ("get_issue", {"repo": "octo-org/hello", "number": 1}),
                ("whoami", {}),
            ):
                assert scene.token not in (await whole(client, tool, **arguments)).model_dump_json()
            assert scene.token not in str(await client.read_resource("config://main"))
            assert scene.token not in str(await client.read_resource("github://repos/octo-org/hello/readme"))
    finally:
        logging.getLogger().setLevel(logging.WARNING)


# Rate limits


@scenario(36, "gmcp-PR#2386")
async def a_spent_limit_says_when_to_come_back(scene: Scene) -> None:
    scene.there.faults.next(faults.rate_limited(seconds=120))
    async with scene.client() as client:
        told, facts = await refused(client, "get_readme", repo="octo-org/hello")
        assert facts["kind"] == "rate_limit" and 110 <= facts["retry_after_s"] <= 120
        assert f"{facts['retry_after_s']} s" in told


@scenario(37, "github-api#1805")
async def a_secondary_limit_is_one_with_or_without_its_header(scene: Scene) -> None:
    async with scene.client() as client:
        for fault, seconds in (
            (faults.secondary_limit(retry_after=None), 60),
            (faults.secondary_limit(retry_after=30), 30),
            (faults.secondary_limit(retry_after=30, status=429), 30),
            (faults.abuse_detected(), 60),
        ):
            scene.there.faults.next(fault)
            _, facts = await refused(client, "get_readme", repo="octo-org/hello")
            assert (facts["kind"], facts["retry_after_s"]) == ("secondary_rate_limit", seconds)


@scenario(38, "gmcp-24dc8b08")
async def a_rate_limit_is_not_explained_as_a_permission(scene: Scene) -> None:
    scene.there.faults.next(faults.rate_limited(), faults.secondary_limit(retry_after=None))
    async with scene.client() as client:
        for _ in range(2):
            told, facts = await refused(client, "get_readme", repo="octo-org/hello")
            assert facts["kind"] in {"rate_limit", "secondary_rate_limit"} and "permission" not in told
