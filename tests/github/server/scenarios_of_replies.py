"""Scenarios about the size, the pages and the faithfulness of replies."""

import json
from typing import Any

from mcp_curated_shared.testing.contract import listed_bytes
from tests.github.double import ChangedFile
from tests.github.server.scenes import Scene, bytes_of, scenario, whole
from tests.github.serving import found, refused, text_of

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
        last = await found(client, "get_pull_request", repo="octo-org/hello", number=1, page=16)
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
    for number in range(60):
        repository.file(f"wide/{'漢' * 200}{number}", "x")
    issue = repository.issue("漢" * 256, wild * 8_000, labels=["l" * 50 for _ in range(20)])
    for _ in range(12):
        issue.comment(wild * 4_000, author="x" * 39, association="FIRST_TIME_CONTRIBUTOR")
    files = [ChangedFile("d/" * 100 + f"{number}.py", patch="@@ -1 +1 @@\n+" + wild * 300) for number in range(20)]
    repository.pull_request("漢" * 256, wild * 8_000, files=files)
    renamed = [
        ChangedFile("漢" * 250 + f"{number}.py", None, "renamed", "é" * 300 + f"{number}") for number in range(310)
    ]
    repository.pull_request("漢" * 256, wild * 8_000, files=renamed)
    async with scene.client() as client:
        for tool, arguments in (
            ("get_file", {"path": "wild.txt"}),
            ("get_file", {"path": "many"}),
            ("get_readme", {}),
            ("get_issue", {"number": 1}),
            ("get_file", {"path": "wide"}),
            ("get_pull_request", {"number": 2}),
            ("get_pull_request", {"number": 3}),
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
