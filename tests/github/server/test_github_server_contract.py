"""The contract that every server of the collection keeps to, for this one."""

import pytest

from mcp_curated_shared.testing.contract import Call, Subject
from mcp_curated_shared.testing.suite import ServerContract
from tests.github.double import Double, faults
from tests.github.serving import build, command

LIST_BYTES = 18_000
"""github.md 8; the default of the official server takes 57,700 without any output schema."""


class TestGitHubContract(ServerContract):
    @pytest.fixture
    def subject(self, there: Double, token: str) -> Subject:
        there.faults.on("issues/get", faults.slow_before())
        talkative = ("--log-level", "debug", "--audit", "off")
        return Subject(
            build=lambda: build(there, token, GITHUB_ALLOWED_REPOS="octo-org/*"),
            command=command(there, token, *talkative, GITHUB_ALLOWED_REPOS="octo-org/*"),
            list_bytes=LIST_BYTES,
            example=Call("get_readme", {"repo": "octo-org/hello"}),
            slow=Call("get_issue", {"repo": "octo-org/hello", "number": 1}),
            build_read_only=lambda: build(there, token),
            secrets=[token],
            provoking=[
                Call("whoami"),
                Call("get_file", {"repo": "octo-org/missing", "path": "x"}),
                Call("search_code", {"query": "hello"}),
                Call("get_readme", {"repo": "not a name"}),
            ],
        )
