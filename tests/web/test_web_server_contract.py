"""The contract that every server of the collection keeps to, for this one."""

import time
from collections.abc import Iterator

import pytest

from mcp_curated_shared.testing.contract import Call, Subject
from mcp_curated_shared.testing.suite import ServerContract
from tests.web.serving import OPEN, build, command
from tests.web.site import Answer, Site, page, serve


def hang(handler: object) -> None:
    del handler
    time.sleep(30)


@pytest.fixture
def site() -> Iterator[Site]:
    answers = {"/page": page("<main><h1>Hello</h1><p>There is text.</p></main>"), "/hangs": Answer(send=hang)}
    with serve(answers) as one:
        yield one


class TestWebContract(ServerContract):
    @pytest.fixture
    def subject(self, site: Site) -> Subject:
        return Subject(
            build=lambda: build(*OPEN),
            command=command(*OPEN, "--log-level", "debug"),
            list_bytes=4_000,
            example=Call("fetch_url", {"url": site.url("/page")}),
            slow=Call("fetch_url", {"url": site.url("/hangs")}),
            build_read_only=lambda: build(*OPEN),
            secrets=["Zq9-user-info-pw"],
            provoking=[
                Call("fetch_url", {"url": "http://user:Zq9-user-info-pw@127.0.0.1/"}),
                Call("fetch_url", {"url": "http://127.0.0.1:1/"}),
            ],
        )
