"""The shop as a file, a file of sources with saved queries, and both eras."""

from pathlib import Path

import pytest

from mcp_curated_shared.testing.clients import ERAS, Era
from tests.database.sqlite.sample import make
from tests.postgres import database

__all__ = ["database"]

QUERIES = """
[sources.shop]
file = "{folder}/shop.db"
description = "What was sold"

[sources.Orders]
file = "{folder}/other.db"

[queries.spent]
source = "shop"
sql = "SELECT name, total FROM spending WHERE total >= ? AND name <> ? ORDER BY name"
description = "Who spent how much"
params = [{{ name = "least", type = "number" }}, {{ name = "without", default = "nobody" }}]

[queries.count]
source = "shop"
sql = "SELECT count(*) AS n FROM customers"
"""


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    chosen: Era = request.param
    return chosen


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make(tmp_path / "shop.db")


@pytest.fixture
def sources(shop: Path, tmp_path: Path) -> Path:
    make(tmp_path / "other.db", "CREATE TABLE customers (id INTEGER); CREATE TABLE only_here (x TEXT);")
    path = tmp_path / "sources.toml"
    path.write_text(QUERIES.format(folder=shop.parent), encoding="utf-8")
    return path


@pytest.fixture
def state(tmp_path: Path) -> str:
    return f"--state-dir={tmp_path / 'state'}"
