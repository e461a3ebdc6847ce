"""What the double's searches find, and which of them it refuses as GitHub does."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.github.double import Double, serve
from tests.github.double.client import client


@pytest.fixture
def there() -> Iterator[Double]:
    with serve() as running:
        yield running


def search(there: Double, kind: str, q: str, token: str | None = None, **more: Any) -> Any:
    with client(there, token, accept="text-match") as http:
        return http.get(f"/search/{kind}", params={"q": q, **more}).json()


def names(found: Any) -> list[str]:
    return [one["full_name"] for one in found["items"]]


@pytest.fixture
def shelves(there: Double) -> Double:
    there.github.repository("octo-org/parser", description="Reads TOML.", stars=50, topics=["toml"])
    there.github.repository("octo-org/notes", language="Jupyter Notebook", stars=5)
    there.github.repository("mona/parser", language="Go", stars=500, description=None)
    there.github.repository("mona/private-parser", private=True)
    return there


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("parser", ["octo-org/parser", "mona/parser"]),
        ("parser language:go", ["mona/parser"]),
        ("parser NOT toml", ["mona/parser"]),
        ("toml OR notes", ["octo-org/parser", "octo-org/notes"]),
        ("user:mona", ["mona/parser"]),
        ("parser -user:mona", ["octo-org/parser"]),
        ("repo:mona/parser repo:octo-org/notes", ["octo-org/notes", "mona/parser"]),
        ("stars:>=50", ["octo-org/parser", "mona/parser"]),
        ("stars:1..49", ["octo-org/notes"]),
        ("topic:toml", ["octo-org/parser"]),
        ("forks:0 archived:false stars:<6", ["octo-org/notes"]),
        ("stars:500", ["mona/parser"]),
        ("stars:many", []),
        ("colour:red", []),
        ('"reads toml"', ["octo-org/parser"]),
        ('language:"Jupyter Notebook"', ["octo-org/notes"]),
        ("language:Jupyter Notebook", []),
        ("parser is:private", []),
    ],
)
def test_repositories_are_found_by_words_and_qualifiers(shelves: Double, q: str, expected: list[str]):
    assert names(search(shelves, "repositories", q)) == expected


def test_repositories_are_ordered_when_asked(shelves: Double):
    assert names(search(shelves, "repositories", "parser", sort="stars")) == ["mona/parser", "octo-org/parser"]
    ascending = search(shelves, "repositories", "parser", sort="stars", order="asc")
    assert names(ascending) == ["octo-org/parser", "mona/parser"]


def test_a_private_repository_is_found_only_by_whom_it_was_given(shelves: Double):
    token = shelves.github.token("mona")
    assert "mona/private-parser" in names(search(shelves, "repositories", "parser", token))


def test_a_search_says_when_it_did_not_finish(shelves: Double):
    assert search(shelves, "repositories", "parser")["incomplete_results"] is False
    shelves.github.incomplete_results = True
    assert search(shelves, "repositories", "parser")["incomplete_results"] is True


@pytest.mark.parametrize(
    "q",
    ["", "x" * 257, "a AND b OR c NOT d AND e OR f AND g", "repo:octo-org/nothing", "user:mona-lisa bug"],
    ids=["empty", "long", "operators", "repository", "user"],
)
def test_a_search_that_github_refuses_is_refused(shelves: Double, q: str):
    for kind in ("repositories", "issues"):
        assert search(shelves, kind, q)["status"] == "422"


def test_no_search_goes_past_a_thousand_results(there: Double):
    there.github.repository("octo-org/hello")
    assert search(there, "repositories", "hello", page=11, per_page=100)["status"] == "422"
    assert search(there, "repositories", "hello", page=10, per_page=100)["items"] == []


def test_issues_are_found_by_author_title_kind_state_and_label(there: Double):
    repository = there.github.repository("octo-org/hello")
    repository.issue("Crash on start", "It fails.", author="mona", labels=["bug"])
    repository.issue("Crash on end", author="octocat").close()
    repository.pull_request("Mend the crash", author="mona")

    def titles(q: str) -> list[str]:
        return [one["title"] for one in search(there, "issues", q)["items"]]

    assert titles('author:mona in:title "crash on start" repo:octo-org/hello') == ["Crash on start"]
    assert titles("crash is:issue state:closed") == ["Crash on end"]
    assert titles("crash is:pr") == ["Mend the crash"]
    assert titles("crash -author:mona") == ["Crash on end"]
    assert titles("label:bug") == ["Crash on start"]
    assert titles("fails in:body") == ["Crash on start"]


def test_a_new_issue_is_not_searchable_before_it_is_indexed_where_the_test_wants_that(there: Double):
    there.github.index_lag = True
    there.github.repository("octo-org/hello")
    with client(there, there.github.token()) as http:
        http.post("/repos/octo-org/hello/issues", json={"title": "Newest"})
        assert http.get("/repos/octo-org/hello/issues").json()[0]["title"] == "Newest"
    assert search(there, "issues", "newest")["total_count"] == 0
    there.github.index()
    assert search(there, "issues", "newest")["total_count"] == 1


def test_code_is_found_with_the_place_of_the_hit(there: Double):
    repository = there.github.repository("octo-org/hello").file("src/a.py", "import os\nprint(os.sep)\n")
    repository.file("docs/a.md", "import nothing")
    found = search(there, "code", "import language:python path:src", there.github.token())
    assert [one["path"] for one in found["items"]] == ["src/a.py"]
    match = found["items"][0]["text_matches"][0]
    start, end = match["matches"][0]["indices"]
    assert match["fragment"][start:end] == "import"
    for q in ("nothing extension:md", "import filename:a.md", "nothing language:markdown"):
        assert [one["path"] for one in search(there, "code", q, there.github.token())["items"]] == ["docs/a.md"]
    assert search(there, "code", "repo:octo-org/hello", there.github.token())["status"] == "422"
