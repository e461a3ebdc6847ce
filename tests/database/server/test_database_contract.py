"""The contract that every server of the collection keeps to, for this one."""

import secrets
from pathlib import Path

import pytest

from mcp_curated_shared.testing.contract import Call, Subject
from mcp_curated_shared.testing.suite import ServerContract
from tests.database.server.serving import build, command
from tests.database.sqlite.sample import ENDLESS

LIST_BYTES = 4_096


class TestDatabaseContract(ServerContract):
    @pytest.fixture
    def subject(self, sources: Path, state: str) -> Subject:
        password = f"p@ss:w/rd%{secrets.token_hex(6)}"
        sources.write_text(
            f'{sources.read_text()}\n[sources.dead]\nhost = "127.0.0.1"\nport = 9\ndatabase = "d"\nuser = "u"\n'
            f'password = "{password}"\n'
        )
        everything = ("--sources", sources, "--allow-write", state)
        return Subject(
            build=lambda: build(*everything),
            command=command(*everything, "--log-level", "debug"),
            list_bytes=LIST_BYTES,
            example=Call("query", {"sql": "SELECT count(*) FROM customers", "source": "shop"}),
            slow=Call("query", {"sql": ENDLESS, "source": "shop"}),
            build_read_only=lambda: build("--sources", sources, state),
            secrets=[password],
            provoking=[
                Call("query", {"sql": "SELECT 1", "source": "dead"}),
                Call("describe_schema", {"source": "dead"}),
                Call("query", {"sql": "SELECT nosuch", "source": "shop"}),
                Call("execute", {"sql": "DELETE FROM customers", "source": "dead"}),
            ],
        )
