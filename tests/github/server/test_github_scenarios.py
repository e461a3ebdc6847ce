"""What users of GitHub servers asked for and complained about, scenario by scenario, in both eras.

Each is named after the issue that it comes from; the numbers are those of the collection they were gathered in. Those
that are about writing alone stand with the writing tools.
"""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final

import pytest
from mcp.client.client import Client
from mcp_types import CallToolResult, TextContent

from mcp_curated_github import routes
from mcp_curated_github.addresses import ApiUrl
from mcp_curated_github.api import GitHubApi
from mcp_curated_github.names import RepoName
from mcp_curated_github.settings import GithubSettings
from mcp_curated_shared.errors import CuratedError, SettingsError
from mcp_curated_shared.settings import Secret, load
from mcp_curated_shared.testing.clients import ERAS, Era, over_memory
from mcp_curated_shared.testing.contract import listed_bytes
from tests.github.double import ChangedFile, Double, GitHub, double, faults
from tests.github.double.credentials import token_text
from tests.github.serving import build, found, refused, text_of

REPLY_BYTES: Final = 24_000
BAD_NAMES: Final = (
    "../x", "a/..", "a/b/c", "hello/../../other/private", "hello?x=/y", "a/b?x=1", "a/b#x", "a/%2e%2e", "a/b%2Fc", "a",
    "/b", "a/", "a b/c", "a/b.git",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scene:
    """A double and a way to open a client of a server in front of it."""

    there: Double
    era: Era
    token: str

    @property
    def github(self) -> GitHub:
        return self.there.github

    def client(self, *, anonymous: bool = False, **variables: str) -> AbstractAsyncContextManager[Client]:
        """A client of a server that asks as octocat, or as nobody."""
        return over_memory(build(self.there, None if anonymous else self.token, **variables), self.era)


Play = Callable[[Scene], Awaitable[None]]
SCENARIOS: dict[str, Play] = {}


def scenario(number: int, source: str) -> Callable[[Play], Play]:
    """Register a scenario under its number and where it comes from."""

    def register(play: Play) -> Play:
        SCENARIOS[f"{number:02}-{source}-{play.__name__}"] = play
        return play

    return register


@pytest.fixture(params=ERAS)
async def scene(request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    async with double() as there:
        there.github.organisation("octo-org", members=["octocat"])
        yield Scene(there, request.param, there.github.token("octocat"))


def bytes_of(result: CallToolResult) -> int:
    """A whole result as it is sent."""
    sent = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return len(json.dumps(sent, ensure_ascii=False, separators=(",", ":")).encode())


async def whole(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    """A result that must be a success and within the limit of every reply."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert bytes_of(result) <= REPLY_BYTES
    return result


# Context size


@scenario(1, "gmcp#181")
async def a_page_of_long_issues_is_short(scene: Scene) -> None:
    repository = scene.github.repository("octo-org/hello")
    for number in range(30):
        repository.issue(f"It breaks {number}", "How to see it: " + "x" * 6_000)
    async with scene.client() as client:
        result = await whole(client, "search_issues", query="breaks")
        assert bytes_of(result) <= 8_000
        hits = (result.structured_content or {})["hits"]
        assert all(hit["truncated"] for hit in hits)
        assert (await found(client, "get_issue", repo="octo-org/hello", number=1))["body"].endswith("x" * 100)


@scenario(2, "gmcp#142")
async def an_item_of_a_list_takes_few_bytes(scene: Scene) -> None:
    account = scene.github.account("octocat")
    for number in range(12):
        made = scene.github.repository(f"octo-org/a-rather-long-name-{number}", description="d" * 350, stars=10**6)
        made.issue("breaks " * 30, "b" * 5_000, author="a-contributor-with-a-long-login-name")
        made.file("src/module.py", "breaks " * 500)
        account.star(made)
    async with scene.client() as client:
        for tool, arguments in (
            ("search_repos", {"query": "long"}),
            ("search_issues", {"query": "breaks"}),
            ("search_code", {"query": "breaks"}),
            ("list_starred", {}),
        ):
            hits = (await found(client, tool, **arguments))["hits"]
            assert len(hits) == (10 if tool == "list_starred" else 5)
            for hit in hits:
                assert len(json.dumps(hit, ensure_ascii=False, separators=(",", ":")).encode()) <= 300


@scenario(3, "gmcp#425")
async def a_hundred_long_comments_come_ten_at_a_time(scene: Scene) -> None:
    scene.github.repository("octo-org/hello").issue("Long", "body", comments=["c" * 4_000] * 100)
    async with scene.client() as client:
        first = (await whole(client, "get_issue", repo="octo-org/hello", number=1)).structured_content or {}
        assert len(first["comments"]) == 10 and first["next_page"] == 2
        assert all(one["truncated"] for one in first["comments"])
        second = await found(client, "get_issue", repo="octo-org/hello", number=1, page=2)
        assert [one["n"] for one in second["comments"]] == list(range(11, 21))
        one = await found(client, "get_issue", repo="octo-org/hello", number=1, comment=57)
        assert one["comments"][0]["body"] == "c" * 4_000


@scenario(4, "gmcp#625")
async def a_diff_that_is_too_large_falls_back_to_the_files(scene: Scene) -> None:
    files = [ChangedFile(f"src/{number:03}.py") for number in range(310)]
    files[7] = ChangedFile("src/007.py", patch=None)
    scene.github.repository("octo-org/hello").pull_request("Big", files=files)
    async with scene.client() as client:
        first = (await whole(client, "get_pull_request", repo="octo-org/hello", number=1)).structured_content or {}
        assert "diff" not in first and first["next_page"] == 2 and "path" in first["note"]
        assert first["files"][7] | {"additions": 0} == {
            "path": "src/007.py",
            "status": "modified",
            "additions": 0,
            "deletions": 0,
            "patch_omitted": True,
        }
        last = await found(client, "get_pull_request", repo="octo-org/hello", number=1, page=13)
        assert last["files"][-1]["path"] == "src/309.py" and "next_page" not in last
        one = await found(client, "get_pull_request", repo="octo-org/hello", number=1, path="src/309.py")
        assert "+new" in one["diff"]
        omitted = await found(client, "get_pull_request", repo="octo-org/hello", number=1, path="src/007.py")
        assert "diff" not in omitted and omitted["files"][0]["patch_omitted"]
        told, facts = await refused(client, "get_pull_request", repo="octo-org/hello", number=1, path="src/309.pyi")
        assert facts["kind"] == "not_found" and "src/309.py" in told


@scenario(5, "gmcp#1286")
async def the_list_of_tools_is_short(scene: Scene) -> None:
    async with scene.client() as client:
        tools = (await client.list_tools()).tools
        assert listed_bytes(tools) <= 18_000
        assert all(tool.output_schema for tool in tools)


@scenario(6, "servers#1155")
async def every_reply_has_a_ceiling_and_says_how_to_go_on(scene: Scene) -> None:
    wild = '"\\\n\x01漢😀'
    repository = (
        scene.github.repository("octo-org/hello").file("wild.txt", wild * 20_000).file("README.md", wild * 9_000)
    )
    for number in range(400):
        repository.file(f"many/{number:03}-{'n' * 120}.txt", "x")
    issue = repository.issue("漢" * 256, wild * 8_000, labels=["l" * 50 for _ in range(20)])
    for _ in range(12):
        issue.comment(wild * 4_000, author="x" * 39, association="FIRST_TIME_CONTRIBUTOR")
    files = [ChangedFile("d/" * 100 + f"{number}.py", patch="@@ -1 +1 @@\n+" + wild * 300) for number in range(20)]
    repository.pull_request("漢" * 256, wild * 8_000, files=files)
    async with scene.client() as client:
        for tool, arguments in (
            ("get_file", {"path": "wild.txt"}),
            ("get_file", {"path": "many"}),
            ("get_readme", {}),
            ("get_issue", {"number": 1}),
            ("get_pull_request", {"number": 2}),
        ):
            page, last = 1, 0
            while page and page <= 8:
                result = await whole(client, tool, repo="octo-org/hello", page=page, **arguments)
                last, page = page, (result.structured_content or {}).get("next_page")
                assert page is None or page == last + 1
                assert page is None or f"page={page}" in text_of(result)
            assert last > 1


# Pagination


@scenario(7, "gmcp#430")
async def a_model_is_told_the_next_page_and_the_last_one(scene: Scene) -> None:
    for number in range(7):
        scene.github.repository(f"octo-org/hello-{number}")
    async with scene.client() as client:
        first = await whole(client, "search_repos", query="hello")
        assert (first.structured_content or {})["next_page"] == 2
        assert "Page 1; call again with page=2." in text_of(first)
        last = await whole(client, "search_repos", query="hello", page=2)
        assert "next_page" not in (last.structured_content or {})
        assert "call again" not in text_of(last)


@scenario(8, "octokit-fixtures")
async def a_link_by_the_id_of_a_repository_gives_only_its_page(scene: Scene) -> None:
    scene.github.repository("octo-org/hello").issue("It breaks", comments=["c"] * 11)
    async with scene.client() as client:
        assert (await found(client, "get_issue", repo="octo-org/hello", number=1))["next_page"] == 2
        scene.there.journal.clear()
        await found(client, "get_issue", repo="octo-org/hello", number=1, page=2)
    assert {one.path for one in scene.there.journal} == {
        "/repos/octo-org/hello/issues/1",
        "/repos/octo-org/hello/issues/1/comments",
    }


@scenario(9, "gmcp#334")
async def a_pull_request_is_told_from_an_issue(scene: Scene) -> None:
    repository = scene.github.repository("octo-org/hello")
    repository.issue("breaks as an issue")
    repository.pull_request("breaks as a pull request")
    async with scene.client() as client:
        issues = (await found(client, "search_issues", query="breaks"))["hits"]
        assert [one["number"] for one in issues] == [1] and "is_pull_request" not in issues[0]
        pulls = (await found(client, "search_issues", query="breaks", kind="pull_request"))["hits"]
        assert [(one["number"], one["is_pull_request"]) for one in pulls] == [(2, True)]
        assert (await found(client, "get_issue", repo="octo-org/hello", number=2))["is_pull_request"]


# Fidelity


@scenario(10, "gmcp#2202")
async def text_in_angle_brackets_survives(scene: Scene) -> None:
    body = 'returns `Promise<string>` when n<5 && x>"y" <workspace_id> <script>a</script> &lt; ```js\n<T,>(x: T)\n```'
    scene.github.repository("octo-org/hello").issue("A <T> title", body, comments=[body]).repository.file("a.md", body)
    async with scene.client() as client:
        issue = await whole(client, "get_issue", repo="octo-org/hello", number=1)
        structure = issue.structured_content or {}
        assert structure["body"] == body == structure["comments"][0]["body"]
        assert text_of(issue).count(body) == 2
        file = await whole(client, "get_file", repo="octo-org/hello", path="a.md")
        assert (file.structured_content or {})["text"] == body and body in text_of(file)


@scenario(11, "gmcp#3165")
async def what_was_stored_comes_back_but_for_what_is_invisible(scene: Scene) -> None:
    lines = [f"line {number}\u200b with \u202ewild\u2069 \U000e0041text \u2060 \r\n" for number in range(1_500)]
    body = "".join(lines)
    scene.github.repository("octo-org/hello").issue("Long", body)
    parts: list[str] = []
    async with scene.client() as client:
        page: int | None = 1
        while page is not None:
            got = await found(client, "get_issue", repo="octo-org/hello", number=1, page=page)
            parts.append(got["body"])
            assert got["invisible_removed"] == 5 * len(lines)
            page = got.get("next_page")
    assert len(parts) > 2
    assert "".join(parts) == "".join(f"line {number} with wild text  \r\n" for number in range(1_500))


@scenario(12, "gmcp#3214")
async def an_apostrophe_in_a_title_stays_one(scene: Scene) -> None:
    scene.github.repository("octo-org/hello", description="It's & <that>").issue("can't & won't <T> \"q\"")
    async with scene.client() as client:
        assert (await found(client, "get_issue", repo="octo-org/hello", number=1))["title"] == "can't & won't <T> \"q\""
        assert (await found(client, "search_issues", query="can"))["hits"][0]["title"] == "can't & won't <T> \"q\""
        assert (await found(client, "search_repos", query="hello"))["hits"][0]["description"] == "It's & <that>"


@scenario(13, "gmcp#3101")
async def an_entity_stays_an_entity_and_brings_nothing_in(scene: Scene) -> None:
    scene.github.repository("octo-org/hello").issue("t", "a&#8203;b\u200bc")
    async with scene.client() as client:
        got = await found(client, "get_issue", repo="octo-org/hello", number=1)
        assert (got["body"], got["invisible_removed"]) == ("a&#8203;bc", 1)


@scenario(14, "gmcp-PR#3035")
async def every_text_of_every_tool_is_cleaned(scene: Scene) -> None:
    hidden = "\U000e0048\U000e0069\u200b\u202e"
    account = scene.github.account("octocat")
    account.name = f"Mona{hidden}"
    repository = scene.github.repository("octo-org/hello", description=f"breaks{hidden}", language=f"Py{hidden}thon")
    repository.file("README.md", f"breaks{hidden}").file(f"src/na{hidden}me.py", f"breaks{hidden}")
    repository.symlink("far", f"../../{hidden}x").submodule("sub", "https://github.com/octo-org/x.git")
    repository.issue(f"breaks{hidden}", f"b{hidden}", labels=[f"bug{hidden}"], comments=[f"c{hidden}"])
    repository.pull_request(
        f"breaks{hidden}", f"b{hidden}", files=[ChangedFile(f"src/na{hidden}me.py", patch=f"@@ -1 +1 @@\n+{hidden}x")]
    )
    account.star(repository)
    here: dict[str, Any] = {"repo": "octo-org/hello"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_repos", {"query": "breaks"}), ("search_code", {"query": "breaks"}), ("whoami", {}),
        ("search_issues", {"query": "breaks"}), ("list_starred", {}), ("get_readme", here),
        ("get_file", here | {"path": "src"}), ("get_file", here | {"path": "far"}),
        ("get_file", here | {"path": "sub"}), ("get_issue", here | {"number": 1}),
        ("get_pull_request", here | {"number": 2}), ("get_pull_request", here | {"number": 2, "path": "src/name.py"}),
    ]  # fmt: skip
    async with scene.client() as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {name for name, _ in calls}
        for tool, arguments in calls:
            sent = json.dumps((await whole(client, tool, **arguments)).model_dump(mode="json"), ensure_ascii=False)
            assert not set(hidden) & set(sent), tool
            assert "breaks" in sent or "Mona" in sent or tool in {"get_file", "get_pull_request"}


@scenario(15, "gh-aw#28058")
async def what_nobody_sees_goes_and_what_somebody_sees_stays(scene: Scene) -> None:
    goes = "\u200b\u2060\u2061\u2062\u2063\u2064\u202a\u202e\u2066\u2069\ufeff\u3164\uffa0\u115f\U000e0020\U000e007f"
    stays = "👩‍👩‍👧 ❤️ 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f \u2800 नमस्‍ते é"
    scene.github.repository("octo-org/hello").issue("t", "x".join(goes) + stays)
    async with scene.client() as client:
        got = await found(client, "get_issue", repo="octo-org/hello", number=1)
        assert got["body"] == "x" * (len(goes) - 1) + stays
        assert got["invisible_removed"] == len(goes)


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


# What the client gives the writing tools


@scenario(39, "servers#488")
async def a_refused_value_is_listed_with_its_field(scene: Scene) -> None:
    scene.github.repository("octo-org/hello")
    scene.there.faults.next(faults.invalid_fields())
    with pytest.raises(CuratedError, match=r"Label\.name invalid"):
        await _send(scene, "octo-org/hello")


@scenario(41, "servers#720")
async def a_write_to_what_is_not_there_says_so(scene: Scene) -> None:
    with pytest.raises(CuratedError, match=r"not on 127\.0\.0\.1, or this token cannot see it"):
        await _send(scene, "octo-org/missing")


@scenario(42, "openapi-410")
async def issues_that_are_switched_off_are_told_so(scene: Scene) -> None:
    scene.github.repository("octo-org/hello").has_issues = False
    with pytest.raises(CuratedError, match="issues switched off") as raised:
        await _send(scene, "octo-org/hello")
    assert raised.value.kind == "issues_disabled" and raised.value.retry_after_s is None


async def _send(scene: Scene, name: str) -> None:
    async with GitHubApi(ApiUrl.parse(scene.there.url), Secret(scene.token)) as api:
        await api.send(routes.issues(RepoName.parse(name)), {"title": "x"})


@scenario(46, "octokit-rename-repository")
async def a_renamed_repository_is_read_and_its_new_name_is_told(scene: Scene) -> None:
    repository = scene.github.repository("octo-org/old").file("README.md", "Hi")
    repository.issue("It breaks", comments=["c"])
    repository.pull_request("A change", files=[ChangedFile("a.py")])
    repository.rename("octo-org/new")
    async with scene.client() as client:
        for tool, arguments in (
            ("get_readme", {}),
            ("get_file", {"path": "README.md"}),
            ("get_issue", {"number": 1}),
            ("get_pull_request", {"number": 2}),
        ):
            result = await whole(client, tool, repo="octo-org/old", **arguments)
            assert (result.structured_content or {})["renamed_to"] == "octo-org/new"
            assert "renamed to octo-org/new" in text_of(result)


# Files


@scenario(47, "gmcp#2041")
async def an_empty_file_is_empty(scene: Scene) -> None:
    scene.github.repository("octo-org/hello").file("empty", "")
    async with scene.client() as client:
        got = await found(client, "get_file", repo="octo-org/hello", path="empty")
        assert (got["text"], got["size"]) == ("", 0)


@scenario(48, "gmcp#607")
async def a_text_is_in_both_forms_of_a_reply(scene: Scene) -> None:
    scene.github.repository("octo-org/hello").file("a.py", "print('hi')\n").issue("t", "the body", comments=["said"])
    async with scene.client() as client:
        file = await whole(client, "get_file", repo="octo-org/hello", path="a.py")
        issue = await whole(client, "get_issue", repo="octo-org/hello", number=1)
        for result, text in ((file, "print('hi')"), (issue, "the body"), (issue, "said")):
            assert all(isinstance(block, TextContent) for block in result.content)
            assert text in text_of(result) and text in json.dumps(result.structured_content)


@scenario(49, "gmcp#1050")
async def a_big_file_a_link_a_submodule_and_a_folder_are_what_they_are(scene: Scene) -> None:
    line = "0123456789abcdef\n"
    repository = scene.github.repository("octo-org/hello").file("big.txt", line * 100_000).file("docs/a.md", "a")
    repository.submodule("docs/sub", "https://github.com/octo-org/other.git").symlink("docs/far", "../../etc/passwd")
    repository.symlink("docs/near", "a.md").file("huge", b"", size=100 * 1024 * 1024 + 1)
    async with scene.client() as client:
        first = await found(client, "get_file", repo="octo-org/hello", path="big.txt")
        later = await found(client, "get_file", repo="octo-org/hello", path="big.txt", page=50)
        assert first["size"] == 1_700_000 and first["text"].startswith(line) and first["next_page"] == 2
        assert later["text"].startswith(line) and later["next_page"] == 51
        folder = {
            one["name"]: one["type"]
            for one in (await found(client, "get_file", repo="octo-org/hello", path="docs"))["entries"]
        }
        assert folder == {"a.md": "file", "sub": "submodule", "far": "symlink", "near": "symlink"}
        sub = await found(client, "get_file", repo="octo-org/hello", path="docs/sub")
        assert (sub["type"], sub["target"]) == ("submodule", "https://github.com/octo-org/other.git")
        far = await found(client, "get_file", repo="octo-org/hello", path="docs/far")
        assert (far["type"], far["target"]) == ("symlink", "../../etc/passwd")
        assert (await found(client, "get_file", repo="octo-org/hello", path="docs/near"))["text"] == "a"
        _, facts = await refused(client, "get_file", repo="octo-org/hello", path="huge")
        assert facts["kind"] == "too_large"


# Search


@scenario(50, "gmcp#951")
async def a_search_is_quoted_bounded_and_told_as_it_is(scene: Scene) -> None:
    scene.github.repository("octo-org/hello", description=None, language="Jupyter Notebook")
    scene.github.incomplete_results = True
    async with scene.client() as client:
        got = await found(
            client, "search_repos", query="hello", language="Jupyter Notebook", min_stars=0, owner="octo-org"
        )
        assert scene.there.journal.last.query["q"] == 'hello user:octo-org language:"Jupyter Notebook" stars:>=0'
        assert got["incomplete"] is True and "description" not in got["hits"][0]
        scene.there.journal.clear()
        for arguments in (
            {"query": "x", "language": "python user:victim is:private"},
            {"query": "x" * 257},
            {"query": "a OR b OR c OR d OR e OR f OR g"},
            {"query": "x", "owner": "a b"},
        ):
            _, facts = await refused(client, "search_repos", **arguments)
            assert facts["kind"] == "invalid_argument"
    assert len(scene.there.journal) == 0


@pytest.mark.anyio
@pytest.mark.parametrize("name", list(SCENARIOS))
async def test_scenario(name: str, scene: Scene):
    await SCENARIOS[name](scene)


READ_SIDE: Final = {
    *range(1, 16), 17, 18, 19, 22, *range(24, 39), 39, 41, 42, *range(46, 51),
}  # fmt: skip


def test_every_scenario_that_reads_is_here():
    assert {int(name[:2]) for name in SCENARIOS} == READ_SIDE
