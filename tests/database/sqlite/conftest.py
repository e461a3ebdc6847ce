"""The shop as a file, and an engine on it."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from mcp_curated_database.engines.sqlite import SqliteEngine
from tests.database.sqlite.sample import make, opened


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make(tmp_path / "shop.db")


@pytest.fixture
async def engine(shop: Path) -> AsyncGenerator[SqliteEngine]:
    async with opened(shop) as engine:
        yield engine
