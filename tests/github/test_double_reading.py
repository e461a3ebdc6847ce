"""What the double answers to reads: as GitHub does, in every form that our operations ask for."""

import base64
import hashlib
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.github.double import ChangedFile, Double, GitHub, serve
from tests.github.double.client import client


@pytest.fixture
def there() -> Iterator[Double]:
    with serve() as running:
        yield running


def get(there: Double, path: str, token: str | None = None, accept: str | None = None) -> httpx.Response:
    with client(there, token, accept=accept) as http:
        return http.get(path)


def test_a_private_repository_is_there_only_for_whom_it_was_given(there: Double):
    there.github.repository("octo-org/secret", private=True)
    there.github.organisation("octo-org", members=["octocat"])
    path = "/repos/octo-org/secret"
    assert get(there, path).status_code == 404
    assert get(there, path, there.github.token("mona")).status_code == 404
    assert get(there, path, there.github.token("octocat", scopes=["public_repo"])).status_code == 404
    assert get(there, path, there.github.token("octocat", "fine_grained", repositories=["a/b"])).status_code == 404
    assert get(there, path, there.github.token("octocat", "fine_grained")).status_code == 200
    assert get(there, path, there.github.token("octocat")).status_code == 200
    app = there.github.token("app[bot]", "installation", repositories=["octo-org/secret"])
    assert get(there, path, app).status_code == 200


def test_a_private_repository_answers_with_credentials_that_must_go_no_further(there: Double):
    repository = there.github.repository("octocat/secret", private=True).file("a.txt", "x")
    token = there.github.token("octocat")
    assert get(there, "/repos/octocat/secret", token).json()["temp_clone_token"] == repository.clone_token
    assert repository.clone_token in get(there, "/repos/octocat/secret/contents/a.txt", token).json()["download_url"]


def test_an_unknown_token_is_refused_even_for_public_data(there: Double):
    there.github.repository("octo-org/hello")
    assert get(there, "/repos/octo-org/hello", "wrong").status_code == 401


def test_a_former_name_redirects_to_the_id_with_everything_that_was_asked(there: Double):
    repository = there.github.repository("octo-org/old")
    repository.issue("First")
    repository.rename("octo-org/new")
    moved = get(there, "/repos/octo-org/old/issues?state=all&per_page=5")
    assert moved.status_code == 301
    assert moved.headers["location"] == f"{there.url}/repositories/{repository.id}/issues?state=all&per_page=5"
    assert get(there, moved.headers["location"]).json()[0]["title"] == "First"
    assert get(there, "/repos/octo-org/old").headers["location"] == f"{there.url}/repositories/{repository.id}"
    assert get(there, f"/repositories/{repository.id}").json()["full_name"] == "octo-org/new"


def test_a_former_name_that_another_repository_took_no_longer_redirects(there: Double):
    there.github.repository("octo-org/old").rename("octo-org/new")
    there.github.repository("octo-org/old", description="Another.")
    assert get(there, "/repos/octo-org/old").json()["description"] == "Another."


def test_letter_case_of_a_name_does_not_count(there: Double):
    there.github.repository("Octo-Org/Hello")
    assert get(there, "/repos/octo-org/hello").json()["full_name"] == "Octo-Org/Hello"


def test_a_file_has_its_bytes_in_base64_and_its_own_git_name(there: Double):
    data = "naïve\r\n".encode() * 20
    there.github.repository("octo-org/hello").file("src/a file?.txt", data)
    found = get(there, "/repos/octo-org/hello/contents/src/a%20file%3F.txt").json()
    assert base64.b64decode(found["content"]) == data
    assert found["sha"] == hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    assert found["path"] == "src/a file?.txt"


def test_a_file_and_a_readme_are_the_same_as_an_object(there: Double):
    there.github.repository("octo-org/hello").file("README.md", "Hi")
    for path in ("contents/README.md", "readme"):
        plain = get(there, f"/repos/octo-org/hello/{path}").json()
        assert get(there, f"/repos/octo-org/hello/{path}", accept="object").json() == plain


def test_an_empty_file_is_empty(there: Double):
    there.github.repository("octo-org/hello").file("empty", "")
    found = get(there, "/repos/octo-org/hello/contents/empty").json()
    assert (found["content"], found["size"], found["encoding"]) == ("", 0, "base64")


def test_a_file_over_one_megabyte_has_content_only_when_asked_raw(there: Double):
    data = b"z" * (1024 * 1024 + 1)
    there.github.repository("octo-org/hello").file("big", data)
    found = get(there, "/repos/octo-org/hello/contents/big").json()
    assert (found["content"], found["encoding"], found["size"]) == ("", "none", len(data))
    assert get(there, "/repos/octo-org/hello/contents/big", accept="raw").content == data


def test_a_file_over_a_hundred_megabytes_is_refused_in_every_form(there: Double):
    there.github.repository("octo-org/hello").file("huge", b"", size=100 * 1024 * 1024 + 1)
    for accept in (None, "raw", "object"):
        refused = get(there, "/repos/octo-org/hello/contents/huge", accept=accept)
        assert refused.status_code == 403
        assert refused.json()["errors"][0]["code"] == "too_large"


def test_a_directory_is_a_list_and_as_an_object_one_thing(there: Double):
    repository = there.github.repository("octo-org/hello").file("docs/a.md", "a").file("docs/deep/b.md", "b")
    repository.submodule("docs/other", "https://github.com/octo-org/other.git").symlink("docs/link", "a.md")
    path = "/repos/octo-org/hello/contents/docs"
    kinds = {one["name"]: one["type"] for one in get(there, path).json()}
    assert kinds == {"a.md": "file", "deep": "dir", "link": "symlink", "other": "file"}
    as_object = get(there, path, accept="object").json()
    assert as_object["type"] == "dir"
    assert {one["name"]: one["type"] for one in as_object["entries"]}["other"] == "submodule"


def test_a_directory_gives_its_first_thousand_entries(there: Double):
    repository = there.github.repository("octo-org/hello")
    for number in range(1001):
        repository.file(f"many/{number:04}", "")
    assert len(get(there, "/repos/octo-org/hello/contents/many").json()) == 1000


def test_a_link_to_a_file_is_that_file_and_another_link_describes_itself(there: Double):
    repository = there.github.repository("octo-org/hello").file("docs/a.md", "there")
    repository.symlink("near", "docs/a.md").symlink("docs/far", "../../outside").symlink("folder", "docs")
    near = get(there, "/repos/octo-org/hello/contents/near").json()
    assert base64.b64decode(near["content"]) == b"there"
    for path, target in (("docs/far", "../../outside"), ("folder", "docs")):
        found = get(there, f"/repos/octo-org/hello/contents/{path}").json()
        assert (found["type"], found["target"]) == ("symlink", target)


def test_a_submodule_names_its_repository(there: Double):
    there.github.repository("octo-org/hello").submodule("vendor/x", "https://github.com/octo-org/x.git")
    found = get(there, "/repos/octo-org/hello/contents/vendor/x").json()
    assert (found["type"], found["submodule_git_url"]) == ("submodule", "https://github.com/octo-org/x.git")


def test_a_branch_is_read_by_its_name_and_an_unknown_one_is_named(there: Double):
    repository = there.github.repository("octo-org/hello").file("a", "main")
    repository.file("a", "other", branch="feature/x")
    path = "/repos/octo-org/hello/contents/a"
    assert base64.b64decode(get(there, f"{path}?ref=feature%2Fx").json()["content"]) == b"other"
    assert base64.b64decode(get(there, path).json()["content"]) == b"main"
    missing = get(there, f"{path}?ref=nope")
    assert missing.status_code == 404
    assert "nope" in missing.json()["message"]


def test_an_empty_repository_says_that_it_is_empty(there: Double):
    there.github.repository("octo-org/hello")
    for path in ("contents/a", "readme"):
        answer = get(there, f"/repos/octo-org/hello/{path}")
        assert (answer.status_code, answer.json()["message"]) == (404, "This repository is empty.")


@pytest.mark.parametrize("path", [".github/README.md", "README.rst", "readme.txt", "docs/Readme.md"])
def test_a_readme_is_found_where_github_looks(there: Double, path: str):
    there.github.repository("octo-org/hello").file("src/README.md", "not this").file(path, "# <Hi>")
    assert get(there, "/repos/octo-org/hello/readme").json()["path"] == path
    assert get(there, "/repos/octo-org/hello/readme", accept="raw").text == "# <Hi>"
    assert "# &lt;Hi&gt;" in get(there, "/repos/octo-org/hello/readme", accept="html").text


def test_a_repository_without_a_readme_has_none(there: Double):
    there.github.repository("octo-org/hello").file("src/README.md", "elsewhere")
    assert get(there, "/repos/octo-org/hello/readme").status_code == 404


def test_an_issue_tells_its_author_also_where_the_account_is_gone(there: Double):
    repository = there.github.repository("octo-org/hello")
    repository.issue("Mine", "body", author="octo-org", labels=["bug"])
    repository.issue("Ghostly", None, author=None)
    first = get(there, "/repos/octo-org/hello/issues/1").json()
    assert (first["author_association"], first["labels"][0]["name"]) == ("OWNER", "bug")
    second = get(there, "/repos/octo-org/hello/issues/2").json()
    assert (second["user"], second["body"]) == (None, None)


def test_an_issue_that_was_deleted_or_moved_says_so(there: Double):
    repository, other = there.github.repository("octo-org/hello"), there.github.repository("octo-org/other")
    repository.issue("Gone").deleted = True
    repository.issue("Moved").moved_to = (other, other.issue("Moved").number)
    assert get(there, "/repos/octo-org/hello/issues/1").status_code == 410
    moved = get(there, "/repos/octo-org/hello/issues/2")
    assert (moved.status_code, moved.headers["location"]) == (301, f"{there.url}/repos/octo-org/other/issues/1")


def test_a_list_of_issues_holds_pull_requests_and_is_chosen_by_creator_and_state(there: Double):
    repository = there.github.repository("octo-org/hello")
    repository.issue("One", author="mona")
    repository.pull_request("Two", author="mona")
    repository.issue("Three", author="octocat").close()
    path = "/repos/octo-org/hello/issues"
    assert [one["title"] for one in get(there, path).json()] == ["Two", "One"]
    assert ["pull_request" in one for one in get(there, path).json()] == [True, False]
    assert [one["title"] for one in get(there, f"{path}?state=all&creator=octocat").json()] == ["Three"]


def test_pages_lead_on_by_link_through_the_id_and_the_last_has_no_next(there: Double):
    repository = there.github.repository("octo-org/hello")
    issue = repository.issue("Long", comments=[f"comment {number}" for number in range(5)])
    first = get(there, f"/repos/octo-org/hello/issues/{issue.number}/comments?per_page=2")
    assert [one["body"] for one in first.json()] == ["comment 0", "comment 1"]
    following = first.links["next"]["url"]
    assert following == f"{there.url}/repositories/{repository.id}/issues/1/comments?per_page=2&page=2"
    last = get(there, first.links["last"]["url"])
    assert [one["body"] for one in last.json()] == ["comment 4"]
    assert set(last.links) == {"prev", "first"}
    assert get(there, f"/repos/octo-org/hello/issues/{issue.number}/comments").links == {}


def test_a_pull_request_has_files_and_a_diff(there: Double):
    repository = there.github.repository("octo-org/hello")
    repository.pull_request(
        "Change",
        files=[
            ChangedFile("a.py", "@@ -1 +1,2 @@\n-old\n+new\n+more"),
            ChangedFile("logo.png", None, "added"),
            ChangedFile("b.py", "@@ -1 +1 @@\n-x\n+y", "renamed", "c.py"),
        ],
    )
    found = get(there, "/repos/octo-org/hello/pulls/1").json()
    assert (found["additions"], found["deletions"], found["changed_files"]) == (3, 2, 3)
    files = get(there, "/repos/octo-org/hello/pulls/1/files").json()
    assert ["patch" in one for one in files] == [True, False, True]
    assert files[2]["previous_filename"] == "c.py"
    diff = get(there, "/repos/octo-org/hello/pulls/1", accept="diff").text
    assert "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@" in diff


@pytest.mark.parametrize(
    "files",
    [
        [ChangedFile(f"{number}") for number in range(301)],
        [ChangedFile("long", "@@ -0,0 +1 @@\n" + "+x\n" * 20_001)],
    ],
    ids=["files", "lines"],
)
def test_a_diff_over_the_limits_is_refused_while_its_files_are_given(there: Double, files: list[ChangedFile]):
    there.github.repository("octo-org/hello").pull_request("Large", files=files)
    refused = get(there, "/repos/octo-org/hello/pulls/1", accept="diff")
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (406, "too_large")
    assert get(there, "/repos/octo-org/hello/pulls/1/files").json()


def test_an_issue_is_no_pull_request_and_no_number_is_not_found(there: Double):
    there.github.repository("octo-org/hello").issue("One")
    for path in ("pulls/1", "issues/9", "issues/one", "pulls/x/files"):
        assert get(there, f"/repos/octo-org/hello/{path}").status_code == 404


def test_stars_come_newest_first_and_with_their_time_when_asked(there: Double):
    token = there.github.token("octocat")
    for name in ("a", "b", "c"):
        there.github.account("octocat").star(there.github.repository(f"octo-org/{name}"))
    assert [one["name"] for one in get(there, "/user/starred", token).json()] == ["c", "b", "a"]
    with_time = get(there, "/user/starred?direction=asc", token, accept="star").json()
    assert [one["repo"]["name"] for one in with_time] == ["a", "b", "c"]
    assert with_time[0]["starred_at"] < with_time[1]["starred_at"]


def test_the_caller_is_told_and_a_stranger_is_asked_for_a_token(there: Double):
    token = there.github.token("octocat")
    assert get(there, "/user", token).json()["login"] == "octocat"
    for path in ("/user", "/user/starred", "/search/code?q=x"):
        assert get(there, path).status_code == 401
    assert get(there, "/user", there.github.token("app", "installation")).status_code == 403


def test_an_answer_is_not_sent_again_to_whoever_has_it(there: Double):
    repository = there.github.repository("octo-org/hello")
    with client(there) as http:
        tag = http.get("/repos/octo-org/hello").headers["etag"]
        same = http.get("/repos/octo-org/hello", headers={"If-None-Match": tag})
        assert (same.status_code, same.content) == (304, b"")
        repository.description = "Changed."
        assert http.get("/repos/octo-org/hello", headers={"If-None-Match": tag}).status_code == 200


def test_every_answer_tells_the_rate_limit_and_a_classic_token_its_scopes(there: Double):
    there.github.repository("octo-org/hello")
    classic = get(there, "/repos/octo-org/hello", there.github.token("octocat", scopes=["repo", "gist"]))
    assert classic.headers["x-oauth-scopes"] == "repo, gist"
    assert (classic.headers["x-ratelimit-limit"], classic.headers["x-ratelimit-remaining"]) == ("5000", "4999")
    assert 0 < int(classic.headers["x-ratelimit-reset"]) - time.time() <= 3600
    fine = get(there, "/repos/octo-org/missing", there.github.token("octocat", "fine_grained"))
    assert "x-oauth-scopes" not in fine.headers
    limits: Any = get(there, "/rate_limit").json()
    assert limits["resources"]["search"]["limit"] == 10


def test_a_limit_that_holds_nobody_never_claims_to_be_spent(there: Double):
    there.github.limits["core"] = 2
    there.github.repository("octo-org/hello")
    left = [get(there, "/repos/octo-org/hello").headers["x-ratelimit-remaining"] for _ in range(3)]
    assert left == ["1", "1", "1"]


def test_a_spent_limit_refuses_where_the_test_wants_it_to():
    github = GitHub()
    github.limits["core"] = 1
    github.enforce_limits = True
    github.repository("octo-org/hello")
    with serve(github) as there:
        assert get(there, "/repos/octo-org/hello").status_code == 200
        spent = get(there, "/repos/octo-org/hello")
    assert (spent.status_code, spent.headers["x-ratelimit-remaining"]) == (403, "0")


def test_headers_that_github_refuses_are_refused(there: Double):
    there.github.repository("octo-org/hello").file("README.md", "Hi")
    with client(there) as http:
        assert http.get("/repos/octo-org/hello", headers={"X-GitHub-Api-Version": "2022-11-28"}).is_success
        assert http.get("/repos/octo-org/hello", headers={"X-GitHub-Api-Version": "1999-01-01"}).status_code == 400
        assert http.get("/repos/octo-org/hello/readme", headers={"Accept": "image/png"}).status_code == 415
        del http.headers["User-Agent"]
        assert http.get("/repos/octo-org/hello").status_code == 403


def test_an_enterprise_server_has_its_api_below_a_path():
    with serve(prefix="/api/v3") as there:
        repository = there.github.repository("octo-org/old")
        repository.rename("octo-org/new")
        assert there.url.endswith("/api/v3")
        moved = get(there, "/repos/octo-org/old")
        assert moved.headers["location"] == f"{there.url}/repositories/{repository.id}"
        assert get(there, moved.headers["location"]).json()["url"] == f"{there.url}/repos/octo-org/new"
