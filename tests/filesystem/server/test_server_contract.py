"""The contract that every server of the collection keeps to, for this one."""

from pathlib import Path

import pytest

from mcp_curated_shared.testing.contract import Call, Subject
from mcp_curated_shared.testing.suite import ServerContract
from tests.filesystem.server.serving import build, command

LIST_BYTES = 11_500
"""The goal is 9,000; the rest is what clear descriptions of 14 tools and three result schemas take."""


class TestFilesystemContract(ServerContract):
    @pytest.fixture
    def subject(self, notes: Path) -> Subject:
        return Subject(
            build=lambda: build(notes),
            command=command(notes, "--log-level", "debug"),
            list_bytes=LIST_BYTES,
            example=Call("read_file", {"path": "a.txt"}),
            slow=None,
            build_read_only=lambda: build(notes, "--read-only"),
            secrets=["not for you"],
            provoking=[
                Call("read_file", {"path": "out/secret.txt"}),
                Call("read_file", {"path": str(notes.parent / "private" / "secret.txt")}),
                Call("search_content", {"path": str(notes), "pattern": "not fo"}),
            ],
        )
