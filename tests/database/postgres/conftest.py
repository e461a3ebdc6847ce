"""A PostgreSQL for these tests, and a shop in one that they only read."""

from collections.abc import Generator

import pytest

from tests.database.postgres.describing import SHOP
from tests.postgres import Database, database, new_database

__all__ = ["database", "shop"]


@pytest.fixture(scope="module")
def shop() -> Generator[Database]:
    with new_database() as made:
        made.run(SHOP)
        yield made
