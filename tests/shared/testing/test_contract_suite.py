"""The contract, kept by a server of ours."""

import secrets
import sys
from pathlib import Path

import pytest

from mcp_curated_shared.testing import Call, Command, ServerProcess, Subject
from mcp_curated_shared.testing.suite import ServerContract
from tests.shared.testing.sample_server import build

SERVER = Path(__file__).with_name("sample_server.py")


def closed_its_lifespan(server: ServerProcess) -> None:
    assert b"lifespan closed" in server.error_output


class TestSampleKeepsTheContract(ServerContract):
    @pytest.fixture
    def subject(self) -> Subject:
        secret = secrets.token_urlsafe(24)
        return Subject(
            build=build,
            build_read_only=lambda: build(read_only=True),
            command=Command((sys.executable, str(SERVER)), {"SAMPLE_SECRET": secret}),
            list_bytes=6_000,
            example=Call("look", {"name": "moon"}),
            slow=Call("wait", {"seconds": 60}),
            secrets=[secret],
            provoking=[Call("fail", {"how": "crash"})],
            cleaned_up=closed_its_lifespan,
        )
