"""A double with a little of everything, and both eras."""

from collections.abc import Iterator

import pytest

from mcp_curated_shared.testing.clients import ERAS, Era
from tests.github.double import ChangedFile, Double, serve


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    chosen: Era = request.param
    return chosen


@pytest.fixture
def there() -> Iterator[Double]:
    with serve() as running:
        github = running.github
        github.organisation("octo-org", members=["octocat"])
        repository = github.repository("octo-org/hello", description="Says hello.", stars=7)
        repository.file("README.md", "# Hello\n\nSay `hello`.\n").file("src/main.py", "print('hello')\n")
        repository.issue("It breaks", "How to see it.", author="mona", comments=["Me too."])
        repository.pull_request("Mend it", "Closes #1.", files=[ChangedFile("src/main.py")])
        github.repository("octo-org/private", private=True).file("secret.txt", "hidden\n")
        github.account("octocat").star(repository)
        yield running


@pytest.fixture
def token(there: Double) -> str:
    return there.github.token("octocat")
