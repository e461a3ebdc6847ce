"""Scenarios about refused writes, renames, files and searches."""

import json

import pytest
from mcp_types import TextContent

from mcp_curated_github import routes
from mcp_curated_github.addresses import ApiUrl
from mcp_curated_github.api import GitHubApi
from mcp_curated_github.names import RepoName
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.settings import Secret
from tests.github.double import ChangedFile, faults
from tests.github.server.scenes import Scene, scenario, whole
from tests.github.serving import found, refused, text_of

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
