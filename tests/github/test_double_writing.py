"""What the double does with a new issue and a new comment, and when it does nothing."""

import re
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.github.double import Double, GitHub, Repository, serve
from tests.github.double.client import client
from tests.github.double.credentials import Kind, checksummed, token_text

ISSUES = "/repos/octo-org/hello/issues"


@pytest.fixture
def there() -> Iterator[Double]:
    with serve() as running:
        yield running


@pytest.fixture
def repository(there: Double) -> Repository:
    return there.github.repository("octo-org/hello")


def post(there: Double, path: str, token: str | None, **document: object) -> httpx.Response:
    with client(there, token) as http:
        return http.post(path, json=document)


def test_a_new_issue_is_there_for_everyone_and_its_author_is_the_tokens(there: Double, repository: Repository):
    made = post(there, ISSUES, there.github.token("mona"), title="It breaks", body="Like this: <b>&amp;</b>")
    assert (made.status_code, made.headers["location"]) == (201, made.json()["url"])
    with client(there) as http:
        found = http.get(made.headers["location"]).json()
    assert (found["title"], found["body"], found["user"]["login"]) == ("It breaks", "Like this: <b>&amp;</b>", "mona")
    assert repository.issues[found["number"]].title == "It breaks"


def test_a_new_comment_stands_at_the_end_of_its_issue(there: Double, repository: Repository):
    repository.issue("Old", comments=["first"])
    made = post(there, f"{ISSUES}/1/comments", there.github.token("mona"), body="second")
    assert (made.status_code, made.json()["issue_url"]) == (201, f"{there.url}{ISSUES}/1")
    assert [one.body for one in repository.issues[1].comments] == ["first", "second"]


def test_labels_are_set_by_those_who_may_push_and_dropped_without_a_word_for_others(
    there: Double, repository: Repository
):
    repository.collaborators.add("octocat")
    mine = post(there, ISSUES, there.github.token("octocat"), title="x", labels=["bug", "new"]).json()
    assert [one["name"] for one in mine["labels"]] == ["bug", "new"]
    others = post(there, ISSUES, there.github.token("mona"), title="x", labels=["bug"])
    assert (others.status_code, others.json()["labels"]) == (201, [])


def refused(there: Double, token: str | None, repository: Repository, status: int) -> httpx.Response:
    """A refused new issue: the answer, after a look that nothing was made."""
    before = len(repository.issues)
    answer = post(there, ISSUES, token, title="x")
    assert answer.status_code == status
    assert len(repository.issues) == before
    assert not there.journal.last.took_effect
    return answer


def test_without_a_token_nothing_is_written(there: Double, repository: Repository):
    refused(there, None, repository, 401)


def test_a_token_without_the_right_is_told_which_or_not_even_that(there: Double, repository: Repository):
    refused(there, there.github.token("octocat", scopes=["gist"]), repository, 404)
    fine = there.github.token("octocat", "fine_grained", permissions={"issues": "read"})
    answer = refused(there, fine, repository, 403)
    assert answer.headers["x-accepted-github-permissions"] == "issues=write"


def test_an_archived_repository_and_one_without_issues_take_none(there: Double, repository: Repository):
    repository.has_issues = False
    refused(there, there.github.token(), repository, 410)
    repository.archived = True
    refused(there, there.github.token(), repository, 403)


def test_a_former_name_redirects_a_write_so_that_it_can_be_repeated_there(there: Double, repository: Repository):
    repository.rename("octo-org/new")
    answer = refused(there, there.github.token(), repository, 307)
    assert answer.headers["location"] == f"{there.url}/repositories/{repository.id}/issues"
    assert post(there, answer.headers["location"], there.github.token(), title="x").status_code == 201


def test_a_locked_issue_takes_comments_only_of_those_who_may_push(there: Double, repository: Repository):
    repository.issue("Heated").locked = True
    assert post(there, f"{ISSUES}/1/comments", there.github.token("mona"), body="x").status_code == 403
    assert post(there, f"{ISSUES}/1/comments", there.github.token("octo-org"), body="x").status_code == 201


def test_texts_over_githubs_limits_and_blank_ones_are_refused_with_their_field(there: Double, repository: Repository):
    repository.issue("Old")
    token = there.github.token()
    long_title = post(there, ISSUES, token, title="x" * 257)
    assert (long_title.status_code, long_title.json()["errors"][0]["field"]) == (422, "title")
    long_body = post(there, ISSUES, token, title="x", body="x" * 65_537)
    assert (long_body.status_code, long_body.json()["errors"][0]["field"]) == (422, "body")
    assert post(there, ISSUES, token, title="  ").json()["errors"][0]["code"] == "missing_field"
    assert post(there, f"{ISSUES}/1/comments", token, body=" ").status_code == 422
    assert post(there, ISSUES, token, title="x" * 256, body="x" * 65_536).status_code == 201


@pytest.mark.parametrize(
    ("body", "status"), [(b"{", 400), (b"[]", 400), (rb'{"title":"\ud800"}', 400), (b'{"title":1,"labels":"x"}', 422)]
)
def test_a_body_that_is_no_issue_is_refused(body: bytes, status: int):
    with serve(verify=False) as there, client(there, there.github.token()) as http:
        repository = there.github.repository("octo-org/hello")
        assert http.post(ISSUES, content=body).status_code == status
        assert not repository.issues


def test_concurrent_writes_each_get_a_number_of_their_own(there: Double, repository: Repository):
    token = there.github.token()
    with ThreadPoolExecutor(5) as pool:
        made = list(pool.map(lambda number: post(there, ISSUES, token, title=f"{number}").json()["number"], range(10)))
    assert sorted(made) == list(range(1, 11))
    assert len(there.journal.posts) == 10


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("classic", r"ghp_[0-9A-Za-z]{36}"),
        ("oauth", r"gho_[0-9A-Za-z]{36}"),
        ("fine_grained", r"github_pat_[0-9A-Za-z]{22}_[0-9A-Za-z]{59}"),
        ("installation", r"ghs_\d+_[\w-]+\.[\w-]+\.[\w-]+"),
    ],
)
def test_tokens_have_githubs_formats_and_are_new_each_time(kind: Kind, form: str):
    made = {token_text(kind) for _ in range(3)}
    assert len(made) == 3
    assert all(re.fullmatch(form, one) for one in made)


def test_the_checksum_of_a_token_is_the_crc_of_its_random_part_in_base_62():
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    body = checksummed("ghp_").removeprefix("ghp_")
    number = 0
    for digit in body[30:]:
        number = number * 62 + digits.index(digit)
    assert number == zlib.crc32(body[:30].encode())


def test_a_prepared_state_can_be_served_and_outlives_the_double():
    github = GitHub()
    repository = github.repository("octo-org/hello")
    for number in (1, 2):
        with serve(github) as there:
            assert post(there, ISSUES, github.token(), title="x").json()["number"] == number
    assert len(repository.issues) == 2
