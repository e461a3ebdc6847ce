"""What a start does by itself."""

from pathlib import Path

import anyio
import pytest

from mcp_curated_filesystem.writing import leftovers
from mcp_curated_shared.testing.clients import MODERN
from tests.filesystem.server.serving import call, serve

pytestmark = pytest.mark.anyio


async def test_a_start_removes_what_a_killed_run_left(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_curated_filesystem.server.build.TIDY_AFTER_SECONDS", 0.0)
    litter = notes / "deep" / leftovers.temporary_name()
    litter.write_bytes(b"half")
    async with serve("memory", MODERN, [notes]) as client:
        with anyio.fail_after(10):
            while litter.exists():
                await call(client, "list_allowed_directories")


async def test_a_read_only_start_touches_nothing(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_curated_filesystem.server.build.TIDY_AFTER_SECONDS", 0.0)
    litter = notes / "deep" / leftovers.temporary_name()
    litter.write_bytes(b"half")
    async with serve("memory", MODERN, [notes, "--read-only"]) as client:
        for _ in range(20):
            await call(client, "list_allowed_directories")
    assert litter.exists()
